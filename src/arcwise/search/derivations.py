"""From a chart to trees: the best derivation, or one drawn at random, followed from the root down."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Tables
from arcwise.search.chart import KIND, ONE, TWO, Chart, Kind, Y, Z, find_ways, make_chart, make_ways
from arcwise.search.passes import forward, goal
from arcwise.sums.chance import State, draw


@kernel
def derive(chart: Chart, at_random: bool, state: State, arcs: Ints) -> None:
    """Fill `arcs` with the arc into each word of the best tree, or of a tree as likely as its share of the sum.

    After `forward`, with maxima or with sums. O(n) items are built again, O(n^2) time in charts up to the third order. Among equal
    derivations the best is the first, whose modifier is nearest.
    """
    agenda = np.empty(4 * len(arcs) + 4, np.int64)
    agenda[0], count = goal(chart), 1
    arcs[0] = 0
    items, ways = chart.items, make_ways(chart, 1)
    while count > 0:
        count -= 1
        number = chart.item[agenda[count]]
        if number < 0:
            continue
        find_ways(chart, number, number + 1, ways)
        scores = ways.score[: ways.start[1]]
        k = 0
        for other in range(1, len(scores)):
            if scores[other] > scores[k]:
                k = other
        if at_random:
            k = draw(scores, scores[k], True, state)
        kind = items[number, KIND]
        if kind in (ONE, TWO):
            b = items[number, Y] if kind == ONE else items[number, Z]
            arcs[chart.graph.position[chart.graph.modifier[b]]] = b
        agenda[count], agenda[count + 1] = ways.first[k], ways.second[k]
        count += 2


@kernel
def chart_tree(
    graph: Graph,
    levels: tuple[Level, Level, Level],
    kind: Kind,
    tables: Tables,
    single_root: bool,
    arcs: Ints,
) -> float:
    """The best projective tree of one sentence, for other kernels: fills `arcs` with the arc into each word, returns the score.

    -inf if there is none; `arcs` is then left as it is. Time and memory: `arcwise.search.chart`.
    """
    chart = make_chart(graph, levels, kind, tables, single_root)
    score = forward(chart, False)
    if score > -np.inf:
        derive(chart, False, np.empty(1, np.uint64), arcs)
    return score
