from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.draw.levels import pack_levels
from tests.draw.strategies import projective_trees

spans = st.tuples(st.integers(0, 15), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


@settings(deadline=None, max_examples=300)
@given(st.lists(spans, max_size=20))
def test_arcs_never_overlap_and_nested_ones_are_below(arcs):
    levels = pack_levels(arcs)
    for i, one in enumerate(arcs):
        for j, other in enumerate(arcs[:i]):
            assert levels[i] != levels[j] or not overlap(one, other)
            assert levels[i] < levels[j] or not within(one, other)
            assert levels[j] < levels[i] or not within(other, one)
            assert levels[j] < levels[i] or one != other
    assert set(levels) == set(range(1, max(levels, default=0) + 1))  # no level is empty


@settings(deadline=None, max_examples=100)
@given(projective_trees())
def test_without_crossings_the_levels_are_as_few_as_can_be(heads):
    arcs = [(min(m, h), max(m, h)) for m, h in enumerate(heads, 1) if h]

    def depth(arc: tuple[int, int]) -> int:
        return 1 + max((depth(other) for other in arcs if within(other, arc)), default=0)

    assert pack_levels(arcs) == [depth(arc) for arc in arcs]
