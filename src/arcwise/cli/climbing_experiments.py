"""The commands of `arcwise experiment` for hill climbing: the tables and figures of Zhang et al. 2014."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.experiment_tables import (
    check_plot,
    grow_table,
    models_option,
    patient_epochs_option,
    plot_option,
    show_table,
    table_option,
    treebanks_argument,
    write_option,
    write_picture,
)
from arcwise.cli.terminal import jobs_option

if TYPE_CHECKING:
    from arcwise.experiments.tables import Rows

_epochs = patient_epochs_option(10)
_restarts = click.option(
    "--restarts", type=click.IntRange(1), default=20, show_default=True,
    help="Runs in a row without a better tree after which a sentence is done.",
)  # fmt: skip


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@_restarts
@plot_option
@jobs_option
def full(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, restarts: int,
    plot: Path | None, jobs: int,
) -> None:  # fmt: skip
    """First order, third order and the full model without and with a tensor by hill climbing, and first order exactly: accuracy on
    the test treebanks, CPU time, and the gain of the full model by the length of sentences, as in table 4 and figure 4 of Zhang et
    al. 2014.

    Models are trained as `arcwise train --gold-tags` does it. Where there is no file dev*, every tenth training sentence is held out
    in its place. The table is rewritten after every treebank. A run that was stopped goes on with the models and epochs that it left.

    \b
    Example:
      arcwise experiment full treebanks/hu_szeged treebanks/sl_sst -o full.tsv --models models --plot full.svg
    """
    from arcwise.experiments.full import figure_4, table_4, tables

    form = check_plot(plot)
    rows = _grow(partial(table_4, restarts=restarts), treebanks, output, write, epochs, models, jobs, "full")
    if plot is not None:
        write_picture(figure_4(_without_mean(rows), form), plot)
    show_table(list(tables(rows)), "full", write)


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@_restarts
@jobs_option
def climbing(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, restarts: int, jobs: int
) -> None:  # fmt: skip
    """Hill climbing (HC) against dual decomposition (DD, K = 5000) on the test treebanks, with models of siblings and grandchildren
    trained by either: proofs, whose trees score higher, and how many of the trees that are proved best climbing finds, as in table 3
    of Zhang et al. 2014.

    Where there is no file dev*, every tenth training sentence is held out in its place.
    """
    from arcwise.experiments.climbing import table_3, tables

    rows = _grow(
        partial(table_3, restarts=restarts), treebanks, output, write, epochs, models, jobs, "climbing"
    )
    show_table(list(tables(rows)), "climbing", write)


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@jobs_option
def optima(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, jobs: int
) -> None:
    """How many local optima the test sentences have under first-order models trained by climbing, and how often 300 runs from trees
    drawn uniformly find the best tree, as in table 2 of Zhang et al. 2014. The models are those of `arcwise experiment full`.

    Where there is no file dev*, every tenth training sentence is held out in its place.
    """
    from arcwise.experiments.optima import table, table_2

    rows = _grow(table_2, treebanks, output, write, epochs, models, jobs, "optima", mean=False)
    show_table(list(table(rows)), "optima", write)


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@_restarts
@jobs_option
def starts(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, restarts: int, jobs: int
) -> None:  # fmt: skip
    """Where climbing begins: at the first-order best tree only, at trees drawn uniformly, or at trees drawn from the first-order
    distribution; UAS of these and of what is found, as in table 5 of Zhang et al. 2014. The models are those of `arcwise experiment
    full`.

    Where there is no file dev*, every tenth training sentence is held out in its place.
    """
    from arcwise.experiments.starts import table_5, tables

    rows = _grow(
        partial(table_5, restarts=restarts), treebanks, output, write, epochs, models, jobs, "starts"
    )
    show_table(list(tables(rows)), "starts", write)


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@click.option(
    "--sentences", type=click.IntRange(1), metavar="N", help="Of a test treebank, at most: from all over it."
)
@plot_option
@jobs_option
def restarts(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, sentences: int | None,
    plot: Path | None, jobs: int,
) -> None:  # fmt: skip
    """What 1 to 3000 runs of climbing bring to the full model: how often 300 find the best tree of all, scores and UAS against the
    number of runs, and what they cost, as in table 6 and figures 5 and 6 of Zhang et al. 2014. The models are those of `arcwise
    experiment full`.

    A sentence takes 5200 runs in all. Where there is no file dev*, every tenth training sentence is held out in its place.

    \b
    Example:
      arcwise experiment restarts treebanks/hu_szeged -o restarts.tsv --models models --sentences 200 --plot restarts.svg
    """
    from arcwise.experiments.restarts import figures_5_and_6, table_6, tables

    form = check_plot(plot)
    rows = _grow(partial(table_6, most=sentences), treebanks, output, write, epochs, models, jobs, "restarts")
    if plot is not None:
        write_picture(figures_5_and_6(_without_mean(rows), form), plot)
    show_table(list(tables(rows)), "restarts", write)


@click.command()
@treebanks_argument
@table_option
@write_option
@_epochs
@models_option
@jobs_option
def independent(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, jobs: int
) -> None:
    """The head of every word on its own against trees, first order, each trained with its own search and the same features: UAS on
    the test treebanks, as in table 1 of Zhang et al. 2014.

    Where there is no file dev*, every tenth training sentence is held out in its place.
    """
    from arcwise.experiments.independent import table_1, tables

    rows = _grow(table_1, treebanks, output, write, epochs, models, jobs, "independent")
    show_table(list(tables(rows)), "independent", write)


def _grow(
    table: Callable[..., Iterator[Rows]], treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int,
    models: Path | None, jobs: int, name: str, mean: bool = True,
) -> Rows:  # fmt: skip
    """As `grow_table`, of treebanks that need no development file."""
    from arcwise.experiments.climbing_models import files_of

    return grow_table(table, treebanks, output, write, epochs, models, jobs, name, files_of, mean)


def _without_mean(rows: Rows) -> Rows:
    return dict(list(rows.items())[:-1])


CLIMBING = (full, climbing, optima, starts, restarts, independent)
