"""Kicks lead out of trees that no change of one head betters, and leave a tree as it was if they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import Scores
from arcwise.search.hill import make_hill, make_tree, total_score
from arcwise.search.kicks import kick, make_room
from arcwise.search.part_chart import CLIMB, part_chart
from arcwise.search.uphill import climb, place
from tests.search.dual_problems import random_case, table_scores
from tests.search.test_climbing import neighbours, roots


def stuck(tables, start):
    """Whether no change of one head betters a tree."""
    trees, of_trees = table_scores(tables, True, False)
    score = dict(zip(map(tuple, trees.tolist()), of_trees.tolist(), strict=True))
    return all(score[near] <= score[tuple(start)] for near in neighbours(start, True))


def best_score(tables):
    return table_scores(tables, True, False)[1].max()


def test_two_modifiers_move_together():
    n = 4
    S, siblings = np.full((n + 1, n + 1), -5.0), np.zeros((n + 1, n + 1, n + 1))
    S[0, 4] = S[4, 3] = 5.0
    S[3, 1] = S[3, 2] = 1.0
    S[4, 1] = S[4, 2] = 0.0
    siblings[3, 2, 1], siblings[4, 2, 1] = 2.0, 6.0  # consecutive modifiers, the nearer first
    siblings[4, 3, 1] = siblings[4, 3, 2] = -1.0
    tables, start = {"arcs": S, "siblings": siblings}, [-1, 3, 3, 4, 0]
    assert stuck(tables, start)
    parse = arcwise.decode(Scores(**tables), decoder="climb", exact=False, start=start)
    assert parse.heads.tolist() == [-1, 4, 4, 4, 0]
    assert parse.score == pytest.approx(best_score(tables))
    assert parse.stats["runs"] == 1


def test_head_and_modifier_change_places():
    n = 3
    S, grandchildren = np.full((n + 1, n + 1), -5.0), np.zeros((n + 1, n + 1, n + 1))
    S[0, 1], S[1, 2], S[2, 3], S[1, 3], S[3, 2] = 5.0, 1.0, 1.0, 0.0, 0.0
    grandchildren[1, 3, 2] = 4.0
    tables, start = {"arcs": S, "grandchildren": grandchildren}, [-1, 0, 1, 2]
    S[1, 3], S[1, 2] = -1.0, 1.5  # both below 1 would be a step on the way
    assert stuck(tables, start)
    parse = arcwise.decode(Scores(**tables), decoder="climb", exact=False, start=start)
    assert parse.heads.tolist() == [-1, 0, 3, 1]
    assert parse.score == pytest.approx(best_score(tables))


@roots
@pytest.mark.parametrize("kind", ["sibling", "grand-sibling", "grand-tri-sibling"])
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1 << 30))
def test_a_kick_betters_a_tree_or_leaves_it_as_it_was(kind, single_root, seed):
    rng = np.random.default_rng(seed)
    case = random_case(kind, rng, 5, single_root, False)
    parts = part_chart(case.scores, projective=False, single_root=single_root, decoder=CLIMB, dual=True)
    hill = make_hill(parts.kind, parts.graph, parts.levels, parts.tables, single_root, 1e-9)
    tree, room = make_tree(6, len(hill.head)), make_room(6, len(hill.head))
    place(hill, tree, np.array(case.trees[rng.integers(len(case.trees))], np.int32))
    climb(hill, tree, None, 0.0, True, False)
    while True:
        before, score, families = tree.up.tolist(), total_score(tree), tree.family.copy()
        bettered = kick(hill, tree, room)
        assert case.score_of(tree.heads) == pytest.approx(total_score(tree) + parts.offset)
        if not bettered:
            break
        assert total_score(tree) > score
    assert tree.up.tolist() == before
    assert (tree.family == families).all()
    assert not room.waiting.any()


def test_without_effort_no_tree_is_kicked():
    rng = np.random.default_rng(0)
    S, siblings = rng.normal(size=(13, 13)), rng.normal(size=(13, 13, 13))
    parts = part_chart(
        Scores(arcs=S, siblings=siblings), projective=False, single_root=True, decoder=CLIMB, dual=True
    )
    hill = make_hill(parts.kind, parts.graph, parts.levels, parts.tables, True, 1e-9)
    tree, room = make_tree(13, len(hill.head)), make_room(13, len(hill.head))
    place(hill, tree, np.arange(-1, 12, dtype=np.int32))
    climb(hill, tree, None, 0.0, True, False)
    before = tree.up.tolist()
    for effort in (0, 100):
        assert not kick(hill, tree, room, effort)
        assert tree.up.tolist() == before
    assert kick(hill, tree, room, 1 << 20)


def test_threads_change_nothing_where_the_effort_is_spent():
    rng = np.random.default_rng(3)
    scores = Scores(arcs=3 * rng.normal(size=(61, 61)), siblings=rng.normal(size=(61, 61, 61)))
    one, two = (
        arcwise.decode(scores, decoder="climb", exact=False, restarts=17, jobs=jobs) for jobs in (1, 2)
    )
    assert one.heads.tolist() == two.heads.tolist()
    assert (one.score, one.stats) == (two.score, two.stats)


def test_few_runs_find_the_best_tree():
    rng, found = np.random.default_rng(1), 0
    for _ in range(40):
        case = random_case("grand-sibling", rng, 6, True, False)
        parse = arcwise.decode(case.scores, decoder="climb", exact=False, restarts=5)
        found += parse.score >= case.best - case.tolerance
    assert found >= 39
