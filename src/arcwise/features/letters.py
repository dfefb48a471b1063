"""The letters of a word: decoded, lower-cased, told apart by kind; and the key of a word in a hash table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

LONGEST_WORD = 64  # letters looked at; of a longer word, the last ones
OTHER, UPPER, LOWER, DIGIT, LETTER = range(5)  # kinds of letters

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
            UPPER if character.isupper() else LOWER if character.islower()
            else DIGIT if character.isdigit() else LETTER if character.isalpha() else OTHER
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
def lower_letters(letters: NDArray[np.int32], count: int, alphabet: Alphabet) -> None:
    """Lower case, in place."""
    for i in range(count):
        if letters[i] < _CASED:
            letters[i] = alphabet.lower[letters[i]]


def lower_case(word: str) -> str:
    """As `lower_letters` has it.

    >>> lower_case("ÉTÉ"), lower_case("Ａ")
    ('été', 'Ａ')
    """
    return "".join(chr(ALPHABET.lower[ord(letter)]) if ord(letter) < _CASED else letter for letter in word)


@kernel
def kind_of(code: int, alphabet: Alphabet) -> int:
    """Of a letter."""
    return int(alphabet.kinds[code]) if code < _CASED else LETTER


@kernel
def letters_key(letters: NDArray[np.int32], count: int) -> np.uint64:
    """The key of a word. Never 0."""
    x = np.uint64(0xCBF29CE484222325)
    for i in range(count):
        x = (x ^ np.uint64(letters[i])) * np.uint64(0x100000001B3)
    return x | np.uint64(1)
