"""The binary tree of clusters: bit strings, and where to cut them off."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError


def bit_strings(merges: NDArray[np.int32], words: int) -> list[str]:
    """The way from the root to each word's cluster, 0 for the cluster of lower name at every turn; "0" if there is but one cluster.

    merges: those of `brown_merges` that merge the final clusters. names of clusters are words; a word that is no name gets "".
    Without merges, all words are of the cluster that is named 0.

    >>> bit_strings(np.array([[1, 2], [0, 1]], np.int32), 4)
    ['0', '10', '11', '']
    >>> bit_strings(np.empty((0, 2), np.int32), 2)
    ['0', '']
    """
    strings = [""] * words
    if not len(merges) and words:
        strings[0] = "0"
    for low, high in merges[::-1].tolist():
        strings[high] = strings[low] + "1"
        strings[low] += "0"
    return strings


def fixed_prefixes(strings: Mapping[str, str], length: int) -> dict[str, str]:
    """The bit strings of words, cut off after so many bits (section 3.3.2); shorter ones stay.

    >>> fixed_prefixes({"a": "0110", "b": "010", "c": "1"}, 2)
    {'a': '01', 'b': '01', 'c': '1'}
    """
    if length < 1:
        raise InputError(f"prefixes of {length} bits", expected="1 or more")
    return {word: bits[:length] for word, bits in strings.items()}


def equal_frequency(strings: Mapping[str, str], counts: Mapping[str, int], classes: int) -> dict[str, str]:
    """The bit strings of words, cut off such that `classes` of them remain, as equally frequent as the tree allows (section 3.5.2).

    Beginning at the root, the most frequent class is split in two until there are so many: low levels of the tree are entered
    where many words are. Fewer, if the tree has no more leaves. Of equally frequent classes the first is split.

    >>> strings = {"the": "00", "a": "01", "cat": "100", "dog": "101", "axolotl": "11"}
    >>> equal_frequency(strings, {"the": 9, "a": 7, "cat": 3, "dog": 2, "axolotl": 1}, 3)
    {'the': '00', 'a': '01', 'cat': '1', 'dog': '1', 'axolotl': '1'}
    """
    if classes < 1:
        raise InputError(f"{classes} classes", expected="1 or more")
    frequencies: defaultdict[str, int] = defaultdict(int)
    for word, bits in strings.items():
        for length in range(len(bits) + 1):
            frequencies[bits[:length]] += counts[word]
    leaves = set(strings.values())
    waiting = [(-frequencies[""], "")] if strings else []
    cut: set[str] = set()
    while waiting and len(waiting) + len(cut) < classes:
        _, bits = heapq.heappop(waiting)
        if bits in leaves:
            cut.add(bits)
            continue
        below = [bits + bit for bit in "01" if bits + bit in frequencies]
        for deeper in below:
            heapq.heappush(waiting, (-frequencies[deeper], deeper))
    cut.update(bits for _, bits in waiting)
    if cut == {""}:  # all words are one class, which needs a name
        return dict.fromkeys(strings, "0")
    return {
        word: next(bits[:length] for length in range(1, len(bits) + 1) if bits[:length] in cut)
        for word, bits in strings.items()
    }
