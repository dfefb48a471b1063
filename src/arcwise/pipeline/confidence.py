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
from arcwise.pipeline.forest import Floats, Rows, find_forest, make_rows
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.model import Model
from arcwise.pipeline.sentences import ANY_LABEL

_ENOUGH = 500  # sentences to choose temperatures by
_FARTHEST, _NEAREST = 8.0, 1 / 32  # powers of 2: temperatures from 1/256 to 256, to two in a hundred
_LEAST = 1e-6  # the probability that a pruned arc and a forbidden label count with


class Temperatures(NamedTuple):
    """What scores are divided by to become logarithms of probabilities, in units of the weights: scores of trees, and of labels."""

    trees: float
    labels: float

    @classmethod
    def of(cls, model: Model) -> Temperatures:
        """A model's; for labels half of that for trees, if none was fitted for them."""
        _, trees, final = model.arrays["scales"].tolist()
        label_temperature = model.label_temperature or model.temperature / 2
        return cls(
            model.temperature / trees, label_temperature / (final if "final" in model.arrays else trees)
        )


class Probabilities(NamedTuple):
    """How likely the trees of a block are (logarithms), and by word their arcs and labels; NaN where it is not known."""

    logs: Floats
    arcs: Floats | None = None
    labels: Floats | None = None


def fit_temperatures(model: Model, corpus: Corpus) -> Model:
    """The model with the temperatures by which a treebank is most probable, or 500 sentences from all over it.

    For trees: the right arcs, by their marginals. For labels: the right labels of the words whose head is right in the tree found,
    given that tree. Words without a head in the treebank are left out. Takes about 14 times as long as to find these probabilities.

    Guo, Pleiss, Sun and Weinberger, 2017: On Calibration of Modern Neural Networks (temperature scaling).
    """
    sentences = len(corpus.starts) - 1
    chosen = np.zeros(sentences, np.bool_)
    chosen[np.arange(_ENOUGH) * sentences // _ENOUGH] = True
    numbers, starts, heads, labels = select_sentences(corpus, chosen)
    rows, weights = unknown_trees(numbers, starts), model.weights()
    forest = find_forest(rows, weights, 1.0)
    # Where the right arc of each word lies in the matrices, which lie one after another.
    sizes = np.diff(starts)
    begins = np.repeat(np.cumsum(sizes * sizes) - sizes * sizes, sizes)
    arcs = begins + heads * np.repeat(sizes, sizes) + np.arange(len(heads)) - np.repeat(starts[:-1], sizes)
    arcs = arcs[heads >= 0]
    right = rows._replace(labels=np.where(rows.heads == heads, labels, ANY_LABEL))
    units = Temperatures.of(replace(model, temperature=1.0, label_temperature=1.0))

    def likelihood_of_arcs(temperature: float) -> float:
        marginals, _ = forest._replace(temperature=temperature * units.trees).sums()
        return float(np.log(np.maximum(marginals[arcs], _LEAST)).sum())

    def likelihood_of_labels(temperature: float) -> float:
        found = label_probabilities(right, weights, temperature * units.labels)
        return float(np.log(np.fmax(found, _LEAST)).sum())

    return replace(
        model, temperature=likeliest(likelihood_of_arcs), label_temperature=likeliest(likelihood_of_labels)
    )


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
