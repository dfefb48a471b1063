"""A block: the bytes of some whole sentences, and where everything lies in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.treebank.formats import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, UPOS, XPOS, Format
from arcwise.treebank.indexing import index_arrays, index_sentences
from arcwise.treebank.malformed import complaint
from arcwise.treebank.splicing import gather_column, splice_trees, spliced_size

if TYPE_CHECKING:
    from arcwise.treebank.sentence import Sentence

__all__ = [
    "DEPREL",
    "FEATS",
    "FORM",
    "HEAD",
    "ID",
    "LEMMA",
    "UPOS",
    "XPOS",
    "Block",
    "PackedNames",
    "index_block",
    "pack_names",
]

PackedNames = tuple[NDArray[np.uint8], NDArray[np.int32]]

_KEPT_ERRORS = 20


class Block:
    r"""Whole sentences as bytes, with the offsets of the columns of every syntactic word.

    data: uint8, the bytes. lines[i]: the line of sentence i's first line in `file`. sentence_bytes[i] ..
    sentence_bytes[i + 1]: the bytes of sentence i. words[i] .. words[i + 1]: its rows in `starts` and
    `stops`, both int32 of shape (words, 8), the byte offsets of the columns ID, FORM, LEMMA, UPOS, XPOS,
    FEATS, HEAD, DEPREL (0, 0 if the format has no such column), and in `heads`, int32, -1 for `_`. Ranges and
    empty nodes have no row.

    >>> from arcwise.treebank.formats import CONLLX
    >>> block, errors = index_block(b"1\tGo\tgo\tV\tV\t_\t0\troot\t_\t_\n\n", CONLLX)
    >>> len(block), block.heads.tolist(), block.column(FORM)
    (1, [0], ['Go'])
    """

    __slots__ = (
        *(
            "data",
            "format",
            "file",
            "first_line",
            "lines",
            "sentence_bytes",
            "words",
            "starts",
            "stops",
            "heads",
        ),
        "_columns",
    )

    def __init__(
        self,
        data: NDArray[np.uint8],
        *,
        format: Format,
        file: str,
        first_line: int,
        lines: NDArray[np.int64],
        sentence_bytes: NDArray[np.int64],
        words: NDArray[np.int32],
        starts: NDArray[np.int32],
        stops: NDArray[np.int32],
        heads: NDArray[np.int32],
    ) -> None:
        self.data, self.format, self.file, self.first_line = data, format, file, first_line
        self.lines, self.sentence_bytes, self.words = lines, sentence_bytes, words
        self.starts, self.stops, self.heads = starts, stops, heads
        self._columns: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        from arcwise.treebank.sentence import Sentence

        chosen = range(len(self))[index]
        return Sentence(self, chosen) if isinstance(chosen, int) else [Sentence(self, i) for i in chosen]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self[:])

    def column(self, role: int) -> list[str]:
        """One column of all words, `_` if the format has none; kept for the next call. O(bytes)."""
        if role not in self._columns:
            if self.format.roles[role] < 0:
                self._columns[role] = ["_"] * len(self.heads)
            else:
                text = str(gather_column(self.data, self.starts, self.stops, role).data, "utf-8")
                self._columns[role] = text.split("\n")[:-1]
        return self._columns[role]

    def rewritten(self, data: NDArray[np.uint8]) -> Block:
        """The block of these bytes: its own with other columns, so that its sentences still begin on the same lines of the file.

        InputError, if a line has become too long.
        """
        block, complaints = index_block(
            data, self.format, file=self.file, first_line=self.first_line, check_trees=False
        )
        for error in complaints:
            raise error or InputError("a line that has become too long", file=self.file)
        block.lines = self.lines
        return block

    def replace_trees(
        self, heads: NDArray[np.int32], labels: NDArray[np.int32], names: PackedNames
    ) -> NDArray[np.uint8]:
        """The block's bytes with HEAD and DEPREL of all words replaced. O(bytes), without the lock.

        heads: int32[words], word numbers within each sentence, -1 writes `_`. labels: int32[words], indices
        into the names packed by `pack_names`, -1 writes `_`.
        """
        heads, labels = np.ascontiguousarray(heads, np.int32), np.ascontiguousarray(labels, np.int32)
        if heads.shape != self.heads.shape or labels.shape != self.heads.shape:
            raise InputError(
                f"heads of shape {heads.shape} and labels of shape {labels.shape}",
                expected=f"{self.heads.shape}, one for each word of the block",
            )
        text, offsets = names
        size, culprit = spliced_size(
            len(self.data), self.words, self.starts, self.stops, heads, labels, offsets
        )
        if culprit >= 0:
            raise InputError(
                f"head {heads[culprit]} and label {labels[culprit]} for row {culprit} of the block",
                expected=f"a word of its sentence and one of {len(offsets) - 1} labels",
            )
        output = np.empty(size, np.uint8)
        splice_trees(self.data, self.starts, self.stops, heads, labels, text, offsets, output)
        return output


def pack_names(names: Sequence[bytes]) -> PackedNames:
    """Label names as `Block.replace_trees` reads them: their bytes end to end, and the offset of each."""
    for name in names:
        if not name or any(byte in name for byte in b"\t\n\r\0"):
            raise InputError(f"label {name!r}", expected="text without tabs and line ends")
    offsets = np.zeros(len(names) + 1, np.int32)
    np.cumsum([len(name) for name in names], out=offsets[1:])
    return np.frombuffer(bytearray(b"".join(names)), np.uint8), offsets


def index_block(
    data: bytes | bytearray | NDArray[np.uint8],
    format: Format,
    *,
    file: str = "",
    first_line: int = 1,
    check_trees: bool = True,
) -> tuple[Block, list[InputError | None]]:
    """The good sentences of `data` as a block, and an InputError for each bad one (20 at most; then None)."""
    array = np.frombuffer(data, np.uint8)
    if not array.flags.writeable:
        array = array.copy()  # to Numba a read-only array is another type: all kernels would compile twice
    rules = (
        format.minimum,
        int(format.more_columns),
        int(format.comments),
        int(format.ranges),
        int(format.empty_nodes),
        int(format.final_blank_line),
        int(check_trees),
    )
    output = index_arrays(int(np.count_nonzero(array == 10)))
    sentences, words, bad = index_sentences(array, rules, format.roles, **output)
    lines = output["lines"][:sentences] + first_line
    complaints: list[InputError | None] = [None] * bad
    if bad:
        raw = array.tobytes()
        errors = output["errors"]
        keep = np.ones(len(array), np.bool_)
        for k in range(bad):
            error, start, stop, bad_start, bad_stop = errors[k].tolist()
            keep[bad_start:bad_stop] = False
            if k < _KEPT_ERRORS:
                complaints[k] = complaint(
                    error, raw, start, stop, format=format, file=file, first_line=first_line
                )
        array = array[keep]
        index_sentences(array, rules, format.roles, **output)
    block = Block(
        array,
        format=format,
        file=file,
        first_line=first_line,
        lines=lines,
        sentence_bytes=output["sentence_bytes"][: sentences + 1],
        words=output["words"][: sentences + 1],
        starts=output["starts"][:words],
        stops=output["stops"][:words],
        heads=output["heads"][:words],
    )
    return block, complaints
