"""Tables in a Markdown file, each between two marks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arcwise.errors import InputError
from arcwise.treebank.sources import describe
from arcwise.treebank.writing import open_output


def around_table(file: Path, name: str) -> tuple[str, str]:
    """The text up to the line `<!-- name -->` and from the line `<!-- end of name -->` on; InputError if they are not there."""
    try:
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read it: {describe(error)}", file=str(file)) from None
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise InputError(
            f"no place for the table {name!r}",
            expected=f"the lines {begin.strip()} and {end.strip()}",
            file=str(file),
        )
    return text[: text.index(begin) + len(begin)], text[text.index(end) :]


def replace_table(file: Path, name: str, lines: Iterable[str]) -> None:
    """Replace what stands between the two marks, all at once."""
    before, after = around_table(file, name)
    table = "".join(f"{line}\n" for line in lines)
    with open_output(file, compress=False) as output:
        output.write((before + table + after).encode())
