"""`arcwise evaluate`: how good a system's trees are."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import click

from arcwise.cli.terminal import progress_bar

_TITLES = {
    "scores": "{system} against {gold}",
    "labels": "{system}, by label",
    "sentence_lengths": "{system}, by length of the sentence in words",
    "arc_lengths": "{system}, by length of the arc",
    "significance": "{system} minus {second}",
}
_PLAIN_NUMBERS = ("bootstrap_p", "sign_p")  # all other fractions are shown as percentages
_SHORT = {"precision": "prec", "aligned_accuracy": "aligned", "difference": "diff", "bootstrap_p": "boot_p"}
_LEFT_OUT = {"scores": ("correct", "gold", "system")}  # of the tables for people: they should fit on a screen
_NOTES = """\
Fractions are in percent. low, high: 95% bootstrap interval over sentences ({samples} samples, seed {seed}).
prec: precision. aligned: accuracy on the words that both files have. LA: labels. Root: words attached to the
root. UEM, LEM: whole trees without and with labels.
uas, las of a label: the gold words that have it and whose head, whose head and label are right."""
_SIGNIFICANCE_NOTES = """\
better, worse: sentences with more, with fewer words right. sign_p: exact sign test on them, ties dropped.
boot_p: paired bootstrap. Both are two-sided."""

Section = tuple[str, dict[str, str], list[dict[str, Any]]]  # name, the files it is about, table


@click.command("evaluate")
@click.argument("gold", type=click.Path())
@click.argument("system", type=click.Path())
@click.argument("second", metavar="[SYSTEM2]", type=click.Path(), required=False)
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="Tables for people, or the same numbers as fractions for programs.",
)
@click.option("--samples", type=click.IntRange(1), default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
def command(gold: str, system: str, second: str | None, output: str, samples: int, seed: int) -> None:
    """Score the trees of SYSTEM against those of GOLD.

    The files hold the same text; where their words differ they are aligned by characters, as udeval does. The
    convention of every score stands beside it. A HEAD of `_` counts as wrong in SYSTEM and is refused in
    GOLD. With SYSTEM2, the difference between the two systems is tested for significance, sentence by
    sentence.

    \b
    Example:
      arcwise evaluate gold.conllu parsed.conllu
      arcwise evaluate gold.conllu ours.conllu theirs.conllu --format json
    """
    from arcwise.evaluation.attachment import CONVENTIONS, attachment_scores
    from arcwise.evaluation.columns import Strings, read_columns
    from arcwise.evaluation.report import significance_table, system_tables

    with progress_bar():
        strings = Strings()
        gold_columns = read_columns(gold, strings)
        files = [system] if second is None else [system, second]
        scores = [attachment_scores(gold_columns, read_columns(file, strings)) for file in files]
        sections: list[Section] = [
            (name, {"gold": gold, "system": file}, table)
            for file, of_file in zip(files, scores, strict=True)
            for name, table in system_tables(of_file, seed=seed, samples=samples).items()
        ]
        if second is not None:
            table = significance_table(*scores, seed=seed, samples=samples)
            sections.append(("significance", {"gold": gold, "system": system, "second": second}, table))

    if output == "json":
        head = {"conventions": CONVENTIONS, "seed": seed, "samples": samples}
        click.echo(json.dumps(head | {"tables": [_as_object(*section) for section in sections]}, indent=1))
    elif output == "csv":
        click.echo(_as_csv(sections), nl=False)
    else:
        _show(sections)
        click.echo(_NOTES.format(samples=samples, seed=seed))
        if second is not None:
            click.echo(_SIGNIFICANCE_NOTES)
        for convention, meaning in CONVENTIONS.items():
            click.echo(f"{convention}: {meaning}.")


def _as_object(name: str, files: dict[str, str], table: list[dict[str, Any]]) -> dict[str, Any]:
    return {"table": name, **files, "rows": table}


def _as_csv(sections: list[Section]) -> str:
    """One line per number: the table, the systems, the row, its convention, the column, the value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "system", "second", "row", "convention", "column", "value"])
    for name, files, table in sections:
        for row in table:
            key, convention, *columns = row
            for column in columns:
                place = [name, files["system"], files.get("second", ""), row[key], row[convention]]
                writer.writerow([*place, column, "" if row[column] is None else row[column]])
    return text.getvalue()


def _show(sections: list[Section]) -> None:
    """Rich tables on a terminal, aligned text elsewhere."""
    for name, files, table in sections:
        title = _TITLES[name].format(**files)
        columns = [column for column in table[0] if column not in _LEFT_OUT.get(name, ())]
        header = [_SHORT.get(column, column) for column in columns]
        rows = [[_as_text(column, row[column]) for column in columns] for row in table]
        if sys.stdout.isatty():
            _show_rich(title, header, rows)
        else:
            widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
            click.echo(title)
            for cells in [header, *rows]:
                named = [cell.ljust(width) for cell, width in zip(cells[:2], widths, strict=False)]
                numbers = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
                click.echo("  ".join([*named, *numbers]).rstrip())
        click.echo()


def _show_rich(title: str, header: list[str], rows: list[list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title),
        title_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        show_edge=False,
    )
    for number, column in enumerate(header):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _as_text(column: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if column in _PLAIN_NUMBERS:
        return f"{value:.3g}" if value > 0 else "<1e-300"
    return f"{100 * value:.2f}"
