"""From a chart to trees: the best derivation, or one drawn at random, followed from the root down."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Kind, Tables
from arcwise.search.chart import (
    FIRST,
    KIND,
    LISTED,
    ONE,
    SECOND,
    TWO,
    Chart,
    Choice,
    Y,
    Z,
    find_ways,
    make_chart,
    make_ways,
)
from arcwise.search.passes import forward, goal
from arcwise.sums.chance import State, draw


@kernel
def derive(chart: Chart, at_random: Choice, state: State, arcs: Ints) -> None:
    """Fill `arcs` with the arc into each word of the best tree, or of a tree as likely as its share of the sum.

    After `forward`, with maxima or with sums. O(n) time for the best one, which is the first of equal ones (the nearest modifiers);
    for one at random O(n) items are built again, in O(n^2) time in charts up to the third order.
    """
    agenda = np.empty(4 * len(arcs) + 4, np.int64)
    agenda[0], count = goal(chart.width), 1
    arcs[0] = 0
    items, ways = chart.items, make_ways(chart.width, chart.graph.out, np.int64(1))
    while count > 0:
        count -= 1
        number = np.int64(chart.item[agenda[count]])
        if number < 0:
            continue
        first, second = items[number, FIRST], items[number, SECOND]
        if at_random:
            find_ways(chart, number, number + 1, ways, np.int64(LISTED))
            scores = ways.score[: ways.start[1]]
            k = draw(scores, scores.max(), True, state)
            first, second = ways.first[k], ways.second[k]
        kind = items[number, KIND]
        if kind in (ONE, TWO):
            b = items[number, Y] if kind == ONE else items[number, Z]
            arcs[chart.graph.position[chart.graph.modifier[b]]] = b
        agenda[count], agenda[count + 1] = first, second
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
    no = np.bool_(False)
    chart = make_chart(graph, levels, kind, tables, single_root)
    score = forward(chart, no)
    if score > -np.inf:
        derive(chart, no, np.empty(1, np.uint64), arcs)
    return score
