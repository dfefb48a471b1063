"""Trees outside a class are changed, one head at a time, until they belong to it: good incumbents for branch and bound.

The heads to change are those that a row of cells names (`arcwise.search.lagrangian.cell_arcs`), for every tree of the class has one
of its arcs. How far a tree is from the class is counted in blocks: those that its yields have too many.
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.search.lagrangian import NO_TREES, Flags, Incumbent, Trees, arc_into, cell_arcs, offer
from arcwise.trees.blocks import count_blocks
from arcwise.trees.preorder import preorder
from arcwise.trees.shapes import Shape, has_shape
from arcwise.trees.violations import find_violations

_NO_NEARER = 1e200  # the price of a change that brings a tree no nearer to the class


@kernel
def repair(trees: Trees, alive: Flags, heads: Ints, most: float, looks: Ints) -> float:
    """Change heads until a tree belongs to the class, and say how much of its score that loses: inf if it fails, or loses `most`.

    heads: the tree, changed. looks[0]: trees that may still be looked at, O(n) each if they have few blocks. Of the arcs alive of a
    violated row the one comes next that loses least for each block that it takes away. If there is none, another one, but such a
    change is made only once to a word: so it ends. Roots stay roots.
    """
    arcs, shape, lost = trees.arcs, trees.shape, 0.0
    choices, held = np.empty(len(arcs.head), np.int32), np.zeros(len(heads), np.bool_)
    while True:
        number, _, position, size = find_violations(heads, shape, trees.families)
        if number == 0:
            return lost
        far, best, price, least = _distance(heads, shape), -1, np.inf, np.inf
        for f in range(number):
            if price < _NO_NEARER:
                break
            count = cell_arcs(trees, heads, trees.families[f], position, size, choices)
            for a in choices[:count]:
                h, m = arcs.head[a], arcs.modifier[a]
                old = heads[m]
                loss = arcs.score[arc_into(arcs, old, m)] - arcs.score[a]
                if not alive[a] or h == 0 or old == 0 or lost + loss >= most or _is_above(heads, m, h):
                    continue
                heads[m] = h
                nearer = far - _distance(heads, shape)
                heads[m] = old
                looks[0] -= 1
                if nearer > 0:
                    its_price = loss / nearer if loss > 0.0 else loss * nearer
                else:
                    its_price = np.inf if held[m] else _NO_NEARER * (1 - nearer)
                if its_price < price or (its_price == price < np.inf and loss < least):
                    best, price, least = a, its_price, loss
        if best < 0 or looks[0] <= 0:
            return np.inf
        m = arcs.modifier[best]
        heads[m] = arcs.head[best]
        held[m] |= price >= _NO_NEARER
        lost += least


@kernel
def climb(trees: Trees, alive: Flags, incumbent: Incumbent, looks: Ints) -> None:
    """Better the incumbent, as long as that helps: a word gets a better head, and the tree is repaired for less than that gains.

    alive, looks: as of `repair`.
    """
    arcs, heads, trial, free = trees.arcs, incumbent.heads.copy(), incumbent.heads.copy(), alive.copy()
    again = incumbent.score[0] > NO_TREES
    while again and looks[0] > 0:
        again = False
        for m in range(1, len(heads)):
            for a in range(arcs.first[m], arcs.first[m + 1]):
                old, h = heads[m], arcs.head[a]
                gain = arcs.score[a] - arcs.score[arc_into(arcs, old, m)]
                other_root = trees.single_root and (h == 0) != (old == 0)
                if not alive[a] or gain <= 0.0 or other_root or looks[0] <= 0 or _is_above(heads, m, h):
                    continue
                trial[:] = heads
                trial[m] = h
                looks[0] -= 1
                free[arcs.first[m] : arcs.first[m + 1]] = False
                if repair(trees, free, trial, gain, looks) < gain:
                    heads[:] = trial
                    again = True
                free[arcs.first[m] : arcs.first[m + 1]] = alive[arcs.first[m] : arcs.first[m + 1]]
    if incumbent.score[0] > NO_TREES:
        offer(arcs, heads, incumbent)


@kernel
def _distance(heads: Ints, shape: Shape) -> int:
    """0 if a tree belongs to the class, else 1 and the number of blocks that its yields have too many."""
    _, position, size = preorder(heads)
    blocks, most, count = count_blocks(heads, position, size), max(1, shape.block_degree), 0
    for v in range(1, len(heads)):
        count += max(0, blocks[v] - most)
    return 0 if (count == 0 or shape.block_degree == 0) and has_shape(heads, shape) else count + 1


@kernel
def _is_above(heads: Ints, top: int, word: int) -> bool:
    while word > 0 and word != top:
        word = int(heads[word])
    return word == top
