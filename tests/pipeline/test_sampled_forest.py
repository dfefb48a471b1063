"""Probabilities of models whose sums over trees are estimated, against all trees of short sentences."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from arcwise.errors import ArcwiseError
from arcwise.learning.corpus import make_corpus
from arcwise.pipeline import forest as forest_module
from arcwise.pipeline.calibrating import calibrate
from arcwise.pipeline.confidence import fit_temperatures
from arcwise.pipeline.parsed import Trees
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import Block
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import SMALL, block_of, data_blocks, random_model, synthetic_block

SEARCHES = ["dual-grandchild", "dual-third", "belief-propagation"]


@cache
def parser_of(search: str, single_root: bool = True, doubt: float = 0.25, temperature: float = 1.0) -> Parser:
    """A parser of random weights that prunes nothing."""
    block = synthetic_block(60, 6.0)
    settings = replace(SMALL, search=search, part_bits=14, threshold=1e6)
    model = random_model(3, [block], settings=settings, greatest=9, single_root=single_root)
    model.arrays["parts"] = np.random.default_rng(1).integers(-9, 10, 1 << 14, dtype=np.int8)
    return Parser(replace(model, doubt=doubt, temperature=temperature))


def short_sentences(longest: int) -> Block:
    return block_of(b"".join(s.to_bytes() for s in synthetic_block(60, 6.0) if len(s) <= longest))


def of_trees(trees: Trees, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The probabilities of the heads of trees, of trees with labels, and of arcs; the errors of the first and of the arcs."""
    assert trees.probabilities is not None
    logs, arcs, labels, errors, arc_errors = trees.probabilities
    assert arcs is not None
    assert labels is not None
    assert errors is not None
    assert arc_errors is not None
    of_labels = np.multiply.reduceat(labels, block.words[:-1])
    # Guaranteed, not estimated: no tree is likelier than its least likely arc or label.
    assert (np.exp(logs) <= np.minimum.reduceat(np.minimum(arcs, labels), block.words[:-1])).all()
    assert ((arcs >= 0) & (arcs <= 1) & (arc_errors >= 0)).all()
    return np.exp(logs) / of_labels, np.exp(logs), arcs, errors / of_labels, arc_errors


def with_heads(words: list[str], trees: np.ndarray) -> Block:
    """A sentence once for every tree, with its heads."""
    text = ""
    for heads in trees.tolist():
        rows = [f"{m}\t{word}\t_\t_\t_\t_\t{heads[m]}\t_\t_\t_\n" for m, word in enumerate(words, 1)]
        text += "".join(rows) + "\n"
    return block_of(text)


@pytest.mark.parametrize("doubt", [0.0, 0.25])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("search", ["dual-grandchild", "dual-third"])
def test_probabilities_are_near_those_of_all_trees(search: str, single_root: bool, doubt: float) -> None:
    parser = parser_of(search, single_root, doubt, 5.0)
    block = block_of(
        b"".join(
            b"".join(
                b"%d\t%s\t_\t_\t_\t_\t_\t_\t_\t_\n" % (m, form.encode())
                for m, form in enumerate(sentence.forms[1:], 1)
            )
            + b"\n"
            for sentence in short_sentences(5)
        )
    )
    assert len(block) > 5
    trees = parser.parse_block(block, confidence=True)
    heads_of_trees, _, arcs, errors, arc_errors = of_trees(trees, block)
    differences: list[np.ndarray] = []
    distances, sampled = [], 0
    for s, sentence in enumerate(block):
        words = slice(*block.words[s : s + 2].tolist())
        every = all_trees(len(sentence), single_root)
        scores = parser.parse_block(with_heads(sentence.forms[1:], every), keep=True).scores
        chances = np.zeros(len(every))
        for share, temperature in ((1 - doubt, 5.0), (doubt, 20.0)):
            weights = np.exp((scores - scores.max()) / temperature)
            chances += share * weights / weights.sum()
        found = (every[:, 1:] == trees.heads[words]).all(axis=1)
        assert trees.scores[s] == pytest.approx(scores[found][0])
        if len(sentence) <= 2:
            assert errors[s] == 0
            assert heads_of_trees[s] == pytest.approx(chances[found][0])
        expected = [
            chances[every[:, m] == head].sum() for m, head in enumerate(trees.heads[words].tolist(), 1)
        ]
        assert heads_of_trees[s] == pytest.approx(chances[found][0], abs=6 * errors[s] + 1e-9)
        np.testing.assert_allclose(arcs[words], expected, atol=0.3)
        sampled += errors[s] > 0
        differences.append(arcs[words] - expected)
        distances.append(differences[-1] / (arc_errors[words] + 1e-9))
    assert sampled > 0
    assert abs(np.mean(np.concatenate(differences))) < 0.03
    assert np.quantile(np.abs(np.concatenate(distances)), 0.9) < 2.5  # of a normal distribution 1.64


@pytest.mark.parametrize("search", SEARCHES)
def test_neither_neighbours_nor_groups_matter(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, block = parser_of(search), short_sentences(8)
    together = parser.parse_block(block, confidence=True)
    expected = of_trees(together, block)
    monkeypatch.setattr(forest_module, "_MOST_SCORES", 100)
    for found, known in zip(
        of_trees(parser.parse_block(block, confidence=True), block), expected, strict=True
    ):
        assert found.tobytes() == known.tobytes()
    for s, sentence in enumerate(block):
        alone = block_of(sentence.to_bytes())
        words = slice(*block.words[s : s + 2].tolist())
        assert (
            of_trees(parser.parse_block(alone, confidence=True), alone)[2].tobytes()
            == expected[2][words].tobytes()
        )


def test_words_have_the_confidences_that_are_written() -> None:
    parser, block = parser_of("dual-grandchild"), short_sentences(8)
    arcs = of_trees(parser.parse_block(block, confidence=True), block)[2]
    found = np.concatenate([np.asarray(sentence.confidences)[1:] for sentence in parser(list(block))])
    np.testing.assert_allclose(found, arcs)


@pytest.mark.parametrize("search", SEARCHES)
def test_trees_of_least_risk(search: str) -> None:
    """They have at least as many right arcs to expect as the best trees, and are no likelier than their arcs."""
    parser, block = parser_of(search, temperature=4.0), short_sentences(6)
    best = of_trees(parser.parse_block(block, confidence=True), block)[2]
    risk = parser.parse_block(block, confidence=True, min_risk=True)
    arcs = of_trees(risk, block)[2]
    gains = np.add.reduceat(arcs, block.words[:-1]) - np.add.reduceat(best, block.words[:-1])
    assert gains.min() > -0.2  # another estimate, with one atom more
    assert gains.max() > 0.01
    with pytest.raises(ArcwiseError, match="and not the k best"):
        parser.k_best_block(block, 2)


def test_what_is_kept_is_certain() -> None:
    parser, block = parser_of("dual-grandchild"), short_sentences(8)
    trees = parser.parse_block(block, keep=True, confidence=True)
    whole, _, arcs, errors, _ = of_trees(trees, block)
    np.testing.assert_allclose(arcs, 1, atol=1e-9)
    np.testing.assert_allclose(whole, 1, atol=1e-9)
    assert (errors == 0).all()


def test_fitted_temperatures_are_those_of_what_is_right() -> None:
    """Random weights say next to nothing of the trees: a temperature at which words are about as sure as they are right."""
    parser = parser_of("dual-grandchild")
    (block,) = data_blocks("dev.conllu")
    names = {name: number for number, name in enumerate(parser.model.names)}
    fitted = fit_temperatures(parser.model, make_corpus([block], parser.model.vocabulary(), names))
    trees = Parser(fitted).parse_block(block, confidence=True)
    before = of_trees(parser.parse_block(block, confidence=True), block)[2].mean()
    arcs, right = of_trees(trees, block)[2].mean(), (trees.heads == block.heads).mean()
    assert abs(arcs - right) < 0.5 * abs(before - right)


def test_calibrating_changes_no_weight() -> None:
    model = parser_of("dual-grandchild").model
    gold = list(data_blocks("dev.conllu")[0])
    names = tuple(dict.fromkeys(["root", *(label for s in gold for label in s.labels[1:])]))[:4]
    fitted = calibrate(replace(model, names=names), gold)
    assert (fitted.temperature, fitted.doubt) != (model.temperature, model.doubt)
    assert all(fitted.arrays[name] is model.arrays[name] for name in model.arrays)
    assert fitted.label_temperature is not None
    with pytest.raises(ArcwiseError, match="none of its labels"):
        calibrate(replace(model, names=("one", "two", "three", "four")), gold)
