"""Words of two tokenisations of one text, aligned by their characters."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.columns import Columns
from arcwise.evaluation.score import Score
from arcwise.kernels import inline_kernel, kernel

_SHOWN = 20  # characters of the texts in a message


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Which system word is which gold word.

    gold, system: the aligned pairs of word numbers, both increasing. to_gold: for every system word its gold
    word, or -1. home: for every system word the gold sentence in whose text it begins. tokens, sentences: how
    many of either the files have in common, as stretches of text.
    """

    gold: NDArray[np.int64]
    system: NDArray[np.int64]
    to_gold: NDArray[np.int64]
    home: NDArray[np.int64]
    tokens: Score
    sentences: Score


@dataclass(frozen=True, slots=True, eq=False)
class _Spans:
    """The stretch of text of every word; the words of a range share its stretch. Spaces do not count.

    is_token: whether a token begins with the word; of a range, with its first word. token_forms: the form of
    that token.
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    in_range: NDArray[np.bool_]
    is_token: NDArray[np.bool_]
    token_forms: NDArray[np.int32]


def align(gold: Columns, system: Columns) -> Alignment:
    """The words that two files over the same text have in common, as the CoNLL 2018 shared task defines them.

    A word outside ranges matches a word that covers the same characters. Where a range of either file covers
    some text, the words of both files in the smallest stretch that cuts no range are matched by their
    lower-cased forms, as a longest common subsequence. Files with identical words and ranges are matched one
    to one in O(W).

    Otherwise O(W + sum of a * b) time and the largest a * b memory over stretches of a gold and b system
    words.

    Zeman et al., 2018: CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies.

    Raises InputError if the texts differ in more than spaces, naming the first place where they do.

    >>> from arcwise import Sentence
    >>> from arcwise.evaluation.columns import Strings, read_columns
    >>> strings, words = Strings(), (["They", "can", "not", "go"], ["They", "cannot", "go"])
    >>> gold, system = (read_columns([Sentence.from_words(forms)], strings) for forms in words)
    >>> alignment = align(gold, system)
    >>> alignment.gold.tolist(), alignment.system.tolist(), alignment.to_gold.tolist()
    ([0, 3], [0, 2], [0, -1, 3])
    """
    if np.array_equal(gold.forms, system.forms) and np.array_equal(gold.ranges, system.ranges):
        words = np.arange(len(gold))
        tokens = len(gold) - int(np.diff(gold.ranges[:, :2]).sum()) + len(gold.ranges)
        home = np.searchsorted(gold.starts, words, side="right") - 1
        sentences = _common(gold.starts[:-1], gold.starts[1:], system.starts[:-1], system.starts[1:])
        return Alignment(words, words, words, home, Score(tokens, tokens, tokens), sentences)

    gold_spans, system_spans = _spans(gold), _spans(system)
    _check_same_text(gold, gold_spans, system, system_spans)
    gold_words, system_words = _align(
        gold_spans.start,
        gold_spans.stop,
        gold_spans.in_range,
        _comparable_forms(gold, gold_spans),
        system_spans.start,
        system_spans.stop,
        system_spans.in_range,
        _comparable_forms(system, system_spans),
    )
    to_gold = np.full(len(system), -1)
    to_gold[system_words] = gold_words
    gold_bounds = gold_spans.start[gold.starts[:-1]], gold_spans.stop[gold.starts[1:] - 1]
    system_bounds = system_spans.start[system.starts[:-1]], system_spans.stop[system.starts[1:] - 1]
    return Alignment(
        gold=gold_words,
        system=system_words,
        to_gold=to_gold,
        home=np.searchsorted(gold_bounds[0], system_spans.start, side="right") - 1,
        tokens=_common(
            gold_spans.start[gold_spans.is_token],
            gold_spans.stop[gold_spans.is_token],
            system_spans.start[system_spans.is_token],
            system_spans.stop[system_spans.is_token],
        ),
        sentences=_common(*gold_bounds, *system_bounds),
    )


def _without_spaces(form: str) -> str:
    return form if form.isascii() and " " not in form else "".join(c for c in form if category(c) != "Zs")


def _spans(columns: Columns) -> _Spans:
    in_range = np.zeros(len(columns), dtype=np.bool_)
    anchor = np.arange(len(columns))  # the first word of a word's token
    token_forms = columns.forms.copy()
    for first, stop, form in columns.ranges.tolist():
        in_range[first:stop] = True
        anchor[first:stop] = first
        token_forms[first] = form
    is_token = anchor == np.arange(len(columns))
    width = np.zeros(len(columns), dtype=np.int64)
    width[is_token] = columns.strings.each(token_forms[is_token], lambda form: len(_without_spaces(form)))
    stop = np.cumsum(width)[anchor]
    return _Spans(stop - width[anchor], stop, in_range, is_token, token_forms)


def _comparable_forms(columns: Columns, spans: _Spans) -> NDArray[np.int32]:
    """Numbers that are equal where two forms inside a stretch with ranges count as the same."""
    number = columns.strings.number
    as_token = columns.strings.each(columns.forms, lambda form: number(_without_spaces(form).lower()))
    in_range = columns.strings.each(columns.forms, lambda form: number(form.lower()))
    return np.where(spans.in_range, in_range, as_token)


def _common(
    gold_start: NDArray[np.int64],
    gold_stop: NDArray[np.int64],
    system_start: NDArray[np.int64],
    system_stop: NDArray[np.int64],
) -> Score:
    """The stretches in both lists; within a list they do not overlap."""
    size = 1 + max(gold_stop.max(initial=0), system_stop.max(initial=0))
    common = np.intersect1d(gold_start * size + gold_stop, system_start * size + system_stop)
    return Score(correct=len(common), gold=len(gold_start), system=len(system_start))


def _check_same_text(gold: Columns, gold_spans: _Spans, system: Columns, system_spans: _Spans) -> None:
    def text(columns: Columns, spans: _Spans) -> str:
        names = columns.strings.names()
        forms = spans.token_forms[spans.is_token].tolist()
        visible = {form: _without_spaces(names[form]) for form in set(forms)}
        return "".join([visible[form] for form in forms])

    gold_text, system_text = text(gold, gold_spans), text(system, system_spans)
    if gold_text == system_text:
        return
    place = next(
        (i for i, (a, b) in enumerate(zip(gold_text, system_text, strict=False)) if a != b),
        min(len(gold_text), len(system_text)),
    )

    def at_place(columns: Columns, spans: _Spans, text: str) -> tuple[int, str]:
        """The word there, or the last one, and the text from its start on."""
        word = min(int(np.searchsorted(spans.stop, place, side="right")), len(columns) - 1)
        text = text[int(spans.start[word]) :]
        return word, repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")

    gold_word, gold_seen = at_place(gold, gold_spans, gold_text)
    system_word, system_seen = at_place(system, system_spans, system_text)
    raise system.error(
        system_word,
        f"the text goes on with {system_seen}",
        expected=f"{gold_seen} as in {gold.place(gold_word)}: both files must hold the same characters",
    )


@inline_kernel
def _is_beyond(
    word: int, start: NDArray[np.int64], stop: NDArray[np.int64], in_range: NDArray[np.bool_], end: int
) -> bool:
    """Whether the stretch that stops at `end` holds no more of the file's words."""
    if word >= len(start):
        return True
    return bool(start[word] >= end) if in_range[word] else bool(stop[word] > end)


@kernel
def _align(
    gold_start: NDArray[np.int64],
    gold_stop: NDArray[np.int64],
    gold_in_range: NDArray[np.bool_],
    gold_form: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    in_range: NDArray[np.bool_],
    form: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The aligned words of two files, in order."""
    size = min(len(gold_start), len(start))
    gold_words, words = np.empty(size, np.int64), np.empty(size, np.int64)
    aligned = g = s = 0
    while g < len(gold_start) and s < len(start):
        if not (gold_in_range[g] or in_range[s]):
            if gold_start[g] == start[s] and gold_stop[g] == stop[s]:
                gold_words[aligned], words[aligned] = g, s
                aligned, g, s = aligned + 1, g + 1, s + 1
            elif gold_start[g] <= start[s]:
                g += 1
            else:
                s += 1
            continue

        # A stretch with ranges. A token that sticks out of it to the left is not part of it.
        if gold_in_range[g]:
            end = gold_stop[g]
            if not in_range[s] and start[s] < gold_start[g]:
                s += 1
        else:
            end = stop[s]
            if gold_start[g] < start[s]:
                g += 1
        first_g, first_s = g, s
        while not (
            _is_beyond(g, gold_start, gold_stop, gold_in_range, end)
            and _is_beyond(s, start, stop, in_range, end)
        ):
            if g < len(gold_start) and (s >= len(start) or gold_start[g] <= start[s]):
                if gold_in_range[g]:
                    end = max(end, gold_stop[g])
                g += 1
            else:
                if in_range[s]:
                    end = max(end, stop[s])
                s += 1

        # common[i, j]: the longest common subsequence of the stretch's words from the i-th gold and j-th
        # system word on.
        common = np.zeros((g - first_g + 1, s - first_s + 1), np.int32)
        for i in range(g - first_g - 1, -1, -1):
            for j in range(s - first_s - 1, -1, -1):
                common[i, j] = max(common[i + 1, j], common[i, j + 1])
                if gold_form[first_g + i] == form[first_s + j]:
                    common[i, j] = max(common[i, j], 1 + common[i + 1, j + 1])
        i = j = 0
        while first_g + i < g and first_s + j < s:
            if gold_form[first_g + i] == form[first_s + j]:
                gold_words[aligned], words[aligned] = first_g + i, first_s + j
                aligned, i, j = aligned + 1, i + 1, j + 1
            elif common[i, j] == common[i + 1, j]:
                i += 1
            else:
                j += 1
    return gold_words[:aligned], words[:aligned]
