"""Temporary files: what killed runs left goes, what living ones hold stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arcwise.temporary import remove_abandoned, temporary_beside

_HOLD = (
    "import sys, time; from pathlib import Path; from arcwise.temporary import temporary_beside\n"
    "with temporary_beside(Path(sys.argv[1])) as (path, file):\n"
    "    file.write(b'half'); file.{}(); print(path, flush=True); time.sleep(600)\n"
)

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="no locks")


def _other_run(target: Path, then: str) -> tuple[subprocess.Popen[str], Path]:
    run = subprocess.Popen(
        [sys.executable, "-c", _HOLD.format(then), str(target)], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    return run, Path(run.stdout.readline().strip())


@needs_locks
@pytest.mark.parametrize("then", ["flush", "close"])
def test_what_a_killed_run_left_is_removed_and_no_more(tmp_path, then):
    target = tmp_path / "out.conllu"
    run, left = _other_run(target, then)
    others = [
        tmp_path / name
        for name in (".out.conllu.tmp", ".out.conllu.0123456z.tmp", ".out2.conllu.01234567.tmp")
    ]
    for other in others:
        other.write_text("of others")
    try:
        remove_abandoned(target)
        assert left.exists()  # it is held, though it may be closed
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()
    assert left.exists()
    with temporary_beside(target) as (path, file):
        assert not left.exists()
        file.write(b"whole")
        remove_abandoned(target)  # by this process, but of another run
        file.close()
        os.replace(path, target)
    assert target.read_bytes() == b"whole"
    assert all(other.exists() for other in others)


def test_what_is_not_renamed_is_removed(tmp_path):
    with temporary_beside(tmp_path / "out") as (path, _):
        assert path.exists()
    assert not any(tmp_path.iterdir())


def test_what_is_taken_for_abandoned_is_made_anew(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    lock = fcntl.flock
    taken: list[Path] = []

    def take_first(handle: int, how: int) -> None:
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", take_first)
    with temporary_beside(tmp_path / "out") as (path, file):
        assert path.exists()
        assert path != taken[0]
        file.write(b"x")
