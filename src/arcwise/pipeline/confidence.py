"""How sure is the parser? The probability of each arc among all trees, given the scores of the arcs that the pruner keeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arcwise.learning.corpus import Corpus
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.model import Model
from arcwise.pipeline.sentences import ANY_LABEL, Weights, parse_sentences
from arcwise.sums.front import marginals

_CANDIDATES = 2.0 ** np.arange(-3.0, 4.5, 0.5)
_ENOUGH = 500  # sentences to choose a temperature by
_LEAST = 1e-6  # the probability that a pruned arc counts with


def arc_scores(
    numbers: NDArray[np.int32], starts: NDArray[np.int64], weights: Weights
) -> list[NDArray[np.float64]]:
    """The score matrix of every sentence, in units of the weights, -inf for arcs that were pruned."""
    sizes = np.diff(starts)
    room = np.empty(int(np.sum(sizes * sizes)))
    heads, labels = np.full(len(numbers), ANY_HEAD, np.int32), np.full(len(numbers), ANY_LABEL, np.int32)
    parse_sentences(numbers, starts, weights, heads, labels, np.empty(len(sizes)), room)
    ends = np.cumsum(sizes * sizes)
    return [room[end - size * size : end].reshape(size, size) for end, size in zip(ends, sizes, strict=True)]


def arc_probabilities(
    matrices: Sequence[NDArray[np.float64]], temperature: float, single_root: bool
) -> list[NDArray[np.float64]]:
    """The probability of every arc if a tree's is proportional to exp(score / temperature). O(n^3) a sentence."""
    probabilities: list[NDArray[np.float64]] = marginals(
        [S / temperature for S in matrices], single_root=single_root
    )
    return probabilities


def fit_temperature(model: Model, corpus: Corpus) -> float:
    """The temperature, in units of the scores, by which the right arcs of a treebank are most probable."""
    sentences = min(_ENOUGH, len(corpus.starts) - 1)
    starts = corpus.starts[: sentences + 1]
    matrices = arc_scores(corpus.numbers[: starts[-1]], starts, model.weights())
    scale = float(model.arrays["scales"][1])
    likelihoods = []
    for temperature in _CANDIDATES:
        total = 0.0
        for P, start in zip(
            arc_probabilities(matrices, temperature / scale, model.single_root), starts, strict=False
        ):
            words = np.arange(1, len(P))
            total += float(np.log(np.maximum(P[corpus.heads[start + words], words], _LEAST)).sum())
        likelihoods.append(total)
    return float(_CANDIDATES[int(np.argmax(likelihoods))])
