"""Sums over projective trees that are scored by tables of parts: the same chart as for the best tree, with sums for maxima."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.parts.arc_graph import PartScores
from arcwise.parts.folding import room_for_parts, unfold
from arcwise.parts.scores import Scores
from arcwise.parts.tables import Floats
from arcwise.search.decode import decode
from arcwise.search.derivations import derive
from arcwise.search.part_chart import PartChart
from arcwise.search.passes import backward, forward
from arcwise.search.result import Parse
from arcwise.sums.chance import start_stream


class PartSums(NamedTuple):
    """What all trees of a chart say: the log partition function, the probability of every part, and the score to expect; or the best
    score, and that of the best tree that has a part.
    """

    total: float
    parts: dict[str, Floats]
    expected: float


def log_partition(parts: PartChart) -> float:
    """The log of the sum over all trees; -inf if there is none."""
    return forward(parts.chart(), True)


def part_sums(parts: PartChart, sums: bool) -> PartSums:
    """Sums, or maxima, for all parts of all tables; NoTreeError if there is no tree."""
    chart = parts.chart()
    total = forward(chart, sums)
    if total == -np.inf:
        raise parts.no_tree()
    found = room_for_parts(parts.tables, 0.0 if sums else -np.inf)
    backward(chart, sums, found)
    expected = total
    if sums:
        expected = sum(
            float(np.dot(share[share > 0], scores[share > 0]))
            for share, scores in zip(found, parts.tables, strict=True)
        )
        for share in found:
            np.minimum(share, 1.0, out=share)  # sums of rounded shares may be greater by a few digits
    shapes = {name: table.shape for name, table in parts.scores.tables().items()}
    return PartSums(total, unfold(found, shapes, parts.graph, parts.levels, sums), expected)


def as_given(parts: PartChart, sums: PartSums, all_parts: bool) -> Any:
    """What was found of the arcs, or of all parts, in the shape in which the scores were given."""
    tables = dict(sums.parts)
    if isinstance(parts.scores, PartScores):
        arcs = np.empty_like(tables["arcs"])
        arcs[parts.scores.graph.order] = tables["arcs"]
        tables["arcs"] = arcs
        return tables if all_parts else arcs
    return Scores(**tables) if all_parts else tables["arcs"]


def min_risk(parts: PartChart) -> Parse:
    """The projective tree with the most right arcs to expect."""
    gains = np.full((int(parts.graph.position[-1]) + 1,) * 2, -np.inf)
    arcs = part_sums(parts, True).parts["arcs"]
    if isinstance(parts.scores, Scores):
        allowed = (parts.graph.head[1:], parts.graph.modifier[1:])
        gains[allowed] = arcs[allowed]
    else:
        h, m = parts.graph.position[parts.graph.head[1:]], parts.graph.position[parts.graph.modifier[1:]]
        gains[h, m] = 0.0
        np.add.at(gains, (h, m), arcs)
    parse: Parse = decode(gains, projective=True, single_root=parts.single_root)
    return parse


def sample(parts: PartChart, count: int, seed: int, number: int) -> NDArray[np.int32]:
    """`count` trees drawn independently: their heads, or for `PartScores` the arcs into their words, (count, n+1)."""
    chart = parts.chart()
    if forward(chart, True) == -np.inf:
        raise parts.no_tree()
    trees = np.empty((count, chart.width - 1), np.int32)
    state = np.empty(1, np.uint64)
    for k, arcs in enumerate(trees):
        start_stream(state, np.uint64(seed), number, k)
        derive(chart, True, state, arcs)
    if isinstance(parts.scores, PartScores):
        return parts.scores.graph.names[trees].astype(np.int32)
    for arcs in trees:
        arcs[:] = parts.heads(arcs)
    return trees
