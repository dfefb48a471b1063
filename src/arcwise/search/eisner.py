"""Eisner's chart: the best projective tree, in O(n^3).

Eisner (1996); McDonald, Crammer and Pereira (2005). A complete span is a head with all its modifiers on one
side; an incomplete span is an arc with the inner halves of its two ends. For splits k with i <= k < j:

    incomplete_right[i, j] = S[i, j] + max over k of complete_right[i, k] + complete_left[k+1, j]
    incomplete_left[i, j]  = S[j, i] + the same maximum
    complete_left[i, j]    = max over k of complete_left[i, k] + incomplete_left[k, j]
    complete_right[i, j]   = max over k of incomplete_right[i, k+1] + complete_right[k+1, j]

Spans are filled by their right end j, and then by k from right to left. As soon as the spans from k to j
are known, they are offered to all spans from i <= k to j at once. The charts are indexed [j, i], so that
this loop runs along rows and vectorises. Best splits are not stored: a tree needs only 2n of them, found
again by looking.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_TREE

_COMPLETE_RIGHT, _COMPLETE_LEFT, _INCOMPLETE_RIGHT, _INCOMPLETE_LEFT = 0, 1, 2, 3
_LANES = 16  # what the compiler makes of one step of the innermost loop: 4 vectors of 4 scores


class Chart(NamedTuple):
    """Scores of the best spans; the right end comes first: `complete_left[j, i]`."""

    complete_right: NDArray[np.float64]
    complete_left: NDArray[np.float64]
    incomplete_right: NDArray[np.float64]
    incomplete_left: NDArray[np.float64]
    inner: NDArray[np.float64]  # one row: what lies between i and the present j
    agenda: NDArray[np.int64]  # spans still to be read off


@inline_kernel
def _offer(cells: NDArray[np.float64], j: int, score: float, spans: NDArray[np.float64], k: int) -> None:
    """Cells i <= k of row j take `score` plus the span from i to k, where better: the O(n^3) loop.

    It runs on to a multiple of _LANES, so that no odd cells are left to do one by one: beyond i = k the spans
    are -inf. Adding 0.0 keeps the compiler from storing under a mask, which is slow.
    """
    for i in range((k // _LANES + 1) * _LANES):
        x, y = score + spans[k, i], cells[j, i] + 0.0
        cells[j, i] = x if x > y else y


@kernel
def _fill(S: NDArray[np.float64], chart: Chart) -> None:
    """Fill the chart; the root is vertex 0, which may have several modifiers and no head."""
    complete_right, complete_left, inner = chart.complete_right, chart.complete_left, chart.inner
    incomplete_right, incomplete_left = chart.incomplete_right, chart.incomplete_left
    for j in range(S.shape[0]):
        for i in range((j // _LANES + 1) * _LANES):
            complete_right[j, i] = complete_left[j, i] = incomplete_right[j, i] = inner[0, i] = -np.inf
        complete_right[j, j] = complete_left[j, j] = incomplete_right[j, j] = 0.0
        for k in range(j - 1, -1, -1):
            _offer(inner, 0, complete_left[j, k + 1], complete_right, k)
            right = inner[0, k] + S[k, j]
            left = inner[0, k] + S[j, k] if k > 0 else -np.inf
            incomplete_right[j, k], incomplete_left[j, k] = right, left
            _offer(complete_left, j, left, complete_left, k)
            complete = right if right > complete_right[j, k] else complete_right[j, k]
            _offer(complete_right, j, complete, incomplete_right, k)  # cell k itself takes `complete` plus 0


@kernel
def _best_split(kind: int, i: int, j: int, chart: Chart) -> int:
    best, split = -np.inf, i
    for k in range(i, j):
        if kind == _COMPLETE_RIGHT:
            x = chart.incomplete_right[k + 1, i] + chart.complete_right[j, k + 1]
        elif kind == _COMPLETE_LEFT:
            x = chart.complete_left[k, i] + chart.incomplete_left[j, k]
        else:
            x = chart.complete_right[k, i] + chart.complete_left[j, k + 1]
        if x > best:
            best, split = x, k
    return split


@kernel
def _best_root(S: NDArray[np.float64], chart: Chart) -> tuple[float, int]:
    """The best tree with one root: its score and the root, the leftmost on ties."""
    n = S.shape[0] - 1
    best, root = -np.inf, 0
    for m in range(1, n + 1):
        x = S[0, m] + chart.complete_left[m, 1] + chart.complete_right[n, m]
        if x > best:
            best, root = x, m
    return best, root


@kernel
def _read_off(agenda: NDArray[np.int64], count: int, chart: Chart, heads: NDArray[np.int32]) -> None:
    """Follow the best splits down from the spans on the agenda, the leftmost on ties."""
    while count > 0:
        count -= 1
        kind, i, j = agenda[count]
        if i == j:
            continue
        k = _best_split(kind, i, j, chart)
        if kind == _COMPLETE_RIGHT:
            agenda[count] = _INCOMPLETE_RIGHT, i, k + 1
            agenda[count + 1] = _COMPLETE_RIGHT, k + 1, j
        elif kind == _COMPLETE_LEFT:
            agenda[count] = _COMPLETE_LEFT, i, k
            agenda[count + 1] = _INCOMPLETE_LEFT, k, j
        else:
            if kind == _INCOMPLETE_RIGHT:
                heads[j] = i
            else:
                heads[i] = j
            agenda[count] = _COMPLETE_RIGHT, i, k
            agenda[count + 1] = _COMPLETE_LEFT, k + 1, j
        count += 2


@kernel
def make_chart(longest: int) -> Chart:
    """Room for sentences of up to `longest` words: 32 bytes a pair of words."""
    size = longest + 1
    width = (size // _LANES + 1) * _LANES
    spans = np.empty((4, size, width))
    return Chart(
        spans[0], spans[1], spans[2], spans[3], np.empty((1, width)), np.empty((2 * size + 2, 3), np.int64)
    )


@kernel
def eisner_tree(S: NDArray[np.float64], single_root: bool, chart: Chart, heads: NDArray[np.int32]) -> int:
    """The best projective tree of one matrix, for other kernels: FOUND, or NO_TREE. The scores are trusted: no NaN, no +inf."""
    n = S.shape[0] - 1
    heads[0] = -1
    if n == 0:
        return FOUND
    _fill(S, chart)
    agenda = chart.agenda
    if single_root:
        best, root = _best_root(S, chart)
        heads[root] = 0
        agenda[0] = _COMPLETE_LEFT, 1, root
        agenda[1] = _COMPLETE_RIGHT, root, n
        count = 2
    else:
        best = chart.complete_right[n, 0]
        agenda[0] = _COMPLETE_RIGHT, 0, n
        count = 1
    if best == -np.inf:
        return NO_TREE
    _read_off(agenda, count, chart, heads)
    return FOUND


@kernel
def eisner_trees(
    scores: NDArray[np.float64], lengths: NDArray[np.int64], single_root: bool, heads: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The best projective tree of every matrix of a batch, exactly.

    O(n^3) time each; O(n^2) memory in all, n the greatest length. `scores`: the matrices one after another,
    each (n+1, n+1) with n from `lengths`. `heads`: filled with the trees one after another, each of length
    n+1. Returns one code a matrix, FOUND or what went wrong (`arcwise.search.status`).

    >>> heads = np.empty(3, np.int32)
    >>> eisner_trees(np.array([0.0, 5, 4, 0, 0, 3, 0, 9, 0]), np.array([2]), True, heads), heads
    (array([0]), array([-1,  2,  0], dtype=int32))
    """
    codes = np.empty(len(lengths), np.int64)
    size = (lengths.max() if len(lengths) > 0 else 0) + 1
    chart = make_chart(size - 1)
    best_score, best_head = np.empty(size), np.empty(size, np.int64)
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        S = scores[start : start + size * size].reshape(size, size)
        codes[b] = best_heads(S, best_score, best_head)
        if codes[b] == FOUND:
            codes[b] = eisner_tree(S, single_root, chart, heads[tree : tree + size])
        start += size * size
        tree += size
    return codes
