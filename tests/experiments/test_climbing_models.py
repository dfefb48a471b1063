"""Models of the experiments with hill climbing: trained once, and on after a stop; and the table and figure that compare them."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arcwise
from arcwise.errors import InputError, ModelError
from arcwise.evaluation.attachment import evaluate
from arcwise.experiments import climbing_models, full, kept_models
from arcwise.experiments.climbing_models import (
    EXACT,
    FIRST,
    FULL,
    files_of,
    measure,
    trained,
    training_treebanks,
)
from arcwise.experiments.kept_models import training_seconds
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import Options
from arcwise.pipeline.training_run import TrainingRun
from arcwise.treebank.reading import read_conllu
from tests.experiments.small_models import EPOCHS, train_small_climbers
from tests.experiments.test_learners import SMALL, write_treebank

SIZES = (40, 8, 12)


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=SIZES)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with small models, first order by climbing, and full."""
    return train_small_climbers(bank, tmp_path_factory.mktemp("models"), FIRST, FULL)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing_models, "Settings", partial(Settings, **SMALL, part_bits=10, tensor_bits=8))


# Files


def test_every_tenth_sentence_is_held_out(tmp_path: Path) -> None:
    folder = write_treebank(tmp_path / "bank", sizes=(21, 1, 2))
    files = files_of(folder)
    assert training_treebanks(files) == (folder / "train.conllu", folder / "dev.conllu")
    (folder / "dev.conllu").unlink()
    files = files_of(folder)
    assert files.dev is None
    whole = [str(sentence) for sentence in read_conllu(files.train)]
    train, dev = ([str(sentence) for sentence in part] for part in training_treebanks(files))  # type: ignore[union-attr]
    assert dev == [whole[9], whole[19]]
    assert train == [sentence for sentence in whole if sentence not in dev]


def test_treebanks_that_cannot_be_used(tmp_path: Path) -> None:
    folder = write_treebank(tmp_path / "bank", sizes=(9, 1, 1))
    (folder / "dev.conllu").unlink()
    with pytest.raises(InputError, match="9 sentences, and no development file, expected 10 or more"):
        training_treebanks(files_of(folder))
    (folder / "dev1.conllu").write_text("")
    (folder / "dev2.conllu").write_text("")
    with pytest.raises(InputError, match=r"2 files dev\*.conll\*, expected one"):
        files_of(folder)
    (folder / "test.conllu").unlink()
    (folder / "dev1.conllu").unlink()
    with pytest.raises(InputError, match=r"0 files test\*.conll\*, expected one"):
        files_of(folder)


# Models


def no_training(*_: object) -> None:
    raise AssertionError("a model was trained again")


def test_a_model_is_trained_once(bank: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(file.name for file in models.iterdir()) == ["bank-1st.arcwise", "bank-full.arcwise"]
    monkeypatch.setattr(kept_models, "read_training_data", no_training)
    parser = trained(bank, FULL, models, EPOCHS)
    assert training_seconds(parser) > 0
    assert [stage["stage"] for stage in parser.model.facts["training"]] == ["trees", "labels"]
    assert (parser.model.settings.search, parser.model.settings.tensor) == ("full", 50)
    assert trained(bank, FIRST, models, EPOCHS).model.settings.climb


def test_models_of_other_trainings_are_refused(bank: Path, models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model of this experiment with 3 epochs"):
        trained(bank, FIRST, models, 3)
    (tmp_path / "bank-3rd.arcwise").write_bytes((models / "bank-1st.arcwise").read_bytes())
    with pytest.raises(ModelError, match="not a model of this experiment"):
        trained(bank, "3rd", tmp_path, EPOCHS)


def test_a_model_is_that_of_arcwise_train(bank: Path, models: Path) -> None:
    settings = Settings(**SMALL, part_bits=10, tensor_bits=8, climb=True)
    parser = arcwise.train(
        bank / "train.conllu", bank / "dev.conllu", gold_tags=True, epochs=EPOCHS, settings=settings
    )
    kept = trained(bank, FIRST, models, EPOCHS).model
    assert kept.arrays.keys() == parser.model.arrays.keys()
    for name, array in kept.arrays.items():
        np.testing.assert_array_equal(array, parser.model.arrays[name])


@pytest.mark.usefixtures("small")
def test_a_training_goes_on_where_it_was_stopped(
    bank: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    honest = TrainingRun.next_epoch

    def stop_after_one(run: TrainingRun, state: Any) -> Any:
        if len(steps) == 1:
            steps.append("stopped")
            raise KeyboardInterrupt
        steps.append(state.stage)
        return honest(run, state)

    monkeypatch.setattr(TrainingRun, "next_epoch", stop_after_one)
    with pytest.raises(KeyboardInterrupt):
        trained(bank, FIRST, tmp_path, EPOCHS)
    assert [file.name for file in tmp_path.iterdir()] == ["bank-1st.arcwise.checkpoint"]
    parser = trained(bank, FIRST, tmp_path, EPOCHS)
    assert steps[:3] == ["trees", "stopped", "trees"]
    assert [file.name for file in tmp_path.iterdir()] == ["bank-1st.arcwise"]
    whole = trained(bank, FIRST, models, EPOCHS).model
    for name, array in parser.model.arrays.items():
        np.testing.assert_array_equal(array, whole.arrays[name])
    assert parser.model.facts["training"] == whole.facts["training"]


def test_options_are_those_of_the_command_line() -> None:
    """The defaults of `arcwise train`, which the help speaks of."""
    assert (Options().labels, Options().label_epochs, Options().patience) == ("both", 6, 3)


def test_what_is_measured_is_what_evaluate_says(bank: Path, models: Path, tmp_path: Path) -> None:
    parser = full.climbing_alone(trained(bank, FULL, models, EPOCHS))
    gold = bank / "test.conllu"
    found = measure(parser, gold)
    (tmp_path / "parsed.conllu").write_text("".join(map(str, parser(read_conllu(gold)))))
    scores = evaluate(gold, tmp_path / "parsed.conllu")
    row = full.measure_model(bank, FULL, models, EPOCHS)
    for name, convention, metric in (
        (f"UAS, {FULL}", "subtypes", "UAS"),
        (f"LAS, {FULL}", "subtypes", "LAS"),
        (f"UAS without punctuation, {FULL}", "CoNLL-X", "UAS"),
    ):
        assert row[name] == pytest.approx(100 * scores.metrics[convention][metric].f1)
    counts = scores.sentence_counts["subtypes", "UAS"]
    short = found.lengths <= 15
    for name, among in (("up to 15", short), ("over 15", ~short)):
        if among.any():
            right, of = counts[among, :2].sum(0)
            assert row[f"UAS {name} words, {FULL}"] == pytest.approx(100 * right / of)
        else:
            assert np.isnan(row[f"UAS {name} words, {FULL}"])
    assert len(found.scores) == SIZES[2]
    assert found.lengths.sum() == len(found.heads)
    assert row[f"speed, {FULL}"] > 0


# The command


def test_the_command(
    run: Any, bank: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(full, "NAMES", (FIRST, FULL))
    monkeypatch.setattr(
        full, "COLUMNS", [column for column in full.COLUMNS if column.split(", ")[-1] in (FIRST, FULL)]
    )
    results = tmp_path / "results.md"
    results.write_text("<!-- full -->\nold\n<!-- end of full -->\n")
    status, out, err = run(
        "full", bank, "-o", tmp_path / "full.tsv", "--models", models, "--epochs", EPOCHS, "--write", results,
        "--plot", tmp_path / "full.svg", "--restarts", 20,
    )  # fmt: skip
    assert status == 0, err
    lines = out.splitlines()
    assert lines[0] == "| UAS | 1st | full |"
    assert any(line.startswith("| UAS, full over 1st | all | up to 15 words |") for line in lines)
    assert results.read_text().splitlines()[1:-1] == lines
    header, row, mean = ((line.split("\t")) for line in (tmp_path / "full.tsv").read_text().splitlines())
    assert (row[0], mean[0]) == ("bank", "mean")
    assert row[1:] == mean[1:]
    values = dict(zip(header, row, strict=True))
    gain = float(values["UAS, full"]) - float(values["UAS, 1st"])
    assert float(values["gain, all"]) == pytest.approx(gain, abs=0.011)
    assert (tmp_path / "full.svg").read_bytes().startswith(b"<?xml")
    assert f"drew {tmp_path / 'full.svg'}" in err


COMMANDS = ("full", "climbing", "optima", "starts", "restarts", "independent")


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_refused_at_once(run: Any, command: str, bank: Path, tmp_path: Path) -> None:
    lacking = write_treebank(tmp_path / "lacking", sizes=(1, 1, 1))
    (lacking / "test.conllu").unlink()
    table = tmp_path / "table.tsv"
    for arguments, message in (
        ([lacking, "-o", table], f"{lacking}: 0 files test*.conll*, expected one"),
        ([bank], "Missing option '-o' / '--output'"),
        ([bank, bank, "-o", table], "two treebanks of one name"),
        ([bank, "-o", tmp_path / "none" / "table.tsv"], "no such folder"),
        ([bank, "-o", table, "--epochs", 0], "Invalid value for '--epochs'"),
        ([bank, "-o", table, "--write", tmp_path / "none.md"], "none.md: cannot read it: no such file"),
    ):
        status, out, err = run(command, *arguments)
        assert (status, out) == (2, "")
        assert message in err
    assert not table.exists()


@pytest.mark.parametrize("command", ["full", "restarts"])
def test_pictures_that_are_refused_at_once(
    run: Any, command: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = [command, bank, "-o", tmp_path / "table.tsv", "--plot"]
    status, _, err = run(*base, tmp_path / "out.gif")
    assert status == 2
    assert "expected a name that ends in .png, .svg or .pdf" in err
    assert run(*base, tmp_path / "none" / "out.png")[0] == 2
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = run(*base, tmp_path / "out.png")
    assert (status, out) == (2, "")
    assert err == "arcwise: figures of experiments need Matplotlib: pip install 'arcwise[plot]'\n"


def test_no_sentences(run: Any, bank: Path, models: Path, tmp_path: Path) -> None:
    status, _, err = run("restarts", bank, "-o", tmp_path / "table.tsv", "--sentences", 0)
    assert status == 2
    assert "Invalid value for '--sentences'" in err
    empty = write_treebank(tmp_path / "bank", sizes=(12, 2, 1))
    (empty / "test.conllu").write_text("")
    status, out, err = run(
        "optima", empty, "-o", tmp_path / "table.tsv", "--models", models, "--epochs", EPOCHS
    )
    assert (status, out) == (2, "")
    assert err == f"arcwise: {empty / 'test.conllu'}: no sentences, expected at least one\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help(run: Any, command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert "Zhang et al. 2014" in " ".join(out.split())
    assert "every tenth training sentence is held out" in " ".join(out.split())


def test_exact_models_do_not_climb(bank: Path, tmp_path: Path) -> None:
    parser = trained(bank, EXACT, train_small_climbers(bank, tmp_path, EXACT), EPOCHS)
    assert full.climbing_alone(parser) is parser
    assert measure(parser, bank / "test.conllu").certified.all()
