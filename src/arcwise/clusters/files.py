"""Files of word clusters, as everyone writes them: bit string, word and count, separated by tabs, a word a line."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from arcwise.errors import InputError
from arcwise.treebank.sources import PathLike, Source, SourceLike
from arcwise.treebank.writing import open_output

_SHOWN = 40  # characters of the input in a message
_COLUMNS = "a bit string, a word and a count, separated by tabs"


class Clusters(NamedTuple):
    """Words and their clusters. bits: the bit string of each word; counts: how often it occurred."""

    bits: dict[str, str]
    counts: dict[str, int]


def read_clusters(source: SourceLike) -> Clusters:
    """The clusters in a file, plain or compressed, ours or of another program; "-" is standard input.

    Lines end in LF or CR LF; the last may end in neither. InputError, with the line, for whatever is no bit string, word and count,
    for a word that comes twice, and for a file without lines.

    >>> from io import BytesIO
    >>> read_clusters(BytesIO(b"00\\tthe\\t12\\n01\\ta\\t7\\n")).bits
    {'the': '00', 'a': '01'}
    """
    opened = Source(source)
    try:
        name, data = opened.name, opened.content()
    finally:
        opened.close()
    if not data:
        raise InputError("an empty file", expected=_COLUMNS, file=name)
    if data.startswith(codecs.BOM_UTF8):
        raise InputError("a byte order mark", expected="UTF-8 without one", file=name, line=1)
    bits: dict[str, str] = {}
    counts: dict[str, int] = {}
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, start=1):
        string, word, count = _read_line(raw.removesuffix(b"\r"), name, number)
        if word in bits:
            first = 1 + next(k for k, other in enumerate(lines) if other.split(b"\t")[1:2] == [word.encode()])
            raise InputError(
                f"{_show(word)} for the second time, after line {first}",
                expected="every word once",
                file=name,
                line=number,
            )
        bits[word], counts[word] = string, count
    return Clusters(bits, counts)


def write_clusters(clusters: Clusters, path: PathLike) -> None:
    """Write a file of clusters, sorted by bit string, the most frequent word first; "-" is standard output. See `open_output`.

    InputError for what `read_clusters` would not read, such as no words at all.
    """
    if not clusters.bits:
        raise InputError("no words", expected="one or more with a cluster", file=str(path))
    order = sorted(clusters.bits, key=lambda word: (clusters.bits[word], -clusters.counts[word], word))
    lines = [f"{clusters.bits[word]}\t{word}\t{clusters.counts[word]}" for word in order]
    for number, line in enumerate(lines, start=1):
        _read_line(line.encode("utf-8", "surrogatepass"), str(path), number)
    with open_output(path) as output:
        for line in lines:
            output.write(line.encode() + b"\n")


def _read_line(raw: bytes, file: str, line: int) -> tuple[str, str, int]:
    """What a line says, or an InputError."""
    if b"\n" in raw:
        raise InputError("a line end inside a word", expected="words of one line", file=file, line=line)
    try:
        columns = raw.decode().split("\t")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} of the line, 0x{raw[error.start]:02x}, is not UTF-8",
            expected="UTF-8",
            file=file,
            line=line,
        ) from None
    if len(columns) != 3:
        found = f"{len(columns)} column{'s' * (len(columns) != 1)}" if raw else "an empty line"
        raise InputError(found, expected=_COLUMNS, file=file, line=line)
    bits, word, count = columns
    if not bits or bits.strip("01"):
        raise InputError(f"bit string {_show(bits)}", expected="one or more of 0 and 1", file=file, line=line)
    if not word:
        raise InputError("an empty word", expected="a word", file=file, line=line)
    if not (count.isascii() and count.isdigit() and len(count) < 19):
        raise InputError(f"count {_show(count)}", expected="a whole number", file=file, line=line)
    return bits, word, int(count)


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
