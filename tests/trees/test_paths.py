"""Every tree can be reached from every other by changing single heads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.trees import all_trees, is_tree, path_between
from tests.trees.naive import random_tree


@st.composite
def pairs(draw):
    """Two trees of the same words, with one root or several."""
    n, single_root = draw(st.integers(1, 30)), draw(st.booleans())
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    trees = [random_tree(random, n, draw(st.sampled_from([1, 3, n + 1]))) for _ in range(2)]
    if single_root:
        for tree in trees:
            first, *others = np.flatnonzero(tree == 0)
            tree[others] = first
    return *trees, single_root


def check(first, second, single_root):
    path = path_between(first, second, single_root=single_root)
    assert path.dtype == np.int32
    assert np.array_equal(path[0], first)
    assert np.array_equal(path[-1], second)
    assert all(is_tree(tree, single_root) for tree in path)
    changes = (path[1:] != path[:-1]).sum(axis=1)
    differing = int((first != second).sum())
    if not single_root or np.array_equal(first == 0, second == 0):
        assert changes.tolist() == [1] * differing
        assert all(((tree == first) | (tree == second)).all() for tree in path)
    else:
        assert changes.tolist() == [2] + [1] * (len(path) - 2)
        assert len(path) - 1 in (differing, differing - 1)


@settings(max_examples=300, deadline=None)
@given(pair=pairs())
def test_as_many_steps_as_heads_differ_and_all_are_trees(pair):
    check(*pair)


@pytest.mark.parametrize("single_root", [False, True])
def test_all_pairs_of_trees_of_four_words(single_root):
    trees = all_trees(4, single_root)
    for first in trees[::2]:
        for second in trees[::3]:
            check(first, second, single_root)


def test_a_change_of_one_head_never_changes_the_one_root():
    """Why the path to a tree of another root begins with a change of two."""
    trees = {tuple(tree) for tree in all_trees(4).tolist()}
    for tree in trees:
        for m in range(1, 5):
            others = {(*tree[:m], h, *tree[m + 1 :]) for h in range(5)} & trees
            assert {other.index(0) for other in others} == {tree.index(0)}


def test_what_is_no_tree_is_refused():
    with pytest.raises(InputError, match="cycle"):
        path_between([-1, 2, 1, 0], [-1, 0, 1, 2])
    with pytest.raises(InputError, match="are roots"):
        path_between([-1, 0, 1], [-1, 0, 0])
    with pytest.raises(InputError, match="trees of 2 and 3 words"):
        path_between([-1, 0, 1], [-1, 0, 1, 2])
    assert path_between([-1, 0, 1], [-1, 0, 0], single_root=False).tolist() == [[-1, 0, 1], [-1, 0, 0]]
