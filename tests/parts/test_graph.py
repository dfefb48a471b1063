"""The order of arcs in a graph."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.parts.graph import sort_arcs


@pytest.mark.parametrize(
    ("words", "senses", "arcs"), [(1, 1, 0), (2, 1, 3), (7, 3, 60), (40, 1, 700), (4_000_000, 1, 600_000)]
)
def test_arcs_are_sorted_by_head_side_and_distance(words: int, senses: int, arcs: int) -> None:
    """Also in a graph so large that a number for head, place and arc together would leave 64 bits."""
    random = np.random.default_rng(arcs)
    position = np.concatenate([[0], np.repeat(np.arange(1, words + 1), senses)]).astype(np.int32)
    head, modifier = random.integers(len(position), size=(2, arcs)).astype(np.int32)
    distance = position[modifier] - position[head]
    expected = np.lexsort((np.arange(arcs), np.abs(distance), distance >= 0, head))
    np.testing.assert_array_equal(sort_arcs(position, head, modifier), expected)
