"""Blocks as the kernels take them, and the trees that come back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.pipeline.confidence import Probabilities
from arcwise.pipeline.forest import Rows


class Trees(NamedTuple):
    """The trees of a block: heads (word numbers within the sentence) and label numbers by word; score and whether the sentence
    was searched in one piece by sentence; the names that the label numbers stand for. By sentence a bound on the score of any
    tree, and what dual decomposition took (`arcwise.pipeline.dual_sentences`). How likely they are, and the place of each among
    the best of its sentence, from 1, if that was asked for. repaired: whether a sentence's tree or labels are not those that it has
    without constraints, if there were any.
    """

    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    whole: NDArray[np.bool_]
    names: tuple[str, ...]
    bounds: NDArray[np.float64]
    report: NDArray[np.int64]
    probabilities: Probabilities | None = None
    ranks: NDArray[np.int32] | None = None
    repaired: NDArray[np.bool_] | None = None

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Whether no tree of a sentence scores higher."""
        return self.whole & (self.bounds <= self.scores)


class Numbered(NamedTuple):
    """A block as the kernels take it, long sentences in pieces. words: the row of each word. firsts: each sentence's first piece."""

    rows: Rows
    words: NDArray[np.int64]
    firsts: NDArray[np.int64]
