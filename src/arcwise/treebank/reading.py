"""Reading treebanks: as a stream of blocks in bounded memory, or as a sequence of sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate, chain
from pathlib import Path
from types import TracebackType
from typing import overload

from arcwise.errors import InputError
from arcwise.treebank import indexing
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import Format, format_named, recognise
from arcwise.treebank.malformed import complaint
from arcwise.treebank.sentence import Sentence
from arcwise.treebank.sources import Source, SourceLike

_HEAD = 1 << 16  # bytes a format is recognised from
_KEPT_ERRORS = 20


class BlockReader:
    """Iterates over the blocks of a treebank file, in memory that does not grow with the file.

    source: a path, "-" for standard input, or an open binary file; gzip, xz and zstd are recognised by their
    first bytes. A bad sentence is an InputError that says file, line and cause; with skip_bad it is left out
    and counted in `skipped`, the first 20 errors are kept in `skipped_errors`, and reading goes on after the
    next blank line. check_trees: whether a cycle or a missing root is an error. The format is recognised at
    once, or given.
    """

    def __init__(
        self,
        source: SourceLike | Source,
        *,
        format: Format | str | None = None,
        skip_bad: bool = False,
        check_trees: bool = True,
        block_bytes: int = 1 << 19,
    ) -> None:
        if block_bytes < 1:
            raise InputError(f"block_bytes is {block_bytes}", expected="1 or more")
        self._skip_bad, self._check_trees = skip_bad, check_trees
        self.skipped = 0
        self.skipped_errors: list[InputError] = []
        self._block_bytes, self._damaged = block_bytes, False
        given = format_named(format) if isinstance(format, str) else format
        self._source = source if isinstance(source, Source) else Source(source)
        try:
            pieces = self._pieces()
            head = bytearray()
            for piece in pieces:
                head += piece
                if len(head) >= _HEAD:
                    break
            if not head.strip(b"\n") and len(head) < _HEAD:
                raise InputError("no sentences", expected="at least one", file=self.file)
            self.format = given or recognise(bytes(head), self.file)
        except BaseException:
            self._source.close()
            raise
        self._blocks = self._read(chain([head], pieces))

    @property
    def file(self) -> str:
        """The file's name in messages."""
        return self._source.name

    @property
    def bytes_read(self) -> int:
        """How many bytes of the underlying file were read so far."""
        return self._source.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """The size of the underlying file, or None if it is unknown."""
        return self._source.bytes_total

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        return next(self._blocks)

    def __enter__(self) -> BlockReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading and close the file; the end of the iteration does it too."""
        self._blocks.close()
        self._source.close()

    def _pieces(self) -> Iterator[bytes]:
        try:
            yield from self._source.pieces(self._block_bytes)
        except InputError as error:
            self._refuse(error)
            self._damaged = True

    def _read(self, pieces: Iterable[bytes | bytearray]) -> Generator[Block, None, None]:
        """Cut the pieces at blank lines into blocks of whole sentences."""
        buffer, line = bytearray(), 1  # the bytes not yet cut, and the line they begin on
        wanted = self._block_bytes
        discarding = False  # the rest of a sentence that is too long
        try:
            for piece in pieces:
                buffer += piece
                if discarding:
                    cut = _first_cut(buffer)
                    discarding = cut < 0
                    line += _drop(buffer, max(0, len(buffer) - 2) if discarding else cut)
                if discarding or len(buffer) < wanted:
                    continue
                cut = _last_cut(buffer)
                if cut > 0:
                    data = buffer[:cut]
                    yield from self._index(data, line)
                    line += _drop(buffer, cut)
                error = _too_long(buffer)
                if error != indexing.OK:
                    start = buffer.rfind(b"\n") + 1 if error == indexing.LONG_LINE else 0
                    self._refuse(
                        complaint(
                            error, buffer, start, start, format=self.format, file=self.file, first_line=line
                        )
                    )
                    discarding = True
                # Twice as much before the next look: linear time however long the sentence.
                wanted = max(self._block_bytes, min(2 * len(buffer), indexing.SENTENCE_LIMIT + 1))
            if self._damaged:  # what follows the last blank line is only a part of a sentence
                del buffer[buffer.rfind(b"\n\n") + 2 if b"\n\n" in buffer else 0 :]
            if not discarding and buffer.strip(b"\n"):
                yield from self._index(buffer, line)
        finally:
            self._source.close()

    def _index(self, data: bytearray, line: int) -> Iterator[Block]:
        block, complaints = index_block(
            data, self.format, file=self.file, first_line=line, check_trees=self._check_trees
        )
        for error in complaints:
            self._refuse(error)
        if len(block):
            yield block

    def _refuse(self, error: InputError | None) -> None:
        if not self._skip_bad and error is not None:
            raise error
        self.skipped += 1
        if error is not None and len(self.skipped_errors) < _KEPT_ERRORS:
            self.skipped_errors.append(error)


read_blocks = BlockReader


def _first_cut(buffer: bytearray) -> int:
    """The end of the first blank line (of CR LF too), or -1."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\n\r\n") if (at := buffer.find(mark)) >= 0]
    return min(ends, default=-1)


def _last_cut(buffer: bytearray) -> int:
    """The end of the last blank line that something follows, or -1; of CR LF if there are no others."""
    content = len(buffer.rstrip(b"\n"))
    for mark in (b"\n\n", b"\n\r\n"):
        at = buffer.rfind(mark, 0, content)
        if at >= 0:
            return at + len(mark)
    return -1


def _drop(buffer: bytearray, count: int) -> int:
    """Delete the first bytes; the number of line ends among them."""
    lines = buffer.count(b"\n", 0, count)
    del buffer[:count]
    return lines


def _too_long(buffer: bytearray) -> int:
    """Whether a sentence or its last line so far is longer than anything meant as one."""
    if len(buffer) - buffer.rfind(b"\n") - 1 > indexing.LINE_LIMIT:
        return indexing.LONG_LINE
    return indexing.LONG_SENTENCE if len(buffer) > indexing.SENTENCE_LIMIT else indexing.OK


class Treebank(Sequence[Sentence]):
    """The sentences of a treebank, in order.

    Every iteration reads the file anew, in memory that does not grow with it. Asking for the length or for a
    sentence by its number reads everything and keeps it; so does the first iteration if the source can be
    read only once. `skipped` and `skipped_errors` are those of the latest reading, see BlockReader.
    """

    def __init__(
        self,
        source: SourceLike,
        *,
        format: Format | str | None = None,
        skip_bad: bool = False,
        check_trees: bool = True,
    ) -> None:
        self._source, self._options = source, {"skip_bad": skip_bad, "check_trees": check_trees}
        self._reader = BlockReader(source, format=format, skip_bad=skip_bad, check_trees=check_trees)
        self.format = self._reader.format
        regular = (
            isinstance(source, str | Path) and str(source) != "-" and self._reader.bytes_total is not None
        )
        self._once = not regular
        if not self._once:
            self._reader.close()
        self._blocks: list[Block] | None = None
        self._offsets: list[int] = []

    @property
    def skipped(self) -> int:
        """How many bad sentences the latest reading left out."""
        return self._reader.skipped

    @property
    def skipped_errors(self) -> list[InputError]:
        """Why: the first 20."""
        return self._reader.skipped_errors

    def blocks(self) -> Iterator[Block]:
        """The sentences as blocks."""
        if self._once:
            self._load()
        if self._blocks is not None:
            return iter(self._blocks)
        self._reader = BlockReader(self._source, format=self.format, **self._options)
        return self._reader

    def __iter__(self) -> Iterator[Sentence]:
        return chain.from_iterable(self.blocks())

    def __len__(self) -> int:
        self._load()
        return self._offsets[-1]

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        blocks = self._load()
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        k = bisect_right(self._offsets, index) - 1
        return blocks[k][index - self._offsets[k]]

    def _load(self) -> list[Block]:
        if self._blocks is None:
            if self._once:
                self._once = False
                self._blocks = list(self._reader)
            else:
                self._blocks = list(self.blocks())
            self._offsets = [0, *accumulate(map(len, self._blocks))]
        return self._blocks


def read_conllu(
    path: SourceLike,
    *,
    format: Format | str | None = None,
    skip_bad: bool = False,
    check_trees: bool = True,
) -> Treebank:
    """The treebank in a file of any format, plain or compressed; "-" is standard input. See BlockReader."""
    return Treebank(path, format=format, skip_bad=skip_bad, check_trees=check_trees)


def read_string(
    text: str | bytes,
    *,
    format: Format | str | None = None,
    skip_bad: bool = False,
    check_trees: bool = True,
) -> Treebank:
    r"""The treebank in a string.

    >>> read_string("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n")[0].forms
    ['', 'Go']
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return Treebank(BytesIO(data), format=format, skip_bad=skip_bad, check_trees=check_trees)
