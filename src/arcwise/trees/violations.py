"""What keeps a tree out of a class: subtrees that no tree of the class has together (Corro et al. 2016, section 4).

| class          | family of subtrees, by their tops                        | found by                                     |
|----------------|----------------------------------------------------------|----------------------------------------------|
| block degree k | one, of more than k blocks                               | counting blocks (Moehl 2006)                 |
| well-nested    | two that interleave                                      | a stack of open yields (after Havelka 2007)  |
| 1-inherit      | a word's with a gap, and those of two children across it | looking at the children of words with a gap  |
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.trees.blocks import count_blocks
from arcwise.trees.nesting import inherited_twice, interleaving
from arcwise.trees.preorder import Ints, dominates, preorder
from arcwise.trees.shapes import Shape

# The cells of `mark_cells`: the witnesses of up to two subtrees, a word that is above both, and what is above them all.
_ONE, _OTHER, _BETWEEN, _ABOVE = 1, 2, 3, 4


@kernel
def find_violations(heads: Ints, shape: Shape, families: Ints) -> tuple[int, Ints, Ints, Ints]:
    """Families that no tree of the class has; how many, and the preorder of the tree.

    families: (n+1, 3), filled with tops of subtrees, 0 where a family has fewer than three. None is found if and only if the tree
    belongs to the class. Not all are given, for they overlap: of too many blocks, those within which there are no others; if there
    are none, one pair that interleaves; if there is none, one that inherits twice. O(n^2) at most.

    >>> families = np.zeros((6, 3), np.int32)
    >>> find_violations(np.array([-1, 0, 1, 1, 2, 3], np.int32), Shape(0, True), families)[0], families[0].tolist()
    (1, [2, 3, 0])
    """
    order, position, size = preorder(heads)
    blocks = count_blocks(heads, position, size)
    count, most = 0, shape.block_degree
    if blocks.max() > 1:
        for i in range(len(order) - 1, 0 if most > 0 else len(order), -1):
            v = order[i]
            if blocks[v] <= most:
                continue
            innermost = True
            for j in range(count):
                innermost &= not dominates(position, size, v, families[j, 0])
            if innermost:
                families[count] = 0
                families[count, 0] = v
                count += 1
        if count == 0 and shape.well_nested:
            one, other = interleaving(order, position, size, blocks)
            families[0, 0], families[0, 1], families[0, 2] = one, other, 0
            count = one > 0
            if count == 0 and shape.one_inherit:
                v, one, other = inherited_twice(order, position, size, blocks)
                families[0, 0], families[0, 1], families[0, 2] = v, one, other
                count = v > 0
    return int(count), order, position, size


@kernel
def _alternate(side: Ints, cost: Ints, words: Ints, first: int) -> int:
    """Words from left to right, alternately of side `first` and of the other one (1 or 2), of the least cost in all; -1 if there are
    none, else the cost. words: filled, as many as it holds. O(n len(words)^2).
    """
    number = len(words)
    least, chains = np.full(number, -1), np.zeros((number, number), np.int32)
    for word in range(1, len(side)):
        for k in range(number - 1, -1, -1):
            if side[word] != (first if k % 2 == 0 else 3 - first) or (k > 0 and least[k - 1] < 0):
                continue
            total = cost[word] + (least[k - 1] if k > 0 else 0)
            if least[k] < 0 or total < least[k]:
                least[k] = total
                for j in range(k):
                    chains[k, j] = chains[k - 1, j]
                chains[k, k] = word
    for k in range(number):
        words[k] = chains[number - 1, k]
    return int(least[number - 1])


@kernel
def _find_paths(heads: Ints, shape: Shape, family: Ints, position: Ints, size: Ints, paths: Ints) -> int:
    """The paths of `mark_cells`: rows of a word, the vertex that its path leads up to, and the cell of the path. Returns how many."""
    n = len(heads) - 1
    depth, side = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    top, one, other = family[0], family[1], family[2]
    a, b = (top, one) if other == 0 else (one, other)  # two subtrees, or one and all words outside it
    count = gap = 0
    first, last = n, 1
    for v in range(1, n + 1):
        u = v
        while u > 0:
            depth[v] += 1
            u = heads[u]
        side[v] = (
            1 if dominates(position, size, a, v) else 2 if b == 0 or dominates(position, size, b, v) else 0
        )
        if dominates(position, size, top, v):
            first, last = min(first, v), max(last, v)
    if other > 0:
        for v in range(first, last):
            if not dominates(position, size, top, v) and (gap == 0 or depth[v] < depth[gap]):
                gap = v
        paths[0, 0], paths[0, 1], paths[0, 2] = gap, 0, _ABOVE
        for k in range(4):
            nearest, of_one = 0, k < 2
            for v in range(1, n + 1):
                if (
                    side[v] == (1 if of_one else 2)
                    and (v < gap) == (k % 2 == 0)
                    and (nearest == 0 or depth[v] < depth[nearest])
                ):
                    nearest = v
            paths[k + 1, 0], paths[k + 1, 1], paths[k + 1, 2] = (
                nearest,
                (one if of_one else other),
                (_ONE if of_one else _OTHER),
            )
        return 5
    words, others = np.empty(4 if one > 0 else 2 * shape.block_degree + 1, np.int32), np.empty(4, np.int32)
    cost, start = _alternate(side, depth, words, 1), 0
    if one > 0:
        less = _alternate(side, depth, others, 2)
        if cost < 0 or 0 <= less < cost:
            words, start = others, 1
    for i in range(len(words)):
        inside = (i + start) % 2 == 0
        paths[i, 0] = words[i]
        paths[i, 1] = top if inside else one
        paths[i, 2] = _ONE if inside else _OTHER if one > 0 else _ABOVE
    count = len(words)
    if one > 0:
        for k in range(2):
            paths[4 + k, 0], paths[4 + k, 1], paths[4 + k, 2] = heads[top if k == 0 else one], 0, _ABOVE
        count = 6
    return count


@kernel
def mark_cells(
    heads: Ints, shape: Shape, family: Ints, position: Ints, size: Ints, cells: Ints, stay: Ints
) -> None:
    """Why a tree is not in the class, in few words: as long as none of them leaves its cell, it is not.

    cells, stay: (n+1,), filled: the cell of each vertex, and the cell that the head of each word must be in for it, 0 for none.
    A few words of a subtree bear witness: one in each of k + 1 blocks, two that interleave with two of another, or two across a gap.
    The paths from them up to the top are one cell. The words between the blocks, the tops of subtrees that interleave, and a word in
    the gap must not get into the subtree: the paths from them up to the root are another. If all words on these paths have heads in
    their cells, whatever the heads of all others, then the tops are above the witnesses and not above those others. So every
    tree of the class has an arc into one of these words from outside its cell. O(n depth + n k^2).
    """
    paths = np.empty((6 + 2 * shape.block_degree, 3), np.int32)
    count = _find_paths(heads, shape, family, position, size, paths)
    for v in range(len(heads)):
        cells[v] = stay[v] = 0
    cells[0] = _ABOVE
    for i in range(count):
        word, top, cell = paths[i, 0], paths[i, 1], paths[i, 2]
        cells[top] = cell
        while word != top:
            cells[word] = stay[word] = cell
            word = heads[word]
    if family[2] > 0:  # both children stay with the word that has the gap
        cells[family[0]] = stay[family[1]] = stay[family[2]] = _BETWEEN
    elif family[1] > 0:
        stay[family[0]] = stay[family[1]] = _ABOVE
