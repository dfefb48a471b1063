"""Tokens and sentences as CoNLL-U, and back to the text they came from."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.text.characters import LOWER, SPACE, UPPER
from arcwise.text.contractions import Contractions


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)


_NEW_PARAGRAPH, _SENT_ID, _TEXT = _bytes("# newpar\n"), _bytes("# sent_id = "), _bytes("\n# text = ")
_EMPTY, _NO_SPACE = _bytes("\t_\t_\t_\t_\t_\t_\t_\t"), _bytes("SpaceAfter=No")
_BEFORE, _AFTER, _RANGE = _bytes("SpacesBefore="), _bytes("SpacesAfter="), _bytes("TokenRange=")
_NEWLINE, _TAB, _UNDERSCORE, _DASH, _BAR, _COLON, _BACKSLASH = (ord(c) for c in "\n\t_-|:\\")
# For a sentence, a token or a word: more bytes than its fixed parts and numbers can take.
_FIXED = 160


@kernel
def _put(output: NDArray[np.uint8], at: int, data: NDArray[np.uint8]) -> int:
    for byte in data:
        output[at] = byte
        at += 1
    return at


@kernel
def _put_number(output: NDArray[np.uint8], at: int, number: int) -> int:
    digits, rest = 1, number // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits - 1, -1, -1):
        output[at + k] = 48 + number % 10
        number //= 10
    return at + digits


@kernel
def _put_character(output: NDArray[np.uint8], at: int, code: int) -> int:
    """A code point in UTF-8."""
    if code < 0x80:
        output[at] = code
        return at + 1
    more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    output[at] = (0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more
    for k in range(1, more + 1):
        output[at + k] = 0x80 | (code >> 6 * (more - k) & 0x3F)
    return at + more + 1


@kernel
def _put_form(
    output: NDArray[np.uint8],
    at: int,
    codes: NDArray[np.int32],
    classes: NDArray[np.uint8],
    start: int,
    stop: int,
) -> int:
    """A token; if it was given with white space in it, this becomes single spaces."""
    for i in range(start, stop):
        if classes[i] != SPACE:
            at = _put_character(output, at, codes[i])
        elif classes[i - 1] != SPACE:
            output[at] = 32
            at += 1
    return at


@kernel
def _put_gap(output: NDArray[np.uint8], at: int, codes: NDArray[np.int32]) -> int:
    """White space with UDPipe's escapes, and `\\0` for NUL, which no file may hold."""
    for code in codes:
        letter = 0
        if code == 32:
            letter = ord("s")
        elif code == 9:
            letter = ord("t")
        elif code == 10:
            letter = ord("n")
        elif code == 13:
            letter = ord("r")
        elif code == 0:
            letter = ord("0")
        if letter == 0:
            at = _put_character(output, at, code)
        else:
            output[at], output[at + 1] = _BACKSLASH, letter
            at += 2
    return at


@kernel
def _put_word(
    output: NDArray[np.uint8],
    at: int,
    codes: NDArray[np.int32],
    classes: NDArray[np.uint8],
    piece: NDArray[np.int32],
    rules: Contractions,
) -> int:
    """One word of the token `codes`: a part of it, then text in the case of the token."""
    length = len(codes)
    begin = 0 if piece[0] == 255 else length - piece[0]
    for i in range(begin, length - piece[1]):
        at = _put_character(output, at, codes[i])
    if piece[2] < piece[3]:
        uppers = lowers = 0
        for i in range(length):
            uppers += classes[i] == UPPER
            lowers += classes[i] == LOWER
        loud = uppers > 1 and lowers == 0
        for i in range(piece[2], piece[3]):
            title = piece[0] == 255 and piece[1] == length and i == piece[2] and classes[0] == UPPER
            at = _put_character(output, at, rules.upper[i] if loud or title else rules.text[i])
    return at


@kernel
def write_sentences(
    lead: NDArray[np.int32],
    codes: NDArray[np.int32],
    classes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    ends: NDArray[np.uint8],
    found: NDArray[np.int32],
    rules: Contractions,
    spaces: bool,
    ranges: bool,
    paragraph: bool,
    offset: int,
    number: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The tokens as CoNLL-U bytes, and where each sentence ends in them. O(characters), without the lock.

    lead, codes: the text; what precedes the first token goes before it, what follows the last token, after it. spaces: whether
    to write the white space into MISC; ranges: whether to write offsets, counted from `offset`. paragraph: whether the first
    sentence begins one. number: of the first sentence.
    """
    n, tokens = len(codes), len(starts)
    size = 12 * n + 4 * len(lead) + _FIXED * (2 * tokens + 1)
    for t in range(tokens):
        if found[t] >= 0:
            first, last = rules.offsets[found[t]], rules.offsets[found[t] + 1]
            for k in range(first, last):
                size += _FIXED + 4 * (stops[t] - starts[t] + rules.pieces[k, 3] - rules.pieces[k, 2])
    output = np.empty(size, np.uint8)
    sentence_stops = np.empty(tokens, np.int64)
    at = sentences = t = 0
    while t < tokens:
        last = t
        while ends[last] == 0:
            last += 1
        if paragraph:
            at = _put(output, at, _NEW_PARAGRAPH)
        paragraph = spaces and ends[last] == 2
        at = _put_number(output, _put(output, at, _SENT_ID), number + sentences)
        at = _put(output, at, _TEXT)
        for token in range(t, last + 1):
            at = _put_form(output, at, codes, classes, starts[token], stops[token])
            if token < last and starts[token + 1] > stops[token]:
                output[at] = 32
                at += 1
        output[at] = _NEWLINE
        at += 1
        word = 1
        for token in range(t, last + 1):
            start, stop = starts[token], stops[token]
            rule = found[token]
            at = _put_number(output, at, word)
            words = 1
            if rule >= 0:
                words = rules.offsets[rule + 1] - rules.offsets[rule]
                output[at] = _DASH
                at = _put_number(output, at + 1, word + words - 1)
            output[at] = _TAB
            at += 1
            at = _put_form(output, at, codes, classes, start, stop)
            at = _put(output, at, _EMPTY)
            empty = at
            until = starts[token + 1] if token + 1 < tokens else n
            if spaces:
                if until == stop:
                    at = _put(output, at, _NO_SPACE)
                if token == 0 and len(lead) + start > 0:
                    if at > empty:
                        output[at] = _BAR
                        at += 1
                    at = _put_gap(output, _put_gap(output, _put(output, at, _BEFORE), lead), codes[:start])
                if until > stop and (until > stop + 1 or codes[stop] != 32):
                    if at > empty:
                        output[at] = _BAR
                        at += 1
                    at = _put_gap(output, _put(output, at, _AFTER), codes[stop:until])
            if ranges:
                if at > empty:
                    output[at] = _BAR
                    at += 1
                at = _put_number(output, _put(output, at, _RANGE), offset + start)
                output[at] = _COLON
                at = _put_number(output, at + 1, offset + stop)
            if at == empty:
                output[at] = _UNDERSCORE
                at += 1
            output[at] = _NEWLINE
            at += 1
            if rule >= 0:
                for k in range(words):
                    at = _put_number(output, at, word + k)
                    output[at] = _TAB
                    at = _put_word(
                        output,
                        at + 1,
                        codes[start:stop],
                        classes[start:stop],
                        rules.pieces[rules.offsets[rule] + k],
                        rules,
                    )
                    at = _put(output, at, _EMPTY)
                    output[at], output[at + 1] = _UNDERSCORE, _NEWLINE
                    at += 2
            word += words
        output[at] = _NEWLINE
        at += 1
        sentence_stops[sentences] = at
        sentences += 1
        t = last + 1
    return output[:at], sentence_stops[:sentences]


_ESCAPES = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\", "0": "\0"}


def original_text(conllu: bytes) -> str:
    r"""The text that tokens came from, exactly, by SpaceAfter, SpacesBefore and SpacesAfter in MISC. O(bytes).

    >>> original_text(b"1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\n\n1\tdo\t_\n2\tn't\t_\n\n")
    "don't \n"
    """
    pieces: list[str] = []
    covered = 0
    for line in conllu.decode().split("\n"):
        if not line:
            covered = 0
        elif not line.startswith("#"):
            columns = line.split("\t")
            identity = columns[0]
            if "." in identity or (identity.isdigit() and int(identity) <= covered):
                continue
            if "-" in identity:
                covered = int(identity.split("-")[1])
            misc = dict(field.partition("=")[::2] for field in columns[9].split("|"))
            pieces.append(_unescaped(misc.get("SpacesBefore", "")))
            pieces.append(columns[1])
            if misc.get("SpaceAfter") != "No":
                pieces.append(_unescaped(misc.get("SpacesAfter", " ")))
    return "".join(pieces)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([stnrp0\\])", lambda match: _ESCAPES[match[1]], text)
