"""Five strategies of decoding on a small treebank of trees of a class."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from arcwise.cli import main
from arcwise.evaluation.structure import Structure
from arcwise.experiments import strategies
from arcwise.experiments.shapes import COLUMNS, CURVES, STEPS, describe, measure
from arcwise.experiments.strategies import (
    BRANCHING,
    EISNER,
    FALLBACK,
    LR,
    MSA,
    PAPER,
    STRATEGIES,
    Batch,
    make_efforts,
    make_searches,
    outside,
    reduce_problem,
)
from arcwise.trees import all_trees
from arcwise.trees.shapes import PROJECTIVE, Shape, has_shape
from tests.experiments.small_models import EPOCHS, train_small
from tests.experiments.test_learners import write_treebank

NODES = 200


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(60, 60, 8))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with a small model of arcs."""
    return train_small(bank, tmp_path_factory.mktemp("models"), "spanning-tree")


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are not looked at."""
    monkeypatch.setattr(strategies, "_ROUNDS", 1)
    monkeypatch.setattr(strategies, "_SHORT", 0.0)


def random_batch(sentences: int, words: int, seed: int = 0) -> Batch:
    """Whole numbers."""
    scores = np.random.default_rng(seed).integers(0, 40, sentences * (words + 1) ** 2).astype(np.float64)
    gold = np.tile(np.arange(-1, words, dtype=np.int32), sentences)
    return Batch(scores, np.full(sentences, words), True, gold)


@pytest.mark.parametrize("shape", [PROJECTIVE, Shape(2, True)], ids=str)
def test_strategies_against_all_trees(shape: Shape) -> None:
    words = 5
    batch, trees = random_batch(40, words), all_trees(words, single_root=True)
    inside = np.array([has_shape(tree, shape) for tree in trees])
    scored = batch.scores.reshape(-1, words + 1, words + 1)[:, trees[:, 1:], np.arange(1, words + 1)].sum(2)
    best = scored[:, inside].max(1)
    searches = make_searches(shape, make_efforts(shape, NODES))
    for name in (BRANCHING, PAPER):
        found = searches[name](batch)
        assert found.certified.all()
        np.testing.assert_array_equal(found.scores, best)
    found = searches[LR](batch)
    assert (found.scores <= best).all()
    np.testing.assert_array_equal(found.scores[found.certified], best[found.certified])
    heads = {name: search(batch).heads for name, search in searches.items()}
    others = outside(heads[MSA], batch.starts, shape)
    assert len(others)
    for name in (EISNER, LR, BRANCHING, FALLBACK):
        assert len(outside(heads[name], batch.starts, shape)) == 0
    valid = np.ones(len(batch.lengths), np.bool_)
    valid[others] = False
    kept = np.repeat(valid, batch.lengths + 1)
    np.testing.assert_array_equal(heads[FALLBACK], np.where(kept, heads[MSA], heads[EISNER]))


def test_problem_reduction() -> None:
    shape = Shape(2, True)
    batch = random_batch(30, 8)
    efforts = make_efforts(shape, NODES)
    searches = make_searches(shape, efforts)
    hard = batch.pick(outside(searches[MSA](batch).heads, batch.starts, shape))
    proved, fixed = reduce_problem(hard, shape, efforts[PAPER])
    assert proved == pytest.approx(100 * searches[LR](hard).certified.mean())
    assert 0 < fixed < 100
    none = reduce_problem(hard.pick(np.arange(0)), shape, efforts[PAPER])
    assert none[0] == 0
    assert np.isnan(none[1])


def test_picked_sentences() -> None:
    batch = Batch(np.arange(4 + 9.0), np.array([1, 2]), True, np.array([-1, 0, -1, 2, 0], np.int32))
    picked = batch.pick(np.array([1, 1]))
    np.testing.assert_array_equal(picked.scores, np.tile(np.arange(4, 13.0), 2))
    np.testing.assert_array_equal(picked.starts, [0, 3, 6])
    assert picked.uas(np.array([-1, 2, 0, -1, 0, 1], np.int32)) == 50


def test_block_degrees() -> None:
    degrees = Counter({(1, True): 5, (2, False): 2, (5, True): 1, (7, True): 2})
    row = describe(Structure(lengths=Counter({9: 10}), block_degrees=degrees))
    assert {column: percent for column, percent in row.items() if percent} == {
        "Table 1, 1 WN": 50, "Table 1, 2 IL": 20, "Table 1, >4 WN": pytest.approx(30)
    }  # fmt: skip


def test_the_columns(bank: Path, models: Path) -> None:
    shares: list[float] = []
    row = measure(bank, models, EPOCHS, shares.append, nodes=NODES)
    assert list(row) == COLUMNS
    assert row["in class, % of train"] >= 99
    assert sum(row[column] for column in COLUMNS if column.startswith("Table 1, ")) == pytest.approx(100)
    assert row["Table 3, MSA, in class, %"] == pytest.approx(100 * (1 - row["sentences"] / 60))
    assert row["sentences"] > 0
    for name in STRATEGIES:
        assert name == MSA or row[f"Table 3, {name}, in class, %"] == 100
        assert 40 < row[f"Table 3, {name}, UAS"] <= 100
        assert np.isfinite(
            row[f"Table 3, {name}, parse, ms"]
        )  # a difference of times, which others may disturb
    assert row["Table 3, MSA, search, times MSA"] == row["Table 3, MSA, parse, times MSA"] == 1
    assert row["Nodes, B&B, out of nodes"] == 0 < row["Nodes, B&B, nodes, mean"]
    assert 0 < row["Table 2, B&B, median"] <= row["Table 2, B&B, 3rd quartile"] <= row["Table 2, B&B, total"]
    for curve in CURVES:
        rates = [row[f"Figure 2, {curve}, {steps}"] for steps in STEPS]
        assert rates == sorted(rates)
    for steps in STEPS:
        assert row[f"Figure 2, cells, with certificate, {steps}"] <= row[f"Figure 2, cells, without, {steps}"]
    assert all(0 <= share <= 1 for share in shares)


def test_a_projective_treebank(tmp_path: Path) -> None:
    """The class is that of projective trees, which takes no branches."""
    bank = write_treebank(tmp_path / "plain", sizes=(30, 10, 10), nonprojective=0.0)
    row = measure(bank, train_small(bank, tmp_path, "spanning-tree"), EPOCHS, part="test", nodes=NODES)
    assert row["block_degree"] == 1
    assert row["Table 1, 1 WN"] == 100
    assert row["Table 3, B&B, UAS"] == row["Table 3, Eisner, UAS"] == row["Table 3, MSA/Eisner, UAS"]
    assert row["Nodes, B&B, nodes, most"] == 0


def test_the_command(
    bank: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    results = tmp_path / "results.md"
    results.write_text("<!-- shapes -->\nold\n<!-- end of shapes -->\n")
    options = [
        "-o",
        tmp_path / "table.tsv",
        "--models",
        models,
        "--epochs",
        EPOCHS,
        "--nodes",
        NODES,
        "--write",
        results,
    ]
    monkeypatch.setattr(sys, "argv", ["arcwise", "experiment", "shapes", *map(str, [bank, *options])])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("| Table 1, % of train, dev | 1 WN | 2 WN |")
    for start in ("| Table 2, ms | mean |", "| Branch and bound |", "| Table 3, dev | UAS |", "| Figure 2, "):
        assert any(line.startswith(start) for line in lines)
    assert sum(line.startswith("| bank, ") for line in lines) == len(STRATEGIES)
    assert results.read_text().splitlines()[1:-1] == lines
    header, bank_row, mean = (tmp_path / "table.tsv").read_text().splitlines()
    assert header.split("\t")[1:] == COLUMNS
    assert bank_row.split("\t")[1:] == mean.split("\t")[1:]
