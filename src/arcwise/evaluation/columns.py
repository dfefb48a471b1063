"""A treebank as flat columns of numbers, one entry per word, for comparing whole files at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.evaluation.interning import number_fields
from arcwise.kernels import inline_kernel, kernel
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import DEPREL, FEATS, FORM, ID, LEMMA, UPOS, XPOS
from arcwise.treebank.reading import Treebank, read_blocks
from arcwise.treebank.sentence import Sentence

#: A file, or sentences.
Trees = str | Path | Iterable[Sentence]

ROOT, NO_HEAD = -1, -2  # in `Columns.parents`
_ROLES = (FORM, LEMMA, UPOS, XPOS, FEATS, DEPREL)
_TAB, _LF, _MINUS, _ZERO, _NINE = b"\t\n-09"


class Strings:
    """Strings, numbered as they come: equal numbers mean equal strings. Files that are compared share one.

    >>> strings = Strings()
    >>> numbers = strings.numbers(["to", "be", "or", "not", "to", "be"])
    >>> numbers.tolist(), strings.each(numbers, len).tolist()
    ([0, 1, 2, 3, 0, 1], [2, 2, 2, 3, 2, 2])
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def number(self, string: str) -> int:
        """The number of this string."""
        return self._numbers[string]

    def numbers(self, strings: Collection[str]) -> NDArray[np.int32]:
        """The numbers of these strings."""
        return np.fromiter(map(self._numbers.__getitem__, strings), np.int32, len(strings))

    def names(self) -> list[str]:
        """All strings, by number."""
        return list(self._numbers)

    def each(self, numbers: NDArray[np.int32], function: Callable[[str], int]) -> NDArray[np.int32]:
        """`function` of the string of each number; called once per distinct string."""
        names = self.names()
        distinct = np.flatnonzero(np.bincount(numbers, minlength=len(names)))
        values = np.zeros(len(names), np.int32)
        values[distinct] = [function(names[number]) for number in distinct.tolist()]
        return values[numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """W words of S sentences, numbered through the treebank from 0.

    starts: int64 (S+1), the first word of every sentence, and W. heads: int32 (W), as in the file: 1.. within
    the sentence, 0 the root, -1 for `_`. forms, lemmas, upos, xpos, feats, labels: int32 (W), numbers in
    `strings`. ranges: int64 (R, 3): first word, the word after the last, number of the form. file: the file's
    name, or "". lines: int32 (W), each word's line in it.
    """

    strings: Strings
    file: str
    starts: NDArray[np.int64]
    heads: NDArray[np.int32]
    forms: NDArray[np.int32]
    lemmas: NDArray[np.int32]
    upos: NDArray[np.int32]
    xpos: NDArray[np.int32]
    feats: NDArray[np.int32]
    labels: NDArray[np.int32]
    ranges: NDArray[np.int64]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.heads)

    def parents(self) -> NDArray[np.int64]:
        """The word that is the head of each word, or ROOT, or NO_HEAD; int64 (W)."""
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        return np.where(self.heads > 0, first + self.heads - 1, np.where(self.heads == 0, ROOT, NO_HEAD))

    def place(self, word: int) -> str:
        """Where a word stands, for a message."""
        sentence = f"sentence {np.searchsorted(self.starts, word, side='right')}"
        return f"{sentence} of {self.file}, line {self.lines[word]}" if self.file else sentence

    def error(self, word: int, found: str, expected: str) -> InputError:
        """What is wrong with a word, and where."""
        sentence = int(np.searchsorted(self.starts, word, side="right"))
        return InputError(
            f"{found} in sentence {sentence}",
            expected=expected,
            file=self.file or None,
            line=int(self.lines[word]) if self.file else None,
            token=str(word - int(self.starts[sentence - 1]) + 1),
        )


def read_columns(trees: Trees, strings: Strings) -> Columns:
    """A file or sentences as columns with numbers of `strings`. O(bytes); 44 bytes per word stay in memory.

    >>> strings = Strings()
    >>> sentence = Sentence.from_words(["Go", "on"], heads=[0, 1], labels=["root", "advmod"])
    >>> columns = read_columns([sentence], strings)
    >>> len(columns), columns.parents().tolist(), [strings.names()[label] for label in columns.labels]
    (2, [-1, 0], ['root', 'advmod'])
    """
    if isinstance(trees, str | Path):
        return _join(read_blocks(trees), strings)
    if isinstance(trees, Treebank):
        return _join(trees.blocks(), strings)
    blocks = []
    for format, sentences in groupby(trees, key=lambda sentence: sentence.format):
        # The last sentence of a file may lack its blank line; one too many does no harm.
        data = b"".join(sentence.to_bytes() + b"\n\n" for sentence in sentences)
        blocks.append(index_block(data, format, check_trees=False)[0])
    return _join(blocks, strings)


def _join(blocks: Iterable[Block], strings: Strings) -> Columns:
    """The columns of consecutive blocks; only one block is in memory at a time."""
    file, words = "", 0
    columns: list[NDArray[np.int32]] = []
    heads, lines = [], []
    starts, ranges = [np.zeros(1, np.int64)], [np.zeros((0, 3), np.int64)]
    for block in blocks:
        file = block.file
        numbers, fields = number_fields(block.data, block.starts, block.stops, np.array(_ROLES))
        columns.append(strings.numbers(_texts(block, fields))[numbers])
        heads.append(block.heads.copy())
        starts.append(words + block.words[1:].astype(np.int64))
        found, word_lines = _find_ranges(block.data, block.sentence_bytes, block.lines, block.starts)
        ranges.append(np.column_stack([words + found[:, :2], strings.numbers(_texts(block, found[:, 2:]))]))
        lines.append(word_lines)
        words += len(block.heads)
    if words == 0:
        raise InputError("no sentences", expected="at least one", file=file or None)
    forms, lemmas, upos, xpos, feats, labels = np.concatenate(columns, axis=1)
    return Columns(
        strings=strings,
        file=file,
        starts=np.concatenate(starts),
        heads=np.concatenate(heads),
        forms=forms,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        labels=labels,
        ranges=np.concatenate(ranges),
        lines=np.concatenate(lines),
    )


def _texts(block: Block, fields: NDArray[np.integer[Any]]) -> list[str]:
    """The strings at these bytes (start, stop) of a block; `_` for a column that its format lacks."""
    data = block.data.tobytes()
    return [data[start:stop].decode() or "_" for start, stop in fields.tolist()]


@inline_kernel
def _number(data: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """The number at `at`, and where it ends."""
    number = 0
    while data[at] >= _ZERO and data[at] <= _NINE:
        number = 10 * number + (data[at] - _ZERO)
        at += 1
    return number, at


@kernel
def _find_ranges(
    data: NDArray[np.uint8],
    sentence_bytes: NDArray[np.int64],
    lines: NDArray[np.int64],
    starts: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The ranges of a block and the line of each word. O(bytes).

    A range is a row (first word, word after the last, first byte of the form, byte after its last).
    """
    words = len(starts)
    ranges = np.empty((words // 2 + 1, 4), np.int64)
    word_lines = np.empty(words, np.int32)
    word = count = 0
    for sentence in range(len(lines)):
        at, end, line = sentence_bytes[sentence], sentence_bytes[sentence + 1], lines[sentence]
        while at < end and data[at] == _LF:
            at += 1
        while at < end:
            if word < words and at == starts[word, ID]:
                word_lines[word] = line
                word += 1
            elif data[at] >= _ZERO and data[at] <= _NINE:  # an empty node `1.1` or a range `1-2`
                first, at = _number(data, at)
                if data[at] == _MINUS:
                    last, tab = _number(data, at + 1)
                    at = tab + 1
                    while data[at] != _TAB:
                        at += 1
                    ranges[count] = word, word + 1 + last - first, tab + 1, at
                    count += 1
            while at < end and data[at] != _LF:
                at += 1
            at += 1
            line += 1
    return ranges[:count].copy(), word_lines
