"""Parse, price and cut against the full program, on a small treebank."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arcwise.cli import main
from arcwise.experiments.pricing import COLUMNS, measure
from arcwise.treebank.reading import read_conllu
from tests.experiments.small_models import EPOCHS, train_small
from tests.experiments.test_learners import write_treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 4, 12))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with a small model of grandparents."""
    return train_small(bank, tmp_path_factory.mktemp("models"), "dual-grandparent")


def test_the_columns(bank: Path, models: Path) -> None:
    sizes = sorted(map(len, read_conllu(bank / "test.conllu")))
    shares: list[float] = []
    row = measure(bank, models, EPOCHS, shares.append, longest=sizes[5])
    assert list(row) == COLUMNS
    assert (row["sentences Table 1"], row["left out Table 1"]) == (12, 0)
    assert row["left out Table 2"] == sum(size > sizes[5] for size in sizes) > 0
    for name in ("BF", "BF, lean", "PPC", "PPC, lazy"):
        # One program, whichever way it is solved.
        assert row[f"Table 1, {name}, objective, %"] == pytest.approx(100, abs=1e-6)
        assert row[f"Table 1, {name}, out of time"] == 0
        assert row[f"Table 1, {name}, integral, %"] > 50
        assert 0 < row[f"Table 1, {name}, added, %"] <= row[f"Table 1, {name}, scored, %"] <= 100
    assert row["Table 1, BF, scored, %"] == 100
    assert row["Table 1, PPC, lazy, scored, %"] < 100
    assert row["Table 1, BF, times BF"] == row["Table 2, GPArc+ArcGP, times GPArc+ArcGP"] == 1
    assert row["Table 2, OneGP+NoGP, integral, %"] <= row["Table 2, all, integral, %"]
    assert row["Table 2, GPArc+ArcGP, integral, %"] <= row["Table 2, all, integral, %"]
    assert all(0 <= share <= 1 for share in shares)


def test_the_command(
    bank: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    results = tmp_path / "results.md"
    results.write_text("<!-- pricing -->\nold\n<!-- end of pricing -->\n")
    options = [
        "-o",
        tmp_path / "table.tsv",
        "--models",
        models,
        "--epochs",
        EPOCHS,
        "--longest",
        6,
        "--write",
        results,
    ]
    monkeypatch.setattr(sys, "argv", ["arcwise", "experiment", "pricing", *map(str, [bank, *options])])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("| Table 1, up to 80 words | sentences a second | times BF |")
    assert lines[2].startswith("| bank, BF | ")
    assert any(line.startswith("| Table 2, up to 6 words |") for line in lines)
    assert "Sentences: bank 12 (0 longer ones left out)." in lines
    assert results.read_text().splitlines()[1:-1] == lines
    header, bank_row, mean = (tmp_path / "table.tsv").read_text().splitlines()
    assert header.split("\t")[1:] == COLUMNS
    assert bank_row.split("\t")[1:] == mean.split("\t")[1:]
