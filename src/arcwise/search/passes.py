"""The passes over a chart that every search and every sum shares: forward, with a maximum or a sum, and backward."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.tables import Floats, Tables
from arcwise.search.chart import (
    BEST,
    BETWEEN,
    CELL,
    COMPLETE,
    DONE,
    KIND,
    LISTED,
    ONE,
    SUMMED,
    TWO,
    Chart,
    Choice,
    Ways,
    X,
    Y,
    Z,
    find_ways,
    make_ways,
)

_TOGETHER = 64  # items whose ways are listed in one call


@kernel
def forward(chart: Chart, sums: Choice) -> float:
    """Score every item, by its best derivation or by the log of the sum over all; returns the score of all trees. O(ways)."""
    ways = make_ways(chart.width, chart.graph.out, np.int64(1))
    find_ways(chart, np.int64(0), chart.total[0], ways, np.int64(SUMMED if sums else BEST))
    return float(chart.cells[goal(chart.width)])


@inline_kernel
def goal(width: int) -> int:
    """The cell of the root's complete span, in a chart of this width."""
    return width - 1


@kernel
def backward(chart: Chart, sums: bool, found: Tables, entropy: Floats) -> Floats:
    """After `forward`: for every cell the probability that a tree has its item, or the score of the best tree that has it.

    Joins the same for every part to `found`, an array of which is empty if nobody asks for it. Adds to entropy[0] that of the trees,
    with sums: of the choice at every item, weighted by its probability, so that no digits cancel. O(ways).
    """
    cells, items = chart.cells, chart.items
    ways = make_ways(chart.width, chart.graph.out, np.int64(_TOGETHER))
    nothing = 0.0 if sums else -np.inf
    through = np.full(len(cells), nothing)
    through[goal(chart.width)] = 1.0 if sums else cells[goal(chart.width)]
    end = chart.total[0]
    while end > 0:
        begin = max(np.int64(0), end - _TOGETHER)
        find_ways(chart, begin, end, ways, np.int64(LISTED))
        for i in range(end - begin - 1, -1, -1):
            cell = items[begin + i, CELL]
            here = through[cell]
            if here == nothing:
                continue
            for k in range(ways.start[i], ways.start[i + 1]):
                beyond = ways.score[k] - cells[cell]
                share = here * np.exp(beyond) if sums else here + beyond
                if sums:
                    entropy[0] -= share * beyond
                first, second = ways.first[k], ways.second[k]
                through[first] = _join(through[first], share, sums)
                through[second] = _join(through[second], share, sums)
                ways.score[k] = share
        _join_parts(chart, begin, end, ways, through, nothing, sums, found)
        end = begin
    if len(found.none) > 0:
        for q in range(1, len(chart.upper.head)):
            cell = q * chart.width + chart.graph.position[chart.upper.head[q]]
            _join_at(found.none, 2 * chart.upper.arc[q], through[cell], sums)
            _join_at(found.none, 2 * chart.upper.arc[q] + 1, through[cell + 1], sums)
    return through


@inline_kernel
def _join(x: float, y: float, sums: bool) -> float:
    return x + y if sums else max(x, y)


@inline_kernel
def _join_at(table: Floats, i: int, share: float, sums: bool) -> None:
    if len(table) > 0:
        table[i] = _join(table[i], share, sums)


@kernel
def _join_parts(
    chart: Chart, begin: int, end: int, ways: Ways, through: Floats, nothing: float, sums: bool, found: Tables
) -> None:
    """Give every part that a way of building an item adds its share, which `ways.score` holds."""
    graph, upper, lower, items = chart.graph, chart.upper, chart.lower, chart.items
    for number in range(begin, end):
        kind = items[number, KIND]
        if kind in (BETWEEN, COMPLETE) or through[items[number, CELL]] == nothing:
            continue
        x, y = items[number, X], items[number, Y]
        b = items[number, Z] if kind == TWO else y
        h = graph.head[b]
        first_pair = graph.pairs[graph.out[h]]
        side = graph.right[h] if b >= graph.right[h] else graph.out[h]
        for k in range(ways.start[number - begin], ways.start[number - begin + 1]):
            share, place = ways.score[k], ways.place[k]
            if kind == DONE:
                step = upper.steps[x] + b - graph.out[h]
                _join_at(found.last, step, share, sums)
                if place < 0:
                    _join_at(found.only, step, share, sums)
                else:
                    _join_at(
                        found.last_pair, upper.slots[x] + graph.pairs[b] + place - first_pair, share, sums
                    )
                continue
            step = lower.steps[x] + b - graph.out[h]
            _join_at(found.step, step, share, sums)
            if kind == ONE and place < 0:
                _join_at(found.first, step, share, sums)
            if chart.kind.siblings == 0 or (kind == ONE and place < 0):
                continue
            pair = graph.pairs[b] + (place if kind == ONE else y - side)
            slot = lower.slots[x] + pair - first_pair
            _join_at(found.pair, pair, share, sums)
            _join_at(found.slot, slot, share, sums)
            if kind == TWO and place < 0:
                _join_at(found.second, slot, share, sums)
            elif kind == TWO:
                triple = graph.triples[pair] + place
                _join_at(found.triple, triple, share, sums)
                _join_at(found.run, lower.runs[x] + triple - graph.triples[first_pair], share, sums)
