"""Confidences, against sums over all trees of short sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import ModelError
from arcwise.features.attributes import number_words
from arcwise.learning.corpus import Corpus, make_corpus
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.confidence import Temperatures, fit_temperatures, likeliest, unknown_trees
from arcwise.pipeline.forest import Forest, find_forest
from arcwise.pipeline.keeping import Kept
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.model import Model, load_model, read_sealed, save_model, write_sealed
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.sentences import ANY_LABEL, parse_sentences
from arcwise.treebank.block import DEPREL, Block
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import SMALL, data_blocks, random_model, synthetic_block, trained


def forest_of(model: Model, block: Block, temperature: float = 1.0) -> Forest:
    numbers = number_words(block.data, block.starts, block.stops, block.words, model.vocabulary())
    starts = block.words + np.arange(len(block.words), dtype=np.int64)
    forest = find_forest(unknown_trees(numbers, starts), model.weights(), temperature)
    assert isinstance(forest, Forest)
    return forest


def matrices_of(model: Model, block: Block) -> list[np.ndarray]:
    forest = forest_of(model, block)
    return forest.squares(forest.scores)


def marginals_of(forest: Forest) -> list[np.ndarray]:
    return forest.squares(forest.sums()[0])


def brute_force(S: np.ndarray, single_root: bool) -> np.ndarray:
    """The probability of every arc, tree by tree."""
    trees, words = all_trees(len(S) - 1, single_root), np.arange(1, len(S))
    scores = S[trees[:, 1:], words].sum(axis=1)
    chances = np.exp(scores - scores.max())
    P = np.zeros_like(S)
    for heads, chance in zip(trees, chances / chances.sum(), strict=True):
        P[heads[1:], words] += chance
    return P


@pytest.mark.parametrize("single_root", [True, False])
def test_confidences_are_marginals(single_root: bool) -> None:
    block = synthetic_block(40, 4.0)
    short = [sentence for sentence in block if len(sentence) <= 6]
    assert len(short) > 5
    model = random_model(0, [block], single_root=single_root, greatest=3)
    matrices = matrices_of(model, block)
    parser = Parser(model)
    for sentence, S in zip(block, matrices, strict=True):
        if len(sentence) > 6:
            continue
        (parsed,) = parser(sentence)
        P = brute_force(S * float(model.arrays["scales"][1]), single_root)
        words = np.arange(1, len(S))
        assert parsed.confidences is not None
        assert np.isnan(parsed.confidences[0])
        np.testing.assert_allclose(parsed.confidences[1:], P[parsed.heads[1:], words], rtol=1e-9)
        np.testing.assert_allclose(P[:, 1:].sum(axis=0), 1)
        assert parsed[1].confidence == parsed.confidences[1]


def test_the_scores_are_those_of_the_search() -> None:
    (block,) = data_blocks("dev.conllu")
    model = trained().model
    numbers = number_words(block.data, block.starts, block.stops, block.words, model.vocabulary())
    starts = block.words + np.arange(len(block.words), dtype=np.int64)
    heads, labels = np.full(len(numbers), ANY_HEAD, np.int32), np.full(len(numbers), ANY_LABEL, np.int32)
    scores = np.empty(len(starts) - 1)
    kept = parse_sentences(numbers, starts, model.weights(), heads, labels, scores, np.empty(0))
    matrices = matrices_of(model, block)
    for S, start, score in zip(matrices, starts, scores, strict=False):
        words = np.arange(1, len(S))
        assert S[heads[start + words], words].sum() == score
    assert sum(int(np.isfinite(S[:, 1:]).sum()) for S in matrices) == kept


def test_probabilities_are_probabilities() -> None:
    for sentence in trained()(data_blocks("dev.conllu")[0][:20]):
        assert sentence.confidences is not None
        found = sentence.confidences[1:]
        assert ((found >= 0) & (found <= 1 + 1e-9)).all()
        assert np.isnan(sentence.confidences[0])


def test_warmer_is_less_sure() -> None:
    forest = forest_of(trained().model, data_blocks("dev.conllu")[0])
    sure = [
        np.mean([P[:, 1:].max(axis=0).mean() for P in marginals_of(forest._replace(temperature=temperature))])
        for temperature in (1.0, 10.0, 100.0, 1000.0)
    ]
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > sure[-1]


def dev_corpus(model: Model) -> Corpus:
    numbers = {name: number for number, name in enumerate(model.names)}
    return make_corpus(data_blocks("dev.conllu"), model.vocabulary(), numbers)


def test_temperature_and_doubt_are_the_likeliest() -> None:
    model = trained().model
    block = data_blocks("dev.conllu")[0]
    best = fit_temperatures(model, dev_corpus(model))

    def likelihood(temperature: float, doubt: float) -> float:
        """Of what is right of the arcs and trees found, by what the parser says of them."""
        parser = Parser(replace(model, temperature=temperature, doubt=doubt))
        trees = parser.parse_block(block, confidence=True)
        assert trees.probabilities is not None
        logs, arcs, labels, _, _ = trees.probabilities
        assert arcs is not None
        assert labels is not None
        of_heads = np.exp(logs - np.add.reduceat(np.log(labels), block.words[:-1]))
        right = trees.heads == block.heads
        total = 0.0
        for p, was in ((arcs, right), (of_heads, np.logical_and.reduceat(right, block.words[:-1]))):
            total += float(np.log(np.maximum(np.where(was, p, 1 - p), 1e-4)).sum())
        return total

    top = likelihood(best.temperature, best.doubt)
    assert top >= max(likelihood(best.temperature * factor, best.doubt) for factor in (0.5, 0.9, 1.1, 2.0))
    assert top >= max(likelihood(best.temperature, doubt) for doubt in np.arange(11) / 20)


def test_the_label_temperature_is_the_likeliest() -> None:
    model = trained().model
    block = data_blocks("dev.conllu")[0]
    assert model.label_temperature is not None  # training fitted it, to predicted tags
    best = fit_temperatures(model, dev_corpus(model)).label_temperature
    assert best is not None

    def likelihood(temperature: float) -> float:
        parser = Parser(replace(model, label_temperature=temperature))
        trees = parser.parse_block(block)
        gold = [model.names.index(name) if name in model.names else -1 for name in block.column(DEPREL)]
        right = (trees.heads == block.heads) & (np.array(gold) >= 0)
        rows = parser._number(
            block, Kept(trees.heads, np.where(right, gold, -1).astype(np.int32), model.names)
        )
        found = label_probabilities(rows.rows, model.weights(), parser._temperatures.labels)[rows.words]
        return float(np.log(np.maximum(found[right & ~np.isnan(found)], 1e-4)).sum())

    assert likelihood(best) >= max(likelihood(best * factor) for factor in (0.5, 0.97, 1.03, 1.0 / best, 2.0))


def test_words_without_a_head_do_not_count() -> None:
    model = trained().model
    corpus = dev_corpus(model)
    heads, labels = corpus.heads.copy(), corpus.labels.copy()
    hidden = np.flatnonzero(heads >= 0)[::3]
    heads[hidden] = labels[hidden] = -1
    found = fit_temperatures(model, corpus._replace(heads=heads, labels=labels))
    assert 0.25 < found.temperature / model.temperature < 4


def test_a_temperature_of_every_search_is_fitted() -> None:
    block = synthetic_block(30, 5.0)
    small = replace(SMALL, search="sibling", pruning="projective", part_bits=14)
    model = random_model(0, [block], settings=small, greatest=3)
    model.arrays["parts"] = np.random.default_rng(0).integers(-3, 4, 1 << 14, dtype=np.int8)
    corpus = make_corpus([block], model.vocabulary(), {name: k for k, name in enumerate(model.names)})
    found = fit_temperatures(model, corpus)
    assert found.temperature * (1 + 3 * found.doubt) > 1  # random scores say nothing
    assert found.label_temperature is not None


@given(st.floats(-7.5, 7.5), st.floats(0.1, 10))
@settings(deadline=None, max_examples=50)
def test_the_top_of_every_hill_is_found(top: float, slope: float) -> None:
    calls: dict[float, float] = {}

    def hill(temperature: float) -> float:
        assert temperature not in calls
        way = float(np.log2(temperature)) - top
        calls[temperature] = -slope * way if way > 0 else way  # not symmetric
        return calls[temperature]

    best = likeliest(hill)
    assert abs(np.log2(best) - top) <= 1 / 32
    assert calls[best] == max(calls.values())
    assert 1 in calls
    assert len(calls) <= 24


def test_a_flat_likelihood_leaves_the_natural_temperature() -> None:
    assert likeliest(lambda temperature: 0.0) == 1
    assert likeliest(lambda temperature: temperature) == 256
    assert likeliest(lambda temperature: -temperature) == 1 / 256


def test_models_without_a_label_temperature_take_half(tmp_path: Path) -> None:
    model = replace(trained().model, temperature=3.0)
    save_model(replace(model, doubt=0.125), tmp_path / "new")
    assert load_model(tmp_path / "new").doubt == 0.125
    assert load_model(tmp_path / "new").label_temperature == model.label_temperature
    header, arrays = read_sealed(tmp_path / "new", "arcwise model")
    del header["label_temperature"]
    del header["doubt"]
    write_sealed(tmp_path / "old", "arcwise model", header, arrays)
    old = load_model(tmp_path / "old")
    assert old.label_temperature is None
    assert old.doubt == 0
    assert Temperatures.of(old) == Temperatures.of(replace(model, label_temperature=1.5, doubt=0.0))
    for share in (-0.1, 1.0, float("nan"), "some"):
        write_sealed(tmp_path / "wrong", "arcwise model", header | {"doubt": share}, arrays)
        with pytest.raises(ModelError, match="can use"):
            load_model(tmp_path / "wrong")
    for wrong in (0, -1.0, float("nan"), float("inf"), "hot", [1]):
        write_sealed(tmp_path / "wrong", "arcwise model", header | {"label_temperature": wrong}, arrays)
        with pytest.raises(ModelError, match="can use"):
            load_model(tmp_path / "wrong")


def test_long_sentences_have_no_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "LONGEST", 3)
    short, long = trained()([["a", "b", "c"], ["a", "b", "c", "d"]])
    assert short.confidences is not None
    assert long.confidences is not None
    assert np.isfinite(short.confidences[1:]).all()
    assert np.isnan(long.confidences).all()
