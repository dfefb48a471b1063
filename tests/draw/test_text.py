from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arcwise.draw.text import mostly_right_to_left, shown, visible
from tests.draw.strategies import sentence_of


@given(st.text())
def test_nothing_is_hidden(text):
    seen = visible(text)
    assert not set(seen) & set("\x00\x1b\x7f\x9b\u200e\u202e\u2028\u2066\ufeff\ufffe\uffff\n")
    assert visible(seen) == seen


def test_what_belongs_to_words_stays():
    for word in ("naïve", "می‌خواهم", "👩‍👩‍👧", "e\u0301", "a b", "क्षेत्र"):
        assert visible(word) == word


def test_unknown_tags_and_labels_are_not_shown():
    assert shown(sentence_of([0], forms=["_"], labels=["_"])) == (["", "_"], ["", ""], ["", ""])


def test_direction():
    assert mostly_right_to_left(["", "שלום", "world"]) is False
    assert mostly_right_to_left(["", "سلام", "عليكم", "OK", "!", "12"]) is True
    assert mostly_right_to_left([]) is False
