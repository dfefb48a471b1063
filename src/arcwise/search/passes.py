"""The passes over a chart that every search and every sum shares: forward, with a maximum or a sum, and backward."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.tables import Floats, Tables
from arcwise.search.chart import BETWEEN, COMPLETE, DONE, ONE, TWO, Chart, ways


@kernel
def forward(chart: Chart, sums: bool) -> float:
    """Score every item, by its best derivation or by the log of the sum over all; returns the score of all trees. O(ways)."""
    cells, scores = chart.cells, chart.ways_score
    for number in range(chart.count[0]):
        count = ways(chart, number)
        best = -np.inf
        for k in range(count):
            best = max(best, scores[k])
        if sums and count > 1:
            total = 0.0
            for k in range(count):
                total += np.exp(scores[k] - best)
            best += np.log(total)
        cells[chart.items[number, 1]] = best
    return float(cells[goal(chart)])


@inline_kernel
def goal(chart: Chart) -> int:
    """The cell of the root's complete span."""
    return chart.width - 1


@kernel
def backward(chart: Chart, sums: bool, found: Tables) -> Floats:
    """After `forward`: for every cell the probability that a tree has its item, or the score of the best tree that has it.

    Adds the same for every part to `found`, an array of which is empty if nobody asks for it. O(ways).
    """
    cells, scores, items = chart.cells, chart.ways_score, chart.items
    through = np.full(len(cells), 0.0 if sums else -np.inf)
    through[goal(chart)] = 1.0 if sums else cells[goal(chart)]
    for number in range(chart.count[0] - 1, -1, -1):
        cell = items[number, 1]
        here = through[cell]
        if here == (0.0 if sums else -np.inf):
            continue
        for k in range(ways(chart, number)):
            share = here * np.exp(scores[k] - cells[cell]) if sums else here - cells[cell] + scores[k]
            first, second, place = chart.ways_first[k], chart.ways_second[k], chart.ways_place[k]
            through[first] = _join(through[first], share, sums)
            through[second] = _join(through[second], share, sums)
            _add_parts(chart, number, place, share, sums, found)
    return through


@inline_kernel
def _join(x: float, y: float, sums: bool) -> float:
    return x + y if sums else max(x, y)


@inline_kernel
def _add(table: Floats, i: int, share: float, sums: bool) -> None:
    if len(table) > 0:
        table[i] = table[i] + share if sums else max(table[i], share)


@inline_kernel
def _add_parts(chart: Chart, number: int, place: int, share: float, sums: bool, found: Tables) -> None:
    """Give every part that one way of building an item adds its share."""
    graph, upper, lower = chart.graph, chart.upper, chart.lower
    row = chart.items[number]
    kind, x = row[0], row[2]
    if kind == BETWEEN or kind == COMPLETE:
        return
    b = row[4] if kind == TWO else row[3]
    h = graph.head[b]
    first_pair = graph.pairs[graph.out[h]]
    side = graph.right[h] if b >= graph.right[h] else graph.out[h]
    if kind == DONE:
        step = upper.steps[x] + b - graph.out[h]
        _add(found.last, step, share, sums)
        if place < 0:
            _add(found.only, step, share, sums)
        else:
            _add(found.last_pair, upper.slots[x] + graph.pairs[b] + place - first_pair, share, sums)
        return
    step = lower.steps[x] + b - graph.out[h]
    _add(found.step, step, share, sums)
    if kind == ONE:
        if place < 0:
            _add(found.first, step, share, sums)
        elif chart.kind.siblings == 1:
            pair = graph.pairs[b] + place
            _add(found.pair, pair, share, sums)
            _add(found.slot, lower.slots[x] + pair - first_pair, share, sums)
        return
    pair = graph.pairs[b] + row[3] - side
    slot = lower.slots[x] + pair - first_pair
    _add(found.pair, pair, share, sums)
    _add(found.slot, slot, share, sums)
    if place < 0:
        _add(found.second, slot, share, sums)
    else:
        triple = graph.triples[pair] + place
        _add(found.triple, triple, share, sums)
        _add(found.run, lower.runs[x] + triple - graph.triples[first_pair], share, sums)
