"""`arcwise bench learners` on a small treebank: every learner has a row beside the perceptron."""

from __future__ import annotations

from pathlib import Path

from arcwise.bench.learners import rows
from arcwise.bench.treebank import make_treebank


def test_every_learner_has_a_row(tmp_path: Path) -> None:
    measured = rows(make_treebank(tmp_path, share=0.005), rounds=1)
    assert len({row.name for row in measured}) == len(measured) == 6
    assert all(row.ours > 0 and row.peer == "perceptron" and row.peer_value for row in measured)
    assert [row.reached is None for row in measured] == [True] + 5 * [False]
