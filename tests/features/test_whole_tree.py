"""Features of whole trees: the same score however it is come by, and the structures that they are defined on."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.attributes import COLUMNS, FORM, UPOS, vocabulary
from arcwise.features.far_features import GROUP_NAMES, most_whole_features, outside
from arcwise.features.templates import compile_templates
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.features.whole_tree import (
    Far,
    WholeTree,
    find_shape,
    group_bits,
    make_shape,
    make_whole_tree,
    score_whole_tree,
    whole_tree_features,
)
from arcwise.features.word_classes import (
    ADPOSITION,
    CONJUNCTION,
    WordClasses,
    classify,
    match_pairs,
    word_classes,
)
from arcwise.trees.enumerate import all_trees
from tests.trees import naive

CONJ, ADP, OPEN, CLOSE, QUOTE = 5, 6, 7, 8, 9
CLASSES = WordClasses(
    np.array([CONJ], np.int32),
    np.array([ADP], np.int32),
    np.array([OPEN, QUOTE], np.int32),
    np.array([CLOSE, QUOTE], np.int32),
)
BITS = 14
TEMPLATES = compile_templates()


def sentence(words: int, seed: int = 0) -> np.ndarray:
    numbers = np.random.default_rng(seed).integers(4, 12, (words + 1, COLUMNS)).astype(np.int32)
    numbers[0] = 1
    return numbers


def whole_of(numbers: np.ndarray, weights: np.ndarray, groups: int = 15) -> WholeTree:
    tokens = make_tokens(len(numbers) - 1, TEMPLATES.end)
    hash_tokens(numbers, TEMPLATES, tokens)
    return make_whole_tree(numbers, tokens, Far(CLASSES, groups, BITS), weights)


def features(numbers: np.ndarray, heads: list[int]) -> list[int]:
    whole = whole_of(numbers, np.zeros(1 << BITS, np.float32))
    indices = np.empty(most_whole_features(len(heads) - 1), np.uint32)
    return sorted(indices[: whole_tree_features(whole, np.array(heads, np.int32), indices)].tolist())


def random_tree(rng: np.random.Generator, words: int) -> np.ndarray:
    heads, order = np.full(words + 1, -1, np.int32), rng.permutation(words) + 1
    for k, m in enumerate(order):
        heads[m] = 0 if k == 0 else rng.choice(order[:k])
    return heads


@pytest.mark.parametrize("words", [1, 2, 7, 70])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_the_score_is_the_sum_of_the_weights_whatever_was_scored_before(words, dtype):
    rng, numbers = np.random.default_rng(words), sentence(words)
    weights = rng.integers(-9, 10, 1 << BITS).astype(dtype)
    whole, indices = whole_of(numbers, weights), np.empty(most_whole_features(words), np.uint32)
    for k in range(60):
        heads = random_tree(rng, words)
        found = score_whole_tree(whole, heads, k % 3 == 0)
        again = score_whole_tree(whole_of(numbers, weights), heads, True)
        count = whole_tree_features(whole, heads, indices)
        assert found == again == weights[indices[:count]].astype(np.int64).sum()


def test_groups_can_be_left_out():
    rng, numbers = np.random.default_rng(1), sentence(9)
    weights = rng.integers(-9, 10, 1 << BITS).astype(np.float32)
    heads, indices = random_tree(rng, 9), np.empty(most_whole_features(9), np.uint32)
    found, counts = [], []
    for group in range(len(GROUP_NAMES)):
        whole = whole_of(numbers, weights, 1 << group)
        found.append(score_whole_tree(whole, heads, True))
        counts.append(whole_tree_features(whole, heads, indices))
    everything = whole_of(numbers, weights)
    assert sum(found) == score_whole_tree(everything, heads, True)
    assert sum(counts) == whole_tree_features(everything, heads, indices)
    assert min(counts) > 0
    for names in ("chains", "", "chain none"):
        with pytest.raises(ValueError, match="expected some of chain, family, span, tree"):
            group_bits(names)


def test_shapes_are_those_of_the_tree():
    for heads in all_trees(5)[::7]:
        shape = make_shape(6)
        find_shape(heads, shape)
        for word in range(1, 6):
            below = sorted(naive.yields(heads.tolist())[word])
            assert (shape.begin[word], shape.end[word]) == (below[0], below[-1])
            assert [bool(int(shape.yields[word, 0]) >> m & 1) for m in range(6)] == [
                m in below for m in range(6)
            ]
            children = [m for m in range(1, 6) if heads[m] == word]
            found: list[int] = []
            c = int(shape.first[word])
            while c > 0:
                found, c = [*found, c], int(shape.next[c])
            assert found == children
            h = int(heads[word])
            between = range(min(h, word) + 1, max(h, word))
            crossed = 0 if h == 0 else sum(x not in naive.yields(heads.tolist())[h] for x in between)
            assert outside(shape, h, word) == crossed


def conjuncts(tags: dict[int, int], heads: list[int]) -> int:
    """How many features a tree has more than if nothing were a conjunction or an adposition."""
    numbers = sentence(len(heads) - 1)
    numbers[:, UPOS] = 10
    plain = len(features(numbers, heads))
    for word, tag in tags.items():
        numbers[word, UPOS] = tag
    return len(features(numbers, heads)) - plain


def test_coordination_and_adpositions_are_seen_in_all_structures():
    # 1 verb, 2 first conjunct, 3 conjunction, 4 second conjunct
    assert conjuncts({3: CONJ}, [-1, 0, 1, 4, 2]) > 6  # Universal Dependencies: 3 on 4, 4 on 2
    assert conjuncts({3: CONJ}, [-1, 0, 1, 2, 3]) > 6  # 3 on 2, 4 on 3
    assert conjuncts({3: CONJ}, [-1, 0, 3, 1, 3]) > 6  # 3 heads both
    assert conjuncts({3: CONJ}, [-1, 0, 1, 1, 1]) == 0
    # 1 verb, 2 adposition, 3 noun
    assert conjuncts({2: ADP}, [-1, 0, 3, 1]) == 5
    assert conjuncts({2: ADP}, [-1, 0, 1, 2]) == 5
    assert conjuncts({2: ADP}, [-1, 0, 1, 1]) == 0


def test_pairs_of_marks():
    numbers = sentence(8)
    numbers[:, FORM] = 11
    numbers[[1, 2, 4, 5, 7, 8], FORM] = [OPEN, QUOTE, QUOTE, CLOSE, CLOSE, OPEN]
    partner, kinds = np.empty(9, np.int32), np.empty(9, np.int8)
    match_pairs(numbers, CLASSES, partner)
    assert partner.tolist() == [0, 5, 4, 0, 0, 0, 0, 0, 0]
    numbers[:, UPOS] = [1, CONJ, ADP, *[4] * 6]
    classify(numbers, CLASSES, kinds)
    assert kinds.tolist() == [0, CONJUNCTION, ADPOSITION, *[0] * 6]


def test_classes_of_an_empty_vocabulary_are_empty():
    nothing = vocabulary(np.empty(0, np.uint64))
    assert [len(numbers) for numbers in word_classes(nothing)] == [0] * 4
