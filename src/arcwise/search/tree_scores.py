"""What trees score: the sum of the scores of their arcs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel


@kernel
def tree_scores(
    scores: NDArray[np.float64], lengths: NDArray[np.int64], heads: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The sum of S[heads[m], m] over m = 1..n in this order, for every tree of a batch, in O(n) each.

    `scores`, `lengths` and `heads` as in `arcwise.search.spanning_tree.spanning_trees`.

    >>> tree_scores(np.array([0.0, 5, 4, 0, 0, 3, 0, 9, 0]), np.array([2]), np.array([-1, 2, 0], np.int32))
    array([13.])
    """
    sums = np.zeros(len(lengths))
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        for m in range(1, size):
            sums[b] += scores[start + heads[tree + m] * size + m]
        start += size * size
        tree += size
    return sums
