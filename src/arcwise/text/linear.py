"""A linear classifier of yes and no over hashed features: the features, and how their weights are learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.text.hashing import mix

_EPOCHS = 8
_RATE, _FIRST_SQUARE = 0.3, 0.1
_SURE = 0.02  # an example whose probability is this near to its answer moves nothing


def compile_templates(names: Sequence[str], templates: Sequence[str]) -> NDArray[np.int32]:
    """Templates, each some names of atoms, as rows of their numbers, filled up with -1.

    >>> compile_templates(["a", "b"], ["a", "b a"]).tolist()
    [[0, -1], [1, 0]]
    """
    rows = [[names.index(name) for name in template.split()] for template in templates]
    width = max(map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)


@kernel
def hash_features(
    atoms: NDArray[np.uint32], templates: NDArray[np.int32], mask: np.uint32, features: NDArray[np.uint32]
) -> None:
    """The features of one example: for each template a place in the weights."""
    for t in range(templates.shape[0]):
        x = mix(np.uint32(t), 1)
        for atom in templates[t]:
            if atom < 0:
                break
            x = mix(x, atoms[atom])
        features[t] = mix(x, 1) & mask


@kernel
def _epoch(
    features: NDArray[np.uint32],
    answers: NDArray[np.bool_],
    order: NDArray[np.int64],
    weights: NDArray[np.float64],
    squares: NDArray[np.float64],
    totals: NDArray[np.float64],
    seen: NDArray[np.int64],
    clock: int,
) -> int:
    """One pass. totals: the sums of each weight over all examples up to `seen`, when it last changed."""
    for i in order:
        clock += 1
        score = 0.0
        for feature in features[i]:
            score += weights[feature]
        gradient = 1 / (1 + np.exp(-score)) - answers[i]
        if abs(gradient) > _SURE:
            for feature in features[i]:
                totals[feature] += weights[feature] * (clock - seen[feature])
                seen[feature] = clock
                squares[feature] += gradient * gradient
                weights[feature] -= _RATE * gradient / np.sqrt(squares[feature])
    return clock


def learn(
    features: NDArray[np.uint32],
    answers: NDArray[np.bool_],
    size: int,
    *,
    seed: int,
    progress: Callable[[float], None],
) -> NDArray[np.int8]:
    """Averaged weights of logistic regression by AdaGrad, scaled to int8. O(epochs * examples * templates).

    features: uint32 (examples, templates), places in the weights, of which there are `size`. answers: which examples are a yes.
    progress: is told the fraction done.

    Duchi, Hazan and Singer, 2011: Adaptive subgradient methods for online learning and stochastic optimization.
    """
    weights, totals, squares = np.zeros(size), np.zeros(size), np.full(size, _FIRST_SQUARE)
    seen = np.zeros(size, np.int64)
    random = np.random.default_rng(seed)
    clock = 0
    for epoch in range(_EPOCHS):
        order = random.permutation(len(answers))
        clock = _epoch(features, answers, order, weights, squares, totals, seen, clock)
        progress((epoch + 1) / _EPOCHS)
    totals += weights * (clock - seen)
    greatest = float(np.abs(totals).max())
    return np.rint(totals * (127 / greatest if greatest else 0)).astype(np.int8)
