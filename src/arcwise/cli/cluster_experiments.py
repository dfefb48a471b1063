"""The commands of `arcwise experiment` for word clusters: the tables and figures of chapter 3 of Koo's thesis."""

from __future__ import annotations

from pathlib import Path

import click

from arcwise.cli.experiment_tables import (
    check_plot,
    check_tables,
    existing_file_type,
    folder_type,
    plot_option,
    show_table,
    table_option,
    write_option,
    write_picture,
)

_treebank = click.argument("treebank", type=folder_type)
_clusters = click.option(
    "--clusters", required=True, type=existing_file_type, metavar="FILE",
    help="Word clusters, as `arcwise cluster` and others write them.",
)  # fmt: skip


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


CLUSTERS = (bigrams, depths)
