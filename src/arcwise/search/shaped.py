"""From matrices to the best trees of a class: branch and bound, or the Lagrangian relaxation alone."""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.matrices import Batch, Matrix, place
from arcwise.search.dual import DualOptions
from arcwise.search.explain import explain
from arcwise.search.lagrangian import NO_TREES, Descent
from arcwise.search.result import Parse
from arcwise.search.shaped_tree import (
    Effort,
    Outcome,
    begin,
    conclude,
    explore,
    make_shaped_room,
    shaped_tree,
    shaped_trees,
)
from arcwise.search.status import FOUND, NO_SHAPE
from arcwise.search.tree_scores import tree_scores
from arcwise.trees.shapes import ANY, Shape, no_shape

BRANCH_AND_BOUND, LAGRANGIAN = SHAPED = "branch-and-bound", "lagrangian"
# Of the relaxation: at a node, and as the paper has it (footnote 12); how long its first step is, and when steps are halved.
STEPS, PAPER_STEPS = 10, 200
NODES = 20_000  # of branch and bound, unless told otherwise: some seconds
_SHARE, _PATIENCE, _PAPER_PATIENCE = 1.0, 5, 10
_TOLERANCE = 1e-10
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
        return Effort(descent, self.nodes if self.branching else 0, self.paper, 0.0, _TOLERANCE)

    @property
    def briefly(self) -> Effort:
        """The same for no more than a few nodes."""
        return self.effort._replace(nodes=min(self.effort.nodes, _AT_ONCE))

    def goes_on(self, outcome: Outcome) -> bool:
        """Whether a search that was brief must go on."""
        return self.branching and self.nodes > outcome.nodes and outcome.bound > outcome.score


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
    """The best tree of the class of every matrix of a piece; they are numbered from `first`. In one call of a kernel, but for those
    that take many nodes.
    """
    flat = np.concatenate([S.reshape(-1) for S in batch])
    sizes = np.array([len(S) for S in batch], np.int64)
    heads, outcomes = np.empty(int(sizes.sum()), np.int32), np.empty((len(batch), len(Outcome._fields)))
    shaped_trees(flat, sizes - 1, single_root, options.shape, options.briefly, heads, outcomes)
    parses = []
    for b, (S, tree) in enumerate(zip(batch, np.split(heads, np.cumsum(sizes)[:-1]), strict=True)):
        code, score, bound, nodes, steps = outcomes[b].tolist()
        outcome = Outcome(int(code), score, bound, int(nodes), int(steps))
        if options.goes_on(outcome):
            parses.append(search_one_shaped(S, options, single_root, place(first + b)))
        else:
            parses.append(_parse(S, tree, outcome, options, single_root, place(first + b)))
    return parses


def search_one_shaped(S: Matrix, options: ShapeOptions, single_root: bool, where: str = "") -> Parse:
    """The same for one matrix, a few nodes at a time: so it can be interrupted, and looks at the clock if there is a limit."""
    heads, room = np.empty(len(S), np.int32), make_shaped_room(len(S) - 1)
    deadline = np.inf if options.seconds is None else monotonic() + options.seconds
    outcome = shaped_tree(S, single_root, options.shape, options.briefly, room, heads)
    if options.goes_on(outcome):
        trees, rows, nodes, incumbent = begin(S, single_root, options.shape, options.effort, room)
        seen = steps = 0
        while nodes.number > 0 and seen < options.nodes and monotonic() < deadline:
            most = min(_AT_ONCE, options.nodes - seen)
            nodes, more_nodes, more_steps = explore(
                trees, rows, nodes, incumbent, options.effort.descent, most, options.effort.most_open
            )
            seen, steps = seen + more_nodes, steps + more_steps
        outcome = conclude(trees, nodes, incumbent, outcome.bound, seen, steps, heads)
    return _parse(S, heads, outcome, options, single_root, where)


def _parse(
    S: Matrix,
    heads: NDArray[np.int32],
    outcome: Outcome,
    options: ShapeOptions,
    single_root: bool,
    where: str,
) -> Parse:
    if outcome.code == NO_SHAPE:
        if outcome.bound > NO_TREES:
            raise InputError(
                f"{where}no tree of shape {options.shape} found at {outcome.nodes} nodes, nor proved that there is none",
                expected="a larger budget of nodes, or of seconds",
            )
        raise no_shape(options.shape, where)
    if outcome.code != FOUND:
        raise explain(S, int(outcome.code), False, single_root, where)
    score = float(tree_scores(S.reshape(-1), np.array((len(S) - 1,), np.int64), heads)[0])
    bound = score if outcome.bound == outcome.score else max(score, outcome.bound)
    stats = {"nodes": int(outcome.nodes), "steps": int(outcome.steps), "shape": str(options.shape)}
    return Parse(heads, score, bound, None, {"method": options.method, **stats})
