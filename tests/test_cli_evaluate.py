"""The command `arcwise evaluate`."""

from __future__ import annotations

import csv
import io
import json
from math import log
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arcwise.cli import arcwise_command
from arcwise.errors import InputError
from arcwise.pipeline.model import save_model
from arcwise.treebank.sentence import Sentence
from tests.pipeline.models import DATA, data_blocks, random_model

FORMS, LABELS = ["Mia", "sleeps", "."], ["nsubj", "root", "punct"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Gold, a good system and a bad one."""
    gold = Sentence.from_words(FORMS, heads=[2, 0, 2], labels=LABELS)
    good = gold.replace(heads=[2, 0, 1])
    bad = gold.replace(heads=[0, 1, 1], labels=["root", "obj:x", "punct"])
    paths = []
    for name, sentence in [("gold", gold), ("good", good), ("bad", bad)]:
        path = tmp_path / f"{name}.conllu"
        path.write_bytes(sentence.to_bytes() * 20)
        paths.append(str(path))
    return paths


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(arcwise_command, ["evaluate", *arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_text(files: list[str]) -> None:
    lines = run(*files[:2]).output.splitlines()
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines if line}
    assert rows["LAS", "UD"][:3] == ["66.67", "66.67", "66.67"]
    assert rows["LAS", "CoNLL-X"][:3] == ["100.00", "100.00", "100.00"]
    assert rows["nsubj", "subtypes"][-2:] == ["20", "20"]
    # The convention stands beside every score, and is explained.
    for line in lines:
        if line.startswith(("UAS", "LAS", "CLAS", "MLAS", "BLEX", "LA ")):
            assert line.split()[1] in ("UD", "subtypes", "CoNLL-X")
    for convention in ("UD: ", "subtypes: ", "CoNLL-X: "):
        assert any(line.startswith(convention) for line in lines)


def test_two_systems_as_json(files: list[str]) -> None:
    report = json.loads(run(*files, "--format", "json", "--samples", "200", "--seed", "7").output)
    assert (report["seed"], report["samples"]) == (7, 200)
    assert [table["table"] for table in report["tables"]] == [
        *["scores", "labels", "sentence_lengths", "arc_lengths"] * 2,
        "significance",
    ]
    scores = {(row["metric"], row["convention"]): row for row in report["tables"][0]["rows"]}
    assert scores["UAS", "UD"]["f1"] == scores["UAS", "UD"]["low"] == pytest.approx(2 / 3)
    (uas, *_) = report["tables"][-1]["rows"]
    assert (uas["better"], uas["worse"]) == (20, 0)
    assert uas["difference"] == pytest.approx(2 / 3)
    assert uas["sign_p"] == pytest.approx(2 / 2**20)


def test_csv(files: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*files, "--format", "csv").output)))
    (value,) = [
        row["value"]
        for row in rows
        if row["table"] == "scores" and row["system"] == files[2] and row["second"] == ""
        if (row["row"], row["convention"], row["column"]) == ("LA", "subtypes", "f1")
    ]
    assert float(value) == pytest.approx(1 / 3)
    assert {row["second"] for row in rows if row["table"] == "significance"} == {files[2]}


def test_the_same_file_twice(files: list[str]) -> None:
    report = json.loads(run(files[0], files[1], files[1], "--format", "json").output)
    assert {row["sign_p"] for row in report["tables"][-1]["rows"]} == {1}


def test_errors(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        run(files[0], str(tmp_path / "missing.conllu"))
    other = tmp_path / "other.conllu"
    other.write_bytes(Sentence.from_words(["Other"], heads=[0], labels=["root"]).to_bytes())
    with pytest.raises(InputError, match=r"other.conllu:1: token 1: the text goes on with 'Other'"):
        run(files[0], str(other))


def test_help_has_an_example() -> None:
    assert "arcwise evaluate gold.conllu parsed.conllu" in run("--help").output
    assert "arcwise evaluate gold.conllu parsed.conllu --calibration" in run("--help").output


@pytest.fixture
def sure(files: list[str]) -> str:
    """The good system, with probabilities."""
    path = Path(files[1])
    path.write_bytes(path.read_bytes().replace(b"\t_\n", b"\tArcProb=0.9500|LabelProb=0.7500\n"))
    return str(path)


def test_calibration_as_text(files: list[str], sure: str) -> None:
    lines = run(files[0], sure, "--calibration").output.splitlines()
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines if line}
    last = next(k for k, line in enumerate(lines) if "heads with labels by their" in line)
    both = {tuple(line.split()[:2]): line.split()[2:] for line in lines[last : last + 13] if line}
    loss = f"{-(2 * log(0.95) + log(0.05)) / 3:.4f}"
    brier = f"{(2 * 0.05**2 + 0.95**2) / 3:.4f}"
    assert rows["heads", "subtypes"] == [
        "95.00",
        "66.67",
        "28.33",
        "28.33",
        "28.33",
        brier,
        loss,
        "60",
        "0",
        "0",
    ]
    assert rows["labels", "subtypes"][:5] == ["75.00", "100.00", "-25.00", "25.00", "25.00"]
    assert rows["both", "subtypes"][-3:] == ["60", "0", "0"]
    assert both["0.9-1", "subtypes"] == ["0"]
    assert both["0.7-0.8", "subtypes"] == ["71.25", "66.67", "4.58", "60"]
    # What each means stands beside the tables, and the scores are still there.
    assert any(line.startswith("labels: LabelProb") and "given the tree" in line for line in lines)
    assert rows["LAS", "UD"][:3] == ["66.67", "66.67", "66.67"]


def test_calibration_of_two_systems_as_json(files: list[str], sure: str) -> None:
    report = json.loads(run(files[0], sure, sure, "--calibration", "--format", "json").output)
    assert set(report["probabilities"]) == {"heads", "labels", "both", "trees"}
    names = [table["table"] for table in report["tables"]]
    kinds = ["heads", "labels", "both", "trees"]
    assert names[4:9] == ["calibration", *(f"{kind}_reliability" for kind in kinds)]
    assert names[9:-1] == names[:9]
    heads, labels, both, trees = report["tables"][4]["rows"]
    assert (trees["words"], trees["unknown"], trees["ece"]) == (0, 20, None)
    assert heads["ece"] == pytest.approx(0.95 - 2 / 3)
    assert (labels["words"], labels["accuracy"]) == (40, 1)
    assert both["confidence"] == pytest.approx(0.95 * 0.75)
    *empty, last = report["tables"][5]["rows"]
    assert all((row["words"], row["confidence"], row["difference"]) == (0, None, None) for row in empty)
    assert (last["bin"], last["words"], last["confidence"]) == ("0.9-1", 60, pytest.approx(0.95))


def test_calibration_as_csv(files: list[str], sure: str) -> None:
    rows = list(csv.DictReader(io.StringIO(run(files[0], sure, "--calibration", "--format", "csv").output)))
    values = {(row["table"], row["row"], row["column"]): row["value"] for row in rows}
    assert float(values["calibration", "heads", "accuracy"]) == pytest.approx(2 / 3)
    assert values["heads_reliability", "0.9-1", "words"] == "60"
    assert values["heads_reliability", "0-0.1", "accuracy"] == ""


def test_calibration_from_standard_input(files: list[str], sure: str) -> None:
    arguments = ["evaluate", files[0], "-", "--calibration", "--format", "json"]
    result = CliRunner().invoke(arcwise_command, arguments, input=Path(sure).read_bytes())
    expected = json.loads(run(files[0], sure, "--calibration", "--format", "json").output)
    assert [table["rows"] for table in json.loads(result.output)["tables"]] == [
        table["rows"] for table in expected["tables"]
    ]


def test_calibration_needs_probabilities(files: list[str], sure: str) -> None:
    with pytest.raises(
        InputError, match=r"bad.conllu:1: token 1: no ArcProb in sentence 1, expected .*--confidence"
    ):
        run(files[0], files[2], "--calibration")
    path = Path(sure)
    path.write_bytes(path.read_bytes().replace(b"LabelProb=0.7500", b"LabelProb=75%", 1))
    with pytest.raises(
        InputError, match=r"good.conllu:1: token 1: LabelProb is '75%' in sentence 1, expected a prob"
    ):
        run(files[0], sure, "--calibration")


def test_what_parse_writes_can_be_measured(tmp_path: Path) -> None:
    model, parsed = tmp_path / "random.arcwise", str(tmp_path / "parsed.conllu")
    save_model(random_model(0, data_blocks("dev.conllu"), greatest=3), model)
    gold = str(DATA / "dev.conllu")
    arguments = ["parse", gold, "--model", str(model), "--confidence", "-o", parsed]
    assert CliRunner().invoke(arcwise_command, arguments).exit_code == 0
    report = json.loads(run(gold, parsed, "--calibration", "--format", "json").stdout)
    scores = {(row["metric"], row["convention"]): row for row in report["tables"][0]["rows"]}
    heads, labels, both, trees = report["tables"][4]["rows"]
    assert trees["words"] == len(data_blocks("dev.conllu")[0])
    assert trees["accuracy"] == scores["LEM", "subtypes"]["f1"]
    assert heads["accuracy"] == scores["UAS", "subtypes"]["f1"]
    assert labels["words"] == scores["UAS", "subtypes"]["correct"]
    assert both["accuracy"] == scores["LAS", "subtypes"]["f1"]


def column_emptied(source: Path, target: Path, *columns: int) -> str:
    """A copy of a treebank that has `_` in some columns; the name of the copy."""
    lines = [line.split("\t") for line in source.read_text().split("\n")]
    for line in lines:
        for column in columns:
            if len(line) > 1:
                line[column] = "_"
    target.write_text("\n".join("\t".join(line) for line in lines))
    return str(target)


def test_columns_that_gold_lacks_have_no_scores(tmp_path: Path) -> None:
    gold = DATA / "dev.conllu"

    def metrics(*lacking: int) -> set[str]:
        file = column_emptied(gold, tmp_path / "gold.conllu", *lacking)
        report = json.loads(run(file, str(gold), "--format", "json").stdout)
        return {row["metric"] for row in report["tables"][0]["rows"]}

    every = metrics()
    assert {"UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "MLAS", "BLEX", "Words", "LAS"} <= every
    assert metrics(4) == every - {"XPOS"}
    assert metrics(5) == every - {"UFeats"}
    assert metrics(2) == every - {"Lemmas", "BLEX"}
    assert metrics(3, 4, 5) == every - {"UPOS", "XPOS", "UFeats", "AllTags", "MLAS"}


def test_tags_that_were_given_are_told_of(tmp_path: Path) -> None:
    gold, own = DATA / "dev.conllu", tmp_path / "own.conllu"
    told = run(str(gold), str(gold)).stderr
    assert told.startswith(
        f"note: {gold}: the tags of all words are those of {gold}; they were given to the parser"
    )
    own.write_text(gold.read_text().replace("\tNOUN\t", "\tPROPN\t", 1))
    assert run(str(gold), str(own)).stderr == ""
    untagged = column_emptied(gold, tmp_path / "untagged.conllu", 3, 4, 5)
    assert run(untagged, untagged).stderr == ""
    assert run(str(gold), str(own), str(gold)).stderr.count("note:") == 1
