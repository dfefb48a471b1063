"""Writing treebanks: completely or not at all."""

from __future__ import annotations

import gzip
import lzma
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

import zstandard

from arcwise.errors import InputError
from arcwise.leaving import before_leaving
from arcwise.treebank.sentence import Sentence
from arcwise.treebank.sources import PathLike, describe


def write_conllu(sentences: Iterable[Sentence], path: PathLike) -> None:
    """Write sentences, each in its own format, to a file; "-" is standard output. See open_output."""
    with open_output(path) as output:
        for sentence in sentences:
            output.write(sentence.to_bytes())


@contextmanager
def open_output(
    path: PathLike, *, compress: bool = True, interrupted: Callable[[Path], None] | None = None
) -> Iterator[BinaryIO]:
    """A binary file to write to that appears under its name only when all is written.

    The bytes go to a temporary file beside the target, which replaces it when the block ends; on any error it
    is removed and the target stays as it was. With `compress`, `.gz`, `.xz` and `.zst` do. The permissions are those of
    a plain open. "-" is standard output; it and whatever is not a regular file (a device, a pipe) is written
    to directly.

    interrupted: what was written so far is good as it is. If the user stops the program, it is kept, under its name, or with
    `.partial` added if there is such a file already, and this is told where.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    temporary = None
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and (not stat.S_ISREG(mode) or not os.access(target, os.W_OK)):
            file = open(target, "wb")  # noqa: SIM115
        else:
            temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
            file = open(temporary, "xb")  # noqa: SIM115
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write it: {describe(error)}", file=str(path)) from None
    stop: BaseException | None = None
    partial = target if mode is None else target.with_name(f"{target.name}.partial")
    finishing = Lock()
    writer: BinaryIO | None = None

    def finish_early() -> None:
        """Where the process ends while a kernel holds up the thread that would finish."""
        if temporary is None or not finishing.acquire(timeout=_PATIENCE):
            return
        if interrupted is None or writer is None:
            temporary.unlink(missing_ok=True)
            return
        writer.close()
        file.close()
        temporary.replace(partial)
        interrupted(partial)

    try:
        with (
            before_leaving(finish_early),
            file,
            _COMPRESSORS.get(target.suffix if compress else "", nullcontext)(file) as output,
        ):
            try:
                writer = output
                yield output
            except (KeyboardInterrupt, SystemExit) as error:
                if interrupted is None:
                    raise
                stop = error
            finishing.acquire()
        if temporary is not None:
            target = target if stop is None else partial
            temporary.replace(target)
        if stop is not None and interrupted is not None:
            interrupted(target)
            raise stop
    except BaseException:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise


def _gzip(file: BinaryIO) -> BinaryIO:
    # No name and no time in the header: the same content gives the same bytes.
    return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))


def _xz(file: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(file, "wb"))


def _zstd(file: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, zstandard.ZstdCompressor(write_checksum=True).stream_writer(file))


_PATIENCE = 1.0  # seconds that a process which ends waits for a file that is being finished
_COMPRESSORS: dict[str, Callable[[BinaryIO], AbstractContextManager[BinaryIO]]] = {
    ".gz": _gzip,
    ".xz": _xz,
    ".zst": _zstd,
}
