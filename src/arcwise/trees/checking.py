"""Whether heads are a tree, and if not, why not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.trees.preorder import preorder

_WORDS_NAMED = 12


def check_tree(heads: ArrayLike, single_root: bool = False) -> NDArray[np.int32]:
    """The heads as an int32 array, if they are a tree: from head to head every word comes to the root 0.

    O(n) time and memory. With `single_root`, exactly one word may have head 0.

    heads: (n+1,) with `heads[0] == -1`.
    Raises InputError that says what is wrong: the form of the array, a head out of range, a word that is its
    own head, a cycle (and the words on it), no root, several roots.

    >>> check_tree([-1, 2, 0, 2])
    array([-1,  2,  0,  2], dtype=int32)
    >>> check_tree([-1, 2, 3, 1, 0])
    Traceback (most recent call last):
    arcwise.errors.InputError: the heads form a cycle: 1 -> 2 -> 3 -> 1, expected a tree
    """
    array = _as_integers(heads)
    n = len(array) - 1
    if n == 0:
        raise InputError("no words", expected="a tree of at least one word")
    outside = (array[1:] < 0) | (array[1:] > n)
    if outside.any():
        m = int(outside.argmax()) + 1
        raise InputError(f"the head of word {m} is {array[m]}", expected=f"a number from 0 to {n}")
    tree = np.ascontiguousarray(array, dtype=np.int32)
    own = tree == np.arange(n + 1)
    if own.any():
        raise InputError(f"word {int(own.argmax())} is its own head", expected="a tree")
    found = np.flatnonzero(tree == 0)
    if len(found) == 0:
        raise InputError("no word has head 0", expected="exactly one root" if single_root else "a root")
    _, position, size = preorder(tree)
    if size[0] <= n:
        raise InputError(f"the heads form a cycle: {_name_cycle(tree, position)}", expected="a tree")
    if single_root and len(found) > 1:
        raise InputError(f"words {_join(found.tolist(), ', ')} are roots", expected="exactly one root")
    return tree


def is_tree(heads: ArrayLike, single_root: bool = False) -> bool:
    """Whether heads are a tree (with `single_root`: of one root). O(n) time and memory; never raises.

    >>> is_tree([-1, 2, 0]), is_tree([-1, 0, 0], single_root=True), is_tree([-1, 2, 1])
    (True, False, False)
    """
    try:
        check_tree(heads, single_root)
    except InputError:
        return False
    return True


def roots(heads: ArrayLike) -> NDArray[np.int64]:
    """The words whose head is the root 0, in increasing order. O(n).

    >>> roots([-1, 0, 1, 0])
    array([1, 3])
    """
    return np.flatnonzero(check_tree(heads) == 0)


def _as_integers(heads: ArrayLike) -> NDArray[np.integer]:
    try:
        array = np.asarray(heads)
    except ValueError:  # rows of different lengths
        raise InputError("heads that are no array", expected="one row of integers") from None
    if array.size == 0:
        raise InputError("empty heads", expected="-1 for the root, then the head of every word")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"heads of shape {array.shape} and type {array.dtype}", expected="one row of integers"
        )
    if array[0] != -1:
        raise InputError(f"heads[0] is {array[0]}", expected="-1, for the root has no head")
    return array


def _name_cycle(tree: NDArray[np.int32], position: NDArray[np.int32]) -> str:
    """The words of one cycle, the smallest first, from each to its head."""
    word = int((position == -1).argmax())
    seen: set[int] = set()
    while word not in seen:
        seen.add(word)
        word = int(tree[word])
    cycle = [word]
    while (word := int(tree[word])) != cycle[0]:
        cycle.append(word)
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[: start + 1]
    return _join(cycle, " -> ")


def _join(words: list[int], separator: str) -> str:
    if len(words) > _WORDS_NAMED:
        return separator.join([*map(str, words[: _WORDS_NAMED - 1]), "...", str(words[-1])])
    return separator.join(map(str, words))
