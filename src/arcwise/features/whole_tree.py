"""What a tree scores beyond tables of parts, for hill climbing: fast for trees that differ little from one that was scored before.

The score is a sum over words and three groups of features (`arcwise.features.far_features`). What a group looks at around a word is
one key of 64 bits; a score that was computed for a word and a key is kept, so features are hashed only for what is new.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.features.attributes import Vocabulary
from arcwise.features.far_features import (
    CHAIN,
    FAMILY,
    GROUP_NAMES,
    GROUPS,
    Shape,
    chain_features,
    family_features,
    most_features,
    outside,
    span_features,
    tree_wide_features,
)
from arcwise.features.tokens import Tokens
from arcwise.features.word_classes import WordClasses, classify, match_pairs, word_classes
from arcwise.kernels import inline_kernel, kernel, merged_kernel
from arcwise.parts.graph import Ints
from arcwise.parts.whole import scores_trees

Keys = NDArray[np.uint64]

# Odd numbers with well-mixed bits.
_P1, _P2, _P3 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_P4, _P5, _SHIFT = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F), np.uint64(32)
WHOLE_TREE = " ".join(GROUP_NAMES)
_MEMO = 1 << 14  # places for scores of a sentence, of which half are used


class Far(NamedTuple):
    """Which features of far parts and whole trees there are: 2^bits of them, of the groups whose bits are set in `groups`; and the
    classes of words that they ask for.
    """

    classes: WordClasses
    groups: int
    bits: int


_NOTHING = np.empty(0, np.int32)
NO_FAR = Far(WordClasses(_NOTHING, _NOTHING, _NOTHING, _NOTHING), 0, 0)


def group_bits(names: str) -> int:
    """The groups that are named, as bits; ValueError for a name that is none.

    >>> group_bits("chain span")
    5
    """
    if {*names.split()} - {*GROUP_NAMES} or not names.split():
        raise ValueError(f"whole_tree {names!r}, expected some of {', '.join(GROUP_NAMES)}")
    return sum(1 << GROUP_NAMES.index(name) for name in {*names.split()})


def far_of(vocabulary: Vocabulary, names: str, bits: int) -> Far:
    """The features of the groups that are named, for a model."""
    return Far(word_classes(vocabulary), group_bits(names), bits)


class WholeTree(NamedTuple):
    """A sentence whose trees are scored as wholes, by weights of 2^bits features; groups: as of `Far`.

    kinds, partner: of `arcwise.features.word_classes`. shape: of the tree scored last. keys, scores: (GROUPS, words), of the tree
    that was kept. known, worth: keys and scores of all that was computed; used[0] counts them.
    """

    tokens: Tokens
    kinds: NDArray[np.int8]
    partner: Ints
    weights: NDArray[Any]
    groups: int
    bits: int
    indices: Indices
    shape: Shape
    keys: Keys
    scores: NDArray[np.float64]
    known: Keys
    worth: NDArray[np.float64]
    used: NDArray[np.int64]


@kernel
def make_shape(size: int) -> Shape:
    """Room for the shape of a tree of so many words, the root counted."""
    return Shape(
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty((size, (size + 63) // 64), np.uint64),
    )  # fmt: skip


@kernel
def make_whole_tree(numbers: Ints, tokens: Tokens, far: Far, weights: NDArray[Any]) -> WholeTree:
    """For the trees of one sentence, whose words were hashed to `tokens`."""
    size = len(numbers)
    whole = WholeTree(
        tokens, np.empty(size, np.int8), np.empty(size, np.int32), weights, far.groups, far.bits,
        np.empty(most_features(size), np.uint32), make_shape(size), np.zeros((GROUPS, size), np.uint64),
        np.zeros((GROUPS, size)), np.zeros(_MEMO, np.uint64), np.empty(_MEMO), np.zeros(1, np.int64),
    )  # fmt: skip
    classify(numbers, far.classes, whole.kinds)
    match_pairs(numbers, far.classes, whole.partner)
    return whole


@merged_kernel
def find_shape(heads: Ints, shape: Shape) -> None:
    """Fill in the shape of a tree. O(n * depth)."""
    size = len(heads)
    for word in range(size):
        shape.first[word] = shape.left[word] = shape.right[word] = shape.nearer[word] = 0
        shape.begin[word] = shape.end[word] = word
        shape.yields[word] = np.uint64(0)
    for m in range(size - 1, 0, -1):
        h = heads[m]
        after = shape.first[h]
        shape.next[m], shape.first[h] = after, m
        if m < h:
            shape.left[h] += 1
            if 0 < after < h:
                shape.nearer[m] = after
        else:
            shape.right[h] += 1
            if after > 0:
                shape.nearer[after] = m
        bit, block, word = np.uint64(1) << np.uint64(m & 63), m >> 6, m
        while word > 0:
            shape.begin[word] = min(shape.begin[word], m)
            shape.end[word] = max(shape.end[word], m)
            shape.yields[word, block] |= bit
            word = heads[word]


@inline_kernel
def _join(a: int, b: int, c: int, d: int, e: int) -> np.uint64:
    """A key of five small numbers, -1 or more; never 0."""
    key = np.uint64(a + 1) * _P1 + np.uint64(b + 1) * _P2 + np.uint64(c + 1) * _P3
    key += np.uint64(d + 1) * _P4 + np.uint64(e + 1) * _P5
    return (key ^ (key >> _SHIFT)) | np.uint64(1)


@merged_kernel
def _key(whole: WholeTree, group: int, heads: Ints, word: int, crossed: int) -> np.uint64:
    """What the features of a group see at a word, and which of both these are; never 0."""
    shape, place, h = whole.shape, GROUPS * word + group, int(heads[word])
    g = int(heads[h]) if h > 0 else -1
    if group == CHAIN:
        return _join(place, h, g, heads[g] if g > 0 else -1, heads[word + 1] if word + 1 < len(heads) else -1)
    if group == FAMILY:
        children, c = 0, shape.first[word]
        while c > 0:
            children = (children * 1021 + c) & 0xFFFFFFFFFFFF
            c = shape.next[c]
        return _join(place, h, g, shape.nearer[word], children)
    return _join(place, h, shape.begin[word], shape.end[word], crossed)


@kernel
def _features(whole: WholeTree, group: int, heads: Ints, word: int, crossed: int, indices: Indices) -> int:
    """The features of a group at a word; returns how many."""
    shift = np.uint32(32 - whole.bits)
    if group == CHAIN:
        return chain_features(whole.tokens, heads, word, shift, indices)
    if group == FAMILY:
        return family_features(whole.tokens, whole.kinds, whole.shape, heads, word, shift, indices)
    return span_features(whole.tokens, whole.shape, heads, word, crossed, shift, indices)


@merged_kernel
def _sum(whole: WholeTree, count: int) -> float:
    total = whole.weights[0] - whole.weights[0]  # a zero of the right type
    for k in range(count):
        total += whole.weights[whole.indices[k]]
    return float(total)


@kernel
def _looked_up(whole: WholeTree, group: int, heads: Ints, word: int, crossed: int, key: np.uint64) -> float:
    """The score of a group at a word, computed once for each key."""
    mask = np.uint64(len(whole.known) - 1)
    at = (key >> np.uint64(17)) & mask
    while whole.known[at] != 0:
        if whole.known[at] == key:
            return float(whole.worth[at])
        at = (at + np.uint64(1)) & mask
    score = _sum(whole, _features(whole, group, heads, word, crossed, whole.indices))
    if 2 * whole.used[0] < len(whole.known):
        whole.known[at], whole.worth[at] = key, score
        whole.used[0] += 1
    return score


@kernel
def score_whole_tree(whole: WholeTree, heads: Ints, keep: bool) -> float:
    """The score of a tree by features of its far parts and of the whole. O(n * depth), and the features of what is new.

    keep: whether to compare the trees of the next calls with this one.
    """
    find_shape(heads, whole.shape)
    shift = np.uint32(32 - whole.bits)
    total = 0.0
    if (whole.groups >> GROUPS) & 1:
        count = tree_wide_features(whole.tokens, whole.shape, heads, whole.partner, shift, whole.indices)
        total = _sum(whole, count)
    for word in range(1, len(heads)):
        crossed = outside(whole.shape, heads[word], word)
        for group in range(GROUPS):
            if not (whole.groups >> group) & 1:
                continue
            key = _key(whole, group, heads, word, crossed)
            if whole.keys[group, word] == key:
                total += whole.scores[group, word]
                continue
            score = _looked_up(whole, group, heads, word, crossed, key)
            total += score
            if keep:
                whole.keys[group, word], whole.scores[group, word] = key, score
    return total


scores_trees(WholeTree, score_whole_tree)


@kernel
def whole_tree_features(whole: WholeTree, heads: Ints, indices: Indices) -> int:
    """Fill `indices` with all features that `score_whole_tree` sums the weights of; returns how many."""
    find_shape(heads, whole.shape)
    shift, k = np.uint32(32 - whole.bits), 0
    if (whole.groups >> GROUPS) & 1:
        k += tree_wide_features(whole.tokens, whole.shape, heads, whole.partner, shift, indices)
    for word in range(1, len(heads)):
        crossed = outside(whole.shape, heads[word], word)
        for group in range(GROUPS):
            if (whole.groups >> group) & 1:
                k += _features(whole, group, heads, word, crossed, indices[k:])
    return k
