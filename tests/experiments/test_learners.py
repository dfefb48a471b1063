"""The experiment of three learners on projective and on all trees: its runs, its log, and its tables."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise.errors import InputError
from arcwise.experiments import learners
from arcwise.experiments.learners import (
    LEARNERS,
    TREES,
    Heads,
    Outcome,
    read_log,
    run,
    run_all,
    tables,
    treebank_files,
)
from arcwise.experiments.writing import replace_table
from arcwise.learning.corpus import Corpus
from arcwise.pipeline.model import Model, Settings
from arcwise.treebank.reading import read_conllu
from tests.pipeline.models import is_tree
from tests.synthetic import synthetic_treebank

SMALL: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7}


def write_treebank(
    folder: Path, *, sizes: tuple[int, int, int] = (40, 8, 8), nonprojective: float = 0.3
) -> Path:
    folder.mkdir()
    for seed, (part, size) in enumerate(zip(("train", "dev", "test"), sizes, strict=True)):
        text = synthetic_treebank(size, mean_length=7.0, nonprojective=nonprojective, seed=seed)
        (folder / f"{part}.conllu").write_text(text)
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables of weights, one small penalty, few epochs."""
    monkeypatch.setattr(learners, "Settings", partial(Settings, **SMALL))
    small = {
        name: [tried[0]._replace(penalty=min(1.0, tried[0].penalty))] for name, tried in LEARNERS.items()
    }
    monkeypatch.setattr(learners, "LEARNERS", small)
    monkeypatch.setattr(learners, "EPOCHS", dict.fromkeys(LEARNERS, 2))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    # With charts the other learners take minutes to compile, and other tests have them.
    ("learner", "trees"), [("perceptron", "p"), *((learner, "np") for learner in LEARNERS)],
)  # fmt: skip
def test_a_run(tmp_path: Path, learner: str, trees: str) -> None:
    folder = write_treebank(tmp_path / "bank")
    outcome = run(folder, learner, trees)
    test = list(read_conllu(folder / "test.conllu"))
    assert len(outcome.right) == len(test)
    assert all(0 <= right <= len(sentence) for right, sentence in zip(outcome.right, test, strict=True))
    assert outcome.test == pytest.approx(100 * sum(outcome.right) / sum(map(len, test)))
    assert min(outcome.dev, outcome.test) > 45
    assert ("C " in outcome.best) == (learner != "perceptron")
    assert "epoch " in outcome.best
    assert trees == "np" or "projective search" not in outcome.best
    assert run(folder, learner, trees) == outcome


@pytest.mark.usefixtures("small")
def test_projective_search_with_a_model_of_all_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no tree crosses, it cannot do worse by much, and it is tried on the development set."""
    asked = []
    honest = learners.parse

    def watched(model: Model, corpus: Corpus, projective: bool) -> Heads:
        heads = honest(model, corpus, projective)
        asked.append((projective, heads, corpus))
        return heads

    monkeypatch.setattr(learners, "parse", watched)
    run(write_treebank(tmp_path / "bank"), "perceptron", "np")
    assert [projective for projective, _, _ in asked][:2] == [False, True]
    for _, heads, corpus in asked:
        for begin, end in zip(corpus.starts, corpus.starts[1:], strict=False):
            assert is_tree(heads[begin:end].tolist())
    assert (asked[0][1] != asked[1][1]).any()


# All runs, and their log


def outcome_of(key: str) -> Outcome:
    seed = sum(map(ord, key))
    right = np.random.default_rng(seed).integers(0, 9, 30).tolist()
    return Outcome(70 + seed % 7, 60 + seed % 11, "epoch 3", right)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was run; nothing is."""
    done: list[str] = []

    def fake(treebank: Path, learner: str, trees: str) -> Outcome:
        done.append(f"{treebank.name}/{learner}/{trees}")
        return outcome_of(done[-1])

    monkeypatch.setattr(learners, "run", fake)
    return done


def keys(*names: str) -> list[str]:
    return [f"{name}/{learner}/{trees}" for name in names for learner in LEARNERS for trees in TREES]


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_is_done_is_not_done_again(tmp_path: Path, runs: list[str], jobs: int) -> None:
    told: dict[str, Outcome] = {}
    done = {key: outcome_of(key) for key in (*keys("b")[:2], "elsewhere/perceptron/p")}
    outcomes = run_all([tmp_path / "a", tmp_path / "b"], jobs, done, told.__setitem__)
    assert sorted(runs) == sorted(told) == sorted({*keys("a", "b")} - {*done})
    assert outcomes == {key: outcome_of(key) for key in keys("a", "b")}
    assert list(outcomes) == keys("a", "b"), "the table must not depend on who is ready first"


def test_a_run_that_fails_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def fail(treebank: Path, learner: str, trees: str) -> Outcome:
        begun.append(learner)
        raise InputError("no sentences")

    monkeypatch.setattr(learners, "run", fail)
    with pytest.raises(InputError, match="no sentences"):
        run_all([tmp_path / "a"], 1, {}, lambda key, outcome: None)
    assert len(begun) < len(keys("a"))


def test_treebanks_of_one_name(tmp_path: Path, runs: list[str]) -> None:
    with pytest.raises(InputError, match="two treebanks of one name"):
        run_all([tmp_path / "x" / "a", tmp_path / "y" / "a"], 1, {}, lambda key, outcome: None)
    assert not runs


def test_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    assert read_log(log) == {}
    done = {key: outcome_of(key) for key in keys("a")}
    log.write_text(json.dumps(done))
    assert read_log(log) == done


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[1, 2]", "7", '{"a/perceptron/p": 7}', '{"a": [1, 2, "epoch 1"]}', '{"a": [1, 2, "epoch 1", 4]}',
        '{"a": ["x", 2, "epoch 1", [4]]}', '{"a": [1, 2, "epoch 1", ["x"]]}', "\xff",
    ],
)  # fmt: skip
def test_a_damaged_log(tmp_path: Path, content: str) -> None:
    log = tmp_path / "log.json"
    log.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match="not a log of this experiment, or damaged") as caught:
        read_log(log)
    assert caught.value.file == str(log)


def test_the_files_of_a_treebank(tmp_path: Path) -> None:
    folder = write_treebank(tmp_path / "bank", sizes=(1, 1, 1))
    assert [file.name for file in treebank_files(folder)] == ["train.conllu", "dev.conllu", "test.conllu"]
    (folder / "test.conllu").rename(folder / "test-fine.conllu")
    assert treebank_files(folder)[2].name == "test-fine.conllu"
    (folder / "dev2.conllu").write_text("")
    with pytest.raises(InputError, match=r"2 files dev.*expected one"):
        treebank_files(folder)


# The tables


def test_the_tables() -> None:
    def outcome(dev: float, test: float, *right: int) -> Outcome:
        return Outcome(dev, test, "epoch 1", list(right))

    few, many = [3] * 8, [4] * 8
    lines = list(
        tables(
            {
                "xx/perceptron/p": outcome(80, 70, *few), "xx/perceptron/np": outcome(70, 75, *many),
                "xx/max-margin/p": outcome(80, 72, *few), "xx/max-margin/np": outcome(81, 73.456, *many),
                "xx/log-linear/p": outcome(80, 71, *few), "xx/log-linear/np": outcome(79, 60, *few),
                "yy/perceptron/p": outcome(50, 40, 1), "yy/perceptron/np": outcome(51, 41, 2),
                "yy/max-margin/p": outcome(50, 44, 1), "yy/max-margin/np": outcome(51, 43, 2),
                "yy/log-linear/p": outcome(52, 44, 1), "yy/log-linear/np": outcome(51, 45, 3),
            }
        )
    )  # fmt: skip
    assert lines == [
        "| test UAS | perceptron p | perceptron np | max-margin p | max-margin np | log-linear p | log-linear np |",
        "|---|---|---|---|---|---|---|",
        "| xx | 70.00 | **75.00** | 72.00 | 73.46 | 71.00 | 60.00 |",
        "| yy | 40.00 | 41.00 | 44.00 | 43.00 | 44.00 | **45.00** |",
        "",
        "| chosen on dev | xx | yy | mean |",
        "|---|---|---|---|",
        "| perceptron | 70.00 | 41.00 | 55.50 |",
        "| max-margin | **73.46** | 43.00 | **58.23** |",
        "| log-linear | 71.00 | **44.00** | 57.50 |",
        "",
        "- max-margin against the perceptron: of 9 sentences 8 better, 0 worse; sign test p = 0.0078",
        "- log-linear against the perceptron: of 9 sentences 0 better, 1 worse; sign test p = 1",
        "- xx, perceptron, np against p: 8 better, 0 worse, p = 0.0078",
        "- xx, max-margin, np against p: 8 better, 0 worse, p = 0.0078",
    ]


def test_only_the_table_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "results.md"
    before, after = "# É\r\n\n<!-- other -->\n<!-- learners -->\n", "<!-- end of learners -->\n\nend of text"
    file.write_bytes(f"{before}old\nold\n{after}".encode())
    for lines in (["new", "| table |"], []):
        replace_table(file, "learners", lines)
        assert file.read_bytes().decode() == before + "".join(f"{line}\n" for line in lines) + after
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]


@pytest.mark.parametrize(
    "content",
    [
        "", "<!-- learners -->\n", "<!-- end of learners -->\n<!-- learners -->\n",
        2 * "<!-- learners -->\n<!-- end of learners -->\n", "<!-- learner -->\n<!-- end of learner -->\n",
    ],
)  # fmt: skip
def test_no_place_for_the_table(tmp_path: Path, content: str) -> None:
    file = tmp_path / "results.md"
    file.write_text(content)
    with pytest.raises(InputError, match="no place for the table 'learners', expected the lines"):
        replace_table(file, "learners", ["new"])
    assert file.read_text() == content


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    for name in ("missing.md", "binary.md"):
        with pytest.raises(InputError, match="cannot read it"):
            replace_table(tmp_path / name, "learners", ["new"])
