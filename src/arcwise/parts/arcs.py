"""The pruned arc graph: the arcs that are worth a closer look, numbered, in order of their modifiers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

# In place of a head that is not given: any will do, or any but the root 0.
ANY_HEAD, ANY_WORD = -1, -2
_GREATEST = np.finfo(np.float64).max


class Arcs(NamedTuple):
    """The arcs into word m are first[m] .. first[m + 1] - 1; heads[a] is the head of arc a, modifiers[a] is m."""

    first: NDArray[np.int32]
    heads: NDArray[np.int32]
    modifiers: NDArray[np.int32]


@kernel
def make_arcs(longest: int, most: int) -> Arcs:
    """Room for the arcs of a sentence of up to `longest` words with up to `most` heads for each."""
    room = longest * most + 1
    return Arcs(np.zeros(longest + 2, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))


@kernel
def keep_heads(S: NDArray[np.float64], heads: NDArray[np.int32]) -> None:
    """Forbid all arcs but those that `heads` admits: heads[m] is the head of m, or ANY_HEAD, or ANY_WORD. O(n) a word that is given.

    >>> S = np.zeros((3, 3))
    >>> keep_heads(S, np.array([-1, 2, ANY_WORD], np.int32))
    >>> S[:, 1:]
    array([[-inf, -inf],
           [-inf,   0.],
           [  0.,   0.]])
    """
    for m in range(1, len(heads)):
        if heads[m] >= 0:
            score = S[heads[m], m]
            S[:, m] = -np.inf
            S[heads[m], m] = score
        elif heads[m] == ANY_WORD:
            S[0, m] = -np.inf


@kernel
def prune(S: NDArray[np.float64], tree: NDArray[np.int32], most: int, threshold: float, arcs: Arcs) -> None:
    """Keep for every word the `most` - 1 best heads within `threshold` of its best, and its head in `tree`. O(n^2 * most).

    S: float64 (n+1, n+1), the scores of a coarse model. tree: a tree with as many roots as the search may give, so that the arcs
    kept admit one too. Equal scores go to the smallest head. An arc of -inf is never kept.
    """
    size = S.shape[0]
    threshold = min(threshold, _GREATEST)  # -inf stays below
    a = 0
    for m in range(1, size):
        best = -np.inf
        for h in range(size):
            if h != m and S[h, m] > best:
                best = S[h, m]
        begin = a
        for h in range(size):
            if h == m or S[h, m] < best - threshold:
                continue
            if a - begin < most - 1:
                at = a
                a += 1
            elif S[h, m] > S[arcs.heads[a - 1], m]:
                at = a - 1
            else:
                continue
            while at > begin and S[arcs.heads[at - 1], m] < S[h, m]:
                arcs.heads[at] = arcs.heads[at - 1]
                at -= 1
            arcs.heads[at] = h
        kept = False
        for at in range(begin, a):
            kept |= arcs.heads[at] == tree[m]
        if not kept:
            arcs.heads[a] = tree[m]
            a += 1
        arcs.modifiers[begin:a] = m
        arcs.first[m + 1] = a
    arcs.first[0] = arcs.first[1] = 0
