"""Lemmas by suffix rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcwise.arrays import Arrays
from arcwise.features.letters import ALPHABET
from arcwise.tagging.lemmas import (
    _FOR_WORDS,
    learn_lemmas,
    lemma_rules,
    rule_of,
    suffix_keys,
    write_lemmas,
)
from arcwise.treebank.block import FORM, LEMMA
from tests.tagging import naive
from tests.tagging.corpora import data_blocks, words_of

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0")
WORDS = st.text(st.sampled_from("aAbBsSéÉßİȺжЖ中🙂\x0b_ "), min_size=1, max_size=12) | st.text(
    LETTERS, min_size=1
)
LONG = st.text(st.sampled_from("abж"), min_size=55, max_size=300)
FINE = st.integers(0, 3)


def learn(words: Sequence[tuple[str, str, int]]) -> Arrays:
    block = naive.block_of([[form for form, _, _ in words]])
    fine = np.array([tag for _, _, tag in words], np.uint32)
    keys = suffix_keys(block.data, block.starts, block.stops, fine, ALPHABET)
    return learn_lemmas(keys, [form for form, _, _ in words], [lemma for _, lemma, _ in words])


def lemmatise(arrays: Arrays, words: Sequence[tuple[str, int]]) -> list[str]:
    block = naive.block_of([[form for form, _ in words]])
    fine = np.array([tag for _, tag in words], np.uint32)
    output, first = write_lemmas(block.data, block.starts, block.stops, fine, lemma_rules(arrays), ALPHABET)
    data = output.tobytes()
    return [data[a:b].decode() for a, b in pairwise(first)]


@settings(deadline=None, max_examples=200)
@given(WORDS | LONG, WORDS | LONG)
def test_a_rule_gives_the_lemma_back(form: str, lemma: str) -> None:
    for preferred in ((0, 1, 2), (0, 2, 1)):
        case, cut, end = rule_of(form, lemma, preferred)
        assert 0 <= cut <= len(form)
        beginning = (naive.lower(form), form, naive.capitalised(form))[case]
        assert beginning[: len(form) - cut] + end == lemma


def assert_consistent_lemmas_are_right(seen: Sequence[tuple[str, str, int]], found: Sequence[str]) -> None:
    """Where a word, in lower case, always has its lemma by the same rule."""
    rules = defaultdict(set)
    for form, lemma, fine in seen:
        rules[naive.lower(form), fine].add(rule_of(form, lemma, _FOR_WORDS))
    for (form, lemma, fine), given_lemma in zip(seen, found, strict=False):
        if len(rules[naive.lower(form), fine]) == 1 and len(form) < naive.LETTERS:
            assert given_lemma == lemma


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(WORDS, WORDS, FINE), min_size=1, max_size=12),
    st.lists(st.tuples(WORDS | LONG, FINE), max_size=6),
)
@example([("running", "run", 1)] * 3, [("ning", 1), ("sunning", 1), ("sunning", 2)])  # nothing may be left
def test_words_of_the_treebank_get_their_lemma_and_others_that_of_their_suffix(
    seen: list[tuple[str, str, int]], others: list[tuple[str, int]]
) -> None:
    arrays = learn(seen)
    asked = [(form, fine) for form, _, fine in seen] + others
    found = lemmatise(arrays, asked)
    assert found == [naive.lemma(arrays, form, fine) for form, fine in asked]
    assert all(found)
    assert_consistent_lemmas_are_right(seen, found)


def test_the_lemmas_of_a_treebank() -> None:
    blocks = data_blocks("train.conllu")
    words = words_of(blocks)
    fine = words.tagset.history[words.tags, 1].tolist()
    seen = list(zip(words.forms, words.lemmas, fine, strict=True))
    found = lemmatise(learn(seen), [(form, tag) for form, _, tag in seen])
    assert_consistent_lemmas_are_right(seen, found)
    assert sum(a == b for a, b in zip(found, words.lemmas, strict=True)) > 0.98 * len(found)
    assert [column for block in blocks for column in block.column(FORM)] == words.forms
    assert [column for block in blocks for column in block.column(LEMMA)] == words.lemmas


def test_long_words_are_their_own_lemmas() -> None:
    for letter in "xж🙂":
        seen = [(letter * 63 + "s", letter * 63, 1), (letter * 62 + "s", letter * 62, 1)] * 2
        assert lemmatise(learn(seen), [(form, 1) for form, _, _ in seen[:2]]) == [seen[0][0], seen[1][1]]


def test_rules_too_long_to_store_are_not_learned() -> None:
    words = [("go", "x" * 300, 1), ("run", "y" * 255, 1)]
    assert lemmatise(learn(words), [("go", 1), ("run", 1)]) == ["go", "y" * 255]
