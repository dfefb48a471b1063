from __future__ import annotations

import numpy as np
import pytest

from arcwise.search.projectivise import projectivise
from arcwise.trees import all_trees, check_tree, is_projective
from tests.trees.naive import random_tree


def lifts(old: np.ndarray, new: np.ndarray) -> int:
    """How near above their old head the moved words are hung: what breaks ties."""
    n = len(old) - 1
    total = 0
    for word in range(1, n + 1):
        ancestors = []
        head = old[old[word]] if old[word] else -1
        while head != -1:
            ancestors.append(head)
            head = old[head]
        if new[word] in ancestors:
            total += n - ancestors.index(new[word])
    return total


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_keeps_the_most_arcs_of_all_projective_trees(n: int, single_root: bool) -> None:
    candidates = all_trees(n, single_root, projective=True)
    trees = all_trees(n, single_root=False)
    for tree in trees if n < 6 else trees[::5]:
        found = projectivise(tree, single_root)
        kept = (candidates == tree).sum(axis=1)
        assert found.tolist() in candidates.tolist()
        assert (found == tree).sum() == kept.max()
        best = candidates[kept == kept.max()]
        assert lifts(tree, found) == max(lifts(tree, candidate) for candidate in best)


@pytest.mark.parametrize("single_root", [True, False])
def test_random_long_trees(single_root: bool) -> None:
    rng = np.random.default_rng(1)
    for n in (10, 40, 90):
        tree = random_tree(rng, n, 3)
        found = projectivise(tree, single_root)
        check_tree(found, single_root)
        assert is_projective(found)
        assert not is_projective(tree)


def test_a_projective_tree_is_copied() -> None:
    tree = np.array([-1, 2, 0, 2], np.int32)
    found = projectivise(tree)
    assert found.tolist() == tree.tolist()
    assert found is not tree


def test_several_roots_become_one_only_if_asked() -> None:
    assert projectivise([-1, 0, 0], single_root=False).tolist() == [-1, 0, 0]
    assert projectivise([-1, 0, 0]).tolist() in ([-1, 0, 1], [-1, 2, 0])
