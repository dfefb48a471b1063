"""Local optima, starts and restarts: the experiments with the runs of climbing, on a small treebank."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import arcwise
from arcwise.errors import InputError
from arcwise.experiments import optima, restarts, starts
from arcwise.experiments.climbing_models import FIRST, FULL, SLACK, measure, read_test, trained
from arcwise.experiments.climbing_runs import (
    Sentences,
    climb,
    first_order_scores,
    fixed_runs,
    number_sentences,
)
from arcwise.experiments.restarts import normalised
from arcwise.pipeline.parser import Parser
from arcwise.search.start_trees import sharpen
from arcwise.treebank.reading import read_blocks
from tests.experiments.small_models import EPOCHS, train_small_climbers
from tests.experiments.test_learners import write_treebank
from tests.synthetic import synthetic_treebank

TEST = 24  # sentences, some of them long


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 8, 1))
    text = synthetic_treebank(TEST, mean_length=12.0, nonprojective=0.3, seed=3)
    (folder / "test.conllu").write_text(text)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    return train_small_climbers(bank, tmp_path_factory.mktemp("models"), FIRST, FULL)


@pytest.fixture(scope="module")
def full(bank: Path, models: Path) -> Parser:
    return trained(bank, FULL, models, EPOCHS)


@pytest.fixture(scope="module")
def sentences(bank: Path, full: Parser) -> Sentences:
    return number_sentences(full, read_test(bank / "test.conllu"))


# Sentences


def test_sentences_from_all_over_a_treebank(bank: Path, full: Parser, sentences: Sentences) -> None:
    blocks = read_test(bank / "test.conllu")
    assert sentences.lengths.tolist() == [
        len(sentence) for sentence in arcwise.read_conllu(bank / "test.conllu")
    ]
    some = number_sentences(full, blocks, 7)
    assert some.lengths.tolist() == [sentences.lengths[i * TEST // 7] for i in range(7)]
    assert len(number_sentences(full, blocks, 1000).lengths) == TEST
    assert len(some.scored) == len(some.corpus.heads)
    assert (some.counted >= some.scored).all()
    with read_blocks(BytesIO(synthetic_treebank(1, mean_length=3000.0, seed=1).encode())) as reader:
        long = list(reader)
    with pytest.raises(InputError, match="no test sentences of up to 300 words"):
        number_sentences(full, long)


def test_uas_is_that_of_the_parser(bank: Path, full: Parser, sentences: Sentences) -> None:
    found = measure(full.searching("climb", exact=False, restarts=20, start="uniform"), bank / "test.conllu")
    climbing = fixed_runs(1, "uniform")._replace(restarts=20, most=1 << 16)
    rows = climb(sentences.corpus, full.model.weights(), climbing).rows
    right = rows.heads[sentences.corpus.heads >= 0]
    np.testing.assert_array_equal(right, found.heads)
    all_words, without = sentences.uas(rows.heads)
    assert all_words == pytest.approx(100 * found.right.mean())
    assert without == pytest.approx(100 * found.right[found.scored].mean())


# Table 2


def test_local_optima(bank: Path, models: Path) -> None:
    shares: list[float] = []
    row = optima.measure_model(bank, models, EPOCHS, shares.append)
    assert list(row) == optima.COLUMNS
    assert row["sentences"] == TEST
    for roots in ("any roots", "one root"):
        counts = [row[f"{roots}, {percentile}%"] for percentile in (50, 70, 90)]
        assert counts[0] >= 1
        assert counts == sorted(counts)
    assert row["found up to 15 words, %"] == 100
    assert 50 < row["found over 15 words, %"] <= 100
    assert all(0 <= share <= 1 for share in shares)


def test_nothing_beats_the_spanning_tree(bank: Path, models: Path) -> None:
    parser = trained(bank, FIRST, models, EPOCHS)
    corpus = number_sentences(parser, read_test(bank / "test.conllu")).corpus
    weights = parser.model.weights()
    best = climb(corpus, weights, None).rows
    np.testing.assert_array_equal(best.scores, best.bounds)
    few = climb(corpus, weights, fixed_runs(1, "uniform")).rows
    many = climb(corpus, weights, fixed_runs(50, "uniform")).rows
    assert (few.scores <= many.scores + SLACK).all()
    assert (many.scores <= best.scores + SLACK).all()
    found = optima.found_best(corpus, weights, 50)
    np.testing.assert_array_equal(found, many.scores >= best.scores - SLACK)


def test_the_table_of_local_optima() -> None:
    row = dict.fromkeys(optima.COLUMNS, 3.0) | {"any roots, 90%": 10001.0, "one root, 50%": float("nan")}
    lines = list(optima.table({"xx": row}))
    assert lines[2] == "| xx | 3 | 3.00 | 3 | 3 | >10000 | – | 3 | 3 | 3.00 | 3.00 |"


# Table 5


def test_starts(bank: Path, models: Path) -> None:
    row = starts.measure_model(bank, models, EPOCHS, restarts=20)
    assert list(row) == starts.COLUMNS
    for convention in ("", ", without punctuation"):
        initial = [row[f"initial trees, {start}{convention}"] for start in ("uniform", "first-order", "best")]
        assert initial == sorted(initial)
        for start in starts.NAMES:
            assert 30 < row[f"result, {start}{convention}"] <= 100
    first, second = "\n".join(starts.tables({"bank": row})).split("\n\n")
    assert first.splitlines()[0] == (
        "| UAS, all words | result, best | result, uniform | result, first-order | initial trees, best | initial trees, uniform "
        "| initial trees, first-order |"
    )
    assert second.startswith("| UAS without punctuation | result, best |")


@pytest.mark.parametrize("start", ["uniform", "first-order"])
def test_initial_trees_are_those_drawn(full: Parser, sentences: Sentences, start: str) -> None:
    """The mean over all trees that can be drawn is near that of many."""
    weights, draws = full.model.weights(), 400
    _, matrices = first_order_scores(sentences.corpus, weights)
    right, at = 0.0, 0
    for begin, length in zip(sentences.corpus.starts.tolist(), sentences.lengths.tolist(), strict=False):
        S = matrices[at : at + (length + 1) ** 2].reshape(length + 1, length + 1)
        at += S.size
        if start == "uniform":
            S[:] = np.where(-np.inf < S, 0.0, -np.inf)
        else:
            sharpen(S)
        trees = arcwise.sample(S, draws, single_root=weights.single_root)
        right += (trees[:, 1:] == sentences.corpus.heads[begin + 1 : begin + 1 + length]).sum() / draws
    expected = starts.initial_uas(sentences, weights, start)[0]
    assert 100 * right / sentences.lengths.sum() == pytest.approx(expected, abs=1.5)


# Table 6


@pytest.fixture
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than thousands."""
    runs = (1, 30, 300, 600)
    monkeypatch.setattr(restarts, "RUNS", runs)
    monkeypatch.setattr(restarts, "CURVE", runs[:3])
    numbers = {str(number) for number in runs}
    columns = [name for name in restarts.COLUMNS if not name.split(", ")[-1].isdigit()]
    for prefix in (
        "score, up to 15 words, ",
        "score, over 15 words, ",
        "UAS, ",
        "seconds a token, ",
    ):
        columns += [f"{prefix}{number}" for number in sorted(numbers, key=int)]
    monkeypatch.setattr(restarts, "COLUMNS", columns)


@pytest.mark.usefixtures("few_runs")
def test_restarts(bank: Path, models: Path) -> None:
    shares: list[float] = []
    row = restarts.measure_model(bank, models, EPOCHS, shares.append, most=12)
    assert list(row) == restarts.COLUMNS
    assert row["sentences"] == 12
    for group in ("up to 15 words", "over 15 words"):
        assert 0 <= row[f"best of 3000 found in 300, {group}"] <= 100
        curve = [row[f"score, {group}, {runs}"] for runs in (1, 30, 300, 600)]
        assert max(curve) <= 100 + 1e-9
        assert curve[0] <= curve[-1] + 1e-9
        assert curve[2] > 99
    assert row["seconds a token, 1"] < row["seconds a token, 600"]
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == 1
    lines = list(restarts.tables({"bank": row}))
    assert lines[0].startswith(
        "| % of sentences whose best tree of 3000 runs is found in the first 300 | sentences |"
    )
    assert "| UAS, by runs | 1 | 30 | 300 | 600 |" in lines
    assert restarts.figures_5_and_6({"bank": row}, "png").startswith(b"\x89PNG")


def test_more_runs_find_better_trees(full: Parser, sentences: Sentences) -> None:
    """The tables take the best that any number of runs found, since what climbs on by whole trees is chosen among more of them."""
    weights = full.model.weights()
    scores = [
        climb(sentences.corpus, weights, fixed_runs(runs, "first-order")).rows.scores for runs in (1, 30, 300)
    ]
    best = np.maximum.reduce(scores)
    found = [(one >= best - SLACK).mean() for one in scores]
    assert found[0] <= found[-1]
    assert found[-1] > 0.9
    assert normalised(best, best, np.ones(TEST, np.bool_)) == 100


def test_scores_that_cannot_be_divided_by() -> None:
    none = np.zeros(2, np.bool_)
    assert np.isnan(normalised(np.ones(2), np.ones(2), none))
    assert np.isnan(normalised(np.ones(2), -np.ones(2), ~none))
