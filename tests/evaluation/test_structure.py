"""The classes of a treebank's trees, and which of them is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from arcwise.evaluation.structure import Structure, measure_structure, smallest_class
from arcwise.treebank.block import index_block
from arcwise.treebank.formats import CONLLX
from arcwise.trees import block_degree, is_one_inherit, is_projective, is_well_nested
from arcwise.trees.enumerate import all_trees
from arcwise.trees.shapes import ANY

# Corro et al. (2016), Table 1: percentages of well-nested and ill-nested trees by block degree; and what is chosen in Section 7.1.
TABLE_1 = {
    "English": ([92.26, 7.58, 0.12], [0, 0.12, 0.01], "2-well-nested"),
    "German": ([67.60, 27.12, 3.86, 0.19, 0.11], [0, 0.79, 0.30, 0.01, 0.01], "3"),
    "Dutch": ([69.13, 28.50, 2.24, 0.04], [0, 0.08, 0.01], "3-well-nested"),
    "Spanish": ([93.95, 5.99, 0.02], [0, 0.04], "2-well-nested"),
    "Portuguese": ([81.56, 13.92, 3.76, 0.54, 0.14], [0, 0.02], "3-well-nested"),
}


@pytest.mark.parametrize("language", TABLE_1)
def test_the_choices_of_the_paper(language: str) -> None:
    """Which has no 1-inherit trees: here no tree counts as one."""
    well, ill, chosen = TABLE_1[language]
    degrees = Counter[tuple[int, bool]]()
    for nested, percentages in ((True, well), (False, ill)):
        for degree, percent in enumerate(percentages, 1):
            degrees[degree, nested] = round(100 * percent)
    structure = Structure(lengths=Counter({20: degrees.total()}), block_degrees=degrees)
    assert str(smallest_class(structure)) == chosen


def test_every_class_is_counted() -> None:
    """All trees of six words: by class, against what each class is."""
    trees = all_trees(6, single_root=True)[::7]
    lines = []
    for tree in trees:
        lines += [f"{m}\tx\t_\tX\tX\t_\t{tree[m]}\tx\t_\t_" for m in range(1, 7)] + [""]
    structure = measure_structure([index_block("\n".join([*lines, ""]).encode(), CONLLX)[0]])
    degrees = np.array([block_degree(tree) for tree in trees])

    def those(belongs: Callable[[np.ndarray], bool]) -> np.ndarray:
        return np.array([belongs(tree) for tree in trees])

    well_nested = those(is_well_nested)
    expected = {
        "projective": those(is_projective),
        "1-inherit": those(is_one_inherit),
        "2-well-nested": well_nested & (degrees <= 2),
        "2": degrees <= 2,
        "3-well-nested": well_nested & (degrees <= 3),
        "3": degrees <= 3,
        "well-nested": well_nested,
        "any": degrees > 0,
    }
    found = {str(shape): trees for shape, trees in structure.classes.items()}
    assert list(found.items()) == [(name, int(members.sum())) for name, members in expected.items()]
    assert found["1-inherit"] < found["2-well-nested"] < found["2"] < found["3"] == found["any"]
    assert str(smallest_class(structure, 1.0)) == "3"
    assert str(smallest_class(structure, 0.0)) == "projective"
    for shape, members in structure.classes.items():
        exactly = smallest_class(structure, members / structure.sentences)
        assert structure.classes[exactly] >= members
        assert list(structure.classes).index(exactly) <= list(structure.classes).index(shape)


def test_no_trees() -> None:
    assert smallest_class(Structure()) == ANY
    assert str(smallest_class(Structure(), 0.0)) == "projective"
