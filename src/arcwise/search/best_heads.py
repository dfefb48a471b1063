"""The best head of every word on its own: where first-order searches start, and check their input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.search.status import FOUND, NO_HEAD, REFUSED

LIMIT = 1e300  # finite scores are of this size at most, so that no sum or difference of them overflows


@kernel
def best_heads(S: NDArray[np.float64], score: NDArray[np.float64], head: NDArray[np.int64]) -> int:
    """Fill `score` and `head` with the best arc into every word, from the smallest head on ties, in O(n^2).

    Returns FOUND, or REFUSED if a score is NaN, +inf or finite beyond LIMIT, or NO_HEAD if some word has no
    allowed head.

    >>> score, head = np.empty(3), np.empty(3, np.int64)
    >>> best_heads(np.array([[0.0, 5, 4], [0, 0, 3], [0, 9, 0]]), score, head), head[1:]
    (0, array([2, 0]))
    """
    size = S.shape[0]
    for m in range(size):
        score[m] = -np.inf
        head[m] = -1
    refused = 0
    for h in range(size):
        row = S[h]
        # Along the row and without branches, so that it vectorises; adding 0.0 and choosing by bits keep the
        # compiler from storing under a mask, which is slow.
        for m in range(1, size):
            x, y, g = row[m], score[m] + 0.0, head[m]
            x = x if m != h else -np.inf
            refused += 0 if (x <= LIMIT) & ((x >= -LIMIT) | (x == -np.inf)) else 1
            score[m] = x if x > y else y
            head[m] = g ^ ((g ^ h) & -np.int64(x > y))
    if refused > 0:
        return REFUSED
    for m in range(1, size):
        if head[m] < 0:
            return NO_HEAD
    return FOUND
