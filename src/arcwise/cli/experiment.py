"""`arcwise experiment`: the papers' tables on treebanks of your own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import say

if TYPE_CHECKING:
    from arcwise.experiments.learners import Outcome


@click.command("experiment")
@click.argument("name", type=click.Choice(["learners"]))
@click.argument(
    "treebanks", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--write", type=click.Path(path_type=Path), help="Replace the table of this name in a Markdown file."
)
@click.option(
    "--log", type=click.Path(path_type=Path), help="Keep what is done here; what is there is not done again."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Threads.",
)
def command(name: str, treebanks: tuple[Path, ...], write: Path | None, log: Path | None, jobs: int) -> None:
    """Run an experiment on TREEBANKS: folders with train.conllu, dev.conllu and test.conllu.

    learners: perceptron, max-margin (exponentiated gradient) and log-linear (stochastic gradient) training on projective and on all
    trees, as in Koo's thesis, tables 4.2 and 4.3, with sign tests over sentences.

    In the file of --write the lines between `<!-- NAME -->` and `<!-- end of NAME -->` are replaced.

    \b
    Example:
      arcwise experiment learners treebanks/hu_szeged treebanks/tr_imst --log learners.json
    """
    from arcwise.experiments.learners import run_all, tables
    from arcwise.experiments.writing import replace_table

    for treebank in treebanks:
        for part in ("train", "dev", "test"):
            if not (treebank / f"{part}.conllu").is_file():
                raise click.UsageError(f"{treebank}: no {part}.conllu there")
    done = json.loads(log.read_text()) if log is not None and log.exists() else {}

    def tell(key: str, outcome: Outcome) -> None:
        say(f"{key}: dev {outcome.dev:.2f}, test {outcome.test:.2f} ({outcome.best})")
        if log is not None:
            done[key] = outcome
            log.write_text(json.dumps(done))

    lines = list(tables(run_all(list(treebanks), jobs, done, tell)))
    for line in lines:
        click.echo(line)
    if write is not None:
        replace_table(write, name, lines)
