"""The commands of `arcwise experiment` for word clusters: the tables and figures of chapter 3 of Koo's thesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcwise.cli.experiment_tables import (
    check_plot,
    check_tables,
    existing_file_type,
    folder_of_models,
    folder_type,
    keep_last,
    models_option,
    patient_epochs_option,
    plot_option,
    show_table,
    table_option,
    write_option,
    write_picture,
)
from arcwise.cli.terminal import jobs_option, progress_bar

if TYPE_CHECKING:
    from arcwise.experiments.cluster_models import Parsers
    from arcwise.experiments.tables import Rows
    from arcwise.experiments.trained_models import Tell

    Grow = Callable[[Parsers, int, Tell], Iterator[Rows]]

_treebank = click.argument("treebank", type=folder_type)
_clusters = click.option(
    "--clusters", required=True, type=existing_file_type, metavar="FILE",
    help="Word clusters, as `arcwise cluster` and others write them.",
)  # fmt: skip


def _numbers(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    """Positive numbers, separated by commas; in order, each once."""
    try:
        numbers = sorted({int(number) for number in text.split(",")})
    except ValueError:
        numbers = [0]
    if numbers[0] < 1:
        raise click.BadParameter(f"{text!r}, expected positive numbers, separated by commas")
    return tuple(numbers)


def _trained(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of experiments that train parsers."""
    for option in (
        jobs_option, models_option, patient_epochs_option(6), write_option, table_option, _clusters, _treebank
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@_trained
@click.option(
    "--sizes", default="1000,2000,4000,8000", show_default=True, callback=_numbers, metavar="N,...",
    help="Training sentences; those that the treebank does not have are left out, half and all of it are added.",
)  # fmt: skip
@plot_option
def curves(sizes: tuple[int, ...], plot: Path | None, **options: Any) -> None:
    """What parsers of first and second order reach on dev that learn from ever more sentences, without and with word clusters, as in
    tables 3.3 and 3.6 of Koo's thesis; and how half of the sentences with clusters compare with all of them without.

    The sentences are evenly spaced over the treebank. They are tagged by jackknifing, by a tagger without clusters that learns from
    all sentences, or from as many as the parser. UAS and LAS count all words. The table is rewritten after every size. A run that
    was stopped goes on with the models and epochs that it left. With --write the table is named `curves TREEBANK`.

    \b
    Example:
      arcwise experiment curves treebanks/en_ewt --clusters en.tsv -o curves.tsv --models models --plot curves.svg
    """
    from arcwise.experiments.curves import curves, figure, sizes_of, tables

    form = check_plot(plot)

    def grow(parsers: Parsers, jobs: int, tell: Tell) -> Iterator[Rows]:
        return curves(parsers, sizes_of(sizes, parsers.sentences), jobs, tell)

    bank, rows = _grow("curves", "sentences", grow, **options)
    if plot is not None:
        write_picture(figure(bank, rows, form), plot)
    show_table(list(tables(bank, rows)), f"curves {bank}", options["write"])


@click.command()
@_trained
@click.option(
    "--words", default="100,200,400,800,1600", show_default=True, callback=_numbers, metavar="N,...",
    help="How many words, the most frequent of the treebank, features are of; every word is added.",
)  # fmt: skip
def frequent(words: tuple[int, ...], **options: Any) -> None:
    """What parsers of first and second order reach on dev if they know the N most frequent words only, by form and lemma, without and
    with clusters, as in table 3.7 of Koo's thesis; and if they know every word, but join only the N most frequent with clusters.

    Tags are predicted by jackknifing, by a tagger without clusters that knows every word. Models of `arcwise experiment curves` are
    used again. With --write the table is named `frequent TREEBANK`.

    \b
    Example:
      arcwise experiment frequent treebanks/en_ewt --clusters en.tsv -o frequent.tsv --models models
    """
    from arcwise.experiments.frequent import frequent

    bank, rows = _grow(
        "frequent", "words", lambda parsers, jobs, tell: frequent(parsers, words, jobs, tell), **options
    )
    _show("frequent", bank, rows, options["write"])


@click.command()
@_trained
def untagged(**options: Any) -> None:
    """What parsers of first and second order reach on dev without and with clusters, with predicted tags and where UPOS, XPOS, FEATS
    and LEMMA are _ in training and on dev and no template sees them, as in table 3.8 of Koo's thesis.

    Tags are predicted by jackknifing, by a tagger without clusters. The models with tags are those of `arcwise experiment curves`.
    With --write the table is named `untagged TREEBANK`.

    \b
    Example:
      arcwise experiment untagged treebanks/en_ewt --clusters en.tsv -o untagged.tsv --models models
    """
    from arcwise.experiments.untagged import untagged

    bank, rows = _grow("untagged", "dev", untagged, **options)
    _show("untagged", bank, rows, options["write"])


def _show(name: str, bank: str, rows: Rows, write: Path | None) -> None:
    """A table for each metric."""
    from arcwise.experiments.cluster_models import METRICS
    from arcwise.experiments.tables import markdown

    lines = [line for metric in METRICS for line in (*markdown(f"{bank}, {metric}", rows, f"{metric}, "), "")]
    show_table(lines[:-1], f"{name} {bank}", write)


def _grow(
    name: str, title: str, grow: Grow, *, treebank: Path, clusters: Path, output: Path, write: Path | None, epochs: int,
    models: Path | None, jobs: int,
) -> tuple[str, Rows]:  # fmt: skip
    """The treebank's name and the table, trained for where need be; written whenever it has grown."""
    from arcwise.clusters.files import read_clusters
    from arcwise.experiments.cluster_models import Parsers

    bank = treebank.resolve().name
    check_tables((treebank,), f"{name} {bank}", write)
    read_clusters(clusters)  # refuses what is none
    parsers = Parsers(treebank, clusters, folder_of_models(output, models), epochs, jobs)
    with progress_bar() as show:
        growing = grow(parsers, jobs, lambda share: show("training and parsing", share, 1))
        return bank, keep_last(output, title, growing)


@click.command()
@_treebank
@_clusters
@table_option
@write_option
@plot_option
def bigrams(treebank: Path, clusters: Path, output: Path, write: Path | None, plot: Path | None) -> None:
    """How often the head-modifier bigrams of the development treebank occur in the training treebank, by words and by the first 8 and
    6 bits of their clusters, as in figure 3-2 of Koo's thesis.

    Arcs from the root are left out. A word has the cluster of its form, or else of its form in lower case; words without one are one
    class together, and the column `unseen or no cluster` counts them as unseen. A column K% says how often, at most, K% of the
    bigrams occur. With --write the table is named `bigrams TREEBANK`.

    \b
    Example:
      arcwise experiment bigrams treebanks/en_ewt --clusters en.tsv -o bigrams.tsv --plot bigrams.svg
    """
    from arcwise.clusters.files import read_clusters
    from arcwise.draw.clusters import bigram_picture
    from arcwise.experiments.bigrams import measure
    from arcwise.experiments.learners import treebank_files
    from arcwise.experiments.tables import markdown, write_table

    bank = treebank.resolve().name
    form = check_plot(plot)
    check_tables((treebank,), f"bigrams {bank}", write)
    train, dev, _ = treebank_files(treebank)
    rows, frequencies = measure(train, dev, read_clusters(clusters))
    write_table(output, "bigrams of", rows)
    if plot is not None:
        write_picture(bigram_picture(bank, frequencies, form), plot)
    show_table(list(markdown(f"{bank}, dev bigrams in train", rows)), f"bigrams {bank}", write)


@click.command()
@_clusters
@click.option(
    "--name",
    help="Of the clusters, in the table and the picture.  [default: the file's, up to the first dot]",
)
@table_option
@write_option
@plot_option
def depths(clusters: Path, name: str | None, output: Path, write: Path | None, plot: Path | None) -> None:
    """How deep clusters lie in their tree, and how frequent classes are: whole bit strings, those cut off after 4, 6 and 8 bits, and
    as many of about equal frequency, as in figures 3-3 and 3-4 of Koo's thesis.

    With --write the table is named `depths NAME`.

    \b
    Example:
      arcwise experiment depths --clusters en.tsv -o depths.tsv --plot depths.svg
    """
    from arcwise.clusters.files import read_clusters
    from arcwise.experiments.depths import cuts, figures_3_and_4, table, tables
    from arcwise.experiments.tables import write_table

    name = name or clusters.name.split(".")[0]
    form = check_plot(plot)
    check_tables((), f"depths {name}", write)
    found = cuts(read_clusters(clusters))
    write_table(output, "classes cut by", table(found))
    if plot is not None:
        write_picture(figures_3_and_4(name, found, form), plot)
    show_table(list(tables(name, found)), f"depths {name}", write)


CLUSTERS = (curves, frequent, untagged, bigrams, depths)
