"""Models that find trees of one class only, against brute force."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD, ANY_WORD
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.forest import EXACT, Forest, Rows, find_forest
from arcwise.pipeline.model import Model, Settings
from arcwise.pipeline.parser import Parser
from arcwise.trees.enumerate import all_trees
from arcwise.trees.shapes import has_shape, read_shape
from tests.pipeline.models import SMALL, block_of, data_blocks, random_model, synthetic_block, trained
from tests.pipeline.test_charts import chart_model, score_given
from tests.pipeline.test_sentences import corpus_of

SHAPES = ("projective", "1-inherit", "2-well-nested", "2", "3-well-nested", "well-nested")
PRUNERS = ({"most_heads": 1000, "threshold": np.inf}, {"most_heads": 3, "threshold": 0.5})
LONGEST = 6


def shaped_model(seed: int, shape: str, single_root: bool, prune: bool) -> Model:
    """A model of random weights, of which most trees are of no particular shape."""
    chosen = Settings(coarse_bits=12, arc_bits=16, label_bits=10, shape=shape, **PRUNERS[prune])  # type: ignore[arg-type]
    return random_model(seed, [synthetic_block(8, 5.0)], single_root=single_root, settings=chosen)


@cache
def trees_of(n: int, single_root: bool, shape: str) -> np.ndarray:
    """All trees of a class."""
    trees = all_trees(n, single_root)
    return trees[[has_shape(tree, read_shape(shape)) for tree in trees]]


def totals(S: np.ndarray, trees: np.ndarray) -> np.ndarray:
    return np.asarray(S[trees[:, 1:], np.arange(1, len(S))].sum(axis=1))


def short(model: Model, sentences: int = 8) -> list[Rows]:
    """Sentences that are short enough to look at all their trees, one by one, with nothing given."""
    corpus = corpus_of(model, sentences, 5.0)
    return [
        unknown_trees(corpus.numbers[begin:end], np.array([0, end - begin]))
        for begin, end in pairwise(corpus.starts.tolist())
        if 3 < end - begin <= LONGEST + 1
    ]


def found(rows: Rows, model: Model) -> np.ndarray:
    """Fill in the best tree of a sentence; gives the scores of the arcs it is made of."""
    S = np.empty(len(rows.heads) ** 2)
    rows.find_trees(model.weights(), matrices=S)
    return S.reshape(len(rows.heads), -1)


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), single_root=st.booleans(), prune=st.booleans())
def test_the_tree_is_the_best_of_its_class(shape: str, seed: int, single_root: bool, prune: bool) -> None:
    model = shaped_model(seed, shape, single_root, prune)
    plain = replace(model, settings=replace(model.settings, shape="any"))
    for rows in short(model):
        S = found(rows, model)
        every = totals(S, trees_of(len(S) - 1, single_root, shape))
        assert rows.scores[0] == rows.bounds[0] == every.max()
        assert totals(S, rows.heads[np.newaxis])[0] == every.max()
        assert has_shape(rows.heads, read_shape(shape))
        assert (rows.heads[1:] == 0).sum() == 1 or not single_root
        free = unknown_trees(rows.numbers, rows.starts)
        found(free, plain)
        if has_shape(free.heads, read_shape(shape)):
            assert (free.heads.tolist(), free.labels.tolist()) == (rows.heads.tolist(), rows.labels.tolist())
        else:
            assert free.scores[0] >= rows.scores[0] or prune
        if not prune:
            assert np.isfinite(S[:, 1:]).sum() == (len(S) - 1) ** 2


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(SHAPES),
    single_root=st.booleans(),
    prune=st.booleans(),
    share=st.sampled_from([0.2, 0.5, 0.9]),
)
def test_with_heads_that_are_given(
    seed: int, shape: str, single_root: bool, prune: bool, share: float
) -> None:
    """A tree of the class is found if there is one, however few arcs the pruner keeps."""
    model = shaped_model(seed, shape, single_root, prune)
    random = np.random.default_rng(seed)
    for rows in short(model):
        size = len(rows.heads)
        trees = all_trees(size - 1, single_root)
        given = np.where(random.random(size) < share, trees[random.integers(len(trees))], ANY_HEAD)
        given[(given == ANY_HEAD) & (random.random(size) < 0.1)] = ANY_WORD
        given[0] = ANY_HEAD
        rows.heads[:] = given
        S = found(rows, model)
        trees = trees_of(size - 1, single_root, shape)
        fits = (given == ANY_HEAD) | (given == trees) | ((given == ANY_WORD) & (trees > 0))
        fits[:, 0] = True
        trees = trees[fits.all(axis=1)]
        if len(trees) == 0:
            assert rows.scores[0] == rows.bounds[0] == -np.inf
            continue
        every = totals(S, trees)
        assert rows.scores[0] == rows.bounds[0] == every.max() > -np.inf
        assert (trees == rows.heads).all(axis=1).any()
        if not prune:
            assert np.isfinite(every).all()


@pytest.mark.parametrize("shape", ["1-inherit", "2"])
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), single_root=st.booleans())
def test_k_best_and_least_risk(shape: str, seed: int, single_root: bool) -> None:
    """Also among the trees of the class; probabilities are those among all trees."""
    model = shaped_model(seed, shape, single_root, False)
    for rows in short(model, 5):
        forest = find_forest(rows, model.weights(), 1000.0)
        assert isinstance(forest, Forest)
        (S,) = forest.squares(forest.scores)
        trees = trees_of(len(S) - 1, single_root, shape)
        (best,) = forest.k_best(5)
        assert best[0].tolist() == rows.heads[1:].tolist()
        assert len({tuple(tree) for tree in best.tolist()}) == min(5, len(trees))
        expected = np.sort(totals(S, trees))[::-1][: len(best)]
        np.testing.assert_array_equal(S[best, np.arange(1, len(S))].sum(axis=1), expected)
        marginals, _ = forest.sums()
        (P,) = forest.squares(marginals)
        risky = forest.min_risk(marginals)
        assert totals(P, risky[np.newaxis])[0] == pytest.approx(totals(P, trees).max(), abs=1e-7)
        assert has_shape(risky, read_shape(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_parsers(shape: str) -> None:
    """Longer sentences, all certified, in one call of the parser."""
    (block,), model = data_blocks("dev.conllu"), trained().model
    parser = Parser(replace(model, settings=replace(model.settings, shape=shape)))
    trees, plain = parser.parse_block(block), trained().parse_block(block)
    assert trees.certified.all()
    assert (trees.scores <= plain.scores + 1e-6).all()
    assert (trees.scores < plain.scores).any()
    for begin, end in pairwise(block.words.tolist()):
        assert has_shape(np.array([-1, *trees.heads[begin:end]], np.int32), read_shape(shape))
    sure = parser.parse_block(block, confidence=True)
    np.testing.assert_array_equal(sure.heads, trees.heads)


def test_seconds_and_budgets_are_limits() -> None:
    """With time enough the trees are those of many nodes; with none, or one node, some are not proved best."""
    block, parser = synthetic_block(20, 12.0), Parser(
        random_model(1, [synthetic_block(20, 12.0)], settings=replace(SMALL, most_heads=1000, threshold=np.inf))
    )  # fmt: skip
    best = parser.searching(shape="2-well-nested", budget=2000).parse_block(block)
    patient = parser.searching(shape="2-well-nested", seconds=2.0).parse_block(block)
    few = parser.searching(shape="2-well-nested", budget=1).parse_block(block)
    hasty = parser.searching(shape="2-well-nested", seconds=0.0).parse_block(block)
    for trees in (patient, few, hasty):
        assert (trees.scores <= best.bounds).all()
        assert (trees.bounds >= best.scores).all()
        for begin, end in pairwise(block.words.tolist()):
            assert has_shape(np.array([-1, *trees.heads[begin:end]], np.int32), read_shape("2-well-nested"))
    assert few.certified.sum() < best.certified.sum()
    assert hasty.certified.sum() < best.certified.sum()
    both = patient.certified & best.certified
    assert both.any()
    np.testing.assert_array_equal(patient.scores[both], best.scores[both])
    with pytest.raises(InputError, match="iterations for trees of a class, expected a budget of nodes"):
        parser.searching(shape="2", iterations=5)
    with pytest.raises(InputError, match="seconds with decoder 'spanning-tree'"):
        parser.searching(seconds=5.0)


def test_heads_of_no_tree_of_the_class() -> None:
    text = (
        "".join(f"{m}\tw\t_\tX\tX\t_\t{h}\tlabel1\t_\t_\n" for m, h in enumerate([0, 1, 1, 2, 3], 1)) + "\n"
    )
    block = block_of(text.replace("0\tlabel1", "0\troot"))
    model = random_model(0, [block])
    with pytest.raises(InputError, match=r"tree .*has the heads and labels given"):
        Parser(replace(model, settings=replace(model.settings, shape="well-nested"))).parse_block(
            block, keep=True
        )
    kept = Parser(replace(model, settings=replace(model.settings, shape="2"))).parse_block(block, keep=True)
    assert kept.heads.tolist() == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("search", ["dual-sibling", "dual-grand-sibling"])
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES), single_root=st.booleans())
def test_dual_decomposition(search: str, seed: int, shape: str, single_root: bool) -> None:
    """Models of higher parts: proved best among the trees of the class, and it is."""
    model = chart_model(search, seed, single_root, shape=shape)
    corpus = corpus_of(model, 8, 4.0)
    for begin, end in pairwise(corpus.starts.tolist()):
        if not 4 <= end - begin <= 6:
            continue
        numbers = corpus.numbers[begin:end]
        rows = unknown_trees(numbers, np.array([0, end - begin]))
        rows.find_trees(model.weights(), EXACT)
        trees = trees_of(end - begin - 1, single_root, shape)
        every = score_given(model, numbers, trees)
        assert rows.scores[0] == rows.bounds[0] == every.max()
        assert rows.scores[0] == every[(trees == rows.heads).all(axis=1)][0]


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES), single_root=st.booleans())
def test_dual_decomposition_with_heads_that_are_given(seed: int, shape: str, single_root: bool) -> None:
    """A tree of the class is found if there is one, however few arcs the pruner keeps."""
    model = chart_model("dual-sibling", seed, single_root, shape=shape, most_heads=2, threshold=0.5)
    random = np.random.default_rng(seed)
    for rows in short(model):
        every = all_trees(len(rows.heads) - 1, single_root)
        chosen = random.random(len(rows.heads)) < 0.6
        rows.heads[chosen] = every[random.integers(len(every))][chosen]
        given, trees = rows.heads.copy(), trees_of(len(rows.heads) - 1, single_root, shape)
        trees = trees[((given < 0) | (given == trees)).all(axis=1)]
        rows.find_trees(model.weights())
        assert np.isfinite(rows.scores[0]) == (len(trees) > 0)
        assert len(trees) == 0 or (trees == rows.heads).all(axis=1).any()
        assert rows.scores[0] == rows.bounds[0]
