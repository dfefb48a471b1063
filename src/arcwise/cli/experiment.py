"""`arcwise experiment`: the papers' tables on treebanks of your own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.climbing_experiments import CLIMBING
from arcwise.cli.cluster_experiments import CLUSTERS
from arcwise.cli.experiment_tables import (
    check_tables,
    epochs_option,
    existing_file_type,
    file_type,
    folder_of_models,
    folder_type,
    grow_table,
    keep_last,
    models_option,
    show_table,
    table_option,
    treebanks_argument,
    write_option,
)
from arcwise.cli.terminal import jobs_option, progress_bar, say

if TYPE_CHECKING:
    from arcwise.experiments.learners import Outcome

_GIVES_UP = "After which a program gives up on a sentence; the best tree so far counts."


@click.group("experiment")
def command() -> None:
    """The papers' tables on treebanks of your own: folders with a file of each name train*, dev*, test*.

    In the file of --write the lines between `<!-- NAME -->` and `<!-- end of NAME -->` are replaced, where NAME is that of the
    experiment, or, of those with word clusters, that and the treebank's, as `curves en_ewt`.

    \b
    Example:
      arcwise experiment learners treebanks/hu_szeged treebanks/tr_imst --log learners.json
      arcwise experiment automata treebanks/hu_szeged treebanks/tr_imst -o automata.tsv --models models
    """


@command.command()
@treebanks_argument
@write_option
@click.option("--log", type=file_type, help="Keep what is done here; what is there is not done again.")
@jobs_option
def learners(treebanks: tuple[Path, ...], write: Path | None, log: Path | None, jobs: int) -> None:
    """Perceptron, max-margin (exponentiated gradient) and log-linear (stochastic gradient) training on projective and on all trees,
    as in Koo's thesis, tables 4.2 and 4.3, with sign tests over sentences.
    """
    from arcwise.experiments.learners import read_log, run_all, tables
    from arcwise.treebank.writing import open_output

    check_tables(treebanks, "learners", write)
    done = {} if log is None else read_log(log)

    def keep() -> None:
        if log is not None:
            with open_output(log, compress=False) as output:
                output.write(json.dumps(done).encode())

    def tell(key: str, outcome: Outcome) -> None:
        say(f"{key}: dev {outcome.dev:.2f}, test {outcome.test:.2f} ({outcome.best})")
        done[key] = outcome
        keep()

    keep()
    show_table(list(tables(run_all(list(treebanks), jobs, done, tell))), "learners", write)


@command.command()
@treebanks_argument
@write_option
def duality(treebanks: tuple[Path, ...], write: Path | None) -> None:
    """How the gap between primal and dual closes under exponentiated gradient, as appendix A of Koo's thesis says; on the first 500
    training sentences of every treebank.
    """
    from arcwise.experiments.duality import gaps, table

    check_tables(treebanks, "duality", write)
    lines = [
        line for treebank in treebanks for line in (*table(treebank.resolve().name, list(gaps(treebank))), "")
    ]
    show_table(lines, "duality", write)


@command.command()
@treebanks_argument
@table_option
@write_option
@epochs_option
@models_option
@jobs_option
def automata(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, jobs: int
) -> None:
    """Arcs alone (MST) and head automata of siblings (Sib) and of grandparents and siblings (G+S): accuracy, proofs by dual
    decomposition alone (K = 5000) and with the finish (exact), and CPU time, as in table 1 of Koo et al. 2010.

    The table is rewritten after every treebank. A run that was stopped goes on with the models that it left.
    """
    from arcwise.experiments.automata import table_1, tables

    rows = grow_table(table_1, treebanks, output, write, epochs, models, jobs, "automata")
    show_table(list(tables(rows)), "automata", write)


@command.command()
@treebanks_argument
@table_option
@write_option
@epochs_option
@models_option
@jobs_option
def projective(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, jobs: int
) -> None:
    """Accuracy of Sib and G+S on the development treebanks with all trees and with projective trees (P-Sib, P-G+S), as in table 3 of
    Koo et al. 2010. The models are those of `arcwise experiment automata`.
    """
    from arcwise.experiments.projective import table_3
    from arcwise.experiments.tables import markdown

    rows = grow_table(table_3, treebanks, output, write, epochs, models, jobs, "projective")
    show_table(list(markdown("UAS dev", rows)), "projective", write)


@command.command()
@click.option("--instances", type=click.IntRange(1), default=1000, show_default=True, help="Of each kind.")
@click.option("--words", type=click.IntRange(1, 40), default=10, show_default=True, help="Of an instance.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same gives the same scores."
)
@table_option
@write_option
@jobs_option
def random(instances: int, words: int, seed: int, output: Path, write: Path | None, jobs: int) -> None:
    """Proofs where all transitions of the automata have random scores, as in the last column of table 2 of Koo et al. 2010."""
    from arcwise.experiments.random_instances import table_2
    from arcwise.experiments.tables import markdown

    check_tables((), "random", write)
    ready: dict[str, dict[str, float]] = {}
    with progress_bar() as show:
        found = table_2(instances, words, seed, jobs, lambda share: show("searching", share, 1))
        rows = keep_last(output, "scores", (ready := {**ready, name: row} for name, row in found))
    show_table(list(markdown(f"{instances} instances of {words} words", rows)), "random", write)


@command.command()
@treebanks_argument
@table_option
@write_option
@epochs_option
@models_option
@click.option(
    "--longest",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The most words of a sentence, in table 2.",
)
@click.option(
    "--longest-full", type=click.IntRange(1), default=80, show_default=True,
    help="The same in table 1; the full program of 80 words takes two gigabytes.",
)  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0), default=60.0, show_default=True, help=_GIVES_UP)
@jobs_option
def pricing(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, longest: int,
    longest_full: int, seconds: float, jobs: int,
) -> None:  # fmt: skip
    """Grandparent models by linear programs, nothing pruned: parse, price and cut (PPC) against the full program (BF), and three
    relaxations of grandparents, as in tables 1 and 2 of Riedel et al. 2012; on the test treebanks.

    The table is rewritten after every treebank. A run that was stopped goes on with the models that it left.
    """
    from arcwise.experiments.pricing import pricing, tables

    table = partial(pricing, longest_full=longest_full, longest=longest, seconds=seconds)
    rows = grow_table(table, treebanks, output, write, epochs, models, jobs, "pricing")
    show_table(list(tables(rows, longest_full, longest)), "pricing", write)


@command.command()
@treebanks_argument
@table_option
@write_option
@epochs_option
@models_option
@click.option(
    "--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True, help="Which files are parsed."
)  # fmt: skip
@click.option(
    "--nodes", type=click.IntRange(1), default=2000, show_default=True,
    help="After which the paper's branch and bound gives up on a sentence.",
)  # fmt: skip
def shapes(
    treebanks: tuple[Path, ...], output: Path, write: Path | None, epochs: int, models: Path | None, part: str, nodes: int
) -> None:  # fmt: skip
    """Trees of the smallest class that covers 99% of a treebank: by spanning trees (MSA), Eisner's chart, Lagrangian relaxation (LR),
    branch and bound (B&B), and MSA/Eisner, as in tables 1, 2 and 3 and figure 2 of Corro et al. 2016.

    The table is rewritten after every treebank. A run that was stopped goes on with the models that it left.
    """
    from arcwise.experiments.shapes import shapes, tables

    table = partial(shapes, part=part, nodes=nodes)
    rows = grow_table(table, treebanks, output, write, epochs, models, 1, "shapes")
    show_table(list(tables(rows, part)), "shapes", write)


@command.command()
@click.argument("files", nargs=-1, required=True, type=existing_file_type, metavar="TREEBANK_FILE...")
@click.option(
    "-m", "--model", metavar="MODEL", default="en", show_default=True, help="One that comes with arcwise, or a file."
)  # fmt: skip
@click.option(
    "--groups", "names", multiple=True, default=["nsubj,csubj", "obj"], show_default=True, metavar="LABEL,...",
    help="Labels of which a head may have one dependent; may be given several times. `nsubj:` is nsubj without subtypes.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=file_type, metavar="TABLE.tsv", help="Where to write the table, tab-separated."
)
@write_option
@click.option(
    "--rounds", type=click.IntRange(1), default=15, show_default=True, help="Of which times are the medians."
)
@click.option("--retag", is_flag=True, help="Parse with predicted tags where the file has some.")
def groups(
    files: tuple[Path, ...], model: str, names: tuple[str, ...], output: Path | None, write: Path | None, rounds: int,
    retag: bool,
) -> None:  # fmt: skip
    """At most one dependent of a label group per head, each group alone and all at once: trees that violate it, accuracy and CPU time
    without and with the constraint, and, with models of arcs alone, scores against the greedy repair that Stanza makes.

    \b
    Example:
      arcwise experiment groups dev.conllu --groups nsubj:,nsubj:pass,csubj:,csubj:pass
    """
    from arcwise.experiments.groups import groups, tables
    from arcwise.pipeline.parser import load

    check_tables((), "groups", write)
    if output is not None:
        folder_of_models(output, None)  # refuses one that is not there
    parser = load(model)
    with progress_bar() as show:
        growing = groups(
            files, parser, names, rounds, retag=retag, tell=lambda share: show("parsing", share, 1)
        )
        rows = list(growing)[-1] if output is None else keep_last(output, "groups", growing)
    show_table(list(tables(rows, Path(model).stem, rounds, retag)), "groups", write)


@command.command()
@click.argument("treebank", type=folder_type)
@table_option
@write_option
@epochs_option
@models_option
@click.option(
    "--instances",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Of random scores, of each kind.",
)
@click.option(
    "--words", type=click.IntRange(1, 40), default=10, show_default=True, help="Of such an instance."
)
@click.option("--seconds", type=click.FloatRange(0), help=_GIVES_UP)
def programs(
    treebank: Path, output: Path, write: Path | None, epochs: int, models: Path | None, instances: int, words: int,
    seconds: float | None,
) -> None:  # fmt: skip
    """Linear programs, integer programs, branch and price, and dual decomposition on the development treebank and where scores are
    random, as in table 2 of Koo et al. 2010.
    """
    from arcwise.experiments.programs import table_2, tables

    check_tables((treebank,), "programs", write)
    folder = folder_of_models(output, models)
    with progress_bar() as show:
        growing = table_2(
            treebank, folder, epochs, instances=instances, words=words, seconds=seconds,
            tell=lambda share: show("training and parsing", share, 1),
        )  # fmt: skip
        rows = keep_last(output, "search", growing)
    title = f"{treebank.resolve().name} dev, {instances} random instances of {words} words"
    show_table(list(tables(title, rows)), "programs", write)


@command.command()
@click.argument("treebank", type=folder_type)
@click.option("-o", "--output", required=True, type=file_type, help="Where to write the curves, as JSON.")
@click.option(
    "--parts", type=click.Choice(["sibling", "grandchild", "grand-sibling"]), default="sibling", show_default=True,
    help="What the automata score.",
)  # fmt: skip
@epochs_option
@models_option
def stopping(treebank: Path, output: Path, parts: str, epochs: int, models: Path | None) -> None:
    """What dual decomposition gives on the development treebank if it stops after K = 1 to 5000 iterations, as in figure 4 of Koo et
    al. 2010: accuracy, proofs, and trees that are the same as with 5000. `arcwise plot` draws the file.
    """
    from arcwise.evaluation.traces import write_stopping
    from arcwise.experiments.stopping import stopping

    check_tables((treebank,), "stopping", None)
    folder = folder_of_models(output, models)
    with progress_bar() as show:
        found = stopping(
            treebank, parts, folder, epochs, lambda share: show("training and parsing", share, 1)
        )
    write_stopping(found, output)


@command.command()
@click.argument("treebank", type=folder_type)
@table_option
@write_option
@epochs_option
@models_option
@click.option(
    "--longest", type=click.IntRange(1), default=60, show_default=True, help="The most words of a sentence."
)
def columns(
    treebank: Path, output: Path, write: Path | None, epochs: int, models: Path | None, longest: int
) -> None:
    """Column generation inside the chart of grandparents and inside dual decomposition, as section 4.5 of Riedel et al. 2012 has it:
    arcs searched and CPU time on the development treebank, against the search over all arcs and over those that the pruner keeps.
    """
    from arcwise.experiments.column_generation import table
    from arcwise.experiments.tables import markdown

    check_tables((treebank,), "columns", write)
    folder = folder_of_models(output, models)
    with progress_bar() as show:
        found = table(treebank, folder, epochs, longest, lambda share: show("training and parsing", share, 1))
        rows = keep_last(output, "search", found)
    show_table(list(markdown("search", rows)), "columns", write)


for _one in (*CLIMBING, *CLUSTERS):
    command.add_command(_one)
