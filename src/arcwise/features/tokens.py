"""The words of a sentence hashed once, so that an arc's features cost one addition each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.attributes import (
    COLUMNS,
    LEMMA,
    MORPHOLOGY,
    MOST_FEATURES,
    UPOS,
    XPOS,
)
from arcwise.features.hash_table import END, START, UNKNOWN
from arcwise.features.hashing import scramble
from arcwise.features.templates import Templates
from arcwise.kernels import kernel

Hashes = NDArray[np.uint32]

COARSE_TAG, FINE_TAG, LEMMA_ATOM = range(3)
_AS_MODIFIER = np.uint32(0xB5297A4D)  # odd: tells a modifier's side from a head's
_GOLDEN = np.uint32(0x9E3779B1)


class Tokens(NamedTuple):
    """Room for the hashes of one sentence's words 0..n, used again for the next.

    as_head, as_modifier: (words, templates), the sides of every template. atoms: (words, 3), coarse tag, fine tag, lemma.
    previous: (words, 2), the last earlier word of the same coarse or fine tag, 0 if none. features, counts: the known
    morphological features of a word and how many there are. numbers: the words as they were given.
    """

    as_head: Hashes
    as_modifier: Hashes
    atoms: Hashes
    previous: NDArray[np.int32]
    features: Hashes
    counts: NDArray[np.int32]
    numbers: NDArray[np.int32]


@kernel
def longest_sentence(starts: NDArray[np.int64]) -> int:
    """The number of words of the longest sentence; starts: the row of each sentence's root, and the end."""
    longest = np.int64(0)
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s] - 1)
    return int(longest)


@kernel
def make_tokens(longest: int, templates: int) -> Tokens:
    """Room for sentences of up to `longest` words."""
    size = longest + 1
    return Tokens(
        np.empty((size, templates), np.uint32),
        np.empty((size, templates), np.uint32),
        np.empty((size, 3), np.uint32),
        np.zeros((size, 2), np.int32),
        np.empty((size, MOST_FEATURES), np.uint32),
        np.zeros(size, np.int32),
        np.empty((size, COLUMNS), np.int32),
    )


@kernel
def _number_at(numbers: NDArray[np.int32], word: int, offset: int, attribute: int) -> int:
    """An attribute of a neighbour. The root is nobody's neighbour; its own next word is word 1."""
    at = word + offset
    if at >= numbers.shape[0]:
        return END
    if at < 1 and offset != 0:
        return START
    return int(numbers[at, attribute])


@kernel
def hash_sides(numbers: NDArray[np.int32], word: int, sides: NDArray[np.int32], hashes: Hashes) -> None:
    """Hash what each side of a template sees at a word. sides: int32 (sides, places, 2), as in `Templates`."""
    for side in range(len(sides)):
        x = np.uint32(side)
        for place in range(sides.shape[1]):
            attribute = sides[side, place, 0]
            if attribute < 0:
                break
            number = _number_at(numbers, word, sides[side, place, 1], attribute)
            x = scramble(np.uint32(x + np.uint32(number) * _GOLDEN + np.uint32(8 * attribute + place)))
        hashes[side] = x


@kernel
def hash_tokens(numbers: NDArray[np.int32], templates: Templates, tokens: Tokens) -> None:
    """Hash the words of one sentence. O(n * templates), and up to O(n^2) steps back to the last word of a rare tag.

    numbers: int32 (n+1, COLUMNS), row 0 the root's.
    """
    sides = np.empty(len(templates.sides), np.uint32)
    tokens.numbers[: len(numbers)] = numbers
    for word in range(numbers.shape[0]):
        hash_sides(numbers, word, templates.sides, sides)
        for template in range(templates.end):
            tokens.as_head[word, template] = sides[templates.head[template]]
            tokens.as_modifier[word, template] = np.uint32(
                sides[templates.modifier[template]] * _AS_MODIFIER + np.uint32(template) * _GOLDEN
            )

        tokens.atoms[word, COARSE_TAG] = scramble(np.uint32(numbers[word, UPOS]))
        tokens.atoms[word, FINE_TAG] = scramble(np.uint32(numbers[word, XPOS]))
        tokens.atoms[word, LEMMA_ATOM] = scramble(np.uint32(numbers[word, LEMMA]))
        for kind, attribute in ((0, UPOS), (1, XPOS)):
            before = word - 1
            while before > 0 and numbers[before, attribute] != numbers[word, attribute]:
                before -= 1
            tokens.previous[word, kind] = max(before, 0)
        count = 0
        for column in range(MORPHOLOGY, MORPHOLOGY + MOST_FEATURES if word > 0 else MORPHOLOGY):
            if numbers[word, column] != UNKNOWN:
                tokens.features[word, count] = scramble(np.uint32(numbers[word, column]))
                count += 1
        tokens.counts[word] = count
