"""Programs beside dual decomposition, on a small treebank and on random scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcwise.errors import InputError
from arcwise.experiments import programs
from arcwise.experiments.programs import MODELS, SEARCHES, side_by_side, table_2, tables
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import parse, trained
from arcwise.treebank.reading import read_conllu
from tests.experiments.small_models import EPOCHS, train_small
from tests.experiments.test_learners import write_treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 11, 4))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with small models of siblings, and of siblings and grandchildren."""
    return train_small(bank, tmp_path_factory.mktemp("models"), *MODELS.values())


def test_searches_see_the_same_sentences(bank: Path, models: Path) -> None:
    parser, dev = trained(bank, "dual-sibling", models, EPOCHS), bank / "dev.conllu"
    shares: list[float] = []
    found = side_by_side({name: parser.searching(name) for name in ("dual", "ilp")}, dev, tell=shares.append)
    sentences = list(read_conllu(dev))
    for one in found.values():
        assert len(one.scores) == len(one.report) == len(sentences)
        assert len(one.correct) == sum(map(len, sentences))
        assert all(one.certified)
        assert one.seconds.sum() > 0
    assert found["dual"].scores == pytest.approx(found["ilp"].scores, abs=1e-6)
    assert found["dual"].uas == pytest.approx(parse(parser, dev).uas)
    assert found["ilp"].integral == 100
    assert shares[-1] == 1


def test_longer_sentences_are_left_out(bank: Path, models: Path) -> None:
    parser, dev = trained(bank, "dual-sibling", models, EPOCHS), bank / "dev.conllu"
    sizes = sorted(map(len, read_conllu(dev)))
    found = side_by_side({"dual": parser}, dev, longest=sizes[5])["dual"]
    assert len(found.correct) == sum(size for size in sizes if size <= sizes[5])
    with pytest.raises(InputError, match="no sentences of up to 0 words"):
        side_by_side({"dual": parser}, dev, longest=0)


def test_a_program_that_runs_out_of_time_is_not_integral(bank: Path, models: Path) -> None:
    parser = trained(bank, "dual-sibling", models, EPOCHS).searching("lp", seconds=0)
    found = side_by_side({"lp": parser}, bank / "dev.conllu")["lp"]
    assert not any(found.finished)
    assert found.integral == 0
    assert 0 <= found.uas <= 100


def test_the_table(bank: Path, models: Path) -> None:
    shares: list[float] = []
    growing = [dict(rows) for rows in table_2(bank, models, EPOCHS, instances=3, words=4, tell=shares.append)]
    assert [len(rows) for rows in growing] == [len(SEARCHES), 2 * len(SEARCHES)]
    rows = growing[-1]
    for model in MODELS:
        for name in ("ILP", "price", "DD, finish"):
            row = rows[f"{model}, {name}"]
            assert row["certified, %"] == 100
            assert row["largest difference"] < 1e-6
        assert rows[f"{model}, ILP"]["integral, %"] == rows[f"{model}, ILP"]["random integral, %"] == 100
        # Each relaxation is as tight as the one before.
        for column in ("integral, %", "random integral, %"):
            tight = [rows[f"{model}, {name}"][column] for name in ("LP(S)", "LP(M)", "LP")]
            assert tight == sorted(tight)
        assert rows[f"{model}, DD-250"]["certified, %"] <= rows[f"{model}, DD-5000"]["certified, %"]
    assert all(row["seconds"] > 0 and row["UAS"] > 30 for row in rows.values())
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("difference", "line"),
    [
        (0.0, "ILP, price and DD, finish score the same on every sentence, within 1e-06."),
        (0.5, "Not the same scores as those of DD, finish: G+S, price."),
    ],
)
def test_whether_exact_searches_agree(difference: float, line: str) -> None:
    rows: Rows = {
        "Sib, LP": {"largest difference": 3.0}, "Sib, ILP": {"largest difference": 0.0},
        "G+S, price": {"largest difference": difference}, "G+S, DD, finish": {"largest difference": 0.0},
    }  # fmt: skip
    assert list(tables("bank", rows))[-1] == line
    assert programs._EXACT == ("ILP", "price", "DD, finish")
