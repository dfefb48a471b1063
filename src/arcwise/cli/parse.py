"""`arcwise parse`: trees for a stream of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from arcwise.cli.rendering import OUTPUT_FORMATS, rendering, tree_width, wants_colour
from arcwise.cli.terminal import compiled_kernels, counted, duration, progress_bar, say
from arcwise.errors import ModelError
from arcwise.treebank.formats import FORMATS

if TYPE_CHECKING:
    from arcwise.pipeline.parser import Trees
    from arcwise.treebank.block import Block
    from arcwise.treebank.reading import BlockReader

# Small enough that the threads end together, large enough that a block costs nothing beside its sentences.
_BLOCK_BYTES = 1 << 17

_HOW_TO_TRAIN = """\
Train one on a treebank, then name it with --model:
  arcwise train train.conllu --dev dev.conllu -o my.arcwise
  arcwise parse text.conllu --model my.arcwise"""


@dataclass
class _Tally:
    """What was parsed: sentences, words, and how many sentences were too long for one search."""

    sentences: int = 0
    words: int = 0
    cut: int = 0

    def add(self, trees: Trees) -> None:
        self.sentences += len(trees.whole)
        self.words += len(trees.heads)
        self.cut += len(trees.whole) - int(trees.whole.sum())


@click.command("parse")
@click.argument("source", metavar="[FILE]", default="-", type=click.Path())
@click.option("-m", "--model", metavar="MODEL", help="A model that `arcwise train` made.")
@click.option(
    "-o", "--output", default="-", metavar="OUT", help="Where to write; standard output if not given."
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="The format of FILE; recognised if not given."
)
@click.option(
    "-f", "--output-format", type=click.Choice(OUTPUT_FORMATS),
    help="What to write; the format of FILE if not given.",
)  # fmt: skip
@click.option(
    "--width", type=click.IntRange(40),
    help="How wide trees may be; as the terminal, else as COLUMNS says, else 100.",
)  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out malformed sentences, and count them.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
def command(
    source: str,
    model: str | None,
    output: str,
    jobs: int,
    form: str | None,
    output_format: str | None,
    width: int | None,
    skip_bad: bool,
    quiet: bool,
) -> None:
    """Find the best tree of every sentence of FILE, in order.

    FILE is CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009, plain or compressed, of any size, or `-` for standard
    input. Heads and labels are written anew, all else goes through byte for byte. OUT appears when it is
    complete, may be FILE itself, and is compressed if its name ends in .gz, .xz or .zst. A sentence of more
    than 2000 words is parsed in pieces.

    -f conllu converts the older formats. -f tree draws every tree for a terminal, folded to its width, in colours
    unless NO_COLOR is set; -f svg, -f latex (tikz-dependency) and -f dot (Graphviz) draw for browsers and papers: all
    sentences in one document, for Graphviz one graph each.

    -f json writes one object a line for each sentence, without ranges and empty nodes; null is what the file does
    not say:

    \b
      {"sent_id": "7", "text": "Go on", "words": [
        {"id": 1, "form": "Go", "lemma": "go", "upos": "VERB", "xpos": "VB", "feats": "Mood=Imp",
         "head": 0, "deprel": "root"}, ...], "score": 31.5}

    \b
    Example:
      arcwise parse text.conllu --model my.arcwise -o parsed.conllu --jobs 2
      zcat text.conllu.gz | arcwise parse --model my.arcwise -f json | head
      arcwise parse text.conllu --model my.arcwise -f svg -o trees.svg
    """
    if model is None:
        raise click.UsageError(f"no model is given. {_HOW_TO_TRAIN}")
    if not Path(model).exists():
        raise ModelError(f"{model}: no such model. {_HOW_TO_TRAIN}")
    started = perf_counter()
    on_screen = output == "-" and sys.stdout.isatty()  # then the trees themselves show the progress
    with progress_bar(not quiet, only_compiling=on_screen) as show:
        from arcwise.pipeline.parser import load
        from arcwise.pipeline.streaming import map_in_order
        from arcwise.treebank.reading import BlockReader
        from arcwise.treebank.writing import open_output

        with BlockReader(
            source, format=form, skip_bad=skip_bad, check_trees=False, block_bytes=_BLOCK_BYTES
        ) as reader:
            parser = load(model)
            loaded = perf_counter()
            render = rendering(
                output_format,
                reader.format,
                width=width or tree_width(on_screen),
                colour=wants_colour(on_screen),
            )
            tally = _Tally()

            def parse(block: Block) -> tuple[Trees, Any]:
                trees = parser.parse_block(block)
                return trees, render.block(parser, block, trees)

            def counted_parts(parsed: Iterable[tuple[Trees, Any]]) -> Iterator[Any]:
                for trees, part in parsed:
                    show("parsing", reader.bytes_read, reader.bytes_total)
                    tally.add(trees)
                    yield part

            with open_output(output) as file, closing(map_in_order(parse, reader, jobs)) as parsed:
                for data in render.document(counted_parts(parsed)):
                    file.write(data)
    if not quiet:
        _summary(tally, reader, jobs, loaded - started, perf_counter() - loaded)


def _summary(tally: _Tally, reader: BlockReader, jobs: int, loading: float, seconds: float) -> None:
    from arcwise.pipeline.parser import LONGEST

    compiling = ", compiling for this machine included, which happens once" if compiled_kernels() else ""
    say(
        f"parsed {counted(tally.sentences, 'sentence')}, {counted(tally.words, 'word')} in {duration(seconds)} "
        f"after {duration(loading)} of loading: {tally.words / seconds:,.0f} words per second with "
        f"{counted(jobs, 'thread')}{compiling}"
    )
    if tally.cut:
        say(f"{counted(tally.cut, 'sentence')} of more than {LONGEST} words parsed in pieces of this length")
    if reader.skipped:
        say(f"skipped {counted(reader.skipped, 'bad sentence')}; the first: {reader.skipped_errors[0]}")
