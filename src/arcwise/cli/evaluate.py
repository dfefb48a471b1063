"""`arcwise evaluate`: how good a system's trees are."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import click

from arcwise.cli.terminal import progress_bar, say

_TITLES = {
    "scores": "{system} against {gold}",
    "labels": "{system}, by label",
    "sentence_lengths": "{system}, by length of the sentence in words",
    "arc_lengths": "{system}, by length of the arc",
    "calibration": "{system}, probabilities",
    "heads_reliability": "{system}, heads by their probability",
    "labels_reliability": "{system}, labels of right heads by their probability",
    "both_reliability": "{system}, heads with labels by their probability",
    "trees_reliability": "{system}, whole trees by their probability",
    "significance": "{system} minus {second}",
}
# All other fractions are shown as percentages.
_PLAIN_NUMBERS = {"bootstrap_p": ".3g", "sign_p": ".3g", "brier": ".4f", "log_loss": ".4f"}
_SHORT = {
    "precision": "prec",
    "aligned_accuracy": "aligned",
    "difference": "diff",
    "bootstrap_p": "boot_p",
    "confidence": "conf",
    "accuracy": "acc",
}
_LEFT_OUT = {"scores": ("correct", "gold", "system")}  # of the tables for people: they should fit on a screen
_NOTES = """\
Fractions are in percent. low, high: 95% bootstrap interval over sentences ({samples} samples, seed {seed}).
prec: precision. aligned: accuracy on the words that both files have. LA: labels. Root: words attached to the
root. UEM, LEM: whole trees without and with labels.
uas, las of a label: the gold words that have it and whose head, whose head and label are right."""
_SIGNIFICANCE_NOTES = """\
better, worse: sentences with more, with fewer words right. sign_p: exact sign test on them, ties dropped.
boot_p: paired bootstrap. Both are two-sided."""
_CALIBRATION_NOTES = """\
conf: mean probability. acc: share that is right. diff: conf - acc, above 0 if too sure. ece, mce: expected
and maximum calibration error, the mean of |diff| over the bins weighted by words, and the greatest. brier:
mean squared error. log_loss: mean of -log of the probability of what was the case. not_aligned, unknown: the
system's words that are not counted, as they have no counterpart, or no probability (they are in sentences that
were parsed in pieces). Of trees, words are sentences."""

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
@click.option(
    "--calibration",
    is_flag=True,
    help="Also measure how well the probabilities fit that `arcwise parse --confidence` wrote to SYSTEM.",
)
@click.option("--samples", type=click.IntRange(1), default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
def command(
    gold: str, system: str, second: str | None, output: str, calibration: bool, samples: int, seed: int
) -> None:
    """Score the trees of SYSTEM against those of GOLD.

    The files hold the same text; where their words differ they are aligned by characters, as udeval does. The
    convention of every score stands beside it. A HEAD of `_` counts as wrong in SYSTEM and is refused in
    GOLD. With SYSTEM2, the difference between the two systems is tested for significance, sentence by
    sentence. Columns that GOLD lacks (`_` everywhere) have no scores, and if all tags of SYSTEM are those of GOLD, a note says so.

    --calibration reads the probabilities in MISC of SYSTEM (ArcProb, LabelProb) and in its comments (tree_prob), and
    shows whether of the words, and of the trees, that are right with probability 0.9, say, nine in ten are: a
    reliability table each for heads, labels, both and whole trees, expected and maximum calibration error, Brier score
    and log-loss.

    \b
    Example:
      arcwise evaluate gold.conllu parsed.conllu
      arcwise evaluate gold.conllu ours.conllu theirs.conllu --format json
      arcwise parse gold.conllu --confidence -o parsed.conllu
      arcwise evaluate gold.conllu parsed.conllu --calibration
    """
    from arcwise.evaluation.attachment import CONVENTIONS, Scores, attachment_scores
    from arcwise.evaluation.calibration import PROBABILITIES, read_confidences, read_tree_probabilities
    from arcwise.evaluation.columns import Strings, read_columns
    from arcwise.evaluation.report import (
        calibration_tables,
        has_gold_tags,
        significance_table,
        system_tables,
    )
    from arcwise.treebank.reading import Treebank, read_conllu

    with progress_bar():
        strings = Strings()
        gold_columns = read_columns(gold, strings)
        scores: list[Scores] = []
        given: list[str] = []
        sections: list[Section] = []
        for file in [system] if second is None else [system, second]:
            treebank = read_conllu(file) if calibration else file  # to be read twice
            scores.append(attachment_scores(gold_columns, read_columns(treebank, strings)))
            if has_gold_tags(scores[-1]):
                given.append(file)
            tables = system_tables(scores[-1], seed=seed, samples=samples)
            if isinstance(treebank, Treebank):
                comparison = scores[-1].comparison
                known = read_confidences(treebank, comparison.system)
                of_trees = read_tree_probabilities(treebank, comparison.system)
                tables |= calibration_tables(comparison, known, of_trees)
            sections += [(name, {"gold": gold, "system": file}, table) for name, table in tables.items()]
        if second is not None:
            table = significance_table(*scores, seed=seed, samples=samples)
            sections.append(("significance", {"gold": gold, "system": system, "second": second}, table))

    for file in given:
        say(
            f"note: {file}: the tags of all words are those of {gold}; they were given to the parser, it seems, which helps it "
            "(arcwise parse --retag finds its own)"
        )
    if output == "json":
        head: dict[str, Any] = {"conventions": CONVENTIONS, "seed": seed, "samples": samples}
        if calibration:
            head["probabilities"] = PROBABILITIES
        click.echo(json.dumps(head | {"tables": [_as_object(*section) for section in sections]}, indent=1))
    elif output == "csv":
        click.echo(_as_csv(sections), nl=False)
    else:
        _show(sections)
        click.echo(_NOTES.format(samples=samples, seed=seed))
        if second is not None:
            click.echo(_SIGNIFICANCE_NOTES)
        if calibration:
            click.echo(_CALIBRATION_NOTES)
        for name, meaning in ((PROBABILITIES if calibration else {}) | CONVENTIONS).items():
            click.echo(f"{name}: {meaning}.")


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
        return "<1e-300" if value == 0 and column.endswith("_p") else f"{value:{_PLAIN_NUMBERS[column]}}"
    return f"{100 * value:.2f}"
