"""The command `arcwise evaluate`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arcwise.cli import arcwise_command
from arcwise.errors import InputError
from arcwise.treebank.sentence import Sentence

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
