"""The trees of dual decomposition: the best one of arcs alone, of any shape, projective, or of a class.

Trees of a class are relaxed together with the rest: the rows that trees outside it have violated (`arcwise.search.lagrangian`) have
multipliers of their own, which raise the scores of arcs and move by the same steps as u and v. So a step still takes one search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import by_type, kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search import eisner, spanning_tree
from arcwise.search.lagrangian import (
    CELLS,
    Candidates,
    Rows,
    Trees,
    add_rows,
    best_tree,
    find_slopes,
    make_rows,
    raise_scores,
)
from arcwise.search.reduced_costs import reduced_costs
from arcwise.search.status import FOUND
from arcwise.trees.shapes import Shape, has_shape
from arcwise.trees.violations import find_violations


class TreeSearch(NamedTuple):
    """How the best tree of arcs alone is found: by a spanning tree, or if it must be projective by Eisner's chart; room for both."""

    single_root: bool
    projective: bool
    room: spanning_tree.Room
    chart: eisner.Chart


class ShapedSearch(NamedTuple):
    """The same for trees of a class, of one sentence. rows: over all pairs of words, h + m (n + 1). first[0]: whether no tree was
    found yet; the first is projective, so that there is one of the class.
    """

    single_root: bool
    projective: bool
    room: spanning_tree.Room
    chart: eisner.Chart
    shape: Shape
    trees: Trees
    rows: Rows
    theta: Floats
    first: NDArray[np.bool_]


@kernel
def make_tree_search(longest: int, single_root: bool, projective: bool) -> TreeSearch:
    """For sentences of up to `longest` words."""
    chart = eisner.make_chart(longest if projective else 0)
    return TreeSearch(single_root, projective, spanning_tree.make_room(longest), chart)


@kernel
def make_shaped_search(n: int, single_root: bool, shape: Shape) -> ShapedSearch:
    """For sentences of n words, no more and no less."""
    size = n + 1
    head, modifier = np.empty(size * size, np.int32), np.empty(size * size, np.int32)
    for a in range(size * size):
        head[a], modifier[a] = a % size, a // size
    first = (np.arange(size + 1) * size).astype(np.int32)
    arcs, room = Candidates(head, modifier, np.empty(size * size), first), spanning_tree.make_room(n)
    trees = Trees(arcs, single_root, shape, 0.0, np.empty((size, size)), room, np.zeros((size, 3), np.int32))
    return ShapedSearch(
        single_root, False, room, eisner.make_chart(n), shape, trees, make_rows(arcs, CELLS), np.empty(size * size),
        np.ones(1, np.bool_),
    )  # fmt: skip


@kernel
def best_heads(S: Floats, trees: TreeSearch | ShapedSearch, heads: Ints) -> float:
    """Fill in the best tree of a matrix, not yet of a class; returns its value, -inf if there is none."""
    if trees.projective:
        code = eisner.eisner_tree(S, trees.single_root, trees.chart, heads)
    else:
        code = spanning_tree.spanning_tree(S, trees.single_root, trees.room, heads)
    if code != FOUND:
        return -np.inf
    value = 0.0
    for m in range(1, len(heads)):
        value += S[heads[m], m]
    return value


@kernel
def shaped_heads(S: Floats, trees: ShapedSearch, heads: Ints) -> float:
    """Fill in the best tree of the raised scores, of any shape, and return a bound on those of the class, -inf if there is none."""
    scores, size = trees.trees.arcs.score, len(S)
    for h in range(size):
        for m in range(size):
            scores[h + m * size] = S[h, m]
    constant = raise_scores(trees.trees.arcs, trees.rows, trees.theta)
    alive = np.ones(len(scores), np.bool_)
    return best_tree(trees.trees, trees.theta, alive, heads) + constant


@by_type
def bounded_heads(S: Any, trees: Any, heads: Any) -> Any:
    """Fill in the best tree of a matrix, and return a bound on the values of all trees that are searched for."""
    if trees.instance_class is ShapedSearch:
        return lambda S, trees, heads: shaped_heads(S, trees, heads)
    return lambda S, trees, heads: best_heads(S, trees, heads)


@kernel
def _losses(S: Floats, trees: TreeSearch, best: float, head: Ints, modifier: Ints, losses: Floats) -> None:
    if trees.projective:
        return
    penalty = trees.room.penalty[0]
    S[0] -= penalty
    bound = reduced_costs(S, head[1:], modifier[1:], trees.room, losses[1:]) + penalty
    S[0] += penalty
    for a in range(1, len(losses)):
        losses[a] += best - bound


@by_type
def arc_losses(S: Any, trees: Any, best: Any, head: Any, modifier: Any, losses: Any) -> Any:
    """Fill in how much worse than the best tree of a matrix, whose value is `best`, all trees with each arc are at least. The best
    tree was the last that was searched for. head, modifier: words of each arc, from arc 1 on. Left alone where nothing is known.
    """
    if trees.instance_class is ShapedSearch:
        return lambda S, trees, best, head, modifier, losses: None
    return lambda S, trees, best, head, modifier, losses: _losses(S, trees, best, head, modifier, losses)


@by_type
def for_words(trees: Any, n: Any) -> Any:
    """The search for a sentence of n words."""
    if trees.instance_class is ShapedSearch:
        return lambda trees, n: make_shaped_search(n, trees.single_root, trees.shape)
    return lambda trees, n: trees


@by_type
def is_allowed(trees: Any, heads: Any) -> Any:
    """Whether a tree is of the class."""
    if trees.instance_class is ShapedSearch:
        return lambda trees, heads: has_shape(heads, trees.shape)
    return lambda trees, heads: True


@kernel
def _slopes(S: Floats, trees: ShapedSearch, heads: Ints) -> float:
    if trees.first[0]:
        trees.first[0] = False
        other = heads.copy()
        if eisner.eisner_tree(S, trees.single_root, trees.chart, other) == FOUND:
            heads[:] = other
            return 1.0
    number, _, position, size = find_violations(heads, trees.shape, trees.trees.families)
    add_rows(trees.trees, trees.rows, heads, number, position, size)
    find_slopes(trees.trees.arcs, trees.rows, heads)
    total = 0.0
    for r in range(trees.rows.number[0]):
        total += trees.rows.slope[r] ** 2
    return total


@by_type
def row_slopes(S: Any, trees: Any, heads: Any) -> Any:
    """Find the rows that a tree violates, and the slopes of the bound along all of them: the sum of their squares. The first time, a
    projective tree is put in place of the tree, and the sum is not 0.
    """
    if trees.instance_class is ShapedSearch:
        return lambda S, trees, heads: _slopes(S, trees, heads)
    return lambda S, trees, heads: 0.0


@kernel
def _move(trees: ShapedSearch, length: float) -> None:
    rows = trees.rows
    for r in range(rows.number[0]):
        rows.u[r] = max(0.0, rows.u[r] - length * rows.slope[r])


@by_type
def move_rows(trees: Any, length: Any) -> Any:
    """Move the multipliers of rows by a step."""
    if trees.instance_class is ShapedSearch:
        return lambda trees, length: _move(trees, length)
    return lambda trees, length: None


@kernel
def _keep(trees: ShapedSearch, back: bool) -> None:
    rows = trees.rows
    for r in range(rows.number[0]):
        if back:
            rows.u[r] = rows.best[r]
        else:
            rows.best[r] = rows.u[r]


@by_type
def keep_rows(trees: Any, back: Any) -> Any:
    """Remember the multipliers of rows; or go back to those remembered."""
    if trees.instance_class is ShapedSearch:
        return lambda trees, back: _keep(trees, back)
    return lambda trees, back: None
