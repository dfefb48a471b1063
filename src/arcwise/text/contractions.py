"""Tokens that are several words: don't = do n't, French du = de le. Learned as a list of decisions on endings and whole forms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.text.characters import characters
from arcwise.text.hashing import EMPTY, mix

_LONGEST_ENDING = 8
_WHOLE = _LONGEST_ENDING + 1
_NONE = -1
_BEGINNING = 255  # as the begin of a piece: that of the token
_MOST_WORDS = 16  # of one token
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


def contractions(arrays: dict[str, NDArray[Any]]) -> Contractions:
    """The stored arrays as kernels read them, everything checked: ValueError if anything is out of place."""
    keys, values, offsets, pieces, places, text = (
        _checked(arrays, name, kind, dimensions)
        for name, kind, dimensions in (
            ("contraction_keys", np.uint32, 1),
            ("contraction_values", np.int16, 1),
            ("contraction_offsets", np.int32, 1),
            ("contraction_pieces", np.uint8, 2),
            ("contraction_places", np.int32, 2),
            ("contraction_text", np.int32, 1),
        )
    )
    if places.shape != pieces.shape or pieces.shape[1:] != (2,):
        raise ValueError("contraction_places: not two numbers for each word")
    rules = len(offsets) - 1
    sizes = np.diff(offsets)
    if (
        rules < 0
        or offsets[0] != 0
        or offsets[-1] != len(pieces)
        or (rules and (sizes.min() < 2 or sizes.max() > _MOST_WORDS))
    ):
        raise ValueError(f"contraction_offsets: not {len(pieces)} words, from 2 to {_MOST_WORDS} each")
    if len(keys) != len(values) or (len(keys) and (np.any(np.diff(keys.astype(np.int64)) <= 0))):
        raise ValueError("contraction_keys: not ascending, or not as many as values")
    if len(values) and (values.min() < _NONE or values.max() >= rules):
        raise ValueError(f"contraction_values: not from -1 to {rules - 1}")
    if len(places) and (places.min() < 0 or places.max() > len(text) or np.any(places[:, 0] > places[:, 1])):
        raise ValueError("contraction_places: not within contraction_text")
    if len(places) and int(np.max(places[:, 1] - places[:, 0])) > 1000:
        raise ValueError("contraction_places: a word of more than 1000 characters")
    decoded = [
        chr(code) if 32 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "" for code in text.tolist()
    ]
    if any(not character or character.isspace() for character in decoded):
        raise ValueError("contraction_text: not characters of words")
    upper = np.array([ord(c.upper()) if len(c.upper()) == 1 else ord(c) for c in decoded], np.int32)
    shortest = np.zeros(rules, np.int32)
    for rule in range(rules):
        for k in range(offsets[rule], offsets[rule + 1]):
            begin, end = (int(x) for x in pieces[k])
            empty = places[k, 0] == places[k, 1]
            if (k == offsets[rule]) != (begin == _BEGINNING) or (
                begin != _BEGINNING and begin < end + int(empty)
            ):
                raise ValueError(f"contraction_pieces: row {k} is no part of a token")
            shortest[rule] = max(shortest[rule], end + int(empty) if begin == _BEGINNING else begin)
    return Contractions(
        keys,
        values.astype(np.int32),
        offsets,
        np.column_stack([pieces.astype(np.int32), places]).astype(np.int32).reshape(-1, 4),
        text,
        upper,
        shortest,
    )


def _checked(arrays: dict[str, NDArray[Any]], name: str, kind: type, dimensions: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != kind or array.ndim != dimensions:
        raise ValueError(f"{name}: not a {dimensions}-dimensional array of {np.dtype(kind)}")
    return np.ascontiguousarray(array)


Rule = tuple[tuple[int, int, str], ...]


def learn_contractions(tokens: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, NDArray[Any]]:
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


def _packed(endings: dict[str, Rule], forms: dict[str, Rule]) -> dict[str, NDArray[Any]]:
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
