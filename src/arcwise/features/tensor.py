"""The low-rank tensor of arcs (Lei et al., 2014): every word is seen as a head and as a modifier in a few dimensions.

    T(h, m) = sum over r of (U_r . phi(h)) (V_r . phi(m)) (W_r0 + W_r,d(h, m))

phi(w) are features of a word and its neighbours, d(h, m) is the signed distance. Features that were never seen together in training
still have a score together, by what each of them is like.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import distance_code
from arcwise.features.attributes import LEMMA, MORPHOLOGY, MOST_FEATURES
from arcwise.features.hash_table import UNKNOWN
from arcwise.features.hashing import scramble
from arcwise.features.templates import compile_sides
from arcwise.features.tokens import hash_sides
from arcwise.kernels import kernel

# phi, as sides of templates, the first is the bias; beside them are the morphological features of the word, alone and with its lemma.
WORDS = """
.     F     F-1     F+1     L     L-1     L+1     S     L C     L P
C     C-1     C+1     C-1 C     C C+1     C-1 C C+1     C-2 C-1 C     C C+1 C+2
P     P-1     P+1     P-1 P     P P+1     P-1 P P+1
"""
DISTANCES = 15  # codes of signed distances, and 0 for what is the same for all of them

Rows = NDArray[np.uint32]
Floats = NDArray[np.float32]

_ALONE, _WITH_LEMMA = np.uint32(0x8DA6B343), np.uint32(0xD8163841)


class Tensor(NamedTuple):
    """A tensor as it is used. sides: int32 (sides, 3, 2), phi as in `Templates`. bits: its features are hashed to 2^bits rows.

    heads, modifiers: U and V, (2^bits, rank), float32 or int8. distances: float32 (DISTANCES, rank), of every distance W_r0 + W_r,d,
    in units of the scores. If U and V are int8, the sums over the features of a word are exact.
    """

    sides: NDArray[np.int32]
    bits: int
    heads: NDArray[Any]
    modifiers: NDArray[Any]
    distances: Floats


def compile_words(text: str = WORDS) -> NDArray[np.int32]:
    """phi as `Tensor.sides`; ValueError if it is none.

    >>> compile_words("P     P-1 P")[1].tolist()
    [[3, -1], [3, 0], [-1, -1]]
    """
    return compile_sides(
        [cell.strip() for line in text.splitlines() for cell in line.split("    ") if cell.strip()]
    )


@kernel
def most_rows(sides: NDArray[np.int32]) -> int:
    """How many features a word can have."""
    return int(len(sides) + 2 * MOST_FEATURES)


@kernel
def word_rows(numbers: NDArray[np.int32], word: int, sides: NDArray[np.int32], bits: int, rows: Rows) -> int:
    """Fill `rows` with the features of a word of a sentence; returns how many."""
    shift, number = np.uint32(32 - bits), len(sides)
    hash_sides(numbers, word, sides, rows)
    lemma = np.uint32(numbers[word, LEMMA]) * _WITH_LEMMA
    for column in range(MORPHOLOGY, MORPHOLOGY + MOST_FEATURES if word > 0 else MORPHOLOGY):
        if numbers[word, column] != UNKNOWN:
            feature = np.uint32(numbers[word, column])
            rows[number] = scramble(np.uint32(feature + _ALONE))
            rows[number + 1] = scramble(np.uint32(rows[number] + lemma))
            number += 2
    for k in range(number):
        rows[k] = scramble(rows[k]) >> shift
    return number


@kernel
def project(table: NDArray[Any], rows: Rows, sums: NDArray[Any]) -> None:
    """The sum of some rows of a table."""
    sums[:] = 0
    for k in range(len(rows)):
        row = table[rows[k]]
        for r in range(len(sums)):
            sums[r] += row[r]


@kernel
def project_words(
    tensor: Tensor, numbers: NDArray[np.int32], as_head: NDArray[Any], as_modifier: NDArray[Any]
) -> None:
    """What all words of a sentence are as heads and as modifiers, (words, rank). O(n |phi| rank)."""
    rows = np.empty(most_rows(tensor.sides), np.uint32)
    for word in range(len(numbers)):
        count = word_rows(numbers, word, tensor.sides, tensor.bits, rows)
        project(tensor.heads, rows[:count], as_head[word])
        if word > 0:
            project(tensor.modifiers, rows[:count], as_modifier[word])


@kernel
def tensor_score(
    as_head: NDArray[Any], as_modifier: NDArray[Any], distances: Floats, h: int, m: int
) -> float:
    """T(h, m) of projected words. O(rank)."""
    head, modifier, distance = as_head[h], as_modifier[m], distances[distance_code(h, m)]
    total = 0.0
    for r in range(len(distance)):
        total += np.float64(head[r]) * modifier[r] * distance[r]
    return total


@kernel
def add_tensor(
    tensor: Tensor | None, numbers: NDArray[np.int32], heads: NDArray[np.int32], modifiers: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:  # fmt: skip
    """Add T, rounded to a whole number, to the scores of the arcs of a sentence; U and V must be int8. Nothing, if there is no
    tensor. O(n |phi| rank), and O(rank) an arc.
    """
    if tensor is None:
        return
    shape = (len(numbers), tensor.heads.shape[1])
    as_head, as_modifier = np.empty(shape, np.int32), np.empty(shape, np.int32)
    project_words(tensor, numbers, as_head, as_modifier)
    for a in range(len(heads)):
        scores[a] += np.rint(tensor_score(as_head, as_modifier, tensor.distances, heads[a], modifiers[a]))


def pack_tensor(heads: Floats, modifiers: Floats, distances: Floats) -> dict[str, NDArray[Any]]:
    """U, V and W as a model stores them: int8, so that the greatest of each rank is 127, and W in the units that come of it.

    distances: (DISTANCES, rank), W_r0 first. A tensor of all zeros stays one.
    """
    packed: dict[str, NDArray[Any]] = {}
    units = np.ones(heads.shape[1])
    for name, table in (("tensor_heads", heads), ("tensor_modifiers", modifiers)):
        unit = np.abs(table).max(axis=0) / np.float32(127)
        unit[unit == 0] = 1
        packed[name] = np.rint(table / unit).astype(np.int8)
        units *= unit
    packed["tensor_distances"] = (distances * units).astype(np.float32)
    return packed


def unpack_tensor(arrays: dict[str, NDArray[Any]], sides: NDArray[np.int32], unit: float) -> Tensor:
    """The tensor of the arrays of a model, whose scores have this unit."""
    heads, modifiers, distances = (arrays[f"tensor_{name}"] for name in ("heads", "modifiers", "distances"))
    both = distances + distances[0] * (np.arange(DISTANCES) > 0)[:, None]
    return Tensor(
        sides, len(heads).bit_length() - 1, heads, modifiers, (both / np.float64(unit)).astype(np.float32)
    )
