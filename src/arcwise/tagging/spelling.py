"""The spelling of words: what the tagger sees of a word before any tag is known, as 32-bit hashes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import scramble
from arcwise.kernels import kernel
from arcwise.treebank.block import FORM as FORM_COLUMN

# The attributes. Digits count as equal in all but FORM. CLASS, CASE: of the lower-cased word in the training data, the tags it
# had and how often it began with a capital. STYLE: how the sentence uses capitals, and whether it ends in a question mark.
LONGEST_AFFIX = 5
FORM, LOWER = 0, 1
SUFFIX, PREFIX = 2, 2 + LONGEST_AFFIX
SHAPE, CLASS, CASE, STYLE = range(PREFIX + LONGEST_AFFIX, PREFIX + LONGEST_AFFIX + 4)
ATTRIBUTES = STYLE + 1

_LONGEST_WORD = 64  # letters looked at; of a longer word, the last ones
_LONGEST_SHAPE = 8
_OTHER, _UPPER, _LOWER, _DIGIT, _LETTER = range(5)

# Lower case and kind of the characters of the alphabets that have case. Beyond them all are plain letters.
_CASED = 0x600


def _tables() -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    lower, upper = np.arange(_CASED, dtype=np.int32), np.arange(_CASED, dtype=np.int32)
    kinds = np.zeros(_CASED, np.uint8)
    for code in range(_CASED):
        character = chr(code)
        if len(character.lower()) == 1:
            lower[code] = ord(character.lower())
        if len(character.upper()) == 1:
            upper[code] = ord(character.upper())
        kinds[code] = (
            _UPPER if character.isupper() else _LOWER if character.islower()
            else _DIGIT if character.isdigit() else _LETTER if character.isalpha() else _OTHER
        )  # fmt: skip
    return lower, upper, kinds


class Alphabet(NamedTuple):
    """Lower case, upper case and kind of every character below U+0600."""

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    kinds: NDArray[np.uint8]


ALPHABET = Alphabet(*_tables())


@kernel
def letters_of(data: NDArray[np.uint8], start: int, stop: int, letters: NDArray[np.int32]) -> int:
    """Decode UTF-8 to code points, the last ones if there is not room for all; returns how many."""
    count = 0
    i = start
    while i < stop:
        byte = np.int32(data[i])
        more = 0 if byte < 0xC0 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
        code = byte if more == 0 else byte & (0x3F >> more)
        for k in range(1, more + 1):
            if i + k < stop:
                code = (code << 6) | np.int32(data[i + k] & 0x3F)
        i += 1 + more
        if count == len(letters):
            for k in range(1, count):  # copying a slice would take seconds to compile
                letters[k - 1] = letters[k]
            count -= 1
        letters[count] = code
        count += 1
    return count


@kernel
def _read_emoji(letters: NDArray[np.int32], count: int) -> int:
    """Spell an emoji as the emoticon that treebanks are more likely to know, in place; returns how many letters there are."""
    if count > 0 and (0x2600 <= letters[0] < 0x27C0 or 0x1F000 <= letters[0] < 0x1FB00):
        letters[0], letters[1] = 58, 41  # :)
        return 2
    return count


@kernel
def lower_letters(letters: NDArray[np.int32], count: int, alphabet: Alphabet) -> None:
    """Lower case, in place."""
    for i in range(count):
        if letters[i] < _CASED:
            letters[i] = alphabet.lower[letters[i]]


@kernel
def _kind(code: int, alphabet: Alphabet) -> int:
    return int(alphabet.kinds[code]) if code < _CASED else _LETTER


@kernel
def _step(x: np.uint32, code: int) -> np.uint32:
    return scramble(np.uint32(x * np.uint32(31) + np.uint32(code)))


@kernel
def lower_key(letters: NDArray[np.int32], count: int) -> np.uint64:
    """The key of a word in lower case in the lexicon. Never 0."""
    x = np.uint64(0xCBF29CE484222325)
    for i in range(count):
        x = (x ^ np.uint64(letters[i])) * np.uint64(0x100000001B3)
    return x | np.uint64(1)


@kernel
def _shape(letters: NDArray[np.int32], count: int, alphabet: Alphabet) -> np.uint32:
    """Kinds of characters, other characters themselves; runs count as two, the first few runs only."""
    x = np.uint32(SHAPE)
    last, run, length = -1, 0, 0
    for i in range(count):
        kind = _kind(letters[i], alphabet)
        sign = letters[i] + 8 if kind == _OTHER else kind
        run = run + 1 if sign == last else 1
        last = sign
        if run <= 2 and length < _LONGEST_SHAPE:
            x = _step(x, sign)
            length += 1
    return x


@kernel
def spell(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    boundaries: NDArray[np.int32],
    alphabet: Alphabet,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.bool_]]:
    """The attributes of all words of a block, uint32 (words, ATTRIBUTES), but CLASS and CASE; the keys of their lower case; and
    whether they begin with a capital.

    data, starts, stops: as in `Block`. boundaries: the index of each sentence's first word, and the end. O(bytes).
    """
    words = starts.shape[0]
    spelled = np.zeros((words, ATTRIBUTES), np.uint32)
    keys, capitals = np.empty(words, np.uint64), np.zeros(words, np.bool_)
    letters = np.empty(_LONGEST_WORD, np.int32)
    for s in range(len(boundaries) - 1):
        begin, end = boundaries[s], boundaries[s + 1]
        capitalised = shouted = small = 0
        question = 0
        for word in range(begin, end):
            row = spelled[word]
            count = letters_of(data, starts[word, FORM_COLUMN], stops[word, FORM_COLUMN], letters)
            count = _read_emoji(letters, count)
            x = np.uint32(FORM)
            for i in range(count):
                x = _step(x, letters[i])
            row[FORM] = x
            row[SHAPE] = _shape(letters, count, alphabet)
            first, second = (
                _kind(letters[0], alphabet),
                _kind(letters[min(1, count - 1)], alphabet) if count > 1 else _OTHER,
            )
            capitals[word] = first == _UPPER
            capitalised += first == _UPPER
            shouted += first == _UPPER and second == _UPPER
            small += first == _LOWER
            if word >= end - 2 and count == 1 and letters[0] == 63:
                question = 1

            lower_letters(letters, count, alphabet)
            keys[word] = lower_key(letters, count)
            for i in range(count):
                if _kind(letters[i], alphabet) == _DIGIT:
                    letters[i] = 48
            x = np.uint32(PREFIX)
            for i in range(count):
                x = _step(x, letters[i])
                if i < LONGEST_AFFIX:
                    row[PREFIX + i] = x
            row[LOWER] = x + np.uint32(1)
            x = np.uint32(SUFFIX)
            for i in range(min(count, LONGEST_AFFIX)):
                x = _step(x, letters[count - 1 - i])
                row[SUFFIX + i] = x
        style = 0 if capitalised == 0 else 1
        if shouted > 2 and shouted > small:
            style = 2
        elif capitalised > 2 and 5 * capitalised > 3 * (capitalised + small):
            style = 3
        for word in range(begin, end):
            spelled[word, STYLE] = 2 * style + question
    return spelled, keys, capitals
