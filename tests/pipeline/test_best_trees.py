"""Probabilities, k best trees and trees of minimum risk, against all trees of short sentences."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from arcwise.errors import ArcwiseError, InputError
from arcwise.pipeline import forest as forest_module
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.best_trees import repeated
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.parsed import Trees
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import Block
from arcwise.trees.enumerate import all_trees
from tests.learning.corpora import Features
from tests.pipeline.models import SMALL, block_of, data_blocks, random_model, synthetic_block, trained
from tests.pipeline.test_confidence import forest_of
from tests.pipeline.test_keeping import loose_block, stripped
from tests.pipeline.test_sentences import corpus_of


def words_of(block: Block, sentence: int) -> slice:
    return slice(*block.words[sentence : sentence + 2].tolist())


def same_trees(one: Trees, other: Trees) -> bool:
    labels = ([trees.names[label] for label in trees.labels] for trees in (one, other))
    return one.heads.tolist() == other.heads.tolist() and next(labels) == next(labels)


def sure(trees: Trees, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities that were asked for, which are exact: logarithms of those of the heads of whole trees, of arcs, of labels."""
    assert trees.probabilities is not None
    logs, arcs, labels, errors, arc_errors = trees.probabilities
    assert arcs is not None
    assert labels is not None
    assert errors is None
    assert arc_errors is None
    # No labelled tree is likelier than any of its arcs and labels.
    firsts = block.words[:-1]
    assert not (np.exp(logs) > np.minimum.reduceat(np.minimum(arcs, labels), firsts)).any()
    return logs - np.add.reduceat(np.log(labels), firsts), arcs, labels


def short_sentences(longest: int, file: str = "dev.conllu") -> Block:
    """The short sentences of tests/data."""
    return block_of(b"".join(s.to_bytes() for s in data_blocks(file)[0] if len(s) <= longest))


def parsers() -> list[tuple[Parser, Block]]:
    """Parsers of one and of several roots, and sentences of a few words."""
    block = block_of(b"".join(s.to_bytes() for s in synthetic_block(40, 4.0) if len(s) <= 4))
    assert len(block) > 5
    made = [
        (Parser(replace(random_model(1, [block], single_root=single_root, greatest=2), doubt=doubt)), block)
        for single_root, doubt in ((True, 0.25), (False, 0.0))
    ]
    return [*made, (trained(), short_sentences(5))]


def oracle(parser: Parser, block: Block, sentence: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All trees of a sentence within the arcs kept, (trees, n+1), with their scores and probabilities, best first."""
    scale = float(parser.model.arrays["scales"][1])
    forest = forest_of(parser.model, block)
    S = forest.squares(forest.scores)[sentence] * scale
    trees = all_trees(len(S) - 1, parser.single_root)
    scores = S[trees[:, 1:], np.arange(1, len(S))].sum(axis=1)
    trees, scores = trees[np.isfinite(scores)], scores[np.isfinite(scores)]
    order = np.argsort(-scores, kind="stable")
    chances = np.zeros(len(order))
    for share, factor in ((1 - parser.model.doubt, 1), (parser.model.doubt, 4)):
        weights = np.exp((scores[order] - scores.max()) / (factor * parser.model.temperature))
        chances += share * weights / weights.sum()
    return trees[order], scores[order], chances


@pytest.mark.parametrize("which", [0, 1, 2])
def test_k_best_trees_are_all_trees_and_sum_to_one(which: int) -> None:
    parser, block = parsers()[which]
    copies, trees = parser.k_best_block(block, 10_000, confidence=True)
    logs, arcs, _ = sure(trees, copies)
    assert trees.ranks is not None
    begins = [*np.flatnonzero(trees.ranks == 1).tolist(), len(copies)]
    assert len(begins) == len(block) + 1
    for sentence, (begin, end) in enumerate(pairwise(begins)):
        expected, scores, chances = oracle(parser, block, sentence)
        assert trees.ranks[begin:end].tolist() == list(range(1, len(expected) + 1))
        np.testing.assert_allclose(trees.scores[begin:end], scores)
        np.testing.assert_allclose(np.exp(logs[begin:end]), chances, rtol=1e-9)
        assert trees.probabilities is not None
        assert np.exp(trees.probabilities.logs[begin:end]).sum() <= 1
        assert np.exp(logs[begin:end]).sum() == pytest.approx(1, abs=1e-9)
        found = [trees.heads[words_of(copies, copy)].tolist() for copy in range(begin, end)]
        assert sorted(found) == sorted(expected[:, 1:].tolist())
        n = expected.shape[1] - 1
        P = np.zeros((n + 1, n + 1))
        for heads, chance in zip(expected, chances, strict=True):
            P[heads[1:], np.arange(1, n + 1)] += chance
        for copy, heads in zip(range(begin, end), found, strict=True):
            np.testing.assert_allclose(arcs[words_of(copies, copy)], P[heads, np.arange(1, n + 1)], atol=1e-9)
            assert copies[copy].forms == block[sentence].forms


@pytest.mark.parametrize("which", [0, 1, 2])
def test_minimum_risk_is_the_most_right_arcs_to_expect(which: int) -> None:
    parser, block = parsers()[which]
    trees = parser.parse_block(block, confidence=True, min_risk=True)
    logs, arcs, _ = sure(trees, block)
    differ = 0
    for sentence in range(len(block)):
        words = words_of(block, sentence)
        expected, _, chances = oracle(parser, block, sentence)
        gains = (expected[:, None, 1:] == expected[None, :, 1:]).sum(axis=2) @ chances
        assert arcs[words].sum() == pytest.approx(gains.max())
        tree = int(np.flatnonzero((expected[:, 1:] == trees.heads[words]).all(axis=1))[0])
        assert np.exp(logs[sentence]) == pytest.approx(chances[tree])
        differ += tree > 0
    assert which == 2 or differ > 0
    plain = parser.parse_block(block, min_risk=True)
    assert same_trees(plain, trees)
    assert plain.probabilities is None
    assert plain.ranks is None


def test_the_first_tree_is_that_of_the_parser() -> None:
    for parser, block in [*parsers(), (trained(), data_blocks("dev.conllu")[0])]:
        best = parser.parse_block(block)
        assert same_trees(best, parser.parse_block(block, confidence=True))
        copies, trees = parser.k_best_block(block, 3)
        assert trees.ranks is not None
        firsts = np.flatnonzero(trees.ranks == 1)
        assert parser.with_trees(block, best).tobytes() == b"".join(
            copy.to_bytes()
            for copy in (copies.rewritten(parser.with_trees(copies, trees))[i] for i in firsts.tolist())
        )
        assert best.scores.tolist() == trees.scores[firsts].tolist()
        assert trees.probabilities is not None
        assert trees.probabilities.arcs is trees.probabilities.labels is None
        same, alone = parser.k_best_block(block, 1)
        assert same_trees(best, alone)
        assert same.data.tobytes() == block.data.tobytes()


@pytest.mark.parametrize("in_context", [True, False])
@pytest.mark.parametrize("labels", [1, 2, 33])
def test_label_probabilities(labels: int, in_context: bool) -> None:
    model = random_model(3, [synthetic_block(8, 4.0)], labels=labels, greatest=9)
    if not in_context:
        model = replace(model, arrays={name: a for name, a in model.arrays.items() if name != "final"})
    corpus, temperature = corpus_of(model, 8, 4.0), 7.0
    rows = unknown_trees(corpus.numbers, corpus.starts)
    rows.find_trees(model.weights())
    found = label_probabilities(rows, model.weights(), temperature)
    chosen = np.random.default_rng(0).integers(-2, labels, len(rows.labels), dtype=np.int32)
    other = label_probabilities(rows._replace(labels=chosen), model.weights(), temperature)
    for s, (begin, end) in enumerate(zip(corpus.starts[:-1], corpus.starts[1:], strict=True)):
        features, tree = Features(corpus, s, SMALL.arc_bits, SMALL.label_bits), rows.heads[begin:end]
        assert np.isnan(found[begin])
        for m in range(1, end - begin):
            if in_context:
                sums = model.arrays["final"][features.in_tree(tree, m)].astype(float).sum(axis=0)
            else:
                sums = model.arrays["labels"][features.label(tree[m], m)].astype(float).sum(axis=0)
            sums[~model.arrays["allowed"][min(tree[m], 1)]] = -np.inf
            chances = np.exp((sums - sums.max()) / temperature)
            chances /= chances.sum()
            assert found[begin + m] == pytest.approx(chances.max())
            label = chosen[begin + m]
            if label < 0 or chances[label] == 0:
                assert np.isnan(other[begin + m])
            else:
                assert other[begin + m] == pytest.approx(chances[label])


def test_what_is_kept_is_certain() -> None:
    parser = trained()
    block = stripped(data_blocks("dev.conllu")[0], 0.6, 0.6, seed=1)
    given_heads, given_labels = block.heads >= 0, np.array([s != "_" for s in block.column(7)])
    best = parser.parse_block(block, keep=True)
    trees = parser.parse_block(block, keep=True, confidence=True)
    assert same_trees(best, trees)
    for found in (trees, parser.parse_block(block, keep=True, confidence=True, min_risk=True)):
        assert (found.heads == block.heads)[given_heads].all()
        _, arcs, labels = sure(found, block)
        np.testing.assert_allclose(arcs[given_heads], 1, atol=1e-9)
        assert (labels[given_labels] == 1).all()
        assert (arcs[~given_heads] < 0.9).any()
        assert (labels[~given_labels] < 1).any()
    copies, several = parser.k_best_block(block, 4, keep=True, confidence=True)
    assert several.ranks is not None
    assert several.ranks.max() == 4
    assert (several.heads == copies.heads)[copies.heads >= 0].all()
    np.testing.assert_allclose(sure(several, copies)[1][copies.heads >= 0], 1, atol=1e-9)
    firsts = np.repeat(several.ranks == 1, np.diff(copies.words))
    assert several.heads[firsts].tolist() == best.heads.tolist()
    logs = sure(several, copies)[0]
    np.testing.assert_allclose(logs[several.ranks == 1], sure(trees, block)[0])
    assert (np.diff(logs)[several.ranks[1:] > 1] <= 1e-12).all()


def test_what_no_tree_has_is_refused_by_name() -> None:
    parser = trained()
    cells = "\t_\t_\t_\t_\t"
    bad = f"1\ta{cells}2\t_\t_\t_\n2\tb{cells}1\t_\t_\t_\n3\tc{cells}_\t_\t_\t_\n\n"
    good = f"1\ta{cells}_\t_\t_\t_\n2\tb{cells}_\t_\t_\t_\n\n"
    block = loose_block(good + bad)
    with pytest.raises(InputError) as plain:
        parser.parse_block(block, keep=True)
    for ask in (
        lambda: parser.parse_block(block, keep=True, confidence=True),
        lambda: parser.parse_block(block, keep=True, min_risk=True),
        lambda: parser.k_best_block(block, 1, keep=True),
        lambda: parser.k_best_block(block, 3, keep=True),
    ):
        with pytest.raises(InputError) as raised:
            ask()
        assert str(raised.value) == str(plain.value)
    with pytest.raises(InputError, match="k is 0"):
        parser.k_best_block(block, 0)


def test_long_sentences_have_their_best_tree_only(monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = data_blocks("dev.conllu")
    parser = trained()
    monkeypatch.setattr(parser_module, "LONGEST", 7)
    whole = np.diff(block.words) <= 7
    assert 0 < whole.sum() < len(whole)
    best = parser.parse_block(block)
    by_word = np.repeat(whole, np.diff(block.words))
    for min_risk in (False, True):
        trees = parser.parse_block(block, confidence=True, min_risk=min_risk)
        logs, arcs, labels = sure(trees, block)
        assert (np.isfinite(logs) == whole).all()
        assert (np.isfinite(arcs) == by_word).all()
        assert (np.isfinite(labels) == by_word).all()
        assert (trees.heads == best.heads)[~by_word].all()
        assert (trees.labels == best.labels)[~by_word].all()
    copies, several = parser.k_best_block(block, 3, confidence=True)
    assert several.ranks is not None
    assert np.isnan(sure(several, copies)[0]).sum() == (~whole).sum()
    longer = np.diff(copies.words) > 7
    assert (several.ranks[longer] == 1).all()
    assert several.heads[np.repeat(longer, np.diff(copies.words))].tolist() == best.heads[~by_word].tolist()
    assert several.labels[np.repeat(longer, np.diff(copies.words))].tolist() == best.labels[~by_word].tolist()


def test_groups_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = data_blocks("dev.conllu")
    one = sure(trained().parse_block(block, confidence=True), block)
    monkeypatch.setattr(forest_module, "_MOST_SCORES", 300)
    for many, expected in zip(sure(trained().parse_block(block, confidence=True), block), one, strict=True):
        assert many.tolist() == expected.tolist()


def test_scores_too_great_for_the_temperature() -> None:
    model = replace(trained().model, temperature=1e-308)
    with pytest.raises(ArcwiseError, match="too great for temperature"):
        Parser(model).parse_block(data_blocks("dev.conllu")[0], confidence=True)


def test_copies_stand_where_the_sentence_stands() -> None:
    for file in ("dev.conllu", "conllx.conll", "conll2008.conll", "conll2009.conll"):
        block = data_blocks(file)[0]
        sources = np.repeat(np.arange(len(block)), 2)
        copies = repeated(block, sources)
        assert copies.lines.tolist() == block.lines[sources].tolist()
        assert [str(copy).strip() for copy in copies] == [str(block[i]).strip() for i in sources.tolist()]


def test_nothing_to_explore() -> None:
    nothing = loose_block("")
    assert len(trained().parse_block(nothing, confidence=True, min_risk=True).heads) == 0
    copies, trees = trained().k_best_block(nothing, 2)
    assert len(copies) == len(trees.heads) == 0
