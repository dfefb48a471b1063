"""The parser: a model at work on blocks, sentences and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError, ModelError
from arcwise.features.attributes import number_words
from arcwise.learning.corpus import word_rows
from arcwise.pipeline.keeping import contradiction, keep_nothing, read_kept
from arcwise.pipeline.model import Model, load_model
from arcwise.pipeline.pieces import cut, heads_within, join
from arcwise.pipeline.sentences import UNKNOWN_LABEL, parse_sentences
from arcwise.treebank.block import Block, PackedNames, index_block, pack_names
from arcwise.treebank.sentence import Sentence

# The longest sentence that is parsed in one piece: a square of scores of 32 MB. A longer one is cut into pieces of this
# many words, each parsed on its own; the roots of the later pieces then hang on the root of the first (`arcwise.pipeline.pieces`).
LONGEST = 2000
_MOST_IN_GROUP = 500  # sentences that are parsed in one call of the kernels


class Trees(NamedTuple):
    """The trees of a block: heads (word numbers within the sentence) and label numbers by word; score and whether the sentence
    was searched in one piece by sentence; the names that the label numbers stand for.
    """

    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    whole: NDArray[np.bool_]
    names: tuple[str, ...]


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
        self._allowed = model.arrays["allowed"]
        below = np.flatnonzero(self._allowed[1])
        self._loose = model.names.index("parataxis") if "parataxis" in model.names else int(below[0])
        self._packed_names = _pack(model.names)

    def __repr__(self) -> str:
        roots = "one root" if self.single_root else "several roots"
        return f"<arcwise.Parser: {len(self.labels)} labels, {roots}>"

    def __call__(
        self, text: Sentence | Sequence[str] | Iterable[Sentence | Sequence[str]], *, keep: bool = False
    ) -> Document:
        """Parse a sentence, or several: each a Sentence (whose tags are used) or a list of words.

        keep: the heads and labels that a Sentence has stay, and the best tree that has them is found, as in `parse_block`:

            given = Sentence.from_words(["Time", "flies"], heads=[-1, 0], labels=["nsubj", None])
            print(parser(given, keep=True))  # "Time" hangs on 2 as nsubj, "flies" is the root
        """
        if isinstance(text, Sentence):
            sentences = [text]
        elif isinstance(text, str):
            raise InputError("raw text", expected="a list of words, a Sentence, or several of them")
        else:
            items: list[Any] = list(text)
            if items and all(isinstance(item, str) for item in items):
                items = [items]
            sentences = [item if isinstance(item, Sentence) else _from_words(item) for item in items]
        return Document(parsed for group in _groups(sentences) for parsed in self._parse_group(group, keep))

    def _parse_group(self, group: list[Sentence], keep: bool) -> list[Sentence]:
        """Parse sentences that make one block."""
        format, file = group[0].format, group[0].file
        data = b"".join(sentence.to_bytes() for sentence in group)
        block, _ = index_block(data, format, file=file, check_trees=False)
        block.lines = np.array([sentence.line for sentence in group], np.int64)
        trees = self.parse_block(block, keep)
        parsed, _ = index_block(self.with_trees(block, trees), format, file=file, check_trees=False)
        parsed.lines = block.lines
        return [
            Sentence(parsed, i, score=float(trees.scores[i]), certified=bool(trees.whole[i]))
            for i in range(len(group))
        ]

    def parse_block(self, block: Block, keep: bool = False) -> Trees:
        """The best tree of every sentence of a block, among the arcs that the pruner keeps. Runs without the lock.

        keep: where HEAD or DEPREL say more than `_`, the tree has that head and that label, also one that the model does not know, or
        not from this head; the rest is the best that goes with it. What is given is never pruned. A label that the model knows from
        the root only, or never from it, settles this for a head that is not given. InputError, if no tree has what is given: it
        says which arcs are to blame. Where all is given, the block's bytes stay as they are.
        """
        kept = read_kept(block, self.labels, self._allowed) if keep else keep_nothing(block, self.labels)
        pieces = cut(block.words, LONGEST)
        numbers = number_words(block.data, block.starts, block.stops, pieces, self._vocabulary)
        starts = pieces + np.arange(len(pieces), dtype=np.int64)
        rows = word_rows(pieces)
        row_heads, row_labels = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.int32)
        row_heads[rows] = heads_within(block.words, LONGEST, kept.heads)
        row_labels[rows] = np.where(kept.labels < len(self.labels), kept.labels, UNKNOWN_LABEL)
        scores = np.empty(len(pieces) - 1)
        parse_sentences(numbers, starts, self._weights, row_heads, row_labels, scores)
        scores *= self.model.arrays["scales"][1]
        scores = np.add.reduceat(scores, np.searchsorted(pieces, block.words[:-1]))
        whole = np.diff(block.words) <= LONGEST
        for sentence in np.flatnonzero(np.isneginf(scores) | (keep & ~whole)):
            error = contradiction(block, int(sentence), kept, self.single_root)
            if error is not None:
                raise error
        heads, labels = row_heads[rows], row_labels[rows]
        join(block.words, LONGEST, kept.heads, heads, labels, self._loose)
        labels = np.where(kept.labels < 0, labels, kept.labels)
        return Trees(heads, labels, scores, whole, kept.names)

    def with_trees(self, block: Block, trees: Trees) -> NDArray[np.uint8]:
        """The block's bytes with these trees in place of its own. Runs without the lock."""
        if trees.names is self.labels:
            return block.replace_trees(trees.heads, trees.labels, self._packed_names)
        return block.replace_trees(trees.heads, trees.labels, _pack(trees.names))

    def parse_to_bytes(self, block: Block, keep: bool = False) -> NDArray[np.uint8]:
        """The block's bytes with the best trees in place of its own."""
        return self.with_trees(block, self.parse_block(block, keep))


def _pack(names: tuple[str, ...]) -> PackedNames:
    return pack_names([name.encode() for name in names])


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
