"""The automata of siblings: bigrams and trigrams of consecutive modifiers, with or without the arc into the head.

A node takes an arc b, or with two siblings remembers the one before it too (Koo et al. 2010, examples 1 and 3):

    START -> b            first[p, b]                     (b, END)                last[p, b]
    b' -> b               pair[b', b] + slot[p, b', b]

    START -> (START, b)   first[p, b]                     (START, b) -> END       last[p, b] + only[p, b]
    (START, b') -> (b', b)  pair + slot + second[p, b', b]  (b', b) -> END        last[p, b] + last_pair[p, b', b]
    (b'', b') -> (b', b)    pair + slot + triple + run

with the scores of `arcwise.parts.tables`, step[p, b] at every node, and none for START -> END. An option is a spine p: the head
alone, or the arc into it.
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.search.automata import Automata, trim

# By what they remember: ancestors of the head (in both places) and siblings. Any of them is also a chart of the same kind.
AUTOMATA = {
    "sibling": Kind(0, 0, 1),
    "grand-sibling": Kind(1, 1, 1),
    "tri-sibling": Kind(0, 0, 2),
    "grand-tri-sibling": Kind(1, 1, 2),
}


@inline_kernel
def _of(table: Floats, i: int) -> float:
    return table[i] if len(table) > 0 else 0.0


@kernel
def sibling_automata(kind: Kind, graph: Graph, level: Level, tables: Tables, single_root: bool) -> Automata:
    """The automata of one sentence. O(slots of the level), with two siblings O(runs).

    level: level 0 if the kind knows no ancestors, else level 1; tables as folded for this kind. Words may have senses if the kind
    knows ancestors: a word then takes the sense that the arc into it has. What scores -inf has no node and no edge, nor has an
    arc back to the head's head. The root takes a modifier, with a single root exactly one.
    """
    words, spines, twice = graph.position[-1] + 1, len(level.head), kind.siblings > 1
    grand = kind.complete > 0
    chains, nodes, edges = 2 * spines, 2 * 2 * spines, 2 * spines
    for p in range(spines):
        h = level.head[p]
        begin, end = graph.out[h], graph.out[h + 1]
        pairs = graph.pairs[end] - graph.pairs[begin]
        nodes += end - begin + (pairs if twice else 0)
        edges += 2 * (end - begin) + pairs
        if twice:
            edges += pairs + graph.triples[graph.pairs[end]] - graph.triples[graph.pairs[begin]]
    options, up = np.zeros(words + 1, np.int32), np.empty(spines, np.int32)
    starts, before = np.zeros(chains + 1, np.int32), np.empty(chains, np.int32)
    arc, seen, gain = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes)
    first, source, score = np.zeros(nodes + 1, np.int32), np.empty(edges, np.int32), np.empty(edges)
    most = np.int64(0)
    for h in range(len(graph.position)):
        most = max(most, graph.out[h + 1] - graph.out[h])
    alone = np.empty(most, np.int32)  # the node (START, b), or b
    paired = np.empty(most * most if twice else 0, np.int32)  # the node (b', b)
    option = node = edge = 0
    for v in range(len(graph.position)):
        for k in range(level.first[v], level.first[v + 1]):
            p = level.at[k]
            h, out = level.head[p], graph.out[level.head[p]]
            above = graph.position[graph.head[p]] if grand and p > 0 else -1
            root = v == 0 and words > 1
            one = single_root and root
            up[option] = p if grand else 0
            first_pair = graph.pairs[out]
            slots, runs = level.slots[p] - first_pair, level.runs[p] - graph.triples[first_pair]
            for side in range(2):
                c = 2 * option + side
                begin, end = (graph.right[h], graph.out[h + 1]) if side == 1 else (out, graph.right[h])
                start = node
                before[c] = begin - 1
                arc[node], seen[node], gain[node] = 0, begin - 1, 0.0
                node += 1
                first[node] = edge
                for b in range(begin, end):
                    step = level.steps[p] + b - out
                    alone[b - out] = -1
                    taken = tables.step[step]
                    banned = taken == -np.inf or graph.position[graph.modifier[b]] == above
                    by = _of(tables.first, step)
                    for i in range(graph.inner[b] if twice else 0):
                        b1 = begin + i
                        paired[(b - out) * most + i] = -1
                        if banned or one or alone[b1 - out] < 0:
                            continue
                        pair = graph.pairs[b] + i
                        beside = _of(tables.pair, pair) + _of(tables.slot, slots + pair)
                        begun = edge
                        x = beside + _of(tables.second, slots + pair)
                        if x > -np.inf:
                            source[edge], score[edge] = alone[b1 - out], x
                            edge += 1
                        for j in range(graph.inner[b1]):
                            triple = graph.triples[pair] + j
                            x = beside + _of(tables.triple, triple) + _of(tables.run, runs + triple)
                            if paired[(b1 - out) * most + j] >= 0 and x > -np.inf:
                                source[edge], score[edge] = paired[(b1 - out) * most + j], x
                                edge += 1
                        if edge > begun:
                            paired[(b - out) * most + i] = node
                            arc[node], seen[node], gain[node] = b, b, taken
                            node += 1
                            first[node] = edge
                    if banned:
                        continue
                    # A node that nothing leads into stands all the same: others ask whether it is there.
                    alone[b - out] = node
                    arc[node], seen[node], gain[node] = b, b, taken
                    if by > -np.inf:
                        source[edge], score[edge] = start, by
                        edge += 1
                    for i in range(0 if twice or one else graph.inner[b]):
                        pair = graph.pairs[b] + i
                        beside = _of(tables.pair, pair) + _of(tables.slot, slots + pair)
                        if alone[begin + i - out] >= 0 and beside > -np.inf:
                            source[edge], score[edge] = alone[begin + i - out], beside
                            edge += 1
                    node += 1
                    first[node] = edge
                arc[node], seen[node], gain[node] = 0, end - 1, 0.0
                none = _of(tables.none, 2 * p + side) if grand and p > 0 else 0.0
                if none > -np.inf and not (root and side == 1):  # every tree has a root
                    source[edge], score[edge] = start, none
                    edge += 1
                for b in range(begin, end):
                    if alone[b - out] < 0:
                        continue
                    step = level.steps[p] + b - out
                    done = _of(tables.last, step)
                    x = done + (_of(tables.only, step) if twice else 0.0)
                    if x > -np.inf:
                        source[edge], score[edge] = alone[b - out], x
                        edge += 1
                    for i in range(graph.inner[b] if twice else 0):
                        x = done + _of(tables.last_pair, slots + graph.pairs[b] + i)
                        if paired[(b - out) * most + i] >= 0 and x > -np.inf:
                            source[edge], score[edge] = paired[(b - out) * most + i], x
                            edge += 1
                node += 1
                first[node] = edge
                starts[c + 1] = node
            option += 1
        options[graph.position[v] + 1] = option
    return trim(Automata(options, up, starts, before, arc, seen, gain, first, source, score))
