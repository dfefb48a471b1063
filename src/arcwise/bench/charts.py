"""What `arcwise bench` measures of the charts for tables of parts: how they grow with the sentence when nothing is pruned.

Gaussian scores, all arcs allowed, one root. Theory counts the ways to build all items: the exponent fitted to them is reported, and
the one fitted to the time of the search, from arrays of scores to the tree. Whole calls are timed too: at few words they are mostly
spent on checking tables and folding them into arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from arcwise.bench.row import Row
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.kernels import kernel
from arcwise.parts.folding import Levels
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.scores import Scores
from arcwise.parts.tables import Kind, Tables
from arcwise.search.chart import CHARTS, LISTED, find_ways, make_ways
from arcwise.search.decode import decode
from arcwise.search.derivations import chart_tree
from arcwise.search.part_chart import part_chart
from arcwise.sums.front import log_partition, marginals

# Every chart with the tables it is for, and its exponent in theory. Tables with four axes are left out: at 80 words one takes 344 MB,
# and to read it takes longer than the chart.
_TABLES: dict[str, tuple[tuple[str, ...], int]] = {
    "eisner": ((), 3),
    "sibling": (("siblings",), 3),
    "model0": (("grandchildren",), 4),
    "model1": (("siblings", "grandchildren"), 4),
    "model2": (("siblings", "outermost_grandchildren"), 4),
}
_WITHIN = 0.4
_TOGETHER = 64  # items whose ways are counted in one call
_LONG = 80**3  # searches of shorter sentences are repeated


def rows(rounds: int = 30, say: Say = silent, lengths: Sequence[int] = (10, 20, 40, 80)) -> list[Row]:
    """All figures of this part."""
    rng = np.random.default_rng(0)
    result: list[Row] = []
    for chart, (tables, theory) in _TABLES.items():
        times, ways = [], []
        for n in lengths:
            say(f"{chart} chart of {n} words")
            scores = _scores(rng, n, tables)
            call = _milliseconds(partial(decode, scores, projective=True, decoder=chart), rounds, n)
            result.append(Row(f"{chart} chart, n = {n}", call, "ms"))
            times.append(_search_time(scores, chart, rounds, n))
            ways.append(_count_ways(scores, chart))
        result.append(_growth(f"{chart} chart: growth of the ways to build items", lengths, ways, theory))
        result.append(_growth(f"{chart} chart: growth of the time to search", lengths, times, theory))
    for n in lengths[1:3]:
        say(f"sums over the trees of {n} words, model1 chart")
        scores = _scores(rng, n, _TABLES["model1"][0])
        for name, function in (("log partition function", log_partition), ("marginals", marginals)):
            spent = _milliseconds(partial(function, scores, projective=True), rounds, n)
            result.append(Row(f"{name}, model1 chart, n = {n}", spent, "ms"))
    return result


def _scores(rng: np.random.Generator, n: int, tables: tuple[str, ...]) -> Scores:
    return Scores(rng.normal(size=(n + 1,) * 2), **{name: rng.normal(size=(n + 1,) * 3) for name in tables})


def _milliseconds(action: Action, rounds: int, n: int) -> float:
    turns = rounds if n <= 20 else max(1, rounds // 6)  # those take long
    return medians({"ours": action}, turns)["ours"] / 1000


@kernel
def _search_again(
    graph: Graph, levels: Levels, kind: Kind, tables: Tables, single_root: bool, arcs: Ints, times: int
) -> None:
    for _ in range(times):
        chart_tree(graph, levels, kind, tables, single_root, arcs)


def _search_time(scores: Scores, method: str, rounds: int, n: int) -> float:
    """Milliseconds of the search alone: many in one call, so that the call itself does not count."""
    parts = part_chart(scores, projective=True, single_root=True, decoder=method)
    times = max(1, _LONG // n**3)
    arcs = np.zeros(n + 1, np.int32)
    action = partial(
        _search_again, parts.graph, parts.levels, CHARTS[method], parts.tables, True, arcs, times
    )
    return _milliseconds(action, rounds, n) / times


def _count_ways(scores: Scores, method: str) -> int:
    """How many ways there are to build all items of a chart: each takes a sum of two cells and scores, and a comparison."""
    parts = part_chart(scores, projective=True, single_root=True, decoder=method)
    chart = parts.chart()
    chart.cells[:] = 0.0  # so that every way has a score
    room = make_ways(chart.width, chart.graph.out, _TOGETHER)
    total, items = 0, int(chart.total[0])
    for begin in range(0, items, _TOGETHER):
        end = min(begin + _TOGETHER, items)
        find_ways(chart, begin, end, room, LISTED)
        total += int(room.start[end - begin])
    return total


def _growth(name: str, lengths: Sequence[int], values: Sequence[float], theory: int) -> Row:
    """The exponent of a power of n, fitted to values by least squares of their logarithms."""
    exponent = float(np.polyfit(np.log(lengths), np.log(values), 1)[0])
    return Row(
        f"{name}, n = {lengths[0]} to {lengths[-1]}", exponent, "(exponent)",
        target=f"within {_WITHIN} of {theory}", reached=abs(exponent - theory) <= _WITHIN,
    )  # fmt: skip
