"""From tables of part scores to the arrays that a chart reads, and back for what it found.

A rule says which entries of a table go to which array: `grand_siblings[g, h, s, m]` to `slot`, `[g, h, h, m]` to `first`,
`[g, h, m, h]` to `last`. An array of scores is the sum of all that goes there; what a chart finds of an array goes back to all
tables.

A dense table has an axis for every word of a part. A sparse one is a vector over the parts of the graph: for every rule, one
after another, the steps (without that into the root), slots or runs of the level that knows just the ancestors of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Level, first_level, next_level
from arcwise.parts.tables import Floats, Kind, Tables

Levels = tuple[Level, Level, Level]

# What stands at the end of an entry's index, after the ancestors and the head h. The first three: for every arc from h to m.
STEP, FIRST, LAST = 0, 1, 2  # [m], [h, m], [m, h]
OUTER, SLOT, SECOND = 3, 4, 5  # for every pair of siblings s, m: [m], [s, m], [h, s, m]
RUN = 6  # for every triple of siblings t, s, m: [t, s, m]
NONE = 7  # for every arc into h, and each of its sides: [side]


class Rule(NamedTuple):
    """The entries of `pattern`, with so many ancestors before the head, go to an array of `Tables`."""

    array: str
    pattern: int
    ancestors: int


RULES: dict[str, tuple[Rule, ...]] = {
    "arcs": (Rule("step", STEP, 0),),
    "first": (Rule("first", STEP, 0),),
    "second": (Rule("second", OUTER, 0),),
    "siblings": (Rule("first", FIRST, 0), Rule("pair", SLOT, 0), Rule("last", LAST, 0)),
    "tri_siblings": (Rule("second", SECOND, 0), Rule("triple", RUN, 0)),
    "none": (Rule("none", NONE, 1),),
    "grandchildren": (Rule("step", STEP, 1),),
    "first_grandchildren": (Rule("first", STEP, 1),),
    "grand_siblings": (Rule("first", FIRST, 1), Rule("slot", SLOT, 1), Rule("last", LAST, 1)),
    "outermost_grandchildren": (Rule("last", STEP, 1),),
    "outermost_grand_siblings": (Rule("only", FIRST, 1), Rule("last_pair", SLOT, 1)),
    "grand_tri_siblings": (Rule("second", SECOND, 1), Rule("run", RUN, 1)),
    "great_grandchildren": (Rule("step", STEP, 2),),
    "great_grand_siblings": (Rule("first", FIRST, 2), Rule("slot", SLOT, 2), Rule("last", LAST, 2)),
}
# How many siblings a chart must know to see what an array scores; for the others, none.
_SIBLINGS = {"pair": 1, "slot": 1, "last": 1, "second": 2, "triple": 2, "run": 2, "only": 2, "last_pair": 2}
_OF_COMPLETE = (
    "last",
    "only",
    "last_pair",
)  # the others are over the level of incomplete spans, but for pair, triple and none


def needs(table: str) -> Kind:
    """The least that a chart must remember to score a table.

    >>> needs("grand_siblings"), needs("outermost_grandchildren")
    (Kind(complete=1, incomplete=1, siblings=1), Kind(complete=1, incomplete=0, siblings=1))
    """
    rules = RULES[table]
    inside = [rule.ancestors for rule in rules if rule.array not in (*_OF_COMPLETE, "none")]
    return Kind(
        complete=max(rule.ancestors for rule in rules),
        incomplete=max(inside, default=0),
        siblings=max(_SIBLINGS.get(rule.array, 0) for rule in rules),
    )


def fold(tables: Mapping[str, Floats], graph: Graph, levels: Levels, kind: Kind) -> Tables:
    """The arrays for a chart with these levels. O(entries read), which are those of the graph's parts."""
    arrays: dict[str, Floats] = {}
    for name, table in tables.items():
        for rule, entries in _entries(name, table, graph):
            if rule.array not in arrays:
                arrays[rule.array] = np.zeros(_length(rule.array, graph, levels))
            _walk(rule, entries, arrays[rule.array], graph, levels, kind, gather=True, sums=True)
    return Tables(**{name: arrays.get(name, np.empty(0)) for name in Tables._fields})


def room_for_parts(tables: Tables, nothing: float) -> Tables:
    """Arrays to find probabilities or scores of parts in: `nothing` for all parts that are scored."""
    return Tables(*(np.full(len(array), nothing) for array in tables))


def unfold(
    found: Tables,
    shapes: Mapping[str, tuple[int, ...]],
    graph: Graph,
    levels: Levels,
    kind: Kind,
    sums: bool,
) -> dict[str, Floats]:
    """What was found of every part, as tables of these shapes: added up, or the greatest, where an entry is several parts."""
    tables = {name: np.full(shape, 0.0 if sums else -np.inf) for name, shape in shapes.items()}
    for name, table in tables.items():
        for rule, entries in _entries(name, table, graph):
            _walk(rule, entries, getattr(found, rule.array), graph, levels, kind, gather=False, sums=sums)
    return tables


def sparse_lengths(name: str, graph: Graph) -> list[int]:
    """How many entries a sparse table has for each rule."""
    return [_count(rule, graph, ancestry(graph, rule.ancestors)) for rule in RULES[name]]


def ancestry(graph: Graph, number: int) -> Level:
    """The level on which spines know so many ancestors of a head."""
    level = first_level(graph)
    for k in range(1, number + 1):
        level = next_level(graph, level, k)
    return level


def _count(rule: Rule, graph: Graph, level: Level) -> int:
    if rule.pattern == NONE:
        return 2 * (len(graph.head) - 1)
    if rule.pattern in (STEP, FIRST, LAST):
        return int(level.steps[-1]) - 1
    return int(level.runs[-1] if rule.pattern == RUN else level.slots[-1])


def _entries(name: str, table: Floats, graph: Graph) -> Iterator[tuple[Rule, Floats]]:
    """The rules of a table, each with what it reads."""
    if table.ndim > 1:
        yield from ((rule, table) for rule in RULES[name])
        return
    start = 0
    for rule, length in zip(RULES[name], sparse_lengths(name, graph), strict=True):
        yield rule, table[start : start + length]
        start += length


def _length(array: str, graph: Graph, levels: Levels) -> int:
    level = levels[0] if array in _OF_COMPLETE else levels[1]
    return int(
        {
            "pair": graph.pairs[-1],
            "triple": graph.triples[-1],
            "none": 2 * len(graph.head),
            "slot": level.slots[-1],
            "second": level.slots[-1],
            "last_pair": level.slots[-1],
            "run": level.runs[-1],
        }.get(array, level.steps[-1])
    )


def _walk(
    rule: Rule, table: Floats, array: Floats, graph: Graph, levels: Levels, kind: Kind, *, gather: bool, sums: bool
) -> None:  # fmt: skip
    upper, lower, below = levels
    level, depth = (upper, kind.complete) if rule.array in _OF_COMPLETE else (lower, kind.incomplete)
    size = table.shape[0] if table.ndim > 1 else 0
    flat = table.reshape(-1)
    if rule.pattern == NONE:
        _walk_arcs(graph, flat, size, array, gather, sums)
        return
    # Pairs and triples have no spine: each is met once, with the first spine of its head.
    spineless = rule.array in ("pair", "triple")
    known = ancestry(graph, rule.ancestors) if size == 0 else below
    _walk_parts(
        graph,
        level,
        below,
        known,
        depth,
        rule.pattern,
        rule.ancestors,
        spineless,
        flat,
        size,
        array,
        gather,
        sums,
    )


@inline_kernel
def _pass(array: Floats, i: int, flat: Floats, entry: int, gather: bool, sums: bool) -> None:
    if gather:
        array[i] += flat[entry]
    else:
        flat[entry] = flat[entry] + array[i] if sums else max(flat[entry], array[i])


@kernel
def _walk_arcs(graph: Graph, flat: Floats, size: int, array: Floats, gather: bool, sums: bool) -> None:
    for a in range(1, len(graph.head)):
        g, h = np.int64(graph.position[graph.head[a]]), graph.position[graph.modifier[a]]
        entry = int(2 * (g * size + h)) if size > 0 else 2 * a - 2
        for side in range(2):
            _pass(array, 2 * a + side, flat, entry + side, gather, sums)


@kernel
def _walk_parts(
    graph: Graph,
    level: Level,
    below: Level,
    known: Level,
    depth: int,
    pattern: int,
    ancestors: int,
    spineless: bool,
    flat: Floats,
    size: int,
    array: Floats,
    gather: bool,
    sums: bool,
) -> None:
    """Go through all parts of a pattern: from the table to the array, or back. A `size` of 0 says that the table is sparse."""
    position = graph.position
    for p in range(len(level.head)):
        v = level.head[p]
        h = np.int64(position[v])
        if (spineless and p != level.at[level.first[v]]) or (ancestors > 0 and h == 0):
            continue
        q = np.int64(v if size == 0 else 0)  # the spine that knows only what the rule does
        if ancestors > 0 and size == 0:
            q = np.int64(p) if ancestors == depth else np.int64(level.below[p])
        prefix = np.int64(0)
        if ancestors == 2:
            if level.above[p] <= 0:
                continue
            prefix = np.int64(below.above[level.parent[p]])
        if ancestors > 0:
            prefix = prefix * size + level.above[p]
        prefix = (prefix * size + h) * size
        out, pairs = graph.out[v], graph.pairs[graph.out[v]]
        for b in range(out, graph.out[v + 1]):
            m = np.int64(position[graph.modifier[b]])
            if pattern <= LAST:
                entry = known.steps[q] + b - out - 1
                if size > 0:
                    entry = prefix + m if pattern == STEP else (prefix + h) * size + m
                    if pattern == LAST:
                        entry = (prefix + m) * size + h
                _pass(array, level.steps[p] + b - out, flat, entry, gather, sums)
                continue
            side = graph.right[v] if b >= graph.right[v] else out
            for k in range(graph.inner[b]):
                pair = graph.pairs[b] + k
                s = np.int64(position[graph.modifier[side + k]])
                if pattern < RUN:
                    entry = known.slots[q] + pair - pairs
                    if size > 0:
                        entry = prefix + m if pattern == OUTER else (prefix + s) * size + m
                        if pattern == SECOND:
                            entry = ((prefix + h) * size + s) * size + m
                    slot = pair if spineless else level.slots[p] + pair - pairs
                    _pass(array, slot, flat, entry, gather, sums)
                    continue
                triple = graph.triples[pair]
                run = triple if spineless else level.runs[p] + triple - graph.triples[pairs]
                for j in range(graph.inner[side + k]):
                    t = np.int64(position[graph.modifier[side + j]])
                    entry = known.runs[q] + triple + j - graph.triples[pairs]
                    if size > 0:
                        entry = ((prefix + t) * size + s) * size + m
                    _pass(array, run + j, flat, entry, gather, sums)
