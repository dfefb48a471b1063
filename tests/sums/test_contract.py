"""What every sum must do, checked against all trees of short sentences.

A new sum is one more line in SUMS.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import (
    InputError,
    NoTreeError,
    decode,
    entropy,
    expected_score,
    log_partition,
    marginals,
    min_risk,
    sample,
)
from arcwise.trees.checking import is_tree
from arcwise.trees.enumerate import all_trees

# name, options
SUMS = [
    ("matrix-tree", {"projective": False}),
    ("inside-outside", {"projective": True}),
]
CASES = [
    pytest.param(
        {**options, "single_root": single_root}, id=f"{name}-{'one-root' if single_root else 'roots'}"
    )
    for (name, options), single_root in product(SUMS, (True, False))
]
every_sum = pytest.mark.parametrize("options", CASES)

_FORBIDDEN = st.just(-np.inf)
_ELEMENTS = [
    st.integers(-2, 2).map(float),  # ties
    st.integers(-2, 2).map(float) | _FORBIDDEN,
    st.sampled_from([0.0, 1.0, -np.inf, -np.inf]),  # mostly no tree
    st.floats(-10, 10),
    st.floats(-1000, 1000) | _FORBIDDEN,  # ordinary numbers are not fit for some of these
    st.floats(-1e4, 1e4),
    st.sampled_from([-1e4, -9999.0, 0.0, 1.0, 9999.0, 1e4, -np.inf]),
]


@st.composite
def matrices(draw, longest=5):
    """Score matrices with rubbish where nothing may be read."""
    n = draw(st.integers(1, longest))
    S = draw(arrays.arrays(np.float64, (n + 1, n + 1), elements=draw(st.sampled_from(_ELEMENTS))))
    rubbish = draw(st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e308]))
    S[:, 0] = rubbish
    np.fill_diagonal(S, rubbish)
    return S


def oracle(S, options):
    """All allowed trees and their probabilities and scores, and the log partition function."""
    n = len(S) - 1
    trees = all_trees(n, **options)
    scores = S[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1)
    trees, scores = trees[scores > -np.inf], scores[scores > -np.inf]
    if len(trees) == 0:
        return trees, scores, scores, -np.inf
    weights = np.exp(scores - scores.max())
    return trees, weights / weights.sum(), scores, scores.max() + np.log(weights.sum())


def arcs_of(trees, probabilities):
    size = trees.shape[1]
    arcs = np.zeros((size, size))
    for m in range(1, size):
        np.add.at(arcs[:, m], trees[:, m], probabilities)
    return arcs


def check_marginals(arcs, options):
    """What must hold of any distribution over trees, within what rounding may cost."""
    assert np.all(arcs >= 0)
    assert np.all(arcs <= 1 + 1e-9)
    assert np.allclose(arcs[:, 1:].sum(axis=0), 1, rtol=0, atol=1e-9)
    assert np.all(arcs[:, 0] == 0)
    assert np.all(np.diagonal(arcs) == 0)
    if options["single_root"]:
        assert arcs[0].sum() == pytest.approx(1, abs=1e-9)


@every_sum
@settings(deadline=None, max_examples=300)
@given(S=matrices())
def test_sums_over_all_trees(options, S):
    trees, probabilities, scores, log_z = oracle(S, options)
    if len(trees) == 0:
        assert log_partition(S, **options) == -np.inf
        for function in (marginals, entropy, expected_score, min_risk):
            with pytest.raises(NoTreeError):
                function(S, **options)
        with pytest.raises(NoTreeError):
            sample(S, 2, **options)
        return
    read = S[:, 1:][~np.eye(len(S), dtype=bool)[:, 1:]]
    size = len(S) * (1 + np.abs(read[np.isfinite(read)]).max())  # of the sums whose rounding counts
    assert log_partition(S, **options) == pytest.approx(log_z, rel=0, abs=1e-14 * size)
    arcs = marginals(S, **options)
    check_marginals(arcs, options)
    right = arcs_of(trees, probabilities)
    assert np.allclose(arcs, right, rtol=0, atol=1e-10)

    tolerance = 1e-11 * size
    surprise = -np.log(np.where(probabilities > 0, probabilities, 1))
    assert entropy(S, **options) == pytest.approx((probabilities * surprise).sum(), rel=0, abs=tolerance)
    assert expected_score(S, **options) == pytest.approx((probabilities * scores).sum(), rel=0, abs=tolerance)
    parse = min_risk(S, **options)
    gains = right[trees[:, 1:], np.arange(1, len(S))].sum(axis=1)
    assert parse.score == pytest.approx(gains.max(), rel=0, abs=1e-9)
    assert parse.heads.tolist() in trees.tolist()
    assert parse.certified


@every_sum
@settings(deadline=None, max_examples=100)
@given(S=matrices())
def test_every_sample_is_an_allowed_tree(options, S):
    trees, probabilities, _, _ = oracle(S, options)
    if len(trees) > 0:
        possible = {tuple(tree) for tree, p in zip(trees.tolist(), probabilities, strict=True) if p > 1e-15}
        drawn = sample(S, 20, seed=3, **options)
        assert drawn.dtype == np.int32
        assert drawn.shape == (20, len(S))
        assert possible.issuperset(map(tuple, drawn.tolist()))


def random_matrices(scale, count, longest):
    """Matrices with one arc in four forbidden, but for some tree."""
    rng = np.random.default_rng(0)
    for n in rng.integers(2, longest + 1, count):
        S = rng.normal(scale=scale, size=(n + 1, n + 1))
        S[rng.random(S.shape) < 0.25] = -np.inf
        S[np.arange(n), np.arange(1, n + 1)] = rng.normal(scale=scale, size=n)
        yield S


def chi_square(drawn, trees, probabilities):
    """How many standard deviations the counts of the trees are off, about; trees to expect rarely count as one."""
    place = {tuple(tree): t for t, tree in enumerate(trees.tolist())}
    counts = np.bincount([place[tuple(tree)] for tree in drawn.tolist()], minlength=len(trees))
    expected = probabilities * len(drawn)
    often = expected >= 5
    counts = np.append(counts[often], counts[~often].sum())
    expected = np.append(expected[often], expected[~often].sum() + 1e-9)
    if len(expected) > 1 and expected[-1] < 5:
        assert counts[-1] < 20
        counts, expected = counts[:-1], expected[:-1]
    freedom = max(1, len(expected) - 1)
    return (((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


@every_sum
@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0, 400.0])  # from short walks to hopelessly long ones
def test_samples_are_as_frequent_as_they_should_be(options, scale):
    for S in random_matrices(scale, count=8, longest=4):
        trees, probabilities, _, _ = oracle(S, options)
        drawn = sample(S, 20_000, seed=1, **options)
        assert chi_square(drawn, trees, probabilities) < 5
        frequencies = arcs_of(drawn, np.full(len(drawn), 1 / len(drawn)))
        assert np.abs(frequencies - marginals(S, **options)).max() < 0.02


@every_sum
def test_the_gradient_of_the_log_partition_function_is_the_marginals(options):
    step = 1e-5
    for S in random_matrices(2.0, count=2, longest=9):
        arcs = marginals(S, **options)
        for h, m in np.argwhere(arcs > 0):
            up, down = S.copy(), S.copy()
            up[h, m] += step
            down[h, m] -= step
            slope = (log_partition(up, **options) - log_partition(down, **options)) / (2 * step)
            assert slope == pytest.approx(arcs[h, m], abs=1e-8)


@every_sum
@settings(deadline=None, max_examples=60)
@given(data=st.data(), labels=st.integers(1, 4))
def test_labels_are_summed_out_and_found_again(options, data, labels):
    n = data.draw(st.integers(1, 4))
    elements = st.floats(-5, 5) | st.floats(-1e4, 1e4) | _FORBIDDEN
    L = data.draw(arrays.arrays(np.float64, (n + 1, n + 1, labels), elements=elements))
    L[:, 0] = np.nan
    L[np.arange(n + 1), np.arange(n + 1)] = np.inf
    total = log_partition(L, labelled=True, **options)
    if total == -np.inf:
        with pytest.raises(NoTreeError):
            marginals(L, labelled=True, **options)
        return
    found = marginals(L, labelled=True, **options)
    assert found.shape == L.shape
    assert np.allclose(found.sum(axis=(0, 2))[1:], 1, rtol=0, atol=1e-9)
    with np.errstate(invalid="ignore"):
        scores = np.logaddexp.reduce(L, axis=2)
    arcs = marginals(scores, **options)
    assert total == pytest.approx(log_partition(scores, **options), rel=1e-12, abs=1e-12)
    assert np.allclose(found.sum(axis=2), arcs, rtol=0, atol=1e-9)
    for h, m in np.argwhere(arcs > 0):
        assert np.allclose(found[h, m], arcs[h, m] * np.exp(L[h, m] - scores[h, m]), rtol=1e-9, atol=1e-12)
    [again] = marginals([L], labelled=True, **options)
    assert np.array_equal(again, found)


@every_sum
def test_a_batch_is_summed_as_one_by_one(options):
    rng = np.random.default_rng(5)
    batch = [rng.normal(size=(n + 1, n + 1)) * 3 for n in rng.integers(0, 60, 120)]
    for function in (log_partition, entropy, expected_score):
        alone = [function(S, **options) for S in batch]
        for jobs in (1, 3):
            assert function(batch, jobs=jobs, **options) == alone
    alone = [marginals(S, **options) for S in batch]
    trees = [min_risk(S, **options) for S in batch]
    drawn = sample(batch, 3, seed=8, **options)
    for S, arcs in zip(batch, alone, strict=True):
        assert arcs.shape == S.shape
        check_marginals(arcs, options if len(S) > 1 else {"single_root": False})
    for jobs in (1, 3):
        assert all(map(np.array_equal, alone, marginals(batch, jobs=jobs, **options)))
        assert all(map(np.array_equal, drawn, sample(batch, 3, seed=8, jobs=jobs, **options)))
        for one, other in zip(trees, min_risk(batch, jobs=jobs, **options), strict=True):
            assert np.array_equal(one.heads, other.heads)
    assert np.array_equal(drawn[0], sample(batch[0], 3, seed=8, **options))
    assert marginals([], **options) == sample([], 1, **options) == []
    stack = rng.normal(size=(7, 5, 5))
    assert log_partition(stack, **options) == log_partition(list(stack), **options)


@every_sum
def test_the_same_seed_gives_the_same_trees(options):
    S = np.zeros((8, 8))
    first = sample(S, 50, seed=4, **options)
    assert np.array_equal(first, sample(S, 50, seed=4, **options))
    assert np.array_equal(first[:20], sample(S, 20, seed=4, **options))
    assert not np.array_equal(first, sample(S, 50, seed=5, **options))
    one, other = sample([S, S], 50, seed=4, **options)
    assert not np.array_equal(one, other)


@every_sum
def test_the_smallest_sentences(options):
    assert log_partition([[np.nan]], **options) == 0.0
    assert marginals([[np.nan]], **options).tolist() == [[0.0]]
    assert sample([[0]], 2, **options).tolist() == [[-1], [-1]]
    assert entropy([[0]], **options) == 0.0
    assert min_risk([[0]], **options).heads.tolist() == [-1]
    one = [[0, 7], [0, 0]]
    assert log_partition(one, **options) == pytest.approx(7.0)
    assert marginals(one, **options).tolist() == [[0, 1], [0, 0]]
    assert sample(one, 0, **options).shape == (0, 2)


@every_sum
@pytest.mark.parametrize("n", [60, 300])
def test_long_sentences_with_extreme_scores(options, n):
    rng = np.random.default_rng(n)
    S = rng.uniform(-1e4, 1e4, (n + 1, n + 1))
    S[rng.random(S.shape) < 0.2] = -np.inf
    S[np.arange(n), np.arange(1, n + 1)] = rng.uniform(-1e4, 1e4, n)
    arcs = marginals(S, **options)
    check_marginals(arcs, options)
    # More than the best tree, less than all choices of heads.
    np.fill_diagonal(S, -np.inf)
    best, log_z = decode(S, **options).score, log_partition(S, **options)
    assert best - 1e-6 <= log_z <= np.logaddexp.reduce(S[:, 1:], axis=0).sum() + 1e-6
    for heads in sample(S, 3, **options):
        assert is_tree(heads, single_root=options["single_root"])
        assert np.all(S[heads[1:], np.arange(1, n + 1)] > -np.inf)


@every_sum
@pytest.mark.parametrize("pull", [30.0, 300.0, 3000.0])
def test_words_that_head_each_other_in_circles(options, pull):
    """Cycles in cycles, each much likelier than any way out: the Laplacian is as good as singular."""
    i = np.arange(7)
    S = -pull * np.ceil(np.log2(1.0 + (i[:, None] ^ i[None, :])))
    trees, probabilities, _, log_z = oracle(S, options)
    assert log_partition(S, **options) == pytest.approx(log_z, rel=1e-12)
    assert np.allclose(marginals(S, **options), arcs_of(trees, probabilities), rtol=0, atol=1e-10)
    drawn = sample(S, 5000, **options)
    assert chi_square(drawn, trees, probabilities) < 5


@pytest.mark.parametrize("single_root", [True, False])
def test_ordinary_numbers_and_logarithms_agree(single_root):
    rng = np.random.default_rng(2)
    S = rng.normal(scale=3, size=(43, 43))
    arcs = marginals(S[:41, :41], single_root=single_root)
    # Two words more, which head no others and are hard to tear apart: too hard for ordinary numbers.
    S[41:] = -np.inf
    S[:, 41:] = 0.0
    S[0, 41:] = -np.inf
    S[41, 42] = S[42, 41] = 2000.0
    more = marginals(S, single_root=single_root)
    assert np.allclose(more[:41, :41], arcs, rtol=0, atol=1e-11)
    assert more[41, 42] == pytest.approx(0.5)
    difference = log_partition(S, single_root=single_root) - log_partition(
        S[:41, :41], single_root=single_root
    )
    assert difference == pytest.approx(2000 + np.log(2 * 40), abs=1e-9)


@every_sum
@pytest.mark.parametrize("size", [1e9, 1e38, 1e299])
def test_huge_scores_give_no_rubbish(options, size):
    """Differences beyond all digits: what is left is a distribution over heads nevertheless."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        S = rng.normal(size=(7, 7)) * rng.choice([1.0, size], (7, 7))
        arcs = marginals(S, **options)
        check_marginals(arcs, {"single_root": False})
        assert np.isfinite(entropy(S, **options))
        for heads in sample(S, 5, **options):
            assert is_tree(heads, single_root=options["single_root"])


@every_sum
def test_a_score_used_as_a_mask_is_one(options):
    S = np.random.default_rng(3).normal(size=(9, 9))
    masked = np.random.default_rng(4).random((9, 9)) < 0.3
    masked[np.arange(8), np.arange(1, 9)] = False
    forbidden, unlikely = np.where(masked, -np.inf, S), np.where(masked, -1e9, S)
    assert np.allclose(marginals(forbidden, **options), marginals(unlikely, **options), rtol=0, atol=1e-12)


@every_sum
def test_unusable_input_is_refused(options):
    S = np.zeros((4, 4))
    S[2, 3] = np.nan
    for function in (log_partition, marginals, entropy, expected_score, min_risk):
        with pytest.raises(InputError, match=r"^the score of the arc from 2 to 3 is nan"):
            function(S, **options)
        with pytest.raises(InputError, match=r"^matrix 1: the score of the arc from 2 to 3 is nan"):
            function([np.zeros((2, 2)), S, S], jobs=2, **options)
    for function in (log_partition, marginals):
        L = np.zeros((4, 4, 2))
        L[2, 3] = -np.inf, np.inf
        with pytest.raises(InputError, match=r"^the score of the arc from 2 to 3 is inf"):
            function(L, labelled=True, **options)
        for wrong in (np.zeros((4, 3, 2)), "scores", 3.0, [np.zeros((3, 3)), np.zeros((2, 3))], [["a"]]):
            with pytest.raises(InputError):
                function(wrong, labelled=True, **options)
    with pytest.raises(InputError, match="jobs is 0"):
        marginals([S], jobs=0, **options)
    numbers: list[Any] = [(-1, 0), (1.5, 0), (1, -1), (1, "a"), (1, 1 << 64)]
    for k, seed in numbers:
        with pytest.raises(InputError, match=r"^(k|seed) is"):
            sample(np.zeros((3, 3)), k, seed=seed, **options)
    with pytest.raises(NoTreeError, match=r"^matrix 1: word 2 has no allowed head$"):
        marginals([np.zeros((3, 3)), np.where(np.arange(3) == 2, -np.inf, np.zeros((3, 3)))], **options)
