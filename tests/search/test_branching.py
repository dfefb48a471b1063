"""Branching on constraints, around oracles of all sorts, against all trees with all labels."""

from __future__ import annotations

from functools import cached_property

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.constraints import AtMostOne, Subtree, Together, compile_constraints
from arcwise.search import branching
from arcwise.search.branching import Relaxed, branch
from arcwise.search.eisner import eisner_trees
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND
from tests.constraints.naive import NAMES, constraint_of, labelled_trees, satisfying

_SCORES = [
    st.integers(-2, 2).map(float),  # ties
    st.integers(-2, 2).map(float) | st.just(-np.inf),
    st.sampled_from([0.0, -np.inf]),
    st.floats(-10, 10),
]
_SIZES = [(1, 3), (2, 3), (3, 3), (4, 2), (4, 3), (5, 1), (5, 2)]  # words, labels


class Problem:
    """Labelled arcs with scores, and constraints on them."""

    def __init__(self, scores, constraints, single_root=True, projective=False):
        self.scores, self.n, self.labels = scores, len(scores) - 1, scores.shape[2]
        self.single_root, self.projective = single_root, projective
        compiled = compile_constraints(constraints, self.n, labels=NAMES[: self.labels])
        possible = ~compiled.barred[:, :, np.newaxis] & (scores > -np.inf)
        if compiled.barred_labels is not None:
            possible &= ~compiled.barred_labels
        self.head, self.modifier, self.label = np.nonzero(possible)
        self.arc_scores = scores[possible]
        self.arc = np.zeros(scores.shape, np.intp)
        self.arc[possible] = np.arange(len(self.head))
        self.compiled, self.constraints, self.possible_arcs = compiled, constraints, possible

    @cached_property
    def all(self):
        """The heads, labels and words of all trees."""
        heads, labels = labelled_trees(self.n, self.labels, self.single_root, self.projective)
        return heads[:, 1:], np.arange(1, self.n + 1), labels[:, 1:]

    @cached_property
    def sums(self):
        return self.scores[self.all].sum(axis=1)

    @cached_property
    def trees(self):
        return np.pad(self.arc[self.all], ((0, 0), (1, 0)))

    @cached_property
    def possible(self):
        return self.possible_arcs[self.all].all(axis=1)

    @cached_property
    def right(self):
        heads, labels = labelled_trees(self.n, self.labels, self.single_root, self.projective)
        names = NAMES[: self.labels]
        return (self.sums > -np.inf) & satisfying(self.constraints, heads, labels, names)

    def solve(self, oracle, **options):
        members = self.compiled.groups.T[self.label]
        alive = np.ones(len(self.head), bool)
        compiled = self.compiled
        return branch(
            oracle, self.head, self.modifier, members, compiled.group_heads, compiled.spans, alive, **options
        )

    def living(self, alive):
        found = np.flatnonzero(self.possible)
        return found[alive[self.trees[found, 1:]].all(axis=1)]

    def brute_force(self, alive, prices=None):
        """The best of all trees."""
        found = self.living(alive)
        if not len(found):
            return None
        sums = self.sums[found]
        if prices is not None:
            sums = sums - prices[self.trees[found, 1:]].sum(axis=1)
        best = np.argmax(sums)
        return Relaxed(self.trees[found[best]], sums[best], sums[best])

    def careless(self, alive):
        """The worst of all trees, with a bound that says little."""
        found = self.living(alive)
        if not len(found):
            return None
        worst = found[np.argmin(self.sums[found])]
        return Relaxed(self.trees[worst], self.sums[worst], self.sums[found].max() + 1.0)

    def kernel(self, alive, prices=0.0):
        """A real search."""
        S, scores = np.full(self.scores.shape, -np.inf), self.arc_scores - prices
        S[self.head[alive], self.modifier[alive], self.label[alive]] = scores[alive]
        best = S.argmax(axis=2)
        S = np.ascontiguousarray(S.max(axis=2))
        heads = np.empty(self.n + 1, np.int32)
        search = eisner_trees if self.projective else spanning_trees
        if search(S.reshape(-1), np.array([self.n]), self.single_root, heads)[0] != FOUND:
            return None
        tree = self.arc[heads, np.arange(self.n + 1), best[heads, np.arange(self.n + 1)]]
        score = float(scores[tree[1:]].sum())
        return Relaxed(tree, score, score)

    def check(self, found):
        """A tree that satisfies the constraints, and scores what it says; returns what the best one scores."""
        assert (found is None) == (not self.right.any())
        if found is None:
            return None
        rows = np.flatnonzero((self.trees[:, 1:] == found.tree[1:]).all(axis=1) & self.possible)
        assert len(rows) == 1
        assert self.right[rows[0]]
        assert found.score == pytest.approx(self.sums[rows[0]], abs=1e-12)
        best = self.sums[self.right].max()
        assert found.score <= best + 1e-9
        assert found.bound >= best - 1e-9
        return best


@st.composite
def problems(draw):
    n, labels = draw(st.sampled_from(_SIZES))
    scores = draw(arrays.arrays(np.float64, (n + 1, n + 1, labels), elements=draw(st.sampled_from(_SCORES))))
    constraints = draw(st.lists(constraint_of(n, labels, tags=False), max_size=4))
    return Problem(scores, constraints, draw(st.booleans()), draw(st.booleans()))


@settings(deadline=None, max_examples=250)
@given(problems(), st.sampled_from([1, 3, 8]))
def test_exact(problem, patience):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branching, "_PATIENCE", patience)
        solutions = [
            problem.solve(problem.brute_force),
            problem.solve(problem.kernel),
            problem.solve(problem.brute_force, priced=problem.brute_force),
            problem.solve(problem.kernel, priced=problem.kernel),
        ]
    for found in solutions:
        best = problem.check(found)
        if found is not None:
            assert found.score == pytest.approx(best, abs=1e-9)
            assert found.bound == found.score


@settings(deadline=None, max_examples=50)
@given(problems())
def test_slack(problem):
    found = problem.solve(problem.kernel, slack=0.999)
    if found is not None:
        assert found.bound == found.score >= problem.sums[problem.right].max() - 0.999


@settings(deadline=None, max_examples=100)
@given(problems())
def test_an_oracle_that_is_not_exact(problem):
    problem.check(problem.solve(problem.careless))


@settings(deadline=None, max_examples=100)
@given(problems(), st.integers(1, 15), st.sampled_from([None, None, 0.0]))
def test_budgets(problem, budget, seconds):
    calls = []

    def oracle(alive):
        calls.append(alive)
        return problem.brute_force(alive)

    def priced(alive, prices):
        calls.append(alive)
        return problem.brute_force(alive, prices)

    try:
        found = problem.solve(oracle, budget=budget, seconds=seconds, priced=priced)
    except InputError as error:
        message = str(error)
        assert f"after {len(calls)} searches" in message
    else:
        problem.check(found)
        assert found is None or found.nodes == len(calls)
    assert len(calls) <= budget


def test_every_part_is_met_once():
    problem = Problem(np.random.default_rng(0).normal(size=(6, 6, 2)), [AtMostOne("obj"), Together(2, 4)])
    seen = set()

    def oracle(alive):
        assert alive.tobytes() not in seen
        seen.add(alive.tobytes())
        return problem.brute_force(alive)

    found = problem.solve(oracle)
    problem.check(found)
    assert found.nodes == len(seen) > 1


def test_without_constraints_one_search_is_enough():
    problem = Problem(np.random.default_rng(0).normal(size=(5, 5, 2)), [])
    assert problem.solve(problem.kernel).nodes == 1


def test_prices_save_searches():
    """A few heads that all words like best, and with labels of which they may have only one each."""
    scores = np.random.default_rng(0).normal(size=(21, 21, 3))
    scores[[3, 9, 16]] += 3.0
    scores[:, :, :2] += 1.0
    problem = Problem(scores, [AtMostOne("obj")])
    plain = problem.solve(problem.kernel)
    priced = problem.solve(problem.kernel, priced=problem.kernel)
    assert priced.score == pytest.approx(plain.score)
    assert priced.bound == priced.score
    assert 10 * priced.nodes < plain.nodes


def test_nothing_to_parse():
    none = np.zeros(0, int)
    found = branch(
        lambda alive: Relaxed(np.zeros(1, int), 0.0, 0.0), none, none, np.zeros((0, 0), bool), none,
        np.zeros((0, 2), int), np.zeros(0, bool),
    )  # fmt: skip
    assert found is not None
    assert found.score == 0.0


def test_contradictions():
    problem = Problem(np.zeros((6, 6, 1)), [Subtree(1, 3), Subtree(2, 4)])
    assert problem.solve(problem.kernel) is None
