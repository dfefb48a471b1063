"""What is said to keep a tree out of a class keeps every tree out that has it."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import InputError
from arcwise.trees import all_trees, block_degree, is_one_inherit, is_projective, is_well_nested
from arcwise.trees.shapes import ANY, ONE_INHERIT, PROJECTIVE, Shape, has_shape, read_shape
from arcwise.trees.violations import find_violations, mark_cells

SHAPES = [PROJECTIVE, ONE_INHERIT, Shape(2, True), Shape(2), Shape(0, True), Shape(3)]


def belongs(heads, shape):
    return (
        (shape.block_degree == 0 or block_degree(heads) <= shape.block_degree)
        and (not shape.well_nested or is_well_nested(heads))
        and (not shape.one_inherit or is_one_inherit(heads))
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("n", [4, 5])
def test_words_that_stay_in_their_cells(n, shape):
    """Of every tree outside the class: its own words do, and of no tree in the class do all of them."""
    trees = all_trees(n, single_root=False)
    inside = np.array([has_shape(heads, shape) for heads in trees])
    assert inside.tolist() == [belongs(heads, shape) for heads in trees]
    members = trees[inside][:, 1:]
    families, cells, stay = (
        np.zeros((n + 1, 3), np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
    )
    for heads in trees[~inside]:
        number, _, position, size = find_violations(heads, shape, families)
        assert number > 0
        for family in families[:number]:
            mark_cells(heads, shape, family, position, size, cells, stay)
            bound = stay[1:] > 0
            assert bound.any()
            assert (cells[heads[1:]] == stay[1:])[bound].all()
            assert ((cells[members] != stay[1:]) & bound).any(axis=1).all()
    for heads in trees[inside][:50]:
        assert find_violations(heads, shape, families)[0] == 0


def test_names_of_classes():
    for shape in (*SHAPES, ANY, Shape(7, True)):
        assert read_shape(str(shape)) == shape
    assert has_shape(np.array([-1, 0, 1, 1, 2], np.int32), ANY)
    assert is_projective([-1, 0, 1])
    for name in ("", "0", "-2", "2-", "-well-nested", "2well-nested", "well-nested-2", "round"):
        with pytest.raises(InputError, match="shape"):
            read_shape(name)
