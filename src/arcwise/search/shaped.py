"""From matrices to the best trees of a class: branch and bound, or the Lagrangian relaxation alone.

As around all searches that prove trees best by bounds (`arcwise.search.within_reach`), arcs that no better tree can have are
forbidden, and the rest is put in a unit.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.matrices import Batch, Matrix, place
from arcwise.parts.reach import Group, beyond_reach, least_difference, unit_of, unscaled_bound
from arcwise.search.dual import DualOptions
from arcwise.search.explain import explain
from arcwise.search.lagrangian import NO_TREES, Descent, relax
from arcwise.search.result import Parse
from arcwise.search.shaped_tree import (
    Effort,
    Outcome,
    begin,
    conclude,
    explore,
    make_shaped_room,
)
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND, NO_SHAPE
from arcwise.search.tree_scores import tree_scores
from arcwise.search.within_reach import FAR, SMALL
from arcwise.threads import heed, interruptible
from arcwise.trees.shapes import ANY, Shape, has_shape, no_shape

Heads = NDArray[np.int32]

BRANCH_AND_BOUND, LAGRANGIAN = SHAPED = "branch-and-bound", "lagrangian"
# Of the relaxation: at a node, and as the paper has it (footnote 12); how long its first step is, and when steps are halved.
STEPS, PAPER_STEPS = 10, 200
NODES = 20_000  # of branch and bound, unless told otherwise: some seconds
_SHARE, _PATIENCE, _PAPER_PATIENCE = 1.0, 5, 10
_DEEPEST = 1 << 30  # block degree: as good as none
_AT_ONCE = 16  # nodes that are looked at between two looks at the clock


class ShapeOptions(NamedTuple):
    """shape: of trees. branching: whether to close the gap. steps: of the relaxation, None for the method's own number. nodes: at
    most. seconds: likewise, or None. paper: whether as in the paper.
    """

    shape: Shape
    branching: bool
    steps: int | None
    nodes: int
    seconds: float | None
    paper: bool

    @property
    def method(self) -> str:
        """Its name."""
        return BRANCH_AND_BOUND if self.branching else LAGRANGIAN

    @property
    def effort(self) -> Effort:
        """As the kernels take it."""
        own, patience = (
            (STEPS, _PATIENCE) if self.branching and not self.paper else (PAPER_STEPS, _PAPER_PATIENCE)
        )
        descent = Descent(own if self.steps is None else self.steps, _SHARE, patience)
        return Effort(descent, self.nodes if self.branching else 0, self.paper, 0.0)


def check_shape(block_degree: Any, well_nested: Any, one_inherit: Any) -> Shape:
    """The class of trees asked for, if it is usable.

    >>> str(check_shape(2, True, False)), str(check_shape(None, False, True))
    ('2-well-nested', '1-inherit')
    """
    if block_degree is not None and (not isinstance(block_degree, int | np.integer) or block_degree < 1):
        raise InputError(f"block_degree is {block_degree!r}", expected="a number of blocks, 1 or more")
    degree = min(int(block_degree or 0), _DEEPEST)
    if one_inherit:
        return Shape(min(degree or 2, 2), True, True)
    return Shape(degree, bool(well_nested))


def pick_shaped(
    decoder: str | None, shape: Shape, projective: bool, options: DualOptions, iterations: int | None, budget: int | None,
    seconds: float | None,
) -> ShapeOptions | None:  # fmt: skip
    """How matrices are searched for trees of a class; None if that takes no search of its own."""
    if decoder in SHAPED and projective:
        raise InputError(f"decoder {decoder!r} with projective=True", expected="projective=False for it")
    if decoder is None and not projective and shape != ANY:
        decoder = BRANCH_AND_BOUND
    if decoder not in SHAPED:
        if shape != ANY and not projective:
            raise InputError(
                f"decoder {decoder!r} for trees of shape {shape}", expected=" or ".join(map(repr, SHAPED))
            )
        return None
    branching = decoder == BRANCH_AND_BOUND and options.exact
    nodes = NODES if budget is None else options.budget
    return ShapeOptions(shape, branching, iterations, nodes, seconds, options.paper)


def search_shaped(batch: Batch, first: int, options: ShapeOptions, single_root: bool) -> list[Parse]:
    """The best tree of the class of every matrix of a piece; they are numbered from `first`."""
    flat = np.concatenate([S.reshape(-1) for S in batch])
    sizes = np.array([len(S) for S in batch], np.int64)
    heads = np.empty(int(sizes.sum()), np.int32)
    codes = spanning_trees(flat, sizes - 1, single_root, heads)
    trees = np.split(heads, np.cumsum(sizes)[:-1])
    return [
        _search_class(S, tree, int(code), options, single_root, place(first + b))
        for b, (S, tree, code) in enumerate(zip(batch, trees, codes, strict=True))
    ]


def search_one_shaped(S: Matrix, options: ShapeOptions, single_root: bool) -> Parse:
    """The same for one matrix."""
    heads, code = _best_of_any_shape(S, single_root)
    return _search_class(S, heads, code, options, single_root, "")


def _best_of_any_shape(S: Matrix, single_root: bool) -> tuple[Heads, int]:
    heads = np.empty(len(S), np.int32)
    return heads, int(spanning_trees(S.reshape(-1), np.array([len(S) - 1]), single_root, heads)[0])


def _search_class(
    S: Matrix, best: Heads, code: int, options: ShapeOptions, single_root: bool, where: str
) -> Parse:
    """The best tree of the class of a matrix, given the best tree of any shape and the code that came with it.

    One search, and one more for each size of masks.
    """
    if code != FOUND:
        raise explain(S, code, False, single_root, where)
    if has_shape(best, options.shape):
        return _parse(S, best, None, 0, 0, options)
    deadline = np.inf if options.seconds is None else monotonic() + options.seconds
    size = len(S)
    read = np.tile(np.arange(size) > 0, (size, 1)) & ~np.eye(size, dtype=np.bool_)
    given, owner = np.where(read, S, -np.inf), np.nonzero(read)[1] - 1
    found: Parse | None = None
    while True:
        unit = unit_of([given])
        difference, exact = least_difference(unit, size * size)
        outcome, heads = interruptible(
            search_until, np.ldexp(given, unit.shift), difference, options, single_root, deadline
        )
        bound = unscaled_bound(outcome.bound, unit.shift)
        if outcome.code == NO_SHAPE:
            if found is not None:  # the budget ended
                return found
            if outcome.bound > NO_TREES:
                raise InputError(
                    f"{where}no tree of shape {options.shape} found at {outcome.nodes} nodes, nor proved that there is none",
                    expected="a larger budget of nodes, or of seconds",
                )
            raise no_shape(options.shape, where)
        certified = outcome.bound == outcome.score
        if (
            certified
            and not exact
            and np.abs(given[heads[1:], np.arange(1, size)]).max() < np.ldexp(unit.size * SMALL, -unit.shift)
        ):
            certified, bound = False, unscaled_bound(outcome.bound + difference, unit.shift)
        parse = _parse(S, heads, None if certified else bound, outcome.nodes, outcome.steps, options)
        if found is not None and found.score > parse.score:
            found.bound = found.score if certified else max(found.score, bound)
            parse = found
        found = parse
        (gone,) = beyond_reach([Group(given[read], owner, True)], parse.score, FAR)
        if not (gone & (given[read] > -np.inf)).any():
            return parse
        given[read] = np.where(gone, -np.inf, given[read])


def search_until(
    S: Matrix, difference: float, options: ShapeOptions, single_root: bool, deadline: float
) -> tuple[Outcome, Heads]:
    """What branch and bound, or the relaxation, finds among scores below 1 in size, a few nodes at a time: so it can be interrupted,
    and looks at the clock if there is a limit.
    """
    heads, _ = _best_of_any_shape(S, single_root)
    value = float(S[heads[1:], np.arange(1, len(S))].sum())
    room, effort = make_shaped_room(len(S) - 1), options.effort._replace(slack=difference)
    trees, rows, nodes, incumbent = begin(S, single_root, options.shape, effort, room)
    seen = steps = 0
    if options.shape.block_degree == 1:  # the first incumbent is the best
        nodes = nodes._replace(number=0)
    elif not options.branching:
        relaxed = relax(trees, rows, nodes.alive[0], incumbent, effort.descent)
        nodes.bounds[0], steps = relaxed.bound, relaxed.steps
    while options.branching and nodes.number > 0 and seen < options.nodes and monotonic() < deadline:
        heed()
        most = min(_AT_ONCE, options.nodes - seen)
        nodes, more_nodes, more_steps = explore(
            trees, rows, nodes, incumbent, effort.descent, most, effort.most_open
        )
        seen, steps = seen + more_nodes, steps + more_steps
    outcome = conclude(trees, nodes, incumbent, value, seen, steps, heads)
    return Outcome(int(outcome.code), outcome.score, outcome.bound, seen, steps), heads


def _parse(
    S: Matrix, heads: Heads, bound: float | None, nodes: int, steps: int, options: ShapeOptions
) -> Parse:
    """bound: None if the tree is proved best."""
    score = float(tree_scores(S.reshape(-1), np.array((len(S) - 1,), np.int64), heads)[0])
    stats = {"method": options.method, "nodes": nodes, "steps": steps, "shape": str(options.shape)}
    return Parse(heads, score, score if bound is None else max(score, bound), None, stats)
