"""Where compiled kernels are kept, and how it is known that they are of the sources that are there now.

A file holds one kernel, compiled for one combination of argument types and one processor. Its name says of what it was made: a
stamp over the sources of all modules that the kernel can reach, and over the versions of arcwise, Python, Numba and llvmlite. So no
upgrade and no edit goes on with old code. A file is sealed by a checksum and written whole or not at all; one that is damaged is
made anew. Where nothing can be written, kernels live in memory, and a line says so once. As for all caches of compiled Python,
whoever can write to the folder can choose the code that runs.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from arcwise.leaving import before_leaving

PACKAGE = Path(__file__).parent
_settings: Any = numba.config
# How many builds of one kernel a folder keeps: those of other checkouts and branches that share it, too.
KEPT = 8

_IMPORT = re.compile(
    rb"^[ \t]*(?:from (arcwise[.\w]*) import (?:\(([^)]*)\)|(.*))|import (arcwise[.\w]*))", re.M
)


class NotKeptWarning(UserWarning):
    """Compiled kernels cannot be kept on disk; all else works."""


def folders() -> list[Path]:
    """Where compiled kernels are looked for, in this order; they are written to the first that takes them.

    `NUMBA_CACHE_DIR` if it is set; else beside the package, where one user can compile for all, and in the user's own cache.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen) / "arcwise"]
    return [PACKAGE / "__pycache__" / "machine_code", *_of_the_user()]


def _of_the_user() -> list[Path]:
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        home = os.path.expanduser("~/Library/Caches")
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [Path(home) / "arcwise" / "machine_code"] if home and os.path.isabs(home) else []


def stamp(module: str) -> str:
    """A digest over the sources of all modules of the package that `module` can reach, and over all versions that matter."""
    reached, open_ = {module}, [module]
    while open_:
        for name in _source(open_.pop())[1]:
            if name not in reached:
                reached.add(name)
                open_.append(name)
    digest = hashlib.sha256(repr((sys.version, numba.__version__, llvmlite.__version__)).encode())
    digest.update(_source("arcwise.compiling")[0] + _source("arcwise.kernels")[0])
    for name in sorted(reached):
        digest.update(name.encode() + b"\0" + _source(name)[0])
    return digest.hexdigest()


@cache
def _source(module: str) -> tuple[bytes, frozenset[str]]:
    """The digest of a module's source, and the modules of the package that it imports anywhere."""
    path = _path(module)
    if path is None:
        return b"", frozenset()
    text = path.read_bytes()
    imported = set()
    for found in _IMPORT.finditer(text):
        origin, bracketed, plain, whole = ((part or b"").decode() for part in found.groups())
        if whole:
            imported.add(whole)
            continue
        names = re.sub(r"#.*|\bas \w+", "", bracketed or plain)
        for name in re.findall(r"\w+", names):
            inner = f"{origin}.{name}"
            imported.add(inner if _path(inner) else origin)
    return hashlib.sha256(text).digest(), frozenset(imported)


@cache
def _path(module: str) -> Path | None:
    if module != "arcwise" and not module.startswith("arcwise."):
        loaded = getattr(sys.modules.get(module), "__file__", None)
        return Path(loaded) if loaded and os.path.exists(loaded) else None
    place = PACKAGE.joinpath(*module.split(".")[1:])
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.exists() and place != PACKAGE:
            return path
    return PACKAGE / "__init__.py" if place == PACKAGE else None


class KeptCode:
    """What Numba asks for the machine code of one kernel before it compiles it, and gives it to afterwards."""

    def __init__(self, function: Any, options: str) -> None:
        self._function, self._options = function, options

    @property
    def cache_path(self) -> str:
        return str(folders()[0])

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel, or None if there is none for these types, this processor and these sources."""
        name = self._name(signature, target.codegen())
        for folder in folders():
            content = read_sealed_code(folder / name)
            if content is not None:
                target.refresh()
                with suppress(Exception):  # sealed, but not by us as we are now: it is made anew
                    return CompileResult._rebuild(target, *pickle.loads(content))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel in the first folder that takes it."""
        content, name = dumps(compiled._reduce()), self._name(signature, compiled.codegen)
        problem: OSError | None = None
        for folder in folders():
            try:
                write_sealed_code(folder / name, content)
            except OSError as error:
                problem = error
            else:
                _forget_old(folder, name)
                return
        if problem is not None:
            _tell_once(str(problem.strerror or problem).lower())

    def enable(self) -> None:
        """Part of what Numba expects of a cache; this one is always on."""

    def disable(self) -> None:
        """Part of what Numba expects of a cache; this one is always on."""

    def flush(self) -> None:
        """Part of what Numba expects of a cache; files of old sources go by themselves."""

    def _name(self, signature: Any, codegen: Any) -> str:
        function = self._function
        kind = repr(
            (str(signature), codegen.magic_tuple(), self._options, _settings.BOUNDSCHECK, _settings.OPT)
        )
        identity = hashlib.sha256(kind.encode()).hexdigest()[:16]
        short = re.sub(r"\W+", "_", f"{function.__module__}.{function.__qualname__}")
        return f"{short}-{identity}-{_stamp(function.__module__)[:24]}.code"


_stamp = cache(stamp)


def read_sealed_code(path: Path) -> bytes | None:
    """What `write_sealed_code` wrote, or None if the file is not there, cannot be read, or is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    seal, content = content[:32], content[32:]
    return content if hashlib.sha256(content).digest() == seal else None


def write_sealed_code(path: Path, content: bytes) -> None:
    """Write a checksum and `content` to a file that is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with before_leaving(partial(os.unlink, temporary)), os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _forget_old(folder: Path, name: str) -> None:
    """Remove all but the latest builds of a kernel."""
    with suppress(OSError):
        builds = sorted(
            folder.glob(name.rsplit("-", 1)[0] + "-*.code"), key=lambda path: path.stat().st_mtime
        )
        for path in builds[:-KEPT]:
            path.unlink()


@cache
def _tell_once(reason: str) -> None:
    where = " or ".join(str(folder) for folder in folders())
    warnings.warn(
        f"compiled kernels cannot be kept in {where} ({reason}): they live in memory, and every run compiles; "
        "set NUMBA_CACHE_DIR to a folder that can be written to",
        NotKeptWarning,
        stacklevel=2,
    )
