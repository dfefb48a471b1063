"""`arcwise parse`: trees for a stream of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import click

from arcwise.cli.rendering import (
    OUTPUT_FORMATS,
    PICTURES,
    default_output_format,
    rendering,
    tree_width,
    wants_colour,
)
from arcwise.cli.searching import (
    ClimbingCounts,
    Counts,
    ProgramCounts,
    SearchCounts,
    Tracer,
    connected_option,
    exact_option,
    iterations_option,
    relaxation_option,
    restarts_option,
    rule_option,
    seconds_option,
    seed_option,
    start_option,
)
from arcwise.cli.terminal import compiled_kernels, counted, duration, progress_bar, say
from arcwise.errors import InputError, ModelError
from arcwise.treebank.formats import CONLLU, FORMATS, Format, looks_like_columns

if TYPE_CHECKING:
    from arcwise.constraints import ConstraintFile
    from arcwise.pipeline.constraining import Constraints
    from arcwise.pipeline.parsed import Trees
    from arcwise.pipeline.parser import Parser
    from arcwise.text.lines import Split
    from arcwise.treebank.block import Block
    from arcwise.treebank.reading import BlockReader
    from arcwise.treebank.sources import Source

# Small enough that the threads end together, large enough that a block costs nothing beside its sentences.
_BLOCK_BYTES = 1 << 17
_LEAST_BLOCK_BYTES = 1 << 12  # however many trees its sentences are to have

_RAW = ("text", "sentences", "words", "vertical")  # input that is no treebank


@dataclass
class _Tally:
    """What was parsed, in counts that do not grow with the run: sentences, words, how many sentences were too long for one search.

    repaired: sentences whose trees constraints changed. tagged: those that came with tags. search: what finding the trees took.
    """

    search: Counts
    sentences: int = 0
    words: int = 0
    cut: int = 0
    repaired: int = 0
    tagged: int = 0

    def add(self, block: Block, trees: Trees, tagged: int) -> None:
        self.sentences += len(block)
        self.words += len(block.heads)
        self.cut += len(trees.whole) - int(trees.whole.sum())
        self.tagged += tagged
        self.search.add(trees)
        if trees.repaired is not None:
            self.repaired += int(trees.repaired.sum())


@click.command("parse")
@click.argument("source", metavar="[FILE]", default="-", type=click.Path())
@click.option("-t", "--text", help="Parse this text instead of a file.")
@click.option(
    "-m", "--model", metavar="MODEL", default="en", show_default=True,
    help="A model that comes with arcwise, or the file of one that `arcwise train` made.",
)  # fmt: skip
@click.option(
    "-o", "--output", default="-", metavar="OUT", help="Where to write; standard output if not given."
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@click.option(
    "--format", "form", type=click.Choice([*_RAW, *FORMATS]),
    help="The format of FILE; recognised if not given: raw text, or one of the treebank formats.",
)  # fmt: skip
@click.option(
    "-f", "--output-format", type=click.Choice(OUTPUT_FORMATS),
    help="What to write. If not given: for raw text, trees on a terminal and else CoNLL-U; for a treebank its format.",
)  # fmt: skip
@click.option(
    "--width", type=click.IntRange(40),
    help="How wide trees may be; as the terminal, else as COLUMNS says, else 100.",
)  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the heads and labels that FILE has, and find the others.")
@click.option(
    "--constraints", "constraint_file", metavar="RULES", type=click.Path(),
    help="Find the best trees that satisfy the constraints in this file, one a line; see above.",
)  # fmt: skip
@click.option(
    "--confidence", is_flag=True,
    help="Write how likely each arc, each label and the whole tree is, in MISC and a comment.",
)  # fmt: skip
@click.option(
    "--nbest", type=click.IntRange(1, 10_000), metavar="K",
    help="Write the K best trees of every sentence, one after another, with their ranks, scores and probabilities.",
)  # fmt: skip
@click.option(
    "--min-risk", is_flag=True,
    help="Find the tree with the most right arcs to expect, instead of the likeliest.",
)  # fmt: skip
@click.option(
    "--decoder", metavar="D",
    help="How to search: a model of order 2 or 3 has dual and dual-projective, one of order 2 also lp, ilp and price; these and "
    "models of order 1 also climb; others have that which they were trained for.",
)  # fmt: skip
@restarts_option
@start_option
@seed_option
@click.option(
    "--shape", metavar="S",
    help="The class of trees to find, if not the model's own: any, projective, 1-inherit, well-nested, a block degree like 2, or "
    "2-well-nested.",
)  # fmt: skip
@exact_option
@iterations_option
@click.option(
    "--budget", type=click.IntRange(1), metavar="N",
    help="After so much work for each word an exact dual decomposition gives up, too, and tells the gap (about as many nanoseconds); "
    "with a --shape and a model of order 1, after so many nodes of branch and bound.  [default: 300,000; 500 nodes]",
)  # fmt: skip
@rule_option
@relaxation_option
@connected_option
@seconds_option
@click.option(
    "--prune/--no-prune", "pruned", default=True, show_default=True,
    help="Whether lp, ilp and price look only at the arcs that the pruner keeps, or at all.",
)  # fmt: skip
@click.option(
    "--lazy", is_flag=True, help="In price, score parts only when their bounds do not rule them out."
)
@click.option(
    "--trace", metavar="TRACE", type=click.Path(),
    help="Write bound and score of every step of dual decomposition to this file, for `arcwise plot`.",
)  # fmt: skip
@click.option("--retag", is_flag=True, help="Write tags and lemmas anew where FILE has some.")
@click.option(
    "--offsets", is_flag=True, help="Write where each token stands in the raw text, as TokenRange in MISC."
)
@click.option("--skip-bad", is_flag=True, help="Leave out malformed sentences, and count them.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
def command(
    source: str,
    text: str | None,
    model: str,
    output: str,
    jobs: int,
    form: str | None,
    output_format: str | None,
    width: int | None,
    keep: bool,
    constraint_file: str | None,
    confidence: bool,
    nbest: int | None,
    min_risk: bool,
    decoder: str | None,
    restarts: int | None,
    start: str | None,
    seed: int | None,
    shape: str | None,
    exact: bool,
    iterations: int | None,
    budget: int | None,
    rule: str,
    relaxation: str,
    connected: str,
    seconds: float | None,
    pruned: bool,
    lazy: bool,
    trace: str | None,
    retag: bool,
    offsets: bool,
    skip_bad: bool,
    quiet: bool,
) -> None:
    """Find the best tree of every sentence of FILE or of a text, in order.

    FILE is raw text in UTF-8 or a treebank (CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009), plain or compressed, of any size,
    or `-` for standard input. Raw text is split into sentences and words: --format sentences says that each line is a
    sentence, --format words that its words are separated by spaces too, --format vertical that each line is a word and a
    blank line ends a sentence. Sentences without tags are tagged. In a treebank heads and labels are written anew, all else
    goes through byte for byte. OUT appears when it is complete, may be FILE itself, and is compressed if its name ends in
    .gz, .xz or .zst. If the run is interrupted, OUT has all sentences up to the last one finished, or OUT.partial has them if
    there was a file OUT before. A sentence of raw text is cut after 1000 words at the latest; one of
    a treebank of more than 2000 words (300 with a model of higher order, 80 with a full program of all arcs) is parsed in pieces.

    --confidence adds to MISC of every word ArcProb, the probability of its head among all trees, and LabelProb, that of its
    label given the tree; and to every sentence the comment `# tree_prob = `, the probability of the whole tree with its labels,
    which is never more than that of any of its arcs or labels. Where the sum over all trees is intractable (siblings and
    grandchildren, trees of any kind), projective trees are summed and the others sampled: `# tree_prob_error = ` and
    ArcProbError are standard errors then, 0 where no tree was left to sample. The same sentence has the same numbers,
    whatever stands around it. --nbest K writes every sentence once for each of its K best trees, with the comments `# rank = `,
    `# tree_score = ` and `# tree_prob = `; the first is the one that is written without it. Ranks are those of the
    scores, in which labels do not count. All trees are those of the arcs that the pruner keeps, with what --keep gives: that is
    certain then. A sentence that is parsed in pieces has its best tree and no probabilities.

    --constraints RULES: every line of this file is a constraint on all sentences, or on one if @ and its sent_id or its number
    in FILE stand before it. The tree written is the best that satisfies them, exactly, arcs and labels together: where the best
    tree of all does, that one. If no tree does, the run ends with the fewest constraints that no tree satisfies together. A line for
    a sentence that does not come is an error at the end (exit status 2); OUT is complete then, and satisfies all other lines.
    With --keep, MISC of a word may ask for the same: Root=Yes, Leaf=Yes, Subtree=3-7, HeadInside=3-7, HeadOutside=3-7,
    NoHead=2,5, Labels=nsubj,obj, NoLabels=det, AtMostOne=nsubj. An example of RULES:

    \b
      at-most-one nsubj,csubj          # of these labels and their subtypes, at each head
      no-labels obj tag=ADJ            # also labels, word=, head=, head-tag=; tags of UPOS, or XPOS=JJ
      @weblog-12 subtree 3-7           # also together 3-7, head-inside 2 3-7, head-outside 2 3-7
      @4 arc 5 2                       # head and word; also no-arc 5 2, root 5, leaf 2

    Models of order 2 and 3 over all trees are searched by dual decomposition (--decoder dual), which proves nearly all trees
    best, and by fixing arcs and branching where it does not: every tree is proved best, or the summary says how large a gap
    is left. --no-exact writes the best tree seen in K steps. --decoder dual-projective finds the best projective tree.

    With --decoder climb trees are found by randomized hill climbing (models trained by --model full have no other way): runs from
    --start trees uphill, one head at a time and by kicks where that ends, until --restarts of them in a row find no better tree.
    Where dual decomposition, or for order 1 the spanning tree, knows the parts, its tree is the first start and its bound proves
    what meets it; --no-exact climbs alone.

    Models of order 2 are also searched by linear programs (pip install 'arcwise[lp]'). --decoder lp solves the one that --relaxation
    and --connected name: an integral solution is the best tree, a fractional one is projected to a tree and bounds its gap. ilp
    solves the integer program. price builds only the arcs and parts that matter, and branches where the linear program is
    fractional: its trees are proved best.

    -f conllu writes CoNLL-U, from which the raw text can be recovered (SpaceAfter, SpacesAfter in MISC). -f tree draws every
    tree for a terminal, folded to its width, in colours unless NO_COLOR is set; -f svg, -f latex (tikz-dependency) and
    -f dot (Graphviz) draw for browsers and papers: all sentences in one document, for Graphviz one graph each.

    -f json writes one object a line for each sentence, without ranges and empty nodes; null is what is not known:

    \b
      {"sent_id": "7", "text": "Go on", "words": [
        {"id": 1, "form": "Go", "lemma": "go", "upos": "VERB", "xpos": "VB", "feats": "Mood=Imp",
         "head": 0, "deprel": "root"}, ...], "score": 31.5}

    With --confidence words have "arc_prob" and "label_prob", sentences "tree_prob"; with --nbest "rank" and "tree_prob".
    Where they are estimated, there are "arc_prob_error" and "tree_prob_error", too.

    \b
    Example:
      arcwise parse --text "Our neighbours did not believe it."
      arcwise parse book.txt -o book.conllu --jobs 2
      arcwise parse half-done.conllu --keep --model my.arcwise -o done.conllu
      arcwise parse book.txt --constraints rules.txt -o book.conllu
      arcwise parse --text "They saw her duck." --nbest 3
      zcat text.conllu.gz | arcwise parse --model my.arcwise -f json | head
      arcwise parse --text "Draw me." -f svg -o trees.svg
      arcwise parse test.conllu --model third.arcwise --decoder dual --trace test.trace -o parsed.conllu
      arcwise parse test.conllu --model second.arcwise --decoder price --no-prune -o parsed.conllu
      arcwise parse test.conllu --model third.arcwise --decoder climb --restarts 10 -o parsed.conllu
    """
    if text is not None and source != "-":
        raise click.UsageError("FILE and --text exclude each other")
    if nbest is not None and min_risk:
        raise click.UsageError("--nbest and --min-risk exclude each other")
    if trace == "-":
        raise click.UsageError("--trace needs the name of a file")
    if trace is not None and (nbest is not None or min_risk or confidence):
        raise click.UsageError(
            "--trace goes with the best tree only, without --nbest, --min-risk and --confidence"
        )
    if constraint_file is not None and (nbest is not None or min_risk or confidence or trace is not None):
        raise click.UsageError(
            "--constraints goes with the best tree only, without --nbest, --min-risk, --confidence and --trace"
        )
    started = perf_counter()
    on_screen = output == "-" and sys.stdout.isatty()  # then the trees themselves show the progress
    with progress_bar(not quiet, only_compiling=on_screen) as show:
        from arcwise.constraints import read_constraints
        from arcwise.pipeline.parser import load
        from arcwise.pipeline.streaming import map_in_order
        from arcwise.treebank.writing import open_output

        rules = None if constraint_file is None else read_constraints(constraint_file)
        parser = load(model).searching(
            decoder, exact=exact, iterations=iterations, budget=budget, rule=rule,
            relaxation=relaxation, connected=connected, seconds=seconds, pruned=pruned, lazy=lazy, shape=shape,
            restarts=restarts, start=start, seed=seed,
        )  # fmt: skip
        if retag and parser.tagger is None:
            raise ModelError(
                f"{model}: the model cannot tag: it was trained on the treebank's own tags, or none"
            )
        loaded = perf_counter()
        block_bytes = _BLOCK_BYTES if nbest is None else max(_BLOCK_BYTES // nbest, _LEAST_BLOCK_BYTES)
        with closing(_reader(source, text, parser, form, offsets, skip_bad, block_bytes)) as reader:
            output_format = output_format or default_output_format(
                isinstance(reader, _TextReader), on_screen and not confidence
            )
            _check_output(output_format, reader.format, confidence, nbest)
            render = rendering(
                output_format,
                reader.format,
                width=width or tree_width(on_screen),
                colour=wants_colour(on_screen),
            )
            counts = ProgramCounts if decoder in ("lp", "ilp", "price") else SearchCounts
            tally = _Tally(ClimbingCounts() if parser.climbs else counts())

            def kept(path: Path) -> None:
                say(f"interrupted: {counted(tally.sentences, 'sentence')} parsed so far are in {path}")

            tracer = None if trace is None else Tracer(trace, parser)

            has_tags = not retag and not isinstance(reader, _TextReader) and parser.model.settings.tags

            def parse(given: tuple[Block, Constraints]) -> tuple[Block, Trees, int, Any]:
                block, constraints = given
                tagged = parser.tagged_sentences(block) if has_tags else 0
                block = parser.tag_block(block, anew=retag)
                if tracer is not None:
                    trees = tracer.parse(block, keep)
                    return block, trees, tagged, render.block(parser, block, trees)
                if nbest is None:
                    trees = parser.parse_block(
                        block, keep, confidence=confidence, min_risk=min_risk, constraints=constraints
                    )
                    return block, trees, tagged, render.block(parser, block, trees)
                copies, trees = parser.k_best_block(block, nbest, keep, confidence=confidence)
                return block, trees, tagged, render.block(parser, copies, trees)

            def counted_parts(parsed: Iterable[tuple[Block, Trees, int, Any]]) -> Iterator[Any]:
                for block, trees, tagged, part in parsed:
                    show("parsing", reader.bytes_read, reader.bytes_total)
                    tally.add(block, trees, tagged)
                    yield part

            with (
                open_output(output, interrupted=None if output_format in PICTURES else kept) as file,
                tracer or nullcontext(),
                closing(map_in_order(parse, _constrained(reader, rules), 1 if tracer else jobs)) as parsed,
            ):
                for data in render.document(counted_parts(parsed)):
                    file.write(data)
    if not quiet and not (on_screen and text is not None):
        _summary(
            tally,
            reader,
            jobs,
            parser.longest,
            parser.tagger is not None,
            loaded - started,
            perf_counter() - loaded,
        )
    unmatched = [] if rules is None else rules.unmatched()
    if unmatched:
        raise InputError(
            f"no sentence is {' or '.join(unmatched)}",
            expected="the sent_id or the number of one (the trees written satisfy all other lines)",
            file=constraint_file,
        )


def _constrained(
    reader: Iterable[Block], rules: ConstraintFile | None
) -> Iterator[tuple[Block, Constraints]]:
    """Blocks with the constraints on all sentences or, if some have their own, on each; none if there are no rules."""
    numbers = count(1)
    selective = rules is not None and bool(rules.unmatched())  # none has matched yet
    for block in reader:
        if rules is None:
            yield block, []
        elif selective:
            yield block, [rules.of(next(numbers), sentence.sent_id) for sentence in block]
        else:
            yield block, rules.of(1, None)


class _TextReader:
    """Blocks of sentences from raw text; to be used like a BlockReader."""

    format = CONLLU
    skipped = 0
    skipped_errors: tuple[InputError, ...] = ()

    def __init__(self, source: Source, parser: Parser, split: Split, offsets: bool, block_bytes: int) -> None:
        self._source = source
        self._blocks = parser.read_text(
            source.pieces(_BLOCK_BYTES),
            split=split,
            offsets=offsets,
            file=source.name,
            block_bytes=block_bytes,
        )
        self._empty = True

    @property
    def bytes_read(self) -> int:
        return self._source.bytes_read

    @property
    def bytes_total(self) -> int | None:
        return self._source.bytes_total

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        block = next(self._blocks, None)
        if block is None:
            if self._empty:
                raise InputError("no text", expected="at least one word", file=self._source.name)
            raise StopIteration
        self._empty = False
        return block

    def close(self) -> None:
        self._source.close()


def _check_output(output_format: str | None, source: Format, confidence: bool, nbest: int | None) -> None:
    """UsageError, if there is no place for what is to be written."""
    option = "--confidence" if confidence else f"--nbest {nbest}"
    if confidence and output_format in PICTURES:
        raise click.UsageError(
            f"--confidence with -f {output_format}: pictures do not show it; -f conllu or -f json do"
        )
    if (confidence or nbest is not None) and output_format is None and source is not CONLLU:
        raise click.UsageError(
            f"{option} with {source.name}: the format has no place for probabilities; add -f conllu or -f json"
        )


def _reader(
    source: str,
    text: str | None,
    parser: Parser,
    form: str | None,
    offsets: bool,
    skip_bad: bool,
    block_bytes: int,
) -> BlockReader | _TextReader:
    """What gives the sentences: of raw text, or of a treebank."""
    from arcwise.treebank.reading import BlockReader
    from arcwise.treebank.sources import Source

    if text is not None:
        # What the shell passes on need not be UTF-8: the reader then says where.
        opened, form = Source(BytesIO(text.encode(errors="surrogateescape"))), form or "text"
        opened.name = "--text"
    else:
        opened = Source(source)
    try:
        if form is None and not looks_like_columns(opened.head(_BLOCK_BYTES), opened.name):
            form = "text"
        if form in _RAW:
            return _TextReader(opened, parser, cast("Split", form), offsets, block_bytes)
        return BlockReader(opened, format=form, skip_bad=skip_bad, check_trees=False, block_bytes=block_bytes)
    except BaseException:
        opened.close()
        raise


def _summary(
    tally: _Tally, reader: BlockReader | _TextReader, jobs: int, longest: int, can_tag: bool, loading: float,
    seconds: float,
) -> None:  # fmt: skip
    compiling = ", compiling for this machine included, which happens once" if compiled_kernels() else ""
    say(
        f"parsed {counted(tally.sentences, 'sentence')}, {counted(tally.words, 'word')} in {duration(seconds)} "
        f"after {duration(loading)} of loading: {tally.words / seconds:,.0f} words per second with "
        f"{counted(jobs, 'thread')}{compiling}"
    )
    if tally.tagged:
        anew = "" if not can_tag else " (--retag writes tags anew)"
        say(f"the tags of {counted(tally.tagged, 'sentence')} are those of the input{anew}")
    if tally.cut:
        say(f"{counted(tally.cut, 'sentence')} of more than {longest} words parsed in pieces of this length")
    if tally.repaired:
        say(f"constraints changed the trees of {counted(tally.repaired, 'sentence')}")
    for line in tally.search.lines(tally.sentences):
        say(line)
    if reader.skipped:
        say(f"skipped {counted(reader.skipped, 'bad sentence')}; the first: {reader.skipped_errors[0]}")
