"""Temporary files beside the files that they become.

A process holds a lock on its temporary file as long as it lives, also if it is killed. So another run that writes the same file can
tell what a killed one left behind, and removes it. Where a file system has no locks, what is left stays.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from arcwise.leaving import before_leaving

try:
    import fcntl
except ImportError:  # where there are none, an open file cannot be removed either
    fcntl = None  # type: ignore[assignment]


@contextmanager
def temporary_beside(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """The name of a new file in the folder of `target`, and the file, open for writing; those that killed runs left are removed.

    The block renames the file when it is complete, and may close it. It is removed at the end if it still has its name.
    """
    remove_abandoned(target)
    path, file, lock = _create(target)
    try:
        with before_leaving(partial(path.unlink, missing_ok=True)), file:
            yield path, file
    finally:
        path.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def remove_abandoned(target: Path) -> None:
    """Remove the temporary files of `target` that no living process holds."""
    name = re.compile(re.escape(f".{target.name[:200]}.") + "[0-9a-f]{8}\\.tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(path: Path) -> None:
    if fcntl is None:
        path.unlink()
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error, if it is held
        path.unlink()
    finally:
        os.close(handle)


def _create(target: Path) -> tuple[Path, BinaryIO, int | None]:
    """A new file, and a handle that keeps its lock when the file is closed."""
    while True:
        path = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
        file = open(path, "xb")  # noqa: SIM115
        if fcntl is None:
            return path, file, None
        lock = os.dup(file.fileno())
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path, file, lock
        file.close()  # another run took it for abandoned before it was locked
        os.close(lock)
