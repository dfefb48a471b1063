"""The vertices of a tree in preorder, in which every yield is one slice: all kernels here use it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel

Ints = NDArray[np.int32]


@kernel
def preorder(heads: Ints) -> tuple[Ints, Ints, Ints]:
    """Order, position and size: the yield of v is `order[position[v] : position[v] + size[v]]`, v first.

    O(n) time and memory. The heads of all words must lie in 0..n, but need not be a tree: they are one if
    `size[0] == n + 1`, and the words that do not reach the root have position -1.

    heads, order, position, size: (n+1,).

    >>> preorder(np.array([-1, 2, 0, 2], np.int32))[0].tolist()
    [0, 2, 1, 3]
    """
    vertices = len(heads)
    first_child = np.full(vertices, -1, np.int32)
    next_sibling = np.full(vertices, -1, np.int32)
    for v in range(vertices - 1, 0, -1):
        next_sibling[v] = first_child[heads[v]]
        first_child[heads[v]] = v

    order = np.zeros(vertices, np.int32)
    position = np.full(vertices, -1, np.int32)
    size = np.zeros(vertices, np.int32)
    reached = 0
    v = 0
    while v != -1:
        order[reached] = v
        position[v] = reached
        reached += 1
        following = first_child[v]
        while following == -1 and v != 0:
            size[v] = reached - position[v]
            following = next_sibling[v]
            v = heads[v]
        v = following
    size[0] = reached
    return order, position, size


@inline_kernel
def dominates(position: Ints, size: Ints, h: int, v: int) -> bool:
    """Whether v lies in the yield of h (every vertex dominates itself). O(1)."""
    return bool(position[h] <= position[v] < position[h] + size[h])
