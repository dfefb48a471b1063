"""Words as they may be shown: nothing invisible, nothing that moves the cursor, and which way they run."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcwise.treebank.sentence import Sentence

# Format characters that belong to words: the joiners of Persian, Indic scripts and emoji.
_JOINERS = "\u200c\u200d"
_UNFIT = "\ufffe\uffff"  # XML has no place for them
_DOTTED_CIRCLE = "\u25cc"


def shown(sentence: Sentence) -> tuple[list[str], list[str], list[str]]:
    """Words, tags and labels as they may be shown, entry 0 for the root; "" for a tag or label that is not known."""
    words = [visible(form) for form in sentence.forms]
    tags, labels = (
        ["" if text == "_" else visible(text) for text in column]
        for column in (sentence.upos, sentence.labels)
    )
    return words, tags, labels


def visible(text: str) -> str:
    r"""The text with control and format characters spelled out, and a dotted circle to carry an initial combining mark.

    >>> visible("a\x1b[1m\u202eb"), visible("\u0301")
    ('a\\x1b[1m\\u202eb', '◌́')
    """
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(
        character.encode("unicode_escape").decode() if _is_hidden(character) else character
        for character in text
    )
    return _DOTTED_CIRCLE + shown if unicodedata.category(shown[:1] or " ").startswith("M") else shown


def _is_hidden(character: str) -> bool:
    kind = unicodedata.category(character)
    return (kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS) or character in _UNFIT


def runs_right_to_left(text: str) -> bool:
    """Whether it has letters of a right-to-left script."""
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def mostly_right_to_left(texts: Iterable[str]) -> bool:
    """Whether most letters are of right-to-left scripts.

    >>> mostly_right_to_left(["שלום", "ABC"]), mostly_right_to_left(["42", "!"])
    (True, False)
    """
    balance = 0
    for text in texts:
        if not text.isascii():
            balance += sum(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
        balance -= sum(unicodedata.bidirectional(character) == "L" for character in text)
    return balance > 0
