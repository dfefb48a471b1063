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
def log_marginals(S: NDArray[np.float64], pruning: int, single_root: bool, room: Room) -> None:
    """Replace scores by the logarithms of marginals; not at all if heads are chosen on their own.

    There must be a tree of the kind. O(n^3). -inf where a marginal is 0.
    """
    size = S.shape[0]
    marginals = room.marginals[: size * size].reshape((size, size))
    if pruning == BY_TREES:
        any_tree.matrix_tree(S, single_root, room.trees, marginals)
    elif pruning == BY_PROJECTIVE_TREES:
        projective.inside_outside(S, single_root, room.spans, marginals)
    if pruning != BY_HEADS:
        for h in range(size):
            for m in range(size):
                S[h, m] = np.log(marginals[h, m]) if marginals[h, m] > 0.0 else -np.inf
