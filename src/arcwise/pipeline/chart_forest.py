"""All projective trees of some sentences, when a model scores higher parts: as `Forest`, from charts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.features.part_scores import sum_by_arcs
from arcwise.parts.folding import Levels, room_for_parts
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.search.chart import Chart, make_chart
from arcwise.search.chart_trees import k_best_arcs
from arcwise.search.eisner import eisner_trees
from arcwise.search.passes import backward, forward

_BILLION = 2.0**30


class SentenceParts(NamedTuple):
    """The arcs kept of a sentence, and the scores of their parts."""

    graph: Graph
    levels: Levels
    tables: Tables


class ChartForest(NamedTuple):
    """All projective trees of some sentences among the arcs that the pruner keeps, each as likely as exp(score / temperature)."""

    parts: list[SentenceParts]
    kind: Kind
    temperature: float
    single_root: bool

    def sums(self, marginals: bool = True) -> tuple[Floats, Floats]:
        """As of `Forest`: the probabilities of all arcs, and log partition functions. Time as of the chart."""
        squares = [np.zeros(0) for _ in self.parts]
        log_partitions = np.empty(len(self.parts))
        for k, part in enumerate(self.parts):
            with np.errstate(over="ignore"):  # then they are refused
                tables = Tables(*(scores / self.temperature for scores in part.tables))
            if not all(np.isfinite(scores).all() for scores in tables):
                raise ArcwiseError(
                    f"no probabilities: the scores are too great for temperature {self.temperature}"
                )
            chart = self._chart(part._replace(tables=tables))
            log_partitions[k] = forward(chart, True)
            if marginals:
                squares[k] = _arc_marginals(part, chart).reshape(-1)
        return np.concatenate(squares), log_partitions

    def min_risk(self, marginals: Floats) -> NDArray[np.int32]:
        """The projective tree of every sentence with the most right arcs to expect, one after another. O(n^3) a sentence."""
        lengths = np.array([len(part.graph.position) - 1 for part in self.parts], np.int64)
        heads = np.empty(int((lengths + 1).sum()), np.int32)
        gains = np.rint(marginals * _BILLION)
        for square, part in zip(self.squares(gains), self.parts, strict=True):
            kept = np.zeros(square.shape, np.bool_)
            kept[part.graph.head[1:], part.graph.modifier[1:]] = True
            square[~kept] = -np.inf
        eisner_trees(gains, lengths, self.single_root, heads)
        return heads

    def k_best(self, k: int) -> list[NDArray[np.int32]]:
        """The k best trees of every sentence, (k, n) heads each; all, if there are fewer. Exact."""
        return [
            np.array([part.graph.head[arcs[1:]] for _, arcs in k_best_arcs(self._chart(part), k)])
            for part in self.parts
        ]

    def squares(self, flat: Floats) -> list[Floats]:
        """Numbers for all pairs of words as a matrix for each sentence."""
        sizes = [len(part.graph.position) for part in self.parts]
        ends = np.cumsum(np.square(sizes)).tolist()
        return [
            flat[end - size * size : end].reshape(size, size) for size, end in zip(sizes, ends, strict=True)
        ]

    def _chart(self, part: SentenceParts) -> Chart:
        return make_chart(part.graph, part.levels, self.kind, part.tables, self.single_root)


def _arc_marginals(part: SentenceParts, chart: Chart) -> Floats:
    """The probability of every arc, after `forward` with sums."""
    graph = part.graph
    nothing = room_for_parts(Tables(*(scores[:0] for scores in part.tables)), 0.0)
    found = nothing._replace(step=np.zeros(len(part.tables.step)))
    backward(chart, True, found, np.zeros(1))
    square = np.zeros((len(graph.position),) * 2)
    square[graph.head[1:], graph.modifier[1:]] = sum_by_arcs(graph, part.levels[1], found.step)[1:]
    return np.minimum(square, 1.0)
