"""Bounds on parts and the scores of single parts, against the scores of all parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.features.part_bounds import best_distances, grand_bounds, pair_bounds
from arcwise.features.part_scores import PartWeights, crossing_scores, part_scores
from arcwise.features.parts import CODES, PartTokens, is_coordination
from arcwise.features.single_parts import score_grand_parts, score_null_parts, score_pairs
from arcwise.parts.graph import Graph, Level
from arcwise.search.chart import CHARTS, make_levels
from arcwise.search.second_order import SecondOrder, consecutive_arcs, grand_steps
from tests.features.test_features import random_numbers
from tests.features.test_parts import TEMPLATES, hashed, random_graph

BITS = 12  # few, so that features share weights

either_type = pytest.mark.parametrize("integers", [True, False])
a_sentence = given(
    n=st.integers(1, 20), seed=st.integers(0, 10**6), share=st.sampled_from([0.2, 1.0]), tags=st.integers(2, 5)
)  # fmt: skip


def random_weights(seed: int, integers: bool, bits: int = BITS) -> PartWeights:
    """Whole numbers, so that sums are exact in both types; many are 0 or less in some."""
    random = np.random.default_rng(seed)
    table = random.integers(-128, random.choice([1, 20, 128]), 1 << bits)
    table[random.random(len(table)) < random.choice([0.0, 0.7])] = 0
    return PartWeights(TEMPLATES, table.astype(np.int8 if integers else np.float32), bits)


def all_parts(graph: Graph, level: Level) -> tuple[Any, Any, Any]:
    """The grand parts that a tree may have, as (step, upper arc, lower arc)."""
    nothing = np.empty(0)
    return grand_steps(SecondOrder(graph, level, True, nothing, nothing, nothing, nothing, nothing, nothing))


def sentence(n: int, seed: int, share: float, tags: int) -> tuple[Graph, Level, PartTokens]:
    graph = random_graph(n, seed, share)
    return graph, make_levels(graph, CHARTS["model0"])[0], hashed(random_numbers(n, seed, tags))


@either_type
@pytest.mark.parametrize("bits", [6, 9])
def test_the_best_distances(integers: bool, bits: int) -> None:
    weights = random_weights(bits, integers, bits)
    upper, lower = best_distances(weights)
    others = np.arange(1 << bits)[:, None] ^ np.arange(1, CODES)
    assert (lower == weights.table[others].max(axis=1)).all()
    others = np.arange(1 << bits)[:, None] ^ (CODES * np.arange(1, CODES))
    assert (upper == weights.table[others].max(axis=1)).all()
    assert upper.dtype == lower.dtype == weights.table.dtype


@either_type
@settings(deadline=None, max_examples=25)
@a_sentence
def test_no_part_scores_more_than_its_bounds(
    integers: bool, n: int, seed: int, share: float, tags: int
) -> None:
    graph, level, tokens = sentence(n, seed, share, tags)
    weights = random_weights(seed, integers)
    scores = crossing_scores(graph, level, np.zeros(len(graph.head)), tokens, weights)
    best = best_distances(weights)
    below, above = grand_bounds(graph, tokens, weights, best)
    steps, uppers, lowers = all_parts(graph, level)
    assert (scores.run[steps] <= below[uppers]).all()
    assert (scores.run[steps] <= above[lowers]).all()
    nearer, farther = pair_bounds(graph, tokens, weights, best)
    inner, outer = consecutive_arcs(graph)
    assert (scores.pair <= nearer[inner]).all()
    assert (scores.pair <= farther[outer]).all()
    # They are scores that a model could have, or -inf where there is no part: never a number that stands for it.
    most = 2 * 128 * TEMPLATES.end
    for bounds in (below, above, nearer, farther):
        assert (np.isneginf(bounds) | (np.abs(bounds) <= most)).all()


@either_type
def test_bounds_are_reached(integers: bool) -> None:
    """Where one part is all there is, and its distances have the best weights, it has the score of the bound."""
    graph, level, tokens = sentence(2, 3, 1.0, 4)
    table = np.full(1 << BITS, 5, np.int8 if integers else np.float32)
    weights = PartWeights(TEMPLATES, table, BITS)
    scores = crossing_scores(graph, level, np.zeros(len(graph.head)), tokens, weights)
    best = best_distances(weights)
    steps, uppers, lowers = all_parts(graph, level)
    below, above = grand_bounds(graph, tokens, weights, best)
    assert (scores.run[steps] == below[uppers]).all()
    assert (scores.run[steps] == above[lowers]).all()
    nearer, farther = pair_bounds(graph, tokens, weights, best)
    inner, outer = consecutive_arcs(graph)
    assert (scores.pair == nearer[inner]).all()
    assert (scores.pair == farther[outer]).all()


@either_type
@settings(deadline=None, max_examples=25)
@a_sentence
def test_single_parts_score_as_all_together(
    integers: bool, n: int, seed: int, share: float, tags: int
) -> None:
    graph, level, tokens = sentence(n, seed, share, tags)
    weights, arcs = random_weights(seed, integers), np.arange(len(graph.head))
    expected = crossing_scores(graph, level, np.zeros(len(arcs)), tokens, weights)

    steps, uppers, lowers = all_parts(graph, level)
    scores = np.full(len(steps), np.nan)
    score_grand_parts(graph, tokens, weights, uppers.astype(np.int64), lowers.astype(np.int64), scores)
    assert (scores == expected.run[steps]).all()

    inner, outer = (part.astype(np.int64) for part in consecutive_arcs(graph))
    scores = np.full(len(inner), np.nan)
    score_pairs(graph, tokens, weights, inner, outer, scores)
    assert (scores == expected.pair).all()
    nobody = np.zeros(len(arcs) - 1, np.int64)
    first, last = np.full((2, len(arcs) - 1), np.nan)
    score_pairs(graph, tokens, weights, nobody, arcs[1:], first)
    score_pairs(graph, tokens, weights, arcs[1:], nobody, last)
    assert (first == expected.first[1:]).all()
    assert (last == expected.last[1:]).all()

    kind = CHARTS["model0"]
    tables = part_scores(kind, True, graph, make_levels(graph, kind), np.zeros(len(arcs)), tokens, weights)
    assert (score_null_parts(graph, tokens, weights)[2:] == tables.none[2:]).all()


def test_the_sentences_have_conjunctions() -> None:
    found = 0
    for seed in range(10):
        graph, level, tokens = sentence(12, seed, 1.0, 4)
        _, _, lowers = all_parts(graph, level)
        found += sum(
            is_coordination(tokens, int(graph.head[b]), int(graph.modifier[b])) for b in lowers.tolist()
        )
    assert found > 100
