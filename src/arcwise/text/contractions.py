"""Tokens that are several words: don't = do n't, French du = de le. Learned as a list of decisions on endings and whole forms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, are_letters
from arcwise.errors import InputError
from arcwise.kernels import kernel
from arcwise.text.characters import characters
from arcwise.text.hashing import EMPTY, mix

_LONGEST_ENDING = 8
_WHOLE = _LONGEST_ENDING + 1
_NONE = -1
_BEGINNING = 255  # as the begin of a piece: that of the token
_MOST_WORDS = 16  # of one token
_LONGEST_TEXT = 1000  # characters of one of them
# Pieces: a word is token[length - begin : length - end], then text[start : stop].
_BEGIN, _END, _START, _STOP = range(4)


class Contractions(NamedTuple):
    """What kernels read. keys: uint32, ascending, hashes of endings and of whole forms; values: int32, the rule of each or -1.

    offsets, pieces: the words of rule r are the rows offsets[r] .. offsets[r + 1] of pieces, int32 (words, 4). text, upper: int32
    code points, in lower and in upper case. shortest: int32, the length a token must have at least for each rule.
    """

    keys: NDArray[np.uint32]
    values: NDArray[np.int32]
    offsets: NDArray[np.int32]
    pieces: NDArray[np.int32]
    text: NDArray[np.int32]
    upper: NDArray[np.int32]
    shortest: NDArray[np.int32]


@kernel
def _ending_keys(folded: NDArray[np.int32], start: int, stop: int, keys: NDArray[np.uint32]) -> int:
    """keys[k]: the hash of the ending of k characters, keys[_WHOLE]: that of the whole form; how many endings there are."""
    x = EMPTY
    most = min(stop - start - 1, _LONGEST_ENDING)
    for i in range(stop - start):
        x = mix(x, folded[stop - 1 - i])
        if i < most:
            keys[i + 1] = x
    keys[_WHOLE] = np.uint32(~x)
    return most


@kernel
def find_contractions(
    folded: NDArray[np.int32], starts: NDArray[np.int64], stops: NDArray[np.int64], rules: Contractions
) -> NDArray[np.int32]:
    """The rule that splits each token, or -1: that of its whole form, else that of its longest ending that has one. O(characters)."""
    found = np.full(len(starts), _NONE, np.int32)
    keys = np.zeros(_WHOLE + 1, np.uint32)
    if len(rules.keys) == 0:
        return found
    for t in range(len(starts)):
        most = _ending_keys(folded, starts[t], stops[t], keys)
        for k in range(_WHOLE, 0, -1):
            if most < k < _WHOLE:
                continue
            at, last = 0, len(rules.keys) - 1
            while at < last:
                middle = (at + last) // 2
                if rules.keys[middle] < keys[k]:
                    at = middle + 1
                else:
                    last = middle
            if rules.keys[at] == keys[k]:
                rule = rules.values[at]
                if rule < 0 or stops[t] - starts[t] >= rules.shortest[rule]:
                    found[t] = rule
                    break
    return found


def contractions(arrays: Arrays) -> Contractions:
    """The rules of stored arrays, which have been checked against CONTRACTION_FORMAT; InputError if their pieces are no parts of a
    token.
    """
    keys, values, offsets, pieces, places, text = (arrays[name].copy() for name in CONTRACTION_FORMAT)
    rules, lengths = len(offsets) - 1, places[:, 1] - places[:, 0]
    if not ((lengths >= 0) & (lengths <= _LONGEST_TEXT)).all():
        raise InputError(
            "a word of a contraction without an end", expected=f"at most {_LONGEST_TEXT} letters"
        )
    begin, end = pieces[:, 0].astype(np.int32), pieces[:, 1].astype(np.int32) + (lengths == 0)
    first = np.zeros(len(pieces), np.bool_)
    first[offsets[:-1]] = True
    if ((begin == _BEGINNING) != first).any() or (~first & (begin < end)).any():
        raise InputError(
            "a word of a contraction", expected="a part of the token, the first from its beginning"
        )
    shortest = np.zeros(rules, np.int32)
    if rules:
        shortest[:] = np.maximum.reduceat(np.where(first, end, begin), offsets[:-1])
    # Once for each of the letters, of which there are few.
    known, which = np.unique(text, return_inverse=True)
    upper = np.array(
        [ord(big) if len(big := chr(code).upper()) == 1 else code for code in known.tolist()], np.int32
    )
    return Contractions(
        keys,
        values.astype(np.int32),
        offsets,
        np.column_stack([pieces.astype(np.int32), places]).astype(np.int32).reshape(-1, 4),
        text,
        upper[which],
        shortest,
    )


def _can_stand_in_a_word(codes: NDArray[np.int32]) -> bool:
    known = np.unique(codes)
    return are_letters(known) and not any(chr(code).isspace() for code in known.tolist())


# What a tokeniser stores of contractions.
CONTRACTION_FORMAT = {
    "contraction_keys": Array(np.uint32, ("endings",), rising=True),
    "contraction_values": Array(np.int16, ("endings",), least=_NONE, below="rules"),
    "contraction_offsets": Array(np.int32, ("rules+1",), starts="words", steps=(2, _MOST_WORDS)),
    "contraction_pieces": Array(np.uint8, ("words", 2)),
    "contraction_places": Array(np.int32, ("words", 2), below="letters+1"),
    "contraction_text": Array(
        np.int32, ("letters",), least=33, holds=_can_stand_in_a_word, meaning="letters of words"
    ),
}

Rule = tuple[tuple[int, int, str], ...]


def learn_contractions(tokens: Iterable[tuple[str, tuple[str, ...]]]) -> Arrays:
    """The arrays that `contractions` reads, from tokens with their words (none if the token is one word). O(characters).

    A form is split as it is most often; an ending, as most of the forms that have it (two at least). Kept is only what the
    shorter endings do not say already.
    """
    seen: dict[str, Counter[Rule]] = defaultdict(Counter)
    single: Counter[str] = Counter()
    for form, words in tokens:
        if words:
            rule = _rule(form, words)
            if rule:
                seen[_folded(form)][rule] += 1
        else:
            single[form] += 1
    whole: Counter[str] = Counter()
    for form, count in single.items():
        whole[_folded(form)] += count
    decisions: dict[str, Rule] = dict.fromkeys(whole, ())
    for form, counts in seen.items():
        rule, count = max(counts.items(), key=lambda item: (item[1], item[0]))
        decisions[form] = rule if count > whole[form] else ()
    endings: dict[str, Counter[Rule]] = defaultdict(Counter)
    for form, rule in decisions.items():
        for k in range(1, min(len(form) - 1, _LONGEST_ENDING) + 1):
            endings[form[-k:]][rule] += 1
    kept: dict[str, Rule] = {}
    for ending in sorted(endings, key=lambda ending: (len(ending), ending)):
        rule, count = max(endings[ending].items(), key=lambda item: (item[1], item[0]))
        if count >= 2 and 2 * count > endings[ending].total() and rule != _inherited(kept, ending):
            kept[ending] = rule
    exceptions = {}
    for form, rule in decisions.items():
        inherited = _inherited(kept, form)
        # That a form was left whole once, against the rule of its ending, may be a slip.
        if rule != inherited and (rule or whole[form] > 1):
            exceptions[form] = rule
    return _packed(kept, exceptions)


def _inherited(kept: dict[str, Rule], form: str) -> Rule:
    """What the proper endings of a form say."""
    for k in range(min(len(form) - 1, _LONGEST_ENDING), 0, -1):
        if form[-k:] in kept:
            return kept[form[-k:]]
    return ()


def _folded(form: str) -> str:
    codes = np.frombuffer(form.encode("utf-32-le"), np.int32)
    return "".join(map(chr, characters(codes).folded[codes].tolist()))


def _rule(form: str, words: tuple[str, ...]) -> Rule:
    """How the token becomes its words: by cuts if they are its parts, else by its beginning and new words."""
    folded = _folded(form)
    length = len(form)
    if (
        not 2 <= len(words) <= _MOST_WORDS
        or length >= _BEGINNING
        or any(not w or any(map(str.isspace, w)) for w in words)
    ):
        return ()
    pieces: list[tuple[int, int, str]] = []
    if folded == "".join(map(_folded, words)):
        begin = length
        for word in words:
            pieces.append((begin if pieces else _BEGINNING, begin - len(word), ""))
            begin -= len(word)
        return tuple(pieces)
    first, *others = (word.lower() for word in words) if form != form.lower() else words
    same = 0
    while same < min(length, len(first)) and folded[same] == _folded(first[same]):
        same += 1
    return ((_BEGINNING, length - same, first[same:]), *((0, 0, word) for word in others))


def _packed(endings: dict[str, Rule], forms: dict[str, Rule]) -> Arrays:
    rules = sorted({rule for rule in (*endings.values(), *forms.values()) if rule})
    numbers = {rule: number for number, rule in enumerate(rules)} | {(): _NONE}
    keys: dict[int, int] = {}
    found = np.zeros(_WHOLE + 1, np.uint32)
    for table, is_whole in ((endings, False), (forms, True)):
        for form, rule in table.items():
            codes = np.array([*([] if is_whole else [32]), *map(ord, form)], np.int32)
            _ending_keys(codes, 0, len(codes), found)
            keys[int(found[_WHOLE if is_whole else len(form)])] = numbers[rule]
    ordered = sorted(keys)
    pieces = [piece for rule in rules for piece in rule]
    places = np.cumsum([0, *(len(text) for _, _, text in pieces)])
    return {
        "contraction_keys": np.array(ordered, np.uint32),
        "contraction_values": np.array([keys[key] for key in ordered], np.int16),
        "contraction_offsets": np.cumsum([0, *map(len, rules)]).astype(np.int32),
        "contraction_pieces": np.array([piece[:2] for piece in pieces], np.uint8).reshape(-1, 2),
        "contraction_places": np.column_stack([places[:-1], places[1:]]).astype(np.int32),
        "contraction_text": np.array([ord(c) for _, _, text in pieces for c in text], np.int32),
    }
