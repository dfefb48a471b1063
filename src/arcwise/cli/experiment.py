"""`arcwise experiment`: the papers' tables on treebanks of your own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import jobs_option, say

if TYPE_CHECKING:
    from arcwise.experiments.learners import Outcome


@click.command("experiment")
@click.argument("name", type=click.Choice(["learners", "duality"]))
@click.argument(
    "treebanks", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Replace the table of this name in a Markdown file.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep what is done here; what is there is not done again.",
)
@jobs_option
def command(name: str, treebanks: tuple[Path, ...], write: Path | None, log: Path | None, jobs: int) -> None:
    """Run an experiment on TREEBANKS: folders with a file of each name train*, dev*, test*.

    learners: perceptron, max-margin (exponentiated gradient) and log-linear (stochastic gradient) training on projective and on all
    trees, as in Koo's thesis, tables 4.2 and 4.3, with sign tests over sentences.

    duality: how the gap between primal and dual closes under exponentiated gradient, as appendix A of the thesis says; on the first
    500 training sentences of every treebank.

    In the file of --write the lines between `<!-- NAME -->` and `<!-- end of NAME -->` are replaced.

    \b
    Example:
      arcwise experiment learners treebanks/hu_szeged treebanks/tr_imst --log learners.json
    """
    from arcwise.experiments.learners import read_log, run_all, tables, treebank_files
    from arcwise.experiments.writing import around_table
    from arcwise.treebank.writing import open_output

    for treebank in treebanks:
        treebank_files(treebank)
    if write is not None:
        around_table(write, name)  # what is wrong there must not be found out at the end only
    if name == "duality":
        if log is not None:
            raise click.UsageError("--log is for learners")
        from arcwise.experiments.duality import gaps, table

        lines = [
            line
            for treebank in treebanks
            for line in (*table(treebank.resolve().name, list(gaps(treebank))), "")
        ]
        _show(lines, name, write)
        return
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
    _show(list(tables(run_all(list(treebanks), jobs, done, tell))), name, write)


def _show(lines: list[str], name: str, write: Path | None) -> None:
    from arcwise.experiments.writing import replace_table

    for line in lines:
        click.echo(line)
    if write is not None:
        replace_table(write, name, lines)
