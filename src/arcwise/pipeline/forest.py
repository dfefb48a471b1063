"""The trees that a sentence may have, and how likely each is: the one place where the model's distribution comes from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.pipeline.belief_sentences import parse_with_beliefs
from arcwise.pipeline.chart_forest import ChartForest, SentenceParts
from arcwise.pipeline.chart_sentences import parse_with_charts, sentence_parts
from arcwise.pipeline.climbing_sentences import parse_by_climbing
from arcwise.pipeline.dual_sentences import BUDGET, REPORT, Effort, parse_with_automata
from arcwise.pipeline.sampled_forest import SampledForest
from arcwise.pipeline.sentences import Weights, parse_sentences
from arcwise.pipeline.shaped_sentences import find_others, parse_with_shapes, search_class, wider
from arcwise.search.climbing import Climbing
from arcwise.search.dual import STALL
from arcwise.search.k_best import k_best_trees
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.tree_search import (
    ShapedSearch,
    TreeSearch,
    make_shaped_search,
    make_tree_search,
)
from arcwise.sums.matrix_tree import matrix_trees
from arcwise.trees.shapes import ANY, PROJECTIVE, Shape

Floats = NDArray[np.float64]
Heads = NDArray[np.int32]

_NOTHING = np.empty(0)
_NO_TRACE = np.empty((0, 3))
_NO_HEADS = np.empty(0, np.int32)
EXACT = Effort(STALL, False, BUDGET)
_BILLION = 2.0**30
_MOST_SCORES = 1 << 22  # that are held at a time, unless one sentence has more


class Rows(NamedTuple):
    """Sentences, or pieces of long ones, as `parse_sentences` takes them: a row for each root and each word.

    numbers, starts, heads, labels: as there; heads and labels hold what is given, and are filled. scores: filled, one a sentence;
    bounds: likewise, what no tree of the sentence exceeds. report: int64 (sentences, REPORT), what dual decomposition took.
    """

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    heads: Heads
    labels: NDArray[np.int32]
    scores: Floats
    bounds: Floats
    report: NDArray[np.int64]

    def find_trees(
        self, weights: Weights, effort: Effort = EXACT, projective: bool = False, matrices: Floats = _NOTHING,
        trace: Floats = _NO_TRACE, climbing: Climbing | None = None, seconds: float | None = None,
    ) -> None:  # fmt: skip
        """Fill in the best trees, and the scores of their arcs where there is room.

        effort, projective, trace: of dual decomposition; effort also of the search for trees of a class. climbing: for hill climbing,
        as it is done by default if the model asks for it. seconds: of the search for trees of a class by models of arcs, a sentence.
        """
        numbers, starts, heads, labels, scores, bounds, _ = self
        if climbing is not None or weights.climb:
            if len(matrices) and not weights.dual and weights.far is None:
                parse_sentences(numbers, starts, weights, heads.copy(), labels.copy(), scores, matrices)
            self._climb(weights, climbing or Climbing())
            return
        if weights.shape != ANY and not (weights.dual or weights.projective or weights.loopy):
            whole = [True] * len(scores)
            groups = [(0, len(scores))] if len(matrices) else _groups(np.diff(starts).tolist(), whole)
            for first, last in groups:
                parse_with_shapes(weights, effort, *self.part(first, last), matrices, seconds)
            return
        if weights.dual:
            self._find_dual_trees(weights, effort, projective or weights.shape == PROJECTIVE, trace)
            return
        bounds[:] = np.inf
        if weights.projective:
            parse_with_charts(numbers, starts, weights, heads, labels, scores)
        elif weights.loopy:
            parse_with_beliefs(numbers, starts, weights, heads, labels, scores, matrices)
        else:
            parse_sentences(numbers, starts, weights, heads, labels, scores, matrices)
        if not weights.loopy:
            bounds[:] = scores

    def _climb(self, weights: Weights, climbing: Climbing) -> None:
        """By hill climbing. If a bound is asked for and the parts are known to dual decomposition, or are arcs, these go first, and
        climbing goes on from their trees where they do not prove them best.
        """
        self.bounds[:] = np.inf
        if not climbing.bounded or weights.far is not None:
            numbers, starts, heads, labels, scores, bounds, report = self
            parse_by_climbing(
                numbers, starts, weights, climbing, _NO_HEADS, heads, labels, scores, bounds, report
            )
            return
        given = self._replace(heads=self.heads.copy(), labels=self.labels.copy())
        self.find_trees(weights._replace(climb=False), Effort(STALL, False, 0))
        self.report[:] = 0
        for s in np.flatnonzero(self.bounds > self.scores).tolist():
            numbers, starts, heads, labels, scores, bounds, report = self.part(s, s + 1)
            begin_at, asked = heads.copy(), given.part(s, s + 1)
            heads[:], labels[:] = asked.heads, asked.labels
            parse_by_climbing(
                numbers, starts, weights, climbing, begin_at, heads, labels, scores, bounds, report
            )

    def _find_dual_trees(self, weights: Weights, effort: Effort, projective: bool, trace: Floats) -> None:
        """By dual decomposition. Where the best tree is not of the shape, another search; and if what is given leaves no tree of the
        shape among the arcs kept, then more are kept.
        """

        def find(rows: Rows, weights: Weights, trees: TreeSearch | ShapedSearch) -> None:
            numbers, starts, heads, labels, scores, bounds, report = rows
            parse_with_automata(
                numbers, starts, weights, effort, trees, heads, labels, scores, bounds, report, trace
            )

        given = self._replace(heads=self.heads.copy(), labels=self.labels.copy())
        longest = int(np.diff(self.starts).max(initial=1)) - 1
        find(self, weights, make_tree_search(longest, weights.single_root, projective))
        if weights.shape == ANY or projective:
            return
        others = self.scores > -np.inf
        find_others(self.heads, self.starts, weights.shape, others)
        for s in np.flatnonzero(others).tolist():
            here, asked = self.part(s, s + 1), given.part(s, s + 1)
            trees = make_shaped_search(len(here.heads) - 1, weights.single_root, weights.shape)
            for wide in (weights, *wider(weights, len(here.heads))):
                here.heads[:], here.labels[:] = asked.heads, asked.labels
                find(here, wide, trees)
                if here.bounds[0] > -np.inf:
                    break

    def part(self, first: int, last: int) -> Rows:
        """Sentences `first` to `last` - 1: views, so that what is filled in there is filled in here."""
        begin, end = self.starts[first], self.starts[last]
        return Rows(
            self.numbers[begin:end],
            self.starts[first : last + 1] - begin,
            self.heads[begin:end],
            self.labels[begin:end],
            self.scores[first:last],
            self.bounds[first:last],
            self.report[first:last],
        )


def make_rows(
    numbers: NDArray[np.int32], starts: NDArray[np.int64], heads: Heads, labels: NDArray[np.int32]
) -> Rows:
    """Rows whose trees are yet to be found."""
    sentences = len(starts) - 1
    report = np.zeros((sentences, REPORT), np.int64)
    return Rows(numbers, starts, heads, labels, np.empty(sentences), np.empty(sentences), report)


class Mixture(NamedTuple):
    """How scores of trees become probabilities: a tree has the share of each temperature times its probability at it, which is
    proportional to exp(score / temperature). shares: sum to 1.
    """

    shares: Floats
    temperatures: Floats

    def logarithms(self, scores: Floats, log_partitions: Floats) -> Floats:
        """The logarithms of probabilities of trees, given their scores and log partition functions (temperatures, trees)."""
        at_each = np.minimum(scores / self.temperatures[:, np.newaxis] - log_partitions, 0.0)
        with np.errstate(invalid="ignore"):  # NaN, where nothing is known
            found: Floats = np.logaddexp.reduce(at_each + np.log(self.shares)[:, np.newaxis])
        return found

    def errors(self, scores: Floats, log_partitions: Floats, errors: Floats) -> Floats:
        """The standard errors of these probabilities, given those of the log partition functions."""
        at_each = np.exp(np.minimum(scores / self.temperatures[:, np.newaxis] - log_partitions, 0.0))
        found: Floats = np.sqrt(np.square(self.shares[:, np.newaxis] * at_each * errors).sum(axis=0))
        return found


class Sums(NamedTuple):
    """What all trees of some sentences say: the probability of every arc and its standard error, the matrices one after another;
    and the logarithm of each sentence's partition function and its standard error, at each temperature, (temperatures, sentences).
    Of exact sums errors are 0, and `arc_errors` is empty. scores: of the trees that the sums are to go with, by all parts; empty if
    these are the scores that the search found.
    """

    arcs: Floats
    arc_errors: Floats
    log_partitions: Floats
    errors: Floats
    scores: Floats = _NOTHING


class Forest(NamedTuple):
    """All trees of some sentences among the arcs that the pruner keeps, each as likely as exp(score / temperature).

    scores: float64, the matrices S[h, m] of the sentences one after another, -inf for arcs that are pruned. lengths: int64, their
    words. shape: of the k best trees and those of least risk; probabilities are those among all trees.

    >>> forest = Forest(np.array([0.0, 5, 4, 0, 0, 3, 0, 9, 0]), np.array([2]), temperature=5.0, single_root=True)
    >>> marginals, log_partitions = forest.sums()  # of two trees, of scores 8 and 13
    >>> forest.squares(marginals)[0].round(3)
    array([[0.   , 0.269, 0.731],
           [0.   , 0.   , 0.269],
           [0.   , 0.731, 0.   ]])
    >>> forest.min_risk(marginals), forest.k_best(5)[0].tolist()
    (array([-1,  2,  0], dtype=int32), [[2, 0], [0, 1]])
    """

    scores: Floats
    lengths: NDArray[np.int64]
    temperature: float
    single_root: bool
    shape: Shape = ANY

    def sums(self, marginals: bool = True) -> tuple[Floats, Floats]:
        """The probability of every arc, laid out like the scores (none if not asked for), and the logarithm of each sentence's
        partition function, by the matrix-tree theorem. O(n^3) a sentence. Runs without the lock.
        """
        arcs, log_partitions = np.empty(self.scores.size if marginals else 0), np.empty(len(self.lengths))
        with np.errstate(over="ignore"):  # then they are refused
            scores = self.scores / self.temperature
        if matrix_trees(scores, self.lengths, self.single_root, arcs, log_partitions).any():
            raise ArcwiseError(
                f"no probabilities: the scores are too great for temperature {self.temperature}"
            )
        return arcs, log_partitions

    def min_risk(self, marginals: Floats) -> Heads:
        """The tree of every sentence with the most right arcs to expect, one after another. O(n^2) a sentence.

        Probabilities count in whole billionths, about, so that a tie is one whatever the last digits are on this machine.
        """
        heads = np.empty(int((self.lengths + 1).sum()), np.int32)
        gains = np.where(np.isneginf(self.scores), -np.inf, np.rint(marginals * _BILLION))
        self._search(gains, self.lengths, self.single_root, heads)
        return heads

    def k_best(self, k: int) -> list[NDArray[np.int32]]:
        """The k best trees of every sentence, (k, n) heads each, first the one that a search finds; all, if there are fewer.

        Exact. O(k n^3) a sentence.
        """
        return [
            np.array([heads[1:] for _, heads in k_best_trees(S, k, self._search, self.single_root)])
            for S in self.squares(self.scores)
        ]

    def _search(
        self, scores: Floats, lengths: NDArray[np.int64], single_root: bool, heads: Heads
    ) -> NDArray[np.int64]:
        """As `spanning_trees`, for trees of the shape."""
        if self.shape == ANY:
            return spanning_trees(scores, lengths, single_root, heads)
        return search_class(scores, lengths, single_root, self.shape, EXACT, heads)[:, 0].astype(np.int64)

    def squares(self, flat: Floats) -> list[Floats]:
        """Numbers that are laid out like the scores as a matrix for each sentence."""
        sizes = (self.lengths + 1).tolist()
        ends = np.cumsum(np.square(sizes)).tolist()
        return [
            flat[end - size * size : end].reshape(size, size) for size, end in zip(sizes, ends, strict=True)
        ]


AnyForest = Forest | ChartForest | SampledForest


def sum_mixture(forest: AnyForest, mixture: Mixture, marginals: bool = True) -> Sums:
    """What all trees say if each is as likely as by a mixture of temperatures.

    >>> forest = Forest(np.array([0.0, 5, 4, 0, 0, 3, 0, 9, 0]), np.array([2]), temperature=1.0, single_root=True)
    >>> sums = sum_mixture(forest, Mixture(np.array([0.5, 0.5]), np.array([5.0, 0.1])))
    >>> forest.squares(sums.arcs)[0].round(3)
    array([[0.   , 0.134, 0.866],
           [0.   , 0.   , 0.134],
           [0.   , 0.866, 0.   ]])
    """
    shares, temperatures = mixture
    if isinstance(forest, SampledForest):
        arcs, arc_errors, logs, errors, scores = forest.sums_at(temperatures)
        return Sums(shares @ arcs, np.sqrt(np.square(shares) @ np.square(arc_errors)), logs, errors, scores)
    found = [forest._replace(temperature=float(temperature)).sums(marginals) for temperature in temperatures]
    logs = np.array([log_partitions for _, log_partitions in found])
    return Sums(shares @ np.array([arcs for arcs, _ in found]), _NOTHING, logs, np.zeros_like(logs))


def find_forest(rows: Rows, weights: Weights, temperature: float = 1.0) -> AnyForest:
    """Fill in the best trees, and give all others too. temperature: in units of the weights."""
    if weights.projective:
        parts = []
        for begin, end in pairwise(rows.starts.tolist()):
            given = rows.heads[begin:end].copy()
            _, graph, levels, tables = sentence_parts(
                rows.numbers[begin:end], weights, given, rows.labels[begin:end]
            )
            parts.append(SentenceParts(graph, levels, tables))
        rows.find_trees(weights)
        return ChartForest(parts, weights.kind, temperature, weights.single_root)
    if weights.dual or weights.loopy or weights.far is not None:  # the sum over all trees is intractable
        heads, labels = rows.heads.copy(), rows.labels.copy()
        rows.find_trees(weights)
        return SampledForest(
            rows.numbers, rows.starts, weights, heads, labels, rows.heads[np.newaxis].copy(), temperature
        )
    sizes = np.diff(rows.starts)
    scores = np.empty(int(np.sum(sizes * sizes)))
    rows.find_trees(weights, matrices=scores)
    return Forest(scores, sizes - 1, temperature, weights.single_root, weights.shape)


def find_forests(
    rows: Rows, whole: NDArray[np.bool_], weights: Weights
) -> Iterator[tuple[int, int, AnyForest]]:
    """Fill in the best trees of all sentences, and give the forests of those marked in `whole`, a group (first, last + 1) at a time.

    So memory is bounded: by 32 MB of arc scores, or those of one sentence; scores of higher parts take several times as much. A
    group with a sentence for which no tree has what is given is left out; the sentence's score is then -inf.
    """
    for first, last in _groups(np.diff(rows.starts).tolist(), whole.tolist()):
        part = rows.part(first, last)
        if whole[first]:
            forest = find_forest(part, weights)
            if not np.isneginf(part.scores).any():
                yield first, last, forest
        else:
            part.find_trees(weights)


def _groups(sizes: list[int], whole: list[bool]) -> Iterator[tuple[int, int]]:
    """Cut a list of sentences into groups that are all whole or none, and whose squares are few enough.

    >>> list(_groups([2000, 2000, 2, 3, 4], [True, True, True, False, False]))
    [(0, 1), (1, 3), (3, 5)]
    """
    first = scores = 0
    for i, size in enumerate(sizes):
        scores += size * size
        if i > first and (scores > _MOST_SCORES or whole[i] != whole[first]):
            yield first, i
            first, scores = i, size * size
    if sizes:
        yield first, len(sizes)
