"""Around every search that proves trees best by bounds: numbers out of reach are forbidden, and the rest is put in a unit.

A search sees scores of which the largest is near 1, and how near a bound must come to a tree's score to prove it best
(`arcwise.parts.reach`). When it has found a tree, numbers that are far below what any better tree could afford are forbidden, as if
they had been given as -inf, and the search begins anew: so a mask of -1e30 is as good as -inf. Mostly there are none, and one search
is all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.folding import room_for_parts, unfold
from arcwise.parts.graph import Level
from arcwise.parts.head_automata import HeadAutomata
from arcwise.parts.reach import Group, Unit, beyond_reach, least_difference, scaled, unit_of, unscaled_bound
from arcwise.parts.tables import Tables
from arcwise.search.dual import arcs_of_rivals
from arcwise.search.part_chart import PartChart, forbid, only_one
from arcwise.search.result import Parse
from arcwise.threads import heed

# Given the problem and what an earlier search of it found, if there was one.
SearchOf = Callable[[PartChart, Parse | None], Parse]
Flags = NDArray[np.bool_]

FAR = 16.0  # times farther than a better tree could afford: such numbers are forbidden
SMALL = (
    2.0**-6
)  # what all numbers of a tree come to, at least, if rounding in the unit is no more than that of their sum


class _InUnit(NamedTuple):
    """A problem in its unit. exact: whether a bound that comes as near as `chart.difference` leaves no doubt at all."""

    chart: PartChart
    unit: Unit
    exact: bool


def search_within_reach(chart: PartChart, search: SearchOf) -> Parse:
    """What `search` finds, with a bound that holds whatever the size of the numbers; a tree is proved best only if its bound is its
    score, which costs at most the rounding of its own sum. One search, and one more for each size of masks.

    search: is given the problem in a unit, and returns a bound that is the score itself if it came as near as `chart.difference`.
    """
    found: Parse | None = None
    while True:
        heed()
        given = _in_unit(chart)
        try:
            parse = search(given.chart, found)
        except InputError:  # gave up; what an earlier search found is true all the same
            if found is None:
                raise
            return found
        gone = _out_of_reach(given.chart, parse.score)
        if (
            gone is None
            and parse.certified
            and not given.exact
            and _size(given.chart, parse) < SMALL * given.unit.size
        ):
            # What is left is much larger than the tree's own numbers: only what may be in a better tree is to count.
            rivals = arcs_of_rivals(given.chart, parse)
            closer = forbid(given.chart, {"arcs": ~rivals})
            if not only_one(closer):
                if _in_unit(closer).unit.shift >= 2:
                    gone = {"arcs": ~rivals}
                elif parse.bound is not None:
                    parse.bound += given.chart.difference
        if gone is not None and not given.exact and parse.bound is not None:
            parse.bound += given.chart.difference  # what was rounded may matter among what is left
        parse = _unscaled(parse, given.unit.shift)
        if found is not None and found.score > parse.score:
            found.bound = None if parse.bound is None else max(parse.bound, found.score)
            parse = found
        found = parse
        if gone is None:
            return parse
        chart = forbid(chart, gone)


def plainly(chart: PartChart) -> PartChart:
    """The problem as it is, in no unit but with the difference that counts: for searches with scores from elsewhere."""
    given = _in_unit(chart)
    return chart._replace(difference=float(np.ldexp(given.chart.difference, -given.unit.shift)))


def _in_unit(chart: PartChart) -> _InUnit:
    given = chart.given
    numbers = (
        (*chart.tables, *_of_states(chart).values())
        if isinstance(chart.scores, HeadAutomata)
        else chart.tables
    )
    unit = unit_of(numbers)
    words = int(chart.graph.position[-1]) + 1
    difference, exact = least_difference(unit, words * words)
    with np.errstate(all="ignore"):  # what is not read may be anything
        tables = Tables(*(scaled(array, unit.shift) for array in chart.tables))
        given = {name: scaled(table, unit.shift) for name, table in given.items()}
    return _InUnit(chart._replace(tables=tables, given=given, difference=difference), unit, exact)


def _unscaled(parse: Parse, shift: int) -> Parse:
    """A parse with the scores that were given."""
    if parse.bound is not None:
        certified = parse.certified
        parse.bound = unscaled_bound(parse.bound, shift)
        parse.score = float(np.ldexp(parse.score, -shift))
        parse.bound = parse.score if certified else max(parse.bound, parse.score)
    else:
        parse.score = float(np.ldexp(parse.score, -shift))
    if "trace" in parse.stats:
        parse.stats["trace"][:, :2] = np.ldexp(parse.stats["trace"][:, :2], -shift)
    if "value" in parse.stats:
        parse.stats["value"] = float(np.ldexp(parse.stats["value"], -shift))
    return parse


def _size(chart: PartChart, parse: Parse) -> float:
    """What the numbers of a tree come to, at least: its score, or its arcs' largest number."""
    arcs, graph = chart.arcs, chart.graph
    modifiers = np.arange(1, len(parse.heads))
    if arcs.ndim == 2:
        own = arcs[parse.heads[1:], modifiers]
    else:
        own = arcs[graph.position[graph.head[1:]] == parse.heads[graph.position[graph.modifier[1:]]]]
        own = own[own > -np.inf]
    return max(abs(parse.score), float(np.abs(own).max(initial=0.0)))


def _out_of_reach(chart: PartChart, score: float) -> dict[str, Flags] | None:
    """The entries of the tables that no tree as good as this has, by far; None if there are none that were not forbidden yet."""
    groups = _groups(chart)
    gone = beyond_reach(list(groups.values()), score, FAR)
    fresh = [
        bool((far & (group.values > -np.inf)).any()) for far, group in zip(gone, groups.values(), strict=True)
    ]
    if not any(fresh):
        return None
    flags = dict(zip(groups, gone, strict=True))
    folded = room_for_parts(chart.tables, 0.0)
    for name, array in folded._asdict().items():
        if name in flags:
            array[len(array) - len(flags[name]) :] = flags[name]
    of_states = isinstance(chart.scores, HeadAutomata)
    shapes = {name: table.shape for name, table in chart.given.items() if name == "arcs" or not of_states}
    rules = (shapes, chart.graph, chart.levels, chart.kind, True)
    far, read = unfold(folded, *rules), unfold(room_for_parts(chart.tables, 1.0), *rules)
    entries = {name: (read[name] > 0) & (far[name] >= read[name]) for name in shapes}
    if of_states:
        for name, legal in _legal(chart).items():
            entries[name] = np.zeros(chart.given[name].shape, np.bool_)
            entries[name][legal] = flags[name]
    # An entry that is also read where it may be in a better tree stays, whatever it is added to elsewhere.
    forbids = any(bool((entries[name] & (chart.given[name] > -np.inf)).any()) for name in entries)
    return entries if forbids else None


def _groups(chart: PartChart) -> dict[str, Group]:
    """The numbers that are read, by the array they stand in: at the end of it, for some begin with one that belongs to no part."""
    graph, (upper, lower, _) = chart.graph, chart.levels
    word = graph.position[graph.modifier]  # by arcs

    def outer() -> NDArray[np.int64]:  # of pairs
        return np.repeat(np.arange(len(graph.head)), graph.inner)

    def owners(name: str) -> Any:
        if name == "none":
            return 2 * np.repeat(word, 2) + np.tile(np.array([0, 1], np.int32), len(word))
        if name == "pair":
            return word[outer()]
        if name == "triple":
            return word[np.repeat(outer(), np.diff(graph.triples))]
        level = upper if name in ("last", "only", "last_pair") else lower
        if name in ("step", "first", "last", "only"):
            return word[_of_spines(level.steps) + graph.out[_heads(level, level.steps)]]
        if name == "run":
            triples = graph.triples[graph.pairs[graph.out[_heads(level, level.runs)]]]
            return word[np.repeat(outer(), np.diff(graph.triples))[_of_spines(level.runs) + triples]]
        pairs = graph.pairs[graph.out[_heads(level, level.slots)]]
        return word[outer()[_of_spines(level.slots) + pairs]]

    found = {}
    for name, array in chart.tables._asdict().items():
        if len(array) > 0:
            owner = owners(name)
            found[name] = Group(array[len(array) - len(owner) :], owner, name == "step")
    if "none" in found:  # arc 0 leads into the root
        found["none"] = Group(found["none"].values[2:], found["none"].owner[2:])
    if isinstance(chart.scores, HeadAutomata):
        legal, of_states = _legal(chart), _of_states(chart)
        for name in legal:
            by_word = np.nonzero(legal[name])[-1 if name in ("left", "right") else 0]
            found[name] = Group(of_states[name], by_word)
    return found


def _heads(level: Level, starts: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.repeat(level.head, np.diff(starts))


def _of_spines(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each item within its spine."""
    found: NDArray[np.int64] = np.arange(starts[0], starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    return found


def _legal(chart: PartChart) -> dict[str, Flags]:
    """Which entries of the tables of states are read."""
    arcs = chart.arcs > -np.inf
    arcs[:, 0] = False
    np.fill_diagonal(arcs, False)
    words = np.arange(len(arcs)) > 0
    read: dict[str, Any] = {
        "left": np.tril(arcs)[:, None, None],
        "right": np.triu(arcs)[:, None, None],
        "left_end": words[:, None],
        "right_end": np.True_,
    }
    return {name: np.broadcast_to(flags, chart.given[name].shape) for name, flags in read.items()}


def _of_states(chart: PartChart) -> dict[str, NDArray[np.float64]]:
    """The numbers of the tables of states that are read."""
    return {name: chart.given[name][legal] for name, legal in _legal(chart).items()}
