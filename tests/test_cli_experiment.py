"""`arcwise experiment`: the tables, the log, the file they are written to, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from arcwise.cli import main
from arcwise.experiments import learners
from tests.experiments.test_learners import keys, outcome_of, runs, write_treebank

__all__ = ["runs"]  # a fixture


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `arcwise experiment learners`; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", "experiment", "learners", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def banks(tmp_path):
    return [write_treebank(tmp_path / name, sizes=(20, 4, 4)) for name in ("aa", "bb")]


@pytest.mark.usefixtures("runs")
def test_two_treebanks(run, banks):
    status, out, err = run(*banks)
    assert status == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("| test UAS | perceptron p | perceptron np | max-margin p |")
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["aa", "bb"]
    assert lines[5] == "| chosen on dev | aa | bb | mean |"
    assert sum("against the perceptron: of 60 sentences" in line for line in lines) == 2
    assert sorted(line.split(": dev ")[0] for line in err.splitlines()) == sorted(keys("aa", "bb"))


def test_the_log_spares_what_is_done(run, runs, banks, tmp_path):
    log = tmp_path / "log.json"
    status, out, err = run(banks[0], "--log", log, "--jobs", 1)
    assert status == 0
    assert runs == keys("aa")
    assert len(err.splitlines()) == 6
    assert json.loads(log.read_text()) == {key: list(outcome_of(key)) for key in keys("aa")}
    runs.clear()
    assert run(banks[0], "--log", log) == (0, out, "")
    assert not runs
    status, both, _ = run(*banks, "--log", log)
    assert status == 0
    assert sorted(runs) == sorted(keys("bb"))
    runs.clear()
    assert run(*banks)[1] == both
    assert len(runs) == 12


def test_a_stopped_run_keeps_its_log(run, banks, tmp_path, monkeypatch):
    log = tmp_path / "log.json"

    def fail_late(treebank: Path, learner: str, trees: str) -> learners.Outcome:
        if learner == "log-linear":
            raise KeyboardInterrupt
        return outcome_of(f"{treebank.name}/{learner}/{trees}")

    monkeypatch.setattr(learners, "run", fail_late)
    status, out, err = run(banks[0], "--log", log, "--jobs", 1)
    assert (status, out) == (130, "")
    assert "interrupted" in err
    assert sorted(json.loads(log.read_text())) == sorted(keys("aa")[:4])


def test_the_table_is_written_into_a_file(run, runs, banks, tmp_path):
    file = tmp_path / "results.md"
    file.write_text("# Results\n<!-- learners -->\nold\n<!-- end of learners -->\nmore\n")
    status, out, _ = run(banks[0], "--write", file)
    assert status == 0
    assert file.read_text() == f"# Results\n<!-- learners -->\n{out}<!-- end of learners -->\nmore\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot read it: no such file"), ("# Results\n", "no place for the table 'learners'")],
)
def test_a_file_without_a_place_is_refused_at_once(run, runs, banks, tmp_path, content, message):
    file = tmp_path / "results.md"
    if content is not None:
        file.write_text(content)
    status, out, err = run(banks[0], "--write", file)
    assert (status, out) == (2, "")
    assert err.startswith(f"arcwise: {file}: {message}")
    assert not runs


def test_logs_that_cannot_be_used_are_refused_at_once(run, runs, banks, tmp_path):
    (tmp_path / "damaged").write_text('{"aa/perce')
    for log, message in (
        ("damaged", "not a log of this experiment, or damaged"),
        ("no folder/log", "cannot write it: no such file"),
        ("aa", "is a directory"),
    ):
        status, out, err = run(banks[0], "--log", tmp_path / log)
        assert (status, out) == (2, "")
        assert message in err
    assert (tmp_path / "damaged").read_text() == '{"aa/perce'
    assert not runs


def test_treebanks_that_cannot_be_used(run, runs, banks, tmp_path):
    (banks[1] / "dev.conllu").unlink()
    for folders, message in (
        ([], "Missing argument 'TREEBANKS"),
        ([tmp_path / "none"], "does not exist"),
        ([banks[0] / "dev.conllu"], "is a file"),
        (banks, f"{banks[1]}: 0 files dev*.conll*, expected one"),
        ([banks[0], banks[0]], "two treebanks of one name"),
    ):
        status, out, err = run(*folders)
        assert (status, out) == (2, "")
        assert message in err
    assert not runs


def test_a_bad_treebank_ends_with_one_line(run, banks):
    (banks[0] / "train.conllu").write_text("1\tbad\n\n")
    status, out, err = run(banks[0], "--jobs", 1)
    assert (status, out) == (2, "")
    assert err.startswith(f"arcwise: {banks[0] / 'train.conllu'}:1: ")
    assert len(err.splitlines()) == 1
