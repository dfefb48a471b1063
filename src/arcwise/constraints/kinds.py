"""What people may ask of a tree: one small class for every kind of constraint.

Words are 1..n and 0 is the root; a span is its first and its last word. A label without a colon stands for its subtypes, too (`nsubj`
for `nsubj:pass`), one with a colon for itself alone. `str()` of a constraint is its line in a file (`arcwise.constraints.reading`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from operator import index
from typing import Any

from arcwise.errors import InputError

XPOS = "XPOS="  # before a tag: it is one of the column XPOS, not UPOS

# What the fields of constraints hold. They are checked by these names: see _USABLE below.
Head = int
Word = int
Words = int | tuple[int, int]  # a word, or each word of a span
Names = str | Iterable[str]  # made a tuple
Tag = str


@dataclass(frozen=True)
class Constraint:
    """What all kinds have in common: nonsense is refused where it is written, with InputError."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), str(field.type)
            usable, expected = _USABLE[kind.removesuffix(" | None")]
            try:
                if value is not None or not kind.endswith(" | None"):
                    object.__setattr__(self, field.name, usable(value))
            except (TypeError, ValueError):
                found = f"{field.name}={value!r} in {type(self).__name__}"
                raise InputError(found, expected=expected) from None
        head, word = getattr(self, "head", None), getattr(self, "word", None)
        if head is not None and head == word:
            raise InputError(f"word {word} is its own head in '{self}'", expected="another head")
        if getattr(self, "first", 0) > getattr(self, "last", 0):
            raise InputError(f"a span that ends before it begins in '{self}'", expected="first-last")


@dataclass(frozen=True)
class Arc(Constraint):
    """The head of `word` is `head`.

    >>> print(Arc(3, 5))
    arc 3 5
    """

    head: Head
    word: Word

    def __str__(self) -> str:
        return f"arc {self.head} {self.word}"


@dataclass(frozen=True)
class NoArc(Constraint):
    """The head of `word` is not `head`."""

    head: Head
    word: Word

    def __str__(self) -> str:
        return f"no-arc {self.head} {self.word}"


@dataclass(frozen=True)
class Root(Constraint):
    """The head of `word` is the root 0."""

    word: Word

    def __str__(self) -> str:
        return f"root {self.word}"


@dataclass(frozen=True)
class Leaf(Constraint):
    """No word has `word` as its head."""

    word: Word

    def __str__(self) -> str:
        return f"leaf {self.word}"


@dataclass(frozen=True)
class Subtree(Constraint):
    """The words of the span are one of them and everything below it: one arc enters the span, none leaves it."""

    first: Word
    last: Word

    def __str__(self) -> str:
        return f"subtree {_span(self)}"


@dataclass(frozen=True)
class Together(Constraint):
    """The words of the span hang together: all but one have their heads in it. Words outside may hang on any of them."""

    first: Word
    last: Word

    def __str__(self) -> str:
        return f"together {_span(self)}"


@dataclass(frozen=True)
class HeadInside(Constraint):
    """The head of `word`, or of each word of a span (first, last), lies in the span from `first` to `last`."""

    word: Words
    first: Word
    last: Word

    def __str__(self) -> str:
        return f"head-inside {_words(self.word)} {_span(self)}"


@dataclass(frozen=True)
class HeadOutside(Constraint):
    """The head of `word`, or of each word of a span (first, last), does not lie in the span; the root lies in no span.

    >>> print(HeadOutside((4, 6), 1, 7))
    head-outside 4-6 1-7
    """

    word: Words
    first: Word
    last: Word

    def __str__(self) -> str:
        return f"head-outside {_words(self.word)} {_span(self)}"


@dataclass(frozen=True)
class AtMostOne(Constraint):
    """Every head, or only `head`, has at most one dependent whose label is one of `labels`.

    >>> print(AtMostOne(["nsubj", "csubj"]))
    at-most-one nsubj,csubj
    """

    labels: Names
    head: Head | None = None

    def __str__(self) -> str:
        return f"at-most-one {','.join(self.labels)}{_options(self)}"


@dataclass(frozen=True)
class Labels(Constraint):
    """Arcs that match have one of `labels`, or none of them if `allowed` is false.

    An arc matches if it has the word, the head, the tag of the word and the tag of the head, as far as they are given. Tags are those
    of the column UPOS, or XPOS if written `XPOS=VBZ`. The root has no tag.

    >>> print(Labels(["det", "case"], allowed=False, tag="VERB", head=3))
    no-labels det,case head=3 tag=VERB
    """

    labels: Names
    allowed: bool = True
    word: Word | None = None
    head: Head | None = None
    tag: Tag | None = None
    head_tag: Tag | None = None

    def __str__(self) -> str:
        return f"{'' if self.allowed else 'no-'}labels {','.join(self.labels)}{_options(self)}"


def _span(constraint: Any) -> str:
    first, last = constraint.first, constraint.last
    return f"{first}" if first == last else f"{first}-{last}"


def _words(words: Words) -> str:
    return f"{words}" if isinstance(words, int) else f"{words[0]}-{words[1]}"


def _options(constraint: Any) -> str:
    names = ("word", "head", "tag", "head_tag")
    values = [(name.replace("_", "-"), getattr(constraint, name, None)) for name in names]
    return "".join(f" {name}={value}" for name, value in values if value is not None)


def _at_least(least: int) -> Callable[[Any], int]:
    def usable(value: Any) -> int:
        number = index(value)
        if number < least:
            raise ValueError
        return number

    return usable


_word = _at_least(1)


def _word_or_span(value: Any) -> Words:
    if not isinstance(value, tuple):
        return _word(value)
    first, last = map(_word, value)
    if first > last:
        raise ValueError
    return first if first == last else (first, last)


def _names(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if not names or not all(_is_plain(name) and "," not in name for name in names):
        raise ValueError
    return names


def _tag(value: Any) -> str:
    if not _is_plain(value) or value == XPOS:
        raise ValueError
    return str(value)


def _is_plain(text: Any) -> bool:
    return isinstance(text, str) and text.split() == [text]


# For each type of field how its value is made usable, and how to say what it should be.
_USABLE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "Head": (_at_least(0), "0 or a word, 1 or more"),
    "Word": (_word, "a word, 1 or more"),
    "Words": (_word_or_span, "a word, 1 or more, or (first, last)"),
    "Names": (_names, "one or more labels"),
    "Tag": (_tag, "a tag"),
    "bool": (bool, "True or False"),
}
