"""The features of a label once the tree is known: the arc's own, and those of its neighbours in the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, distance_code, label_features
from arcwise.features.hashing import scramble, spread
from arcwise.features.templates import Templates
from arcwise.features.tokens import COARSE_TAG, FINE_TAG, LEMMA_ATOM, Tokens
from arcwise.kernels import kernel

# How many of the label templates fire again with the signed distance: the first line of the table.
_WITH_DISTANCE = 10
_MOST_CONTEXT = 7 * 5 + 4
_MOST_LABEL_TEMPLATES = 36  # with all others 85 rows: see FORBIDDEN in arcwise.pipeline.sentences
_DISTANCE = np.uint32(0x7F4A7C15)
_NEIGHBOUR = np.uint32(0x2545F491)
_NOBODY = np.uint32(1)
_VALENCY, _SIBLINGS, _CHILDREN, _OTHERS = (
    np.uint32(0x12345679), np.uint32(0x3C6EF372), np.uint32(0x1B873593), np.uint32(0xCC9E2D51),
)  # fmt: skip
_3, _5, _7, _11, _13, _17 = (np.uint32(k) for k in (3, 5, 7, 11, 13, 17))


class Neighbours(NamedTuple):
    """For every word of a tree, -1 if there is none: its first and last modifier, the innermost ones on both sides, the modifiers of
    the same head next to it, how many modifiers it has on each side, and the sets of their tags (once: at least one, twice: two).
    """

    first: NDArray[np.int32]
    inner_left: NDArray[np.int32]
    inner_right: NDArray[np.int32]
    last: NDArray[np.int32]
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    once: NDArray[np.uint64]
    twice: NDArray[np.uint64]


@kernel
def make_neighbours(longest: int) -> Neighbours:
    """Room for the neighbours in a tree of up to `longest` words."""
    size = longest + 1
    return Neighbours(
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty(size, np.uint64), np.empty(size, np.uint64),
    )  # fmt: skip


@kernel
def _tag_bit(tokens: Tokens, word: int) -> np.uint64:
    return np.uint64(1) << np.uint64(tokens.atoms[word, COARSE_TAG] & np.uint32(63))


@kernel
def find_neighbours(heads: NDArray[np.int32], tokens: Tokens, tree: Neighbours) -> None:
    """Fill `tree` from the heads. O(n)."""
    for word in range(len(heads)):
        tree.first[word] = tree.inner_left[word] = tree.inner_right[word] = tree.last[word] = -1
        tree.before[word] = tree.after[word] = -1
        tree.left[word] = tree.right[word] = 0
        tree.once[word] = tree.twice[word] = np.uint64(0)
    for m in range(1, len(heads)):
        h = heads[m]
        if tree.last[h] >= 0:
            tree.before[m] = tree.last[h]
            tree.after[tree.last[h]] = m
        else:
            tree.first[h] = m
        tree.last[h] = m
        if m < h:
            tree.inner_left[h] = m
            tree.left[h] += 1
        else:
            if tree.right[h] == 0:
                tree.inner_right[h] = m
            tree.right[h] += 1
        bit = _tag_bit(tokens, m)
        tree.twice[h] |= tree.once[h] & bit
        tree.once[h] |= bit


@kernel
def _fold(mask: np.uint64) -> np.uint32:
    return scramble(np.uint32(np.uint32(mask) ^ scramble(np.uint32(mask >> np.uint64(32)))))


def check_label_templates(templates: Templates) -> None:
    """ValueError where the label templates are too few for the kernels, or so many that sums of their weights overflow."""
    number = templates.end - templates.labels
    if not _WITH_DISTANCE <= number <= _MOST_LABEL_TEMPLATES:
        raise ValueError(f"{number} label templates, expected {_WITH_DISTANCE} to {_MOST_LABEL_TEMPLATES}")


@kernel
def most_context_features(templates: Templates) -> int:
    """How many features the label of an arc in a tree can have."""
    return templates.end - templates.labels + _WITH_DISTANCE + _MOST_CONTEXT


@kernel
def context_features(
    tokens: Tokens,
    templates: Templates,
    bits: int,
    heads: NDArray[np.int32],
    tree: Neighbours,
    m: int,
    rows: Indices,
) -> int:
    """Fill `rows` with the label features of the arc into m in the tree `heads`; returns how many."""
    shift = np.uint32(32 - bits)
    h = heads[m]
    k = label_features(tokens, templates, bits, h, m, rows)
    distance = np.uint32(distance_code(h, m) * _DISTANCE)
    for t in range(templates.labels, templates.labels + _WITH_DISTANCE):
        rows[k] = spread(np.uint32(tokens.as_head[h, t] + tokens.as_modifier[m, t] + distance)) >> shift
        k += 1

    atoms = tokens.atoms
    tag_h, tag_m = atoms[h, COARSE_TAG], np.uint32(atoms[m, COARSE_TAG] * _3)
    both = np.uint32(tag_h + tag_m)
    direction = np.uint32(h < m)
    leftmost = tree.first[m] if tree.left[m] > 0 else np.int32(-1)
    rightmost = tree.last[m] if tree.right[m] > 0 else np.int32(-1)
    neighbours = (
        leftmost, rightmost, tree.before[m], tree.after[m], heads[h], tree.inner_left[m], tree.inner_right[m],
    )  # fmt: skip
    for kind in range(len(neighbours)):
        word = neighbours[kind]
        tag = atoms[word, COARSE_TAG] if word >= 0 else _NOBODY
        lemma = atoms[word, LEMMA_ATOM] if word >= 0 else _NOBODY
        salt = np.uint32(np.uint32(kind + 1) * _NEIGHBOUR + direction)
        rows[k] = spread(np.uint32(both + tag * _5 + salt)) >> shift
        rows[k + 1] = spread(np.uint32(atoms[m, LEMMA_ATOM] + tag * _7 + salt)) >> shift
        rows[k + 2] = spread(np.uint32(both + lemma * _11 + salt)) >> shift
        rows[k + 3] = spread(np.uint32(atoms[h, LEMMA_ATOM] * _7 + tag_m + tag * _13 + salt)) >> shift
        rows[k + 4] = spread(np.uint32(atoms[m, FINE_TAG] + lemma * _17 + salt)) >> shift
        k += 5

    valency = np.uint32(4 * min(tree.left[m], 3) + min(tree.right[m], 3))
    rows[k] = spread(np.uint32(both + (valency + _3) * _VALENCY)) >> shift
    alone = np.uint32(2 * np.uint32(tree.before[m] >= 0) + np.uint32(tree.after[m] >= 0))
    x = np.uint32(atoms[h, LEMMA_ATOM] * _7 + tag_m + (alone + _3) * _SIBLINGS + direction)
    rows[k + 1] = spread(x) >> shift
    rows[k + 2] = spread(np.uint32(both + (_fold(tree.once[m]) + _3) * _CHILDREN)) >> shift
    others = tree.twice[h] | (tree.once[h] & ~_tag_bit(tokens, m))
    rows[k + 3] = spread(np.uint32(both + (_fold(others) + _3) * _OTHERS + direction)) >> shift
    return k + 4
