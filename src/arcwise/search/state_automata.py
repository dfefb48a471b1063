"""Head automata with states of their own, as people bring them (Koo et al. 2010, example 2).

A chain over the arcs b of one side, the nearest first, and the states s, t has nodes

    T(b, t)   takes arc b and comes to state t        U(b, s)   has decided on all arcs up to b, and is in state s

and edges, with the scores of `arcwise.HeadAutomata`,

    U(b - 1, s) -> T(b, t)   g(s, t, b)               T(b, s) -> U(b, s)   0
    U(last, s) -> END        end(s)                   U(b - 1, s) -> U(b, s)   0

where START is U(b - 1, 0) for the first b. So a search of a chain is Viterbi's.
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats
from arcwise.search.automata import Automata, trim


@kernel
def state_automata(
    graph: Graph, arcs: Floats, left: Floats, right: Floats, left_end: Floats, right_end: Floats, single_root: bool
) -> Automata:  # fmt: skip
    """The automata of one sentence, one option a word. O(n |S|^2) time and memory a word, |S| states.

    graph: without senses. arcs: (n+1, n+1); left, right: (n+1, S, S, n+1); left_end, right_end: (n+1, S). A node is there if a path
    from START leads to it, an edge if its score is not -inf. The root takes a modifier, with a single root exactly one.
    """
    words, states, numbered = len(graph.position), left.shape[1], len(graph.head) - 1
    nodes, edges = 4 * words + 2 * states * numbered, 2 * words * states + (states + 3) * states * numbered
    options, up = np.arange(words + 1).astype(np.int32), np.zeros(words, np.int32)
    starts, before = np.zeros(2 * words + 1, np.int32), np.empty(2 * words, np.int32)
    arc, seen, gain = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes)
    first, source, score = np.zeros(nodes + 1, np.int32), np.empty(edges, np.int32), np.empty(edges)
    now, then = (
        np.empty(states, np.int32),
        np.empty(states, np.int32),
    )  # the nodes U(b - 1, s) and T(b, t), or -1
    node = edge = 0
    for c in range(2 * words):
        h, side = c // 2, c % 2
        table, ends = (right, right_end) if side == 1 else (left, left_end)
        begin, end = (graph.right[h], graph.out[h + 1]) if side == 1 else (graph.out[h], graph.right[h])
        root = c == 1 and words > 1
        one = single_root and root
        start, before[c] = node, begin - 1
        arc[node], seen[node], gain[node] = 0, begin - 1, 0.0
        node += 1
        first[node] = edge
        now[:] = -1
        if not root:  # else all but START have taken an arc
            now[0] = start
        for b in range(begin, end):
            m = graph.modifier[b]
            for t in range(states):
                then[t] = -1
                begun = edge
                if root and table[h, 0, t, m] > -np.inf:
                    source[edge], score[edge] = start, table[h, 0, t, m]
                    edge += 1
                for s in range(0 if one else states):
                    if now[s] >= 0 and table[h, s, t, m] > -np.inf:
                        source[edge], score[edge] = now[s], table[h, s, t, m]
                        edge += 1
                if edge > begun:
                    then[t] = node
                    arc[node], seen[node], gain[node] = b, b, arcs[h, m]
                    node += 1
                    first[node] = edge
            for s in range(states):
                begun = edge
                for from_node in (now[s], then[s]):
                    if from_node >= 0:
                        source[edge], score[edge] = from_node, 0.0
                        edge += 1
                now[s] = -1
                if edge > begun:
                    now[s] = node
                    arc[node], seen[node], gain[node] = 0, b, 0.0
                    node += 1
                    first[node] = edge
        arc[node], seen[node], gain[node] = 0, end - 1, 0.0
        for s in range(states):
            stop = ends[h, s] if c > 0 else 0.0  # the root has no left side
            if now[s] >= 0 and stop > -np.inf:
                source[edge], score[edge] = now[s], stop
                edge += 1
        node += 1
        first[node], starts[c + 1] = edge, node
    return trim(Automata(options, up, starts, before, arc, seen, gain, first, source, score))
