"""`arcwise train`: a model from a treebank."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import click

from arcwise.cli.terminal import counted, duration, say
from arcwise.treebank.formats import FORMATS

if TYPE_CHECKING:
    from arcwise.pipeline.parser import Parser

# Bits of the tables of weights of the pruner, of the arcs, of the labels and of the tags.
_SIZES: dict[str, dict[str, int]] = {
    "small": {"coarse_bits": 17, "arc_bits": 19, "label_bits": 12, "tag_bits": 18},
    "normal": {},
    "large": {"coarse_bits": 22, "arc_bits": 25, "label_bits": 18, "tag_bits": 24},
}


@click.command("train")
@click.argument("treebank", metavar="TRAIN", type=click.Path())
@click.option("--dev", type=click.Path(), help="The treebank that decides which epoch is kept.")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Where to write the model.")
@click.option(
    "--order", type=click.Choice(["1"]), default="1", show_default=True, help="Arcs that are scored together."
)
@click.option(
    "--learner", type=click.Choice(["mira", "perceptron"]), default="mira", show_default=True,
    help="How the weights are learned.",
)  # fmt: skip
@click.option(
    "--labels", type=click.Choice(["both", "joint", "after"]), default="both", show_default=True,
    help="Find them with the arcs (joint), in the tree found (after), or both, their scores added.",
)  # fmt: skip
@click.option("--epochs", type=click.IntRange(1), help="At most so many for the trees.  [default: 12]")
@click.option("--label-epochs", type=click.IntRange(1), help="At most so many for the labels.  [default: 6]")
@click.option(
    "--patience", type=click.IntRange(1), help="Stop after so many without a better LAS.  [default: 3]"
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same gives the same bytes."
)
@click.option(
    "--single-root/--multi-root", default=None,
    help="Whether a tree has exactly one root; as the treebank has it if not given.",
)  # fmt: skip
@click.option(
    "--size", type=click.Choice(list(_SIZES)), default="normal", show_default=True,
    help="Of the model's tables of weights.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)),
    help="The format of the treebanks; recognised if not given.",
)  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out malformed sentences, and count them.")
@click.option(
    "--gold-tags", is_flag=True, help="Learn from the treebank's own tags, and do not learn to tag."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Threads.",
)
@click.option("--resume", is_flag=True, help="Go on with the run that was stopped, if there is one.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    treebank: str,
    dev: str | None,
    output: str,
    order: str,
    form: str | None,
    size: str,
    skip_bad: bool,
    jobs: int,
    resume: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a model on the treebank TRAIN.

    Treebanks are CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009 files, plain or compressed. After every epoch
    the model is measured on the development treebank: UAS and LAS count all words, and labels with their
    subtypes. The epoch with the best LAS is kept; without --dev, the last. A run that was stopped goes on
    with --resume, from the file MODEL.checkpoint, and gives the same model as an unbroken one.

    \b
    Example:
      arcwise train train.conllu --dev dev.conllu -o my.arcwise
      arcwise train train.conllu --dev dev.conllu -o small.arcwise --size small --epochs 5
    """
    from arcwise.cli.training_report import training_report
    from arcwise.pipeline.model import Settings
    from arcwise.pipeline.options import Options
    from arcwise.pipeline.training import train

    given = {name: value for name, value in options.items() if value is not None}
    given["settings"] = Settings(**_SIZES[size])  # type: ignore[arg-type]
    started = perf_counter()
    try:
        with training_report(Options(**given), quiet) as report:
            parser = train(
                treebank, dev, output, format=form, skip_bad=skip_bad, resume=resume, jobs=jobs, watcher=report,
                **given,
            )  # fmt: skip
    except KeyboardInterrupt:
        if not quiet and Path(f"{output}.checkpoint").exists():
            say("stopped: the same command with --resume goes on after the last finished epoch")
        raise
    if not quiet:
        _summary(parser, output, perf_counter() - started)


def _summary(parser: Parser, output: str, seconds: float) -> None:
    """What came out, and what to do with it."""
    stages = parser.model.facts["training"]
    best = " and ".join(f"{stage['best']} of {stage['epochs']} for the {stage['stage']}" for stage in stages)
    say(f"best epochs: {best}")
    if tags := parser.model.facts["tags"]:
        names = {"upos": "UPOS", "xpos": "XPOS", "feats": "FEATS", "lemma": "LEMMA"}
        say("development treebank: " + ", ".join(f"{name} {tags[key]:.2f}" for key, name in names.items()))
    if stages[-1]["las"] >= 0:
        say(
            f"development treebank: UAS {stages[-1]['uas']:.2f}, LAS {stages[-1]['las']:.2f} "
            "(all words count, labels with their subtypes)"
        )
    say(f"trained in {duration(seconds)}, {duration(process_time())} of CPU time with loading")
    roots = "exactly one root" if parser.single_root else "several roots allowed"
    megabytes = Path(output).stat().st_size / 1e6
    say(f"model: {output}, {megabytes:.1f} MB, {counted(len(parser.labels), 'label')}, {roots}")
    say(f"parse with it: arcwise parse text.conllu --model {output} -o parsed.conllu")
