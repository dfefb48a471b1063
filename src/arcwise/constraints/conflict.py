"""Why constraints admit no tree: a smallest set of them that no tree satisfies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints.compiled import Compiled, compile_constraints
from arcwise.constraints.kinds import Constraint
from arcwise.errors import NoTreeError
from arcwise.search.branching import Relaxed, branch
from arcwise.search.eisner import eisner_trees
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND

T = TypeVar("T")
Flags = NDArray[np.bool_]
_Numbers = frozenset[int]


def conflict_error(
    constraints: Sequence[Constraint],
    n: int,
    *,
    labels: Sequence[str] | None = None,
    upos: Sequence[str] | None = None,
    xpos: Sequence[str] | None = None,
    single_root: bool = True,
    projective: bool = False,
    allowed: Flags | None = None,
    place: str = "",
) -> NoTreeError:
    """The error to raise for constraints that no tree satisfies: names a smallest set of them that conflict.

    Arguments as in `compile_constraints` and `has_tree`; `place` says which sentence. ValueError if a tree does satisfy them.

    >>> from arcwise.constraints import Arc, Leaf, NoArc
    >>> print(conflict_error([NoArc(1, 3), Leaf(2), Arc(0, 1), Arc(2, 3)], 3))
    no tree has all of these together: leaf 2; arc 2 3
    """

    def feasible(chosen: list[Constraint]) -> bool:
        compiled = compile_constraints(chosen, n, labels=labels, upos=upos, xpos=xpos)
        return has_tree(compiled, n, single_root=single_root, projective=projective, allowed=allowed)

    return explain_conflict(smallest_conflict(constraints, feasible), place)


def explain_conflict(items: Sequence[Any], place: str = "") -> NoTreeError:
    """What to say of items that conflict, if without any one of them they would not."""
    if not items:
        return NoTreeError(f"{place}there is no tree, even without the constraints")
    those = "this" if len(items) == 1 else "all of these together"
    return NoTreeError(f"{place}no tree has {those}: {'; '.join(map(str, items))}")


def smallest_conflict(items: Sequence[T], feasible: Callable[[list[T]], bool]) -> list[T]:
    """As few of the items as are infeasible together, in their order; `feasible` must hold for every part of what it holds for.

    Implicit hitting sets (Ignatiev, Previti, Liffiton and Marques-Silva, "Smallest MUS extraction with minimal hitting set
    dualization", 2015). What a feasible set leaves out is a correction: every conflict has an item of it. So no conflict is smaller
    than the smallest set that hits all corrections known; if that set is infeasible, it is a smallest conflict. If not, it grows
    until nothing more fits, and what is left out is a new correction. A correction takes one call of `feasible` an item. Usually
    there are few, but there may be exponentially many.

    ValueError if all items are feasible together; no item at all if even none is infeasible.

    >>> smallest_conflict([5, 1, 8, 3, 4], lambda numbers: sum(numbers) <= 11)
    [5, 8]
    """
    everything = frozenset(range(len(items)))

    def holds(chosen: _Numbers) -> bool:
        return feasible([items[i] for i in sorted(chosen)])

    if holds(everything):
        raise ValueError("the items are feasible together")
    corrections: list[_Numbers] = []
    while holds(conflict := smallest_hitting_set(corrections)):
        seed = conflict
        while holds(seed):  # with each correction it grows, so that the next one has other items
            grown = seed
            for i in sorted(everything - seed):
                if holds(grown | {i}):
                    grown |= {i}
            corrections.append(everything - grown)
            seed |= everything - grown
    return [items[i] for i in sorted(conflict)]


def smallest_hitting_set(sets: Sequence[_Numbers]) -> _Numbers:
    """As few numbers as have one of every set; no set may be empty. Exponential in their number, at worst.

    >>> sorted(smallest_hitting_set([frozenset({1, 2}), frozenset({2, 3}), frozenset({3, 4})]))
    [1, 3]
    """
    forced = frozenset(i for numbers in sets if len(numbers) == 1 for i in numbers)
    rest = [numbers for numbers in sets if not numbers & forced]
    size = 0
    while (found := _hit(rest, size)) is None:
        size += 1
    return forced | found


def _hit(sets: Sequence[_Numbers], size: int) -> _Numbers | None:
    """So many numbers at most that have one of every set, or None."""
    if not sets:
        return frozenset()
    sets = sorted(sets, key=len)
    disjoint, seen = 0, _Numbers()
    for numbers in sets:
        if not numbers & seen:
            disjoint, seen = disjoint + 1, seen | numbers
    if disjoint > size:  # each of them needs a number of its own
        return None
    for i in sorted(sets[0]):
        found = _hit([numbers for numbers in sets if i not in numbers], size - 1)
        if found is not None:
            return found | {i}
        sets = [numbers - {i} for numbers in sets]  # from here on without i
    return None


def has_tree(
    compiled: Compiled,
    n: int,
    *,
    single_root: bool = True,
    projective: bool = False,
    allowed: Flags | None = None,
) -> bool:
    """Whether a tree satisfies the constraints: one search (O(n^2), projective O(n^3)) for each part that `branch` looks into.

    allowed: (n+1, n+1), the arcs that a tree may have at all. InputError if that is not known after 100,000 searches.

    >>> from arcwise.constraints import Subtree
    >>> has_tree(compile_constraints([Subtree(1, 2), Subtree(2, 3)], 3), 3)
    False
    """
    # Labels of the same groups are one; where a label of no group is possible, no other is needed.
    patterns = np.unique(compiled.groups.T, axis=0) if len(compiled.groups) else np.zeros((1, 0), np.bool_)
    possible = np.repeat(~compiled.barred[:, :, np.newaxis], len(patterns), axis=2)
    if allowed is not None:
        possible &= allowed[:, :, np.newaxis]
    if compiled.barred_labels is not None:
        for number, pattern in enumerate(patterns):
            alike = (pattern == compiled.groups.T).all(axis=1)
            possible[:, :, number] &= ~compiled.barred_labels[:, :, alike].all(axis=2)
    if not patterns[0].any():
        possible[possible[:, :, 0], 1:] = False
    head, modifier, pattern_of = np.nonzero(possible)
    search = eisner_trees if projective else spanning_trees
    lengths = np.array([n], np.int64)

    def some_tree(alive: Flags) -> Relaxed | None:
        S = np.full((n + 1, n + 1), -np.inf)
        arc = np.zeros((n + 1, n + 1), np.intp)
        arcs = np.flatnonzero(alive)
        S[head[arcs], modifier[arcs]] = 0.0
        arc[head[arcs], modifier[arcs]] = arcs
        heads = np.empty(n + 1, np.int32)
        if search(S.reshape(-1), lengths, single_root, heads)[0] != FOUND:
            return None
        return Relaxed(arc[heads, np.arange(n + 1)], 0.0, 0.0)

    members = patterns[pattern_of]
    alive = np.ones(len(head), np.bool_)
    found = branch(some_tree, head, modifier, members, compiled.group_heads, compiled.spans, alive)
    return found is not None
