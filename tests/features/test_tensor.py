"""The low-rank tensor of arcs: its features, its scores against the formula, and how a model stores it."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.arcs import distance_code
from arcwise.features.attributes import COLUMNS, FREQUENT, LEMMA, MORPHOLOGY, MOST_FEATURES
from arcwise.features.hash_table import ROOT, UNKNOWN
from arcwise.features.tensor import (
    DISTANCES,
    add_tensor,
    compile_words,
    most_rows,
    pack_tensor,
    project_words,
    tensor_score,
    unpack_tensor,
    word_rows,
)
from arcwise.features.tensor import Tensor as LowRank

BITS, RANK, SIDES = 10, 5, compile_words()


def random_numbers(n: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    numbers = random.integers(4, 40, (n + 1, COLUMNS), dtype=np.int32)
    for word in range(1, n + 1):
        numbers[word, MORPHOLOGY + int(random.integers(0, MOST_FEATURES + 1)) :] = UNKNOWN
    numbers[0] = ROOT
    return numbers


def phi(numbers: np.ndarray, bits: int = BITS) -> np.ndarray:
    """The features of all words, counted: (words, 2^bits)."""
    counts, rows = np.zeros((len(numbers), 1 << bits)), np.empty(most_rows(SIDES), np.uint32)
    for word in range(len(numbers)):
        number = word_rows(numbers, word, SIDES, bits, rows)
        np.add.at(counts[word], rows[:number], 1)
    return counts


def formula(
    numbers: np.ndarray, heads: np.ndarray, modifiers: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """T(h, m) of all pairs; distances: W, W_r0 first."""
    size, words = len(numbers), phi(numbers)
    codes = np.array([[distance_code(h, m) for m in range(size)] for h in range(size)])
    both = distances[0] + distances[codes]
    scores: np.ndarray = np.einsum("hr,mr,hmr->hm", words @ heads, words @ modifiers, both)
    return scores


def random_tables(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    shapes = ((1 << BITS, RANK), (1 << BITS, RANK), (DISTANCES, RANK))
    heads, modifiers, distances = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    return heads, modifiers, distances


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    found = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    heads, modifiers = np.array(found, np.int32).T
    return heads.copy(), modifiers.copy()


@pytest.mark.parametrize("n", [1, 2, 17])
def test_scores_are_the_formula(n: int) -> None:
    numbers, (heads, modifiers, distances) = random_numbers(n, n), random_tables(n)
    both = distances + distances[0] * (np.arange(DISTANCES) > 0)[:, None]
    as_head, as_modifier = np.zeros((n + 1, RANK), np.float32), np.zeros((n + 1, RANK), np.float32)
    project_words(LowRank(SIDES, BITS, heads, modifiers, both), numbers, as_head, as_modifier)
    expected = formula(numbers, heads, modifiers, distances)
    for h, m in zip(*pairs(n), strict=True):
        assert tensor_score(as_head, as_modifier, both, h, m) == pytest.approx(
            expected[h, m], rel=1e-4, abs=1e-3
        )


def test_a_model_adds_whole_numbers_that_are_nearly_the_formula() -> None:
    n, unit = 12, 0.01
    numbers, tables = random_numbers(n, 3), random_tables(3)
    arrays = pack_tensor(*tables)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.int8), np.dtype(np.float32)}
    h, m = pairs(n)
    scores = np.full(len(h), 7.0)
    add_tensor(unpack_tensor(arrays, SIDES, unit), numbers, h, m, scores)
    assert (scores == np.rint(scores)).all()
    expected = formula(numbers, *tables)[h, m]
    assert np.abs((scores - 7.0) * unit - expected).max() < 0.05 * np.abs(expected).max()


def test_a_tensor_of_zeros_adds_nothing() -> None:
    h, m = pairs(3)
    scores, zeros = np.ones(len(h)), [np.zeros_like(table) for table in random_tables(0)]
    add_tensor(unpack_tensor(pack_tensor(*zeros), SIDES, 1.0), random_numbers(3, 0), h, m, scores)
    add_tensor(None, random_numbers(3, 0), h, m, scores)
    assert (scores == 1.0).all()


def test_features_tell_what_they_should() -> None:
    """The whole word, its lemma with each morphological feature, and its neighbours."""
    bits, numbers = 30, random_numbers(5, 1)
    rows = np.empty(most_rows(SIDES), np.uint32)

    def features(word: int) -> set[int]:
        return set(rows[: word_rows(numbers, word, SIDES, bits, rows)].tolist())

    before, alone = features(3), len(SIDES)
    known = int(np.count_nonzero(numbers[3, MORPHOLOGY:FREQUENT] != UNKNOWN))
    assert len(before) == alone + 2 * len({*numbers[3, MORPHOLOGY : MORPHOLOGY + known].tolist()})
    assert len(features(0)) == alone  # the root has no morphology
    assert features(0) & features(3)  # the bias
    numbers[4, LEMMA] += 1
    assert len(before - features(3)) == 1  # L+1
    numbers[4, LEMMA] -= 1
    numbers[3, LEMMA] += 1
    lemmas = 3 + len({*numbers[3, MORPHOLOGY : MORPHOLOGY + known].tolist()})
    assert len(before - features(3)) == lemmas  # L, L C, L P, and with morphology


@pytest.mark.parametrize(
    ("text", "message"), [("Q", "'Q', expected"), ("F+10", "looks farther"), ("F L C P", "more than 3")]
)
def test_words_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_words(text)
