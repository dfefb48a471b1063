"""Templates, tokens and the features of arcs and labels against their definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.features import context
from arcwise.features.arcs import arc_features, distance_code, label_features, most_arc_features
from arcwise.features.attributes import COLUMNS, FREQUENT, MORPHOLOGY, MOST_FEATURES
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import (
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.hash_table import ROOT
from arcwise.features.templates import ARCS, COARSE, LABELS, Templates, compile_templates
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.pipeline.model import Settings
from tests.features import naive

CLUSTERED = Settings().with_clusters()
TEMPLATES = compile_templates(CLUSTERED.coarse, CLUSTERED.arcs, CLUSTERED.labels)


def random_numbers(n: int, seed: int, tags: int = 4) -> np.ndarray:
    """The numbers of a sentence of n words with few different tags, some words and features unknown."""
    random = np.random.default_rng(seed)
    numbers = np.zeros((n + 1, COLUMNS), np.int32)
    for attribute in range(MORPHOLOGY):
        known = tags if attribute in (2, 3) else 6
        numbers[:, attribute] = 100 * attribute + 10 + random.integers(known, size=n + 1)
    numbers[:, FREQUENT:] = 2000 + random.integers(6, size=(n + 1, COLUMNS - FREQUENT))
    for word in range(1, n + 1):
        count = random.integers(MOST_FEATURES + 1) if random.random() < 0.5 else 0
        numbers[word, MORPHOLOGY : MORPHOLOGY + count] = 1000 + random.choice(40, count, replace=False)
        numbers[word, MORPHOLOGY:FREQUENT][random.random(MOST_FEATURES) < 0.2] = 0
    numbers[0] = ROOT
    return numbers


def hashed(numbers: np.ndarray, templates: Templates = TEMPLATES) -> Tokens:
    tokens = make_tokens(len(numbers) + 3, templates.end)  # with room to spare, as for a longer sentence
    hash_tokens(random_numbers(len(numbers) + 2, 99), templates, tokens)
    hash_tokens(numbers, templates, tokens)
    return tokens


def random_tree(n: int, seed: int) -> np.ndarray:
    """Any tree: each word hangs on the root or on one that came before it in a random order."""
    random = np.random.default_rng(seed)
    order = [0, *(1 + random.permutation(n)).tolist()]
    heads = np.full(n + 1, -1, np.int32)
    for place in range(1, n + 1):
        heads[order[place]] = order[random.integers(place)]
    return heads


def arcs_of(n: int) -> list[tuple[int, int]]:
    return [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]


def numbered_anew(numbers: np.ndarray) -> np.ndarray:
    """The same sentence with another vocabulary."""
    return np.where(numbers > ROOT, numbers + 100_003, numbers).astype(np.int32)


def assert_features_are_named(
    numbers: np.ndarray,
    names_of: Callable[[np.ndarray], list[naive.Name]],
    features_of: Callable[[Tokens], list[int]],
) -> None:
    """Equal names, equal features, in two numberings of the words."""
    both = (numbers, numbered_anew(numbers))
    names, features = [names_of(each) for each in both], [features_of(hashed(each)) for each in both]
    naive.assert_one_to_one(zip(*names, strict=True), zip(*features, strict=True))


# Templates


def test_equal_sides_are_hashed_once() -> None:
    templates = compile_templates("P-1 P | P", "P | P-1 P     P | .", "P-1 P | P     . | P")
    assert len(templates.sides) == 3
    assert len({templates.head[0], templates.modifier[1], templates.head[3]}) == 1
    assert (templates.arcs, templates.labels, templates.end) == (1, 3, 5)


def test_the_order_of_atoms_and_templates_matters() -> None:
    numbers = random_numbers(6, 1)
    templates = compile_templates("P C | P", "C P | P     C P | P", "C | C")
    tokens = hashed(numbers, templates)
    for word in range(7):
        assert len(set(tokens.as_modifier[word].tolist())) == templates.end
        assert tokens.as_head[word, 0] != tokens.as_head[word, 1]
        assert tokens.as_head[word, 1] == tokens.as_head[word, 2]


@pytest.mark.parametrize(
    "wrong",
    ["P", "P | P | P", "Q | P", "P P P P | P", "Px | P", "P+ | P", "P | P-1.5", "P | p", "P+99999999999 | P"],
)
def test_a_wrong_notation_is_refused(wrong: str) -> None:
    for group in range(3):
        groups = ["P | P"] * 3
        groups[group] = wrong
        with pytest.raises((ValueError, KeyError)):
            compile_templates(*groups)


def test_the_tables_have_no_template_twice() -> None:
    for table in (COARSE, ARCS, LABELS):
        cells = [" ".join(cell.split()) for line in table.splitlines() for cell in line.split("    ")]
        assert len(set(cells) - {""}) == len([cell for cell in cells if cell])
    assert TEMPLATES.end == len(TEMPLATES.head) == len(TEMPLATES.modifier)


# Tokens


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 25), st.integers(0, 10**6), st.integers(1, 6))
def test_tokens(n: int, seed: int, tags: int) -> None:
    numbers = random_numbers(n, seed, tags)
    tokens = hashed(numbers)
    for word in range(n + 1):
        for kind, attribute in ((0, 2), (1, 3)):
            same = [b for b in range(1, word) if numbers[b, attribute] == numbers[word, attribute]]
            assert tokens.previous[word, kind] == (same[-1] if same else 0)
        features = tokens.features[word, : tokens.counts[word]].tolist()
        assert len(features) == len(naive.morphology(numbers, word))
    naive.assert_one_to_one(
        (feature for word in range(n + 1) for feature in naive.morphology(numbers, word)),
        (x for word in range(n + 1) for x in tokens.features[word, : tokens.counts[word]].tolist()),
    )
    for column, attribute in enumerate((2, 3, 1)):
        naive.assert_one_to_one(numbers[:, attribute].tolist(), tokens.atoms[: n + 1, column].tolist())
    for template in range(TEMPLATES.end):
        for sides, table in ((TEMPLATES.head, tokens.as_head), (TEMPLATES.modifier, tokens.as_modifier)):
            names = [naive.side_name(numbers, TEMPLATES, sides[template], word) for word in range(n + 1)]
            naive.assert_one_to_one(names, table[: n + 1, template].tolist())


# Arcs


def test_distance_codes() -> None:
    arcs = arcs_of(30)
    codes = [int(distance_code(h, m)) for h, m in arcs]
    assert set(codes) == set(range(1, 15))
    naive.assert_one_to_one((naive.distance_name(h, m) for h, m in arcs), codes)


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 14), st.integers(0, 10**6), st.integers(1, 6))
def test_arc_features(n: int, seed: int, tags: int) -> None:
    indices = np.empty(most_arc_features(n, TEMPLATES), np.uint32)

    def names_of(numbers: np.ndarray) -> list[naive.Name]:
        return [name for h, m in arcs_of(n) for name in naive.arc_feature_names(numbers, TEMPLATES, h, m)]

    def features_of(tokens: Tokens) -> list[int]:
        found = []
        for h, m in arcs_of(n):
            found += indices[: arc_features(tokens, TEMPLATES, 32, h, m, indices)].tolist()
        return found

    assert_features_are_named(random_numbers(n, seed, tags), names_of, features_of)


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 14), st.integers(0, 10**6))
def test_label_features(n: int, seed: int) -> None:
    rows = np.empty(TEMPLATES.end - TEMPLATES.labels, np.uint32)

    def names_of(numbers: np.ndarray) -> list[naive.Name]:
        return [name for h, m in arcs_of(n) for name in naive.label_feature_names(numbers, TEMPLATES, h, m)]

    def features_of(tokens: Tokens) -> list[int]:
        found = []
        for h, m in arcs_of(n):
            found += rows[: label_features(tokens, TEMPLATES, 32, h, m, rows)].tolist()
        return found

    assert_features_are_named(random_numbers(n, seed), names_of, features_of)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9), st.integers(0, 10**6), st.integers(6, 28))
def test_features_lie_within_their_tables(n: int, seed: int, bits: int) -> None:
    """The greatest number of features, too, is what the room is made for."""
    numbers = random_numbers(n, seed, tags=20)
    numbers[1:, MORPHOLOGY:FREQUENT] = np.arange(1, n * MOST_FEATURES + 1).reshape(n, -1)
    tokens, tree = hashed(numbers), make_neighbours(n)
    indices = np.empty(most_arc_features(n, TEMPLATES), np.uint32)
    rows = np.empty(most_context_features(TEMPLATES), np.uint32)
    heads = random_tree(n, seed)
    find_neighbours(heads, tokens, tree)
    for h, m in arcs_of(n):
        count = arc_features(tokens, TEMPLATES, bits, h, m, indices)
        assert indices[:count].max() < 1 << bits
    for m in range(1, n + 1):
        count = context_features(tokens, TEMPLATES, bits, heads, tree, m, rows)
        assert rows[:count].max() < 1 << bits


def test_coarse_scores_are_sums_of_weights() -> None:
    """The scores with any weights are sums of those with one weight alone."""
    n, bits = 8, 6
    tokens = hashed(random_numbers(n, 5))
    weights = np.random.default_rng(0).integers(-128, 128, 1 << bits, dtype=np.int8)
    S, alone, total = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    coarse_scores(tokens, TEMPLATES, weights, bits, S)
    features = 0
    for index in range(1 << bits):
        coarse_scores(tokens, TEMPLATES, (np.arange(1 << bits) == index).astype(np.int8), bits, alone)
        total += int(weights[index]) * alone
        features += int(alone[:, 1:].sum())
    np.testing.assert_array_equal(S, total)
    assert features == 2 * TEMPLATES.arcs * (n + 1) * n


def test_coarse_scores_tell_arcs_apart() -> None:
    """With random weights in a wide table two arcs score the same if and only if their features are the same."""
    n = 10
    numbers = random_numbers(n, 6, tags=2)
    numbers[6:] = numbers[1:6]
    tokens = hashed(numbers)
    S = np.zeros((n + 1, n + 1))
    names = {(h, m): frozenset(naive.coarse_feature_names(numbers, TEMPLATES, h, m)) for h, m in arcs_of(n)}
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    for trial in range(4):  # four sums of random weights: equal by chance never
        weights = np.random.default_rng(trial).integers(-128, 128, 1 << 20, dtype=np.int8)
        coarse_scores(tokens, TEMPLATES, weights, 20, S)
        for arc in names:
            found[arc] = (*found.get(arc, ()), float(S[arc]))
    naive.assert_one_to_one(names.values(), found.values())


# Labels of a known tree


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(0, 10**6))
def test_find_neighbours(n: int, seed: int) -> None:
    numbers = random_numbers(n, seed)
    heads = random_tree(n, seed)
    tree = make_neighbours(n + 2)
    find_neighbours(random_tree(n + 2, 1), hashed(random_numbers(n + 2, 1)), tree)  # something to be cleared
    find_neighbours(heads, hashed(numbers), tree)
    for word in range(n + 1):
        for name, expected in naive.neighbours(heads.tolist(), word).items():
            assert getattr(tree, name)[word] == expected, (name, word)
        tags = naive.tag_bits(numbers, naive.children(heads.tolist(), word))
        assert tree.once[word] == sum(1 << tag for tag in set(tags))
        assert tree.twice[word] == sum(1 << tag for tag in set(tags) if tags.count(tag) > 1)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 14), st.integers(0, 10**6))
def test_context_features(n: int, seed: int) -> None:
    trees = [random_tree(n, seed + shape) for shape in range(3)]
    tree, rows = make_neighbours(n), np.empty(most_context_features(TEMPLATES), np.uint32)

    def names_of(numbers: np.ndarray) -> list[naive.Name]:
        return [
            name
            for heads in trees
            for m in range(1, n + 1)
            for name in naive.context_feature_names(
                numbers, TEMPLATES, heads.tolist(), m, context._WITH_DISTANCE
            )
        ]

    def features_of(tokens: Tokens) -> list[int]:
        found = []
        for heads in trees:
            find_neighbours(heads, tokens, tree)
            for m in range(1, n + 1):
                count = context_features(tokens, TEMPLATES, 32, heads, tree, m, rows)
                found += rows[:count].tolist()
        return found

    assert_features_are_named(random_numbers(n, seed), names_of, features_of)
