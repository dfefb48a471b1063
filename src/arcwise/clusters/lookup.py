"""Clusters as kernels look them up: by the letters of a word, then by its lower case.

Of a clustering a model keeps a 64-bit key for every word and the number of its cluster; neither words nor bit strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, checked
from arcwise.clusters.files import Clusters
from arcwise.clusters.hierarchy import equal_frequency, fixed_prefixes
from arcwise.errors import InputError
from arcwise.features.hash_table import FIRST_NUMBER, UNKNOWN, HashTable, find_key, hash_table
from arcwise.features.letters import (
    ALPHABET,
    LONGEST_WORD,
    Alphabet,
    letters_key,
    letters_of,
    lower_case,
    lower_letters,
)
from arcwise.kernels import kernel

# What is known of a word's cluster: the first bits of its string, some more of them, and the whole string.
FEW_BITS, MORE_BITS, ALL_BITS = range(3)
GRAINS = 3
BITS, FREQUENCY = "bits", "frequency"
CUTS = (BITS, FREQUENCY)
SHORT, LONG = 4, 6  # bits
_MOST_CLUSTERS = 1 << 16
# What a model stores of clusters.
CLUSTER_FORMAT = {
    "clusters.keys": Array(np.uint64, ("words with clusters",), least=1, rising=True),
    "clusters.of": Array(np.uint16, ("words with clusters",), below="clusters"),
    "clusters.grains": Array(np.int32, ("clusters", GRAINS), least=FIRST_NUMBER),
}


class ClusterTable(NamedTuple):
    """words: the keys of all words. clusters: the cluster of each. grains: int32 (clusters, GRAINS), the numbers of what is known of
    a cluster, each from FIRST_NUMBER on; empty if there are no clusters. alphabet: for lower case.
    """

    words: HashTable
    clusters: NDArray[np.uint16]
    grains: NDArray[np.int32]
    alphabet: Alphabet = ALPHABET


NO_CLUSTERS = ClusterTable(
    HashTable(np.zeros(1, np.uint64), np.zeros(1, np.int32)),
    np.empty(0, np.uint16),
    np.empty((0, GRAINS), np.int32),
)


def cluster_arrays(clusters: Clusters, cut: str = BITS) -> Arrays:
    """What a model stores of clusters. cut: whether few and more bits are the first SHORT and LONG (BITS), or such that 2^SHORT and
    2^LONG classes remain, of about equal frequency (FREQUENCY).
    """
    if cut not in CUTS:
        raise InputError(f"clusters cut by {cut!r}", expected=" or ".join(CUTS))
    strings = clusters.bits
    if len(set(strings.values())) > _MOST_CLUSTERS:
        raise InputError(f"{len(set(strings.values()))} clusters", expected=f"{_MOST_CLUSTERS} at most")
    if cut == BITS:
        few, more = (fixed_prefixes(strings, length) for length in (SHORT, LONG))
    else:
        few, more = (equal_frequency(strings, clusters.counts, 1 << length) for length in (SHORT, LONG))
    classes = sorted({(few[word], more[word], bits) for word, bits in strings.items()})
    numbers = {bits: number for number, (_, _, bits) in enumerate(classes)}
    grains = np.empty((len(classes), GRAINS), np.int32)
    for grain, names in enumerate(zip(*classes, strict=True)):
        grains[:, grain] = FIRST_NUMBER + np.unique(np.array(names), return_inverse=True)[1]
    keys = np.array([word_key(word) for word in strings], np.uint64)
    kept, first = np.unique(keys, return_index=True)
    of = np.array([numbers[bits] for bits in strings.values()], np.uint16)[first]
    return {"clusters.keys": kept, "clusters.of": of, "clusters.grains": grains}


def cluster_table(arrays: Mapping[str, NDArray[Any]]) -> ClusterTable:
    """The table of these arrays of a model; without them one without clusters. InputError if kernels could not trust it."""
    named = {name: array for name, array in arrays.items() if name.startswith("clusters.")}
    if not named:
        return NO_CLUSTERS
    found = checked(named, CLUSTER_FORMAT)
    keys, of, grains = (found[name].copy() for name in CLUSTER_FORMAT)
    return ClusterTable(hash_table(keys), of, grains)


def word_key(word: str) -> int:
    """The key of a word."""
    data, letters = np.frombuffer(word.encode(), np.uint8), np.empty(LONGEST_WORD, np.int32)
    return int(letters_key(letters, letters_of(data, 0, len(data), letters)))


def bits_of_words(bits: Mapping[str, str], words: Iterable[str]) -> dict[str, str]:
    """The bit strings of words, or of their lower case, as `find_cluster` finds them, without those that have none.

    >>> bits_of_words({"the": "00", "Paris": "1"}, ["The", "PARIS", "Paris"])
    {'The': '00', 'Paris': '1'}
    """
    known: dict[str, str] = {}
    for word, string in bits.items():
        known.setdefault(word[-LONGEST_WORD:], string)
    found = {}
    for word in words:
        end = word[-LONGEST_WORD:]
        known_as = end if end in known else lower_case(end)
        if known_as in known:
            found[word] = known[known_as]
    return found


@kernel
def find_cluster(
    letters: NDArray[np.int32], count: int, table: ClusterTable, lower: NDArray[np.int32]
) -> int:
    """The cluster of a word, or that of its lower case, by the row of `grains`; -1 if there is none. lower: scratch."""
    number = find_key(table.words, letters_key(letters, count))
    if number == UNKNOWN:
        for i in range(count):
            lower[i] = letters[i]
        lower_letters(lower, count, table.alphabet)
        number = find_key(table.words, letters_key(lower, count))
    return -1 if number == UNKNOWN else int(table.clusters[number - FIRST_NUMBER])
