"""The k best trees, by asking for the best tree of ever smaller parts of the space.

Lawler's partition (1972), which Camerini, Fratta and Maffioli (1980) apply to spanning trees: all trees but
the best one fall into one part for every word m, namely those that agree with the best tree on the words
before m and differ from it on m. The best tree of every part is found by the same exact search, with the
arcs it must and may not have masked in the scores, so that the root constraint holds in every part, as
Zmigrod, Vieira and Cotterell ask (2021).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.search.status import FOUND
from arcwise.search.tree_scores import tree_scores
from arcwise.threads import heed

Search = Callable[[NDArray[np.float64], NDArray[np.int64], bool, NDArray[np.int32]], NDArray[np.int64]]
Tree = tuple[int, ...]

_ENTRIES = 1 << 18  # the parts are searched in batches of about so many scores


class _Part(NamedTuple):
    """The trees that have the arcs of `heads` into the words `fixed` and none of the arcs `banned`."""

    cost: float  # minus the score of `heads`; parts are ordered by it, then by `heads`
    heads: Tree  # the best tree of the part
    fixed: frozenset[int]
    banned: tuple[tuple[int, int], ...]


def k_best_trees(
    S: NDArray[np.float64], k: int, search: Search, single_root: bool
) -> list[tuple[float, NDArray[np.int32]]]:
    """The k best trees, distinct and in order, with their scores; all trees if there are fewer than k.

    Exact if `search` is. O(k n) searches: O(k n^3) time for spanning trees, O(k n^4) for projective trees;
    O(k n^2) memory. S: (n+1, n+1), C-contiguous.

    >>> from arcwise.search.spanning_tree import spanning_trees
    >>> S = np.array([[0.0, 5, 4], [0, 0, 3], [0, 9, 0]])
    >>> for score, heads in k_best_trees(S, 5, spanning_trees, single_root=True):
    ...     print(score, heads)
    13.0 [-1  2  0]
    8.0 [-1  0  1]
    """
    best: list[tuple[float, NDArray[np.int32]]] = []
    waiting = [
        _Part(-score, heads, frozenset(), ())
        for found, score, heads in _search_all(S, S[np.newaxis], search, single_root)
        if found
    ]
    while waiting and len(best) < k:
        heed()
        part = heapq.heappop(waiting)
        best.append((-part.cost, np.array(part.heads, np.int32)))
        if len(best) < k:
            for child in _split(S, part, search, single_root):
                heapq.heappush(waiting, child)
    # Sums are rounded: of two trees that differ in the last digit, the second may have come out ahead.
    best.sort(key=lambda tree: -tree[0])
    return best


def _split(S: NDArray[np.float64], part: _Part, search: Search, single_root: bool) -> Iterator[_Part]:
    """The parts that the other trees of `part` fall into, but for those that are empty."""
    size = len(S)
    masked = S.copy()
    for h, m in part.banned:
        masked[h, m] = -np.inf
    for m in part.fixed:
        _fix(masked, part.heads[m], m)
    free = [m for m in range(1, size) if m not in part.fixed]
    step = max(1, _ENTRIES // (size * size))
    fixed = part.fixed
    for start in range(0, len(free), step):
        words = free[start : start + step]
        batch = np.empty((len(words), size, size))
        for matrix, m in zip(batch, words, strict=True):
            matrix[:] = masked
            matrix[part.heads[m], m] = -np.inf
            _fix(masked, part.heads[m], m)
        trees = _search_all(S, batch, search, single_root)
        for m, (found, score, heads) in zip(words, trees, strict=True):
            if found:
                yield _Part(-score, heads, fixed, (*part.banned, (part.heads[m], m)))
            fixed = fixed | {m}


def _fix(masked: NDArray[np.float64], h: int, m: int) -> None:
    score = masked[h, m]
    masked[:, m] = -np.inf
    masked[h, m] = score


def _search_all(
    S: NDArray[np.float64], batch: NDArray[np.float64], search: Search, single_root: bool
) -> Iterator[tuple[bool, float, Tree]]:
    """For every masked copy of S in `batch`: whether it has a tree, and the best one's score and heads."""
    count, size = batch.shape[:2]
    lengths = np.full(count, size - 1, np.int64)
    heads = np.zeros((count, size), np.int32)
    codes = search(batch.reshape(-1), lengths, single_root, heads.reshape(-1))
    sums = tree_scores(batch.reshape(-1), lengths, heads.reshape(-1))
    for code, score, tree in zip(codes.tolist(), sums.tolist(), heads.tolist(), strict=True):
        yield code == FOUND, score, tuple(tree)
