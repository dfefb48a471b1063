"""What is wrong with a sentence, in words: from the codes and byte ranges of `indexing` to an InputError."""

from __future__ import annotations

from arcwise.errors import InputError
from arcwise.treebank import indexing as code
from arcwise.treebank.formats import Format

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 40  # characters of the input in a message


def _show(text: bytes) -> str:
    shown = text[: 4 * _SHOWN].decode("utf-8", "replace")
    return repr(shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "...")


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def complaint(
    error: int, data: bytes | bytearray, start: int, stop: int, *, format: Format, file: str, first_line: int
) -> InputError:
    """The InputError for a code of `indexing` at data[start:stop]; data[0] stands on line `first_line`."""
    begin = data.rfind(b"\n", 0, start) + 1
    end = data.find(b"\n", start)
    line = bytes(data[begin : len(data) if end < 0 else end])
    if error == code.BAD_UTF8 and end < 0:
        error = code.UNENDED_LINE
    token = None
    if b"\t" in line and not line.startswith(b"#"):
        token = _show(line.split(b"\t", 1)[0])[1:-1]
    found, expected = _explain(error, bytes(data[start:stop]), line, start - begin, format)
    if line.startswith(_BYTE_ORDER_MARK):
        found, expected, token = "a byte order mark", "UTF-8 without one", None
    place = first_line + data.count(b"\n", 0, start)
    return InputError(found, expected=expected, file=file or None, line=place, token=token)


def _explain(error: int, culprit: bytes, line: bytes, offset: int, format: Format) -> tuple[str, str | None]:
    """What was found and what was expected."""
    columns = line.count(b"\t") + 1
    if error == code.BAD_UTF8:
        return f"byte {offset + 1} of the line, 0x{line[offset]:02x}, is not UTF-8", "UTF-8"
    if error == code.CARRIAGE_RETURN:
        ends = offset == len(line) - 1
        return ("a line ending of CR LF", "LF alone") if ends else ("a carriage return inside the line", None)
    if error == code.COLUMN_COUNT:
        spaces = ", separated by spaces" if columns == 1 and len(line.split()) >= format.minimum - 2 else ""
        at_least = "at least " if format.more_columns else ""
        return _columns(columns) + spaces, f"{at_least}{format.minimum}, separated by tabs"
    if error == code.EMPTY_COLUMN:
        column = line.count(b"\t", 0, offset)
        name = format.columns[column] if column < len(format.columns) else "the column"
        return f"column {column + 1} ({name}) is empty", "a value or _"
    if error == code.BAD_ID and not format.ranges and culprit.translate(None, b"0123456789") in (b"-", b"."):
        return (
            f"ID is {_show(culprit)}",
            f"a number ({format.name} has no ranges and no empty nodes; conllu has)",
        )
    shown = _show(culprit)
    return {
        code.NUL: ("a NUL byte", "text in UTF-8"),
        code.UNENDED_LINE: (
            "the file ends inside a line",
            "a line feed at its end: the file seems truncated",
        ),
        code.UNENDED_SENTENCE: ("the file ends without a blank line", "one after the last sentence"),
        code.LONG_LINE: ("a line of more than 1 MiB", "a shorter one"),
        code.LONG_SENTENCE: ("a sentence of more than 64 MiB", "a blank line after every sentence"),
        code.NO_WORDS: ("a sentence without words", "at least one word"),
        code.COMMENT_NOT_ALLOWED: ("a comment", f"a word ({format.name} has no comments; conllu has)"),
        code.LATE_COMMENT: ("a comment inside a sentence", "comments before the first word only"),
        code.COLUMNS_DIFFER: (_columns(columns), "as many as on the sentence's first line"),
        code.BAD_ID: (f"ID is {shown}", "a number, a range a-b, or an empty node a.b"),
        code.WRONG_ID: (f"ID is {shown}", "the words numbered 1, 2, 3, ... in order"),
        code.MISPLACED_RANGE: (f"range {shown}", "a range to stand right before its first word"),
        code.SHORT_RANGE: (f"range {shown}", "a range of two words or more"),
        code.OVERLAPPING_RANGE: (f"range {shown} overlaps the range before it", "separate ranges"),
        code.UNENDED_RANGE: ("the range ends after the last word", "a range of the sentence's words"),
        code.WRONG_EMPTY_NODE: (f"empty node {shown}", "empty nodes numbered i.1, i.2, ... after word i"),
        code.BAD_HEAD: (f"HEAD is {shown}", "a number or _"),
        code.HEAD_BEYOND: (f"HEAD is {shown}", "a word of the sentence, or 0"),
        code.OWN_HEAD: (f"HEAD is {shown}, the word itself", "another word, or 0"),
        code.NO_ROOT: ("no word has HEAD 0", "at least one root"),
        code.CYCLE: ("the heads form a cycle through this word", "a tree"),
    }[error]
