"""What `arcwise analyze` found, as tables for people or as numbers for programs."""

from __future__ import annotations

import csv
import json
import sys
from typing import NamedTuple

import click

Numbers = dict[str, float | dict[str, float]]
Cell = str | int | float


class Table(NamedTuple):
    """What is printed: a title, the names of the columns, and the rows."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]


class Report(NamedTuple):
    """What is known of a treebank: all numbers, by name, those that have a parameter as an inner dictionary; and the tables."""

    name: str
    numbers: Numbers
    tables: list[Table]


def print_reports(reports: list[Report], form: str) -> None:
    """Print them as "text", "json" or "csv". If there are several, the last is of all treebanks together; CSV leaves it out."""
    each = reports[:-1] if len(reports) > 1 else reports
    if form == "json":
        report: dict[str, object] = {"treebanks": [{"name": one.name, **one.numbers} for one in each]}
        if len(reports) > 1:
            report["all"] = reports[-1].numbers
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    elif form == "csv":
        _write_csv(each)
    elif sys.stdout.isatty():
        _print_rich(reports)
    else:
        for one in reports:
            click.echo(f"{one.name}\n{'=' * len(one.name)}\n")
            for table in one.tables:
                click.echo(f"{table.title}\n{_aligned(table)}\n")


def _write_csv(reports: list[Report]) -> None:
    """One number a line."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["treebank", "measure", "item", "value"])
    for one in reports:
        for measure, value in one.numbers.items():
            items = value.items() if isinstance(value, dict) else [("", value)]
            writer.writerows([one.name, measure, item, number] for item, number in items)


def _print_rich(reports: list[Report]) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    console = Console()
    for one in reports:
        console.rule(escape(one.name))
        for table in one.tables:
            drawn = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
            for at, column in enumerate(table.columns):
                drawn.add_column(column, justify="right" if _is_numeric(table, at) else "left")
            for row in table.rows:
                drawn.add_row(*(escape(_text(cell)) for cell in row))
            console.print(drawn)


def _aligned(table: Table) -> str:
    rows = [table.columns, *([_text(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numeric = [_is_numeric(table, at) for at in range(len(widths))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    )


def _is_numeric(table: Table, column: int) -> bool:
    return any(isinstance(row[column], int | float) for row in table.rows)


def _text(cell: Cell) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
