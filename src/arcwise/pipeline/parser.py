"""The parser: a model at work on blocks, sentences and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError, ModelError
from arcwise.features.attributes import number_words
from arcwise.learning.corpus import word_rows
from arcwise.pipeline.model import Model, load_model
from arcwise.pipeline.sentences import parse_sentences
from arcwise.treebank.block import Block, index_block, pack_names
from arcwise.treebank.sentence import Sentence

# The longest sentence that is parsed in one piece: a square of scores of 32 MB. A longer one is cut into pieces of this
# many words, each parsed on its own; the roots of the later pieces then hang on the root of the first.
LONGEST = 2000
_MOST_IN_GROUP = 500  # sentences that are parsed in one call of the kernels


class Trees(NamedTuple):
    """The trees of a block: heads (word numbers within the sentence) and label numbers by word; score and whether the sentence
    was searched in one piece by sentence.
    """

    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    whole: NDArray[np.bool_]


class Document(list[Sentence]):
    """Parsed sentences; prints as CoNLL-U."""

    def __str__(self) -> str:
        return "".join(map(str, self))


class Parser:
    """A trained model, ready to parse. Safe to use from several threads at once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.labels = model.names
        self.single_root = model.single_root
        self._weights = model.weights()
        self._vocabulary = model.vocabulary()
        below = np.flatnonzero(model.arrays["allowed"][1])
        self._loose = model.names.index("parataxis") if "parataxis" in model.names else int(below[0])
        self._packed_names = pack_names([name.encode() for name in model.names])

    def __repr__(self) -> str:
        roots = "one root" if self.single_root else "several roots"
        return f"<arcwise.Parser: {len(self.labels)} labels, {roots}>"

    def __call__(self, text: Sentence | Sequence[str] | Iterable[Sentence | Sequence[str]]) -> Document:
        """Parse a sentence, or several: each a Sentence (whose tags are used) or a list of words."""
        if isinstance(text, Sentence):
            sentences = [text]
        elif isinstance(text, str):
            raise InputError("raw text", expected="a list of words, a Sentence, or several of them")
        else:
            items: list[Any] = list(text)
            if items and all(isinstance(item, str) for item in items):
                items = [items]
            sentences = [item if isinstance(item, Sentence) else _from_words(item) for item in items]
        return Document(parsed for group in _groups(sentences) for parsed in self._parse_group(group))

    def _parse_group(self, group: list[Sentence]) -> list[Sentence]:
        """Parse sentences that make one block."""
        format, file = group[0].format, group[0].file
        data = b"".join(sentence.to_bytes() for sentence in group)
        block, _ = index_block(data, format, file=file, check_trees=False)
        trees = self.parse_block(block)
        parsed, _ = index_block(self.with_trees(block, trees), format, file=file, check_trees=False)
        parsed.lines = np.array([sentence.line for sentence in group], np.int64)
        return [
            Sentence(parsed, i, score=float(trees.scores[i]), certified=bool(trees.whole[i]))
            for i in range(len(group))
        ]

    def parse_block(self, block: Block) -> Trees:
        """The best tree of every sentence of a block, among the arcs that the pruner keeps. Runs without the lock."""
        pieces = _cut(block.words)
        numbers = number_words(block.data, block.starts, block.stops, pieces, self._vocabulary)
        starts = pieces + np.arange(len(pieces), dtype=np.int64)
        row_heads, row_labels = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.int32)
        scores = np.empty(len(pieces) - 1)
        parse_sentences(numbers, starts, self._weights, row_heads, row_labels, scores)
        scores *= self.model.arrays["scales"][1]
        rows = word_rows(pieces)
        heads, labels = row_heads[rows], row_labels[rows]
        whole = np.ones(len(block), np.bool_)
        if len(pieces) != len(block.words):
            scores, whole = self._join(block.words, pieces, heads, labels, scores)
        return Trees(heads, labels, scores, whole)

    def with_trees(self, block: Block, trees: Trees) -> NDArray[np.uint8]:
        """The block's bytes with these trees in place of its own. Runs without the lock."""
        return block.replace_trees(trees.heads, trees.labels, self._packed_names)

    def parse_to_bytes(self, block: Block) -> NDArray[np.uint8]:
        """The block's bytes with the best trees in place of its own."""
        return self.with_trees(block, self.parse_block(block))

    def _join(
        self,
        words: NDArray[np.int32],
        pieces: NDArray[np.int32],
        heads: NDArray[np.int32],
        labels: NDArray[np.int32],
        scores: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Make one tree of the pieces of each long sentence, in place; returns the scores and what was searched whole."""
        sentence_of = np.searchsorted(words, pieces[:-1], side="right") - 1
        for piece, sentence in enumerate(sentence_of):
            begin, end = pieces[piece], pieces[piece + 1]
            offset = begin - words[sentence]
            if offset > 0:
                here = heads[begin:end]
                first_root = (
                    int(np.flatnonzero(heads[words[sentence] : words[sentence] + LONGEST] == 0)[0]) + 1
                )
                labels[begin:end][here == 0] = self._loose
                heads[begin:end] = np.where(here == 0, first_root, here + offset)
        counts = np.bincount(sentence_of, minlength=len(words) - 1)
        sums = np.bincount(sentence_of, scores, minlength=len(words) - 1).astype(np.float64)
        return sums, counts == 1


def _cut(words: NDArray[np.int32]) -> NDArray[np.int32]:
    """Sentence boundaries, with more where a sentence is too long for one search."""
    if np.diff(words).max(initial=0) <= LONGEST:
        return words
    cuts = [np.arange(a, b, LONGEST, dtype=np.int32) for a, b in pairwise(words)]
    return np.concatenate([*cuts, words[-1:]])


def _groups(sentences: list[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences in groups whose bytes, joined, are one block: of one format and file, each ended by a blank line."""
    group: list[Sentence] = []
    for sentence in sentences:
        if group and (
            len(group) == _MOST_IN_GROUP
            or (sentence.format, sentence.file) != (group[0].format, group[0].file)
            or not group[-1].to_bytes().endswith(b"\n\n")
        ):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _from_words(words: Any) -> Sentence:
    """A sentence of plain words."""
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{words!r:.60} as a sentence", expected="a Sentence, or a list of words")
    return Sentence.from_words(list(words))


def load(name: str | Path) -> Parser:
    """Load a model from a file."""
    path = Path(name)
    if path.is_dir():
        raise ModelError(f"{path}: a folder, expected a model file")
    return Parser(load_model(path))
