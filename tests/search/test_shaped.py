"""Trees of a class: every search for them, against all trees of short sentences."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError, NoTreeError, Scores, decode
from arcwise.search.lagrangian import Descent
from arcwise.search.shaped_tree import Effort, make_shaped_room, shaped_tree
from arcwise.search.status import FOUND
from arcwise.trees import all_trees
from arcwise.trees.shapes import ONE_INHERIT, Shape, has_shape
from tests.parts import naive
from tests.search.constraints import draw_constraints
from tests.search.test_contract import check, matrices, rounding, sum_of_arcs

SHAPES = [Shape(k, nested) for k in range(4) for nested in (False, True) if k or nested] + [ONE_INHERIT]
INSTANCES = 10_000

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape)))
one_or_several_roots = pytest.mark.parametrize("single_root", [True, False])


@cache
def trees_of(n, single_root, shape):
    trees = all_trees(n, single_root)
    return trees[[has_shape(heads, shape) for heads in trees]]


def options_of(shape):
    return {
        "block_degree": shape.block_degree or None,
        "well_nested": shape.well_nested,
        "one_inherit": shape.one_inherit,
    }


@every_shape
@one_or_several_roots
@settings(deadline=None, max_examples=80)
@given(S=matrices(), rule=st.sampled_from(["gap", "paper"]), data=st.data())
def test_finds_the_best_tree(shape, single_root, S, rule, data):
    trees = trees_of(len(S) - 1, single_root, shape)
    constraints, allowed = draw_constraints(data, trees)
    scores = np.where(allowed, sum_of_arcs(S, trees), -np.inf)
    options = {**options_of(shape), **constraints, "single_root": single_root, "rule": rule}
    if scores.max() == -np.inf:
        with pytest.raises(NoTreeError):
            decode(S, **options)
        return
    parse = decode(S, **options)
    check(parse, S, single_root)
    best = trees[scores.argmax()]
    assert abs(parse.score - scores.max()) <= rounding(S, parse.heads, best)
    assert has_shape(parse.heads, shape)
    assert decode([S, S], **options, jobs=2)[1].score == parse.score if not constraints else True
    assert decode(S, **options, seconds=60.0).score == parse.score
    try:
        heuristic = decode(S, **options, decoder="lagrangian", iterations=30)
    except InputError:  # none was met on the way
        return
    assert has_shape(heuristic.heads, shape)
    assert heuristic.score <= scores.max() + rounding(S, heuristic.heads, best)
    assert heuristic.bound >= scores.max() - rounding(S, heuristic.heads, best)


@one_or_several_roots
@settings(deadline=None, max_examples=50)
@given(S=matrices())
def test_any_shape_will_do(single_root, S):
    """Without a class the answer is that of the spanning tree."""
    try:
        best = decode(S, single_root=single_root)
    except NoTreeError:
        with pytest.raises(NoTreeError):
            decode(S, single_root=single_root, decoder="branch-and-bound")
        return
    parse = decode(S, single_root=single_root, decoder="branch-and-bound")
    check(parse, S, single_root)
    assert parse.score == best.score


def test_thousands_of_random_instances():
    """Every class, with one root and several, by our rows and by the paper's."""
    rng = np.random.default_rng(0)
    cases = list(product(range(1, 7), SHAPES, (True, False), (True, False)))
    for i in range(INSTANCES):
        n, shape, single_root, paper = cases[i % len(cases)]
        S = (
            rng.normal(size=(n + 1, n + 1)) * 3
            if i % 2
            else rng.integers(-2, 3, (n + 1, n + 1)).astype(float)
        )
        S[rng.random(S.shape) < rng.choice([0.0, 0.2, 0.4])] = -np.inf
        trees = trees_of(n, single_root, shape)
        with np.errstate(invalid="ignore"):
            best = S[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1).max()
        heads = np.empty(n + 1, np.int32)
        effort = Effort(Descent(20, 1.0, 10), 1 << 30, paper, 1e-10)
        outcome = shaped_tree(S, single_root, shape, effort, make_shaped_room(n), heads)
        assert (outcome.code == FOUND) == (best > -np.inf)
        if best > -np.inf:
            assert outcome.score == pytest.approx(best, abs=1e-9)
            assert outcome.bound == outcome.score
            assert has_shape(heads, shape)
            assert S[heads[1:], np.arange(1, n + 1)].sum() == pytest.approx(best, abs=1e-9)


@every_shape
@settings(deadline=None, max_examples=15)
@given(data=st.data(), n=st.integers(2, 5), single_root=st.booleans(), seed=st.integers(0, 2**32))
def test_with_higher_parts(shape, data, n, single_root, seed):
    """Dual decomposition whose trees are of the class: the best one, certified."""
    rng = np.random.default_rng(seed)
    tables = {
        name: rng.integers(-3, 4, naive.shape(name, n)).astype(float)
        for name in data.draw(st.sampled_from([["arcs", "siblings"], ["arcs", "siblings", "grandchildren"]]))
    }
    trees = trees_of(n, single_root, shape)
    best = max(naive.score(tables, heads) for heads in trees)
    parse = decode(Scores(**tables), single_root=single_root, **options_of(shape))
    assert parse.certified
    assert parse.score == pytest.approx(best)
    assert naive.score(tables, parse.heads) == pytest.approx(best)
    assert has_shape(parse.heads, shape)


def random_scores(n, seed):
    return np.random.default_rng(seed).normal(size=(n + 1, n + 1))


def test_a_budget_returns_the_gap():
    S = random_scores(10, 2)
    exact = decode(S, block_degree=2, well_nested=True)
    assert exact.certified
    assert exact.stats["nodes"] > 1
    for limit in ({"budget": 1}, {"seconds": 1e-9}, {"decoder": "lagrangian"}, {"exact": False}):
        parse = decode(S, block_degree=2, well_nested=True, **limit)
        assert parse.score <= exact.score <= parse.bound
        assert has_shape(parse.heads, Shape(2, True))
    parse = decode(S, block_degree=2, well_nested=True, budget=1)
    assert not parse.certified
    assert parse.gap > 0


def test_projective_trees_are_of_every_class():
    S = random_scores(12, 2)
    best = decode(S, projective=True)
    assert decode(S, projective=True, block_degree=2, well_nested=True).score == best.score
    assert decode(S, block_degree=1).score == pytest.approx(best.score)


def test_unusable_wishes():
    S = random_scores(5, 3)
    bad: Any
    for bad in (0, -1, 1.5, "2"):
        with pytest.raises(InputError, match="block_degree"):
            decode(S, block_degree=bad)
    with pytest.raises(InputError, match="spanning-tree"):
        decode(S, block_degree=2, decoder="spanning-tree")
    with pytest.raises(InputError, match="projective"):
        decode(S, projective=True, decoder="branch-and-bound")
    with pytest.raises(InputError, match="dual"):
        decode(Scores(S), well_nested=True, decoder="ilp")
    only = np.full((6, 6), -np.inf)
    only[[0, 1, 1, 2, 3], [1, 2, 3, 4, 5]] = 0.0
    with pytest.raises(NoTreeError, match="well-nested"):
        decode(only, well_nested=True)
    with pytest.raises(NoTreeError, match=r"matrix 1.*well-nested"):
        decode([S, only], well_nested=True)
