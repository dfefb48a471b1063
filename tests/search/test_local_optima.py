"""The local optima of first-order scores, against all trees of short sentences and all changes of one head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arcwise import InputError, NoTreeError
from arcwise.search.local_optima import count_local_optima
from tests.search.test_contract import matrices, oracle

either = pytest.mark.parametrize("single_root", [False, True], ids=["roots", "one-root"])


def stuck(S, single_root):
    """The allowed trees that no change of one head betters, found by trying all; of equal heads the smaller is better."""
    trees = {tuple(tree) for tree in oracle(S, single_root, False)[1].tolist()}
    return [
        tree
        for tree in trees
        if not any(
            (S[h, m], -h) > (S[tree[m], m], -tree[m])
            for m in range(1, len(S))
            for h in range(len(S))
            if (*tree[:m], h, *tree[m + 1 :]) in trees
        )
    ]


def extremal(n):
    """The scores of the paper's appendix: e_ij = e_ji = i for i < j."""
    return np.minimum.outer(np.arange(n + 1.0), np.arange(n + 1.0))


@st.composite
def distinct(draw, longest=5, forbidden=True):
    """Scores of which no two are the same, with or without forbidden arcs."""
    n = draw(st.integers(1, longest))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    S = random.permutation((n + 1) ** 2).astype(float).reshape(n + 1, n + 1)
    if forbidden:
        S[random.random(S.shape) < draw(st.sampled_from([0.0, 0.2, 0.5]))] = -np.inf
    return S


@either
@settings(max_examples=300, deadline=None)
@given(S=distinct())
def test_they_are_those_of_all_trees(S, single_root):
    expected = len(stuck(S, single_root))
    if expected:
        assert count_local_optima(S, single_root=single_root) == expected
    else:
        with pytest.raises(NoTreeError):
            count_local_optima(S, single_root=single_root)


@either
@settings(max_examples=300, deadline=None)
@given(S=matrices(4))
def test_ties_go_to_the_smallest_head(S, single_root):
    trees = oracle(S, single_root, False)[1]
    assume(len(trees))
    assert count_local_optima(S, single_root=single_root) == len(stuck(S, single_root))


@either
@pytest.mark.parametrize("seed", range(3))
def test_six_words(seed, single_root):
    random = np.random.default_rng(seed)
    S = random.permutation(49).astype(float).reshape(7, 7) + 3 * extremal(6) * seed
    assert count_local_optima(S, single_root=single_root) == len(stuck(S, single_root))


@pytest.mark.parametrize("n", range(1, 15))
def test_the_bound_is_reached(n):
    """Theorem 1: there are 2^(n-1) at most, and as many in this example."""
    S = extremal(n)
    assert count_local_optima(S, single_root=False) == 2 ** (n - 1)
    smaller_is_better = S - np.arange(n + 1)[:, np.newaxis] / 100  # the ties broken in the scores themselves
    assert count_local_optima(smaller_is_better, single_root=False) == 2 ** (n - 1)
    if n <= 5:
        assert len(stuck(S, False)) == len(stuck(smaller_is_better, False)) == 2 ** (n - 1)


@settings(max_examples=200, deadline=None)
@given(S=distinct(longest=12, forbidden=False))
def test_the_bound_holds(S):
    n = len(S) - 1
    assert 1 <= count_local_optima(S, single_root=False) <= 2 ** (n - 1)
    assert n <= count_local_optima(S, most=10**6) <= max(1, n * 2 ** (n - 2))


@settings(max_examples=100, deadline=None)
@given(S=distinct(longest=8))
def test_only_the_order_of_heads_counts(S):
    """Any growing function of the scores, another one for each word."""
    other = np.where(np.isneginf(S), S, 0)
    for m in range(1, len(S)):
        allowed = np.isfinite(S[:, m])
        other[allowed, m] = np.exp(S[allowed, m] / 20) - 1000 * m
    try:
        expected = count_local_optima(S, single_root=False)
    except NoTreeError:
        return
    assert count_local_optima(other, single_root=False) == expected


@either
def test_no_more_are_counted_than_asked_for(single_root):
    S = extremal(40)
    assert count_local_optima(S, single_root=single_root, most=1000) == 1001
    total = count_local_optima(extremal(9), single_root=single_root)
    assert count_local_optima(extremal(9), single_root=single_root, most=total) == total
    assert count_local_optima(extremal(9), single_root=single_root, most=total - 1) == total
    assert count_local_optima(extremal(9), single_root=single_root, most=7) == 8
    unusable: list[Any] = [0, -1, 2.5, 2**70]
    for most in unusable:
        with pytest.raises(InputError, match="a number of trees"):
            count_local_optima(S, single_root=single_root, most=most)


@either
def test_where_one_word_alone_can_be_the_root_no_time_goes_to_cycles_without_a_way_in(single_root):
    """Of all the ways to break cycles of 60 words that like each other, those alone are tried that lead to trees."""
    n = 60
    S = extremal(n)
    S[0, 1:n] = -np.inf
    S[:n, n] = -np.inf
    S[0, n] = 0.0
    assert count_local_optima(S, single_root=single_root) == 1


@either
def test_short_and_long_sentences(single_root):
    assert count_local_optima(np.zeros((1, 1)), single_root=single_root) == 1
    assert count_local_optima(np.zeros((2, 2)), single_root=single_root) == 1
    chain = np.full((501, 501), -1.0)
    chain[np.arange(500), np.arange(1, 501)] = 1.0
    assert count_local_optima(chain, single_root=False) == 1
    assert count_local_optima(chain, single_root=single_root, most=100) == (101 if single_root else 1)


@either
def test_what_cannot_be_used_is_refused(single_root):
    S = np.zeros((4, 4))
    for bad in (np.nan, np.inf):
        S[1, 2] = bad
        with pytest.raises(InputError, match="the score of the arc from 1 to 2"):
            count_local_optima(S, single_root=single_root)
    S[:, 2] = -np.inf
    with pytest.raises(NoTreeError, match="word 2 has no allowed head"):
        count_local_optima(S, single_root=single_root)
    with pytest.raises(InputError, match="square"):
        count_local_optima(np.zeros((2, 3)), single_root=single_root)


def test_the_scores_stay_as_they_are():
    S = extremal(4)
    before = S.copy()
    count_local_optima(S)
    count_local_optima(S, single_root=False)
    assert np.array_equal(S, before)


def test_the_oracle_where_all_scores_are_the_same():
    """Nothing is better then but smaller heads, so all words hang from the root."""
    S = np.zeros((5, 5))
    assert stuck(S, False) == [(-1, 0, 0, 0, 0)]
    assert count_local_optima(S, single_root=False) == 1
