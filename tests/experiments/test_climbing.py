"""Hill climbing against dual decomposition, with one small model that was trained by climbing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.experiments import climbing
from arcwise.experiments.climbing import COLUMNS, compare, measure_model, share_found, tables
from arcwise.experiments.climbing_models import BY_CLIMBING, SLACK, measure, trained
from tests.experiments.small_models import EPOCHS, train_small_climbers
from tests.experiments.test_learners import write_treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 8, 15))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    return train_small_climbers(bank, tmp_path_factory.mktemp("models"), BY_CLIMBING)


def test_certified_optima(bank: Path, models: Path) -> None:
    parser, file = trained(bank, BY_CLIMBING, models, EPOCHS), bank / "test.conllu"
    best = measure(parser.searching("dual"), file)
    climbed = measure(parser.searching("climb", exact=False, restarts=100), file)
    assert best.certified.all()
    assert not climbed.certified.any(), "climbing alone proves nothing"
    assert (climbed.scores <= best.scores + SLACK).all()
    np.testing.assert_allclose(best.scores, np.rint(best.scores), atol=1e-3)
    assert share_found(best, climbed) == pytest.approx(100 * (climbed.scores >= best.scores - SLACK).mean())
    assert np.isnan(share_found(best._replace(certified=~best.certified), climbed))


def test_the_columns(bank: Path, models: Path) -> None:
    shares: list[float] = []
    row = measure_model(bank, BY_CLIMBING, models, EPOCHS, shares.append)
    assert list(row) == [column for column in COLUMNS if column.startswith("HC: ")]
    assert row["HC: certified, finish"] == 100
    for rule in ("paper's steps", "our steps"):
        assert sum(row[f"HC: DD {sign} HC, {rule}"] for sign in "<=>") == pytest.approx(100)
        assert 0 <= row[f"HC: certified, {rule}"] <= 100
        # What climbing misses, dual decomposition must have found.
        assert row[f"HC: DD > HC, {rule}"] <= 100 - row["HC: certified optima that HC finds"] + 1e-9
    assert row["HC: certified optima that HC finds"] > 80
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == 1


def test_scores_within_a_half_are_equal() -> None:
    dual = np.array([10.0, 10.0, 10.0, 10.0, 10.0])
    assert compare(dual, np.array([10.0, 10.4, 9.6, 11.0, 9.0])) == (20, 60, 20)


def test_tables_by_what_models_were_trained_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(treebank: Path, name: str, *_: object) -> dict[str, float]:
        return {column: 50.0 for column in COLUMNS if column.startswith(climbing.NAMES[name])}

    monkeypatch.setattr(climbing, "measure_model", fake)
    *_, rows = climbing.table_3([tmp_path / "aa", tmp_path / "bb"], tmp_path)
    assert list(rows) == ["aa", "bb"]
    assert list(rows["aa"]) == COLUMNS
    lines = list(tables(rows))
    assert lines[0].startswith("| % of test sentences, trained by climbing | certified, paper's steps |")
    assert lines[5].startswith(
        "| % of test sentences, trained by dual decomposition | certified, paper's steps |"
    )
