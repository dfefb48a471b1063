"""Cutting planes, checked against all sets of words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.search.subtours import separate

SLACK = 1e-6


def inflow(inside, head, modifier, z):
    return z[~inside[head] & inside[modifier]].sum()


@st.composite
def points(draw):
    """Arcs between up to 5 words, and values of which those into each word add up to 1."""
    n = draw(st.integers(1, 5))
    pairs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    arcs = pairs + draw(st.lists(st.sampled_from(pairs), max_size=3))  # some twice, as with labels
    weights = draw(st.sampled_from([st.integers(0, 1), st.integers(0, 3), st.floats(0, 1)]))
    z = np.array(draw(st.lists(weights, min_size=len(arcs), max_size=len(arcs))), float)
    head, modifier = np.array(arcs, np.int32).T.copy()
    for m in range(1, n + 1):
        into = modifier == m
        if z[into].sum() < 1e-3:
            z[np.flatnonzero(into)[draw(st.integers(0, into.sum() - 1))]] += 1.0
        z[into] /= z[into].sum()
    return n, head, modifier, z


@settings(deadline=None, max_examples=400)
@given(point=points())
def test_finds_violated_sets_if_and_only_if_there_are_any(point):
    n, head, modifier, z = point
    flows: dict[tuple[int, ...], float] = {}
    for size in range(1, n + 1):
        for words in combinations(range(1, n + 1), size):
            inside = np.isin(np.arange(n + 1), words)
            flows[words] = inflow(inside, head, modifier, z)
    sets = separate(n, head, modifier, z, SLACK)
    assert sets.shape[1] == n + 1
    assert not sets[:, 0].any()
    found = {tuple(np.flatnonzero(inside).tolist()) for inside in sets}
    assert len(found) == len(sets)
    for words in found:
        assert flows[words] < 1 - SLACK + 1e-12
        # The most violated of some word.
        assert any(
            flows[words] <= min(flow for other, flow in flows.items() if v in other) + 1e-12 for v in words
        )
    if not found:
        assert min(flows.values()) >= 1 - SLACK - 1e-12


def test_a_cycle_is_found_as_it_is():
    # 0 -> 1, and 2 -> 3 -> 4 -> 2 with 5, 6 and 7 below it.
    heads = np.array([0, 4, 2, 3, 3, 5, 2], np.int32)
    sets = separate(7, heads, np.arange(1, 8, dtype=np.int32), np.ones(7), SLACK)
    assert [np.flatnonzero(inside).tolist() for inside in sets] == [[2, 3, 4]]
    heads[1] = 1
    assert separate(7, heads, np.arange(1, 8, dtype=np.int32), np.ones(7), SLACK).shape == (0, 8)
