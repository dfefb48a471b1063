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

For a spine p (what is known of a head's ancestors), arcs b'', b', b from the head to one side, the nearest first, and the spine b of
a modifier below p, the items and their derivations are, with the scores of `arcwise.parts.tables`:

    H[p, b]     = step[p, b] + ( C[b, back to the head] + first[p, b]
                                (+) H[p, b'] + S[b', b] + pair[b', b] + slot[p, b', b] )          one sibling
    H[p, b', b] = step[p, b] + S[b', b] + pair[b', b] + slot[p, b', b]
                 + ( H[p, b'] + second[p, b', b] (+) H[p, b'', b'] + triple[b'', b', b] + run[p, b'', b', b] )   two siblings
    I[p, b]     = H[p, b] + last[p, b]   or, with two siblings,
                  H[p, b] + last[p, b] + only[p, b] (+) H[p, b', b] + last[p, b] + last_pair[p, b', b]
    S[b', b]    = C[b', up to r] + C[b, down to r + 1]             over all r between
    C[p, e]     = I[p, b] + C[b, e]                                over all b up to e

and with no sibling H[p, b] = step[p, b] + (C[b, back to the head] + first[p, b] (+) C[p, up to r] + C[b, down to r + 1]). Here (+)
is a maximum for the best tree and a sum for the sum over trees. Every tree has exactly one derivation.
Pruned arcs have no items at all. With a single root, the root takes but its nearest modifier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Ints, Level, Numbers, first_level, next_level
from arcwise.parts.tables import Floats, Kind, Tables

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
# The columns of `items`: what x, y and z are, `find_ways` tells; then the two cells of the best way to build it.
KIND, CELL, X, Y, Z, FIRST, SECOND = range(7)
LISTED, BEST, SUMMED = range(3)  # what `find_ways` does with the ways of an item

# A kernel is compiled anew for every constant and every type that another kernel calls it with: these are given as what they are.
Whole = int | np.int64
Choice = bool | np.bool_


class Chart(NamedTuple):
    """A chart for one sentence. The scores of all items lie in `cells`.

    upper, lower: the levels of complete and incomplete spans. width: the cells of C for each spine, which come first; the left
    half that ends at e has column e, the right one column e + 1. S is numbered by the slots of the level under `upper`, or by
    pairs of vertices if `upper` is level 0. between, one, two, done: where the cells of S, of H with no or one sibling, of H
    with two, and of I begin. zero: a cell that holds 0. items: int32, what to build, `total[0]` rows of 7, each after all it is
    built from. item: of each cell, -1 if nothing is to be built there.
    """

    kind: Kind
    graph: Graph
    upper: Level
    lower: Level
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
    total: Numbers
    item: Ints


class Ways(NamedTuple):
    """The ways to build some items: those of the i-th are start[i] .. start[i + 1] - 1.

    first, second: its two cells. score: of the whole. place: of the sibling it adds among the nearer arcs, -1 if it adds none.
    """

    start: Numbers
    first: Ints
    second: Ints
    score: Floats
    place: Ints


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
    """The empty chart of one sentence: about 40 bytes an item. O(items)."""
    upper, lower, below = levels
    vertices = len(graph.position)
    width = int(graph.position[vertices - 1]) + 2
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
    chart = Chart(
        kind, graph, upper, lower, tables, single_root, width, between, one, two, done, end, cells,
        np.empty((end, 7), np.int32), np.zeros(1, np.int64), item,
    )  # fmt: skip
    _list_items(chart, below)
    return chart


@kernel
def make_ways(width: int, out: Ints, items: Whole) -> Ways:
    """Room for the ways to build so many items of any kind, in a chart of this width with arcs counted by `out`."""
    most = width
    for v in range(len(out) - 1):
        most = max(most, int(out[v + 1] - out[v]) + 1)
    room = most * items
    return Ways(
        np.zeros(items + 1, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
    )


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
def _side(head: Ints, out: Ints, right: Ints, b: int) -> int:
    """The first arc with the head and the side of b."""
    return int(right[head[b]] if b >= right[head[b]] else out[head[b]])


@inline_kernel
def _within(above: int, h: int, m: int) -> bool:
    """Whether an arc from h to m does not lead past the head of h: no projective tree has such arcs."""
    return above < 0 or (m < above) == (h < above)


@inline_kernel
def _set_item(items: Ints, item: Ints, number: int, kind: int, cell: int, x: int, y: int, z: int) -> int:
    items[number, KIND], items[number, CELL] = kind, cell
    items[number, X], items[number, Y], items[number, Z] = x, y, z
    item[cell] = number
    return number + 1


@kernel
def _list_items(chart: Chart, below: Level) -> None:
    """List all items, the narrower first, and of one width in the order of their kinds."""
    graph, upper, lower, siblings = chart.graph, chart.upper, chart.lower, chart.kind.siblings
    position, head, modifier, out, right, pairs = (
        graph.position, graph.head, graph.modifier, graph.out, graph.right, graph.pairs,
    )  # fmt: skip
    items, item, width = chart.items, chart.item, chart.width
    vertices, arcs, n = len(position), len(head), width - 2
    lengths = np.zeros(arcs, np.int32)
    for b in range(1, arcs):
        lengths[b] = abs(position[modifier[b]] - position[head[b]])
    arc_order, arc_first = _by_length(lengths, n)
    number_of_pairs = pairs[arcs] if siblings > 0 else 0
    outer = np.empty(number_of_pairs, np.int32)  # of each pair, the farther arc
    distances = np.empty(number_of_pairs, np.int32)
    for b in range(1, arcs if siblings > 0 else 1):
        side = _side(head, out, right, b)
        for k in range(graph.inner[b]):
            outer[pairs[b] + k] = b
            distances[pairs[b] + k] = lengths[b] - lengths[side + k]
    pair_order, pair_first = _by_length(distances, n)
    number = 0
    for w in range(1, n + 1):
        for k in range(pair_first[w], pair_first[w + 1]):
            pair = pair_order[k]
            b = outer[pair]
            h = head[b]
            inner = _side(head, out, right, b) + pair - pairs[b]
            x, y = (inner, b) if b >= right[h] else (b, inner)
            if h == 0 and chart.single_root:
                continue
            if chart.kind.complete == 0:
                v, u = modifier[x], modifier[y]
                cell = chart.between + v * vertices + u
                if item[cell] < 0:  # not yet listed for another head
                    number = _set_item(items, item, number, BETWEEN, cell, v, u, 0)
                continue
            for i in range(below.first[h], below.first[h + 1]):
                p = below.at[i]
                cell = chart.between + below.slots[p] + pair - pairs[out[h]]
                steps = below.steps[p] - out[h]
                number = _set_item(items, item, number, BETWEEN, cell, steps + x, steps + y, 0)

        for k in range(arc_first[w], arc_first[w + 1]):
            b = arc_order[k]
            h = head[b]
            side = _side(head, out, right, b)
            for i in range(lower.first[h], lower.first[h + 1]):
                p = lower.at[i]
                if _within(lower.above[p], position[h], position[modifier[b]]):
                    cell = chart.one + lower.steps[p] + b - out[h]
                    number = _set_item(items, item, number, ONE, cell, p, b, 0)
                    if siblings == 2 and not (h == 0 and chart.single_root):
                        slots = chart.two + lower.slots[p] + pairs[b] - pairs[out[h]]
                        for place in range(graph.inner[b]):
                            number = _set_item(items, item, number, TWO, slots + place, p, side + place, b)
            for i in range(upper.first[h], upper.first[h + 1] if siblings > 0 else upper.first[h]):
                q = upper.at[i]
                if _within(upper.above[q], position[h], position[modifier[b]]):
                    cell = chart.done + upper.steps[q] + b - out[h]
                    number = _set_item(items, item, number, DONE, cell, q, b, 0)

        for q in range(len(upper.head)):
            h = upper.head[q]
            x = position[h]
            above = upper.above[q]
            e = x + w
            # With siblings, a head is complete only when it has all modifiers: the root at the end.
            if out[h + 1] > right[h] and e <= n and not x < above <= e:
                if q > 0 or e == n or (siblings == 0 and not chart.single_root):
                    number = _set_item(items, item, number, COMPLETE, q * width + e + 1, q, e, 1)
            e = x - w
            if right[h] > out[h] and e >= 1 and not x > above >= e:
                number = _set_item(items, item, number, COMPLETE, q * width + e, q, e, 0)
    chart.total[0] = number


@inline_kernel
def _or_zero(table: Floats, i: int) -> float:
    return table[i] if len(table) > 0 else 0.0


@inline_kernel
def _put(ways: Ways, cells: Floats, count: int, first: int, second: int, score: float, place: int) -> int:
    """One more way, unless it needs what cannot be built."""
    score = cells[first] + cells[second] + score
    ways.first[count], ways.second[count], ways.score[count], ways.place[count] = first, second, score, place
    return count + (score > -np.inf)


@inline_kernel
def _between(
    ancestors: int, vertices: int, v: int, w: int, pair: int, span: Numbers, p: int, first_pair: int
) -> int:
    """Which S lies between the modifiers v and w of a pair of arcs below p, a spine of the lower level."""
    if ancestors == 0:
        return v * vertices + w if v < w else w * vertices + v
    return pair if ancestors == 1 else span[p] + pair - first_pair


@kernel
def find_ways(chart: Chart, begin: Whole, end: Whole, ways: Ways, settle: Whole) -> None:
    """Find all ways to build the items from `begin` up to `end`: LISTED in `ways`, which must have room for so many items; or, room
    for one, to fill the cell of each with its BEST score or with the log of the SUMMED ones.

    Here and nowhere else the recurrences are spelled out.
    """
    graph, upper, lower, tables = chart.graph, chart.upper, chart.lower, chart.tables
    position, head, modifier, out, right, inner, pairs, triples = (
        graph.position, graph.head, graph.modifier, graph.out, graph.right, graph.inner, graph.pairs, graph.triples,
    )  # fmt: skip
    cells, items, width, siblings, zero = (
        chart.cells,
        chart.items,
        chart.width,
        chart.kind.siblings,
        chart.zero,
    )
    ancestors, vertices = chart.kind.complete, len(position)
    count = 0
    for number in range(begin, end):
        kind, x, y, z = items[number, KIND], items[number, X], items[number, Y], items[number, Z]

        if kind == BETWEEN:  # two halves that meet between the heads of the spines x and y
            for r in range(position[upper.head[x]] + 1, position[upper.head[y]] + 1):
                count = _put(ways, cells, count, x * width + r, y * width + r, 0.0, -1)

        elif kind == COMPLETE:  # the farthest modifier of the spine x, and its own half beyond, up to y
            h = upper.head[x]
            steps, child = chart.done + upper.steps[x] - out[h], upper.child[x] - out[h]
            b, stop = (right[h], out[h + 1]) if z == 1 else (out[h], right[h])
            while b < stop and (position[modifier[b]] - y) * (2 * z - 1) <= 0:
                spine = modifier[b] if ancestors == 0 else child + b
                count = _put(ways, cells, count, steps + b, spine * width + y + z, 0.0, -1)
                b += 1

        elif kind == DONE:  # the arc y is the farthest from the head of the spine x
            h = head[y]
            p = x if ancestors == chart.kind.incomplete else h
            step = upper.steps[x] + y - out[h]
            last = _or_zero(tables.last, step)
            one = chart.one + lower.steps[p] + y - out[h]
            count = _put(ways, cells, count, one, zero, last + _or_zero(tables.only, step), -1)
            if siblings == 2:
                pair = pairs[y] - pairs[out[h]]
                two, slot = chart.two + lower.slots[p] + pair, upper.slots[x] + pair
                for k in range(inner[y]):
                    score = last + _or_zero(tables.last_pair, slot + k)
                    count = _put(ways, cells, count, two + k, zero, score, k)

        elif (
            kind == ONE
        ):  # the arc y from the head of the spine x is the nearest, or comes after one that may be forgotten
            h = head[y]
            rightward = y >= right[h]
            side = right[h] if rightward else out[h]
            step, slot = lower.steps[x] + y - out[h], lower.slots[x] + pairs[y] - pairs[out[h]]
            spine = modifier[y] if ancestors == 0 else (y if ancestors == 1 else upper.child[x] + y - out[h])
            child, i, j = spine * width, position[h], position[modifier[y]]
            score = tables.step[step]
            nearest = child + (i + 1 if rightward else i)
            count = _put(ways, cells, count, nearest, zero, score + _or_zero(tables.first, step), -1)
            if h == 0 and chart.single_root:
                pass
            elif siblings == 0:
                low, high = (i + 2, j + 1) if rightward else (j + 1, i)
                for r in range(low, high):
                    count = _put(ways, cells, count, x * width + r, child + r, score, 0)
            elif siblings == 1:
                ones = chart.one + lower.steps[x] - out[h] + side
                for k in range(inner[y]):
                    pair = pairs[y] + k
                    between = chart.between + _between(
                        ancestors,
                        vertices,
                        modifier[side + k],
                        modifier[y],
                        pair,
                        upper.span,
                        x,
                        pairs[out[h]],
                    )
                    more = score + _or_zero(tables.pair, pair) + _or_zero(tables.slot, slot + k)
                    count = _put(ways, cells, count, ones + k, between, more, k)

        else:  # the arc z from the head of the spine x comes after y
            h = head[z]
            side = right[h] if z >= right[h] else out[h]
            first_pair, pair = pairs[out[h]], pairs[z] + y - side
            slot = lower.slots[x] + pair - first_pair
            score = tables.step[lower.steps[x] + z - out[h]]
            score += _or_zero(tables.pair, pair) + _or_zero(tables.slot, slot)
            between = chart.between + _between(
                ancestors, vertices, modifier[y], modifier[z], pair, upper.span, x, first_pair
            )
            one = chart.one + lower.steps[x] + y - out[h]
            count = _put(ways, cells, count, one, between, score + _or_zero(tables.second, slot), -1)
            twos = chart.two + lower.slots[x] + pairs[y] - first_pair
            triple = triples[pair]
            run = lower.runs[x] + triple - triples[first_pair]
            for k in range(inner[y]):
                more = score + _or_zero(tables.triple, triple + k) + _or_zero(tables.run, run + k)
                count = _put(ways, cells, count, twos + k, between, more, k)

        if settle == LISTED:
            ways.start[number - begin + 1] = count
            continue
        best, way = -np.inf, 0
        for k in range(count):
            if ways.score[k] > best:
                best, way = ways.score[k], k
        items[number, FIRST], items[number, SECOND] = ways.first[way], ways.second[way]
        if settle == SUMMED and count > 1:
            total = 0.0
            for k in range(count):
                total += np.exp(ways.score[k] - best)
            best += np.log(total)
        cells[items[number, CELL]] = best
        count = 0
