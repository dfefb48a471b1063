"""How sure is the parser? Probabilities of trees, arcs and labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.learning.corpus import Corpus
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.forest import Floats, Rows, find_forest
from arcwise.pipeline.model import Model
from arcwise.pipeline.sentences import ANY_LABEL

_CANDIDATES = 2.0 ** np.arange(-3.0, 4.5, 0.5)
_ENOUGH = 500  # sentences to choose a temperature by
_LEAST = 1e-6  # the probability that a pruned arc counts with


class Temperatures(NamedTuple):
    """What scores are divided by to become logarithms of probabilities, in units of the weights: scores of trees, and of labels."""

    trees: float
    labels: float

    @classmethod
    def of(cls, model: Model) -> Temperatures:
        """A model's: fitted for trees, and half of it for labels, as fits both learners and every treebank tried."""
        _, trees, final = model.arrays["scales"].tolist()
        labels = final if "final" in model.arrays else trees
        return cls(model.temperature / trees, model.temperature / 2 / labels)


class Probabilities(NamedTuple):
    """How likely the trees of a block are (logarithms), and by word their arcs and labels; NaN where it is not known."""

    logs: Floats
    arcs: Floats | None = None
    labels: Floats | None = None


def fit_temperature(model: Model, corpus: Corpus) -> float:
    """The temperature, in units of the scores, by which the right arcs of a treebank are most probable."""
    sentences = min(_ENOUGH, len(corpus.starts) - 1)
    starts = corpus.starts[: sentences + 1]
    forest = find_forest(unknown_trees(corpus.numbers[: starts[-1]], starts), model.weights(), 1.0)
    scale = float(model.arrays["scales"][1])
    likelihoods = []
    for temperature in _CANDIDATES:
        marginals, _ = forest._replace(temperature=temperature / scale).sums()
        total = 0.0
        for P, start in zip(forest.squares(marginals), starts, strict=False):
            words = np.arange(1, len(P))
            total += float(np.log(np.maximum(P[corpus.heads[start + words], words], _LEAST)).sum())
        likelihoods.append(total)
    return float(_CANDIDATES[int(np.argmax(likelihoods))])


def unknown_trees(numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> Rows:
    """Sentences of which no head and no label is given."""
    heads, labels = np.full(len(numbers), ANY_HEAD, np.int32), np.full(len(numbers), ANY_LABEL, np.int32)
    return Rows(numbers, starts, heads, labels, np.empty(len(starts) - 1))
