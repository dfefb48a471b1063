"""Constraints as people write them: lines of a file, and keys in the column MISC.

    # one subject and one object at each head, in all sentences
    at-most-one nsubj,csubj
    at-most-one obj,ccomp
    @weblog-12 subtree 3-7        # only in the sentence with this sent_id
    @4 arc 2 5                    # only in the fourth sentence

A selector that is a number means the position in the input, from 1, but for sentences whose own sent_id is a number: those have
only that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from arcwise.constraints.kinds import (
    Arc,
    AtMostOne,
    Constraint,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
)
from arcwise.errors import InputError
from arcwise.treebank.sources import Source

_USAGE = {
    "arc": "arc HEAD WORD",
    "no-arc": "no-arc HEAD WORD",
    "root": "root WORD",
    "leaf": "leaf WORD",
    "subtree": "subtree FIRST-LAST",
    "together": "together FIRST-LAST",
    "head-inside": "head-inside WORD(S) FIRST-LAST",
    "head-outside": "head-outside WORD(S) FIRST-LAST",
    "at-most-one": "at-most-one LABEL,... [head=HEAD]",
    "labels": "labels LABEL,... [word=WORD] [head=HEAD] [tag=TAG] [head-tag=TAG]",
    "no-labels": "no-labels LABEL,... [word=WORD] [head=HEAD] [tag=TAG] [head-tag=TAG]",
}
_COMMENT = re.compile(r"(^|\s)#.*")  # a tag may be '#'
_SPAN = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_LARGEST = 9  # digits of a number


def parse_constraint(text: str) -> Constraint:
    """The constraint that a line stands for: the other way round of `str()`. InputError if it stands for none.

    >>> parse_constraint("labels nsubj,obj word=3 head-tag=VERB")
    Labels(labels=('nsubj', 'obj'), allowed=True, word=3, head=None, tag=None, head_tag='VERB')
    """
    words = text.split()
    kind = words[0].lower() if words else ""
    try:
        match [kind, *words[1:]]:
            case ["arc", head, word]:
                return Arc(_number(head), _number(word))
            case ["no-arc", head, word]:
                return NoArc(_number(head), _number(word))
            case ["root", word]:
                return Root(_number(word))
            case ["leaf", word]:
                return Leaf(_number(word))
            case ["subtree", span]:
                return Subtree(*_span(span))
            case ["together", span]:
                return Together(*_span(span))
            case ["head-inside", word, span]:
                return HeadInside(_span(word), *_span(span))
            case ["head-outside", word, span]:
                return HeadOutside(_span(word), *_span(span))
            case ["at-most-one", _, *_]:
                labels, options = _labels_and_options(words[1:], ("head",))
                return AtMostOne(labels, **options)
            case ["labels" | "no-labels", _, *_]:
                labels, options = _labels_and_options(words[1:], ("word", "head", "tag", "head_tag"))
                return Labels(labels, kind == "labels", **options)
    except _MalformedError:
        pass
    expected = repr(_USAGE[kind]) if kind in _USAGE else f"a constraint: {', '.join(_USAGE)}"
    raise InputError(f"'{text.strip()}'", expected=expected)


class ConstraintFile:
    """The constraints of a file, by sentence.

    >>> constraints = ConstraintFile(["leaf 2", "@7 root 1", "@s-1 arc 2 1  # sure"])
    >>> [str(constraint) for constraint in constraints.of(1, "s-1")]
    ['leaf 2', 'arc 2 1']
    >>> constraints.unmatched()
    ['@7 (line 2)']
    """

    def __init__(self, lines: Iterable[str], file: str | None = None) -> None:
        self.file = file
        self._everywhere: list[Constraint] = []
        self._selected: dict[str, list[Constraint]] = {}
        self._lines: dict[str, int] = {}  # where selectors occur first; those that matched are taken out
        for number, line in enumerate(lines, start=1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            try:
                self._add(text, number)
            except InputError as error:
                raise InputError(error.found, expected=error.expected, file=file, line=number) from None

    def _add(self, text: str, number: int) -> None:
        if not text.startswith("@"):
            self._everywhere.append(parse_constraint(text))
            return
        selector, *rest = text.split(maxsplit=1)
        if not rest or selector == "@":
            raise InputError(f"'{text}'", expected="'@SENTENCE CONSTRAINT'")
        self._selected.setdefault(selector[1:], []).append(parse_constraint(rest[0]))
        self._lines.setdefault(selector[1:], number)

    def of(self, number: int, sent_id: str | None) -> list[Constraint]:
        """What holds for a sentence: the number-th of the input, from 1, with this `sent_id`, if it has one."""
        names = [] if sent_id is None else [sent_id]
        if sent_id is None or not sent_id.isdecimal():
            names.append(str(number))
        found = [*self._everywhere]
        for name in names:
            if name in self._selected:
                found += self._selected[name]
                self._lines.pop(name, None)
        return found

    def unmatched(self) -> list[str]:
        """The selectors that no sentence answered to so far, with their lines."""
        return [f"@{selector} (line {line})" for selector, line in self._lines.items()]


def as_constraints(wishes: Any) -> list[Constraint]:
    """Constraints as they are, or lines of a file that say them.

    >>> [str(one) for one in as_constraints(["leaf 2", Arc(0, 1)])]
    ['leaf 2', 'arc 0 1']
    """
    if isinstance(wishes, str | Constraint):
        wishes = [wishes]
    try:
        each = list(wishes)
    except TypeError:
        raise InputError(f"constraints is {wishes!r}", expected="a list of constraints") from None
    for one in each:
        if not isinstance(one, str | Constraint):
            raise InputError(
                f"constraint {one!r}", expected="one of arcwise.constraints, or a line that says it"
            )
    return [parse_constraint(one) if isinstance(one, str) else one for one in each]


def read_constraints(path: str | Path) -> ConstraintFile:
    """The constraints of a text file, one a line. InputError, with file and line, for what is none."""
    try:
        with Path(path).open("rb") as file:
            text = Source(file).content().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", expected="a text file", file=str(path)) from None
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InputError(f"cannot read it: {reason}", file=str(path)) from None
    return ConstraintFile(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), str(path))


def from_misc(word: int, misc: str) -> list[Constraint]:
    """What the column MISC of a word asks of it; keys other than these are left alone.

    Root=Yes, Leaf=Yes; Subtree=3-7: the word and all that is below it are this span; HeadInside=3-7, HeadOutside=3-7, NoHead=2,5:
    where its head lies; Labels=nsubj,obj, NoLabels=det: what its own label is; AtMostOne=nsubj,csubj: how many such words depend
    on it. Other values of Root and Leaf than Yes are left alone, too: some treebanks keep the roots of Semitic words there.

    >>> [str(constraint) for constraint in from_misc(5, "SpaceAfter=No|Subtree=3-7|NoHead=2")]
    ['subtree 3-7', 'head-outside 5 3-7', 'no-arc 2 5']
    """
    found: list[Constraint] = []
    for item in misc.split("|"):
        key, _, value = item.partition("=")
        if key not in KEYS:
            continue
        try:
            found += _of_key(key, value, word)
        except (_MalformedError, InputError):
            raise InputError(f"{item} in MISC", expected=KEYS[key], token=str(word)) from None
    return found


# The keys of MISC that say something of a word, and what they look like.
KEYS = {
    "Root": "Root=Yes",
    "Leaf": "Leaf=Yes",
    "Subtree": "Subtree=FIRST-LAST, a span that holds the word",
    "HeadInside": "HeadInside=FIRST-LAST",
    "HeadOutside": "HeadOutside=FIRST-LAST",
    "NoHead": "NoHead=HEAD,... with other heads than the word itself",
    "Labels": "Labels=LABEL,...",
    "NoLabels": "NoLabels=LABEL,...",
    "AtMostOne": "AtMostOne=LABEL,...",
}


def _of_key(key: str, value: str, word: int) -> list[Constraint]:
    match key:
        case "Root":
            return [Root(word)] if value == "Yes" else []
        case "Leaf":
            return [Leaf(word)] if value == "Yes" else []
        case "Subtree":
            first, last = _span(value)
            if not first <= word <= last:
                raise _MalformedError
            return [Subtree(first, last), HeadOutside(word, first, last)]
        case "HeadInside":
            return [HeadInside(word, *_span(value))]
        case "HeadOutside":
            return [HeadOutside(word, *_span(value))]
        case "NoHead":
            return [NoArc(_number(head), word) for head in value.split(",")]
        case "AtMostOne":
            return [AtMostOne(value.split(","), head=word)]
    return [Labels(value.split(","), key == "Labels", word=word)]


class _MalformedError(ValueError):
    """A number, a span or an option that is none."""


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _LARGEST):
        raise _MalformedError
    return int(text)


def _span(text: str) -> tuple[int, int]:
    parts = _SPAN.fullmatch(text)
    if parts is None:
        raise _MalformedError
    return _number(parts[1]), _number(parts[2] or parts[1])


def _labels_and_options(texts: list[str], names: tuple[str, ...]) -> tuple[list[str], dict[str, Any]]:
    """Labels, with commas or spaces between them, and options of these names among them."""
    labels: list[str] = []
    options: dict[str, Any] = {}
    for text in texts:
        name, is_option, value = text.partition("=")
        name = name.replace("-", "_")
        if not is_option:
            labels += text.split(",")
        elif name in names and name not in options:
            options[name] = value if name.endswith("tag") else _number(value)
        else:
            raise _MalformedError
    return labels, options
