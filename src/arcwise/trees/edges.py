"""Edge degree: how much of the sentence an arc jumps over that does not belong to its head."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.kernels import kernel
from arcwise.trees.checking import check_tree
from arcwise.trees.preorder import Ints, dominates, preorder


def edge_degrees(heads: ArrayLike) -> Ints:
    """The degree of the arc into every word: how many fragments lie under it that its head does not dominate.

    The fragments are the connected components that the tree induces on the words strictly between head and
    modifier; the head dominates one if it dominates its root.

    Time O(sum of the lengths of the arcs), never more than O(n^2). Memory O(n).
    Nivre (2006), "Constraints on non-projective dependency parsing"; Kuhlmann and Nivre (2006), Section 4.

    heads and result: (n+1,), 0 at the root. An arc from the root has degree 0, for the root dominates all.

    >>> edge_degrees([-1, 0, 1, 1, 2])  # the arc 2 -> 4 jumps over 3, which belongs to 1
    array([0, 0, 0, 0, 1], dtype=int32)
    """
    tree = check_tree(heads)
    _, position, size = preorder(tree)
    return count_edge_degrees(tree, position, size)


def edge_degree(heads: ArrayLike) -> int:
    """The edge degree of the tree: the largest of its arcs'; 0 if and only if it is projective.

    Time as `edge_degrees`.

    >>> edge_degree([-1, 0, 1, 1, 2])
    1
    """
    return int(edge_degrees(heads).max())


def nonprojective_arcs(heads: ArrayLike) -> NDArray[np.bool_]:
    """Whether the arc into every word jumps over a word that is no descendant of its head.

    That is, whether its edge degree is above 0. Time as `edge_degrees`.

    heads and result: (n+1,), False at the root.

    >>> nonprojective_arcs([-1, 0, 1, 1, 2])
    array([False, False, False, False,  True])
    """
    return edge_degrees(heads) > 0


@kernel
def count_edge_degrees(heads: Ints, position: Ints, size: Ints) -> Ints:
    """Edge degrees from the preorder: the roots of the fragments are the words whose head lies outside."""
    n = len(heads) - 1
    degrees = np.zeros(n + 1, np.int32)
    for m in range(1, n + 1):
        h = heads[m]
        if h == 0:
            continue
        left, right = min(h, m), max(h, m)
        for v in range(left + 1, right):
            # A word whose head is h or m itself is dominated by h.
            if (heads[v] < left or heads[v] > right) and not dominates(position, size, h, v):
                degrees[m] += 1
    return degrees
