"""What constraints mean for one sentence, as arrays: arcs and labels that are barred, spans and groups that a search must respect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints.kinds import (
    XPOS,
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

Flags = NDArray[np.bool_]


class Compiled(NamedTuple):
    """What constraints ask of a tree of n words: it satisfies them if and only if it satisfies these.

    barred: (n+1, n+1), the arcs [h, m] it may not have, those of no tree (into 0, from a word to itself) among them.
    spans: int32 (s, 2), first and last words of spans that exactly one arc enters.
    barred_labels: (n+1, n+1, labels), the labels that the arc [h, m] may not have; None if none is barred. Where all are, the arc is.
    groups, group_heads: (g, labels) and int32 (g,): this head, or every head if -1, has at most one dependent of these labels.
    """

    barred: Flags
    spans: NDArray[np.int32]
    barred_labels: Flags | None
    groups: Flags
    group_heads: NDArray[np.int32]


def compile_constraints(
    constraints: Iterable[Constraint],
    n: int,
    *,
    labels: Sequence[str] | None = None,
    upos: Sequence[str] | None = None,
    xpos: Sequence[str] | None = None,
) -> Compiled:
    """What the constraints mean for a sentence of n words. O(n^2) time and memory each, times the labels for `Labels`.

    labels: the names of the labels, None if trees have none. upos, xpos: the tags of the words 1..n. InputError, with the constraint,
    for words that are not there, labels that are unknown, tags that are not given. Constraints that contradict each other are no
    error here: no tree will be found.

    >>> compiled = compile_constraints([Arc(2, 1), Subtree(2, 3), AtMostOne("obj")], 3, labels=["det", "obj", "obj:x"])
    >>> np.argwhere(~compiled.barred).tolist(), compiled.spans.tolist()
    ([[0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [3, 2]], [[2, 3]])
    >>> compiled.groups, compiled.group_heads
    (array([[False,  True,  True]]), array([-1], dtype=int32))
    """
    barred = np.eye(n + 1, dtype=np.bool_)
    barred[:, 0] = True
    barred_labels: Flags | None = None
    names = None if labels is None else tuple(labels)
    spans: dict[tuple[int, int], None] = {}
    groups: list[Flags] = []
    group_heads: list[int] = []
    for constraint in constraints:
        _check_words(constraint, n)
        match constraint:
            case Arc(head, word):
                barred[:head, word] = barred[head + 1 :, word] = True
            case NoArc(head, word):
                barred[head, word] = True
            case Root(word):
                barred[1:, word] = True
            case Leaf(word):
                barred[word] = True
            case Subtree(first, last):
                barred[first : last + 1, :first] = barred[first : last + 1, last + 1 :] = True
                spans[first, last] = None
            case Together(first, last):
                spans[first, last] = None
            case HeadInside(word, first, last):
                barred[:first, _slice(word)] = barred[last + 1 :, _slice(word)] = True
            case HeadOutside(word, first, last):
                barred[first : last + 1, _slice(word)] = True
            case AtMostOne(_, head):
                groups.append(_of_labels(constraint, names))
                group_heads.append(-1 if head is None else head)
            case Labels(_, allowed, word, head, tag, head_tag):
                chosen = _of_labels(constraint, names)
                if barred_labels is None:
                    barred_labels = np.zeros((n + 1, n + 1, len(chosen)), np.bool_)
                heads = _matching(constraint, n, head, head_tag, upos, xpos)
                words = _matching(constraint, n, word, tag, upos, xpos)
                barred_labels[np.ix_(heads, words)] |= ~chosen if allowed else chosen
    if barred_labels is not None:
        barred |= barred_labels.all(axis=2)
    return Compiled(
        barred,
        np.array([span for span in spans if span[0] < span[1]], np.int32).reshape(-1, 2),
        barred_labels,
        np.array(groups, np.bool_).reshape(len(groups), 0 if names is None else len(names)),
        np.array(group_heads, np.int32),
    )


def _check_words(constraint: Constraint, n: int) -> None:
    """That a sentence of n words has the words that the constraint speaks of."""
    if not isinstance(constraint, Constraint):
        raise InputError(f"{constraint!r}", expected="a constraint of arcwise.constraints")
    for field in ("head", "word", "last"):
        value = getattr(constraint, field, None)
        last = value[1] if isinstance(value, tuple) else value
        if last is not None and last > n:
            raise InputError(f"'{constraint}' in a sentence of {n} words", expected=f"words up to {n}")


def _slice(words: int | tuple[int, int]) -> slice:
    first, last = (words, words) if isinstance(words, int) else words
    return slice(first, last + 1)


def _matching(
    constraint: Labels,
    n: int,
    vertex: int | None,
    tag: str | None,
    upos: Sequence[str] | None,
    xpos: Sequence[str] | None,
) -> NDArray[np.intp]:
    """The vertices that one end of an arc may be, to match: the one given, those with the tag given, or all."""
    vertices: Any = range(n + 1) if vertex is None else [vertex]
    if tag is not None:
        tags = xpos if tag.startswith(XPOS) else upos
        if tags is None:
            raise InputError(f"'{constraint}' for a sentence without tags", expected="a sentence with tags")
        tag = tag.removeprefix(XPOS)
        vertices = [v for v in vertices if v > 0 and tags[v - 1] == tag]
    return np.array(vertices, np.intp)


def _of_labels(constraint: AtMostOne | Labels, names: tuple[str, ...] | None) -> Flags:
    """Which of the labels the constraint speaks of."""
    if names is None:
        raise InputError(f"'{constraint}' for trees without labels", expected="constraints on arcs only")
    chosen = np.zeros(len(names), np.bool_)
    for label in constraint.labels:
        covered = covers(label, names)
        if not covered.any():
            near = get_close_matches(label, names, n=3) or sorted(names)[:8]
            expected = f"labels of the model, such as {', '.join(near)}"
            raise InputError(f"unknown label {label} in '{constraint}'", expected=expected)
        chosen |= covered
    return chosen


@lru_cache(maxsize=1024)
def covers(label: str, names: tuple[str, ...]) -> Flags:
    """Which of the names a label stands for: itself, and its subtypes if it has no colon. One that ends in a colon has none.

    >>> names = ("obj", "obj:x", "objet")
    >>> [covers(label, names).tolist() for label in ("obj", "obj:x", "obj:")]
    [[True, True, False], [False, True, False], [True, False, False]]
    """
    covered = np.array([label in (name, name.partition(":")[0], f"{name}:") for name in names], np.bool_)
    covered.flags.writeable = False
    return covered
