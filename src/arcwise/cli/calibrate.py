"""`arcwise calibrate`: a model's probabilities, fitted to a treebank."""

from __future__ import annotations

from pathlib import Path

import click

from arcwise.cli.terminal import progress_bar, say
from arcwise.errors import InputError
from arcwise.treebank.formats import FORMATS


@click.command("calibrate")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@click.option("-o", "--output", required=True, metavar="OUT", help="Where to write the model.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)),
    help="The format of the treebank; recognised if not given.",
)  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out malformed sentences, and count them.")
def command(model: str, treebank: str, output: str, form: str | None, skip_bad: bool) -> None:
    """Fit the probabilities of MODEL to TREEBANK, which it must not have learned from.

    What `arcwise parse --confidence` tells is made of scores by two temperatures, of trees and of labels, and a doubt: the
    share of a second temperature of trees, four times as high. `arcwise train --dev` fits them; this command does it again, for
    another kind of text, or for a model without them. TREEBANK is tagged by the model, if it can tag. No weight changes, so no tree
    does. OUT may be MODEL itself.

    \b
    Example:
      arcwise calibrate my.arcwise letters.conllu -o letters.arcwise
      arcwise parse test.conllu --model letters.arcwise --confidence -o parsed.conllu
      arcwise evaluate test.conllu parsed.conllu --calibration
    """
    with progress_bar():
        from arcwise.pipeline.calibrating import calibrate
        from arcwise.pipeline.model import load_model, save_model
        from arcwise.pipeline.parser import bundled_models

        if not Path(output).parent.is_dir() or Path(output).is_dir():
            raise InputError("no place for a model", expected="a file in a folder that is there", file=output)
        fitted = calibrate(
            load_model(bundled_models().get(model, Path(model))),
            treebank,
            format=form,
            skip_bad=skip_bad,
            note=say,
        )
        save_model(fitted, output)
    say(
        f"temperature {fitted.temperature:.4g}, of labels {fitted.label_temperature:.4g}, doubt {fitted.doubt:.2g}"
    )
