"""Token attributes: what the model sees of a word, as numbers from frozen vocabularies.

A vocabulary is the sorted list of the 64-bit hashes of all values that an attribute took in the training data; the number of a
value is its place there. Nothing else is known of a word at parsing time, and a value outside the vocabulary is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.lookup import GRAINS, NO_CLUSTERS, ClusterTable, find_cluster
from arcwise.features.hash_table import ROOT, UNKNOWN, HashTable, find_key, hash_table
from arcwise.features.hashing import hash_bytes
from arcwise.features.letters import LONGEST_WORD, letters_of
from arcwise.kernels import inline_kernel, kernel
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
# After those what clusters know, all UNKNOWN in models without: the form, if it is frequent, and the grains of its cluster.
FREQUENT = MORPHOLOGY + MOST_FEATURES
CLUSTER = FREQUENT + 1
COLUMNS = CLUSTER + GRAINS

EVERY = (1 << 31) - 1  # more forms than any treebank has

_PREFIX_LETTERS, _SUFFIX_LETTERS = 5, 3
_UNDERSCORE, _BAR = ord("_"), ord("|")
_OTHER_KEY = np.uint64(0x9E3779B97F4A7C15)  # odd


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
                if feature < FREQUENT:
                    keys[feature] = hash_bytes(data, start, i, MORPHOLOGY)
                    feature += 1
                start = i + 1


@kernel
def _block_keys(
    data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32]
) -> NDArray[np.uint64]:
    keys = np.empty((starts.shape[0], FREQUENT), np.uint64)
    for word in range(starts.shape[0]):
        _word_keys(data, starts[word], stops[word], keys[word])
    return keys


class Vocabulary(NamedTuple):
    """All known values of all attributes, and the clusters of words."""

    values: HashTable
    clusters: ClusterTable


@inline_kernel
def _frequent_key(form: np.uint64) -> np.uint64:
    """The key of a form among the frequent ones."""
    return (form ^ _OTHER_KEY) * _OTHER_KEY


def collect_keys(blocks: Iterable[Block], frequent: int = 0, words: int = EVERY) -> NDArray[np.uint64]:
    """The sorted hashes of all attribute values in the blocks: the vocabulary, as it is stored. O(words log words).

    frequent: how many forms are FREQUENT, those that come most often. words: how many forms, and how many lemmas, are known at all.
    """
    found, spelled = [np.empty(0, np.uint64)], [np.empty((0, 2), np.uint64)]
    for block in blocks:
        keys = _block_keys(block.data, block.starts, block.stops)
        found.append(np.unique(keys))
        spelled.append(keys[:, [FORM, LEMMA]])
    forms, lemmas = (_most_frequent_first(column) for column in np.concatenate(spelled).T)
    unseen = np.concatenate([np.zeros(1, np.uint64), forms[words:], lemmas[words:]])
    known = np.unique(np.concatenate([*found, (forms[:frequent] ^ _OTHER_KEY) * _OTHER_KEY]))
    return np.asarray(known[~np.isin(known, unseen)])


def _most_frequent_first(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    names, counts = np.unique(keys, return_counts=True)
    return np.asarray(names[np.argsort(-counts, kind="stable")])


def vocabulary(keys: NDArray[np.uint64], clusters: ClusterTable = NO_CLUSTERS) -> Vocabulary:
    """The vocabulary of these sorted hashes."""
    return Vocabulary(hash_table(keys), clusters)


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
    keys = np.empty(FREQUENT, np.uint64)
    clusters = vocabulary.clusters
    letters, lower = np.empty(LONGEST_WORD, np.int32), np.empty(LONGEST_WORD, np.int32)
    sentences = len(boundaries) - 1
    numbers = np.empty((starts.shape[0] + sentences, COLUMNS), np.int32)
    for sentence in range(sentences):
        numbers[boundaries[sentence] + sentence] = ROOT
        for word in range(boundaries[sentence], boundaries[sentence + 1]):
            row = numbers[word + sentence + 1]
            _word_keys(data, starts[word], stops[word], keys)
            row[MORPHOLOGY:] = UNKNOWN
            for column in range(FREQUENT):
                key = keys[column]
                if key == 0:  # no more morphological features
                    break
                row[column] = find_key(vocabulary.values, key)
            if len(clusters.grains):
                row[FREQUENT] = find_key(vocabulary.values, _frequent_key(keys[FORM]))
                count = letters_of(data, starts[word, FORM_COLUMN], stops[word, FORM_COLUMN], letters)
                cluster = find_cluster(letters, count, clusters, lower)
                if cluster >= 0:
                    for grain in range(GRAINS):
                        row[CLUSTER + grain] = clusters.grains[cluster, grain]
    return numbers
