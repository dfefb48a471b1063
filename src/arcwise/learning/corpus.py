"""A treebank as the learners see it: numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.attributes import Vocabulary, number_words
from arcwise.treebank.block import DEPREL, Block


class Corpus(NamedTuple):
    """Sentences one after another, each with a row for the root before its words.

    numbers: int32 (rows, COLUMNS). starts: int64, the row where each sentence begins, and the end. heads: int32, word numbers
    within the sentence, -1 for the root and where the head is not known. labels: int32, -1 for the root, for a label that the model
    does not know, and where the head is not known.
    """

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    heads: NDArray[np.int32]
    labels: NDArray[np.int32]


def word_rows(boundaries: NDArray[np.int32]) -> NDArray[np.int64]:
    """The row of each word where every sentence has a row for the root before its words.

    >>> word_rows(np.array([0, 2, 3], np.int32))
    array([1, 2, 4])
    """
    lengths = np.diff(boundaries)
    return np.arange(boundaries[-1]) + np.repeat(np.arange(1, len(boundaries)), lengths)


def make_corpus(blocks: Sequence[Block], vocabulary: Vocabulary, labels: Mapping[str, int]) -> Corpus:
    """All sentences of the blocks. About 100 bytes a word."""
    numbers, heads, label_numbers, starts = [], [], [], [np.zeros(1, np.int64)]
    for block in blocks:
        numbers.append(number_words(block.data, block.starts, block.stops, block.words, vocabulary))
        rows = word_rows(block.words)
        heads.append(np.full(len(numbers[-1]), -1, np.int32))
        heads[-1][rows] = block.heads
        label_numbers.append(np.full(len(numbers[-1]), -1, np.int32))
        label_numbers[-1][rows] = [labels.get(label, -1) for label in block.column(DEPREL)]
        label_numbers[-1][heads[-1] < 0] = -1
        ends = block.words[1:] + np.arange(1, len(block) + 1)
        starts.append(starts[-1][-1:] + ends)
    return Corpus(
        np.concatenate(numbers), np.concatenate(starts), np.concatenate(heads), np.concatenate(label_numbers)
    )


def select_sentences(corpus: Corpus, keep: NDArray[np.bool_]) -> Corpus:
    """The corpus of the sentences marked in `keep`."""
    lengths = np.diff(corpus.starts)
    rows = np.repeat(keep, lengths)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[keep])])
    return Corpus(corpus.numbers[rows], starts, corpus.heads[rows], corpus.labels[rows])


def whole_trees(corpus: Corpus) -> NDArray[np.bool_]:
    """The sentences in which every word's head is known."""
    unknown = np.add.reduceat(corpus.heads < 0, corpus.starts[:-1], dtype=np.int64)
    return np.asarray(unknown == 1)  # the root's row
