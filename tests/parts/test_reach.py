"""What is out of reach, and units: nothing that a better tree could have is taken away."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcwise.parts.reach import Group, Unit, beyond_reach, least_difference, scaled, unit_of, unscaled_bound

numbers = st.sampled_from([0.0, 1.0, -3.5, 1e-3, 1e9, -1e12, -1e30, 1e16, -np.inf]) | st.floats(-1e6, 1e6)


@st.composite
def groups(draw):
    found = []
    for _ in range(draw(st.integers(1, 2))):
        values = np.array(draw(st.lists(numbers, min_size=1, max_size=4)))
        owner = np.array(draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values))))
        found.append(Group(values, owner, draw(st.booleans())))
    return found


def choices(group):
    """All that a tree may take of a group: the numbers of an index of each owner, -1 for none."""
    for taken in product(
        *([*np.flatnonzero(group.owner == o), *([] if group.must else [-1])] for o in set(group.owner))
    ):
        picked = [i for i in taken if i >= 0]
        if all(group.values[i] > -np.inf for i in picked):
            yield picked


@given(groups(), numbers)
def test_nothing_that_a_good_tree_has_is_out_of_reach(given_groups, least):
    gone = beyond_reach(given_groups, least)
    for taken in product(*map(list, map(choices, given_groups))):
        parts = [(k, i) for k, picked in enumerate(taken) for i in picked]
        score = sum(Fraction(given_groups[k].values[i]) for k, i in parts)
        if least == -np.inf or score >= Fraction(least):
            assert not any(gone[k][i] for k, i in parts)


def test_masks_are_out_of_reach():
    arcs = Group(np.array([1.0, 2.0, -1e5, 3.0, -1e300]), np.array([0, 0, 0, 1, 1]), True)
    assert [x.tolist() for x in beyond_reach([arcs], 4.0)] == [[False, False, True, False, True]]
    assert not beyond_reach([arcs], -np.inf)[0].any()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([1.0, 2.0, 7.0], Unit(-3, 0.125)),
        ([0.0, -np.inf], Unit(0, 0.0)),
        ([1e-300], None),
        ([5e-324], Unit(1073, 0.5)),
        ([0.75, -np.inf, 6.0], Unit(-3, 2.0**-5)),
    ],
)
def test_units(found, expected):
    unit = unit_of([np.array(found)])
    assert expected is None or unit == expected
    if unit.whole:
        values = scaled(np.array(found), unit.shift)
        finite = values[np.isfinite(values)]
        assert 0.5 <= np.abs(finite).max() < 1.0
        assert all(Fraction(x) % Fraction(unit.whole) == 0 for x in finite)


def test_whole_numbers_are_proved_exactly():
    difference, exact = least_difference(unit_of([np.array([3.0, 1000.0])]), 50)
    assert exact
    assert difference == (1 - 2.0**-10) / 1024
    difference, exact = least_difference(unit_of([np.array([0.1, 1000.0])]), 50)
    assert not exact
    assert difference < 1e-12


@given(st.floats(-1e3, 1e3), st.integers(-1100, 1100))
def test_unscaled_bounds_are_bounds(bound, shift):
    if shift > -1000 or bound == 0:
        assert Fraction(unscaled_bound(bound, shift)) >= Fraction(bound) / Fraction(2) ** shift
