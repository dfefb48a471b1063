"""Lagrangian relaxation of the shape of trees (Corro et al. 2016, section 5): an upper bound on all trees of a class.

A tree outside the class shows why (`arcwise.trees.violations`): some subtrees that no tree of the class has together. Two kinds of
rows say so, each a set of arcs A of which every tree of the class has r at least:

    borders   all arcs that cross the border of the yield of one of c subtrees, once for each border; r = c + 1 (theorems 1 and 2)
    cells     the arcs into the few words that bear witness, from outside the cells these must stay in; r = 1

Rows of cells have fewer arcs and give lower bounds. Every row that was ever violated has a multiplier u >= 0. With
theta(a) = w(a) + the u of the rows that a is in,

    L(u) = max over trees z of  theta z  -  sum of r u

is no less than the score of any tree of the class, and found by a spanning tree. u moves down the slopes of L, row by row of
those violated now or before: non-delayed relax-and-cut (Lucena 2005), in the direction of Camerini et al. (1975), by the step of
equation 10.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search import spanning_tree
from arcwise.search.status import FOUND
from arcwise.trees.preorder import dominates
from arcwise.trees.shapes import Shape
from arcwise.trees.violations import find_violations, mark_cells

Flags = NDArray[np.bool_]

_MOST_ROWS = 400
_TURN = 1.5  # of Camerini's direction
NO_TREES = -np.inf
BORDERS, CELLS = False, True


class Candidates(NamedTuple):
    """The arcs that trees are made of, by modifier: those into word m are first[m] .. first[m + 1] - 1."""

    head: Ints
    modifier: Ints
    score: Floats
    first: Ints


class Trees(NamedTuple):
    """What is searched. slack: a tree that is better than another by no more than this counts as no better. S, room,
    families: to work in; S is -inf but for candidates.
    """

    arcs: Candidates
    single_root: bool
    shape: Shape
    slack: float
    S: Floats
    room: spanning_tree.Room
    families: Ints


class Rows(NamedTuple):
    """The rows violated so far: row i has arcs[first[i] : first[i + 1]], of which trees must have least[i]. key: to know it again. u:
    its multiplier; best: that of the least bound; slope: of the bound along it; direction: in which it moves. number: of rows. kind:
    BORDERS or CELLS.
    """

    first: NDArray[np.int64]
    arcs: Ints
    least: Ints
    key: NDArray[np.int64]
    u: Floats
    best: Floats
    slope: Floats
    direction: Floats
    number: NDArray[np.int64]
    kind: bool


class Incumbent(NamedTuple):
    """The best tree of the class so far: score[0], -inf if there is none."""

    score: Floats
    heads: Ints


class Relaxed(NamedTuple):
    """bound: the least so far; theta, constant: the scores and the constant that gave it; heads: its tree. steps: made."""

    bound: float
    constant: float
    theta: Floats
    heads: Ints
    steps: int


class Descent(NamedTuple):
    """steps: at most; share: alpha of equation 10 at first; patience: so many steps without a lower bound halve it."""

    steps: int
    share: float
    patience: int


@kernel
def make_candidates(S: Floats) -> Candidates:
    """The arcs of a matrix that are not forbidden. O(n^2)."""
    size = len(S)
    first = np.zeros(size + 1, np.int32)
    count = 0
    for m in range(1, size):
        first[m] = count
        for h in range(size):
            count += h != m and S[h, m] > -np.inf
    first[size] = count
    head, modifier, score = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
    a = 0
    for m in range(1, size):
        for h in range(size):
            if h != m and S[h, m] > -np.inf:
                head[a], modifier[a], score[a] = h, m, S[h, m]
                a += 1
    return Candidates(head, modifier, score, first)


@kernel
def make_rows(arcs: Candidates, kind: bool) -> Rows:
    """No rows yet, but room for some hundred."""
    room = max(1 << 14, 24 * len(arcs.head))
    numbers = np.zeros((4, _MOST_ROWS))
    return Rows(
        np.zeros(_MOST_ROWS + 1, np.int64), np.empty(room, np.int32), np.empty(_MOST_ROWS, np.int32),
        np.empty(_MOST_ROWS, np.int64), numbers[0], numbers[1], numbers[2], numbers[3], np.zeros(1, np.int64), kind,
    )  # fmt: skip


@kernel
def best_tree(trees: Trees, scores: Floats, alive: Flags, heads: Ints) -> float:
    """The best tree of the arcs alive, of any shape: its value, -inf if there is none. O(n^2)."""
    arcs, S = trees.arcs, trees.S
    for a in range(len(scores)):
        S[arcs.head[a], arcs.modifier[a]] = scores[a] if alive[a] else -np.inf
    if spanning_tree.spanning_tree(S, trees.single_root, trees.room, heads) != FOUND:
        return NO_TREES
    value = 0.0
    for m in range(1, len(heads)):
        value += S[heads[m], m]
    return value


@kernel
def arc_into(arcs: Candidates, h: int, m: int) -> int:
    """The number of the arc from h to m, which is there."""
    a = int(arcs.first[m])
    while arcs.head[a] != h:
        a += 1
    return a


@kernel
def offer(arcs: Candidates, heads: Ints, incumbent: Incumbent) -> None:
    """A tree of the class is the new incumbent, if it is better."""
    score = 0.0
    for m in range(1, len(heads)):
        score += arcs.score[arc_into(arcs, heads[m], m)]
    if score > incumbent.score[0]:
        incumbent.score[0] = score
        incumbent.heads[:] = heads


@kernel
def cell_arcs(trees: Trees, heads: Ints, family: Ints, position: Ints, size: Ints, found: Ints) -> int:
    """Fill in the arcs of a row of cells, and return how many they are."""
    arcs, count = trees.arcs, 0
    cells, stay = np.empty(len(heads), np.int32), np.empty(len(heads), np.int32)
    mark_cells(heads, trees.shape, family, position, size, cells, stay)
    for m in range(1, len(heads)):
        if stay[m] > 0:
            for a in range(arcs.first[m], arcs.first[m + 1]):
                if cells[arcs.head[a]] != stay[m]:
                    found[count] = a
                    count += 1
    return count


@kernel
def _border_arcs(arcs: Candidates, family: Ints, position: Ints, size: Ints, found: Ints) -> int:
    """The same for a row of borders."""
    count = 0
    for k in range(3):
        v = family[k]
        if v > 0:
            for a in range(len(arcs.head)):
                if dominates(position, size, v, arcs.head[a]) != dominates(
                    position, size, v, arcs.modifier[a]
                ):
                    found[count] = a
                    count += 1
    return count


@kernel
def forget_rows(rows: Rows) -> None:
    """Make room: rows of multiplier 0 go."""
    kept = 0
    for r in range(rows.number[0]):
        if rows.u[r] > 0.0 or rows.best[r] > 0.0:
            begin, length = rows.first[kept], rows.first[r + 1] - rows.first[r]
            for i in range(length):
                rows.arcs[begin + i] = rows.arcs[rows.first[r] + i]
            rows.least[kept], rows.key[kept] = rows.least[r], rows.key[r]
            rows.u[kept], rows.best[kept], rows.direction[kept] = rows.u[r], rows.best[r], rows.direction[r]
            kept += 1
            rows.first[kept] = begin + length
    rows.number[0] = kept


@kernel
def add_rows(trees: Trees, rows: Rows, heads: Ints, number: int, position: Ints, size: Ints) -> None:
    """The rows of the families of a tree, unless they are there. If there is no room even without those of multiplier 0, they are
    left out.
    """
    families, room = trees.families, (1 if rows.kind == CELLS else 3) * len(trees.arcs.head)
    for f in range(number):
        if rows.number[0] == _MOST_ROWS or rows.first[rows.number[0]] + room > len(rows.arcs):
            forget_rows(rows)
            if rows.number[0] == _MOST_ROWS or rows.first[rows.number[0]] + room > len(rows.arcs):
                return
        r = rows.number[0]
        found = rows.arcs[rows.first[r] :]
        if rows.kind == CELLS:
            count = cell_arcs(trees, heads, families[f], position, size, found)
        else:
            count = _border_arcs(trees.arcs, families[f], position, size, found)
        key = np.int64(count)
        for i in range(count):
            mixed = np.int64(found[i] + 1) * np.int64(0x1E3779B97F4A7C15)
            key += (mixed ^ (mixed >> 29)) * np.int64(0x3F58476D1CE4E5B9)
        known = False
        for i in range(r):
            known |= rows.key[i] == key
        if not known:
            rows.key[r], rows.u[r], rows.best[r], rows.direction[r] = key, 0.0, 0.0, 0.0
            rows.least[r] = 1 if rows.kind == CELLS else 1 + (families[f] > 0).sum()
            rows.first[r + 1] = rows.first[r] + count
            rows.number[0] += 1


@kernel
def raise_scores(arcs: Candidates, rows: Rows, theta: Floats) -> float:
    """Fill in theta; returns the constant."""
    theta[:] = arcs.score
    constant = 0.0
    for r in range(rows.number[0]):
        u = rows.u[r]
        if u > 0.0:
            constant -= u * rows.least[r]
            for i in range(rows.first[r], rows.first[r + 1]):
                theta[rows.arcs[i]] += u
    return constant


@kernel
def find_slopes(arcs: Candidates, rows: Rows, heads: Ints) -> None:
    """By row, the arcs that a tree has more than it must; 0 where the multiplier can fall no further (Beasley 1993)."""
    for r in range(rows.number[0]):
        slope = -rows.least[r]
        for i in range(rows.first[r], rows.first[r + 1]):
            a = rows.arcs[i]
            slope += heads[arcs.modifier[a]] == arcs.head[a]
        rows.slope[r] = 0.0 if slope > 0 and rows.u[r] == 0.0 else slope


@kernel
def _step(rows: Rows, length: float) -> None:
    """Turn the direction, and move the multipliers against it by a step that would take `length` off the bound."""
    along = before = 0.0
    for r in range(rows.number[0]):
        along += rows.direction[r] * rows.slope[r]
        before += rows.direction[r] ** 2
    turn = -_TURN * along / before if along < 0.0 else 0.0
    norm = 0.0
    for r in range(rows.number[0]):
        rows.direction[r] = rows.slope[r] + turn * rows.direction[r]
        norm += rows.direction[r] ** 2
    for r in range(rows.number[0]):
        if norm > 0.0:
            rows.u[r] = max(0.0, rows.u[r] - length / norm * rows.direction[r])


@kernel
def relax(trees: Trees, rows: Rows, alive: Flags, incumbent: Incumbent, how: Descent) -> Relaxed:
    """Lower the bound on the trees of the class among the arcs alive, until it meets the incumbent, or `how.steps` were made.

    Trees of the class that are met on the way become the incumbent if they are better. The multipliers begin where rows have them.
    O(n^2 + arcs * rows) a step. The bound is -inf if there are no trees.
    """
    arcs, families, count = trees.arcs, trees.families, rows.number
    theta, kept = np.empty(len(arcs.head)), np.empty(len(arcs.head))
    heads, best = np.empty(len(trees.S), np.int32), np.empty(len(trees.S), np.int32)
    least, constant, share, since, steps = np.inf, 0.0, how.share, 0, 0
    rows.direction[: count[0]] = 0.0
    far = 1.0 + arcs.score.max() - arcs.score.min()  # as good as any guess where no incumbent is known
    while steps < how.steps and least > incumbent.score[0] + trees.slack:
        steps += 1
        shift = raise_scores(arcs, rows, theta)
        bound = best_tree(trees, theta, alive, heads) + shift
        if bound == NO_TREES:
            return Relaxed(bound, shift, theta, heads, steps)
        since += 1
        if bound < least:
            least, constant, since = bound, shift, 0
            kept[:], best[:], rows.best[: count[0]] = theta, heads, rows.u[: count[0]]
        elif since >= how.patience:
            share, since = 0.5 * share, 0
        number, _, position, size = find_violations(heads, trees.shape, families)
        if number == 0:
            offer(arcs, heads, incumbent)
        add_rows(trees, rows, heads, number, position, size)
        find_slopes(arcs, rows, heads)
        _step(rows, share * (bound - max(incumbent.score[0], least - far)))
    rows.u[: count[0]] = rows.best[: count[0]]
    return Relaxed(least, constant, kept, best, steps)
