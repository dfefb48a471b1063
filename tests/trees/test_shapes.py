"""Every shape agrees with its definition on all trees of up to six words and on random longer ones."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import trees
from tests.trees import naive


def agrees(heads: np.ndarray) -> None:
    listed = heads.tolist()
    blocks = naive.block_degrees(listed)
    degrees = naive.edge_degrees(listed)
    crossing = naive.nonprojective_arcs(listed)
    assert trees.block_degrees(heads).tolist() == blocks
    assert trees.block_degree(heads) == max(blocks)
    assert trees.gap_degree(heads) == max(blocks) - 1
    assert trees.edge_degrees(heads).tolist() == degrees
    assert trees.edge_degree(heads) == max(degrees)
    assert trees.nonprojective_arcs(heads).tolist() == crossing
    assert trees.is_projective(heads) == (not any(crossing)) == (max(blocks) == 1)
    assert trees.is_well_nested(heads) == naive.is_well_nested(listed)
    assert trees.is_one_inherit(heads) == naive.is_one_inherit(listed)
    assert trees.roots(heads).tolist() == [m for m in range(1, len(heads)) if heads[m] == 0]


@pytest.mark.parametrize("n", range(1, 7))
def test_all_short_trees(n: int) -> None:
    for heads in trees.all_trees(n, single_root=False):
        agrees(heads)


@pytest.mark.parametrize("reach", [1, 2, 3, 20])
def test_random_trees(reach: int) -> None:
    rng = np.random.default_rng(reach)
    for n in rng.integers(7, 21, 50):
        agrees(naive.random_tree(rng, int(n), reach))


def test_random_trees_are_of_every_shape() -> None:
    rng = np.random.default_rng(0)
    sample = [naive.random_tree(rng, 8, reach) for reach in (1, 2, 8) for _ in range(200)]
    assert {trees.block_degree(heads) for heads in sample} >= {1, 2, 3}
    assert {trees.is_well_nested(heads) for heads in sample} == {True, False}
    well_nested = [
        heads for heads in sample if trees.is_well_nested(heads) and trees.block_degree(heads) == 2
    ]
    assert {trees.is_one_inherit(heads) for heads in well_nested} == {True, False}


def test_figure_1_of_corro() -> None:
    assert trees.block_degrees([-1, 2, 0, 2, 1]).tolist() == [1, 2, 1, 1, 1]
    assert not trees.is_well_nested([-1, 0, 0, 1, 2])


def test_the_unlikely_tree_of_pitler() -> None:
    """Well-nested and of block degree 2, but all n children of one vertex inherit its gap."""
    n = 4
    heads = np.full(2 * n + 3, -1)
    heads[n + 2] = 0
    heads[n + 1] = n + 2
    for child in range(1, n + 1):
        heads[child] = n + 1
        heads[2 * n + 3 - child] = child
    assert trees.is_well_nested(heads)
    assert trees.block_degree(heads) == 2
    assert not trees.is_one_inherit(heads)


@pytest.mark.parametrize("step", [1, -1])
def test_a_chain_of_a_hundred_thousand_words(step: int) -> None:
    n = 100_000
    heads = np.arange(-1, n) if step == 1 else np.r_[-1, np.arange(2, n + 1), 0]
    assert trees.is_projective(heads)
    assert trees.edge_degree(heads) == 0
    assert trees.is_one_inherit(heads)
