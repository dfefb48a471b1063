"""Head automata: what a word may take as modifiers, and at which score, on its own (Koo et al. 2010, sections 3 and 5).

An automaton stands for one word. It picks an option, which may fix the arc into the word, and for each side of the word a chain of
modifiers, from the nearest to the farthest. Chains are paths through a graph of nodes without cycles, from START to END: a node
may take an arc, and an edge between two nodes has a score. So consecutive siblings, triples of them and automata with states of
their own differ in their nodes and edges alone, and everything that is done with automata is written once, here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats

Flags = NDArray[np.bool_]


class Automata(NamedTuple):
    """The automata of a sentence, one a word, the root included.

    options: those of word i are options[i] .. options[i + 1] - 1. up: of each option the arc into the word, 0 if it does not fix
    it (the root has none, and automata without grandparents do not know it). The chains of option o are 2 o, to the left, and
    2 o + 1, to the right. nodes: those of chain c are nodes[c] .. nodes[c + 1] - 1, in an order in which edges lead onwards, START
    first and END last; before: the arcs of the chain are all beyond this one. arc: of each node the arc it takes, 0 if none; along a
    path these ascend. seen: the last arc of which a path through the node has decided. gain: of each node, the score of its arc.
    edges: those into a node are edges[node] .. edges[node + 1] - 1. source, score: of each edge, where it comes from and what it
    adds.
    """

    options: Ints
    up: Ints
    nodes: Ints
    before: Ints
    arc: Ints
    seen: Ints
    gain: Floats
    edges: Ints
    source: Ints
    score: Floats


@kernel
def trim(automata: Automata) -> Automata:
    """The same without the room that was left over: arrays are as long as what is in use of `options`, `nodes` and `edges` says."""
    options = automata.options[-1]
    nodes = automata.nodes[2 * options]
    edges = automata.edges[nodes]
    return Automata(
        automata.options, automata.up[:options].copy(), automata.nodes[: 2 * options + 1].copy(),
        automata.before[: 2 * options].copy(), automata.arc[:nodes].copy(), automata.seen[:nodes].copy(),
        automata.gain[:nodes].copy(), automata.edges[: nodes + 1].copy(), automata.source[:edges].copy(),
        automata.score[:edges].copy(),
    )  # fmt: skip


@kernel
def best_chain(automata: Automata, c: int, costs: Floats, best: Floats, back: Ints) -> float:
    """The best score of a chain less the costs of its arcs, -inf if there is none; fills `best` and `back` for its nodes. O(edges).

    costs: of every arc; costs[0] is 0. best: of each node, that of the best path there. back: of each node, the one before it.
    """
    begin, end = automata.nodes[c], automata.nodes[c + 1]
    best[begin] = 0.0
    for node in range(begin + 1, end):
        top, before = -np.inf, -1
        for e in range(automata.edges[node], automata.edges[node + 1]):
            score = best[automata.source[e]] + automata.score[e]
            if score > top:
                top, before = score, automata.source[e]
        best[node] = top + automata.gain[node] - costs[automata.arc[node]]
        back[node] = before
    return best[end - 1]  # type: ignore[no-any-return]


@kernel
def mark_chain(automata: Automata, c: int, back: Ints, chosen: Flags) -> None:
    """Mark the arcs of the best chain; `back` as `best_chain` fills it."""
    begin, node = automata.nodes[c], automata.nodes[c + 1] - 1
    while node > begin:
        if automata.arc[node] > 0:
            chosen[automata.arc[node]] = True
        node = back[node]


@kernel
def chain_score(automata: Automata, c: int, chosen: Flags, best: Floats, taken: Ints) -> float:
    """The score of the chain that takes just the chosen ones of its arcs, -inf if it may not. best, taken: room for its nodes.

    O(edges into the nodes that may be met). A path may not pass a chosen arc by: of those that a node has seen, all must be taken.
    """
    begin, end = automata.nodes[c], automata.nodes[c + 1]
    best[begin], taken[begin] = 0.0, 0
    upto, number = automata.before[c], 0
    for node in range(begin + 1, end):
        while upto < automata.seen[node]:
            upto += 1
            number += 1 if chosen[upto] else 0
        arc, top = automata.arc[node], -np.inf
        taken[node] = number
        if arc > 0 and not chosen[arc]:
            best[node] = top
            continue
        before = number - 1 if arc > 0 else number
        for e in range(automata.edges[node], automata.edges[node + 1]):
            source = automata.source[e]
            if taken[source] == before:
                top = max(top, best[source] + automata.score[e])
        best[node] = top + automata.gain[node]
    return best[end - 1]  # type: ignore[no-any-return]


@kernel
def chain_margins(
    automata: Automata, c: int, costs: Floats, best: Floats, after: Floats, having: Floats, lacking: Floats
) -> None:
    """For every arc of a chain, the score of the best chain that has it and of the best that lacks it, less costs.

    O(edges + arcs log arcs): an edge that passes arcs by is noted for two runs of them, each as long as a power of two, that cover
    these; then runs hand down what they have to their halves. `best` as `best_chain` fills it. after: room for its nodes. having,
    lacking: by arc, from that after `before` on, filled.
    """
    begin, end = automata.nodes[c], automata.nodes[c + 1]
    first, last = automata.before[c], automata.seen[end - 1]
    having[first + 1 : last + 1] = -np.inf
    lacking[first + 1 : last + 1] = -np.inf
    after[begin:end] = -np.inf
    after[end - 1] = 0.0
    levels = 0
    while last - first >= 4 and (2 << levels) <= last - first:
        levels += 1
    runs = np.full((levels, last - first), -np.inf)  # [k, i]: of 2 << k arcs from the i-th on
    for node in range(end - 1, begin, -1):
        arc = automata.arc[node]
        rest = after[node] + automata.gain[node] - costs[arc]
        passed = automata.seen[node] if arc > 0 else automata.seen[node] + 1
        if arc > 0:
            having[arc] = max(having[arc], best[node] + after[node])
        for e in range(automata.edges[node], automata.edges[node + 1]):
            source = automata.source[e]
            onwards = automata.score[e] + rest
            after[source] = max(after[source], onwards)
            through = best[source] + onwards
            b = automata.seen[source] + 1
            if passed - b < 4:
                while b < passed:
                    lacking[b] = max(lacking[b], through)
                    b += 1
            else:
                k, length = 0, 2
                while 2 * length <= passed - b:
                    k, length = k + 1, 2 * length
                near, far = b - first - 1, passed - length - first - 1
                runs[k, near] = max(runs[k, near], through)
                runs[k, far] = max(runs[k, far], through)
    for k in range(levels - 1, -1, -1):
        half = 1 << k
        for i in range(last - first - half):
            through = runs[k, i]
            if through > -np.inf:
                if k > 0:
                    runs[k - 1, i] = max(runs[k - 1, i], through)
                    runs[k - 1, i + half] = max(runs[k - 1, i + half], through)
                else:
                    lacking[first + 1 + i] = max(lacking[first + 1 + i], through)
                    lacking[first + 2 + i] = max(lacking[first + 2 + i], through)


@kernel
def edges_of(automata: Automata, option: int) -> int:
    """How many edges the two chains of an option have."""
    begin, end = automata.nodes[2 * option], automata.nodes[2 * option + 2]
    return int(automata.edges[end] - automata.edges[begin])


@kernel
def restrict(automata: Automata, alive: Flags) -> Automata:
    """The same automata without the arcs that are not alive; alive[0] is True. O(edges)."""
    nodes, edges, chains = len(automata.arc), len(automata.source), len(automata.nodes) - 1
    number = np.full(nodes, -1, np.int32)  # of the nodes that are left
    options, up = np.zeros_like(automata.options), np.empty_like(automata.up)
    starts, before = np.zeros(chains + 1, np.int32), np.empty(chains, np.int32)
    arc, seen, gain = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes)
    first, source, score = np.zeros(nodes + 1, np.int32), np.empty(edges, np.int32), np.empty(edges)
    option = node = edge = 0
    for i in range(len(options) - 1):
        for o in range(automata.options[i], automata.options[i + 1]):
            if not alive[automata.up[o]]:
                continue
            up[option] = automata.up[o]
            for side in range(2):
                c = 2 * o + side
                before[2 * option + side] = automata.before[c]
                for old in range(automata.nodes[c], automata.nodes[c + 1]):
                    if not alive[automata.arc[old]]:
                        continue
                    number[old] = node
                    arc[node], seen[node], gain[node] = (
                        automata.arc[old],
                        automata.seen[old],
                        automata.gain[old],
                    )
                    for e in range(automata.edges[old], automata.edges[old + 1]):
                        if number[automata.source[e]] >= 0:
                            source[edge], score[edge] = number[automata.source[e]], automata.score[e]
                            edge += 1
                    node += 1
                    first[node] = edge
                starts[2 * option + side + 1] = node
            option += 1
        options[i + 1] = option
    return trim(Automata(options, up, starts, before, arc, seen, gain, first, source, score))
