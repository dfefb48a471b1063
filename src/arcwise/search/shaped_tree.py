"""The best tree of a class - of bounded block degree, well-nested, 1-inherit - by branch and bound (Corro et al. 2016, section 6).

The best tree of any shape mostly belongs to the class, and then that is all. If not, the best projective tree is the first incumbent,
or that tree, if it is repaired (`arcwise.search.repair`) and better. At every node the Lagrangian relaxation gives a bound, arcs are
fixed where the bound without them, or with them, falls to the incumbent's score, and what is left open is branched on: over the arcs
of which the class must have one where the best tree has none, each in turn with the better ones left out. Or, as in the paper, on the
arc that the multipliers have raised most, in and out; there nothing is repaired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search import eisner, spanning_tree
from arcwise.search.lagrangian import (
    BORDERS,
    CELLS,
    NO_TREES,
    Candidates,
    Descent,
    Flags,
    Incumbent,
    Relaxed,
    Rows,
    Trees,
    arc_into,
    best_tree,
    cell_arcs,
    forget_rows,
    make_candidates,
    make_rows,
    offer,
    relax,
)
from arcwise.search.reduced_costs import reduced_costs
from arcwise.search.repair import climb, repair
from arcwise.search.status import FOUND, NO_SHAPE
from arcwise.trees.shapes import Shape, has_shape
from arcwise.trees.violations import find_violations

_FIRST_ROOM = 32  # for open nodes
# Every so many nodes a better incumbent is looked for, among so many trees by repair and by climbing.
_EVERY, _REPAIR, _CLIMB = 128, 20_000, 4_000
_MOST_BYTES = 1 << 26  # of open nodes, of which the best comes first; beyond that, the last


class Effort(NamedTuple):
    """descent: of the relaxation at a node. nodes: at most; 0 for the relaxation alone (section 5.3). paper: whether rows and
    branches are those of the paper. slack: a tree that is better by no more than this counts as no better. most_open: nodes left open
    times arcs, at most: with more, the search gives up.
    """

    descent: Descent
    nodes: int
    paper: bool
    slack: float
    most_open: int = 1 << 62


class Outcome(NamedTuple):
    """code: FOUND if there is a tree of the class. bound: on the scores of all of them. nodes: looked at. steps: of relaxations."""

    code: int
    score: float
    bound: float
    nodes: int
    steps: int


class Open(NamedTuple):
    """The nodes still to be looked at, the last one first: their arcs, and bounds on their trees. number: of nodes."""

    alive: Flags
    bounds: Floats
    number: int


class ShapedRoom(NamedTuple):
    """Where the search works: used again for the next matrix."""

    trees: spanning_tree.Room
    scores: Floats


@kernel
def make_shaped_room(longest: int) -> ShapedRoom:
    """Room for sentences of up to `longest` words: 16 bytes a pair of words."""
    return ShapedRoom(spanning_tree.make_room(longest), np.empty((longest + 1) ** 2))


@kernel
def bound_arcs(trees: Trees, relaxed: Relaxed, alive: Flags, bounds: Floats) -> bool:
    """Fill in a bound on the trees with each arc, of those alive; False if there is no tree. O(n^2).

    By the raised scores: the bound on all trees less the reduced cost of the arc, never above the cheap bound of section 6.3.
    """
    arcs, S = trees.arcs, trees.S
    heads = np.empty(len(S), np.int32)
    if best_tree(trees, relaxed.theta, alive, heads) == NO_TREES:
        return False
    penalty = trees.room.penalty[0]
    S[0] -= penalty
    bound = reduced_costs(S, arcs.head, arcs.modifier, trees.room, bounds) + penalty + relaxed.constant
    for a in range(len(bounds)):
        bounds[a] = bound - bounds[a]
    return True


@kernel
def fix_arcs(
    trees: Trees, relaxed: Relaxed, alive: Flags, enough: float, bounds: Floats, thorough: bool
) -> bool:
    """Take arcs out of `alive` that no tree of the class better than `enough` has, and so those beside an arc that all of them have.

    thorough: also where the best tree without an arc is no better (section 6.2), O(n^2) for each word whose head is not settled.
    bounds: filled by `bound_arcs`. False if that leaves no tree.
    """
    arcs, heads = trees.arcs, np.empty(len(trees.S), np.int32)
    if not bound_arcs(trees, relaxed, alive, bounds):
        return False
    for a in range(len(alive)):
        alive[a] &= bounds[a] > enough
    for m in range(1, len(heads)):
        left, mine = 0, arc_into(arcs, relaxed.heads[m], m)
        for a in range(arcs.first[m], arcs.first[m + 1]):
            left += alive[a]
        if left == 0:
            return False
        if thorough and left > 1 and alive[mine]:
            alive[mine] = False
            without = best_tree(trees, relaxed.theta, alive, heads) + relaxed.constant
            alive[mine] = True
            if without <= enough:
                settle(arcs, mine, alive)
    return True


@kernel
def settle(arcs: Candidates, arc: int, alive: Flags) -> None:
    """Leave no other arc into the word of an arc."""
    m = arcs.modifier[arc]
    for a in range(arcs.first[m], arcs.first[m + 1]):
        alive[a] = a == arc


@kernel
def _bring_best(nodes: Open) -> None:
    """Exchange the last node with the one of the highest bound."""
    last = best = nodes.number - 1
    for k in range(last, -1, -1):
        if nodes.bounds[k] > nodes.bounds[best]:
            best = k
    if best != last:
        nodes.bounds[best], nodes.bounds[last] = nodes.bounds[last], nodes.bounds[best]
        for a in range(nodes.alive.shape[1]):
            nodes.alive[best, a], nodes.alive[last, a] = nodes.alive[last, a], nodes.alive[best, a]


@kernel
def _with_room(nodes: Open, number: int) -> Open:
    """The nodes, with room for so many more."""
    alive, bounds, count = nodes
    while count + number > len(bounds):
        alive = np.concatenate((alive, np.empty_like(alive)))
        bounds = np.concatenate((bounds, np.empty_like(bounds)))
    return Open(alive, bounds, count)


@kernel
def _branch_by_multipliers(trees: Trees, relaxed: Relaxed, nodes: Open) -> Open:
    """In place of the last node two: with the arc that the multipliers have raised most, of words whose heads are not settled, and
    without it. The first of them will be looked at first. If all heads are settled, their tree is not in the class: none.
    """
    arcs = trees.arcs
    alive, bounds, count = _with_room(nodes, 1)
    here, chosen, most = alive[count - 1], -1, -np.inf
    for m in range(1, len(arcs.first) - 1):
        left = 0
        for a in range(arcs.first[m], arcs.first[m + 1]):
            left += here[a]
        for a in range(arcs.first[m], arcs.first[m + 1]):
            if left > 1 and here[a] and relaxed.theta[a] - arcs.score[a] > most:
                chosen, most = a, relaxed.theta[a] - arcs.score[a]
    if chosen < 0:
        return Open(alive, bounds, count - 1)
    alive[count], bounds[count] = here, bounds[count - 1]
    here[chosen] = False
    settle(arcs, chosen, alive[count])
    return Open(alive, bounds, count + 1)


@kernel
def _narrowest(arcs: Candidates, rows: Rows, heads: Ints, alive: Flags, choices: Ints, number: int) -> int:
    """Of the rows of cells that a tree violates, the one with the fewest arcs alive: choices are filled with these, and counted.

    choices: the first `number` are those of one such row; they stay if no other has fewer.
    """
    fewest, best = 0, -1
    for a in choices[:number]:
        if alive[a]:
            choices[fewest] = a
            fewest += 1
    for r in range(rows.number[0]):
        count = 0
        for a in rows.arcs[rows.first[r] : rows.first[r + 1]]:
            count += alive[a]
            if heads[arcs.modifier[a]] == arcs.head[a]:
                count = len(alive)
                break
        if count < fewest:
            fewest, best = count, r
    if best >= 0:
        fewest = 0
        for a in rows.arcs[rows.first[best] : rows.first[best + 1]]:
            if alive[a]:
                choices[fewest] = a
                fewest += 1
    return fewest


@kernel
def _branch_on_arcs(
    trees: Trees, choices: Ints, relaxed: Relaxed, values: Floats, incumbent: Incumbent, nodes: Open
) -> Open:
    """In place of the last node one for each of some arcs, of which every tree of the class has one: with it, and without those whose
    bounds are higher. These will be looked at first. Nodes that are no better than the incumbent are left out. values: bounds on the
    trees with each arc.
    """
    arcs = trees.arcs
    alive, bounds, number = _with_room(nodes, len(choices))
    number -= 1
    parent, bound = alive[number].copy(), bounds[number]
    left = 0
    for a in choices:
        parent[a] &= values[a] > incumbent.score[0] + trees.slack
        left += parent[a]
    for i in range(left - 1, -1, -1):
        best = -1
        for a in choices:
            if parent[a] and (best < 0 or values[a] > values[best]):
                best = a
        alive[number + i] = parent
        settle(arcs, best, alive[number + i])
        bounds[number + i] = min(bound, values[best])
        parent[best] = False
    return Open(alive, bounds, number + left)


@kernel
def explore(
    trees: Trees, rows: Rows, nodes: Open, incumbent: Incumbent, how: Descent, most: int, most_open: int
) -> tuple[Open, int, int]:
    """Look at so many nodes, the best first: those left open, how many were looked at, and steps of the relaxation. most_open: as of
    `Effort`.

    Memory O(arcs) a node. When none are left open, the incumbent is the best tree of the class, or there is none. It ends, for every
    node has fewer arcs than the one that it was branched from.
    """
    arcs = trees.arcs
    heads, choices = np.empty(len(trees.S), np.int32), np.empty(len(arcs.head), np.int32)
    bounds, thorough = np.empty(len(arcs.head)), rows.kind == BORDERS
    seen, steps, looks, every = 0, 0, np.empty(1, np.int32), np.ones(len(arcs.head), np.bool_)
    while nodes.number > 0 and seen < most and nodes.number * len(arcs.head) <= most_open:
        top = nodes.number - 1
        if top * len(arcs.head) < _MOST_BYTES:
            _bring_best(nodes)
        here, without = nodes.alive[top], Open(nodes.alive, nodes.bounds, top)
        if nodes.bounds[top] <= incumbent.score[0] + trees.slack:
            nodes = without
            continue
        seen += 1
        value = best_tree(trees, arcs.score, here, heads)
        if value <= incumbent.score[0] + trees.slack:
            nodes = without
            continue
        number, _, position, size = find_violations(heads, trees.shape, trees.families)
        if number == 0:
            offer(arcs, heads, incumbent)
            nodes = without
            continue
        number = cell_arcs(trees, heads, trees.families[0], position, size, choices)
        if rows.kind == CELLS and seen % _EVERY == 1:
            repaired, looks[0] = heads.copy(), _REPAIR
            if repair(trees, here, repaired, value - incumbent.score[0], looks) < np.inf:
                offer(arcs, repaired, incumbent)
            looks[0] = _CLIMB
            climb(trees, every, incumbent, looks)
        relaxed = relax(trees, rows, here, incumbent, how)
        steps += relaxed.steps
        nodes.bounds[top] = min(nodes.bounds[top], value, relaxed.bound)
        enough = incumbent.score[0] + trees.slack
        if nodes.bounds[top] <= enough or not fix_arcs(trees, relaxed, here, enough, bounds, thorough):
            nodes = without
        elif rows.kind == CELLS:
            number = _narrowest(arcs, rows, heads, here, choices, number)
            nodes = _branch_on_arcs(trees, choices[:number], relaxed, bounds, incumbent, nodes)
            forget_rows(rows)
        else:
            nodes = _branch_by_multipliers(trees, relaxed, nodes)
    return nodes, seen, steps


@kernel
def begin(
    S: Floats, single_root: bool, shape: Shape, effort: Effort, room: ShapedRoom
) -> tuple[Trees, Rows, Open, Incumbent]:
    """Everything as it is before the first node."""
    arcs = make_candidates(S)
    work = room.scores[: S.size].reshape(S.shape)
    work[:] = -np.inf
    families = np.zeros((len(S), 3), np.int32)
    trees = Trees(arcs, single_root, shape, effort.slack, work, room.trees, families)
    incumbent = Incumbent(np.full(1, NO_TREES), np.full(len(S), -1, np.int32))
    projective = np.empty(len(S), np.int32)
    if eisner.eisner_tree(S, single_root, eisner.make_chart(len(S) - 1), projective) == FOUND:
        offer(arcs, projective, incumbent)
    nodes = Open(np.ones((_FIRST_ROOM, len(arcs.head)), np.bool_), np.full(_FIRST_ROOM, np.inf), 1)
    return trees, make_rows(arcs, BORDERS if effort.paper else CELLS), nodes, incumbent


@kernel
def conclude(
    trees: Trees, nodes: Open, incumbent: Incumbent, value: float, seen: int, steps: int, heads: Ints
) -> Outcome:
    """What was found. value: of the best tree of any shape; heads: filled, if there is a tree of the class."""
    score = bound = incumbent.score[0]
    for k in range(nodes.number):
        bound = max(bound, nodes.bounds[k])
    if bound <= score + trees.slack:
        bound = score
    if score == NO_TREES:
        return Outcome(NO_SHAPE, score, min(value, bound), seen, steps)
    heads[:] = incumbent.heads
    return Outcome(FOUND, score, min(value, bound), seen, steps)


@kernel
def shaped_tree(
    S: Floats, single_root: bool, shape: Shape, effort: Effort, room: ShapedRoom, heads: Ints
) -> Outcome:
    """The best tree of a class of one matrix, for other kernels. heads: filled, if there is one.

    O(n^2) if the best tree of any shape is in the class, O(n^3) if the class is that of projective trees; else the number of nodes is
    exponential at worst, and small for trained models.
    """
    code = spanning_tree.spanning_tree(S, single_root, room.trees, heads)
    if code != FOUND:
        return Outcome(code, NO_TREES, NO_TREES, 0, 0)
    value = 0.0
    for m in range(1, len(heads)):
        value += S[heads[m], m]
    if has_shape(heads, shape):
        return Outcome(FOUND, value, value, 0, 0)
    trees, rows, nodes, incumbent = begin(S, single_root, shape, effort, room)
    if shape.block_degree == 1:
        nodes, seen, steps = Open(nodes.alive, nodes.bounds, 0), 0, 0
    elif effort.nodes > 0:
        nodes, seen, steps = explore(
            trees, rows, nodes, incumbent, effort.descent, effort.nodes, effort.most_open
        )
    else:
        relaxed = relax(trees, rows, nodes.alive[0], incumbent, effort.descent)
        nodes.bounds[0], seen, steps = relaxed.bound, 0, relaxed.steps
    return conclude(trees, nodes, incumbent, value, seen, steps, heads)


@kernel
def shaped_trees(
    scores: Floats,
    lengths: NDArray[np.int64],
    single_root: bool,
    shape: Shape,
    effort: Effort,
    heads: Ints,
    outcomes: Floats,
) -> None:
    """The best tree of a class of every matrix of a batch. scores, lengths, heads: as of `spanning_trees`. outcomes: (b, 5), filled
    with what `Outcome` has.
    """
    room = make_shaped_room(lengths.max() if len(lengths) > 0 else 0)
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        S = scores[start : start + size * size].reshape(size, size)
        outcome = shaped_tree(S, single_root, shape, effort, room, heads[tree : tree + size])
        outcomes[b, 0], outcomes[b, 1], outcomes[b, 2] = outcome.code, outcome.score, outcome.bound
        outcomes[b, 3], outcomes[b, 4] = outcome.nodes, outcome.steps
        start += size * size
        tree += size
