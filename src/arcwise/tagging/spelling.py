"""The spelling of words: what the tagger sees of a word before any tag is known, as 32-bit hashes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.lookup import GRAINS, ClusterTable, find_cluster
from arcwise.features.hashing import scramble
from arcwise.features.letters import (
    DIGIT,
    LONGEST_WORD,
    OTHER,
    UPPER,
    Alphabet,
    kind_of,
    letters_key,
    letters_of,
    lower_letters,
)
from arcwise.features.letters import LOWER as LOWER_KIND
from arcwise.kernels import kernel
from arcwise.treebank.block import FORM as FORM_COLUMN

# The attributes. Digits count as equal in all but FORM. CLASS, CASE: of the lower-cased word in the training data, the tags it
# had and how often it began with a capital. STYLE: how the sentence uses capitals, and whether it ends in a question mark.
LONGEST_AFFIX = 5
FORM, LOWER = 0, 1
SUFFIX, PREFIX = 2, 2 + LONGEST_AFFIX
SHAPE, CLASS, CASE, STYLE = range(PREFIX + LONGEST_AFFIX, PREFIX + LONGEST_AFFIX + 4)
# Filled in once a word has its tag: the coarse tag, the fine tag, all of it. Last, the grains of the word's cluster.
TAGS = STYLE + 1
CLUSTER = TAGS + 3
ATTRIBUTES = CLUSTER + GRAINS

_LONGEST_SHAPE = 8


@kernel
def _read_emoji(letters: NDArray[np.int32], count: int) -> int:
    """Spell an emoji as the emoticon that treebanks are more likely to know, in place; returns how many letters there are."""
    if count > 0 and (0x2600 <= letters[0] < 0x27C0 or 0x1F000 <= letters[0] < 0x1FB00):
        letters[0], letters[1] = 58, 41  # :)
        return 2
    return count


@kernel
def _step(x: np.uint32, code: int) -> np.uint32:
    return scramble(np.uint32(x * np.uint32(31) + np.uint32(code)))


@kernel
def _shape(letters: NDArray[np.int32], count: int, alphabet: Alphabet) -> np.uint32:
    """Kinds of characters, other characters themselves; runs count as two, the first few runs only."""
    x = np.uint32(SHAPE)
    last, run, length = -1, 0, 0
    for i in range(count):
        kind = kind_of(letters[i], alphabet)
        sign = letters[i] + 8 if kind == OTHER else kind
        run = run + 1 if sign == last else 1
        last = sign
        if run <= 2 and length < _LONGEST_SHAPE:
            x = _step(x, sign)
            length += 1
    return x


@kernel
def spell(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    boundaries: NDArray[np.int32],
    alphabet: Alphabet,
    clusters: ClusterTable,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.bool_]]:
    """The attributes of all words of a block, uint32 (words, ATTRIBUTES), but CLASS, CASE and TAGS; the keys of their lower case; and
    whether they begin with a capital.

    data, starts, stops: as in `Block`. boundaries: the index of each sentence's first word, and the end. O(bytes).
    """
    words = starts.shape[0]
    spelled = np.zeros((words, ATTRIBUTES), np.uint32)
    keys, capitals = np.empty(words, np.uint64), np.zeros(words, np.bool_)
    letters, lower = np.empty(LONGEST_WORD, np.int32), np.empty(LONGEST_WORD, np.int32)
    for s in range(len(boundaries) - 1):
        begin, end = boundaries[s], boundaries[s + 1]
        capitalised = shouted = small = 0
        question = 0
        for word in range(begin, end):
            row = spelled[word]
            count = letters_of(data, starts[word, FORM_COLUMN], stops[word, FORM_COLUMN], letters)
            if len(clusters.grains):
                cluster = find_cluster(letters, count, clusters, lower)
                if cluster >= 0:
                    for grain in range(GRAINS):
                        row[CLUSTER + grain] = clusters.grains[cluster, grain]
            count = _read_emoji(letters, count)
            x = np.uint32(FORM)
            for i in range(count):
                x = _step(x, letters[i])
            row[FORM] = x
            row[SHAPE] = _shape(letters, count, alphabet)
            first, second = (
                kind_of(letters[0], alphabet),
                kind_of(letters[min(1, count - 1)], alphabet) if count > 1 else OTHER,
            )
            capitals[word] = first == UPPER
            capitalised += first == UPPER
            shouted += first == UPPER and second == UPPER
            small += first == LOWER_KIND
            if word >= end - 2 and count == 1 and letters[0] == 63:
                question = 1

            lower_letters(letters, count, alphabet)
            keys[word] = letters_key(letters, count)
            for i in range(count):
                if kind_of(letters[i], alphabet) == DIGIT:
                    letters[i] = 48
            x = np.uint32(PREFIX)
            for i in range(count):
                x = _step(x, letters[i])
                if i < LONGEST_AFFIX:
                    row[PREFIX + i] = x
            row[LOWER] = x + np.uint32(1)
            x = np.uint32(SUFFIX)
            for i in range(min(count, LONGEST_AFFIX)):
                x = _step(x, letters[count - 1 - i])
                row[SUFFIX + i] = x
        style = 0 if capitalised == 0 else 1
        if shouted > 2 and shouted > small:
            style = 2
        elif capitalised > 2 and 5 * capitalised > 3 * (capitalised + small):
            style = 3
        for word in range(begin, end):
            spelled[word, STYLE] = 2 * style + question
    return spelled, keys, capitals
