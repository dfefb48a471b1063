"""Models of higher parts over all trees: learned with head automata, searched by dual decomposition."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import ArcwiseError, InputError
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.dual_sentences import BRANCHES, ENDED, FINISH, STEPS
from arcwise.pipeline.forest import EXACT
from arcwise.pipeline.model import DUALS, Settings, load_model, save_model
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser
from arcwise.search.dual_decomposition import AGREED, CLOSED
from arcwise.trees.blocks import is_projective
from arcwise.trees.checking import is_tree
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import block_of, quick
from tests.pipeline.test_charts import chart_model, score_given
from tests.pipeline.test_sentences import corpus_of
from tests.pipeline.test_training import baseline, scores, sentences

BITS: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7, "part_bits": 12, "threshold": 9.0}


def train(search: str, **options: Any) -> Parser:
    chosen = Settings(**BITS, search=search)
    return quick(sentences(60), None, settings=chosen, epochs=6, label_epochs=1, **options)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return train("dual-grand-sibling")


@pytest.mark.parametrize("search", DUALS)
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), single_root=st.booleans(), projective=st.booleans())
def test_the_tree_is_the_best_one(search: str, seed: int, single_root: bool, projective: bool) -> None:
    """Random weights, nothing pruned: proved best, and it is, among all trees of a short sentence."""
    model = chart_model(search, seed, single_root)
    corpus = corpus_of(model, 8, 4.0)
    for s, (begin, end) in enumerate(pairwise(corpus.starts.tolist())):
        if not 3 <= end - begin <= 5:
            continue
        numbers = corpus.numbers[begin:end]
        rows = unknown_trees(numbers, np.array([0, end - begin]))
        rows.find_trees(model.weights(), EXACT, projective)
        trees = all_trees(end - begin - 1, single_root, projective=projective)
        every = score_given(model, numbers, trees)
        assert rows.scores[0] == rows.bounds[0] == every.max(), s
        assert rows.scores[0] == every[(trees == rows.heads).all(axis=1)][0]


@pytest.mark.parametrize("steps", [0, 10])
def test_it_learns_its_sentences(steps: int) -> None:
    parser = train("dual-grandchild", steps=steps)
    uas, las = scores(parser, sentences(60))
    assert uas > 0.85
    assert las > baseline(sentences(60), sentences(60)) + 0.4
    assert np.any(parser.model.arrays["parts"])


def test_trees_reports_and_certificates(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(60))))
    exact = parser.parse_block(block)
    assert exact.certified.all()
    for begin, end in pairwise(block.words.tolist()):
        assert is_tree(np.array([-1, *exact.heads[begin:end]], np.int32), parser.single_root)
    few = parser.searching("dual", exact=False, iterations=2).parse_block(block)
    assert (few.report[:, STEPS] <= 2).all()
    assert not few.report[:, FINISH : BRANCHES + 1].any()
    assert (few.scores <= exact.scores + 1e-9).all()
    assert (few.bounds >= exact.scores - 1e-9).all()
    proved = np.isin(few.report[:, ENDED], (AGREED, CLOSED))
    np.testing.assert_array_equal(few.certified, proved)
    np.testing.assert_allclose(few.scores[proved], exact.scores[proved])
    budget = parser.searching(iterations=1, budget=1).parse_block(block)
    assert (budget.bounds >= exact.scores - 1e-9).all()
    assert parser("A word or two.")[0].certified


def test_projective_trees(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(60))))
    exact, projective = parser.parse_block(block), parser.searching("dual-projective").parse_block(block)
    for begin, end in pairwise(block.words.tolist()):
        assert is_projective(np.array([-1, *projective.heads[begin:end]], np.int32))
    assert projective.certified.all()
    assert (projective.scores <= exact.scores + 1e-9).all()


def test_a_trace_has_all_steps(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(20))))
    again, best = parser.searching(exact=False, iterations=50, rule="paper"), parser.parse_block(block)
    trees, traces = again.trace_block(block)
    np.testing.assert_array_equal(trees.heads, again.parse_block(block).heads)
    for trace, score, steps in zip(traces, best.scores, trees.report[:, STEPS], strict=True):
        assert trace.shape == (steps, 3)
        assert (trace[:, 0] >= score - 1e-6).all()
        assert (trace[:, 1] <= score + 1e-6).all()


def test_what_is_given_is_kept(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(20))))
    np.testing.assert_array_equal(parser.parse_block(block, keep=True).heads, block.heads)


def test_confidences(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(20))))
    trees = parser.parse_block(block, confidence=True)
    np.testing.assert_array_equal(trees.heads, parser.parse_block(block).heads)
    assert trees.probabilities is not None
    assert trees.probabilities.arcs is not None
    assert ((trees.probabilities.arcs >= 0) & (trees.probabilities.arcs <= 1)).all()
    with pytest.raises(ArcwiseError, match="dual decomposition, and not the k best"):
        parser.k_best_block(block, 3)


def test_saved_and_loaded(parser: Parser, tmp_path: Any) -> None:
    save_model(parser.model, tmp_path / "model.arcwise")
    block = block_of("".join(map(str, sentences(5))))
    again = Parser(load_model(tmp_path / "model.arcwise")).parse_block(block)
    np.testing.assert_array_equal(again.heads, parser.parse_block(block).heads)


def test_what_is_refused(parser: Parser) -> None:
    with pytest.raises(InputError, match="decoder 'eisner', expected for this model dual or dual-projective"):
        parser.searching("eisner")
    with pytest.raises(InputError, match="iterations is 0"):
        parser.searching(iterations=0)
    with pytest.raises(ArcwiseError, match="head automata answer with their best modifiers only"):
        Options(settings=Settings(search="dual-sibling"), learner="log-linear")
