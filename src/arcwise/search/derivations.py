"""From a chart to trees: the best derivation, or one drawn at random, followed from the root down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.search.chart import ONE, TWO, Chart, ways
from arcwise.search.passes import goal
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
    while count > 0:
        count -= 1
        number = chart.item[agenda[count]]
        if number < 0:
            continue
        total = ways(chart, number)
        scores = chart.ways_score[:total]
        k = 0
        for other in range(1, total):
            if scores[other] > scores[k]:
                k = other
        first, second = chart.ways_first, chart.ways_second
        if at_random:
            k = draw(scores, scores[k], True, state)
        row = chart.items[number]
        if row[0] == ONE or row[0] == TWO:
            b = row[4] if row[0] == TWO else row[3]
            arcs[chart.graph.position[chart.graph.modifier[b]]] = b
        agenda[count], agenda[count + 1] = first[k], second[k]
        count += 2
