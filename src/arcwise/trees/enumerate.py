"""All trees of a short sentence: the oracle that every search and every sum is tested against."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.kernels import kernel

_LONGEST = 8


def all_trees(n: int, single_root: bool = True, projective: bool = False) -> NDArray[np.int32]:
    """All trees of n words, in lexicographic order of their heads.

    Tries all (n+1)^n heads and keeps the trees, whose number `count_trees` gives: at once up to n = 6, in
    seconds for n = 8 (172 MB with several roots), and no further. Shares no code with what it tests.

    Result: (k, n+1).

    >>> all_trees(2)
    array([[-1,  0,  1],
           [-1,  2,  0]], dtype=int32)
    """
    if not 1 <= n <= _LONGEST:
        raise InputError(
            f"a sentence of {n} words", expected=f"1 to {_LONGEST} words, to enumerate all trees"
        )
    trees = np.empty((count_trees(n, single_root, projective), n + 1), np.int32)
    found = _fill(trees, single_root, projective)
    assert found == len(trees)
    return trees


def count_trees(n: int, single_root: bool = True, projective: bool = False) -> int:
    """The number of trees of n words, by closed form.

    All trees: by Cayley's formula (n+1)^(n-1) on the vertices 0..n; with a single root n^(n-2) on the words,
    each hung from any of its n words. Projective: C(3n, n) / (2n+1); with a single root C(3n-2, n-1) / n.

    >>> [count_trees(3, s, p) for p in (False, True) for s in (False, True)]
    [16, 9, 12, 7]
    """
    if n < 1:
        raise InputError(f"a sentence of {n} words", expected="at least one word")
    if projective:
        return comb(3 * n - 2, n - 1) // n if single_root else comb(3 * n, n) // (2 * n + 1)
    return int(n ** (n - 1)) if single_root else int((n + 1) ** (n - 1))


@kernel
def _fill(trees: NDArray[np.int32], single_root: bool, projective: bool) -> int:
    """Count through all heads like an odometer, and write down the trees."""
    n = trees.shape[1] - 1
    heads = np.zeros(n + 1, np.int32)
    heads[0] = -1
    found = 0
    while True:
        if (
            _is_tree(heads)
            and (not single_root or (heads == 0).sum() == 1)
            and (not projective or _is_projective(heads))
        ):
            trees[found] = heads
            found += 1
        m = n
        while m > 0 and heads[m] == n:
            heads[m] = 0
            m -= 1
        if m == 0:
            return found
        heads[m] += 1


@kernel
def _is_tree(heads: NDArray[np.int32]) -> bool:
    """Every word comes to the root in at most n steps."""
    n = len(heads) - 1
    for m in range(1, n + 1):
        v = m
        for _ in range(n):
            if v != 0:
                v = heads[v]
        if v != 0:
            return False
    return True


@kernel
def _is_projective(heads: NDArray[np.int32]) -> bool:
    """Every word between a head and its modifier descends from the head."""
    n = len(heads) - 1
    for m in range(1, n + 1):
        h = heads[m]
        for between in range(min(h, m) + 1, max(h, m)):
            v = between
            while v != h and v != 0:
                v = heads[v]
            if v != h:
                return False
    return True
