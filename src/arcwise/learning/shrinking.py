"""The penalty's part of a step of stochastic gradient descent, and the mean of the weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from arcwise.features.moves import EPSILON, Move
from arcwise.kernels import kernel


@kernel
def shrink(move: Move, penalty: float, mean: NDArray[np.float32], count: int) -> None:
    """Shrink all weights by an implicit step on penalty / 2 |w|^2, with the step sizes of `move`; then take them into the mean, as
    the `count`-th. O(weights).
    """
    target, squares = move.target, move.squares
    step, share = move.rate * penalty, np.float32(1.0 / count)
    for i in range(len(target)):
        if target[i] != 0.0:
            length = step / math.sqrt(squares[i] + EPSILON) if len(squares) > 0 else step
            target[i] /= 1.0 + length
        mean[i] += (target[i] - mean[i]) * share
