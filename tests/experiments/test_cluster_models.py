"""Parsers without and with clusters: what they see, that each is trained once, the tables, and the commands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arcwise
from arcwise.errors import InputError, ModelError
from arcwise.evaluation.attachment import evaluate
from arcwise.experiments import cluster_models, curves, kept_models
from arcwise.experiments.cluster_models import ALL, NONE, SAME, Case, Parsers, evenly
from arcwise.experiments.hidden_tags import without_tags
from arcwise.features.attributes import EVERY
from arcwise.pipeline.forest import Rows
from arcwise.pipeline.model import Settings, load_model
from arcwise.treebank.reading import read_conllu
from tests.experiments.test_learners import SMALL, write_treebank

DATA = Path(__file__).parent.parent / "data"
SENTENCES, EPOCHS = 24, 1


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(SENTENCES, 8, 1))


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    file = tmp_path_factory.mktemp("clusters") / "toy.tsv"
    arcwise.cluster([bank / "train.conllu"], file, clusters=8, minimum=1)
    return file


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Small tables of weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_models, "Settings", partial(Settings, **SMALL, part_bits=10, tag_bits=10))
        yield


@pytest.fixture(scope="module")
def parsers(bank: Path, clusters: Path, models: Path) -> Parsers:
    return Parsers(bank, clusters, models, EPOCHS)


def no_training(*_: object) -> None:
    raise AssertionError("a model was trained again")


# What parsers see


def test_sentences_from_all_over() -> None:
    assert evenly(range(10), 10) == list(range(10))
    assert evenly(range(10), 4) == [0, 2, 5, 7]
    assert {*evenly(range(10), 2)} <= {*evenly(range(10), 4)}


def test_tags_that_are_hidden() -> None:
    sentences = list(read_conllu(DATA / "train.conllu"))
    hidden = without_tags(sentences)
    for before, after in zip(sentences, hidden, strict=True):
        words = len(before)
        for column in (after.upos, after.xpos, after.feats, after.lemmas):
            assert column[1:] == ["_"] * words
        assert (after.forms, after.labels, after.comments) == (before.forms, before.labels, before.comments)
        np.testing.assert_array_equal(after.heads, before.heads)
    assert any(sentence.ranges for sentence in hidden)


@pytest.mark.parametrize("settings", [Settings(), Settings(search="dual-grandchild").with_clusters()])
def test_templates_that_see_no_tags(settings: Settings) -> None:
    blind = settings.without_tags()
    templates = [
        blind.coarse,
        blind.arcs,
        blind.labels,
        blind.siblings,
        blind.grandchildren,
        blind.coordination,
    ]
    assert not {atom[0] for text in templates for atom in text.split()} & {*"CPX"}
    assert settings.tags
    assert not blind.tags
    for text in templates:
        cells = text.split("     ")
        assert len({*cells}) == len(cells) > 1
    assert "F | F" in blind.arcs
    assert blind.clusters == settings.clusters


def test_taggers_see_all_sentences_or_as_many(parsers: Parsers) -> None:
    def tags(tagger: str, sentences: int) -> list[list[str]]:
        train, dev = parsers.treebanks(Case(sentences, tagger, "1st", None))
        assert (len(train), len(dev)) == (sentences, 8)
        return [sentence.xpos for sentence in (*train, *dev)]

    assert parsers.sentences == SENTENCES
    assert tags(ALL, 6)[:6] == evenly(tags(ALL, SENTENCES)[:SENTENCES], 6)
    assert tags(ALL, 6)[6:] == tags(ALL, SENTENCES)[SENTENCES:]
    assert tags(SAME, 6) != tags(ALL, 6)
    assert tags(NONE, 6) == [["", *["_"] * (len(row) - 1)] for row in tags(ALL, 6)]


# Models


def test_a_parser_is_trained_once(
    parsers: Parsers, models: Path, bank: Path, clusters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, clustered = (Case(SENTENCES, ALL, "1st", frequent) for frequent in (None, 800))
    reached = {case: parsers.accuracy(case) for case in (plain, clustered)}
    names = [f"bank-{SENTENCES}-tagger-all-1st{name}.arcwise" for name in ("", "-toy-800")]
    assert {*names} <= {file.name for file in models.iterdir()}
    found = [load_model(models / name) for name in names]
    assert [model.settings.clusters for model in found] == [False, True]
    assert all(model.tagger is None for model in found), "the tags are given"
    monkeypatch.setattr(kept_models, "read_training_data", no_training)
    assert {case: parsers.accuracy(case) for case in reached} == reached
    assert parsers.accuracy(plain._replace(tagger=SAME)) == reached[plain], "the same as of all"
    for accuracy in reached.values():
        assert 0 < accuracy["LAS"] <= accuracy["UAS"] <= 100

    with pytest.raises(ModelError, match="not a model of this experiment with 2 epochs"):
        Parsers(bank, clusters, models, 2).accuracy(plain)


def test_models_of_other_clusters_and_treebanks_are_refused(
    parsers: Parsers, bank: Path, clusters: Path, models: Path, tmp_path: Path
) -> None:
    plain, clustered = (Case(SENTENCES, ALL, "1st", frequent) for frequent in (None, 800))
    reached = parsers.accuracy(plain)
    parsers.accuracy(clustered)
    (tmp_path / "toy.tsv").write_text(clusters.read_text() + "1\tanother\t1\n")
    others = Parsers(bank, tmp_path / "toy.tsv", models, EPOCHS)
    assert others.accuracy(plain) == reached
    with pytest.raises(ModelError, match="not a model of this experiment"):
        others.accuracy(clustered)
    other = write_treebank(tmp_path / "bank", sizes=(SENTENCES, 7, 1))
    with pytest.raises(ModelError, match="not a model of this experiment"):
        Parsers(other, clusters, models, EPOCHS).accuracy(plain)


def test_accuracy_is_that_of_the_model(parsers: Parsers, models: Path, tmp_path: Path) -> None:
    case = Case(12, SAME, "1st", EVERY, 3)
    reached = parsers.accuracy(case)
    parser = arcwise.load(models / f"bank-12-tagger-same-1st-toy-{EVERY}-words-3.arcwise")
    _, dev = parsers.treebanks(case)
    for name, sentences in (("gold", dev), ("parsed", parser(dev))):
        (tmp_path / name).write_text("".join(map(str, sentences)))
    metrics = evaluate(tmp_path / "gold", tmp_path / "parsed").metrics["subtypes"]
    assert reached == {name: pytest.approx(100 * metrics[name].f1) for name in ("UAS", "LAS")}


def test_no_proof_takes_long(parsers: Parsers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is known of tags, proofs of second order could take hours."""
    efforts = []
    honest = Rows.find_trees

    def watched(rows: Rows, weights: Any, effort: Any = None, **others: Any) -> None:
        efforts.append(effort)
        honest(rows, weights, effort, **others)

    monkeypatch.setattr(Rows, "find_trees", watched)
    reached = parsers.accuracy(Case(12, NONE, "2nd", 800))
    assert 0 < reached["LAS"] <= reached["UAS"] <= 100
    assert [effort.budget for effort in efforts] == [200_000] * EPOCHS


# Tables


def test_the_tables_of_curves() -> None:
    """Accuracies made up: 1000, 2000 and 4001 sentences give 70, 80 and 90, clusters 10 more, of second order 5."""
    rows = cluster_models.with_gains(
        {
            str(size): {
                column: accuracy + ("clusters" in column) * (10 if "1st" in column else 5)
                for column in curves.COLUMNS
            }
            for size, accuracy in ((1000, 70.0), (2000, 80.0), (4001, 90.0))
        }
    )
    lines = list(curves.tables("en", rows))
    at = lines.index(
        "| en, UAS, tagger on as many | 1st | 1st + clusters | 1st gain | 2nd | 2nd + clusters | 2nd gain |"
    )
    assert lines[at + 2] == "| 1000 | 70.00 | 80.00 | 10.00 | 70.00 | 75.00 | 5.00 |"
    at = next(at for at, line in enumerate(lines) if line.startswith("| en, LAS, tagger on all, halved |"))
    assert lines[at + 2 : at + 4] == [
        "| 1000 + clusters, 2000 | 80.00 | 80.00 | 0.00 | 75.00 | 80.00 | -5.00 |",
        "| 2000 + clusters, 4001 | 90.00 | 90.00 | 0.00 | 85.00 | 90.00 | -5.00 |",
    ]
    assert lines[-1].startswith("- LAS: half of the sentences with clusters do as well")
    assert lines[-1].endswith("in 4 of 8 comparisons.")


def test_one_sentence_has_no_half() -> None:
    assert curves.sizes_of([1000, 2000], 1) == [1]
    rows = cluster_models.with_gains({"1": dict.fromkeys(curves.COLUMNS, 50.0)})
    assert not any("halved" in line or "half" in line for line in curves.tables("en", rows))


# The commands


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """What was asked for; nothing is trained, and a parser reaches what its case says."""
    asked: list[Case] = []

    def accuracy(parsers: Parsers, case: Case, tell: Any = None) -> dict[str, float]:
        asked.append(case)
        tell(1.0)
        uas = (
            60.0
            + case.sentences
            + (case.order == "2nd")
            + 2 * (case.frequent is not None)
            - 5 * (case.words == 5)
        )
        return {"UAS": uas - 4 * (case.tagger == NONE), "LAS": uas - 10.0}

    monkeypatch.setattr(Parsers, "accuracy", accuracy)
    return asked


def test_the_command_curves(
    run: Any, reached: list[Case], bank: Path, clusters: Path, tmp_path: Path
) -> None:
    results, table, picture = (tmp_path / name for name in ("results.md", "curves.tsv", "curves.svg"))
    results.write_text("<!-- curves bank -->\n<!-- end of curves bank -->\n")
    base = ("curves", bank, "--clusters", clusters, "-o", table, "--models", tmp_path / "models")
    status, out, err = run(*base, "--sizes", "6,3,3,99", "--plot", picture, "--write", results)
    assert (status, err) == (0, f"drew {picture}\n")
    assert {case.sentences for case in reached} == {3, 6, 12, 24}
    assert len({*reached}) == len(reached) == 4 * 8
    assert {case.frequent for case in reached} == {None, 800}
    lines = out.splitlines()
    assert lines[2] == "| 3 | 63.00 | 65.00 | 2.00 | 64.00 | 66.00 | 2.00 |"
    assert lines[-1] == (
        "- LAS: half of the sentences with clusters do as well as all of them without, or better, in 0 of 12 comparisons."
    )
    assert results.read_text().splitlines()[1:-1] == lines
    assert [line.split("\t")[0] for line in table.read_text().splitlines()] == [
        "sentences",
        "3",
        "6",
        "12",
        "24",
    ]
    drawn = picture.read_bytes()
    assert run(*base, "--sizes", "3,6", "--plot", picture, "--jobs", 3)[1] == out
    assert picture.read_bytes() == drawn


def test_the_commands_frequent_and_untagged(
    run: Any, reached: list[Case], bank: Path, clusters: Path, tmp_path: Path
) -> None:
    base = (bank, "--clusters", clusters, "-o", tmp_path / "table.tsv")
    status, out, _ = run("frequent", *base, "--words", "5,800", "--jobs", 1)
    assert status == 0
    assert reached == [
        Case(24, ALL, order, beside, known)
        for n in (5, 800, EVERY) for order in ("1st", "2nd") for beside, known in ((None, n), (n, n), (n, EVERY))
    ]  # fmt: skip
    assert out.splitlines()[:3] == [
        "| bank, UAS | 1st | 1st + clusters | 1st + clusters, every word | 2nd | 2nd + clusters | 2nd + clusters, every word |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| 5 | 79.00 | 81.00 | 86.00 | 80.00 | 82.00 | 87.00 |",
    ]
    assert out.splitlines()[-1] == "| every word | 74.00 | 76.00 | 76.00 | 75.00 | 77.00 | 77.00 |"
    reached.clear()
    status, out, _ = run("untagged", *base, "--jobs", 1)
    assert status == 0
    assert reached == [
        Case(24, tagger, order, frequent) for tagger in (ALL, NONE) for order in ("1st", "2nd") for frequent in (None, 800)
    ]  # fmt: skip
    assert out.splitlines()[:4] == [
        "| bank, UAS | 1st | 1st + clusters | 1st gain | 2nd | 2nd + clusters | 2nd gain |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| tags | 84.00 | 86.00 | 2.00 | 85.00 | 87.00 | 2.00 |",
        "| no tags | 80.00 | 82.00 | 2.00 | 81.00 | 83.00 | 2.00 |",
    ]


def test_a_command_that_trains(
    run: Any, bank: Path, clusters: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Both threads need the tags of the same sentences, and models of the same treebank."""
    monkeypatch.setattr(
        curves, "MODELS", {name: cluster_models.MODELS[name] for name in ("1st", "1st + clusters")}
    )
    monkeypatch.setattr(curves, "ORDERS", {"1st": {}})
    monkeypatch.setattr(curves, "COLUMNS", [column for column in curves.COLUMNS if "1st" in column])
    tables = [tmp_path / name for name in ("first.tsv", "second.tsv", "third.tsv")]
    for table, jobs, models in zip(tables, (2, 1, 1), "aba", strict=True):
        status, _, err = run(
            "curves", bank, "--clusters", clusters, "-o", table, "--models", tmp_path / models, "--sizes", "6",
            "--epochs", EPOCHS, "--jobs", jobs,
        )  # fmt: skip
        assert status == 0, err
        if models == "b":
            monkeypatch.setattr(kept_models, "read_training_data", no_training)
    assert len({table.read_text() for table in tables}) == 1, "neither threads nor a second run change it"


@pytest.mark.parametrize("command", ["curves", "frequent", "untagged"])
@pytest.mark.usefixtures("reached")
def test_what_is_refused_at_once(run: Any, command: str, bank: Path, clusters: Path, tmp_path: Path) -> None:
    table, empty = tmp_path / "table.tsv", tmp_path / "empty.tsv"
    empty.write_text("")
    lacking = write_treebank(tmp_path / "lacking", sizes=(1, 1, 1))
    (lacking / "dev.conllu").unlink()
    given = ["--clusters", clusters]
    for arguments, message in (
        ([bank, "-o", table], "Missing option '--clusters'"),
        ([bank, *given], "Missing option '-o' / '--output'"),
        ([*given, "-o", table], "Missing argument 'TREEBANK'"),
        ([bank, "--clusters", tmp_path / "none.tsv", "-o", table], "does not exist"),
        ([bank, "--clusters", empty, "-o", table], f"arcwise: {empty}: an empty file, expected a bit string"),
        ([lacking, *given, "-o", table], f"arcwise: {lacking}: 0 files dev*.conll*, expected one"),
        ([bank, *given, "-o", table, "--epochs", 0], "Invalid value for '--epochs'"),
        ([bank, *given, "-o", tmp_path / "none" / "table.tsv"], "no such folder"),
        ([bank, *given, "-o", table, "--write", empty], f"no place for the table '{command} bank'"),
    ):
        status, out, err = run(command, *arguments)
        assert (status, out) == (2, "")
        assert message in err
    assert not table.exists()


@pytest.mark.parametrize(("command", "option"), [("curves", "--sizes"), ("frequent", "--words")])
@pytest.mark.parametrize("numbers", ["", "0", "10,x", "10,,20", "-5", "1.5"])
def test_numbers_that_are_none(
    run: Any, command: str, option: str, numbers: str, bank: Path, clusters: Path, tmp_path: Path
) -> None:
    status, _, err = run(
        command, bank, "--clusters", clusters, "-o", tmp_path / "t.tsv", f"{option}={numbers}"
    )
    assert status == 2
    assert f"{numbers!r}, expected positive numbers, separated by commas" in err


def test_empty_treebanks(bank: Path, clusters: Path, tmp_path: Path) -> None:
    empty = write_treebank(tmp_path / "bank", sizes=(2, 1, 1))
    (empty / "dev.conllu").write_text("")
    with pytest.raises(InputError, match="no sentences"):
        Parsers(empty, clusters, tmp_path, EPOCHS)
