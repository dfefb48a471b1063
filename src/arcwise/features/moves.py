"""Moving weights: where a gradient goes, and how far."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.kernels import inline_kernel, kernel

EPSILON = 1e-6


class Move(NamedTuple):
    """How a step along a gradient changes `target`.

    target[i] += rate * g, or with `squares`, the sums of squared gradients so far, as AdaGrad has it: rate * g / sqrt(squares[i]).
    Parts whose own gradient is not greater than `negligible` are not worth their cost.
    """

    target: NDArray[Any]
    squares: NDArray[np.float32]  # or empty
    rate: float
    negligible: float


@inline_kernel
def move_weight(move: Move, i: int, gradient: float) -> None:
    """One weight."""
    if len(move.squares) > 0:
        move.squares[i] += gradient * gradient
        move.target[i] += move.rate * gradient / math.sqrt(move.squares[i] + EPSILON)
    else:
        move.target[i] += move.rate * gradient


@kernel
def move_weights(move: Move, indices: Indices, gradient: float) -> None:
    """The weights of one part."""
    for k in range(len(indices)):
        move_weight(move, indices[k], gradient)


@kernel
def move_rows(move: Move, base: int, labels: int, rows: Indices, gradients: NDArray[np.float64]) -> None:
    """The weights of labels in some rows: of those whose gradient is not negligible."""
    moved, number = np.empty(labels, np.int64), 0
    for label in range(labels):
        if abs(gradients[label]) > move.negligible:
            moved[number] = label
            number += 1
    for k in range(len(rows)):
        begin = base + int(rows[k]) * labels
        for i in range(number):
            move_weight(move, begin + moved[i], gradients[moved[i]])
