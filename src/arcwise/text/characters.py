"""What kind of character each code point is."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

# The classes. WIDE: letters of scripts written without spaces. MARK: whatever belongs to the character before it.
(
    UNSEEN,
    SPACE,
    UPPER,
    LOWER,
    LETTER,
    DIGIT,
    WIDE,
    MARK,
    PUNCT,
    FINAL,
    OPEN,
    CLOSE,
    QUOTE,
    DASH,
    SYMBOL,
    EMOJI,
) = range(16)

_CODE_POINTS = 0x110000
ZERO_WIDTH_JOINER, FLAGS, _SKIN_TONES = 0x200D, range(0x1F1E6, 0x1F200), range(0x1F3FB, 0x1F400)
_INVISIBLE = "\u200b\u2060\ufeff"  # zero-width space, word joiner, byte order mark: they stand between words
_FINAL = ".!?…‼⁇⁈⁉。．！？｡؟۔।॥։።፧᙮᠃᠉"
_APOSTROPHES, _QUOTES = "'’‘ʼ＇`´", '"“”„‟＂'
_WIDE_RANGES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007)),
    *((0x3021, 0x3035), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF)),
)
_CLASSES = {
    "Lu": UPPER,
    "Lt": UPPER,
    "Ll": LOWER,
    "Lm": LETTER,
    "Lo": LETTER,
    "Nd": DIGIT,
    "Nl": DIGIT,
    "No": DIGIT,
    "Mn": MARK,
    "Mc": MARK,
    "Me": MARK,
    "Cf": MARK,
    "Pc": PUNCT,
    "Pd": DASH,
    "Ps": OPEN,
    "Pe": CLOSE,
    "Pi": OPEN,
    "Pf": CLOSE,
    "Po": PUNCT,
    "Sm": SYMBOL,
    "Sc": SYMBOL,
    "Sk": SYMBOL,
    "So": EMOJI,
    "Co": EMOJI,
    "Cn": EMOJI,
    "Zs": SPACE,
    "Zl": SPACE,
    "Zp": SPACE,
    "Cc": SPACE,
}
# In `plain` a character outside ASCII is PLAIN + its class, but for these two.
PLAIN, FLAG, JOINER = 0x80, 0xFE, 0xFF


class Characters(NamedTuple):
    """Tables over all code points. classes: uint8. folded: int32, lower case, every apostrophe `'`, every quote `"`.

    plain: uint8, what the rules see: ASCII as it is, but all white space and control characters as a space; apostrophes and double
    quotes as their ASCII kin; others as PLAIN + class, regional indicators (flags) as FLAG, the zero-width joiner as JOINER.
    """

    classes: NDArray[np.uint8]
    folded: NDArray[np.int32]
    plain: NDArray[np.uint8]


_characters = Characters(
    np.zeros(_CODE_POINTS, np.uint8), np.zeros(_CODE_POINTS, np.int32), np.zeros(_CODE_POINTS, np.uint8)
)


def characters(codes: NDArray[np.int32]) -> Characters:
    """The tables, filled in at least for the given code points: each is looked up in the Unicode database once a process.

    >>> table = characters(np.array([ord("É"), ord("’")], np.int32))
    >>> int(table.classes[ord("É")]) == UPPER, chr(table.folded[ord("É")]), chr(table.plain[ord("’")])
    (True, 'é', "'")
    """
    unseen = _characters.classes[codes] == UNSEEN
    for code in np.unique(codes[unseen]).tolist():
        kind, folded, plain = _character(code)
        _characters.folded[code], _characters.plain[code] = folded, plain
        _characters.classes[code] = kind  # last: another thread may be looking
    return _characters


def _character(code: int) -> tuple[int, int, int]:
    character = chr(code)
    if character.isspace() or character in _INVISIBLE or category(character) == "Cc":
        return SPACE, 32, 32
    if character in _APOSTROPHES:
        return QUOTE, 39, 39
    if character in _QUOTES:
        return QUOTE, 34, 34
    lower = character.lower()
    folded = ord(lower) if len(lower) == 1 else code
    kind = _CLASSES.get(category(character), EMOJI)
    if character in _FINAL:
        kind = FINAL
    elif kind == LETTER and any(first <= code <= last for first, last in _WIDE_RANGES):
        kind = WIDE
    elif code in _SKIN_TONES:
        kind = MARK
    if code < 0x80:
        return kind, folded, code
    if code == ZERO_WIDTH_JOINER:
        return kind, folded, JOINER
    return kind, folded, FLAG if code in FLAGS else PLAIN + kind
