"""What the tagger sees of words, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcwise.clusters.lookup import NO_CLUSTERS
from arcwise.features.letters import ALPHABET, letters_of
from arcwise.tagging.spelling import CASE, CLASS, SHAPE, STYLE, spell
from tests.features.naive import assert_one_to_one
from tests.tagging import naive
from tests.tagging.corpora import data_blocks

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0")
COMMON = st.sampled_from("aAbBzZéÉßİıſ09²?.-_,'жЖאة中🙂\u0301")
WORDS = st.text(LETTERS | COMMON, min_size=1, max_size=12) | st.text(COMMON, min_size=60, max_size=70)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=4)


@settings(deadline=None, max_examples=150)
@given(SENTENCES)
@example([["THE", "END", "IS", "NEAR", "?"], ["A", "Tale", "Of", "two"], ["no", "?", "Yes"], ["?" * 80]])
def test_spelling(sentences: list[list[str]]) -> None:
    block = naive.block_of(sentences)
    spelled, keys, capitals = spell(block.data, block.starts, block.stops, block.words, ALPHABET, NO_CLUSTERS)
    words = [word for sentence in sentences for word in sentence]
    names = [naive.spelling(word) for word in words]
    for attribute in range(SHAPE + 1):
        column = [name[attribute] for name in names]
        assert_one_to_one([None, *column], [0, *spelled[:, attribute].tolist()])
    assert_one_to_one([naive.lower(naive.seen(word)) for word in words], keys.tolist())
    assert keys.all()
    assert capitals.tolist() == [naive.kind(naive.seen(word)[0]) == "upper" for word in words]
    assert spelled[:, STYLE].tolist() == [naive.style(words) for words in sentences for _ in words]
    assert not spelled[:, [CLASS, CASE]].any()


def test_spelling_of_a_treebank() -> None:
    for block in data_blocks("train.conllu"):
        spelled, *_ = spell(block.data, block.starts, block.stops, block.words, ALPHABET, NO_CLUSTERS)
        names = [naive.spelling(word) for words in naive.forms(block) for word in words]
        for attribute in range(SHAPE + 1):
            assert_one_to_one([name[attribute] for name in names], spelled[:, attribute].tolist())
        styles = [naive.style(words) for words in naive.forms(block) for _ in words]
        assert spelled[:, STYLE].tolist() == styles


@settings(deadline=None, max_examples=100)
@given(st.text(LETTERS, max_size=30), st.integers(1, 40))
def test_letters(text: str, room: int) -> None:
    data = np.frombuffer(bytearray(text.encode()), np.uint8)
    letters = np.empty(room, np.int32)
    count = letters_of(data, 0, len(data), letters)
    assert "".join(map(chr, letters[:count])) == text[-room:]


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=30))
def test_bytes_that_are_no_text_are_harmless(data: bytes) -> None:
    array = np.frombuffer(bytearray(data), np.uint8)
    assert 0 <= letters_of(array, 0, len(array), np.empty(8, np.int32)) <= 8
