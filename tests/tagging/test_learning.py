"""Learning to tag."""

from __future__ import annotations

import numpy as np

from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS
from tests.tagging import naive
from tests.tagging.corpora import (
    conllu_block,
    data_blocks,
    learn,
    small_tagger,
    toy_tagger,
    toy_text,
    words_of,
)


def test_a_toy_language_is_learned_wholly() -> None:
    gold = conllu_block(toy_text(1))
    found = toy_tagger().tag(gold, anew=True)
    assert found.data.tobytes() == gold.data.tobytes()
    bare = toy_tagger().tag(naive.block_of(naive.forms(gold)))
    for column in (LEMMA, UPOS, XPOS, FEATS):
        assert bare.column(column) == gold.column(column)


def test_unknown_words_are_tagged_by_their_looks() -> None:
    tagged = toy_tagger().tag(naive.block_of([["the", "bans", "wanted", "Ivan", "."]]))
    assert tagged.column(XPOS) == ["DT", "NNS", "VBD", "NNP", "."]
    assert tagged.column(LEMMA) == ["the", "ban", "want", "Ivan", "."]


def test_the_error_goes_down() -> None:
    told: list[tuple[int, int, float]] = []
    learn(data_blocks(), bits=14, epochs=4, progress=lambda *news: told.append(news))
    assert [news[:2] for news in told] == [(epoch, 4) for epoch in (1, 2, 3, 4)]
    errors = [error for _, _, error in told]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 2


def test_the_same_seed_gives_the_same_tagger() -> None:
    one, same, other = (learn(data_blocks(), bits=14, epochs=2, seed=seed) for seed in (0, 0, 1))
    assert one.header == same.header
    assert one.header | {"unit": 0} == other.header | {"unit": 0}
    for name, array in one.arrays.items():
        assert array.tobytes() == same.arrays[name].tobytes()
        assert array.dtype == same.arrays[name].dtype
    assert one.arrays["table"].tobytes() != other.arrays["table"].tobytes()
    assert one.arrays["table"].tobytes() == small_tagger().arrays["table"].tobytes()


def test_any_seed() -> None:
    blocks = [conllu_block(toy_text(1))]
    tables = [learn(blocks, epochs=1, seed=seed).arrays["table"].tobytes() for seed in (0, 2**32, 2**70)]
    assert len(set(tables)) == 3


def test_weights_fill_their_range() -> None:
    assert np.abs(small_tagger().arrays["table"].astype(int)).max() == 127


def test_blocks_make_no_difference() -> None:
    text = toy_text(2)
    half = text.index("\n\n", len(text) // 2) + 2
    one, two = [conllu_block(text)], [conllu_block(text[:half]), conllu_block(text[half:])]
    for a, b in zip(words_of(one)[:5], words_of(two)[:5], strict=True):
        np.testing.assert_array_equal(a, b)
    for name, array in learn(one, epochs=1).arrays.items():
        np.testing.assert_array_equal(array, learn(two, epochs=1).arrays[name])
