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
    """What all trees of a chart say: log partition function and entropy, or the best score and 0; and the probability of every
    part, or the score of the best tree that has it.
    """

    total: float
    entropy: float
    parts: dict[str, Floats]

    @property
    def expected(self) -> float:
        """The score to expect of a tree."""
        return self.total - self.entropy


def log_partition(chart: PartChart) -> float:
    """The log of the sum over all trees; -inf if there is none."""
    return forward(chart.chart(), True) + chart.offset


def part_sums(chart: PartChart, sums: bool) -> PartSums:
    """Sums, or maxima, for all parts of all tables; NoTreeError if there is no tree."""
    cells = chart.chart()
    total = forward(cells, sums)
    if total == -np.inf:
        raise chart.no_tree()
    found, entropy = room_for_parts(chart.tables, 0.0 if sums else -np.inf), np.zeros(1)
    backward(cells, sums, found, entropy)
    if sums:
        for share in found:
            np.minimum(share, 1.0, out=share)  # sums of rounded shares may be greater by a few digits
    shapes = {name: table.shape for name, table in chart.scores.tables().items()}
    parts = unfold(found, shapes, chart.graph, chart.levels, chart.kind, sums)
    return PartSums(total + chart.offset, float(entropy[0]), parts)


def as_given(chart: PartChart, sums: PartSums, all_parts: bool) -> Any:
    """What was found of the arcs, or of all parts, in the shape in which the scores were given."""
    tables = dict(sums.parts)
    if isinstance(chart.scores, PartScores):
        tables["arcs"] = chart.scores.graph.as_given(tables["arcs"])
        return tables if all_parts else tables["arcs"]
    return Scores(**tables) if all_parts else tables["arcs"]


def min_risk(chart: PartChart) -> Parse:
    """The projective tree with the most right arcs to expect, without labels and senses."""
    graph = chart.graph
    arcs = part_sums(chart, True).parts["arcs"]
    gains = np.full((int(graph.position[-1]) + 1,) * 2, -np.inf)
    h, m = graph.position[graph.head[1:]], graph.position[graph.modifier[1:]]
    if arcs.ndim == 1:
        allowed = ~np.isneginf(chart.arcs)
        h, m, arcs = h[allowed], m[allowed], arcs[allowed]
        gains[h, m] = 0.0
        np.add.at(gains, (h, m), arcs)
    else:
        gains[h, m] = arcs[h, m]
    parse: Parse = decode(gains, projective=True, single_root=chart.single_root)
    return parse


def sample(chart: PartChart, count: int, seed: int, number: int) -> NDArray[np.int32]:
    """`count` trees drawn independently: their heads, or for `PartScores` the arcs into their words, (count, n+1)."""
    cells = chart.chart()
    if forward(cells, True) == -np.inf:
        raise chart.no_tree()
    trees = np.empty((count, cells.width - 1), np.int32)
    state = np.empty(1, np.uint64)
    for k, arcs in enumerate(trees):
        start_stream(state, np.uint64(seed), number, k)
        derive(cells, True, state, arcs)
    if isinstance(chart.scores, PartScores):
        return chart.scores.graph.names[trees].astype(np.int32)
    for arcs in trees:
        arcs[:] = chart.heads(arcs)
    return trees
