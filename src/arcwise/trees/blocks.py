"""Block degree: of how many intervals of words the yields of a tree consist."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arcwise.kernels import kernel
from arcwise.trees.checking import check_tree
from arcwise.trees.preorder import Ints, dominates, preorder


def block_degrees(heads: ArrayLike) -> Ints:
    """The block degree of every vertex: the number of maximal intervals in its yield.

    Time O(n + sum of the block degrees): linear for projective trees, never more than O(n^2). Memory O(n).
    Corro et al. (2016), Section 3.

    heads and result: (n+1,).

    >>> block_degrees([-1, 0, 1, 1, 2])  # the yield of 2 is {2, 4}
    array([1, 1, 2, 1, 1], dtype=int32)
    """
    tree = check_tree(heads)
    _, position, size = preorder(tree)
    return count_blocks(tree, position, size)


def block_degree(heads: ArrayLike) -> int:
    """The block degree of the tree: the largest of its vertices'. Time as `block_degrees`.

    >>> block_degree([-1, 0, 1, 1, 2])
    2
    """
    return int(block_degrees(heads).max())


def gap_degree(heads: ArrayLike) -> int:
    """The largest number of gaps in a yield, which is the block degree less one. Time as `block_degrees`.

    Kuhlmann and Nivre (2006), Section 4.

    >>> gap_degree([-1, 0, 1, 1, 2])
    1
    """
    return block_degree(heads) - 1


def is_projective(heads: ArrayLike) -> bool:
    """Whether every yield is one interval. Time as `block_degrees`: O(n) if the answer is yes.

    The root 0 stands before the words, so that no arc from it may reach over another root's arc either.

    >>> is_projective([-1, 2, 0, 2]), is_projective([-1, 3, 0, 2])
    (True, False)
    """
    return block_degree(heads) == 1


@kernel
def count_blocks(heads: Ints, position: Ints, size: Ints) -> Ints:
    """Block degrees from the preorder: a block of u ends at v - 1 if u dominates v - 1 but not v."""
    n = len(heads) - 1
    blocks = np.zeros(n + 1, np.int32)
    for v in range(1, n + 1):
        u = v - 1
        while not dominates(position, size, u, v):
            blocks[u] += 1
            u = heads[u]
    u = n
    while u != -1:
        blocks[u] += 1
        u = heads[u]
    return blocks
