"""What the training data says of single words: how many there were, the tags they had, how often they were capitalised."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays
from arcwise.features.hash_table import FIRST_NUMBER, UNKNOWN, HashTable, find_key, hash_table
from arcwise.kernels import kernel
from arcwise.tagging.spelling import CASE, CLASS, FORM, LOWER

_FOR_CLASS, _FOR_CASE, _FOR_LIST = (
    5,
    5,
    30,
)  # a word must occur so often for its class, its case, its list of tags
_SHARE = 0.05  # a word's class names the tags that it has in this share of cases at least
_CASES = 4


class Lexicon(NamedTuple):
    """Known words in lower case. classes, cases: their attributes, 0 if too rare to tell. lists: the list of tags that a word can
    have, 0 for all tags. first, tags: where each list begins in `tags`.
    """

    words: HashTable
    classes: NDArray[np.uint32]
    cases: NDArray[np.uint8]
    lists: NDArray[np.uint16]
    first: NDArray[np.int32]
    tags: NDArray[np.int32]


def learn_lexicon(
    keys: NDArray[np.uint64],
    capitals: NDArray[np.bool_],
    first: NDArray[np.bool_],
    tags: NDArray[np.int32],
    fine: NDArray[np.uint32],
) -> tuple[Arrays, NDArray[np.int64]]:
    """The arrays of a lexicon, as it is stored; and how often each word occurs. O(words log words).

    keys, capitals: of `spell`. first: whether a word is the first of its sentence, whose capital means nothing. tags: the right
    tags. fine: the fine tag of each tag.
    """
    known, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
    within = np.bincount(numbers[~first], minlength=len(known))
    capitalised = np.bincount(numbers[~first & capitals], minlength=len(known))
    cases = np.where(within >= _FOR_CASE, 1 + (_CASES * capitalised) // np.maximum(within, 1), 0)

    classes = np.zeros(len(known), np.uint32)
    for word, values in _sets(numbers, fine[tags], counts, _FOR_CLASS, _SHARE):
        classes[word] = crc32(values.tobytes())  # the same set has the same number in every lexicon
    lists, tuples = np.zeros(len(known), np.uint16), {tuple(range(len(fine))): 0}
    for word, values in _sets(numbers, tags.astype(np.uint32), counts, _FOR_LIST, 0.0):
        names = tuple(values.tolist())
        if len(tuples) < 1 << 16:
            tuples.setdefault(names, len(tuples))
        lists[word] = tuples.get(names, 0)
    arrays: Arrays = {
        "lexicon.keys": known,
        "lexicon.classes": classes,
        "lexicon.cases": cases.astype(np.uint8),
        "lexicon.lists": lists,
        "lexicon.first": np.cumsum([0, *map(len, tuples)], dtype=np.int32),
        "lexicon.tags": np.array([tag for names in tuples for tag in names], np.int32),
    }
    return arrays, counts[numbers].astype(np.int64)


def _sets(
    words: NDArray[np.int64],
    values: NDArray[np.uint32],
    counts: NDArray[np.int64],
    least: int,
    share: float,
) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """For every word that occurs `least` times the sorted values with this share of its occurrences."""
    width = int(values.max()) + 1
    pairs, often = np.unique(words * width + values, return_counts=True)
    word, value = pairs // width, (pairs % width).astype(np.uint32)
    chosen = (counts[word] >= least) & (often >= share * counts[word])
    word, value = word[chosen], value[chosen]
    bounds = np.flatnonzero(np.diff(word, prepend=-1, append=-1)) if len(word) else np.zeros(1, np.int64)
    for begin, end in pairwise(bounds.tolist()):
        yield int(word[begin]), value[begin:end]


def lexicon_format(tags: int) -> dict[str, Array]:
    """What a tagger with so many tags stores of a lexicon. There is a list at least, that of unknown words; none is empty."""
    return {
        "lexicon.keys": Array(np.uint64, ("words",), least=1, rising=True),
        "lexicon.classes": Array(np.uint32, ("words",)),
        "lexicon.cases": Array(np.uint8, ("words",)),
        "lexicon.lists": Array(np.uint16, ("words",), below="lists"),
        "lexicon.first": Array(
            np.int32, ("lists+1",), starts="listed tags", steps=(1, tags), holds=lambda first: len(first) > 1,
            meaning="one list or more",
        ),
        "lexicon.tags": Array(np.int32, ("listed tags",), least=0, most=tags - 1),
    }  # fmt: skip


def lexicon(arrays: Arrays) -> Lexicon:
    """The lexicon of stored arrays, which have been checked against `lexicon_format`."""
    keys, classes, cases, lists, first, tags = (arrays[name].copy() for name in lexicon_format(1))
    return Lexicon(hash_table(keys), classes, cases, lists, first, tags)


@kernel
def look_up(
    keys: NDArray[np.uint64], lexicon: Lexicon, spelled: NDArray[np.uint32], lists: NDArray[np.uint16]
) -> None:
    """Fill CLASS and CASE of every word, and its list of tags; FORM and LOWER of an unknown word become UNKNOWN."""
    for word in range(len(keys)):
        number = find_key(lexicon.words, keys[word])
        if number == UNKNOWN:
            lists[word] = spelled[word, CLASS] = spelled[word, CASE] = 0
            spelled[word, FORM] = spelled[word, LOWER] = 0
        else:
            entry = number - FIRST_NUMBER
            spelled[word, CLASS] = lexicon.classes[entry]
            spelled[word, CASE] = lexicon.cases[entry]
            lists[word] = lexicon.lists[entry]
