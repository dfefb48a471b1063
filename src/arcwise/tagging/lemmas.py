"""Lemmas by suffix rules: the longest known suffix of a word, together with its fine tag, says how to make its lemma.

A rule takes letters off the end of the word and puts others there. It is learned for every suffix of every word of the treebank, the
empty one and the whole word included, and kept where it differs from that of the next shorter suffix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, are_letters
from arcwise.features.hash_table import FIRST_NUMBER, UNKNOWN, HashTable, find_key, hash_table
from arcwise.features.letters import ALPHABET, Alphabet, letters_of, lower_letters
from arcwise.kernels import kernel
from arcwise.treebank.block import FORM

LONGEST_SUFFIX = 8
_LEVELS = LONGEST_SUFFIX + 2  # the empty suffix, those of one letter to eight, the whole word
_LEAST = 2  # a suffix must be seen so often to have a rule; a whole word once
_LONGEST_WORD = 64  # letters; a word of so many or more is its own lemma
_LONGEST_RULE = 255
_LOWER, _AS_IT_IS, _CAPITALISED = range(3)
# How capitals are best explained: of an unknown word as they are; of a known one in the same way whether it has them or not.
_FOR_SUFFIXES, _FOR_WORDS = (_LOWER, _AS_IT_IS, _CAPITALISED), (_LOWER, _CAPITALISED, _AS_IT_IS)
_SEPARATORS = [0, 9, 10, 13]  # what no column may hold
_LOWER_TABLE = {code: int(lower) for code, lower in enumerate(ALPHABET.lower) if code != lower}
_UPPER_TABLE = {code: int(upper) for code, upper in enumerate(ALPHABET.upper) if code != upper}

# What a tagger stores of lemmas.
LEMMA_FORMAT = {
    "lemmas.keys": Array(np.uint64, ("suffixes",), least=1, rising=True),
    "lemmas.numbers": Array(np.uint16, ("suffixes",), below="rules"),
    "lemmas.cases": Array(np.uint8, ("rules",), most=_CAPITALISED),
    "lemmas.cut": Array(np.uint8, ("rules",)),
    "lemmas.letters": Array(
        np.int32, ("letters",), meaning="letters that a column can hold",
        holds=lambda letters: are_letters(letters) and not np.isin(letters, _SEPARATORS).any(),
    ),
    "lemmas.first": Array(np.int32, ("rules+1",), starts="letters", steps=(0, _LONGEST_RULE)),
}  # fmt: skip

Rule = tuple[int, int, str]


class Lemmas(NamedTuple):
    """Rules by suffix and tag. numbers: the rule of each known suffix. cases, cut: whether a rule begins with the word in lower case
    (0), as it is (1) or in lower case with a capital (2), and how many letters it takes off. letters, first: those that it adds.
    """

    suffixes: HashTable
    numbers: NDArray[np.uint16]
    cases: NDArray[np.uint8]
    cut: NDArray[np.uint8]
    letters: NDArray[np.int32]
    first: NDArray[np.int32]


def rule_of(form: str, lemma: str, preferred: tuple[int, ...] = _FOR_SUFFIXES) -> Rule:
    """The rule that makes `lemma` of `form` and keeps most of it; of several ways to treat capitals the one preferred.

    >>> rule_of("Babies", "baby"), rule_of("NATO", "NATO"), rule_of("i", "I"), rule_of("went", "go")
    ((0, 3, 'y'), (1, 0, ''), (2, 0, ''), (0, 4, 'go'))
    """
    low = form.translate(_LOWER_TABLE)
    starts = {_LOWER: low, _AS_IT_IS: form, _CAPITALISED: low[:1].translate(_UPPER_TABLE) + low[1:]}
    kept, _, case = max((_common(starts[case], lemma), -place, case) for place, case in enumerate(preferred))
    return case, len(form) - kept, lemma[kept:]


def _common(a: str, b: str) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


@kernel
def _suffix_keys(letters: NDArray[np.int32], count: int, fine: int, keys: NDArray[np.uint64]) -> int:
    """The keys of a lower-cased word's suffixes, the empty one first; then that of the whole word. Returns how many."""
    prime = np.uint64(0x100000001B3)
    x = (np.uint64(0xCBF29CE484222325) ^ np.uint64(fine)) * prime
    keys[0] = x | np.uint64(1)
    length = min(count, LONGEST_SUFFIX)
    for i in range(count):
        x = (x ^ np.uint64(letters[count - 1 - i])) * prime
        if i < length:
            keys[i + 1] = x | np.uint64(1)
    keys[length + 1] = ((x ^ np.uint64(0xFFFFFFFF)) * prime) | np.uint64(1)
    return length + 2


@kernel
def suffix_keys(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    fine: NDArray[np.uint32],
    alphabet: Alphabet,
) -> NDArray[np.uint64]:
    """The keys of all words, uint64 (words, levels): 0 at levels beyond the word's length, the whole word at the last."""
    keys = np.zeros((len(fine), _LEVELS), np.uint64)
    letters, own = np.empty(_LONGEST_WORD, np.int32), np.empty(_LEVELS, np.uint64)
    for word in range(len(fine)):
        count = letters_of(data, starts[word, FORM], stops[word, FORM], letters)
        lower_letters(letters, count, alphabet)
        found = _suffix_keys(letters, count, int(fine[word]), own)
        keys[word, : found - 1] = own[: found - 1]
        keys[word, -1] = own[found - 1]
    return keys


def learn_lemmas(keys: NDArray[np.uint64], forms: Sequence[str], lemmas: Sequence[str]) -> Arrays:
    """The arrays of the rules, as they are stored. O(words log words).

    keys: of `suffix_keys`.
    """
    by_suffix = [_rule(form, lemma) for form, lemma in zip(forms, lemmas, strict=True)]
    by_word = [_rule(form, lemma, _FOR_WORDS) for form, lemma in zip(forms, lemmas, strict=True)]
    rules = sorted({*by_suffix, *by_word})[: 1 << 16]
    number = {rule: i for i, rule in enumerate(rules)}
    suffix_rules = np.array([number.get(rule, 0) for rule in by_suffix], np.int64)
    word_rules = np.array([number.get(rule, 0) for rule in by_word], np.int64)
    # A rule for a suffix must not take off more than that, nor put there much more: "Nov" is November, but "Gov" is no Govember.
    least = np.array([cut if len(end) <= cut + 2 else _LEVELS for _, cut, end in rules])[suffix_rules]
    shorter = np.full(len(forms), -1, np.int64)  # the rule of each word's next shorter suffix
    kept_keys, kept_rules = [], []
    for level in range(_LEVELS):
        whole = level == _LEVELS - 1
        chosen = word_rules if whole else suffix_rules
        here = np.flatnonzero((keys[:, level] != 0) & (whole | (least <= level)))
        if not len(here):
            continue
        known, which = np.unique(keys[here, level], return_inverse=True)
        pairs, often = np.unique(which * len(rules) + chosen[here], return_counts=True)
        order = np.lexsort((pairs % len(rules), -often, pairs // len(rules)))
        first = np.unique(pairs[order] // len(rules), return_index=True)[1]
        best = pairs[order][first] % len(rules)
        before = np.zeros(len(known), np.int64)
        before[which] = shorter[here]
        best = np.where(whole | (level == 0) | (np.bincount(which) >= _LEAST), best, before)
        keep = best != before
        kept_keys.append(known[keep])
        kept_rules.append(best[keep])
        everywhere = np.flatnonzero(keys[:, level])
        place = np.minimum(np.searchsorted(known, keys[everywhere, level]), len(known) - 1)
        found = known[place] == keys[everywhere, level]
        shorter[everywhere[found]] = best[place[found]]
    all_keys, order = np.unique(np.concatenate(kept_keys), return_index=True)
    return {
        "lemmas.keys": all_keys,
        "lemmas.numbers": np.concatenate(kept_rules)[order].astype(np.uint16),
        "lemmas.cases": np.array([case for case, _, _ in rules], np.uint8),
        "lemmas.cut": np.array([cut for _, cut, _ in rules], np.uint8),
        "lemmas.letters": np.array([ord(letter) for _, _, end in rules for letter in end], np.int32),
        "lemmas.first": np.cumsum([0, *(len(end) for _, _, end in rules)], dtype=np.int32),
    }


def _rule(form: str, lemma: str, preferred: tuple[int, ...] = _FOR_SUFFIXES) -> Rule:
    case, cut, end = rule_of(form, lemma, preferred)
    return (_AS_IT_IS, 0, "") if max(cut, len(end)) > _LONGEST_RULE else (case, cut, end)


def lemma_rules(arrays: Arrays) -> Lemmas:
    """The rules of stored arrays, which have been checked against LEMMA_FORMAT."""
    keys, numbers, cases, cut, letters, first = (arrays[name].copy() for name in LEMMA_FORMAT)
    return Lemmas(hash_table(keys), numbers, cases, cut, letters, first)


@kernel
def _encode(code: int, output: NDArray[np.uint8], at: int) -> int:
    """Write a code point in UTF-8; returns where the next one goes."""
    if code < 0x80:
        output[at] = code
        return at + 1
    more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    output[at] = (0xFF00 >> (more + 1)) & 0xFF | (code >> (6 * more))
    for k in range(more - 1, -1, -1):
        at += 1
        output[at] = 0x80 | ((code >> (6 * k)) & 0x3F)
    return at + 1


@kernel
def write_lemmas(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    fine: NDArray[np.uint32],
    lemmas: Lemmas,
    alphabet: Alphabet,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The lemmas of all words end to end in UTF-8, and where each begins. fine: the fine tags. O(bytes)."""
    letters, own = np.empty(_LONGEST_WORD, np.int32), np.empty(_LONGEST_WORD, np.int32)
    keys = np.empty(_LEVELS, np.uint64)
    room = 0
    for word in range(len(fine)):
        room += stops[word, FORM] - starts[word, FORM] + 4 * (_LONGEST_WORD + _LONGEST_RULE)
    output, first = np.empty(room, np.uint8), np.zeros(len(fine) + 1, np.int64)
    at = 0
    for word in range(len(fine)):
        start, stop = starts[word, FORM], stops[word, FORM]
        count = letters_of(data, start, stop, letters)
        for k in range(count):
            own[k] = letters[k]
        lower_letters(letters, count, alphabet)
        rule = -1
        if count < _LONGEST_WORD:
            for k in range(_suffix_keys(letters, count, int(fine[word]), keys)):
                number = find_key(lemmas.suffixes, keys[k])
                if number != UNKNOWN:
                    rule = int(lemmas.numbers[number - FIRST_NUMBER])
        begin = at
        if rule >= 0 and lemmas.cut[rule] <= count:
            if lemmas.cases[rule] == _CAPITALISED and letters[0] < len(alphabet.upper):
                letters[0] = alphabet.upper[letters[0]]
            for k in range(count - lemmas.cut[rule]):
                at = _encode(own[k] if lemmas.cases[rule] == _AS_IT_IS else letters[k], output, at)
            for k in range(lemmas.first[rule], lemmas.first[rule + 1]):
                at = _encode(lemmas.letters[k], output, at)
        if at == begin:
            for k in range(start, stop):
                output[at] = data[k]
                at += 1
        first[word + 1] = at
    return output[:at], first
