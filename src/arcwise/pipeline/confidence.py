"""How sure is the parser? Probabilities of trees, arcs and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.learning.corpus import Corpus, select_sentences
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.forest import Floats, Mixture, Rows, find_forest, make_rows, sum_mixture
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.model import Model
from arcwise.pipeline.sentences import ANY_LABEL

_ENOUGH = 500  # sentences to choose temperatures by
_FARTHEST, _NEAREST = 8.0, 1 / 32  # powers of 2: temperatures from 1/256 to 256, to two in a hundred
_LEAST = 1e-4  # the probability that what was said to be impossible counts with


_HOTTER = 4.0  # the second temperature of trees over the first
_DOUBTS = np.arange(11) / 20  # shares of the second temperature to choose from


class Temperatures(NamedTuple):
    """What scores are divided by to become logarithms of probabilities, in units of the weights: scores of trees, and of labels.

    doubt: the share of a second, four times higher temperature of trees. One temperature says that scores differ as much from the
    truth in all sentences. They do not: where the model errs, it errs badly, and sure words are wrong more often than one
    temperature can have it.
    """

    trees: float
    labels: float
    doubt: float = 0.0

    @classmethod
    def of(cls, model: Model) -> Temperatures:
        """A model's; for labels half of that for trees, if none was fitted for them."""
        _, trees, final = model.arrays["scales"].tolist()
        label_temperature = model.label_temperature or model.temperature / 2
        return cls(
            model.temperature / trees,
            label_temperature / (final if "final" in model.arrays else trees),
            model.doubt,
        )

    @property
    def mixture(self) -> Mixture:
        """Of trees."""
        if self.doubt == 0.0:
            return Mixture(np.ones(1), np.array([self.trees]))
        return Mixture(np.array([1.0 - self.doubt, self.doubt]), np.array([self.trees, _HOTTER * self.trees]))


class Probabilities(NamedTuple):
    """How likely the labelled trees of a block are (logarithms), and by word their arcs and labels; NaN where it is not known.
    Standard errors: of the trees, of the arcs; None where sums are exact.
    """

    logs: Floats
    arcs: Floats | None = None
    labels: Floats | None = None
    errors: Floats | None = None
    arc_errors: Floats | None = None


def fit_temperatures(model: Model, corpus: Corpus) -> Model:
    """The model with the temperatures, and the doubt, by which what is right of its trees in a treebank is most probable, or in 500
    sentences from all over it.

    For trees: whether the heads found are right, word by word, and of whole sentences. For labels: the right labels of the words
    whose head is right in the tree found, given that tree. Words without a head in the treebank are left out. Takes about 20 times
    as long as to find these probabilities.

    Guo, Pleiss, Sun and Weinberger, 2017: On Calibration of Modern Neural Networks (temperature scaling).
    """
    sentences = len(corpus.starts) - 1
    chosen = np.zeros(sentences, np.bool_)
    chosen[np.arange(_ENOUGH) * sentences // _ENOUGH] = True
    numbers, starts, heads, labels = select_sentences(corpus, chosen)
    rows, weights = unknown_trees(numbers, starts), model.weights()
    forest = find_forest(rows, weights)
    # Where the arc of each word lies in the matrices, which lie one after another.
    sizes, known = np.diff(starts), heads >= 0
    begins = np.repeat(np.cumsum(sizes * sizes) - sizes * sizes, sizes)
    arcs = (
        begins + rows.heads * np.repeat(sizes, sizes) + np.arange(len(heads)) - np.repeat(starts[:-1], sizes)
    )
    arcs, right_arcs = arcs[known], (rows.heads == heads)[known]
    all_known = np.add.reduceat(~known, starts[:-1]) == 1  # the root's row
    right_trees = np.add.reduceat(known & (rows.heads != heads), starts[:-1])[all_known] == 0
    right = rows._replace(labels=np.where(rows.heads == heads, labels, ANY_LABEL))
    units = Temperatures.of(replace(model, temperature=1.0, label_temperature=1.0))

    @cache
    def at(temperature: float) -> tuple[Floats, Floats]:
        """The probabilities of the arcs and of the trees found."""
        mixture = Temperatures(temperature * units.trees, 1.0).mixture
        sums = sum_mixture(forest, mixture)
        scores = sums.scores if len(sums.scores) else rows.scores
        return sums.arcs[arcs], np.exp(mixture.logarithms(scores, sums.log_partitions))[all_known]

    def likelihood_with(temperature: float, doubt: float) -> float:
        found = zip(at(temperature), at(_HOTTER * temperature) if doubt > 0 else at(temperature), strict=True)
        both = zip(found, (right_arcs, right_trees), strict=True)
        return sum(_likelihood((1.0 - doubt) * sharp + doubt * hot, was) for (sharp, hot), was in both)

    def likelihood_of_trees(temperature: float) -> float:
        return max(likelihood_with(temperature, doubt) for doubt in _DOUBTS.tolist())

    def likelihood_of_labels(temperature: float) -> float:
        found = label_probabilities(right, weights, temperature * units.labels)
        return float(np.log(np.fmax(found, _LEAST)).sum())

    temperature = likeliest(likelihood_of_trees)
    return replace(
        model,
        temperature=temperature,
        doubt=max(_DOUBTS.tolist(), key=lambda doubt: likelihood_with(temperature, doubt)),
        label_temperature=likeliest(likelihood_of_labels),
    )


def _likelihood(probabilities: Floats, right: NDArray[np.bool_]) -> float:
    """The logarithm of the probability of what was the case."""
    return float(np.log(np.maximum(np.where(right, probabilities, 1.0 - probabilities), _LEAST)).sum())


def likeliest(likelihood: Callable[[float], float]) -> float:
    """The temperature with the greatest likelihood, if it rises up to there and falls after it; never one that is worse than 1.

    Climbs from 1 by factors of 2, then of their square roots, and so on: always a power of 2^(1/32), so that the last digits of
    likelihoods hardly matter. About 14 calls.

    >>> round(likeliest(lambda temperature: -abs(temperature - 5.0)), 3)
    4.967
    """
    known = cache(lambda exponent: likelihood(2.0**exponent))
    exponent, step = 0.0, 1.0
    while step >= _NEAREST:
        near = (exponent, exponent - step, exponent + step)  # the first of equals stays
        best = max((x for x in near if abs(x) <= _FARTHEST), key=known)
        step = step / 2 if best == exponent else step
        exponent = best
    return float(2.0**exponent)


def unknown_trees(numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> Rows:
    """Sentences of which no head and no label is given."""
    heads, labels = np.full(len(numbers), ANY_HEAD, np.int32), np.full(len(numbers), ANY_LABEL, np.int32)
    return make_rows(numbers, starts, heads, labels)
