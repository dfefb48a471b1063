"""`arcwise parse`: trees for a stream of sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import compiled_kernels, counted, duration, progress_bar, say
from arcwise.errors import ModelError
from arcwise.treebank.formats import CONLLU, FEATS, FORM, FORMATS, LEMMA, UPOS, XPOS

if TYPE_CHECKING:
    from arcwise.pipeline.parser import Parser, Trees
    from arcwise.treebank.block import Block
    from arcwise.treebank.reading import BlockReader

Render = Callable[["Parser", "Block", "Trees"], bytes | memoryview]

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
    "--output-format", type=click.Choice(["conllu", "json"]),
    help="What to write; the format of FILE if not given.",
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
    skip_bad: bool,
    quiet: bool,
) -> None:
    """Find the best tree of every sentence of FILE, in order.

    FILE is CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009, plain or compressed, of any size, or `-` for standard
    input. Heads and labels are written anew, all else goes through byte for byte. OUT appears when it is
    complete, may be FILE itself, and is compressed if its name ends in .gz, .xz or .zst. A sentence of more
    than 2000 words is parsed in pieces.

    With --output-format json every line is an object for one sentence, {"sent_id", "text", "words", "score"},
    and every word one of {"id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel"}; what the file
    does not say is null. Ranges and empty nodes are left out.

    \b
    Example:
      arcwise parse text.conllu --model my.arcwise -o parsed.conllu --jobs 2
      zcat text.conllu.gz | arcwise parse --model my.arcwise --output-format json | head
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
            render = _renderer(reader, output_format)

            def parse(block: Block) -> tuple[Trees, bytes | memoryview]:
                trees = parser.parse_block(block)
                return trees, render(parser, block, trees)

            tally = _Tally()
            with open_output(output) as file, closing(map_in_order(parse, reader, jobs)) as parsed:
                for trees, data in parsed:
                    show("parsing", reader.bytes_read, reader.bytes_total)
                    file.write(data)
                    tally.add(trees)
    if not quiet:
        _summary(tally, reader, jobs, loaded - started, perf_counter() - loaded)


def _renderer(reader: BlockReader, output_format: str | None) -> Render:
    if output_format == "json":
        return _json_lines
    return _as_conllu if output_format == "conllu" and reader.format is not CONLLU else _in_place


def _in_place(parser: Parser, block: Block, trees: Trees) -> memoryview:
    return parser.with_trees(block, trees).data


def _as_conllu(parser: Parser, block: Block, trees: Trees) -> bytes:
    """A block of another format as CoNLL-U."""
    columns = [block.column(role) for role in (FORM, LEMMA, UPOS, XPOS, FEATS)]
    labels = [parser.labels[label] for label in trees.labels]
    rows = list(zip(*columns, map(str, trees.heads), labels, strict=True))
    lines = []
    for begin, end in zip(block.words[:-1].tolist(), block.words[1:].tolist(), strict=True):
        lines += ["\t".join((str(number), *row, "_", "_")) for number, row in enumerate(rows[begin:end], 1)]
        lines.append("")
    return "\n".join([*lines, ""]).encode()


def _json_lines(parser: Parser, block: Block, trees: Trees) -> bytes:
    """One JSON object a sentence, one a line."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    forms = block.column(FORM)
    attributes = [
        [
            None if value == "_" != form else value
            for form, value in zip(forms, block.column(role), strict=True)
        ]
        for role in (LEMMA, UPOS, XPOS, FEATS)
    ]
    labels = [parser.labels[label] for label in trees.labels]
    rows = list(zip(forms, *attributes, trees.heads.tolist(), labels, strict=True))
    bounds, scores = block.words.tolist(), trees.scores.tolist()
    lines = []
    for sentence in range(len(block)):
        words = [
            {
                "id": number, "form": form, "lemma": lemma, "upos": upos, "xpos": xpos, "feats": feats,
                "head": head, "deprel": label,
            }
            for number, (form, lemma, upos, xpos, feats, head, label) in enumerate(
                rows[bounds[sentence] : bounds[sentence + 1]], 1
            )
        ]  # fmt: skip
        lines.append(encode({**_comments(block, sentence), "words": words, "score": scores[sentence]}))
    return "\n".join([*lines, ""]).encode()


def _comments(block: Block, sentence: int) -> dict[str, str | None]:
    """What the comments before the first word say of the sentence's name and text."""
    found: dict[str, str | None] = {"sent_id": None, "text": None}
    start, stop = block.sentence_bytes[sentence], block.starts[block.words[sentence], 0]
    for line in block.data[start:stop].tobytes().decode().split("\n"):
        name, equals, value = line.removeprefix("#").partition("=")
        if line.startswith("#") and equals and name.strip() in found:
            found[name.strip()] = value.strip()
    return found


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
