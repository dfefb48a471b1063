"""The experiments with dual decomposition, on a small treebank and one model of sibling automata."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.errors import InputError, ModelError
from arcwise.evaluation.traces import read_trace_file, write_stopping
from arcwise.experiments import automata, projective, trained_models
from arcwise.experiments.stopping import ITERATIONS, stopping
from arcwise.experiments.trained_models import MODELS, Tell, growing_rows, parse, trained, training_seconds
from arcwise.treebank.reading import read_conllu
from tests.experiments.small_models import EPOCHS, train_small
from tests.experiments.test_learners import write_treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 12, 8))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with small models of arcs alone and of siblings."""
    return train_small(bank, tmp_path_factory.mktemp("models"), *(MODELS[name] for name in ("MST", "Sib")))


def no_training(*_: object) -> None:
    raise AssertionError("a model was trained again")


def test_a_model_is_trained_once(bank: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(file.name for file in models.iterdir()) == [
        "bank-dual-sibling.arcwise", "bank-spanning-tree.arcwise",
    ]  # fmt: skip
    monkeypatch.setattr(trained_models, "read_training_data", no_training)
    parser = trained(bank, "dual-sibling", models, EPOCHS)
    assert training_seconds(parser) > 0
    (stage,) = parser.model.facts["training"]
    assert parse(parser, bank / "dev.conllu").uas == pytest.approx(stage["uas"])
    assert 1 <= stage["best"] <= EPOCHS


def test_models_of_other_trainings_are_refused(bank: Path, models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model of this experiment with 3 epochs"):
        trained(bank, "dual-sibling", models, 3)
    (tmp_path / "bank-dual-grand-sibling.arcwise").write_bytes(
        (models / "bank-dual-sibling.arcwise").read_bytes()
    )
    with pytest.raises(ModelError, match="not a model of this experiment"):
        trained(bank, "dual-grand-sibling", tmp_path, EPOCHS)


def test_a_treebank_parsed(bank: Path, models: Path) -> None:
    found = parse(trained(bank, "dual-sibling", models, EPOCHS), bank / "dev.conllu")
    gold = list(read_conllu(bank / "dev.conllu"))
    assert len(found.starts) == len(gold)
    assert len(found.heads) == sum(map(len, gold))
    assert found.certified == 100
    assert found.uas > 45
    assert found.seconds > 0


def test_the_columns_of_table_1(bank: Path, models: Path) -> None:
    row: dict[str, float] = {}
    shares: list[float] = []
    for name in ("MST", "Sib"):
        row |= automata.measure(bank, name, models, EPOCHS, shares.append)
    assert list(row) == [column for name in ("MST", "Sib") for column in automata.COLUMNS if name in column]
    assert row["certified dev Sib exact"] == row["certified test Sib exact"] == 100
    assert 50 < row["certified dev Sib paper"] <= 100
    assert all(row[column] > 0 for column in row)
    assert all(0 <= share <= 1 for share in shares)


def test_projective_trees(bank: Path, models: Path) -> None:
    row = projective.measure(bank, "Sib", models, EPOCHS)
    assert list(row) == ["Sib", "P-Sib"]
    assert row["Sib"] != row["P-Sib"]


def test_early_stopping(bank: Path, models: Path, tmp_path: Path) -> None:
    found = stopping(bank, "sibling", models, EPOCHS)
    assert found.iterations == ITERATIONS
    assert found.agreement[-1] == 100
    assert all(np.diff(found.certificates) >= 0)
    write_stopping(found, tmp_path / "stopping.json")
    read = read_trace_file(tmp_path / "stopping.json")
    assert (read.treebank, read.model) == ("bank", "dual-sibling")  # type: ignore[union-attr]


# Rows that grow


@pytest.mark.parametrize("jobs", [1, 3])
def test_rows_in_the_order_given(jobs: int) -> None:
    def measure(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        tell(0.5)
        return {f"{name} {part}": float(len(treebank.name)) for part in ("dev", "test")}

    shares: list[float] = []
    columns = ["x dev", "y dev", "x test", "y test"]
    growing = list(growing_rows([Path("b"), Path("aa")], ["x", "y"], columns, measure, jobs, shares.append))
    assert [len(rows) for rows in growing] == [1, 2]
    assert list(growing[-1]) == ["b", "aa"]
    assert list(growing[-1]["aa"].items()) == [(column, 2.0) for column in columns]
    assert shares[-1] == 1


def test_one_that_fails_stops_the_others() -> None:
    def measure(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        if name == "x":
            raise InputError("no sentences")
        while True:
            tell(0.5)

    with pytest.raises(InputError, match="no sentences"):
        list(growing_rows([Path("a")], ["y", "x"], ["x", "y"], measure, 2, lambda share: None))
