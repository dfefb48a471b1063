"""Files that are read at once are read up to a limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcwise.clusters.files import read_clusters
from arcwise.constraints.reading import read_constraints
from arcwise.errors import InputError
from arcwise.evaluation.traces import read_trace_file
from arcwise.treebank import sources
from arcwise.treebank.sources import Source


@pytest.mark.parametrize("read", [read_clusters, read_constraints, read_trace_file])
def test_files_without_an_end_are_refused(
    read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 3 << 20)
    with pytest.raises(InputError, match="/dev/zero: more than 3 MB, expected a smaller file"):
        read(Path("/dev/zero"))


def test_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 1 << 10)
    path = tmp_path / "file"
    path.write_bytes(b"x" * (1 << 10))
    with path.open("rb") as file:
        assert Source(file).content() == path.read_bytes()
    path.write_bytes(b"x" * ((1 << 10) + 1))
    with path.open("rb") as file, pytest.raises(InputError, match="more than"):
        Source(file).content()


def test_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pieces(source: Source, size: int) -> object:
        raise MemoryError

    monkeypatch.setattr(Source, "pieces", pieces)
    (tmp_path / "file").write_bytes(b"0\ta\t1\n")
    with pytest.raises(InputError, match="file: larger than the memory that there is"):
        read_clusters(tmp_path / "file")
