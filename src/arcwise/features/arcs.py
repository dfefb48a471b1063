"""The features of an arc, and of an arc with a label: where their weights lie.

An arc's features are indices into one table of 2^bits weights. Each template gives two: the bare one, and beside it (in the same
line of the cache) the one for the arc's signed distance. A label feature is a row with one weight per label, side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.attributes import MOST_FEATURES
from arcwise.features.hashing import spread
from arcwise.features.templates import Templates
from arcwise.features.tokens import COARSE_TAG, FINE_TAG, Tokens
from arcwise.kernels import inline_kernel, kernel

Indices = NDArray[np.uint32]

# Odd constants that tell one kind of feature from another.
_BETWEEN = np.uint32(0x27D4EB2F)
_OF_HEAD, _OF_MODIFIER, _OF_BOTH = np.uint32(0x165667B1), np.uint32(0xD3A2646D), np.uint32(0xFD7046C5)
_RIGHTWARD, _LEFTWARD = np.uint32(0x51ED270B), np.uint32(0xA2BFE8A1)
_3 = np.uint32(3)


@inline_kernel
def distance_code(h: int, m: int) -> np.uint32:
    """1 to 14: the direction of the arc and its length, in buckets 1, 2, 3, 4, 5, 6-10 and longer."""
    length = abs(m - h)
    bucket = length if length <= 5 else (6 if length <= 10 else 7)
    return np.uint32(bucket if h < m else 7 + bucket)


@kernel
def most_arc_features(longest: int, templates: Templates) -> int:
    """How many features an arc of a sentence of `longest` words can have."""
    return 2 * (templates.labels - templates.arcs) + 2 * longest + 2 * (2 * MOST_FEATURES + MOST_FEATURES**2)


@kernel
def arc_features(tokens: Tokens, templates: Templates, bits: int, h: int, m: int, indices: Indices) -> int:
    """Fill `indices` with the features of the arc from h to m; returns how many."""
    shift = np.uint32(32 - bits)
    code = distance_code(h, m)
    first, number = templates.arcs, templates.labels - templates.arcs
    heads, modifiers = tokens.as_head[h, first:], tokens.as_modifier[m, first:]
    for t in range(number):
        indices[t] = spread(np.uint32(heads[t] + modifiers[t])) >> shift
    for t in range(number):
        indices[number + t] = indices[t] ^ code
    k = 2 * number

    # The tags between, each once, with the tags of both ends.
    coarse = np.uint32(tokens.atoms[h, COARSE_TAG] + tokens.atoms[m, COARSE_TAG] * _3)
    fine = np.uint32(tokens.atoms[h, FINE_TAG] + tokens.atoms[m, FINE_TAG] * _3)
    left, right = (h, m) if h < m else (m, h)
    leftward = np.uint32(h > m)
    for b in range(left + 1, right):
        if tokens.previous[b, 0] <= left:
            x = np.uint32(coarse + tokens.atoms[b, COARSE_TAG] * _BETWEEN)
            indices[k] = (spread(x) >> shift) ^ leftward
            k += 1
        if tokens.previous[b, 1] <= left:
            x = np.uint32(fine + tokens.atoms[b, FINE_TAG] * _BETWEEN + _BETWEEN)
            indices[k] = (spread(x) >> shift) ^ leftward
            k += 1

    # Each morphological feature of one end with the tag of the other, and each pair of them with both tags.
    begin = k
    for i in range(tokens.counts[h]):
        feature = tokens.features[h, i]
        x = np.uint32(feature * _OF_HEAD + tokens.atoms[m, COARSE_TAG])
        indices[k] = spread(x) >> shift
        k += 1
        x = np.uint32(feature * _OF_BOTH + coarse)
        for j in range(tokens.counts[m]):
            indices[k] = spread(np.uint32(x + tokens.features[m, j])) >> shift
            k += 1
    for j in range(tokens.counts[m]):
        x = np.uint32(tokens.features[m, j] * _OF_MODIFIER + tokens.atoms[h, COARSE_TAG])
        indices[k] = spread(x) >> shift
        k += 1
    for i in range(k - begin):
        indices[k + i] = indices[begin + i] ^ code
    return 2 * k - begin


@kernel
def label_features(tokens: Tokens, templates: Templates, bits: int, h: int, m: int, rows: Indices) -> int:
    """Fill `rows` with the label features of the arc from h to m; returns how many."""
    shift = np.uint32(32 - bits)
    direction = _RIGHTWARD if h < m else _LEFTWARD
    first, number = templates.labels, templates.end - templates.labels
    heads, modifiers = tokens.as_head[h, first:], tokens.as_modifier[m, first:]
    for t in range(number):
        rows[t] = spread(np.uint32(heads[t] + modifiers[t] + direction)) >> shift
    return number
