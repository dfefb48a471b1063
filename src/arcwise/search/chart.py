"""One family of projective charts, from Eisner's to the third order and beyond.

A tree is scored by what each head sees from the nearest to the farthest modifier on either side. Charts differ in how much of this an
item remembers (Koo 2010, chapter 5 and appendix B): how many ancestors of its head a complete span knows, how many an incomplete one,
and how many modifiers of the head besides the present one. The last is the horizontal, the first two are the vertical context:

| chart              | complete | incomplete | siblings | time, memory | Koo (2010)                         |
|--------------------|----------|------------|----------|--------------|------------------------------------|
| eisner             | 0        | 0          | 0        | n^3, n^2     | 5.3.1                              |
| sibling            | 0        | 0          | 1        | n^3, n^2     | 5.3.2                              |
| tri-sibling        | 0        | 0          | 2        | n^4, n^3     | 5.6 (McDonald and Pereira 2006)    |
| carreras           | 1        | 0          | 1        | n^4, n^3     | 5.3.3, by grandparents as in 5.4.4 |
| model0             | 1        | 1          | 0        | n^4, n^3     | 5.4.1, B.2                         |
| model1             | 1        | 1          | 1        | n^4, n^3     | 5.4.2, B.3                         |
| model2             | 1        | 0          | 2        | n^4, n^3     | 5.4.3, B.4                         |
| great-grandparent  | 2        | 2          | 1        | n^5, n^4     | B.5.2                              |
| grand-tri-sibling  | 1        | 1          | 2        | n^5, n^4     | B.5.3                              |

For a spine p (what is known of a head's ancestors), arcs b'', b', b from the head to one side, the nearest first, and the spine b of a
modifier below p, the items and their derivations are, with the scores of `arcwise.parts.tables`:

    H[p, b]     = step[p, b] + ( C[b, back to the head] + first[p, b]
                                (+) H[p, b'] + S[b', b] + pair[b', b] + slot[p, b', b] )          one sibling
    H[p, b', b] = step[p, b] + S[b', b] + pair[b', b] + slot[p, b', b]
                 + ( H[p, b'] + second[p, b', b] (+) H[p, b'', b'] + triple[b'', b', b] + run[p, b'', b', b] )   two siblings
    I[p, b]     = H[p, b] + last[p, b]   or, with two siblings,
                  H[p, b] + last[p, b] + only[p, b] (+) H[p, b', b] + last[p, b] + last_pair[p, b', b]
    S[b', b]    = C[b', up to r] + C[b, down to r + 1]             over all r between
    C[p, e]     = I[p, b] + C[b, e]                                over all b up to e

and with no sibling H[p, b] = step[p, b] + (C[b, back to the head] + first[p, b] (+) C[p, up to r] + C[b, down to r + 1]). Here (+) is a
maximum for the best tree and a sum for the sum over trees: `arcwise.search.passes`. Every tree has exactly one derivation. Pruned arcs
have no items at all. With a single root, the root takes but its nearest modifier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Ints, Level, Numbers, first_level, next_level
from arcwise.parts.tables import Floats, Tables


class Kind(NamedTuple):
    """A chart of the family: how many ancestors a complete and an incomplete span know, and how many siblings."""

    complete: int
    incomplete: int
    siblings: int


CHARTS = {
    "eisner": Kind(0, 0, 0),
    "sibling": Kind(0, 0, 1),
    "tri-sibling": Kind(0, 0, 2),
    "carreras": Kind(1, 0, 1),
    "model0": Kind(1, 1, 0),
    "model1": Kind(1, 1, 1),
    "model2": Kind(1, 0, 2),
    "great-grandparent": Kind(2, 2, 1),
    "grand-tri-sibling": Kind(1, 1, 2),
}


# The kinds of items, in the order in which those of one width are built.
BETWEEN, ONE, TWO, DONE, COMPLETE = range(5)
_KIND, _CELL, _X, _Y, _Z = range(5)  # the columns of `items`: what x, y and z are, `ways` tells


class Chart(NamedTuple):
    """A chart for one sentence. The scores of all items lie in `cells`.

    upper, lower: the levels of complete and incomplete spans. below: the level under `upper`, by whose slots S is numbered (if `upper`
    is level 0: by pairs of vertices). width: the cells of C for each spine, which come first; the left half that ends at e has
    column e, the right one column e + 1. between, one, two, done: where the cells of S, of H with no or one sibling, of H with two,
    and of I begin. zero: a cell that holds 0. items: int32, what to build, in order, `count[0]` rows of 5. item: of each cell, -1 if nothing is to be built there.

    ways_first, ways_second, ways_score, ways_place: the ways to build the present item: its two cells, its score, and the place of the
    sibling it adds among the nearer arcs, -1 if it adds none.
    """

    kind: Kind
    graph: Graph
    upper: Level
    lower: Level
    below: Level
    tables: Tables
    single_root: bool
    width: int
    between: int
    one: int
    two: int
    done: int
    zero: int
    cells: Floats
    items: Ints
    count: Numbers
    item: Ints
    ways_first: Numbers
    ways_second: Numbers
    ways_score: Floats
    ways_place: Numbers


@kernel
def make_levels(graph: Graph, kind: Kind) -> tuple[Level, Level, Level]:
    """The levels of complete and of incomplete spans, and the one below the former."""
    lower = below = upper = first_level(graph)
    for number in range(1, kind.complete + 1):
        below = upper
        upper = next_level(graph, below, number)
        if number <= kind.incomplete:
            lower = upper
    return upper, lower, below


@kernel
def make_chart(
    graph: Graph, levels: tuple[Level, Level, Level], kind: Kind, tables: Tables, single_root: bool
) -> Chart:
    """The empty chart of one sentence: about 32 bytes an item. O(items)."""
    upper, lower, below = levels
    vertices = len(graph.position)
    width = np.int64(graph.position[vertices - 1]) + 2
    between = len(upper.head) * width
    one = between
    if kind.siblings > 0:
        one += vertices * vertices if kind.complete == 0 else below.slots[len(below.slots) - 1]
    two = one + lower.steps[len(lower.steps) - 1]
    done = two + (lower.slots[len(lower.slots) - 1] if kind.siblings == 2 else 0)
    if kind.siblings == 0:
        done, end = one, two
    else:
        end = done + upper.steps[len(upper.steps) - 1]
    cells, item = np.full(end + 1, -np.inf), np.full(end + 1, -1, np.int32)
    cells[end] = 0.0
    for q in range(len(upper.head)):
        at = q * width + graph.position[upper.head[q]]
        cells[at] = tables.none[2 * upper.arc[q]] if len(tables.none) > 0 else 0.0
        cells[at + 1] = tables.none[2 * upper.arc[q] + 1] if len(tables.none) > 0 else 0.0
    most = width
    for v in range(vertices):
        most = max(most, graph.out[v + 1] - graph.out[v] + 1)
    chart = Chart(
        kind, graph, upper, lower, below, tables, single_root, width, between, one, two, done, end, cells,
        np.empty((end, 5), np.int32), np.zeros(1, np.int64), item,
        np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64),
    )  # fmt: skip
    chart.count[0] = _list_items(chart)
    return chart


@kernel
def _by_length(lengths: Ints, longest: int) -> tuple[Numbers, Numbers]:
    """Things in order of their lengths, and where each length begins."""
    first = np.zeros(longest + 3, np.int64)
    for length in lengths:
        first[length + 2] += 1
    for length in range(longest + 1):
        first[length + 2] += first[length + 1]
    order = np.empty(len(lengths), np.int64)
    for k in range(len(lengths)):
        order[first[lengths[k] + 1]] = k
        first[lengths[k] + 1] += 1
    return order, first


@inline_kernel
def _side(graph: Graph, b: int) -> int:
    """The first arc with the head and the side of b."""
    h = graph.head[b]
    return graph.right[h] if b >= graph.right[h] else graph.out[h]


@inline_kernel
def _within(graph: Graph, level: Level, p: int, b: int) -> bool:
    """Whether b, an arc from the head of p, does not lead past the head's own head: no projective tree has such arcs."""
    above, m, h = level.above[p], graph.position[graph.modifier[b]], graph.position[graph.head[b]]
    return above < 0 or (m < above) == (h < above)


@inline_kernel
def _add_item(chart: Chart, count: int, kind: int, cell: int, x: int, y: int, z: int) -> int:
    row = chart.items[count]
    row[_KIND], row[_CELL], row[_X], row[_Y], row[_Z] = kind, cell, x, y, z
    chart.item[cell] = count
    return count + 1


@kernel
def _list_items(chart: Chart) -> int:
    """List all items, the narrower first."""
    graph, upper, lower, below, siblings = chart.graph, chart.upper, chart.lower, chart.below, chart.kind.siblings
    position, n = graph.position, chart.width - 2
    arcs = len(graph.head)
    lengths = np.zeros(arcs, np.int32)
    for b in range(1, arcs):
        lengths[b] = abs(position[graph.modifier[b]] - position[graph.head[b]])
    arc_order, arc_first = _by_length(lengths, n)
    outer = np.empty(graph.pairs[arcs], np.int32)  # of each pair, the farther arc
    distances = np.empty(graph.pairs[arcs], np.int32)
    for b in range(1, arcs):
        side = _side(graph, b)
        for k in range(graph.inner[b]):
            outer[graph.pairs[b] + k] = b
            distances[graph.pairs[b] + k] = lengths[b] - lengths[side + k]
    pair_order, pair_first = _by_length(distances, n)
    count = 0
    for w in range(1, n + 1):
        if siblings > 0 and chart.kind.complete == 0:
            for v in range(len(position)):
                for u in range(v + 1, len(position)):
                    if position[u] - position[v] == w and v > 0:
                        count = _add_item(
                            chart, count, BETWEEN, chart.between + v * len(position) + u, v, u, 0
                        )
        elif siblings > 0:
            for k in range(pair_first[w], pair_first[w + 1]):
                pair = pair_order[k]
                b = outer[pair]
                inner = _side(graph, b) + pair - graph.pairs[b]
                h = graph.head[b]
                left, right = (inner, b) if b >= graph.right[h] else (b, inner)
                for i in range(below.first[h], below.first[h + 1]):
                    p = below.at[i]
                    cell = chart.between + below.slots[p] + pair - graph.pairs[graph.out[h]]
                    base = below.steps[p] - graph.out[h]
                    count = _add_item(chart, count, BETWEEN, cell, base + left, base + right, 0)
        for k in range(arc_first[w], arc_first[w + 1]):
            b = arc_order[k]
            h = graph.head[b]
            side = _side(graph, b)
            for i in range(lower.first[h], lower.first[h + 1]):
                p = lower.at[i]
                if _within(graph, lower, p, b):
                    cell = chart.one + lower.steps[p] + b - graph.out[h]
                    count = _add_item(chart, count, ONE, cell, p, b, 0)
                    if siblings == 2 and not (h == 0 and chart.single_root):
                        slots = chart.two + lower.slots[p] + graph.pairs[b] - graph.pairs[graph.out[h]]
                        for place in range(graph.inner[b]):
                            count = _add_item(chart, count, TWO, slots + place, p, side + place, b)
            if siblings > 0:
                for i in range(upper.first[h], upper.first[h + 1]):
                    q = upper.at[i]
                    if _within(graph, upper, q, b):
                        cell = chart.done + upper.steps[q] + b - graph.out[h]
                        count = _add_item(chart, count, DONE, cell, q, b, 0)
        for q in range(len(upper.head)):
            h = upper.head[q]
            x = position[h]
            above = upper.above[q]
            e = x + w
            if graph.out[h + 1] > graph.right[h] and e <= n and not x < above <= e:
                # A head with siblings is complete only when it has all modifiers: the root at the end.
                if q > 0 or e == n or (siblings == 0 and not chart.single_root):
                    count = _add_item(chart, count, COMPLETE, q * chart.width + e + 1, q, e, 1)
            e = x - w
            if graph.right[h] > graph.out[h] and e >= 1 and not x > above >= e:
                count = _add_item(chart, count, COMPLETE, q * chart.width + e, q, e, 0)
    return count


@inline_kernel
def _child(chart: Chart, p: int, b: int) -> int:
    """The spine of the modifier of b below p, a spine of the lower level."""
    if chart.kind.complete == 0:
        return int(chart.graph.modifier[b])
    if chart.kind.complete == 1:
        return b
    return int(chart.upper.child[p] + b - chart.graph.out[chart.graph.head[b]])


@inline_kernel
def _between(chart: Chart, p: int, inner: int, b: int, pair: int) -> int:
    """The cell of S between the modifiers of a pair of arcs below p, a spine of the lower level."""
    graph = chart.graph
    if chart.kind.complete == 0:
        v, w = graph.modifier[inner], graph.modifier[b]
        return chart.between + (v * len(graph.position) + w if v < w else w * len(graph.position) + v)
    if chart.kind.complete == 1:
        return chart.between + pair
    return int(chart.between + chart.upper.span[p] + pair - graph.pairs[graph.out[graph.head[b]]])


@inline_kernel
def _or_zero(table: Floats, i: int) -> float:
    return table[i] if len(table) > 0 else 0.0


@inline_kernel
def _add_way(chart: Chart, count: int, first: int, second: int, score: float, place: int) -> int:
    """One more way to build an item, unless one of its parts cannot be built."""
    x = chart.cells[first] + chart.cells[second] + score
    chart.ways_first[count], chart.ways_second[count] = first, second
    chart.ways_score[count], chart.ways_place[count] = x, place
    return count + (x > -np.inf)


@kernel
def ways(chart: Chart, number: int) -> int:
    """Find all ways to build an item, in `ways_first`, `ways_second`, `ways_score` and `ways_place`; returns how many there are."""
    row = chart.items[number]
    kind, x, y, z = row[_KIND], row[_X], row[_Y], row[_Z]
    if kind == BETWEEN:
        return _ways_between(chart, x, y)
    if kind == COMPLETE:
        return _ways_complete(chart, x, y, z)
    if kind == DONE:
        return _ways_done(chart, x, y)
    return _ways_one(chart, x, y) if kind == ONE else _ways_two(chart, x, y, z)


@inline_kernel
def _ways_between(chart: Chart, x: int, y: int) -> int:
    """Two halves that meet between the heads of the spines x and y."""
    position, count = chart.graph.position, 0
    for r in range(position[chart.upper.head[x]] + 1, position[chart.upper.head[y]] + 1):
        count = _add_way(chart, count, x * chart.width + r, y * chart.width + r, 0.0, -1)
    return count


@inline_kernel
def _ways_complete(chart: Chart, q: int, e: int, rightward: int) -> int:
    """The farthest modifier of q, and its own half beyond, up to e."""
    graph, count = chart.graph, 0
    h = chart.upper.head[q]
    begin, end = (graph.right[h], graph.out[h + 1]) if rightward else (graph.out[h], graph.right[h])
    steps = chart.done + chart.upper.steps[q] - graph.out[h]
    for b in range(begin, end):
        m = graph.position[graph.modifier[b]]
        if (m > e) if rightward else (m < e):
            break
        below = graph.modifier[b] if chart.kind.complete == 0 else chart.upper.child[q] + b - graph.out[h]
        count = _add_way(chart, count, steps + b, below * chart.width + e + rightward, 0.0, -1)
    return count


@inline_kernel
def _ways_one(chart: Chart, p: int, b: int) -> int:
    """b is the nearest modifier of its head, or comes after another, which is forgotten if no siblings are known."""
    graph, tables, siblings = chart.graph, chart.tables, chart.kind.siblings
    h = graph.head[b]
    rightward = b >= graph.right[h]
    side = graph.right[h] if rightward else graph.out[h]
    i, j = np.int64(graph.position[h]), np.int64(graph.position[graph.modifier[b]])
    step = chart.lower.steps[p] + b - graph.out[h]
    child = _child(chart, p, b) * chart.width
    base = tables.step[step]
    nearest = i + 1 if rightward else i
    score = base + _or_zero(tables.first, step)
    count = _add_way(chart, 0, child + nearest, chart.zero, score, -1)
    if h == 0 and chart.single_root:
        return count
    if siblings == 0:
        begin, end = (i + 2, j + 1) if rightward else (j + 1, i)
        for c in range(begin, end):
            count = _add_way(chart, count, p * chart.width + c, child + c, base, 0)
    elif siblings == 1:
        pairs = graph.pairs[b]
        ones = chart.one + chart.lower.steps[p] - graph.out[h] + side
        slots = chart.lower.slots[p] + pairs - graph.pairs[graph.out[h]]
        for k in range(graph.inner[b]):
            score = base + _or_zero(tables.pair, pairs + k) + _or_zero(tables.slot, slots + k)
            count = _add_way(chart, count, ones + k, _between(chart, p, side + k, b, pairs + k), score, k)
    return count


@inline_kernel
def _ways_two(chart: Chart, p: int, inner: int, b: int) -> int:
    """b comes after `inner`, which is the nearest modifier of its head or comes after another."""
    graph, tables = chart.graph, chart.tables
    h = graph.head[b]
    side = graph.right[h] if b >= graph.right[h] else graph.out[h]
    first_pair = graph.pairs[graph.out[h]]
    pair = graph.pairs[b] + inner - side
    slot = chart.lower.slots[p] + pair - first_pair
    between = _between(chart, p, inner, b, pair)
    base = tables.step[chart.lower.steps[p] + b - graph.out[h]]
    base += _or_zero(tables.pair, pair) + _or_zero(tables.slot, slot)
    one = chart.one + chart.lower.steps[p] + inner - graph.out[h]
    count = _add_way(chart, 0, one, between, base + _or_zero(tables.second, slot), -1)
    twos = chart.two + chart.lower.slots[p] + graph.pairs[inner] - first_pair
    triples = graph.triples[pair]
    runs = chart.lower.runs[p] + triples - graph.triples[first_pair]
    for k in range(graph.inner[inner]):
        score = base + _or_zero(tables.triple, triples + k) + _or_zero(tables.run, runs + k)
        count = _add_way(chart, count, twos + k, between, score, k)
    return count


@inline_kernel
def _ways_done(chart: Chart, q: int, b: int) -> int:
    """b is the farthest modifier of its head."""
    graph, tables = chart.graph, chart.tables
    h = graph.head[b]
    p = q if chart.kind.complete == chart.kind.incomplete else h
    step = chart.upper.steps[q] + b - graph.out[h]
    base = _or_zero(tables.last, step)
    one = chart.one + chart.lower.steps[p] + b - graph.out[h]
    count = _add_way(chart, 0, one, chart.zero, base + _or_zero(tables.only, step), -1)
    if chart.kind.siblings == 2:
        pairs = graph.pairs[b] - graph.pairs[graph.out[h]]
        twos, slots = chart.two + chart.lower.slots[p] + pairs, chart.upper.slots[q] + pairs
        for k in range(graph.inner[b]):
            count = _add_way(chart, count, twos + k, chart.zero, base + _or_zero(tables.last_pair, slots + k), k)
    return count
