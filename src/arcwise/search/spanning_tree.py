"""The maximum spanning tree: the best tree of all, projective or not, in O(n^2).

Every word takes its best head; a cycle of such choices is contracted to one node, whose best entering arc
is sought in turn (Chu and Liu 1965, Edmonds 1967; in O(n^2) for dense graphs by Tarjan, 1977). One root is
had at no asymptotic cost by Gabow and Tarjan's swaps (1984), as in Zmigrod, Vieira and Cotterell, "Please
Mind the Root: Decoding Arborescences for Dependency Parsing" (2020): in the contracted graph, root arcs are
given up one by one, always the one whose replacement costs least.

What makes it quick: a contracted cycle keeps one row over the *words* that may head it, never over other
nodes. Contracting is then a maximum of rows, and which word inside is entered is found again when the tree
is read off.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_SINGLE_ROOT, NO_TREE

_NEW, _ON_PATH, _REACHES_ROOT, _SETTLED = 0, 1, 2, 3

# The nodes of the contracted graph: the root 0, the words 1..n, then the contracted cycles as they arise.
_NODE = np.dtype(
    [
        ("entering_score", np.float64),  # of the arc chosen to enter the node
        ("entering_head", np.int64),
        ("other_score", np.float64),  # of the best entering arc that does not leave the root
        ("other_head", np.int64),
        ("least_head", np.int64),  # 1 if the node gave up its root arcs, else 0
        ("state", np.int64),
        ("member", np.int64),  # one node of the cycle that this node was contracted from
        ("next_member", np.int64),  # the next node of the cycle that this node lies on
        ("first_word", np.int64),  # the words of the node, as a linked list
        ("last_word", np.int64),
        ("next_word", np.int64),
        ("outermost", np.int64),  # of a word: the outermost node that holds it
    ]
)
_Nodes = Any  # an array of _NODE, whose fields kernels read as attributes
# S[h, m]; and rows[i, h], the best arc from word h into the i-th cycle, less the cycle's arc it replaces.
_Scores = NDArray[np.float64]


class Room(NamedTuple):
    """Where the search works: used again for the next matrix. penalty[0]: what all root arcs must lose so that the tree found is the
    best even if it need not have one root.
    """

    rows: _Scores
    nodes: _Nodes
    roots: NDArray[np.int64]
    penalty: _Scores


@kernel
def _best_entering(S: _Scores, rows: _Scores, node: int, start: int) -> tuple[float, int]:
    """The best score of an arc into `node` from words `start` and on, and its head, the smallest on ties."""
    size = S.shape[0]
    best, head = -np.inf, start
    if node < size:
        for h in range(start, size):
            if S[h, node] > best and h != node:
                best, head = S[h, node], h
    else:
        row = rows[node - size]
        for h in range(start, size):
            if row[h] > best:
                best, head = row[h], h
    return best, head


@kernel
def _contract(S: _Scores, rows: _Scores, nodes: _Nodes, start: int, new: int) -> None:
    """Contract the cycle through `start` to the node `new` and choose its entering arc."""
    size = S.shape[0]
    row = rows[new - size]
    for h in range(size):
        row[h] = -np.inf
    cycle: Any = nodes[new]
    cycle.member = start
    cycle.first_word = nodes[start].first_word
    cycle.least_head, cycle.state = 0, _NEW
    c = start
    while True:
        shift, least_head = nodes[c].entering_score, nodes[c].least_head
        # Adding 0.0 keeps the compiler from storing under a mask, which is slow.
        if c < size:
            for h in range(least_head, size):
                x, y = S[h, c] - shift, row[h] + 0.0
                row[h] = x if x > y else y
        else:
            inner = rows[c - size]
            at_root = row[0]
            for h in range(size):
                x, y = inner[h] - shift, row[h] + 0.0
                row[h] = x if x > y else y
            if least_head == 1:
                row[0] = at_root
        cycle.last_word = nodes[c].last_word
        following = nodes[nodes[c].entering_head].outermost
        nodes[c].next_member = following
        if following == start:
            break
        nodes[cycle.last_word].next_word = nodes[following].first_word
        c = following

    word = cycle.first_word
    while True:
        row[word] = -np.inf
        nodes[word].outermost = new
        if word == cycle.last_word:
            break
        word = nodes[word].next_word
    cycle.entering_score, cycle.entering_head = _best_entering(S, rows, new, 0)


@kernel
def _contract_cycles(S: _Scores, rows: _Scores, nodes: _Nodes) -> int:
    """Contract until every word reaches the root by entering arcs; returns the number of nodes, or -1."""
    count: int = S.shape[0]
    for word in range(1, S.shape[0]):
        node = nodes[word].outermost
        while nodes[node].state != _REACHES_ROOT:
            nodes[node].state = _ON_PATH
            above = nodes[nodes[node].entering_head].outermost
            if nodes[above].state == _ON_PATH:
                _contract(S, rows, nodes, node, count)
                if nodes[count].entering_score == -np.inf:
                    return -1
                above = count
                count += 1
            node = above
        node = nodes[word].outermost
        while nodes[node].state != _REACHES_ROOT:
            nodes[node].state = _REACHES_ROOT
            node = nodes[nodes[node].entering_head].outermost
    return count


@kernel
def _keep_one_root(S: _Scores, rows: _Scores, nodes: _Nodes, count: int, room: Room) -> int:
    """Swap root arcs for others until one is left; returns the number of nodes, or -1 if that cannot be."""
    roots = room.roots
    left = 0
    for word in range(1, S.shape[0]):
        node = nodes[word].outermost
        if nodes[node].first_word == word and nodes[node].entering_head == 0:
            roots[left] = node
            left += 1
    if left > 1:
        for i in range(left):
            node = roots[i]
            nodes[node].other_score, nodes[node].other_head = _best_entering(S, rows, node, 1)
    while left > 1:
        cheapest, least = 0, np.inf
        for i in range(left):
            cost = nodes[roots[i]].entering_score - nodes[roots[i]].other_score
            if cost < least:
                cheapest, least = i, cost
        if least == np.inf:
            return -1
        room.penalty[0] = max(room.penalty[0], least)
        node = roots[cheapest]
        nodes[node].entering_score = nodes[node].other_score
        nodes[node].entering_head = nodes[node].other_head
        above = nodes[nodes[node].entering_head].outermost
        while above not in (0, node):
            above = nodes[nodes[above].entering_head].outermost
        if above == node:
            # The swap closes a cycle: contracted, it may be entered from the root again.
            _contract(S, rows, nodes, node, count)
            nodes[count].other_score, nodes[count].other_head = _best_entering(S, rows, count, 1)
            roots[cheapest] = count
            count += 1
        else:
            nodes[node].least_head = 1
            left -= 1
            roots[cheapest] = roots[left]
    return count


@kernel
def _expand(S: _Scores, rows: _Scores, nodes: _Nodes, count: int, heads: NDArray[np.int32]) -> None:
    """Read the tree off: the arc that enters a node enters one member of its cycle, and so on to a word."""
    size = S.shape[0]
    for node in range(count - 1, 0, -1):
        if nodes[node].state == _SETTLED:
            continue
        h, entered = nodes[node].entering_head, node
        while entered >= size:
            start = c = nodes[entered].member
            best = -np.inf
            while True:
                x = (rows[c - size, h] if c >= size else S[h, c]) - nodes[c].entering_score
                if x > best and h >= nodes[c].least_head:
                    best, entered = x, c
                c = nodes[c].next_member
                if c == start:
                    break
            nodes[entered].state = _SETTLED
        heads[entered] = h


@kernel
def make_room(longest: int) -> Room:
    """Room for sentences of up to `longest` words: 8 bytes a pair of words."""
    size = longest + 1
    return Room(np.empty((size, size)), np.empty(2 * size, _NODE), np.empty(size, np.int64), np.zeros(1))


@kernel
def _begin(S: _Scores, room: Room) -> int:
    """Every word enters by its best head; a code as `spanning_trees` returns."""
    rows, nodes = room.rows, room.nodes
    code = best_heads(S, rows[0], room.roots)  # in arrays that are not used yet
    if code == FOUND:
        for v in range(S.shape[0]):
            node = nodes[v]
            node.entering_score, node.entering_head = rows[0, v], room.roots[v]
            node.least_head, node.state = 0, _NEW
            node.first_word = node.last_word = node.outermost = v
        nodes[0].state = _REACHES_ROOT
    return code


@kernel
def contract(S: _Scores, room: Room) -> int:
    """Contract all cycles, whatever the number of roots: returns the number of nodes, or -1 if there is no tree."""
    return _contract_cycles(S, room.rows, room.nodes) if _begin(S, room) == FOUND else -1


@kernel
def spanning_tree(S: _Scores, single_root: bool, room: Room, heads: NDArray[np.int32]) -> int:
    """The maximum spanning tree of one matrix, for other kernels; fills `heads` and returns a code as `spanning_trees` does."""
    rows, nodes = room.rows, room.nodes
    heads[0], room.penalty[0] = -1, 0.0
    code = _begin(S, room)
    if code != FOUND:
        return code
    count = _contract_cycles(S, rows, nodes)
    if count < 0:
        return NO_TREE
    if single_root:
        count = _keep_one_root(S, rows, nodes, count, room)
        if count < 0:
            return NO_SINGLE_ROOT
    _expand(S, rows, nodes, count, heads)
    return FOUND


@kernel
def spanning_trees(
    scores: _Scores, lengths: NDArray[np.int64], single_root: bool, heads: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The maximum spanning tree of every matrix of a batch, exactly.

    O(n^2) time each; O(n^2) memory in all, n the greatest length. `scores`: the matrices one after another,
    each (n+1, n+1) with n from `lengths`. `heads`: filled with the trees one after another, each of length
    n+1. Returns one code a matrix, FOUND or what went wrong (`arcwise.search.status`). Equal choices go to
    the smallest head.

    >>> heads = np.empty(3, np.int32)
    >>> spanning_trees(np.array([0.0, 5, 4, 0, 0, 3, 0, 9, 0]), np.array([2]), True, heads), heads
    (array([0]), array([-1,  2,  0], dtype=int32))
    """
    codes = np.empty(len(lengths), np.int64)
    room = make_room(lengths.max() if len(lengths) > 0 else 0)
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        S = scores[start : start + size * size].reshape(size, size)
        codes[b] = spanning_tree(S, single_root, room, heads[tree : tree + size])
        start += size * size
        tree += size
    return codes
