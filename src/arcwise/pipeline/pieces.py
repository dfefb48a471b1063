"""Sentences too long for one search: cut into pieces, and one tree made of the pieces' trees.

Each piece is searched on its own. The root of the main piece is the root of the sentence, and the roots of the others hang on it.
The main piece is the first one, unless what is given of the tree needs the root in another. A given head in another piece is left
out of the search; its word hangs there afterwards, and a cycle that this closes is opened at a word whose head was not given.
So the result is a tree with all that is given, whenever there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arcwise.parts.arcs import ANY_HEAD, ANY_WORD
from arcwise.pipeline.keeping import cycles

Numbers = NDArray[np.int32]


def cut(words: Numbers, longest: int) -> Numbers:
    """Sentence boundaries, with more where a sentence has more than `longest` words.

    >>> cut(np.array([0, 3, 8], np.int32), 4)
    array([0, 3, 7, 8], dtype=int32)
    """
    if np.diff(words).max(initial=0) <= longest:
        return words
    cuts = [np.arange(begin, end, longest, dtype=np.int32) for begin, end in pairwise(words)]
    return np.concatenate([*cuts, words[-1:]])


def heads_within(words: Numbers, longest: int, given: Numbers) -> Numbers:
    """The given heads (or ANY_HEAD, ANY_WORD) by word as the searches of the pieces are to see them: numbered within the piece.

    >>> heads_within(np.array([0, 5], np.int32), 3, np.array([2, 4, -1, -2, 4], np.int32))
    array([ 2, -2, -1, -1,  1], dtype=int32)
    """
    within = given.copy()
    for begin, end in _long_sentences(words, longest):
        heads = within[begin:end]
        offsets, in_main = _offsets(heads, longest)
        elsewhere = (heads > 0) & ((heads - 1) // longest * longest != offsets)
        np.subtract(heads, offsets, out=heads, where=heads > 0)
        heads[elsewhere] = ANY_WORD  # so that it does not become the root of the sentence
        heads[(heads == ANY_WORD) & ~in_main] = ANY_HEAD
    return within


def join(words: Numbers, longest: int, given: Numbers, heads: Numbers, labels: Numbers, loose: int) -> None:
    """Make one tree of the trees of each long sentence's pieces, in place, with the given heads; O(n).

    heads, labels: by word, the trees of the pieces, the heads numbered within each. loose: the label for words that hang on the
    root's word for want of a better head.

    >>> heads, labels = np.array([0, 1, 1, 2, 0], np.int32), np.array([1, 2, 2, 2, 1], np.int32)
    >>> join(np.array([0, 5], np.int32), 3, np.full(5, ANY_HEAD, np.int32), heads, labels, 3)
    >>> heads, labels
    (array([0, 1, 1, 5, 1], dtype=int32), array([1, 2, 2, 2, 3], dtype=int32))
    """
    for begin, end in _long_sentences(words, longest):
        kept, tree = given[begin:end], heads[begin:end]
        offsets, in_main = _offsets(kept, longest)
        root = int(np.flatnonzero((tree == 0) & in_main)[0]) + 1
        loosened = (tree == 0) & ~in_main & (kept != 0)
        np.add(tree, offsets, out=tree, where=tree > 0)
        tree[loosened] = root
        np.copyto(tree, kept, where=kept > 0)
        for cycle in cycles([ANY_HEAD, *tree.tolist()]):
            word = next(word for word in cycle if kept[word - 1] < 0)
            tree[word - 1] = root
            loosened[word - 1] = True
        labels[begin:end][loosened] = loose


def _long_sentences(words: Numbers, longest: int) -> Iterator[tuple[int, int]]:
    for sentence in np.flatnonzero(np.diff(words) > longest):
        yield int(words[sentence]), int(words[sentence + 1])


def _offsets(given: Numbers, longest: int) -> tuple[Numbers, NDArray[np.bool_]]:
    """For every word of a sentence, how many come before its piece, and whether that is the main piece."""
    offsets = np.arange(len(given), dtype=np.int32) // longest * longest
    for admits_root in (given == 0, given == ANY_HEAD):
        if admits_root.any():
            return offsets, offsets == offsets[admits_root.argmax()]
    return offsets, offsets == 0
