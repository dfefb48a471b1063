"""Heads on their own against trees, on a small treebank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.experiments import climbing_models
from arcwise.experiments.climbing_models import read_test, trained
from arcwise.experiments.climbing_runs import first_order_scores, number_sentences
from arcwise.experiments.independent import (
    COLUMNS,
    INDEPENDENT,
    NAMES,
    TREES,
    IndependentRun,
    best_heads,
    measure_model,
    table_1,
    tables,
)
from arcwise.pipeline.model import Settings
from tests.experiments.small_models import EPOCHS
from tests.experiments.test_learners import SMALL, write_treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(60, 12, 20))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(climbing_models, "Settings", lambda: Settings(**SMALL))
        for name in NAMES:
            measure_model(bank, name, folder, EPOCHS)
    return folder


def test_the_best_head_of_every_word(bank: Path, models: Path) -> None:
    parser = trained(bank, INDEPENDENT, models, EPOCHS, recipes=NAMES, make_run=IndependentRun)
    corpus = number_sentences(parser, read_test(bank / "test.conllu")).corpus
    weights = parser.model.weights()
    trees, matrices = first_order_scores(corpus, weights)
    heads, at = best_heads(corpus, weights), 0
    same = []
    for begin, size in zip(corpus.starts.tolist(), np.diff(corpus.starts).tolist(), strict=False):
        S = matrices[at : at + size * size].reshape(size, size)
        at += size * size
        own, tree = heads[begin : begin + size], trees.heads[begin : begin + size]
        words = np.arange(1, size)
        assert own[0] == -1
        np.testing.assert_array_equal(S[own[1:], words], S[:, 1:].max(0))
        assert S[own[1:], words].sum() >= S[tree[1:], words].sum()
        same.append((own == tree).all())
    assert any(same)


def test_the_columns(bank: Path, models: Path) -> None:
    *_, rows = table_1([bank], models, EPOCHS)
    row = rows["bank"]
    assert list(row) == COLUMNS
    for column in COLUMNS[:-1]:
        assert 40 < row[column] <= 100
    assert 0 <= row[COLUMNS[-1]] <= 100
    assert next(tables(rows)) == f"| test, first order | {' | '.join(COLUMNS)} |"


def test_both_learn_arcs_alone_from_one_pruner(bank: Path, models: Path) -> None:
    alone = trained(bank, INDEPENDENT, models, EPOCHS, recipes=NAMES, make_run=IndependentRun).model
    trees = trained(bank, TREES, models, EPOCHS, recipes=NAMES).model
    np.testing.assert_array_equal(alone.arrays["coarse"], trees.arrays["coarse"])
    assert (alone.arrays["arcs"] != trees.arrays["arcs"]).any()
    for model in (alone, trees):
        assert not model.arrays["labels"].any()
        assert [stage["stage"] for stage in model.facts["training"]] == ["trees"]


def test_dev_is_parsed_like_test(bank: Path, models: Path) -> None:
    """The accuracy that the epochs were chosen by is that of the model on dev, heads on their own."""
    parser = trained(bank, INDEPENDENT, models, EPOCHS, recipes=NAMES, make_run=IndependentRun)
    dev = number_sentences(parser, read_test(bank / "dev.conllu"))
    (stage,) = parser.model.facts["training"]
    assert dev.uas(best_heads(dev.corpus, parser.model.weights()))[0] == pytest.approx(stage["uas"])
