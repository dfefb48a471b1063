"""Writing treebanks: completely or not at all."""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

import zstandard

from arcwise.errors import InputError
from arcwise.leaving import before_leaving
from arcwise.temporary import temporary_beside
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

    The bytes go to a temporary file beside the target (`arcwise.temporary`), which replaces it when the block ends; on any error it
    is removed and the target stays as it was. With `compress`, `.gz`, `.xz` and `.zst` do. The permissions are those of
    a plain open. "-" is standard output; it and whatever is not a regular file (a device, a pipe) is written to directly. An error
    of writing names the file.

    interrupted: what was written so far is good as it is. If the user stops the program, it is kept, under its name, or with
    `.partial` added if there is such a file already, and this is told where.
    """
    if str(path) == "-":
        with naming_errors("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    with ExitStack() as opened, naming_errors(str(path)):
        with _refused(path):
            target, mode = _target(path)
            temporary = None
            if mode is None or _is_replaceable(target, mode):
                temporary, file = opened.enter_context(temporary_beside(target))
                if mode is not None:
                    os.chmod(temporary, stat.S_IMODE(mode))
            else:
                file = opened.enter_context(open(target, "wb"))
        stop: BaseException | None = None
        partial = target if mode is None else target.with_name(f"{target.name}.partial")
        finishing = Lock()
        writer: BinaryIO | None = None

        def finish_early() -> None:
            """Where the process ends while a kernel holds up the thread that would finish."""
            if temporary is None or not finishing.acquire(timeout=_PATIENCE):
                return
            if interrupted is not None and writer is not None:
                writer.close()
                file.close()
                temporary.replace(partial)
                interrupted(partial)

        opened.enter_context(before_leaving(finish_early))
        with file, _COMPRESSORS.get(target.suffix if compress else "", nullcontext)(file) as output:
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


def check_output(path: PathLike) -> None:
    """InputError, if `open_output` could not write there now. What killed runs left beside the file is removed."""
    if str(path) == "-":
        return
    with _refused(path):
        target, mode = _target(path)
        if mode is None or _is_replaceable(target, mode):
            with temporary_beside(target):
                pass
        elif stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _target(path: PathLike) -> tuple[Path, int | None]:
    """The file that is meant, and its mode if there is one."""
    target = Path(os.path.realpath(path))
    return target, target.stat().st_mode if target.exists() else None


def _is_replaceable(target: Path, mode: int) -> bool:
    return stat.S_ISREG(mode) and os.access(target, os.W_OK)


@contextmanager
def _refused(path: PathLike) -> Iterator[None]:
    """What keeps a file from being opened, as an InputError."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write it: {describe(error)}", file=str(path)) from None


@contextmanager
def naming_errors(path: str) -> Iterator[None]:
    """Errors of writing, like a full disk, name the file."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
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
