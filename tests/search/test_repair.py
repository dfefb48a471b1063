"""Trees that are changed until they belong to a class."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import decode
from arcwise.search.lagrangian import Descent, offer
from arcwise.search.repair import climb, repair
from arcwise.search.shaped_tree import Effort, begin, make_shaped_room, shaped_tree
from arcwise.search.status import FOUND
from arcwise.trees.shapes import ONE_INHERIT, Shape, has_shape

EFFORT = Effort(Descent(10, 1.0, 5), 1 << 30, False, 1e-10)
SHAPES = Shape(1), Shape(2), Shape(2, True), Shape(0, True), ONE_INHERIT


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("single_root", [True, False])
def test_repaired_trees_are_of_the_class_and_no_better_than_the_best(shape, single_root):
    rng = np.random.default_rng(0)
    repaired = 0
    for _ in range(40):
        n = int(rng.integers(4, 13))
        S = rng.integers(-9, 10, (n + 1, n + 1)).astype(float)
        heads = decode(S, single_root=single_root).heads.astype(np.int32)
        before = S[heads[1:], np.arange(1, n + 1)].sum()
        roots = np.flatnonzero(heads == 0)
        trees, _, nodes, incumbent = begin(S, single_root, shape, EFFORT, make_shaped_room(n))
        best = np.empty(n + 1, np.int32)
        outcome = shaped_tree(S, single_root, shape, EFFORT, make_shaped_room(n), best)
        looks = np.full(1, 10_000, np.int32)
        lost = repair(trees, nodes.alive[0], heads, np.inf, looks)
        if lost < np.inf:
            repaired += 1
            assert has_shape(heads, shape)
            assert np.flatnonzero(heads == 0).tolist() == roots.tolist()
            assert S[heads[1:], np.arange(1, n + 1)].sum() == pytest.approx(before - lost)
            offer(trees.arcs, heads, incumbent)
        at_first = incumbent.score[0]
        climb(trees, nodes.alive[0], incumbent, looks)
        assert has_shape(incumbent.heads, shape)
        assert at_first <= incumbent.score[0] <= outcome.score
        assert incumbent.score[0] == S[incumbent.heads[1:], np.arange(1, n + 1)].sum()
    assert repaired > 20


def test_too_many_open_nodes_are_given_up_with_a_gap():
    S = np.random.default_rng(0).integers(-3, 4, (31, 31)).astype(float)
    heads = np.empty(31, np.int32)
    effort = EFFORT._replace(slack=0.5, most_open=20_000)
    outcome = shaped_tree(S, True, Shape(2, True), effort, make_shaped_room(30), heads)
    assert outcome.code == FOUND
    assert outcome.nodes < 100
    assert outcome.bound > outcome.score
    assert has_shape(heads, Shape(2, True))
