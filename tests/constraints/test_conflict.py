"""Smallest conflicts, against trying all subsets; and whether there is a tree, against looking at all trees."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import NoTreeError
from arcwise.constraints import (
    Arc,
    AtMostOne,
    HeadInside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
    compile_constraints,
)
from arcwise.constraints.conflict import (
    conflict_error,
    explain_conflict,
    has_tree,
    smallest_conflict,
    smallest_hitting_set,
)
from tests.constraints.naive import NAMES, constraint_of, labelled_trees, satisfying

_SETS = st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=4), max_size=8)


def subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


@settings(deadline=None, max_examples=200)
@given(_SETS)
def test_hitting_sets_are_smallest(sets):
    found = smallest_hitting_set(sets)
    assert all(found & numbers for numbers in sets)
    smallest = next(chosen for chosen in subsets(range(8)) if all(numbers & {*chosen} for numbers in sets))
    assert len(found) == len(smallest)


@settings(deadline=None, max_examples=200)
@given(_SETS.filter(bool), st.permutations(range(8)))
def test_conflicts_are_smallest(conflicts, items):
    calls = []

    def feasible(chosen):
        calls.append(chosen)
        return not any(conflict <= {*chosen} for conflict in conflicts)

    found = smallest_conflict(items, feasible)
    assert frozenset(found) in conflicts
    assert len(found) == min(map(len, conflicts))
    assert found == sorted(found, key=items.index)
    assert len(calls) < 400


def test_conflicts_of_nothing_and_of_none():
    assert smallest_conflict([1, 2], lambda chosen: False) == []
    with pytest.raises(ValueError, match="feasible together"):
        smallest_conflict([1, 2], lambda chosen: True)


def test_what_is_said():
    assert isinstance(explain_conflict([Leaf(3)]), NoTreeError)
    assert str(explain_conflict([Arc(3, 5), Leaf(3)])) == "no tree has all of these together: arc 3 5; leaf 3"
    assert str(explain_conflict([Leaf(3)], "sentence 2: ")) == "sentence 2: no tree has this: leaf 3"
    assert str(explain_conflict([])) == "there is no tree, even without the constraints"


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 4), st.booleans(), st.booleans())
def test_whether_there_is_a_tree(data, n, single_root, projective):
    constraints = data.draw(st.lists(constraint_of(n, 2, tags=False), max_size=5))
    allowed = np.array(data.draw(st.lists(st.integers(0, 5), min_size=(n + 1) ** 2, max_size=(n + 1) ** 2)))
    allowed = allowed.reshape(n + 1, n + 1) > 0
    heads, labels = labelled_trees(n, 2, single_root, projective)
    possible = allowed[heads[:, 1:], np.arange(1, n + 1)].all(axis=1)
    shape = {"single_root": single_root, "projective": projective}

    def exists(chosen):
        return bool((possible & satisfying(chosen, heads, labels, NAMES[:2])).any())

    compiled = compile_constraints(constraints, n, labels=NAMES[:2])
    assert has_tree(compiled, n, allowed=allowed, **shape) == exists(constraints)
    if not exists(constraints):
        smallest = next(chosen for chosen in subsets(constraints) if not exists(chosen))
        message = str(conflict_error(constraints, n, labels=NAMES[:2], allowed=allowed, **shape))
        named = message.partition(": ")[2].split("; ") if smallest else []
        chosen = [constraint for constraint in dict.fromkeys(constraints) if str(constraint) in named]
        assert len(named) == len(chosen) == len(smallest)
        assert not exists(chosen)


@pytest.mark.parametrize(
    ("constraints", "conflict"),
    [
        ([Leaf(4), Arc(1, 2), Arc(2, 3), Root(5), Arc(3, 1)], "arc 1 2; arc 2 3; arc 3 1"),
        ([Root(1), Leaf(5), Root(2)], "root 1; root 2"),
        ([Subtree(1, 3), Leaf(5), Together(4, 5), Subtree(2, 4)], "subtree 1-3; subtree 2-4"),
        ([Subtree(1, 3), HeadInside((1, 3), 1, 3)], "head-inside 1-3 1-3"),
        ([AtMostOne("obj"), Labels("obj", head=2), Arc(2, 1), Arc(2, 4), Leaf(5)],
         "at-most-one obj; labels obj head=2; arc 2 1; arc 2 4"),
        ([Leaf(1), Labels("det", head=0), Labels("det", False, word=3), Root(3)],
         "labels det head=0; no-labels det word=3; root 3"),
        ([NoArc(h, 3) for h in (0, 1, 2, 4)] + [Leaf(5)],
         "no-arc 0 3; no-arc 1 3; no-arc 2 3; no-arc 4 3; leaf 5"),
        ([NoArc(0, m) for m in range(1, 6)], "no-arc 0 1; no-arc 0 2; no-arc 0 3; no-arc 0 4; no-arc 0 5"),
    ],
)  # fmt: skip
def test_contradictions(constraints, conflict):
    error = conflict_error(constraints, 5, labels=NAMES)
    assert str(error).partition(": ")[2] == conflict


def test_crossing_arcs():
    crossing = [Leaf(5), Arc(1, 3), Arc(2, 4)]
    assert has_tree(compile_constraints(crossing, 5), 5)
    assert str(conflict_error(crossing, 5, projective=True)).endswith(": arc 1 3; arc 2 4")


def test_a_long_sentence_with_many_constraints():
    n = 40
    chain_of_arcs = [Arc(m + 1, m) for m in range(1, n)]
    error = conflict_error([*chain_of_arcs, Leaf(7), AtMostOne("det")], n, labels=NAMES)
    assert str(error).endswith(": arc 7 6; leaf 7")
