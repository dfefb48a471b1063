"""`arcwise bench programs` runs on a tiny model and reports every figure; what it measures is not judged here."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcwise.bench import dual, programs
from arcwise.bench.treebank import BenchTreebank, find_treebank, make_treebank
from arcwise.errors import InputError
from arcwise.pipeline.model import Settings
from tests.pipeline.models import quick


@pytest.fixture
def treebank(tmp_path: Path) -> BenchTreebank:
    make_treebank(tmp_path, share=0.01)
    return find_treebank(str(tmp_path))


def train(treebank: BenchTreebank, search: str, path: Path) -> Path:
    settings = Settings(coarse_bits=8, arc_bits=10, label_bits=7, part_bits=10, search=search, threshold=9.0)
    quick(treebank.train, treebank.dev, path, epochs=1, label_epochs=1, settings=settings, gold_tags=True)
    return path


def test_programs(treebank: BenchTreebank, tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    model = train(treebank, "dual-grandparent", tmp_path / "second.arcwise")
    rows = programs.rows(treebank, model, rounds=1)
    assert len({(row.name, row.peer) for row in rows}) == len(rows)
    assert all(row.ratio for row in rows if row.peer)


def test_other_models_are_refused(treebank: BenchTreebank, tmp_path: Path) -> None:
    plain = train(treebank, "spanning-tree", tmp_path / "first.arcwise")
    for bench in (programs, dual):
        with pytest.raises(InputError, match="trained with --order 2"):
            bench.rows(treebank, plain, rounds=1)
