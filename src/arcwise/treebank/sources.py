"""Where bytes come from: a path, standard input or an open file, plain or compressed, as bounded pieces."""

from __future__ import annotations

import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from arcwise.errors import InputError

PathLike = str | Path
SourceLike = PathLike | BinaryIO

MOST_BYTES = 1 << 30  # of a file that is read at once

# Each codec: its magic bytes, its decompressor, and how many compressed bytes to give it at once. The latter
# bounds what may come out (gzip packs 1:1,000 at most, xz 1:7,000, zstd 1:30,000): never more than some 16
# MB.
_CODECS: dict[str, tuple[bytes, Callable[[], Any], int]] = {
    "gzip": (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31), 1 << 14),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMADecompressor, 1 << 11),
    "zstd": (b"\x28\xb5\x2f\xfd", lambda: zstandard.ZstdDecompressor().decompressobj(), 1 << 9),
}


def describe(error: OSError | ValueError) -> str:
    """What the system says, in lower case: 'no such file or directory'."""
    return str(getattr(error, "strerror", None) or error).lower()


def source_name(source: SourceLike) -> str:
    """What messages call a source."""
    if isinstance(source, str | Path):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<file>"))


class Source:
    """An open file that is read once, from its beginning to its end.

    name: for messages. bytes_read: how many bytes of the underlying file were read. bytes_total: its size,
    None if unknown. Compression is recognised by magic bytes. Everything that goes wrong is an InputError.
    """

    def __init__(self, source: SourceLike) -> None:
        self.bytes_read = 0
        self.bytes_total: int | None = None
        self._begun: tuple[bytes, Iterator[bytes]] | None = None
        self._owned = isinstance(source, str | Path) and str(source) != "-"
        self.name = source_name(source)
        if isinstance(source, str | Path):
            try:
                self._file = open(source, "rb") if self._owned else sys.stdin.buffer  # noqa: SIM115
            except (OSError, ValueError) as error:
                raise InputError(f"cannot read it: {describe(error)}", file=self.name) from None
        else:
            self._file = source
        try:
            status = os.fstat(self._file.fileno())
        except (AttributeError, OSError, ValueError):
            return
        if stat.S_ISREG(status.st_mode):
            self.bytes_total = status.st_size

    def head(self, size: int) -> bytes:
        """The beginning of the content, about `size` bytes of it; `pieces` gives it all the same."""
        rest, head = self.pieces(size), b""
        while not head and (piece := next(rest, None)) is not None:  # decompressors may give nothing at first
            head = piece
        self._begun = head, rest
        return head

    def content(self) -> bytes:
        """All of it, at once; InputError for more than MOST_BYTES of it, or more than there is memory."""
        found, size = [], 0
        try:
            for piece in self.pieces(1 << 20):
                size += len(piece)
                if size > MOST_BYTES:
                    raise InputError(
                        f"more than {MOST_BYTES >> 20} MB", expected="a smaller file", file=self.name
                    )
                found.append(piece)
            return b"".join(found)
        except MemoryError:
            raise InputError("larger than the memory that there is", file=self.name) from None

    def pieces(self, size: int) -> Iterator[bytes]:
        """The content, decompressed, in pieces of `size` bytes (compressed: of any bounded size)."""
        if self._begun is not None:
            (head, rest), self._begun = self._begun, None
            yield head
            yield from rest
            return
        head = self._read(max(size, 8))
        for codec, (magic, decompressor, step) in _CODECS.items():
            if head.startswith(magic):
                yield from self._decompressed(head, codec, decompressor, step)
                return
        while head:
            yield head
            head = self._read(size)

    def _decompressed(
        self, piece: bytes, codec: str, decompressor: Callable[[], Any], step: int
    ) -> Iterator[bytes]:
        machine = decompressor()
        while piece:
            for start in range(0, len(piece), step):
                rest = piece[start : start + step]
                while rest:
                    if machine.eof:  # members may follow one another, with zeros between them
                        rest = rest.lstrip(b"\0")
                        if not rest:
                            break
                        machine = decompressor()
                    try:
                        yield machine.decompress(rest)
                    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
                        raise InputError(f"damaged {codec} data: {error}", file=self.name) from None
                    rest = machine.unused_data if machine.eof else b""
            piece = self._read(1 << 16)
        if not machine.eof:
            raise InputError(f"the {codec} data end too early", expected="a whole file", file=self.name)

    def _read(self, size: int) -> bytes:
        try:
            piece = self._file.read(size)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read it: {describe(error)}", file=self.name) from None
        if not isinstance(piece, bytes):
            raise InputError("a file opened as text", expected="one opened in binary mode", file=self.name)
        self.bytes_read += len(piece)
        return piece

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._owned:
            self._file.close()
