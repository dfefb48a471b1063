"""The features of higher parts: where their weights lie, in one table of 2^bits weights for all of them.

A template's feature is a sum of hashes, one for each word of the part, spread over the table. It fires bare, and again beside it (in
the same line of the cache) with a code for the distances of the part. Nobody takes the place of a word that is missing: the
sibling nearer than the nearest (START), the one beyond the farthest (END), the modifier of a word that has none on one side (a null
part).
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

# Odd constants that tell the words of a part from each other, one template and one shape from another, and nobody from a word.
_WORDS = np.array([0x9E3779B1, 0xB5297A4D, 0x68E31DA5, 0x1B56C4E9], np.uint32)
_TEMPLATE, _SHAPE, _NOBODY = np.uint32(0x85EBCA77), np.uint32(0x51ED270B), np.uint32(0x2545F491)
CODES = 8  # of one distance: 0 where there is none, and 7 buckets


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
    hashes = np.zeros(len(templates.sides), np.uint32)
    for side in range(1, len(hashes)):
        hashes[side] = scramble(np.uint32(np.uint32(side) + _NOBODY))
    _place(hashes, nobody(tokens), templates, tokens)
    return tokens


@inline_kernel
def nobody(tokens: PartTokens) -> int:
    """The number that stands for a missing word."""
    return len(tokens.sides[0]) - 1


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
def shape_salt(shape: int) -> np.uint32:
    """What tells parts of different shapes from each other."""
    return np.uint32(np.uint32(shape + 1) * _SHAPE)


@inline_kernel
def is_coordination(tokens: PartTokens, h: int, m: int) -> bool:
    """Whether h and m may be conjuncts: m comes later, and a conjunction stands between."""
    return h < m and tokens.conjunctions[m - 1] > tokens.conjunctions[h]


@kernel
def _features(
    tokens: PartTokens, begin: int, end: int, shape: int, code: int, words: tuple[int, int, int, int], bits: int,
    indices: Indices,
) -> int:  # fmt: skip
    """The templates from `begin` to `end`, each bare and with the code, from 1 to 63. A template of three words ignores the last."""
    shift, sides = np.uint32(32 - bits), tokens.sides
    w, x, y, z = words
    for t in range(begin, end):
        known = np.uint32(sides[0, w, t] + sides[1, x, t] + sides[2, y, t] + sides[3, z, t])
        i = spread(np.uint32(known + shape_salt(shape))) >> shift
        indices[2 * (t - begin)] = i
        indices[2 * (t - begin) + 1] = i ^ np.uint32(code)
    return 2 * (end - begin)


@inline_kernel
def _sibling_code(h: int, s: int, m: int, missing: int) -> int:
    """The distance of two siblings, or of the only one to the head."""
    return bucket(h, m) if s == missing else (bucket(h, s) if m == missing else CODES + bucket(s, m))


@kernel
def sibling_features(
    tokens: PartTokens, templates: PartTemplates, bits: int, right: bool, h: int, s: int, m: int, indices: Indices
) -> int:  # fmt: skip
    """Fill `indices` with the features of consecutive siblings on the right or left of h; returns how many.

    s is nobody if m is the nearest, m is nobody if s is the farthest.
    """
    code = _sibling_code(h, s, m, nobody(tokens))
    return _features(tokens, 0, templates.grandchildren, int(right), code, (h, s, m, 0), bits, indices)


@kernel
def grandchild_features(
    tokens: PartTokens, templates: PartTemplates, bits: int, right: bool, g: int, h: int, m: int, indices: Indices
) -> int:  # fmt: skip
    """The same for a grandchild on the right or left of h; m is nobody if h has no modifier there."""
    shape, code = 2 * (g < h) + right, CODES * bucket(g, h)
    if m == nobody(tokens):
        begin, end = templates.grandchildren, templates.coordination
        return _features(tokens, begin, end, shape, code, (g, h, m, 0), bits, indices)
    code += bucket(h, m)
    end = templates.grand_siblings if is_coordination(tokens, h, m) else templates.coordination
    return _features(tokens, templates.grandchildren, end, shape, code, (g, h, m, 0), bits, indices)


@kernel
def grand_sibling_features(
    tokens: PartTokens, templates: PartTemplates, bits: int, right: bool, g: int, h: int, s: int, m: int,
    indices: Indices,
) -> int:  # fmt: skip
    """The same for grand-siblings; s or m may be nobody, as in siblings."""
    code = _sibling_code(h, s, m, nobody(tokens))
    begin, end = templates.grand_siblings, templates.tri_siblings
    return _features(tokens, begin, end, 2 * (g < h) + right, code, (g, h, s, m), bits, indices)


@kernel
def tri_sibling_features(
    tokens: PartTokens, templates: PartTemplates, bits: int, right: bool, h: int, t: int, s: int, m: int,
    indices: Indices,
) -> int:  # fmt: skip
    """The same for three siblings; t is nobody if s is the nearest."""
    code = bucket(s, m) if t == nobody(tokens) else CODES + bucket(t, s)
    return _features(
        tokens, templates.tri_siblings, templates.end, int(right), code, (h, t, s, m), bits, indices
    )
