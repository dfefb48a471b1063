"""Scores of all sizes, against sums in whole numbers, and where the textbook's factorisation or a small constant goes wrong."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from arcwise import log_partition, marginals
from arcwise.trees.enumerate import all_trees

both_roots = pytest.mark.parametrize("single_root", [True, False])
both_sums = pytest.mark.parametrize("projective", [False, True])


def mixed_scores(rng, n, forbidden):
    """From -1e4 to 1e4, large beside small, some arcs forbidden, but never all those of a chain."""
    size = rng.choice([1.0, 30.0, 700.0, 1e4], (n + 1, n + 1))
    S = rng.uniform(-1, 1, size.shape) * size
    drop = rng.random(S.shape) < forbidden
    drop[np.arange(n), np.arange(1, n + 1)] = False
    return np.where(drop, -np.inf, S)


def determinant(rows):
    """Of whole numbers, exactly: Bareiss (1968), whose divisions leave no rest."""
    rows, sign, last = [list(row) for row in rows], 1, 1
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]


def exact_partition(weights, single_root):
    """Koo's Laplacian (2010, section 4.3) of weights[h][m]: its first row replaced by the root's arcs, or these on its diagonal."""
    n = len(weights) - 1
    L = [[-weights[h][m] for m in range(1, n + 1)] for h in range(1, n + 1)]
    for m in range(1, n + 1):
        L[m - 1][m - 1] = sum(weights[h][m] for h in range(0 if not single_root else 1, n + 1) if h != m)
    if single_root:
        L[0] = weights[0][1:]
    return determinant(L)


@both_roots
@pytest.mark.parametrize("largest", [5, 100, 14_000])
def test_matrix_tree_agrees_with_whole_numbers(single_root, largest):
    """Weights are powers of 2, from 2^-14000 to 2^14000, which is e^9704: only their logarithms are rounded."""
    rng = np.random.default_rng(largest)
    n = 4
    for forbidden in (0.0, 0.2, 0.4):
        powers = rng.integers(0, 2 * largest + 1, (n + 1, n + 1))
        drop = rng.random(powers.shape) < forbidden
        drop[np.arange(n), np.arange(1, n + 1)] = False
        drop[:, 0] = drop[np.arange(n + 1), np.arange(n + 1)] = True
        weights = [[0 if drop[h, m] else 1 << int(powers[h, m]) for m in range(n + 1)] for h in range(n + 1)]
        arcs = marginals(np.where(drop, -np.inf, (powers - largest) * np.log(2)), single_root=single_root)
        total = exact_partition(weights, single_root)
        for h, m in product(range(n + 1), range(1, n + 1)):
            kept, weights[h][m] = weights[h][m], 0
            without = exact_partition(weights, single_root)
            weights[h][m] = kept
            assert arcs[h, m] == pytest.approx((total - without) / total, rel=0, abs=1e-9)


@both_sums
@both_roots
def test_scores_of_all_sizes_beside_each_other(projective, single_root):
    rng = np.random.default_rng(7)
    trees = all_trees(5, projective=projective, single_root=single_root)
    for _ in range(100):
        S = mixed_scores(rng, 5, forbidden=0.2)
        scores = S[trees[:, 1:], np.arange(1, 6)].sum(axis=1)
        weights = np.exp(scores - scores.max())
        right = np.zeros(S.shape)
        for m in range(1, 6):
            np.add.at(right[:, m], trees[:, m], weights / weights.sum())
        options = {"projective": projective, "single_root": single_root}
        assert np.allclose(marginals(S, **options), right, rtol=0, atol=1e-9)
        assert log_partition(S, **options) == pytest.approx(
            scores.max() + np.log(weights.sum()), rel=1e-12, abs=1e-9
        )


@both_sums
@both_roots
def test_three_hundred_words(projective, single_root):
    S = mixed_scores(np.random.default_rng(300), 300, forbidden=0.2)
    arcs = marginals(S, projective=projective, single_root=single_root)
    assert arcs.min() >= 0
    assert arcs.max() <= 1 + 1e-9
    assert np.abs(arcs[:, 1:].sum(axis=0) - 1).max() <= 1e-9
    if single_root:
        assert arcs[0].sum() == pytest.approx(1, abs=1e-9)


@both_roots
def test_no_constant_is_added_to_weights(single_root):
    """torch-struct 0.5 adds 1e-5 to the weights of arcs between words, which is more than many of them.

    On these matrices its marginals are off by up to 0.98 with one root, and in the median by 1e-5. Ours have no such constant.
    """
    matrices = np.random.default_rng(0).normal(scale=10, size=(200, 4, 4))
    trees = all_trees(3, single_root=single_root)
    worst = 0.0
    for S, arcs in zip(matrices, marginals(matrices, single_root=single_root), strict=True):
        scores = S[trees[:, 1:], np.arange(1, 4)].sum(axis=1)
        weights = np.exp(scores - scores.max())
        right = np.zeros(S.shape)
        for m in range(1, 4):
            np.add.at(right[:, m], trees[:, m], weights / weights.sum())
        assert np.allclose(arcs, right, rtol=0, atol=1e-9)
        shifted = S.copy()
        shifted[1:, 1:] = np.log(np.exp(S[1:, 1:]) + 1e-5)
        worst = max(worst, np.abs(marginals(shifted, single_root=single_root) - right).max())
    assert worst > 0.4
