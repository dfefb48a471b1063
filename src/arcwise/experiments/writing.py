"""Tables in a Markdown file, each between two marks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arcwise.errors import InputError
from arcwise.treebank.writing import open_output


def replace_table(file: Path, name: str, lines: Iterable[str]) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end of name -->`, all at once."""
    text = file.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise InputError(
            f"no place for the table {name!r}",
            expected=f"the lines {begin.strip()} and {end.strip()}",
            file=str(file),
        )
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    table = "".join(f"{line}\n" for line in lines)
    with open_output(file, compress=False) as output:
        output.write((before + begin + table + end + after).encode())
