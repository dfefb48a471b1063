"""The tokeniser: raw text to CoNLL-U in bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, checked, powers_of_two
from arcwise.errors import InputError
from arcwise.text.characters import SPACE, SYMBOL, characters
from arcwise.text.contractions import CONTRACTION_FORMAT, contractions, find_contractions, learn_contractions
from arcwise.text.lines import PARAGRAPH, Split, line_breaks
from arcwise.text.rules import rule_tokens
from arcwise.text.sentence_boundaries import SENTENCE_TEMPLATES, find_sentences
from arcwise.text.token_boundaries import TOKEN_TEMPLATES, Text, find_tokens
from arcwise.text.writing import write_sentences

VERSION = 1  # of the features: weights learned with others mean nothing
_WINDOW = 1 << 16  # characters looked at together
_GREATEST_BITS = 24
_MEANING = f"a power of two up to 2^{_GREATEST_BITS}"
_FORMAT = {
    **{
        name: Array(np.int8, (name,), holds=powers_of_two(_GREATEST_BITS), meaning=_MEANING)
        for name in ("tokens", "sentences")
    },
    **CONTRACTION_FORMAT,
}
_LINE_END, _TAB = 10, 9
# For kernels that can also take given answers and store examples.
NO_ANSWERS = np.empty(0, np.uint8), np.empty((0, 0), np.uint32), np.empty(0, np.bool_)


class Analysis(NamedTuple):
    """A stretch of text taken apart. starts, stops: of the tokens. ends: 1 where a sentence ends, 2 where a paragraph does too.

    found: the contraction that each token is, or -1.
    """

    codes: NDArray[np.int32]
    classes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    ends: NDArray[np.uint8]
    found: NDArray[np.int32]


class Tokeniser:
    r"""Finds tokens, sentences and the words of contractions: by general rules, and by what was learned from a treebank.

    The text is recovered exactly from the output (`original_text`), unless it is nothing but white space and NUL. A sentence has at
    most 1,000 tokens and 65,536 characters, a token at most 1,000 characters; what is longer is cut, a sentence where its end is most
    probable. Of more than 65,536 white-space characters in a row the rest may be lost.

    >>> print(Tokeniser.general().tokenise("It's 3.50 (e.g.)! No").decode().expandtabs(6))
    # newpar
    # sent_id = 1
    # text = It's 3.50 (e.g.)!
    1     It's  _     _     _     _     _     _     _     _
    2     3.50  _     _     _     _     _     _     _     _
    3     (     _     _     _     _     _     _     _     SpaceAfter=No
    4     e.g.  _     _     _     _     _     _     _     SpaceAfter=No
    5     )     _     _     _     _     _     _     _     SpaceAfter=No
    6     !     _     _     _     _     _     _     _     _
    <BLANKLINE>
    # sent_id = 2
    # text = No
    1     No    _     _     _     _     _     _     _     SpaceAfter=No
    <BLANKLINE>
    <BLANKLINE>
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = checked(arrays, _FORMAT)
        # Copies: what was read from a file may be read-only, which is another type to the kernels.
        self._tokens, self._sentences = arrays["tokens"].copy(), arrays["sentences"].copy()
        self._rules = contractions(self._arrays)

    @classmethod
    def general(cls) -> Tokeniser:
        """The rules alone, for any language."""
        return cls(
            {"tokens": np.zeros(1, np.int8), "sentences": np.zeros(1, np.int8), **learn_contractions([])}
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays, header: dict[str, Any]) -> Tokeniser:
        """What `arrays` and `header` gave. Everything that kernels trust is checked: ValueError if it does not fit."""
        if not isinstance(header, dict) or header.get("version") != VERSION:
            raise ValueError(f"tokeniser header {header!r}, expected version {VERSION}")
        return cls(arrays)

    def arrays(self) -> Arrays:
        """What was learned: weights as int8, and the contractions."""
        return dict(self._arrays)

    def header(self) -> dict[str, Any]:
        """What is stored beside the arrays, fit for JSON."""
        return {"version": VERSION}

    def tokenise(self, text: str, *, split: Split = "text", offsets: bool = False) -> bytes:
        """A whole text as CoNLL-U."""
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"half a surrogate pair, {text[error.start]!r}", expected="Unicode text"
            ) from None
        return b"".join(self.stream([data], split=split, offsets=offsets))

    def stream(
        self,
        chunks: Iterable[bytes],
        *,
        split: Split = "text",
        offsets: bool = False,
        block_bytes: int = 1 << 17,
        file: str = "",
    ) -> Iterator[bytes]:
        r"""CoNLL-U in pieces of whole sentences, of about `block_bytes`, in memory that does not grow with the text.

        split: "text" finds everything; "sentences" takes each line as a sentence; "words" takes words separated by spaces too;
        "vertical" takes one word a line (up to a tab) and a blank line after each sentence. In the last two, words stay as they are,
        and white space is not kept. offsets: writes TokenRange=start:stop, in characters. The result does not depend on the chunks.
        A window of 65,536 characters is looked at together; the next begins with its last paragraph or sentence.
        """
        if split not in get_args(Split):
            raise InputError(f"split is {split!r}", expected=f"one of {', '.join(get_args(Split))}")
        pending: list[bytes] = []  # whole sentences, not yet a block
        size, number, offset = 0, 1, 0
        spaces = split in ("text", "sentences")
        paragraph, lead, buffer = spaces, "", ""
        texts = _decoded(chunks, file)
        more = True
        while more or buffer:
            while more and len(buffer) < _WINDOW:
                text = next(texts, None)
                more = text is not None
                buffer += text or ""
            window = buffer[:_WINDOW]
            last = not more and len(buffer) <= _WINDOW
            found = self.analyse(window, split)
            tokens = len(found.starts) if last else _complete(found)
            stop = int(found.starts[tokens]) if tokens < len(found.starts) else len(window)
            if tokens == 0:
                lead = (lead + window)[:_WINDOW]
                paragraph |= spaces and window.count("\n") > 1
            else:
                found.ends[tokens - 1] = max(found.ends[tokens - 1], 1)
                data, stops = write_sentences(
                    _codes(lead),
                    found.codes[:stop],
                    found.classes,
                    found.starts[:tokens],
                    found.stops,
                    found.ends,
                    found.found,
                    self._rules,
                    spaces,
                    offsets,
                    paragraph,
                    offset,
                    number,
                )
                number += len(stops)
                paragraph = spaces and tokens < len(found.starts) and found.ends[tokens - 1] == PARAGRAPH
                lead = ""
                start = 0
                for end in stops.tolist():
                    if size + end - start >= block_bytes:
                        pending.append(data[start:end].tobytes())
                        yield b"".join(pending)
                        pending, size, start = [], 0, end
                pending.append(data[start:].tobytes())
                size += len(data) - start
            offset += stop
            buffer = buffer[stop:]
        if number == 1 and spaces and any(map(_leaves_a_trace, lead)):
            yield self._invisible(lead, offsets, paragraph)
        if size:
            yield b"".join(pending)

    def _invisible(self, text: str, offsets: bool, paragraph: bool) -> bytes:
        """A text of characters that nobody sees, which would be white space beside others: here they are the words."""
        seen = np.array([_leaves_a_trace(character) for character in text])
        classes = np.where(seen, SYMBOL, SPACE).astype(np.uint8)
        starts = np.flatnonzero(seen & ~np.concatenate([[False], seen[:-1]]))
        stops = np.flatnonzero(seen & ~np.concatenate([seen[1:], [False]])) + 1
        ends = np.zeros(len(starts), np.uint8)
        ends[-1] = 1
        none = np.full(len(starts), -1, np.int32)
        codes = _codes(text)
        data, _ = write_sentences(
            codes[:0], codes, classes, starts, stops, ends, none, self._rules, True, offsets, paragraph, 0, 1
        )
        return data.tobytes()

    def analyse(self, text: str, split: Split = "text") -> Analysis:
        """The tokens and sentences of a text, all at once. O(characters)."""
        codes = _codes(text)
        table = characters(codes)
        read = Text(codes, table.classes[codes], table.folded[codes])
        classes = read.classes
        breaks = line_breaks(text, split)
        if split == "vertical":
            starts, stops = _first_columns(codes, classes)
        elif split == "words":
            inside = np.concatenate([[False], classes != SPACE, [False]])
            starts, stops = (
                np.flatnonzero(inside[1:] & ~inside[:-1]),
                np.flatnonzero(inside[:-1] & ~inside[1:]),
            )
        else:
            starts, stops, _ = find_tokens(
                read, rule_tokens(table.plain[codes]), self._tokens, TOKEN_TEMPLATES, *NO_ANSWERS
            )
        tokens = len(starts)
        # Answers given, all of them no: sentences end only where the lines say so.
        given, examples, answers = NO_ANSWERS
        ends, _ = find_sentences(
            *(read, starts, stops, breaks, self._sentences, SENTENCE_TEMPLATES),
            *(given if split == "text" else np.zeros(tokens, np.uint8), examples, answers),
        )
        if split in ("text", "sentences"):
            contracted = find_contractions(read.folded, starts, stops, self._rules)
        else:
            contracted = np.full(tokens, -1, np.int32)
        return Analysis(codes, classes, starts, stops, ends, contracted)


def _leaves_a_trace(character: str) -> bool:
    """Whether a character can be a word, if there is no other: all but white space, and NUL, which no file may hold."""
    return character != "\0" and not character.isspace()


def _codes(text: str) -> NDArray[np.int32]:
    return np.frombuffer(bytearray(text.encode("utf-32-le")), np.int32)


def _complete(found: Analysis) -> int:
    """How many tokens of a window to write: not its last paragraph or, if that is long, not its last sentence."""
    tokens = len(found.starts)
    paragraphs = np.flatnonzero(found.ends[:-1] == PARAGRAPH) + 1
    if len(paragraphs) and 2 * found.starts[paragraphs[-1]] > len(found.codes):
        return int(paragraphs[-1])
    sentences = np.flatnonzero(found.ends[:-1]) + 1
    if len(sentences):
        return int(sentences[-1])
    return tokens - 1 if tokens > 1 else tokens


def _first_columns(
    codes: NDArray[np.int32], classes: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and stops of what stands before the first tab of each line."""
    line_ends, tabs = codes == _LINE_END, np.cumsum(codes == _TAB)
    lines, tabs_before = np.cumsum(line_ends), np.concatenate([[0], tabs[line_ends]])
    places = np.flatnonzero(classes != SPACE)
    places = places[tabs[places] == tabs_before[lines[places]]]
    first = np.flatnonzero(np.diff(lines[places], prepend=-1))
    last = np.flatnonzero(np.diff(lines[places], append=-1))
    return places[first], places[last] + 1


def _decoded(chunks: Iterable[bytes], file: str) -> Iterator[str]:
    """The chunks as pieces of text; InputError with the line where they are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    for chunk in chain(filter(None, chunks), [b""]):
        for start in range(0, max(len(chunk), 1), _WINDOW):
            piece = chunk[start : start + _WINDOW]
            try:
                yield decoder.decode(piece, not chunk)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"byte 0x{error.object[error.start]:02x} that begins no character",
                    expected="text in UTF-8",
                    file=file or None,
                    line=line + error.object.count(b"\n", 0, error.start),
                ) from None
            line += piece.count(b"\n")
