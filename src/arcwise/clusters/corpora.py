"""Where words and pairs come from: plain text, a tokenised sentence a line, or treebanks, as streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.pairs import PairCounter
from arcwise.errors import InputError
from arcwise.treebank.block import FORM, Block
from arcwise.treebank.formats import FORMATS, looks_like_columns
from arcwise.treebank.reading import BlockReader
from arcwise.treebank.sources import Source, SourceLike

TEXT = "text"
CORPUS_FORMATS = (TEXT, *FORMATS)
NEIGHBOURS, HEADS = "neighbours", "heads"
CONTEXTS = (NEIGHBOURS, HEADS)

_HEAD = 1 << 16  # bytes a format is recognised from
_PIECE = 1 << 20
_LONGEST_WORD = 1 << 20  # bytes
_SPACES = b" \n\t\r\v\f"

Tell = Callable[[str, int, int | None], None]


def count_corpus(
    source: SourceLike,
    counter: PairCounter,
    *,
    by: str = NEIGHBOURS,
    format: str | None = None,
    tell: Tell | None = None,
) -> None:
    """Count the words of a corpus, and its pairs of words: neighbours within a sentence, or heads and their modifiers.

    source: a path, "-" for standard input, or an open binary file, plain or compressed; text, or a treebank in any format,
    recognised if not given. A head comes first in its pair; the root is no word. tell(name, bytes read, bytes in all) is called now
    and then. InputError with the line, if the source is no UTF-8 or its columns are malformed. Time O(bytes); no more than a
    piece of the source is in memory.
    """
    if by not in CONTEXTS:
        raise InputError(f"pairs of {by!r}", expected=f"one of {', '.join(CONTEXTS)}")
    opened, tell = Source(source), tell or (lambda name, done, total: None)
    try:
        if is_text(opened, format):
            if by == HEADS:
                raise InputError(
                    "plain text",
                    expected="a treebank: words have heads in parsed text only",
                    file=opened.name,
                )
            last = np.empty(0, np.int64)  # of a line that goes on with the next piece
            for tokens in text_tokens(opened, counter):
                joined = np.concatenate([last, tokens])
                counter.add_neighbours(joined)
                last = joined[-1:]
                tell(opened.name, opened.bytes_read, opened.bytes_total)
            return
        found = False
        for block in BlockReader(opened, format=format, check_trees=False):
            tokens = block_tokens(block, counter)
            if by == HEADS:
                heads, modifiers = arcs(block)
                words = tokens[tokens >= 0]
                counter.add_pairs(words[heads], words[modifiers])
            else:
                counter.add_neighbours(tokens)
            found |= bool((block.heads >= 0).any())
            tell(opened.name, opened.bytes_read, opened.bytes_total)
        if by == HEADS and not found:
            raise InputError("no word has a HEAD", expected="parsed text", file=opened.name)
    finally:
        opened.close()


def is_text(opened: Source, format: str | None) -> bool:
    """Whether a source is plain text, by its format or, if that is None, its name and how it begins."""
    if format is None:
        return not looks_like_columns(opened.head(_HEAD), opened.name)
    if format not in CORPUS_FORMATS:
        raise InputError(f"format {format!r}", expected=f"one of {', '.join(CORPUS_FORMATS)}")
    return format == TEXT


def block_tokens(block: Block, counter: PairCounter) -> NDArray[np.int64]:
    """Count the words of a block. Gives their numbers, -1 after each sentence."""
    tokens = np.array(counter.number(form.encode() for form in block.column(FORM)), np.int64)
    counter.add_words(tokens)
    counter.sentences += len(block)
    return np.insert(tokens, block.words[1:], -1)


def arcs(block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The heads and the modifiers of all arcs between words, as words of the block."""
    modifiers = np.flatnonzero(block.heads > 0)
    begins = np.repeat(block.words[:-1], np.diff(block.words)).astype(np.int64)
    return begins[modifiers] + block.heads[modifiers] - 1, modifiers


def text_tokens(opened: Source, counter: PairCounter) -> Iterator[NDArray[np.int64]]:
    """Count the words of plain text. Gives their numbers, -1 after each line, a piece at a time.

    Words are separated by spaces and tabs. A line may be of any length.
    """
    number, last = counter.number, -1
    for lines in _pieces(opened):
        tokens: list[int] = []
        for line in lines[:-1]:
            tokens += number(line.split())
            tokens.append(-1)
        tokens += number(lines[-1].split())
        array = np.array([last, *tokens], np.int64)
        last = int(array[-1])
        counter.add_words(array[1:][array[1:] >= 0])
        counter.sentences += int(np.count_nonzero((array[:-1] >= 0) & (array[1:] < 0)))
        yield array[1:]
    if last >= 0:  # the last line has no line feed
        counter.sentences += 1
        yield np.array([-1], np.int64)


def _pieces(opened: Source) -> Iterator[list[bytes]]:
    """The lines of a text, in lists; the last line of a list may go on with the first of the next, after a whole word."""
    rest, line, before = b"", 1, 0  # the line that `rest` is on, and how many of its bytes came before
    for piece in opened.pieces(_PIECE):
        data = rest + piece
        cut = max(data.rfind(space) for space in _SPACES) + 1
        data, rest = data[:cut], data[cut:]
        _check(data, opened.name, line, before)
        if data:
            lines = data.split(b"\n")
            yield lines
            line += len(lines) - 1
            before = len(lines[-1]) + (before if len(lines) == 1 else 0)
        if len(rest) > _LONGEST_WORD:
            raise InputError(
                "a word of more than 1 MiB", expected="spaces between words", file=opened.name, line=line
            )
    _check(rest, opened.name, line, before)
    if rest:
        yield [rest]


def _check(data: bytes, file: str, line: int, before: int) -> None:
    """InputError, if the data, after `before` bytes of a line, are no text."""
    found, expected, start = "", "UTF-8", -1
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = error.start
    nul = data.find(b"\0", 0, start if start >= 0 else len(data))
    if nul >= 0:
        found, expected, start = "a NUL byte", "text in UTF-8", nul
    elif line == 1 and before == 0 and data.startswith(b"\xef\xbb\xbf"):
        found, expected, start = "a byte order mark", "UTF-8 without one", 0
    elif start < 0:
        return
    begin = data.rfind(b"\n", 0, start) + 1
    place = start - begin + (before if begin == 0 else 0)
    raise InputError(
        found or f"byte {place + 1} of the line, 0x{data[start]:02x}, is not UTF-8",
        expected=expected,
        file=file,
        line=line + data.count(b"\n", 0, start),
    )
