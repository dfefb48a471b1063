"""From one tree to another by changes of single heads (Zhang et al. 2014, section 4.1, reachability)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.trees.checking import check_tree
from arcwise.trees.preorder import preorder


def path_between(first: ArrayLike, second: ArrayLike, *, single_root: bool = True) -> NDArray[np.int32]:
    """Trees that lead from the first to the second, both included; each has one more head of the second tree than that before it.

    As many steps as heads differ. Words change bottom-up, those furthest from the root of the first tree first. So the words that
    have not changed yet come to the root as before, over words like them, and those that have changed come to one of them, or to
    the root. O(n) time a step.

    single_root: both trees have one root, and so has every tree between. If it is the same word, all is as above. If not, no changes
    of one head lead there: all words are below the root, and it can take none of them as its head. So the first step changes two,
    that of the new root and that of the old one, which is hung from it; all others change one. Then there are as many steps as heads
    differ, or one fewer, if the old root stays where it was hung. Without it, trees with any number of roots, as in the paper.

    Result: (steps + 1, n+1).

    >>> path_between([-1, 0, 1, 2], [-1, 3, 0, 2], single_root=False).tolist()
    [[-1, 0, 1, 2], [-1, 0, 0, 2], [-1, 3, 0, 2]]
    >>> path_between([-1, 0, 1, 2], [-1, 3, 0, 2]).tolist()
    [[-1, 0, 1, 2], [-1, 2, 0, 2], [-1, 3, 0, 2]]
    """
    start, goal = check_tree(first, single_root), check_tree(second, single_root)
    if len(start) != len(goal):
        raise InputError(
            f"trees of {len(start) - 1} and {len(goal) - 1} words", expected="two of the same words"
        )
    path = [start]
    if single_root:
        old, new = int((start == 0).argmax()), int((goal == 0).argmax())
        if old != new:
            turned = start.copy()
            turned[new], turned[old] = 0, new
            path.append(turned)
    tree = path[-1].copy()
    for word in _bottom_up(tree):
        if tree[word] != goal[word]:
            tree[word] = goal[word]
            path.append(tree.copy())
    return np.array(path)


def _bottom_up(heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """The words of a tree, those furthest from the root first, of those equally far the smallest first. O(n log n)."""
    depth = np.zeros(len(heads), np.int64)
    for v in preorder(heads)[0][1:]:
        depth[v] = depth[heads[v]] + 1
    return np.argsort(-depth[1:], kind="stable") + 1
