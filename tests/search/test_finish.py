"""The finish of dual decomposition: what it fixes, and the trees it finds, checked against all trees of short sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from arcwise import PartScores
from arcwise.search.dual_decomposition import (
    NOTHING,
    Problem,
    Steps,
    descend,
    find_live,
    make_state,
    make_vertices,
)
from arcwise.search.finish import Rounds, climb, finish, fix_arcs
from arcwise.search.tree_search import make_tree_search
from tests.search.dual_problems import KINDS, STATES, automata_of, labelled_case, random_case

every_kind = pytest.mark.parametrize("kind", [*KINDS, STATES, "senses"])
_SLACK = 1e-9


class Search(NamedTuple):
    """A problem, and all its trees as the arcs into each word, numbered as the graph does, with their scores."""

    problem: Problem
    trees: np.ndarray
    scores: np.ndarray

    def state(self, incumbent=None, seed=0):
        """Where a descent begins: multipliers at random; incumbent: the number of a tree."""
        arcs = len(self.problem.graph.head)
        u, v = np.random.default_rng(seed).normal(size=(2, arcs)) / 2
        u[0] = v[0] = 0.0
        if not self.problem.grand:
            v[:] = 0.0
        if incumbent is None:
            return make_state(
                self.problem, u, v, -np.inf, np.zeros(self.trees.shape[1], np.int32), np.zeros(1, np.int64)
            )
        return make_state(
            self.problem, u, v, self.scores[incumbent], self.trees[incumbent], np.zeros(1, np.int64)
        )

    def score_of(self, tree):
        [number] = np.flatnonzero((self.trees == tree).all(axis=1))
        return self.scores[number]


def searches(kind, count, projective=False):
    rng = np.random.default_rng(8)
    while count > 0:
        single_root = count % 2 == 0
        if kind == "senses":
            case = labelled_case("grand-sibling", rng, 3, single_root, projective, True)
            scores, of_trees = case.scores, case.of_choices
        else:
            case = random_case(kind, rng, 4, single_root, projective, rough=count % 4 > 1)
            scores, of_trees = case.scores, case.of_trees
        if of_trees.max(initial=-np.inf) == -np.inf:
            continue
        count -= 1
        parts, automata = automata_of(kind, scores, single_root, projective)
        graph = parts.graph
        n = int(graph.position[-1])
        trees = np.zeros((len(of_trees), n + 1), np.int32)
        if isinstance(scores, PartScores):
            number = np.argsort(scores.graph.names)  # arc -1 comes first
            trees[:, 1:] = number[1:][np.array(case.choices)]
        else:
            numbers = np.zeros((n + 1, n + 1), np.int32)
            numbers[graph.head[1:], graph.modifier[1:]] = np.arange(1, len(graph.head))
            trees[:, 1:] = numbers[case.trees[:, 1:], np.arange(1, n + 1)]
        alive = np.ones(len(graph.head), bool)
        problem = Problem(
            graph, automata, parts.kind.complete > 0, make_tree_search(n, single_root, projective),
            alive, _SLACK, make_vertices(graph), 1 << 62, find_live(graph, alive),
        )  # fmt: skip
        yield Search(problem, trees[of_trees > -np.inf], of_trees[of_trees > -np.inf])


def steps(state, search, most):
    return descend(search.problem, state, Steps(most, 0.0, 0), np.empty(0, np.int32), np.empty((0, 3)))


@pytest.mark.parametrize("projective", [False, True])
@every_kind
def test_fixing_loses_no_better_tree(kind, projective):
    fixed = 0
    for search in searches(kind, 8, projective):
        order = np.argsort(-search.scores)
        for rank in (0, 1, 5, len(order) // 2):
            incumbent = order[min(rank, len(order) - 1)]
            for most in (1, 10, 100):
                state = search.state(incumbent, seed=rank)
                steps(state, search, most)
                known = state.incumbent[0]
                alive = search.problem.alive.copy()
                gone = fix_arcs(search.problem, state, alive)
                better = search.trees[search.scores > known + 2 * _SLACK]
                if gone < 0:
                    assert len(better) == 0
                    continue
                assert gone == np.count_nonzero(~alive)
                assert alive[better].all()
                fixed += gone
    assert fixed > 0


@every_kind
def test_climbing_never_goes_down(kind):
    improved = 0
    for search in searches(kind, 8):
        for number in range(0, len(search.trees), max(1, len(search.trees) // 7)):
            state = search.state(number)
            helped = climb(search.problem, state)
            after = search.score_of(state.best_tree)
            assert state.incumbent[0] == pytest.approx(after)
            assert helped == (after > search.scores[number] + 1e-9)
            assert after >= search.scores[number] - 1e-9
            assert not climb(search.problem, state)
            improved += helped
    assert improved > 0


@pytest.mark.parametrize("projective", [False, True])
@every_kind
def test_the_finish_closes_the_gap_or_proves_what_is_left(kind, projective):
    for search in searches(kind, 8, projective):
        best = search.scores.max()
        for budget in (1, 1_000, 1 << 40):
            state = search.state()
            outcome = steps(state, search, 1)
            assert outcome.code != NOTHING
            finish(search.problem._replace(budget=budget), state, Rounds(30, 1.5, 6, 0.2))
            assert state.least[0] >= best - 1e-9
            if state.incumbent[0] > -np.inf:
                assert state.incumbent[0] == pytest.approx(search.score_of(state.best_tree))
            if budget == 1 << 40:
                assert state.work[0] < budget
                assert state.incumbent[0] == pytest.approx(best)
                assert state.least[0] == pytest.approx(best)
