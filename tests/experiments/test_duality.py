"""The gap between primal and dual, on a small treebank."""

from __future__ import annotations

from pathlib import Path

from arcwise.experiments.duality import gaps, table
from tests.experiments.test_learners import write_treebank


def test_the_gap_closes(tmp_path: Path) -> None:
    found = list(gaps(write_treebank(tmp_path / "aa", sizes=(30, 2, 2)), sentences=20, epochs=20))
    assert [gap.epoch for gap in found] == list(range(21))
    assert all(gap.primal >= gap.dual - 1e-9 for gap in found)
    assert found[-1].primal - found[-1].dual < 0.5 * (found[0].primal - found[0].dual)
    lines = list(table("aa", found))
    assert lines[0].startswith("| aa: epochs |")
    assert len(lines) == 2 + 6 + 2  # epochs 0, 1, 2, 5, 10, 20
    assert "From epoch 5 on" in lines[-1]
