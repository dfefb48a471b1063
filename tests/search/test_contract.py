"""What every first-order search must do, checked against all trees of short sentences.

A new search is one more line in SEARCHES.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcwise import InputError, NoTreeError, Parse, decode, k_best
from arcwise.trees.enumerate import all_trees

# decoder, and whether its trees are projective
MATRIX_SEARCHES = [
    ("spanning-tree", False),
    ("eisner", True),
]
SEARCHES = [
    *MATRIX_SEARCHES,
    ("dual", False),
    ("dual", True),
    ("ilp", False),
    ("price", False),
    ("climb", False),
]
SOLVERS = ("dual", "ilp", "price", "climb")  # they add numbers up in orders of their own


def of_all(searches):
    """A test for each search, with one root and with several."""
    cases = [
        pytest.param(decoder, projective, one, id=f"{decoder}{'-projective' * projective}-{'one-root' if one else 'roots'}")
        for (decoder, projective), one in product(searches, (True, False))
    ]  # fmt: skip
    return pytest.mark.parametrize(("decoder", "projective", "single_root"), cases)


every_search, every_matrix_search = of_all(SEARCHES), of_all(MATRIX_SEARCHES)

_FORBIDDEN = st.just(-np.inf)
_ELEMENTS = [
    st.integers(-2, 2).map(float),  # ties
    st.integers(-2, 2).map(float) | _FORBIDDEN,
    st.sampled_from([0.0, 1.0, -np.inf, -np.inf]),  # mostly no tree
    st.floats(-10, 10),
    st.integers(-5, 5).map(lambda i: 1e9 + i),
    st.integers(-300, 299).map(lambda e: 10.0**e)
    | st.integers(-300, 299).map(lambda e: -(10.0**e))
    | _FORBIDDEN,
    st.integers(-2, 2).map(float) | st.sampled_from([-1e5, -1e9, -1e12, -1e30, -1e300, -np.inf]),  # masks
    st.integers(-1000, 1000).map(lambda i: i * 1e-300) | st.just(-1e30),
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


@st.composite
def constrained_matrices(draw):
    S = draw(matrices(4))
    n = len(S) - 1
    arcs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    required = {m: h for h, m in draw(st.lists(st.sampled_from(arcs), max_size=2))}
    forbidden = draw(st.lists(st.sampled_from(arcs), max_size=4))
    return S, [(h, m) for m, h in required.items()], [(h, m) for h, m in forbidden if required.get(m) != h]


def oracle(S, single_root, projective, required=(), forbidden=()):
    """The scores and the heads of all allowed trees."""
    trees = all_trees(len(S) - 1, single_root=single_root, projective=projective)
    scores = sum_of_arcs(S, trees)
    allowed = scores > -np.inf
    for h, m in required:
        allowed &= trees[:, m] == h
    for h, m in forbidden:
        allowed &= trees[:, m] != h
    return scores[allowed], trees[allowed]


def sum_of_arcs(S, trees):
    total = np.zeros(trees.shape[:-1])
    for m in range(1, len(S)):
        total = total + S[trees[..., m], m]
    return total


def rounding(S, *trees):
    """Nothing for integers; else what it may cost to add up these trees' own numbers, whatever the size of others."""
    words = np.arange(1, len(S))
    own = [S[heads[1:], words] for heads in trees]
    if all(np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) < 2**50) for numbers in own):
        return 0.0
    return len(S) ** 2 * 2.0**-50 * max(np.abs(numbers).sum() for numbers in own)


def doubt(S, decoder, *trees):
    """As `rounding`; and what the searches of matrices may lose where numbers that are greater by far than the sum cancel."""
    off = rounding(S, *trees)
    if decoder in dict(MATRIX_SEARCHES) and any(needs_more_digits(S, heads) for heads in trees):
        off += len(S) ** 2 * 2.0**-50 * S[:, 1:][np.isfinite(S[:, 1:])].max()
    return off


def needs_more_digits(S, heads):
    """Whether trees may hold numbers that are so much greater than the sum that it shows no difference, and cancel each other."""
    read = S[:, 1:][np.isfinite(S[:, 1:]) & ~np.eye(len(S), dtype=bool)[:, 1:]]
    greatest, own = read.max(initial=0.0), np.abs(S[heads[1:], np.arange(1, len(S))]).max(initial=0.0)
    return greatest > 64 * own and (greatest > 2**30 or not np.all(read == np.round(read)))


def check(parse, S, single_root):
    """A tree whose score is what it claims, and a certificate."""
    heads = parse.heads
    assert heads.dtype == np.int32
    assert heads.shape == (len(S),)
    assert heads[0] == -1
    for m in range(1, len(S)):
        steps = 0
        while m != 0:
            m, steps = heads[m], steps + 1
            assert steps <= len(S)
    if single_root and len(S) > 1:
        assert np.count_nonzero(heads == 0) == 1
    method = parse.stats.get("method")
    assert abs(parse.score - sum_of_arcs(S, heads)) <= (rounding(S, heads) if method in SOLVERS else 0.0)
    assert parse.certified or (method not in dict(MATRIX_SEARCHES) and needs_more_digits(S, heads))


def same(first, second):
    return first.score == second.score and np.array_equal(first.heads, second.heads)


@every_search
@settings(deadline=None, max_examples=300)
@given(S=matrices())
@example(
    S=np.array([[0.0, 2.0**-1031, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
)  # the smallest numbers there are
def test_finds_the_best_tree(decoder, projective, single_root, S):
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    scores, trees = oracle(S, single_root, projective)
    if len(scores) == 0:
        with pytest.raises(NoTreeError):
            decode(S, **options)
        return
    parse = decode(S, **options)
    check(parse, S, single_root)
    assert parse.heads.tolist() in all_trees(len(S) - 1, single_root, projective).tolist()
    assert abs(parse.score - scores.max()) <= doubt(S, decoder, parse.heads, trees[scores.argmax()])
    assert same(parse, decode(S.copy(order="F"), **options))


@every_search
@settings(deadline=None, max_examples=150)
@given(case=constrained_matrices())
def test_keeps_constraints(decoder, projective, single_root, case):
    S, required, forbidden = case
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    scores, trees = oracle(S, single_root, projective, required, forbidden)
    if len(scores) == 0:
        with pytest.raises(NoTreeError):
            decode(S, required=required, forbidden=forbidden, **options)
        return
    parse = decode(S, required=iter(required), forbidden=np.array(forbidden).reshape(-1, 2), **options)
    check(parse, S, single_root)
    assert abs(parse.score - scores.max()) <= doubt(S, decoder, parse.heads, trees[scores.argmax()])
    assert all(parse.heads[m] == h for h, m in required)
    assert all(parse.heads[m] != h for h, m in forbidden)
    [again] = decode([S], required=[required], forbidden=[forbidden], **options)
    assert same(parse, again)


@every_matrix_search
@settings(deadline=None, max_examples=100)
@given(case=constrained_matrices(), k=st.sampled_from([1, 2, 7, 1000]))
def test_finds_the_k_best_trees(decoder, projective, single_root, case, k):
    S, required, forbidden = case
    options = {"projective": projective, "single_root": single_root}
    scores, trees = oracle(S, single_root, projective, required, forbidden)
    if len(scores) == 0:
        with pytest.raises(NoTreeError):
            k_best(S, k, required=required, forbidden=forbidden, **options)
        return
    parses = k_best(S, k, required=required, forbidden=forbidden, **options)
    found = np.array([parse.score for parse in parses])
    assert len(found) == min(k, len(scores))
    assert np.all(np.diff(found) <= 0)
    for parse, number in zip(parses, np.argsort(-scores, kind="stable"), strict=False):
        assert abs(parse.score - scores[number]) <= doubt(S, decoder, parse.heads, trees[number])
    assert len({tuple(parse.heads) for parse in parses}) == len(parses)
    for parse in parses:
        check(Parse(parse.heads, parse.score, parse.score), S, single_root)
        assert parse.bound == found[0]
        assert parse.stats["method"] == decoder


@every_search
def test_a_batch_is_searched_as_one_by_one(decoder, projective, single_root):
    rng = np.random.default_rng(5)
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    longest = 30 if decoder in SOLVERS else 90
    batch = [rng.normal(size=(n + 1, n + 1)) for n in rng.integers(0, longest, 120)]
    alone = [decode(S, **options) for S in batch]
    for parse, S in zip(alone, batch, strict=True):
        check(parse, S, single_root)
    for jobs in (1, 2, 5):
        together = decode(batch, jobs=jobs, **options)
        assert all(map(same, alone, together))
    stack = rng.normal(size=(60, longest // 3 + 1, longest // 3 + 1))
    assert all(map(same, decode(stack, **options), decode(list(stack), jobs=2, **options)))
    stream: Any = (S[::2, ::2] for S in stack)
    assert all(map(same, decode(stack[:, ::2, ::2], **options), decode(stream, **options)))
    assert decode([], **options) == []


@every_search
def test_the_smallest_sentences(decoder, projective, single_root):
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    empty = decode([[np.nan]], **options)
    assert (empty.heads.tolist(), empty.score, empty.certified) == ([-1], 0.0, True)
    one = decode([[0, 7], [0, 0]], **options)
    assert (one.heads.tolist(), one.score) == ([-1, 0], 7.0)
    assert len(k_best([[0]], 3, projective=projective, single_root=single_root)) == 1


@every_matrix_search
@pytest.mark.parametrize("rubbish", [np.nan, np.inf, 1e301, -1e301])
def test_says_where_a_score_is_refused(decoder, projective, single_root, rubbish):
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    S = np.zeros((4, 4))
    S[2, 3] = rubbish
    with pytest.raises(InputError, match=r"^the score of the arc from 2 to 3 is"):
        decode(S, **options)
    with pytest.raises(InputError, match=r"^matrix 1: the score of the arc from 2 to 3 is"):
        decode([np.zeros((2, 2)), S, S], jobs=2, **options)


@every_search
def test_says_why_there_is_no_tree(decoder, projective, single_root):
    options = {"decoder": decoder, "projective": projective, "single_root": single_root}
    S = np.zeros((4, 4))
    S[:, 2] = -np.inf
    with pytest.raises(NoTreeError, match=r"^word 2 has no allowed head$"):
        decode(S, **options)
    S = np.zeros((4, 4))
    S[:2, 2:] = -np.inf
    with pytest.raises(NoTreeError, match="words 2, 3 from outside"):
        decode(S, **options)
    with pytest.raises(NoTreeError, match=r"^matrix 1: no word may be headed by the root"):
        decode([np.zeros((3, 3))] * 2, forbidden=[[], [(0, 1), (0, 2)]], **options)
    if single_root:
        with pytest.raises(NoTreeError, match="with exactly one root"):
            decode(np.zeros((4, 4)), required=[(0, 1), (0, 3)], **options)
