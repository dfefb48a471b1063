"""What a pruner goes by: the probability of an arc among all trees, or only among the heads of its word.

Koo (2010), 5.7.3: an arc is kept if its marginal is at least a share of the best head's. The marginals are those of a first-order
model over all trees, or over projective ones; cheaper and cruder, each word may choose its head on its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.sums import inside_outside as projective
from arcwise.sums import matrix_tree as any_tree

BY_HEADS, BY_TREES, BY_PROJECTIVE_TREES = range(3)
PRUNINGS = {"heads": BY_HEADS, "trees": BY_TREES, "projective": BY_PROJECTIVE_TREES}


class Room(NamedTuple):
    """Where marginals are found: used again for the next matrix."""

    trees: any_tree.Room
    spans: projective.Chart
    marginals: NDArray[np.float64]


@kernel
def make_room(longest: int) -> Room:
    """Room for sentences of up to `longest` words."""
    return Room(any_tree.make_room(longest), projective.make_chart(longest), np.empty((longest + 1) ** 2))


@kernel
def _sum_heads(S: NDArray[np.float64], marginals: NDArray[np.float64]) -> float:
    """The sum over all choices of a head for every word, whether they make a tree or not. O(n^2)."""
    size = S.shape[0]
    log_partition = 0.0
    marginals[:, 0] = 0.0
    for m in range(1, size):
        best = -np.inf
        for h in range(size):
            if h != m:
                best = max(best, S[h, m])
        z = 0.0
        for h in range(size):
            marginals[h, m] = np.exp(S[h, m] - best) if h != m else 0.0
            z += marginals[h, m]
        for h in range(size):
            marginals[h, m] /= z
        log_partition += best + np.log(z)
    return log_partition


@kernel
def sum_trees(
    S: NDArray[np.float64], pruning: int, single_root: bool, room: Room, marginals: NDArray[np.float64]
) -> float:
    """The log partition function of the scores; fills `marginals`. Both (n+1, n+1).

    There must be a tree of the kind. O(n^3), by heads O(n^2).

    >>> S, marginals = np.array([[0.0, 0, 0], [0, 0, 1], [0, 1, 0]]), np.empty((3, 3))
    >>> round(sum_trees(S, BY_TREES, True, make_room(2), marginals), 4)  # two trees, each of score 1
    1.6931
    """
    if pruning == BY_TREES:
        return any_tree.matrix_tree(S, single_root, room.trees, marginals)
    if pruning == BY_PROJECTIVE_TREES:
        return projective.inside_outside(S, single_root, room.spans, marginals)
    return _sum_heads(S, marginals)


@kernel
def log_marginals(S: NDArray[np.float64], pruning: int, single_root: bool, room: Room) -> None:
    """Replace scores by the logarithms of marginals; not at all if heads are chosen on their own.

    There must be a tree of the kind. O(n^3). -inf where a marginal is 0.
    """
    if pruning == BY_HEADS:  # the scores of a word's heads differ as the logarithms do
        return
    size = S.shape[0]
    marginals = room.marginals[: size * size].reshape((size, size))
    sum_trees(S, pruning, single_root, room, marginals)
    for h in range(size):
        for m in range(size):
            S[h, m] = np.log(marginals[h, m]) if marginals[h, m] > 0.0 else -np.inf
