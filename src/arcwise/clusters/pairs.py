"""Counting words, and pairs of words, in memory that grows with their kinds and not with the text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BUFFER = 1 << 22  # pairs that are sorted together

Keys = tuple[NDArray[np.int64], NDArray[np.int64]]


class PairCounts(NamedTuple):
    """Words and pairs of them.

    words: in UTF-8, by rank: the most frequent first, those of equal count by their bytes. occurrences: of every word, int64.
    first, second, numbers: int64, the pairs in order, by the ranks of their words, and how often each occurs.
    """

    words: list[bytes]
    occurrences: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    numbers: NDArray[np.int64]


class PairCounter:
    """Counts the words and the pairs that it is given.

    >>> counter = PairCounter()
    >>> tokens = np.array(counter.number(b"the cat saw the dog".split()))
    >>> counter.add_words(tokens)
    >>> counter.add_neighbours(tokens)
    >>> counts = counter.counts(minimum=1)
    >>> counts.words, counts.occurrences.tolist(), counts.numbers.tolist()
    ([b'the', b'cat', b'dog', b'saw'], [2, 1, 1, 1], [1, 1, 1, 1])
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._occurrences = np.zeros(1 << 10, np.int64)
        self._runs: list[Keys] = []
        self._waiting: list[NDArray[np.int64]] = []
        self._waiting_pairs = 0
        self.sentences = self.tokens = 0

    @property
    def words(self) -> list[bytes]:
        """All words so far, by number."""
        return list(self._numbers)

    def number(self, words: Iterable[bytes]) -> list[int]:
        """The number of each word: in the order in which they first came."""
        numbers, fresh = self._numbers, count(len(self._numbers))
        found = []
        for word in words:
            number = numbers.get(word)
            if number is None:
                number = numbers[word] = next(fresh)
            found.append(number)
        return found

    def add_words(self, tokens: NDArray[np.int64]) -> None:
        """Count words, given by number."""
        if len(self._occurrences) < len(self._numbers):
            more = np.zeros(2 * len(self._numbers), np.int64)
            more[: len(self._occurrences)] = self._occurrences
            self._occurrences = more
        self.tokens += len(tokens)
        found = np.bincount(tokens)
        self._occurrences[: len(found)] += found

    def add_neighbours(self, tokens: NDArray[np.int64]) -> None:
        """Count pairs of neighbours, given by number; -1 stands between sentences."""
        first, second = tokens[:-1], tokens[1:]
        both = (first >= 0) & (second >= 0)
        self.add_pairs(first[both], second[both])

    def add_pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        """Count pairs of words, given by number."""
        self._waiting.append(first << 32 | second)
        self._waiting_pairs += len(first)
        if self._waiting_pairs >= _BUFFER:
            self._sort_waiting()

    def counts(self, minimum: int) -> PairCounts:
        """What was counted, without the words that are rarer than `minimum` and their pairs."""
        self._sort_waiting()
        while len(self._runs) > 1:
            self._merge_last()
        keys, numbers = self._runs[0]
        words = self.words
        occurrences = self._occurrences[: len(words)]
        kept = np.flatnonzero(occurrences >= minimum).tolist()
        kept.sort(key=lambda word: (-occurrences[word], words[word]))
        rank = np.full(len(words), -1, np.int64)
        rank[kept] = np.arange(len(kept))
        first, second = rank[keys >> 32], rank[keys & (2**32 - 1)]
        both = (first >= 0) & (second >= 0)
        first, second, numbers = first[both], second[both], numbers[both]
        order = np.lexsort((second, first))
        return PairCounts(
            [words[word] for word in kept], occurrences[kept], first[order], second[order], numbers[order]
        )

    def _sort_waiting(self) -> None:
        """Make a run of the pairs that wait, and merge runs of like size: each pair is merged a logarithmic number of times."""
        keys = np.concatenate([np.empty(0, np.int64), *self._waiting])
        self._waiting, self._waiting_pairs = [], 0
        keys, numbers = np.unique(keys, return_counts=True)
        self._runs.append((keys, numbers))
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            self._merge_last()

    def _merge_last(self) -> None:
        (keys, numbers), (more_keys, more_numbers) = self._runs[-2:]
        together = np.concatenate([keys, more_keys])
        order = np.argsort(together, kind="stable")  # which merges sorted runs
        together = together[order]
        begins = np.flatnonzero(np.diff(together, prepend=-1))
        numbers = np.concatenate([numbers, more_numbers])[order]
        self._runs[-2:] = [
            (together[begins], np.add.reduceat(numbers, begins) if len(begins) else numbers[:0])
        ]
