"""Models of second order, searched by linear and integer programs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import ArcwiseError, InputError
from arcwise.features.part_bounds import best_distances
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.parsed import Trees
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.program_sentences import (
    ADDED,
    ARCS,
    BRANCHES,
    FRACTIONAL,
    PARTS,
    SCORED,
    UNFINISHED,
    Programs,
    parse_with_programs,
)
from arcwise.search.linear_program import ProgramOptions
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import block_of
from tests.pipeline.test_charts import chart_model, score_given
from tests.pipeline.test_dual import train
from tests.pipeline.test_sentences import corpus_of
from tests.pipeline.test_training import sentences

pytest.importorskip("highspy")
SEARCHES = ("dual-sibling", "dual-grandparent", "dual-grandchild")
WAYS = {"ilp": ("ilp", False), "price": ("price", False), "lazy": ("price", True)}


@pytest.fixture(scope="module", params=SEARCHES)
def parser(request: pytest.FixtureRequest) -> Parser:
    return train(request.param, gold_tags=True)


def parse(parser: Parser, *ways: Any, **options: Any) -> Trees:
    return parser.searching(*ways, **options).parse_block(block_of("".join(map(str, sentences(40)))))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 10**6), single_root=st.booleans())
def test_the_tree_is_the_best_one(search: str, way: str, seed: int, single_root: bool) -> None:
    """Random weights, nothing pruned: proved best, and it is, among all trees of a short sentence."""
    model = chart_model(search, seed, single_root)
    weights = model.weights()
    decoder, lazy = WAYS[way]
    best = best_distances(weights.parts) if lazy else None
    programs = Programs(decoder, ProgramOptions(), False, best)
    corpus = corpus_of(model, 8, 4.0)
    for begin, end in pairwise(corpus.starts.tolist()):
        if not 2 <= end - begin <= 5:
            continue
        numbers = corpus.numbers[begin:end]
        rows = unknown_trees(numbers, np.array([0, end - begin]))
        parse_with_programs(rows[0], rows[1], weights, programs, *rows[2:])
        trees = all_trees(end - begin - 1, single_root)
        every = score_given(model, numbers, trees)
        assert rows.scores[0] == rows.bounds[0] == every.max()
        assert rows.scores[0] == every[(trees == rows.heads).all(axis=1)][0]


def test_values_equal_those_of_dual_decomposition(parser: Parser) -> None:
    dual = parse(parser, "dual")
    for decoder, options in (
        ("price", {}),
        ("ilp", {}),
        ("ilp", {"relaxation": "sums", "connected": "multi-flow"}),
    ):
        trees = parse(parser, decoder, **options)
        np.testing.assert_allclose(trees.scores, dual.scores, atol=1e-6)
        assert trees.certified.all()
        assert (trees.labels >= 0).all()


def test_linear_programs_bound_all_trees(parser: Parser) -> None:
    best = parse(parser, "dual").scores
    for options in ({}, {"relaxation": "pairs", "connected": "single-flow"}, {"relaxation": "all-rows"}):
        trees = parse(parser, "lp", **options)
        assert (trees.scores <= best + 1e-6).all()
        assert (trees.bounds >= best - 1e-6).all()
        whole = trees.report[:, FRACTIONAL] == 0
        np.testing.assert_allclose(trees.scores[whole], best[whole], atol=1e-6)
    priced = parse(parser, "price", exact=False)
    np.testing.assert_allclose(priced.bounds, parse(parser, "lp").bounds, atol=1e-6)
    assert not priced.report[:, BRANCHES].any()


def test_without_pruning_and_on_demand(parser: Parser) -> None:
    pruned, whole = parse(parser, "price"), parse(parser, "price", pruned=False)
    lazy = parse(parser, "price", pruned=False, lazy=True)
    assert (whole.scores >= pruned.scores - 1e-6).all()
    np.testing.assert_allclose(lazy.scores, whole.scores, atol=1e-6)
    assert (whole.report[:, SCORED] == whole.report[:, PARTS]).all()
    assert (lazy.report[:, SCORED] <= lazy.report[:, PARTS]).all()
    assert lazy.report[:, SCORED].sum() < lazy.report[:, PARTS].sum()
    assert (lazy.report[:, ADDED] <= lazy.report[:, SCORED]).all()
    assert (whole.report[:, ARCS] >= np.diff(block_of("".join(map(str, sentences(40)))).words)).all()


@pytest.mark.parametrize("decoder", ["lp", "ilp", "price"])
def test_no_time_leaves_a_tree_and_a_gap(parser: Parser, decoder: str) -> None:
    best, trees = parse(parser, "dual").scores, parse(parser, decoder, seconds=0)
    assert trees.report[:, UNFINISHED].all()
    assert np.isfinite(trees.scores).all()
    assert (trees.scores <= best + 1e-6).all()
    assert (trees.bounds >= best - 1e-6).all()
    assert np.isfinite(trees.bounds).all()


def test_given_heads_stay(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(40))))
    for pruned in (True, False):
        trees = parser.searching("price", pruned=pruned).parse_block(block, keep=True)
        assert (trees.heads == block.heads).all()


def test_options_are_checked(parser: Parser) -> None:
    for options in (
        {"decoder": "price", "relaxation": "pairs"},
        {"decoder": "lp", "lazy": True},
        {"decoder": "dual", "pruned": False},
        {"decoder": "lp", "seconds": -1.0},
        {"decoder": "lp", "connected": "nothing"},
    ):
        with pytest.raises(InputError):
            parser.searching(**options)


def test_a_search_is_chosen_anew(parser: Parser) -> None:
    """What an earlier call chose is forgotten: program, class of trees, limit of time."""
    [dual] = parser.searching("dual")([["one", "word", "more"]])
    for first in ({"decoder": "lp", "seconds": 9.0}, {"decoder": "climb"}, {"shape": "projective"}):
        again = parser.searching(**first).searching("dual")
        assert (again._programs, again._seconds, again.climbs) == (None, None, False)
        assert again._weights.shape == parser._weights.shape
        assert str(again([["one", "word", "more"]])[0]) == str(dual)
    assert parser.searching("climb").searching("price")._programs.decoder == "price"  # type: ignore[union-attr]


def test_programs_have_neither_steps_nor_probabilities(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(3))))
    with pytest.raises(ArcwiseError, match="finds trees by lp, and only dual decomposition has steps"):
        parser.searching("lp").trace_block(block)
    with pytest.raises(ArcwiseError, match="decoder 'price' finds single trees, and no probabilities"):
        parser.searching("price").parse_block(block, confidence=True)


def test_full_programs_of_long_sentences_are_solved_in_pieces(parser: Parser) -> None:
    whole = parser.searching("price", pruned=False).longest
    assert parser.searching("lp").longest == parser.searching("ilp").longest == parser.longest == whole
    full = parser.searching("lp", pruned=False, seconds=0)
    assert full.longest < whole
    words = [f"word{i}" for i in range(full.longest + 5)]
    [sentence] = full([words])
    assert not sentence.certified
    assert len(sentence) == len(words)


def test_third_order_has_no_programs() -> None:
    parser = Parser(chart_model("dual-grand-sibling", 0, True))
    with pytest.raises(InputError, match="for this model dual or dual-projective"):
        parser.searching("price")
