"""The kernel that finds and checks every sentence, word and column of a block of bytes.

One pass over the bytes, O(bytes) time, no lock held, nothing allocated per word. What is wrong is reported as
a code and a byte range; `malformed` turns them into words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.treebank.formats import HEAD

LINE_LIMIT = 1 << 20  # bytes of a line
SENTENCE_LIMIT = 1 << 26  # bytes of a sentence

# What can be wrong with a sentence.
(
    OK,
    BAD_UTF8,
    CARRIAGE_RETURN,
    NUL,
    UNENDED_LINE,
    UNENDED_SENTENCE,
    LONG_LINE,
    LONG_SENTENCE,
    NO_WORDS,
    COMMENT_NOT_ALLOWED,
    LATE_COMMENT,
    COLUMN_COUNT,
    COLUMNS_DIFFER,
    EMPTY_COLUMN,
    BAD_ID,
    WRONG_ID,
    MISPLACED_RANGE,
    SHORT_RANGE,
    OVERLAPPING_RANGE,
    UNENDED_RANGE,
    WRONG_EMPTY_NODE,
    BAD_HEAD,
    HEAD_BEYOND,
    OWN_HEAD,
    NO_ROOT,
    CYCLE,
) = range(26)

_TAB, _LF, _CR, _HASH, _MINUS, _DOT, _ZERO, _NINE, _UNDERSCORE = b"\t\n\r#-.09_"
_TABS = 16  # the roles lie in the first columns; later tabs are only counted


@kernel
def _character(data: NDArray[np.uint8], at: int, size: int) -> int:
    """The length of the UTF-8 character of two bytes or more at `at`, or 0 if it is not one (RFC 3629)."""
    lead = data[at]
    if lead < 0xC2 or lead > 0xF4:
        return 0
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if at + length > size:
        return 0
    for k in range(1, length):
        if data[at + k] & 0xC0 != 0x80:
            return 0
    second = data[at + 1]
    overlong = (lead == 0xE0 and second < 0xA0) or (lead == 0xF0 and second < 0x90)
    surrogate_or_beyond = (lead == 0xED and second > 0x9F) or (lead == 0xF4 and second > 0x8F)
    return 0 if overlong or surrogate_or_beyond else length


@kernel
def _scan_line(
    data: NDArray[np.uint8], at: int, size: int, tabs: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Scan the line at `at`: (code, its end or the error's place, number of tabs, empty column or -1)."""
    count, column, empty = 0, at, -1
    while at < size:
        byte = data[at]
        if byte > _CR and byte < 0x80:
            at += 1
        elif byte == _TAB:
            if at == column and empty < 0:
                empty = at
            if count < _TABS:
                tabs[count] = at
            count += 1
            at += 1
            column = at
        elif byte == _LF:
            if at == column and empty < 0:
                empty = at
            return OK, at, count, empty
        elif byte >= 0x80:
            length = _character(data, at, size)
            if length == 0:
                return BAD_UTF8, at, count, empty
            at += length
        elif byte == _CR:
            return CARRIAGE_RETURN, at, count, empty
        elif byte == 0:
            return NUL, at, count, empty
        else:
            at += 1
    return UNENDED_LINE, at, count, empty


@kernel
def _number(data: NDArray[np.uint8], start: int, stop: int) -> tuple[int, int]:
    """The decimal number at `start` and its end; -1 for no digits, a leading zero, or ten digits and more."""
    at, value = start, 0
    while at < stop and at - start < 10 and data[at] >= _ZERO and data[at] <= _NINE:
        value = 10 * value + (data[at] - _ZERO)
        at += 1
    length = at - start
    if length == 0 or length == 10 or (length > 1 and data[start] == _ZERO):
        return -1, at
    return value, at


@kernel
def _after_blank_lines(data: NDArray[np.uint8], at: int) -> int:
    """Where the next sentence begins: after the next blank line (of CR LF too) and all that follow it."""
    size = len(data)
    while at < size:
        while at < size and data[at] != _LF:
            at += 1
        at += 1
        if at < size and data[at] == _CR:
            at += 1
        if at < size and data[at] == _LF:
            break
    while at < size and (data[at] == _LF or (data[at] == _CR and at + 1 < size and data[at + 1] == _LF)):
        at += 1
    return min(at, size)


@kernel
def _check_tree(heads: NDArray[np.int32], visited: NDArray[np.int32]) -> tuple[int, int]:
    """Whether heads (of word w at w - 1, -1 unknown) hold a cycle or no root: (code, word). O(n)."""
    visited[:] = 0
    for word in range(1, len(heads) + 1):
        at = word
        while at > 0 and visited[at - 1] == 0:
            visited[at - 1] = word
            at = heads[at - 1]
        if at > 0 and visited[at - 1] == word:
            for head in heads:
                if head <= 0:
                    return CYCLE, at
            return NO_ROOT, 1
    return OK, 0


@kernel
def _index_sentence(
    data: NDArray[np.uint8],
    at: int,
    rules: tuple[int, ...],
    roles: tuple[int, ...],
    tabs: NDArray[np.int64],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    heads: NDArray[np.int32],
) -> tuple[int, int, int, int, int, int]:
    """Index the sentence at `at` into rows 0, 1, ...: (code, error start, error stop, end, lines, words)."""
    columns, more_columns, comments, ranges, empty_nodes, final_blank_line, _ = rules
    size, first = len(data), at
    width = lines = words = 0
    range_start, range_end, last_empty = 0, 0, 0
    while True:
        if at >= size:
            if final_blank_line:
                return UNENDED_SENTENCE, size - 1, size, at, lines, words
            break
        if data[at] == _LF:
            at += 1
            lines += 1
            break
        begin = at
        code, end, count, empty = _scan_line(data, at, size, tabs)
        if code != OK:
            return code, end, end, at, lines, words
        if end - begin > LINE_LIMIT:
            return LONG_LINE, begin, end, at, lines, words
        at = end + 1
        lines += 1
        if data[begin] == _HASH:
            if not comments:
                return COMMENT_NOT_ALLOWED, begin, end, at, lines, words
            if width > 0:
                return LATE_COMMENT, begin, end, at, lines, words
            continue
        found = count + 1
        if found != columns and not (more_columns and found > columns):
            return COLUMN_COUNT, begin, end, at, lines, words
        if width > 0 and found != width:
            return COLUMNS_DIFFER, begin, end, at, lines, words
        width = found
        if empty >= 0:
            return EMPTY_COLUMN, empty, empty, at, lines, words

        number, mark = _number(data, begin, tabs[0])
        if mark == tabs[0] and number >= 0:
            if number != words + 1:
                return WRONG_ID, begin, mark, at, lines, words
            for role in range(8):
                column = roles[role]
                if column < 0:
                    starts[words, role] = stops[words, role] = 0
                else:
                    starts[words, role] = begin if column == 0 else tabs[column - 1] + 1
                    stops[words, role] = tabs[column] if column < count else end
            start, stop = starts[words, HEAD], stops[words, HEAD]
            if stop - start == 1 and data[start] == _UNDERSCORE:
                heads[words] = -1
            else:
                head, mark = _number(data, start, stop)
                if mark != stop or head < 0:
                    return BAD_HEAD, start, stop, at, lines, words
                if head == number:
                    return OWN_HEAD, start, stop, at, lines, words
                heads[words] = head
            words += 1
            last_empty = 0
        elif number < 0 or (data[mark] != _MINUS and data[mark] != _DOT):
            return BAD_ID, begin, tabs[0], at, lines, words
        else:
            other, stop = _number(data, mark + 1, tabs[0])
            if stop != tabs[0] or other < 0 or not (ranges if data[mark] == _MINUS else empty_nodes):
                return BAD_ID, begin, tabs[0], at, lines, words
            if data[mark] == _DOT:
                if number != words or other != last_empty + 1:
                    return WRONG_EMPTY_NODE, begin, tabs[0], at, lines, words
                last_empty = other
            else:
                if number != words + 1:
                    return MISPLACED_RANGE, begin, tabs[0], at, lines, words
                if number <= range_end:
                    return OVERLAPPING_RANGE, begin, tabs[0], at, lines, words
                if other <= number:
                    return SHORT_RANGE, begin, tabs[0], at, lines, words
                range_start, range_end = begin, other
    if at - first > SENTENCE_LIMIT:
        return LONG_SENTENCE, first, first, at, lines, words
    if words == 0:
        return NO_WORDS, first, first, at, lines, words
    if range_end > words:
        return UNENDED_RANGE, range_start, range_start, at, lines, words
    for word in range(words):
        if heads[word] > words:
            return HEAD_BEYOND, starts[word, HEAD], stops[word, HEAD], at, lines, words
    return OK, 0, 0, at, lines, words


@kernel
def index_sentences(
    data: NDArray[np.uint8],
    rules: tuple[int, ...],
    roles: tuple[int, ...],
    sentence_bytes: NDArray[np.int64],
    lines: NDArray[np.int64],
    words: NDArray[np.int32],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    heads: NDArray[np.int32],
    errors: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Index the good sentences of `data` and list the bad ones: the numbers of sentences, words and errors.

    rules: the format's columns, more_columns, comments, ranges, empty_nodes, final_blank_line, and whether to
    check trees. errors: a row (code, start, stop of the culprit, start, stop of the sentence) for each bad
    sentence. A sentence owns the blank lines after it, the first one those before it as well. The output
    arrays must be long enough for any content.
    """
    size = len(data)
    tabs = np.empty(_TABS, np.int64)
    visited = np.empty(len(heads), np.int32)
    at = line = sentence = word = bad = 0
    while at < size:
        while at < size and data[at] == _LF:
            at += 1
            line += 1
        if at == size:
            break
        content, first_line = at, line
        begin = 0 if sentence + bad == 0 else content
        code, start, stop, at, count, n = _index_sentence(
            data, at, rules, roles, tabs, starts[word:], stops[word:], heads[word:]
        )
        if code == OK and rules[6]:
            code, culprit = _check_tree(heads[word : word + n], visited[:n])
            if code != OK:
                row = word + culprit - 1
                start, stop = starts[row, HEAD], stops[row, HEAD]
        if code == OK:
            line += count
            sentence_bytes[sentence] = begin
            lines[sentence] = first_line
            words[sentence] = word
            sentence += 1
            word += n
        else:
            at = _after_blank_lines(data, content)
            line = first_line
            for k in range(begin, at):
                if data[k] == _LF:
                    line += 1
            errors[bad, 0], errors[bad, 1], errors[bad, 2] = code, start, stop
            errors[bad, 3], errors[bad, 4] = begin, at
            bad += 1
    sentence_bytes[sentence] = size
    words[sentence] = word
    return sentence, word, bad


def index_arrays(lines: int) -> dict[str, NDArray[Any]]:
    """Output arrays of `index_sentences` for any data of so many lines (unused pages cost nothing)."""
    sentences = lines // 2 + 2
    return {
        "sentence_bytes": np.empty(sentences + 1, np.int64),
        "lines": np.empty(sentences, np.int64),
        "words": np.empty(sentences + 1, np.int32),
        "starts": np.empty((lines + 1, 8), np.int32),
        "stops": np.empty((lines + 1, 8), np.int32),
        "heads": np.empty(lines + 1, np.int32),
        "errors": np.empty((sentences, 5), np.int64),
    }
