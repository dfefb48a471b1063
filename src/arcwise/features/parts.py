"""The features of higher parts: where their weights lie, in one table of 2^bits weights for all of them.

A template's feature is a sum of hashes, one for each word of the part, spread over the table. It fires bare, and again beside it (in
the same line of the cache) with a code for the distances of the part. Nobody takes the place of a word that is missing: the
sibling nearer than the nearest (START), the one beyond the farthest (END), the modifier of a word that has none on a side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.features.attributes import UPOS
from arcwise.features.hashing import scramble, spread
from arcwise.features.part_templates import MOST_WORDS, PartTemplates
from arcwise.features.tokens import Hashes, hash_sides
from arcwise.kernels import inline_kernel, kernel

# Odd constants that tell the words of a part from each other, and the shapes of parts.
_WORDS = np.array([0x9E3779B1, 0xB5297A4D, 0x68E31DA5, 0x1B56C4E9], np.uint32)
_TEMPLATE, _SHAPE, _NOBODY = np.uint32(0x85EBCA77), np.uint32(0x51ED270B), np.uint32(0x2545F491)


class PartTokens(NamedTuple):
    """Room for the hashes of one sentence's words 0..n, used again for the next.

    sides: (MOST_WORDS, words + 1, templates), what each template sees of a word in each place of a part; the last row is nobody's.
    conjunctions: how many conjunctions there are up to each word.
    """

    sides: NDArray[np.uint32]
    conjunctions: NDArray[np.int32]


@kernel
def make_part_tokens(longest: int, templates: PartTemplates) -> PartTokens:
    """Room for sentences of up to `longest` words."""
    tokens = PartTokens(
        np.empty((MOST_WORDS, longest + 2, templates.end), np.uint32), np.zeros(longest + 1, np.int32)
    )
    nobody = np.empty(len(templates.sides), np.uint32)
    for side in range(len(nobody)):
        nobody[side] = scramble(np.uint32(np.uint32(side) + _NOBODY)) if side > 0 else 0
    _place(nobody, longest + 1, templates, tokens)
    return tokens


@kernel
def _place(hashes: Hashes, row: int, templates: PartTemplates, tokens: PartTokens) -> None:
    for word in range(MOST_WORDS):
        for t in range(templates.end):
            x = np.uint32(hashes[templates.words[word, t]] * _WORDS[word])
            tokens.sides[word, row, t] = np.uint32(x + np.uint32(t + 1) * _TEMPLATE) if word == 0 else x


@kernel
def hash_part_tokens(numbers: NDArray[np.int32], templates: PartTemplates, tokens: PartTokens) -> None:
    """Hash the words of one sentence for all places of all templates. O(n * templates)."""
    hashes = np.empty(len(templates.sides), np.uint32)
    conjunctions = 0
    for word in range(numbers.shape[0]):
        hash_sides(numbers, word, templates.sides, hashes)
        _place(hashes, word, templates, tokens)
        if word > 0:
            for tag in templates.conjunctions:
                conjunctions += numbers[word, UPOS] == tag
        tokens.conjunctions[word] = conjunctions


@inline_kernel
def bucket(i: int, j: int) -> int:
    """1 to 7: the distance of two words is 1, 2, 3, 4, 5, 6-10, longer."""
    length = abs(i - j)
    return length if length <= 5 else (6 if length <= 10 else 7)


@inline_kernel
def salt(shape: int) -> np.uint32:
    """What tells the shapes of a part from each other: the sides on which its words lie."""
    return np.uint32(np.uint32(shape + 1) * _SHAPE)


@inline_kernel
def is_coordination(tokens: PartTokens, h: int, m: int) -> bool:
    """Whether h and m may be conjuncts: a conjunction stands between, and m comes later."""
    return h < m and tokens.conjunctions[m - 1] > tokens.conjunctions[h]


@kernel
def part_features(known: Hashes, word: Hashes, bits: int, code: int, indices: Indices) -> int:
    """Fill `indices` with the features of a part; returns how many.

    known: the sum of the hashes of all its words but one. word: the hashes of that one. code: 1 to 63, its distances.
    """
    shift = np.uint32(32 - bits)
    number = len(word)
    for t in range(number):
        indices[t] = spread(np.uint32(known[t] + word[t])) >> shift
    for t in range(number):
        indices[number + t] = indices[t] ^ np.uint32(code)
    return 2 * number
