from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from arcwise import InputError
from arcwise.trees import all_trees, count_trees, is_projective, is_tree

CLASSES = list(product((False, True), (False, True)))


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize(("single_root", "projective"), CLASSES)
def test_exactly_the_trees_in_order(n: int, single_root: bool, projective: bool) -> None:
    expected = [
        [-1, *words]
        for words in product(range(n + 1), repeat=n)
        if is_tree([-1, *words], single_root) and (not projective or is_projective([-1, *words]))
    ]
    trees = all_trees(n, single_root, projective)
    assert trees.dtype == np.int32
    assert trees.tolist() == expected


@pytest.mark.parametrize(
    ("single_root", "projective", "counts"),
    [
        (False, False, [1, 3, 16, 125, 1296, 16807]),
        (True, False, [1, 2, 9, 64, 625, 7776]),
        (False, True, [1, 3, 12, 55, 273, 1428]),
        (True, True, [1, 2, 7, 30, 143, 728]),
    ],
)
def test_closed_forms(single_root: bool, projective: bool, counts: list[int]) -> None:
    """all_trees asserts that it finds as many as count_trees says; here both meet the known sequences."""
    for n, count in enumerate(counts, 1):
        assert count_trees(n, single_root, projective) == count
        assert all_trees(n, single_root, projective).shape == (count, n + 1)


@pytest.mark.parametrize("single_root", [False, True])
def test_closed_forms_of_projective_trees_by_recursion(single_root: bool) -> None:
    """A projective tree falls apart at its root: on each side a sequence of smaller projective trees."""
    longest = 12
    rooted, sequences = [0], [1]
    for n in range(1, longest + 1):
        rooted.append(sum(sequences[left] * sequences[n - 1 - left] for left in range(n)))
        sequences.append(sum(rooted[first] * sequences[n - first] for first in range(1, n + 1)))
    for n in range(1, longest + 1):
        assert count_trees(n, single_root, projective=True) == (rooted if single_root else sequences)[n]


@pytest.mark.parametrize("n", [-1, 0, 9, 100])
def test_other_lengths_are_refused(n: int) -> None:
    with pytest.raises(InputError, match=f"a sentence of {n} words"):
        all_trees(n)
