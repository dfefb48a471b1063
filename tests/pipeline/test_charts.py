"""Models that search a chart: trained, parsed with, and asked for more than the best tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.chart_forest import ChartForest
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.forest import find_forest, make_rows
from arcwise.pipeline.model import SEARCHES, Model, Settings, load_model, save_model
from arcwise.pipeline.parser import LONGEST_IN_CHART, Parser
from arcwise.pipeline.sentences import ANY_LABEL
from arcwise.sums.pruning import PRUNINGS
from arcwise.treebank.reading import read_conllu
from arcwise.trees.blocks import is_projective
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import DATA, SMALL, block_of, quick, random_model, synthetic_block
from tests.pipeline.test_sentences import corpus_of
from tests.pipeline.test_training import scores

_EVERYTHING = Settings(
    coarse_bits=12, arc_bits=16, label_bits=10, part_bits=14, most_heads=40, threshold=1000.0, pruning="heads"
)


def chart_model(search: str, seed: int, single_root: bool = True, **changes: object) -> Model:
    """A model of random weights that prunes nothing unless told to."""
    chosen = replace(_EVERYTHING, search=search, **changes)  # type: ignore[arg-type]
    model = random_model(
        seed, [synthetic_block(8, 4.0)], single_root=single_root, settings=chosen, greatest=20
    )
    random = np.random.default_rng(seed)
    model.arrays["parts"] = random.integers(-20, 21, 1 << chosen.part_bits, dtype=np.int8)
    return model


def score_given(model: Model, numbers: np.ndarray, trees: np.ndarray) -> np.ndarray:
    """The scores of given trees of one sentence."""
    rows = make_rows(
        np.tile(numbers, (len(trees), 1)),
        np.arange(len(trees) + 1) * len(numbers),
        trees.reshape(-1).astype(np.int32),
        np.full(trees.size, ANY_LABEL, np.int32),
    )
    rows.find_trees(model.weights())
    np.testing.assert_array_equal(rows.heads.reshape(trees.shape), trees)
    return rows.scores


@pytest.mark.parametrize("search", SEARCHES)
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 10**6), single_root=st.booleans())
def test_the_tree_is_the_best_one(search: str, seed: int, single_root: bool) -> None:
    model = chart_model(search, seed, single_root)
    corpus = corpus_of(model, 6, 4.0)
    for begin, end in zip(corpus.starts[:-1], corpus.starts[1:], strict=True):
        numbers = corpus.numbers[begin:end]
        if not 1 <= len(numbers) - 1 <= 5:
            continue
        rows = unknown_trees(numbers, np.array([0, len(numbers)]))
        rows.find_trees(model.weights())
        trees = all_trees(len(numbers) - 1, single_root, projective=True)
        found = score_given(model, numbers, trees)
        assert rows.scores[0] == found.max()
        assert score_given(model, numbers, rows.heads[np.newaxis])[0] == found.max()

        temperature = 40.0
        forest = find_forest(unknown_trees(numbers, rows.starts), model.weights(), temperature)
        assert isinstance(forest, ChartForest)
        marginals, (log_z,) = forest.sums()
        assert log_z == pytest.approx(np.logaddexp.reduce(found / temperature))
        p = np.exp(found / temperature - log_z)
        words = np.arange(1, len(numbers))
        expected = np.zeros((len(numbers),) * 2)
        for tree, share in zip(trees, p, strict=True):
            expected[tree[1:], words] += share
        np.testing.assert_allclose(forest.squares(marginals)[0], expected, atol=1e-9)
        risk = forest.min_risk(marginals)
        gains = expected[trees[:, 1:], words].sum(axis=1)
        assert expected[risk[1:], words].sum() == pytest.approx(gains.max(), abs=1e-6)
        best = forest.k_best(4)[0]
        assert (
            score_given(model, numbers, np.insert(best, 0, -1, axis=1)).tolist()
            == np.sort(found)[::-1][:4].tolist()
        )


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_pruned_arcs_hold_a_tree_and_what_is_given(pruning: str) -> None:
    for seed in range(8):
        model = chart_model("model1", seed, pruning=pruning, most_heads=2, threshold=0.01)
        corpus = corpus_of(model, 5, 8.0)
        rows = unknown_trees(corpus.numbers, corpus.starts)
        rows.find_trees(model.weights())
        assert np.isfinite(rows.scores).all()
        given = np.where(np.random.default_rng(seed).random(len(rows.heads)) < 0.3, rows.heads, ANY_HEAD)
        given = np.where(given >= 0, given, ANY_HEAD).astype(np.int32)
        again = unknown_trees(corpus.numbers, corpus.starts)._replace(heads=given.copy())
        again.find_trees(model.weights())
        kept = given >= 0
        np.testing.assert_array_equal(again.heads[kept], given[kept])


def test_pruning_by_trees_goes_by_their_marginals() -> None:
    """With a share so great that only the best head of each word is left, it is the head of the greatest marginal, or of the tree."""
    model = chart_model("eisner", 3, pruning="projective", threshold=0.0, most_heads=2)
    loose = chart_model("eisner", 3, pruning="projective")
    corpus = corpus_of(model, 20, 6.0)
    few, all_arcs = (unknown_trees(corpus.numbers, corpus.starts) for _ in range(2))
    few.find_trees(model.weights())
    all_arcs.find_trees(loose.weights())
    assert (few.scores <= all_arcs.scores).all()
    assert (few.scores < all_arcs.scores).any()


@pytest.mark.parametrize("learner", ["mira", "perceptron"])
@pytest.mark.parametrize("search", ["eisner", "sibling", "carreras", "model0", "model1", "model2"])
def test_learning_the_treebank_of_our_own(search: str, learner: str, tmp_path) -> None:
    train, dev = list(read_conllu(DATA / "train.conllu")), list(read_conllu(DATA / "dev.conllu"))
    chosen = replace(SMALL, search=search, pruning="projective", threshold=7.0, part_bits=16)
    options = {"settings": chosen, "learner": learner, "epochs": 4, "label_epochs": 2, "gold_tags": True}
    parser = quick(train, dev, output=tmp_path / "model", **options)
    uas, las = scores(parser, dev)
    assert uas > 0.6
    assert las > 0.5
    assert scores(parser, train)[0] > 0.93
    assert all(is_projective(sentence.heads) for sentence in parser(dev))
    quick(train, dev, output=tmp_path / "again", **options)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    save_model(load_model(tmp_path / "model"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "model").read_bytes()


def test_crossing_heads_cannot_be_kept() -> None:
    parser = Parser(chart_model("sibling", 0))
    row = "{}\tw{}\t_\t_\t_\t_\t{}\t_\t_\t_\n"
    block = block_of("".join(row.format(i, i, head) for i, head in enumerate((3, 4, 4, 0), start=1)) + "\n")
    with pytest.raises(InputError, match="no tree of shape projective has"):
        parser.parse_block(block, keep=True)


def test_long_sentences_are_parsed_in_pieces() -> None:
    parser = Parser(chart_model("model1", 1, most_heads=4, pruning="projective", threshold=3.0))
    words = [f"w{i % 7}" for i in range(LONGEST_IN_CHART + 50)]
    (sentence,) = parser([words])
    assert not sentence.certified
    (sentence,) = parser([words[:LONGEST_IN_CHART]])
    assert sentence.certified


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="search 'oracle'"):
        Settings(search="oracle")
    with pytest.raises(InputError, match="pruning by 'trees' for trees that need not be projective"):
        Settings(pruning="trees")
    with pytest.raises(InputError, match="templates"):
        Settings(siblings="C | C")
