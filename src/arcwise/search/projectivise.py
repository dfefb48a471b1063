"""The projective tree that is nearest to a given one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.search.decode import decode
from arcwise.search.result import Parse
from arcwise.trees.blocks import is_projective
from arcwise.trees.checking import check_tree, is_tree


def projectivise(heads: ArrayLike, single_root: bool = True) -> NDArray[np.int32]:
    """The projective tree that keeps the most arcs of the given one.

    Exact. Where it costs no arc, the others are lifted, as little as possible (Nivre and Nilsson 2005): of
    the trees that keep the most arcs, the sum of n + 1 - d is largest, over all words whose new head is an
    ancestor of the old one, d steps above it.

    Time O(n^3) and memory O(n^2), those of Eisner's algorithm on integer scores.

    heads and result: (n+1,). With `single_root`, the result has one root even if the given tree has several.

    >>> projectivise([-1, 0, 1, 1, 2])  # 3 stands in the way of 2 -> 4, which is lifted to 1 -> 4
    array([-1,  0,  1,  1,  1], dtype=int32)
    """
    tree = check_tree(heads)
    if is_projective(tree) and is_tree(tree, single_root):
        return tree.copy()
    n = len(tree) - 1
    # A kept arc outweighs all other words together. The sums stay below 2^53 and are exact.
    scores = np.zeros((n + 1, n + 1))
    for word in range(1, n + 1):
        steps = 0
        head = tree[word]
        while head != -1:
            scores[head, word] = n + 1 - steps if steps else (n + 1) ** 2
            head = tree[head]
            steps += 1
    parse: Parse = decode(scores, projective=True, single_root=single_root)
    return parse.heads
