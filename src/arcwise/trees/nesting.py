"""Well-nestedness and gap inheritance: how the yields of a tree lie inside each other's gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arcwise.kernels import kernel
from arcwise.trees.blocks import count_blocks
from arcwise.trees.checking import check_tree
from arcwise.trees.preorder import Ints, dominates, preorder


def is_well_nested(heads: ArrayLike) -> bool:
    """Whether no two disjoint yields interleave: no i < k < j < l with i, j in the one and k, l in the other.

    Time O(n) for every vertex with two or more children with gaps, beyond that of `block_degrees`: O(n^2)
    at most, and rarely more than linear. Memory O(n). Bodirsky et al. (2009); Corro et al. (2016), Section 3.

    heads: (n+1,).

    >>> is_well_nested([-1, 0, 1, 1, 2]), is_well_nested([-1, 0, 1, 1, 2, 3])  # {2, 4} and {3, 5} interleave
    (True, False)
    """
    tree = check_tree(heads)
    order, position, size = preorder(tree)
    return bool(well_nested(order, position, size, count_blocks(tree, position, size)))


def is_one_inherit(heads: ArrayLike) -> bool:
    """Whether the tree is 1-inherit: well-nested, of block degree 2 at most, and no gap inherited twice.

    A child inherits the gap of its head if its yield has words on both sides of that gap.

    Time O(n^2) at most: beyond `is_well_nested`, O(|yield|) for every vertex with a gap. Memory O(n).
    Pitler, Kannan and Marcus (2012), "Dynamic programming for higher order parsing of gap-minding trees".

    heads: (n+1,).

    >>> is_one_inherit([-1, 3, 1, 4, 0, 2, 1])  # the gap of 3 is 4; 1 inherits it
    True
    >>> is_one_inherit([-1, 3, 3, 4, 0, 2, 1])  # 1 and 2 inherit it
    False
    """
    tree = check_tree(heads)
    order, position, size = preorder(tree)
    blocks = count_blocks(tree, position, size)
    return bool(well_nested(order, position, size, blocks) and one_inherit(order, position, size, blocks))


@kernel
def well_nested(order: Ints, position: Ints, size: Ints, blocks: Ints) -> bool:
    """Whether no two yields interleave."""
    return interleaving(order, position, size, blocks)[0] == 0


@kernel
def interleaving(order: Ints, position: Ints, size: Ints, blocks: Ints) -> tuple[int, int]:
    """Two siblings whose yields interleave; zeros if there are none.

    Two disjoint yields interleave only if those of two siblings do, and only if both siblings have gaps.

    The words of such siblings are read from left to right. A yield is opened at its first word and closed at
    its last; the open ones form a stack, and a word of one that is not on top belongs to an interleaving.
    """
    vertices = len(order)
    owner = np.zeros(vertices, np.int32)
    unread = np.zeros(vertices, np.int32)
    stack = np.zeros(vertices, np.int32)
    for p in range(vertices):
        gapped = 0
        start, stop = position[p] + 1, position[p] + size[p]
        i = start
        while i < stop:
            gapped += blocks[order[i]] > 1
            i += size[order[i]]
        if gapped < 2:
            continue
        owner[:] = 0
        i = start
        while i < stop:
            child = order[i]
            if blocks[child] > 1:
                for j in range(i, i + size[child]):
                    owner[order[j]] = child
                unread[child] = size[child]
            i += size[child]
        depth = 0
        for v in range(1, vertices):
            child = owner[v]
            if child == 0:
                continue
            if unread[child] == size[child]:
                stack[depth] = child
                depth += 1
            elif stack[depth - 1] != child:
                return child, stack[depth - 1]
            unread[child] -= 1
            if unread[child] == 0:
                depth -= 1
    return 0, 0


@kernel
def one_inherit(order: Ints, position: Ints, size: Ints, blocks: Ints) -> bool:
    """Whether all block degrees are 2 at most and no vertex has two children that inherit its gap."""
    return blocks[1:].max() <= 2 and inherited_twice(order, position, size, blocks)[0] == 0


@kernel
def inherited_twice(order: Ints, position: Ints, size: Ints, blocks: Ints) -> tuple[int, int, int]:
    """A vertex and two of its children that inherit its gap; zeros if there is none. Block degrees are 2 at most."""
    for v in range(1, len(order)):
        if blocks[v] == 1:
            continue
        start, stop = position[v], position[v] + size[v]
        gap = order[start:stop].min()
        while dominates(position, size, v, gap):
            gap += 1
        other = 0
        i = start + 1
        while i < stop:
            child = order[i]
            words = order[i : i + size[child]]
            if words.min() < gap and words.max() > gap:
                if other > 0:
                    return v, other, child
                other = child
            i += size[child]
    return 0, 0, 0
