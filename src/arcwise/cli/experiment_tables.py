"""What the commands of `arcwise experiment` share: options, checks, and tables that grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from arcwise.experiments.tables import Rows

folder_type = click.Path(exists=True, file_okay=False, path_type=Path)
file_type = click.Path(dir_okay=False, path_type=Path)
existing_file_type = click.Path(exists=True, dir_okay=False, path_type=Path)
treebanks_argument = click.argument("treebanks", nargs=-1, required=True, type=folder_type)
write_option = click.option(
    "--write", type=file_type, help="Replace the table of this name in a Markdown file."
)
table_option = click.option(
    "-o", "--output", required=True, type=file_type, metavar="TABLE.tsv", help="Where to write the table, tab-separated."
)  # fmt: skip
epochs_option = click.option(
    "--epochs", type=click.IntRange(1), default=8, show_default=True, help="Of training; the best is kept."
)
models_option = click.option(
    "--models", type=click.Path(file_okay=False, path_type=Path),
    help="Where trained models are kept; those that are there are not trained again.  [default: where the output is]",
)  # fmt: skip
plot_option = click.option(
    "--plot", type=file_type, metavar="FILE.png|svg|pdf",
    help="Where to draw it. Needs Matplotlib: pip install 'arcwise[plot]'.",
)  # fmt: skip


def patient_epochs_option(default: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For trainings as those of `arcwise train`."""
    return click.option(
        "--epochs", type=click.IntRange(1), default=default, show_default=True,
        help="Of training, at most; it ends after three without a better LAS on dev, and the best is kept.",
    )  # fmt: skip


def check_tables(
    treebanks: tuple[Path, ...], name: str, write: Path | None, files: Callable[[Path], object] | None = None
) -> None:
    """What is wrong with the files must not be found out at the end only. files: finds those of a treebank, or refuses it."""
    from arcwise.errors import InputError
    from arcwise.experiments.learners import treebank_files
    from arcwise.experiments.writing import around_table

    for treebank in treebanks:
        (files or treebank_files)(treebank)
    if len({treebank.resolve().name for treebank in treebanks}) < len(treebanks):
        raise InputError("two treebanks of one name", expected="folders of different names")
    if write is not None:
        around_table(write, name)


def folder_of_models(output: Path, models: Path | None) -> Path:
    """Where models are kept, made if need be."""
    from arcwise.errors import InputError

    if not output.parent.is_dir():
        raise InputError("no such folder", file=str(output.parent))
    folder = models or output.parent
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def grow_table(
    table: Callable[..., Iterator[Rows]], treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int,
    models: Path | None, jobs: int, name: str, files: Callable[[Path], object] | None = None, mean: bool = True,
) -> Rows:  # fmt: skip
    """A table with a row for every treebank and their mean, if wanted, trained for where need be; written whenever it has grown."""
    from arcwise.experiments.tables import with_mean

    check_tables(treebanks, name, write, files)
    folder = folder_of_models(output, models)
    with progress_bar() as show:
        growing = table(
            list(treebanks), folder, epochs, jobs, lambda share: show("training and parsing", share, 1)
        )
        return keep_last(output, "treebank", map(with_mean, growing) if mean else growing)


def keep_last(output: Path, title: str, growing: Iterable[Rows]) -> Rows:
    """Write a table whenever it has grown; returns the last."""
    from arcwise.experiments.tables import write_table

    rows: Rows = {}
    for rows in growing:
        write_table(output, title, rows)
    return rows


def show_table(lines: list[str], name: str, write: Path | None) -> None:
    """Write the lines into a Markdown file, if there is one, and print them."""
    from arcwise.experiments.writing import replace_table

    if write is not None:
        replace_table(write, name, lines)
    for line in lines:
        click.echo(line)


def check_plot(plot: Path | None) -> str:
    """The form of a picture. What is wrong with it must not be found out at the end only."""
    from arcwise.draw.figures import EXPERIMENTS, FORMS, check_form
    from arcwise.errors import InputError

    if plot is None:
        return ""
    form = plot.suffix[1:].lower()
    if form not in FORMS:
        raise click.UsageError(f"--plot {plot}: expected a name that ends in .png, .svg or .pdf")
    if not plot.parent.is_dir():
        raise InputError("no such folder", file=str(plot.parent))
    check_form(form, EXPERIMENTS)
    return form


def write_picture(picture: bytes, plot: Path) -> None:
    """Write a picture, and say so."""
    from arcwise.treebank.writing import open_output

    with open_output(plot) as file:
        file.write(picture)
    say(f"drew {plot}")
