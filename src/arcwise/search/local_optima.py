"""How many trees a climber can get stuck in: the local optima of a first-order model (Zhang et al. 2014, section 4.1).

A tree is a local optimum if no change of one head leads to a better tree. Figure 2 of the paper counts them. Where all words can have
their best heads, there is one. Else some best heads form a cycle, and every local optimum has all of its arcs but one; whichever that
is, the cycle is one word from then on, entered where the arc was.

Contracted cycles need no scores of their own. A cycle is entered at one known word, so it likes the heads that this word likes; and a
word outside takes the head it likes best from the cycle, whose words come below it together or not at all. So all that counts is
in which order each word likes its heads, and a cycle is called as the word at which it is entered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.kernels import kernel
from arcwise.parts.matrices import as_matrix
from arcwise.search.explain import explain
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND

Ints = NDArray[np.int32]
Allowed = NDArray[np.bool_]

MOST = 10_000


def count_local_optima(scores: Any, *, single_root: bool = True, most: int = MOST) -> int:
    """The number of trees that no change of one head betters, exactly; `most` + 1 if there are more than `most`.

    O(n^2) time a contracted cycle, O(n) where the root may head all words; at most n cycles are contracted for each local optimum
    that is counted, mostly one. O(n^2) memory. There are 2^(n-1) at most, and as many if S[h, m] = min(h, m) (theorem 1).

    Ties: of two heads of one score the smaller is taken to be the better one, so a climb ends in a tree that is counted if it goes on
    to smaller heads where that costs nothing. Forbidden arcs: trees that have one are neither counted nor climbed to.

    scores: S[h, m], (n+1, n+1), as in `arcwise.decode`.
    single_root: only trees of one root, and only changes that lead to another such tree. They never lead to another root, since all
        words are below the one there is; so there is an optimum at least for every word that can be the root of a tree, and
        n 2^(n-2) at most. Without it, trees with any number of roots, as in the paper.

    Raises InputError for unusable scores, and NoTreeError if no tree is allowed.

    >>> S = [[0, 5, 4], [0, 0, 8], [0, 9, 0]]  # both words like each other best: either of them is the root
    >>> count_local_optima(S, single_root=False), count_local_optima(S)
    (2, 2)
    >>> count_local_optima(np.minimum.outer(range(11), range(11)), single_root=False)
    512
    """
    if not isinstance(most, int | np.integer) or not 1 <= most < 2**62:
        raise InputError(f"most is {most!r}", expected="a number of trees, 1 or more")
    S, single_root = as_matrix(scores), bool(single_root)
    size = len(S)
    code = spanning_trees(S.reshape(-1), np.array([size - 1]), single_root, np.empty(size, np.int32))[0]
    if code != FOUND:
        raise explain(S, code, False, single_root)
    graph = S[1:, 1:].copy() if single_root else S.copy()
    np.fill_diagonal(graph, -np.inf)
    order = np.argsort(-graph, axis=0, kind="stable").T.astype(np.int32, order="C")
    allowed = graph > -np.inf
    if not single_root:
        return int(_count(order, allowed, 0, int(most)))
    total = int(size == 1)
    for root in np.flatnonzero(S[0, 1:] > -np.inf).tolist():
        total += int(_count(order, allowed, root, int(most) - total))
        if total > most:
            break
    return total


@kernel
def _count(order: Ints, allowed: Allowed, root: int, most: int) -> int:
    """Figure 2 with a stack in place of the recursion: the local optima among the trees whose root is the vertex `root`.

    `most` + 1 if there are more, and 0 if there is no tree. order[m]: all vertices, the best head of m first, those not allowed last.
    allowed[h, m].
    """
    size = len(order)
    # At every depth the graph: for each vertex the node that it is part of, called as the word at which it is entered, and for each
    # such word how many of its best heads lie within its own node.
    node, within = np.empty((size, size), np.int32), np.zeros((size, size), np.int32)
    # And its cycle, or the nodes of it at which it can be entered: how many there are, and how many have been tried.
    cycle, entries, tried = (
        np.empty((size, size), np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
    )
    state, stack = np.empty(size, np.int32), np.empty(size, np.int32)
    for v in range(size):
        node[0, v] = v
    if not _enter(allowed, root, node[0], cycle[0], 0, state, stack):
        return 0
    count = depth = 0
    while True:
        length = _find_cycle(order, root, node[depth], within[depth], state, cycle[depth])
        tried[depth] = entries[depth] = 0
        if length > 0:
            entries[depth] = _enter(allowed, root, node[depth], cycle[depth], length, state, stack)
        else:
            count += 1
            if count > most:
                return count
        while tried[depth] == entries[depth]:
            depth -= 1
            if depth < 0:
                return count
        entry = cycle[depth, tried[depth]]
        tried[depth] += 1
        depth += 1
        _contract(order, node, within, entry, depth, state)


@kernel
def _find_cycle(order: Ints, root: int, node: Ints, within: Ints, state: Ints, cycle: Ints) -> int:
    """A cycle of nodes that all take their best heads: fills `cycle` and returns its length, 0 if there is none. O(n)."""
    state[:] = 0
    state[root] = -1
    for start in range(len(order)):
        v = node[start]
        if state[v] != 0:
            continue
        while state[v] == 0:
            state[v] = start + 1
            v = node[order[v, within[v]]]
        if state[v] == start + 1:
            length, first = 0, v
            while length == 0 or v != first:
                cycle[length] = v
                length += 1
                v = node[order[v, within[v]]]
            return length
    return 0


@kernel
def _enter(
    allowed: Allowed, root: int, node: Ints, cycle: Ints, length: int, state: Ints, stack: Ints
) -> int:
    """The nodes of a cycle at which it can be entered, so that there is still a tree; `cycle` is left with them. Returns how many.

    They are those to which a path leads from the root past no other node of the cycle. Without a cycle, whether there is a tree. So
    every graph that is looked at has a tree, and a best one, which is a local optimum: no time goes where none is. O(n^2).
    """
    size, direct = len(node), length > 0
    for i in range(length):
        direct &= allowed[root, cycle[i]]
    if direct:
        return length
    # 0: not reached; 1: reached, and goes on; 2: of the cycle; 3: of the cycle, and reached.
    state[:] = 0
    for i in range(length):
        state[cycle[i]] = 2
    state[root] = 1
    stack[0] = root
    waiting = reached = 1
    while waiting > 0:
        waiting -= 1
        v = stack[waiting]
        for h in range(size):
            if node[h] != v:
                continue
            for m in range(size):
                if allowed[h, m] and node[m] == m and state[m] % 2 == 0:
                    state[m] += 1
                    if state[m] == 1:
                        stack[waiting] = m
                        waiting += 1
                        reached += 1
    if length == 0:
        return int(reached == size)
    kept = 0
    for i in range(length):
        if state[cycle[i]] == 3:
            cycle[kept] = cycle[i]
            kept += 1
    return kept


@kernel
def _contract(order: Ints, node: Ints, within: Ints, entry: int, depth: int, state: Ints) -> None:
    """The graph of a depth from that above it: the cycle through `entry` becomes one node, entered there. O(n)."""
    before, after = node[depth - 1], node[depth]
    within[depth] = within[depth - 1]
    state[:] = 0
    v = entry
    while state[v] == 0:
        state[v] = 1
        v = before[order[v, within[depth, v]]]
    for w in range(len(order)):
        after[w] = entry if state[before[w]] == 1 else before[w]
    while after[order[entry, within[depth, entry]]] == entry:
        within[depth, entry] += 1
