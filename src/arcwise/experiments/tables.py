"""Tables of numbers, by name of the row and of the column: as a file of tab-separated values, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from arcwise.treebank.writing import open_output

Rows = Mapping[str, Mapping[str, float]]


class Count(int):
    """A whole number that tables show without digits after the point."""


def with_mean(rows: Rows) -> dict[str, Mapping[str, float]]:
    """The rows, all of the same columns, and the mean of each column below them.

    >>> with_mean({"aa": {"UAS": 80.0}, "bb": {"UAS": 90.0}})["mean"]
    {'UAS': 85.0}
    """
    first = next(iter(rows.values()))
    return {
        **rows,
        "mean": {column: float(np.mean([row[column] for row in rows.values()])) for column in first},
    }


def write_table(file: Path, title: str, rows: Rows) -> None:
    """Write all rows at once; the first column has their names and the title above them."""
    lines = _lines(title, list(next(iter(rows.values()))), rows)
    with open_output(file, compress=False) as output:
        output.write("".join("\t".join(line) + "\n" for line in lines).encode())


def markdown(title: str, rows: Rows, prefix: str = "") -> Iterator[str]:
    """The lines of a table of the columns whose names begin with a prefix, which is left out.

    >>> print(*markdown("UAS", {"aa": {"dev Sib": 80.0, "seconds": 0.00123}}), sep=chr(10))
    | UAS | dev Sib | seconds |
    |---|---:|---:|
    | aa | 80.00 | 0.00123 |
    """
    columns = [column for column in next(iter(rows.values())) if column.startswith(prefix)]
    header, *lines = _lines(title, columns, rows)
    yield _line([header[0], *(cell.removeprefix(prefix) for cell in header[1:])])
    yield "|---|" + "---:|" * len(columns)
    yield from map(_line, lines)


def _lines(title: str, columns: list[str], rows: Rows) -> Iterator[list[str]]:
    yield [title, *columns]
    for name, row in rows.items():
        yield [name, *(_shown(row[column]) for column in columns)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _shown(value: float) -> str:
    """Two digits after the point; of small numbers, the first three; none of a Count."""
    if isinstance(value, Count):
        return str(int(value))
    if value == 0 or abs(value) >= 1:
        return f"{value:.2f}"
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")
