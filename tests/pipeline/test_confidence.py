"""Confidences, against sums over all trees of short sentences."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.attributes import number_words
from arcwise.learning.corpus import make_corpus
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.confidence import fit_temperature, unknown_trees
from arcwise.pipeline.forest import Forest, find_forest
from arcwise.pipeline.model import Model
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.sentences import ANY_LABEL, parse_sentences
from arcwise.treebank.block import Block
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import data_blocks, random_model, synthetic_block, trained


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


def test_the_temperature_is_the_likeliest() -> None:
    model = trained().model
    blocks = data_blocks("dev.conllu")
    numbers = {name: number for number, name in enumerate(model.names)}
    corpus = make_corpus(blocks, model.vocabulary(), numbers)
    best = fit_temperature(model, corpus)
    forest, scale = forest_of(model, blocks[0]), float(model.arrays["scales"][1])

    def likelihood(temperature: float) -> float:
        total = 0.0
        marginals = marginals_of(forest._replace(temperature=temperature / scale))
        for sentence, P in zip(blocks[0], marginals, strict=True):
            words = np.arange(1, len(P))
            total += float(np.log(np.maximum(P[sentence.heads[1:], words], 1e-6)).sum())
        return total

    assert likelihood(best) >= max(likelihood(best * 2**0.5), likelihood(best / 2**0.5))


def test_long_sentences_have_no_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "LONGEST", 3)
    short, long = trained()([["a", "b", "c"], ["a", "b", "c", "d"]])
    assert short.confidences is not None
    assert long.confidences is not None
    assert np.isfinite(short.confidences[1:]).all()
    assert np.isnan(long.confidences).all()
