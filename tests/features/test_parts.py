"""The features and scores of higher parts against their definitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.features import cluster_templates, part_templates
from arcwise.features.attributes import UPOS, collect_keys, number_words, vocabulary
from arcwise.features.part_scores import PartWeights, part_scores
from arcwise.features.part_templates import PartTemplates, compile_part_templates
from arcwise.features.parts import (
    PartTokens,
    grand_sibling_features,
    grandchild_features,
    hash_part_tokens,
    make_part_tokens,
    nobody,
    sibling_features,
    tri_sibling_features,
)
from arcwise.parts.graph import make_graph
from arcwise.pipeline.model import Settings
from arcwise.search.chart import CHARTS, make_levels
from arcwise.search.derivations import chart_tree
from arcwise.treebank.reading import read_string
from arcwise.trees.blocks import is_projective
from arcwise.trees.enumerate import all_trees
from tests.features import naive
from tests.features.test_features import numbered_anew, random_numbers, random_tree
from tests.features.whole_trees import features_of

VOCABULARY = vocabulary(np.array([5], np.uint64))
CONJUNCTION = 211  # one of the coarse tags of `random_numbers`
TEMPLATES = (
    Settings(search="model2")
    .with_clusters()
    .part_templates(VOCABULARY)
    ._replace(conjunctions=np.array([CONJUNCTION], np.int32))
)
SCORED = ["eisner", "sibling", "tri-sibling", "carreras", "model0", "model1", "model2"]
FEATURES: dict[str, Any] = {
    "siblings": sibling_features,
    "grandchildren": grandchild_features,
    "grand_siblings": grand_sibling_features,
    "tri_siblings": tri_sibling_features,
}

Part = tuple[
    str, bool, tuple[int | None, ...]
]  # group, whether on the right of its head, words or None for nobody


def hashed(numbers: np.ndarray, templates: PartTemplates = TEMPLATES) -> PartTokens:
    tokens = make_part_tokens(len(numbers) + 3, templates)  # with room to spare, as for a longer sentence
    hash_part_tokens(random_numbers(len(numbers) + 2, 99), templates, tokens)
    hash_part_tokens(numbers, templates, tokens)
    return tokens


# What the parts of a tree are, and what their features see, slowly


def parts_of(heads: list[int], chart: str) -> Iterator[Part]:
    """The higher parts of a tree that a chart scores."""
    kind = CHARTS[chart]
    for h in range(len(heads)):
        g = heads[h]
        children = naive.children(heads, h)
        for right in (False, True):
            near_to_far = [m for m in children if m > h] if right else [m for m in children if m < h][::-1]
            row: list[int | None] = [None, *near_to_far, None]
            pairs = list(pairwise(row)) if near_to_far else []
            if kind.siblings > 0:
                yield from (("siblings", right, (h, s, m)) for s, m in pairs)
            if kind.siblings > 1:
                triples = zip(row, row[1:], row[2:-1], strict=False)
                yield from (("tri_siblings", right, (h, t, s, m)) for t, s, m in triples)
            if kind.complete == 0 or h == 0:
                continue
            outermost = 2 if kind.siblings > 1 else 1
            scored: Sequence[int | None] = near_to_far if kind.incomplete else near_to_far[-outermost:]
            yield from (("grandchildren", right, (g, h, m)) for m in scored or [None])
            if chart == "model1":
                yield from (("grand_siblings", right, (g, h, s, m)) for s, m in pairs)
            if chart == "model2" and pairs:
                yield "grand_siblings", right, (g, h, *pairs[-2])


def group_bounds(group: str) -> tuple[int, int]:
    """Where the templates of a group begin and end."""
    begins = [0, *TEMPLATES[2:7]]
    place = ["siblings", "grandchildren", "coordination", "grand_siblings", "tri_siblings"].index(group)
    return begins[place], begins[place + 1]


def distance(i: int | None, j: int | None) -> Hashable:
    return "none" if i is None or j is None else naive.distance_name(i, j)[1]


def part_names(numbers: np.ndarray, part: Part) -> list[naive.Name]:
    """The features of a part, in the kernel's order."""
    group, right, words = part
    begin, end = group_bounds(group)
    shape: naive.Name = (right,)
    if group == "tri_siblings":
        _, t, s, m = words
        distances: naive.Name = ("first", distance(s, m)) if t is None else (distance(t, s),)
    elif group == "grandchildren":
        g, h, m = words
        assert g is not None
        assert h is not None
        shape, distances = (right, g < h), (distance(g, h), distance(h, m))
        if m is not None and CONJUNCTION in numbers[h + 1 : m, UPOS]:
            end = group_bounds("coordination")[1]
    else:
        h, s, m = words[-3:]
        if group == "grand_siblings":
            shape = (right, words[0] < h)  # type: ignore[operator]
        only = m if s is None else s
        distances = ("only", distance(h, only)) if s is None or m is None else (distance(s, m),)
    names: list[naive.Name] = []
    for t in range(begin, end):
        seen: list[Hashable] = []
        for word, side in zip(words, TEMPLATES.words[:, t].tolist(), strict=False):
            if word is None:
                seen.append(("nobody", side) if side else ())
            else:
                seen.append(naive.side_name(numbers, TEMPLATES, side, word))  # type: ignore[arg-type]
        names += [(t, shape, *seen), (t, shape, *seen, distances)]
    return names


def part_indices(tokens: PartTokens, part: Part, bits: int) -> list[int]:
    group, right, words = part
    indices = np.empty(2 * TEMPLATES.end, np.uint32)
    numbers = [nobody(tokens) if word is None else word for word in words]
    count = FEATURES[group](tokens, TEMPLATES, bits, right, *numbers, indices)
    return indices[:count].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("chart", ["model1", "model2"])
@settings(deadline=None, max_examples=15)
@given(st.integers(1, 25), st.integers(0, 10**6))
def test_features_are_what_the_templates_say(chart: str, n: int, seed: int) -> None:
    numbers = random_numbers(n, seed)
    parts = [part for tree in range(4) for part in parts_of(random_tree(n, seed + tree).tolist(), chart)]
    both = (numbers, numbered_anew(numbers))
    names = [name for part in parts for name in part_names(numbers, part)]
    assert len(parts) > 2 * n
    features = []
    for each in both:
        tokens = make_part_tokens(n + 2, TEMPLATES)
        tags = CONJUNCTION if each is numbers else CONJUNCTION + 100_003
        hash_part_tokens(each, TEMPLATES._replace(conjunctions=np.array([tags], np.int32)), tokens)
        features.append([index for part in parts for index in part_indices(tokens, part, 32)])
    naive.assert_one_to_one(names, zip(*features, strict=True))


@pytest.mark.parametrize("chart", SCORED)
@settings(deadline=None, max_examples=15)
@given(st.integers(1, 20), st.integers(0, 10**6))
def test_the_parts_of_a_tree(chart: str, n: int, seed: int) -> None:
    tokens, heads = hashed(random_numbers(n, seed)), random_tree(n, seed)
    found = features_of(CHARTS[chart], heads, tokens, TEMPLATES, 20)
    expected = [i for part in parts_of(heads.tolist(), chart) for i in part_indices(tokens, part, 20)]
    assert sorted(found.tolist()) == sorted(expected)


# Scores


def random_graph(n: int, seed: int, share: float) -> Any:
    """Some of all arcs between n words, and always those of a chain."""
    random = np.random.default_rng(seed)
    pairs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    kept = [(h, m) for h, m in pairs if h == m - 1 or random.random() < share]
    heads, modifiers = np.array(kept, np.int32).T.copy()
    return make_graph(np.arange(n + 1, dtype=np.int32), heads, modifiers)


@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize("chart", SCORED)
@settings(deadline=None, max_examples=12)
@given(st.integers(1, 5), st.integers(0, 10**6), st.booleans(), st.sampled_from([0.5, 1.0]))
def test_the_best_tree_is_the_one_whose_features_weigh_most(
    chart: str, integers: bool, n: int, seed: int, single_root: bool, share: float
) -> None:
    bits, kind = 16, CHARTS[chart]
    random = np.random.default_rng(seed)
    table = random.integers(-128, 128, 1 << bits)
    weights = PartWeights(TEMPLATES, table.astype(np.int8 if integers else np.float32), bits)
    tokens, graph = hashed(random_numbers(n, seed)), random_graph(n, seed, share)
    arcs = random.integers(-99, 100, len(graph.head)).astype(np.float64)
    levels = make_levels(graph, kind)
    tables = part_scores(kind, False, graph, levels, arcs, tokens, weights)
    tree = np.empty(n + 1, np.int32)
    score = chart_tree(graph, levels, kind, tables, single_root, tree)

    numbers = {
        arc: b for b, arc in enumerate(zip(graph.head.tolist(), graph.modifier.tolist(), strict=True)) if b
    }
    scores = {}
    for heads in all_trees(n, single_root):
        own = [numbers.get((int(heads[m]), m), 0) for m in range(1, n + 1)]
        if 0 not in own and is_projective(heads):
            higher = features_of(kind, heads, tokens, TEMPLATES, bits)
            scores[tuple(own)] = arcs[own].sum() + table[higher].sum()
    assert score == max(scores.values()) == scores[tuple(tree[1:].tolist())]


# Templates


def test_conjunctions_are_found_by_their_tags() -> None:
    rows = "1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n2\tand\tand\tCCONJ\t_\t_\t3\tcc\t_\t_\n3\tb\tb\tNOUN\t_\t_\t1\tconj\t_\t_\n\n"
    (block,) = read_string(rows).blocks()
    words = vocabulary(collect_keys([block]))
    templates = compile_part_templates(words)
    numbers = number_words(block.data, block.starts, block.stops, block.words, words)
    assert templates.conjunctions.tolist() == [numbers[2, UPOS]]
    tokens = make_part_tokens(3, templates)
    hash_part_tokens(numbers, templates, tokens)
    assert tokens.conjunctions.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "group", ["siblings", "grandchildren", "coordination", "grand_siblings", "tri_siblings"]
)
def test_a_wrong_notation_is_refused(group: str) -> None:
    for wrong in (
        "P | P",
        "P | P | P | P | P",
        "Q | P | P",
        "Q | P | P | P",
        "Px | P | P",
        "P P P P | P | P | P",
    ):
        with pytest.raises(ValueError, match=r"expected|atoms|invalid literal"):
            compile_part_templates(VOCABULARY, **{group: wrong})


def test_the_tables_have_no_template_twice() -> None:
    names = ("SIBLINGS", "GRANDCHILDREN", "COORDINATION", "GRAND_SIBLINGS", "TRI_SIBLINGS")
    total = 0
    for name in names:
        table = getattr(part_templates, name) + getattr(cluster_templates, f"CLUSTER_{name}")
        cells = [" ".join(cell.split()) for line in table.splitlines() for cell in line.split("    ")]
        cells = [cell for cell in cells if cell]
        assert len(set(cells)) == len(cells)
        total += len(cells)
    assert TEMPLATES.end == total
    assert (TEMPLATES.words[3, : TEMPLATES.grand_siblings] == 0).all()
