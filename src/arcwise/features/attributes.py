"""Token attributes: what the model sees of a word, as numbers from frozen vocabularies.

A vocabulary is the sorted list of the 64-bit hashes of all values that an attribute took in the training data; the number of a
value is its place there. Nothing else is known of a word at parsing time, and a value outside the vocabulary is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import hash_bytes
from arcwise.kernels import kernel
from arcwise.treebank.block import FEATS as FEATS_COLUMN
from arcwise.treebank.block import FORM as FORM_COLUMN
from arcwise.treebank.block import LEMMA as LEMMA_COLUMN
from arcwise.treebank.block import UPOS as UPOS_COLUMN
from arcwise.treebank.block import XPOS as XPOS_COLUMN
from arcwise.treebank.block import Block

# The attributes. LEMMA falls back to the first letters of the form, XPOS to UPOS and FEATS, where a treebank has none.
FORM, LEMMA, UPOS, XPOS, FEATS, SUFFIX = range(6)
ATTRIBUTES = ("form", "lemma", "upos", "xpos", "feats", "suffix")
# After them: the single morphological features (Name=Value) of a word, in order, 0 beyond the last.
MORPHOLOGY = len(ATTRIBUTES)
MOST_FEATURES = 12
COLUMNS = MORPHOLOGY + MOST_FEATURES

UNKNOWN, ROOT, START, END = range(4)
FIRST_NUMBER = 4

_PREFIX_LETTERS, _SUFFIX_LETTERS = 5, 3
_UNDERSCORE, _BAR = ord("_"), ord("|")


class Vocabulary(NamedTuple):
    """A hash table of all known values of all attributes: kernels read it. `slots` is a power of two in size, 0 is free."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]


@kernel
def _letters_end(data: NDArray[np.uint8], start: int, stop: int, letters: int) -> int:
    """Where the first `letters` letters of a UTF-8 text end."""
    i = start
    while i < stop and letters > 0:
        i += 1
        while i < stop and data[i] & 0xC0 == 0x80:
            i += 1
        letters -= 1
    return i


@kernel
def _letters_begin(data: NDArray[np.uint8], start: int, stop: int, letters: int) -> int:
    """Where the last `letters` letters of a UTF-8 text begin."""
    i = stop
    while i > start and letters > 0:
        i -= 1
        while i > start and data[i] & 0xC0 == 0x80:
            i -= 1
        letters -= 1
    return i


@kernel
def _is_absent(data: NDArray[np.uint8], start: int, stop: int) -> bool:
    """Whether a column holds `_`, or is none of this format."""
    return bool(stop == start or (stop - start == 1 and data[start] == _UNDERSCORE))


@kernel
def _word_keys(
    data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32], keys: NDArray[np.uint64]
) -> None:
    """The hashes of one word's attributes; those of absent morphological features are 0."""
    for attribute, column in ((FORM, FORM_COLUMN), (UPOS, UPOS_COLUMN)):
        keys[attribute] = hash_bytes(data, starts[column], stops[column], attribute)
    feats_start, feats_stop = starts[FEATS_COLUMN], stops[FEATS_COLUMN]
    if _is_absent(data, feats_start, feats_stop):
        feats_stop = feats_start
    keys[FEATS] = hash_bytes(data, feats_start, feats_stop, FEATS)

    start, stop = starts[LEMMA_COLUMN], stops[LEMMA_COLUMN]
    if _is_absent(data, start, stop):
        start = starts[FORM_COLUMN]
        stop = _letters_end(data, start, stops[FORM_COLUMN], _PREFIX_LETTERS)
    keys[LEMMA] = hash_bytes(data, start, stop, LEMMA)

    start, stop = starts[XPOS_COLUMN], stops[XPOS_COLUMN]
    if _is_absent(data, start, stop):
        tag = hash_bytes(data, starts[UPOS_COLUMN], stops[UPOS_COLUMN], XPOS)
        keys[XPOS] = hash_bytes(data, feats_start, feats_stop, int(np.int64(tag >> np.uint64(1))))
    else:
        keys[XPOS] = hash_bytes(data, start, stop, XPOS)

    stop = stops[FORM_COLUMN]
    start = _letters_begin(data, starts[FORM_COLUMN], stop, _SUFFIX_LETTERS)
    keys[SUFFIX] = hash_bytes(data, start, stop, SUFFIX)

    keys[MORPHOLOGY:] = 0
    if feats_stop > feats_start:
        feature, start = MORPHOLOGY, feats_start
        for i in range(feats_start, feats_stop + 1):
            if i == feats_stop or data[i] == _BAR:
                if feature < COLUMNS:
                    keys[feature] = hash_bytes(data, start, i, MORPHOLOGY)
                    feature += 1
                start = i + 1


@kernel
def _block_keys(
    data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32]
) -> NDArray[np.uint64]:
    keys = np.empty((starts.shape[0], COLUMNS), np.uint64)
    for word in range(starts.shape[0]):
        _word_keys(data, starts[word], stops[word], keys[word])
    return keys


@kernel
def _fill(slots: NDArray[np.uint64], numbers: NDArray[np.int32], keys: NDArray[np.uint64]) -> None:
    mask = np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = keys[i] & mask
        while slots[at] != 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = keys[i]
        numbers[at] = FIRST_NUMBER + i


def collect_keys(blocks: Iterable[Block]) -> NDArray[np.uint64]:
    """The sorted hashes of all attribute values in the blocks: the vocabulary, as it is stored. O(words log words)."""
    found = [np.unique(_block_keys(block.data, block.starts, block.stops)) for block in blocks]
    keys: NDArray[np.uint64] = np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)
    known: NDArray[np.uint64] = keys[keys != 0]
    return known


def vocabulary(keys: NDArray[np.uint64]) -> Vocabulary:
    """The hash table for these sorted hashes, at most half full."""
    size = 1 << max(4, (2 * len(keys)).bit_length())
    slots, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    _fill(slots, numbers, keys)
    return Vocabulary(slots, numbers)


@kernel
def find_key(vocabulary: Vocabulary, key: np.uint64) -> int:
    """The number of a key, UNKNOWN if it is not there."""
    slots = vocabulary.slots
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] != 0 and slots[at] != key:
        at = (at + np.uint64(1)) & mask
    return int(vocabulary.numbers[at]) if slots[at] == key else UNKNOWN


@kernel
def number_words(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    boundaries: NDArray[np.int32],
    vocabulary: Vocabulary,
) -> NDArray[np.int32]:
    """All words as numbers, int32 (words + sentences, COLUMNS): before each sentence a row for the root. A few ns a byte.

    data, starts, stops: as in `Block`. boundaries: the index of each sentence's first word, and the end.
    """
    keys = np.empty(COLUMNS, np.uint64)
    sentences = len(boundaries) - 1
    numbers = np.empty((starts.shape[0] + sentences, COLUMNS), np.int32)
    for sentence in range(sentences):
        numbers[boundaries[sentence] + sentence] = ROOT
        for word in range(boundaries[sentence], boundaries[sentence + 1]):
            row = numbers[word + sentence + 1]
            _word_keys(data, starts[word], stops[word], keys)
            for column in range(COLUMNS):
                key = keys[column]
                if key == 0:  # no more morphological features
                    row[column:] = UNKNOWN
                    break
                row[column] = find_key(vocabulary, key)
    return numbers
