"""Compiled kernels on disk: of the sources that are there now, whole or not at all, and never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arcwise import machine_code
from arcwise.machine_code import read_sealed_code, stamp, write_sealed_code

# A kernel in one module that calls a kernel in another, as a package of its own.
_CALLEE = "from arcwise.kernels import kernel\n\n@kernel\ndef part(x):\n    return x + {}\n"
_CALLER = (
    "from arcwise.kernels import kernel\nfrom arcwise.search.probe_part import part\n\n"
    "@kernel\ndef whole(x):\n    return 2 * part(x)\n"
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit, with two kernels more."""
    copy = tmp_path / "package" / "arcwise"
    shutil.copytree(
        machine_code.PACKAGE,
        copy,
        ignore=shutil.ignore_patterns("__pycache__", "models", "experiments", "bench"),
    )
    (copy / "search" / "probe_part.py").write_text(_CALLEE.format(1))
    (copy / "search" / "probe_whole.py").write_text(_CALLER)
    return copy


_CALL = "from arcwise.search.probe_whole import whole; print(whole(20), sum(whole._cache_misses.values()))"


def _run(package: Path, cache: Path, code: str = _CALL, **environment: str) -> tuple[str, str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "ARCWISE_"))}
    given |= {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(cache), **environment}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=given,
        capture_output=True,
        text=True,
        check=True,
        cwd=package.parent,
    )
    return ran.stdout.strip(), ran.stderr


def test_an_edit_of_a_callee_is_seen(package, tmp_path):
    cache = tmp_path / "cache"
    assert _run(package, cache)[0] == "42 1"
    assert _run(package, cache)[0] == "42 0"
    (package / "search" / "probe_part.py").write_text(_CALLEE.format(2))
    assert _run(package, cache)[0] == "44 1"


@pytest.mark.parametrize("damage", [lambda code: b"", lambda code: code[:100], lambda code: bytes(len(code))])
def test_damaged_files_are_made_anew(package, tmp_path, damage):
    cache = tmp_path / "cache"
    assert _run(package, cache)[0] == "42 1"
    (file,) = (cache / "arcwise").glob("*.code")
    file.write_bytes(damage(file.read_bytes()))
    assert _run(package, cache)[0] == "42 1"
    assert _run(package, cache)[0] == "42 0"


def test_without_a_place_kernels_live_in_memory(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    answer, told = _run(package, blocked)
    assert answer == "42 1"
    assert told.count("cannot be kept") == 1


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid"), reason="needs rights of POSIX")
def test_read_only_package_and_home(package, tmp_path):
    """As for a service user: the command works, and says in one plain line that it compiles anew."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    np.save(tmp_path / "s.npy", np.array([[0.0, 5, 4], [0, 0, 3], [0, 9, 0]]))
    home = tmp_path / "home"
    home.mkdir()
    for folder in (home, package, *(path for path in package.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    given = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "ARCWISE_", "XDG_"))
    }
    given |= {"PYTHONPATH": str(package.parent), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    rights = "-dac_override,-dac_read_search"
    without = ["setpriv", f"--inh-caps={rights}", f"--bounding-set={rights}"] if os.geteuid() == 0 else []
    try:
        ran = subprocess.run(
            [*without, sys.executable, "-m", "arcwise", "decode", tmp_path / "s.npy"],
            env=given, capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    finally:
        for folder in (home, package, *(path for path in package.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
    assert (ran.returncode, ran.stdout) == (0, "scores\t13.0\t2 0\n")
    assert ran.stderr.startswith("arcwise: compiled kernels cannot be kept in ")
    assert ran.stderr.count("\n") == 1
    assert str(home) in ran.stderr


def test_without_compiling_it_says_so(package, tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as error:
        _run(package, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    assert "ArcwiseError: NUMBA_DISABLE_JIT is set" in error.value.stderr


def test_a_numba_that_is_not_understood_compiles_plainly(package, tmp_path):
    broken = "import numba; numba.version_info = numba.version_info._replace(short=(0, 99));"
    broken += "from arcwise import compiling; compiling.try_out = lambda: 1 / 0;"
    answer, told = _run(package, tmp_path / "cache", code=broken + _CALL)
    assert answer == "42 1"
    assert told.count("is not understood (ZeroDivisionError") == 1


_UNKNOWN = "import numba; numba.version_info = numba.version_info._replace(short=(0, 99)); "
_BREAKAGES = {
    "what is imported is gone": "import numba.core.codegen as inner; del inner.JITCodeLibrary",
    "compiling fails": _UNKNOWN
    + "from arcwise.compiling import _TranslateWhole as step; step.run_pass = lambda *_: 1 / 0",
    "compiled code is wrong": _UNKNOWN
    + "from arcwise import compiling; compiling.np.ones = compiling.np.zeros",
}


@pytest.mark.parametrize("breakage", _BREAKAGES.values(), ids=_BREAKAGES)
def test_a_numba_that_breaks_compiling_is_told_of_once(package, tmp_path, breakage):
    """By one plain line on the command line; all works as without."""
    np.save(tmp_path / "s.npy", np.array([[0.0, 5, 4], [0, 0, 3], [0, 9, 0]]))
    arguments = ["arcwise", "decode", str(tmp_path / "s.npy")]
    command = f"; import sys; from arcwise.cli import main; sys.argv = {arguments!r}; main()"
    answer, told = _run(package, tmp_path / "cache", code=breakage + command)
    assert answer == "scores\t13.0\t2 0"
    assert told.startswith("arcwise: Numba ")
    assert told.endswith(": kernels take longer to compile\n")
    assert told.count("\n") == 1


def test_plain_compiling_parses_for_real(package, tmp_path):
    """What `arcwise decode` needs, compiled as Numba does by itself, gives what it gives otherwise."""
    code = (
        "import numpy as np; from arcwise import decode; S = np.random.default_rng(0).normal(size=(7, 7));"
        "print([parse.heads.tolist() for parse in (decode(S), decode(S, projective=True))])"
    )
    cache = tmp_path / "cache"
    plain = _run(package, cache, code, ARCWISE_PLAIN_COMPILING="1")
    assert plain == _run(package, cache, code)
    assert plain[1] == ""


def test_plain_compiling(package, tmp_path):
    cache = tmp_path / "cache"
    assert _run(package, cache, ARCWISE_PLAIN_COMPILING="1")[0] == "42 1"
    assert _run(package, cache, ARCWISE_PLAIN_COMPILING="1")[0] == "42 0"
    assert _run(package, cache)[0] == "42 1"


def test_the_stamp_reaches_what_a_module_imports():
    reached = machine_code._source("arcwise.search.decode")[1]
    assert "arcwise.search.spanning_tree" in reached
    assert stamp("arcwise.search.decode") != stamp("arcwise.search.spanning_tree")


def test_sealed_code(tmp_path):
    path = tmp_path / "deep" / "a.code"
    write_sealed_code(path, b"content")
    assert read_sealed_code(path) == b"content"
    assert [file.name for file in path.parent.iterdir()] == ["a.code"]
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    assert read_sealed_code(path) is None
    assert read_sealed_code(tmp_path / "none") is None
