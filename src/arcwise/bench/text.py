"""What `arcwise bench` measures on the way from raw text to trees: how good each step is, how fast, and how soon it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from arcwise.bench.row import Row, Target, at_least, at_most
from arcwise.bench.text_peers import UDPipe
from arcwise.bench.timing import Action, Say, medians, run_python, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.errors import InputError, ModelError
from arcwise.evaluation.attachment import evaluate
from arcwise.pipeline.parser import Parser, load
from arcwise.text.treebank_text import treebank_text
from arcwise.treebank.block import Block
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.reading import read_blocks

_SENTENCE = "Mary saw John with a telescope."
_WORDS = 12_000.0  # per CPU second
_LOADING, _START = 0.5, 1.5  # CPU seconds, seconds
# What is scored: title, convention and name of the metric in `evaluate`, and the least it should be on UD English EWT.
Metrics = tuple[tuple[str, str, str, float], ...]
_FROM_TEXT: Metrics = (
    ("words from raw text, F1", "UD", "Words", 0.0),
    ("sentences from raw text, F1", "UD", "Sentences", 0.0),
    ("LAS from raw text, F1", "UD", "LAS", 0.0),
)
_FROM_WORDS: Metrics = (
    ("UPOS of gold words", "UD", "UPOS", 95.5),
    ("XPOS of gold words", "UD", "XPOS", 95.0),
    ("universal FEATS of gold words", "UD", "UFeats", 95.5),
    ("LEMMA of gold words", "UD", "Lemmas", 96.5),
    ("UAS of gold words, predicted tags", "UD", "UAS", 87.5),
    ("LAS of gold words, predicted tags", "UD", "LAS", 84.5),
    ("LAS with subtypes of gold words, predicted tags", "subtypes", "LAS", 81.5),
)
# Run in a process of its own: imports first, then a file gets the CPU time of loading.
_LOADING_PROGRAM = """
from time import process_time
{imports}
started = process_time()
{load}
open({file!r}, "w").write(str(process_time() - started))
"""


class Peer(NamedTuple):
    """What ours is compared with: its name, "" for nothing; the files of its models; it itself, None if not installed."""

    name: str
    files: tuple[str, ...]
    udpipe: UDPipe | None


class Source(NamedTuple):
    """What both sides get of a treebank: its raw text; its words in CoNLL-U without tags and trees; length: in words."""

    text: str
    words: str
    length: int


def rows(
    treebank: BenchTreebank,
    model: str | Path,
    udpipe: Sequence[Path] = (),
    rounds: int = 30,
    say: Say = silent,
) -> list[Row]:
    """Accuracy, speed and start of a model on the test file, beside UDPipe if files of its models are given.

    Scores are those of `udeval`, but for the LAS with subtypes; all words count.
    """
    parser = load(model)
    if parser.tagger is None:
        raise ModelError(f"{model}: a model without a tagger, expected one that can begin with raw text")
    source, peer = _source(treebank.test), find_peer(tuple(map(str, udpipe)))
    where = f"{treebank.name} {treebank.test.stem}"
    with TemporaryDirectory() as folder:
        return [
            *_accuracy_rows(treebank, where, source, parser, peer, Path(folder), say),
            *_speed_rows(where, source, parser, peer, rounds, say),
            *_start_rows(str(model), peer, Path(folder), max(1, rounds // 3), say),
        ]


def without_tags(conllu: str) -> str:
    r"""The words of a CoNLL-U text, and nothing that is to be predicted.

    >>> without_tags("# text = Go\n1\tGo\tgo\tVERB\tVB\tMood=Imp\t0\troot\t0:root\tSpaceAfter=No\n\n")
    '# text = Go\n1\tGo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n'
    """
    columns = r"^([\d.-]+\t[^\t\n]+)(?:\t[^\t\n]+){7}\t"
    return re.sub(columns, r"\1" + 7 * r"\t_" + r"\t", conllu, flags=re.MULTILINE)


def _source(path: Path) -> Source:
    blocks = list(read_blocks(path))
    raw = treebank_text(blocks)
    if raw is None or blocks[0].format is not CONLLU:
        raise InputError(
            "no treebank that says where its text has spaces",
            expected="CoNLL-U with `# text`",
            file=str(path),
        )
    words = "".join(without_tags(block.data.tobytes().decode()) for block in blocks)
    return Source(raw.text, words, sum(len(block.heads) for block in blocks))


def find_peer(files: tuple[str, ...]) -> Peer:
    """UDPipe with these models, if any are given and it is installed."""
    if not files:
        return Peer("", files, None)
    try:
        return Peer("UDPipe", files, UDPipe(files))
    except ImportError:
        return Peer("UDPipe", files, None)


def _trees(parser: Parser, blocks: Iterable[Block]) -> bytes:
    """Blocks without tags to trees in CoNLL-U, as `arcwise parse` makes them."""
    return b"".join(parser.parse_to_bytes(parser.tag_block(block)).tobytes() for block in blocks)


def _accuracy_rows(
    treebank: BenchTreebank, where: str, source: Source, parser: Parser, peer: Peer, folder: Path, say: Say
) -> list[Row]:
    words, output = folder / "words.conllu", folder / "output.conllu"
    words.write_text(source.words, encoding="utf-8")

    def scores(metrics: Metrics, trees: bytes) -> list[float]:
        output.write_bytes(trees)
        found = evaluate(treebank.test, output).metrics
        return [100 * found[convention][name].f1 for _, convention, name, _ in metrics]

    say(f"scoring the trees of {where}")
    data = source.text.encode()
    ours = [
        *scores(_FROM_TEXT, _trees(parser, parser.read_text([data]))),
        *scores(_FROM_WORDS, _trees(parser, read_blocks(words, check_trees=False))),
    ]
    theirs: list[float] | list[None] = [None] * len(ours)
    if peer.udpipe is not None:
        say(f"scoring the trees of {where} that {peer.name} finds")
        theirs = [
            *scores(_FROM_TEXT, peer.udpipe.from_text(source.text).encode()),
            *scores(_FROM_WORDS, peer.udpipe.from_words(source.words).encode()),
        ]
    return [
        Row(
            f"{title}, {where}", value, "%", peer.name, other,
            *(_as_good(value, other, least) if treebank.is_target else ()),
        )
        for (title, _, _, least), value, other in zip((*_FROM_TEXT, *_FROM_WORDS), ours, theirs, strict=True)
    ]  # fmt: skip


def _as_good(value: float, peer: float | None, least: float) -> Target:
    """At least so much, and as much as the peer.

    >>> _as_good(96.0, 95.0, 95.5), _as_good(96.0, None, 95.5), _as_good(95.0, None, 95.5)[1]
    (('at least 95.5 % and as the peer', True), ('at least 95.5 % and as the peer', None), False)
    """
    text = f"at least {least:g} % and as the peer" if least else "at least as the peer"
    if peer is None:
        return text, None if value >= least else False
    return text, value >= max(least, peer)


def _speed_rows(where: str, source: Source, parser: Parser, peer: Peer, rounds: int, say: Say) -> list[Row]:
    """Words a second from text to trees, in memory; and by the steps of ours, each from what the one before it made."""
    data = source.text.encode()
    blocks = list(parser.read_text([data]))
    tagged = [parser.tag_block(block) for block in blocks]
    actions: dict[str, Action] = {
        "ours": lambda: _trees(parser, parser.read_text([data])),
        "tokenising": lambda: list(parser.read_text([data])),
        "tagging": lambda: [parser.tag_block(block) for block in blocks],
        "parsing": lambda: [parser.parse_to_bytes(block) for block in tagged],
    }
    udpipe = peer.udpipe
    if udpipe is not None:
        rounds = max(1, rounds // 6)  # a round of it takes seconds
        actions["peer"] = lambda: udpipe.from_text(source.text)
    say(f"parsing the raw text of {where} {rounds} times")
    speed = {name: 1e6 * source.length / spent for name, spent in medians(actions, rounds).items()}
    ours = speed["ours"]
    target = at_least(ours, _WORDS, "words/s")
    return [
        Row(f"text to trees, {where}, one thread", ours, "words/s", peer.name, speed.get("peer"), *target),
        *(
            Row(f"text to trees, {where}: {step} alone", speed[step], "words/s")
            for step in ("tokenising", "tagging", "parsing")
        ),
    ]


def _start_rows(model: str, peer: Peer, folder: Path, rounds: int, say: Say) -> list[Row]:
    """Loading the model in a fresh process, and from the shell to the first tree; what is compiled is there."""
    file = folder / "seconds"
    load_peer = "from arcwise.bench.text_peers import UDPipe", f"UDPipe({peer.files!r})"
    programs = {"ours": ("from arcwise.pipeline.parser import load", f"load({model!r})")}
    commands: dict[str, tuple[str, ...]] = {
        "ours": ("-m", "arcwise", "parse", "--text", _SENTENCE, "--model", model, "-f", "tree")
    }
    if peer.udpipe is not None:
        programs["peer"] = load_peer
        commands["peer"] = ("-c", f"{load_peer[0]}; {load_peer[1]}.from_text({_SENTENCE!r})")
    loading, importing, cpu, elapsed = ({side: list[float]() for side in programs} for _ in range(4))
    say(f"loading and starting {rounds} times")
    for side in commands:
        run_python(*commands[side])  # not counted: it may have to compile
    for _ in range(rounds):
        for side, (imports, load_model) in programs.items():
            program = _LOADING_PROGRAM.format(imports=imports, load=load_model, file=str(file))
            importing[side].append(run_python("-c", program).cpu)
            loading[side].append(float(file.read_text()))
            cost = run_python(*commands[side])
            cpu[side].append(cost.cpu)
            elapsed[side].append(cost.elapsed)

    def row(name: str, costs: dict[str, list[float]], limit: float | None = None) -> Row:
        ours, other = median(costs["ours"]), median(costs["peer"]) if "peer" in costs else None
        return Row(name, ours, "s", peer.name, other, *(at_most(ours, limit, "s") if limit else ()))

    return [
        row("loading the model, after imports", loading, _LOADING),
        row("loading the model, a whole process with its imports", importing),
        row("first tree of a text from the shell, warm (CPU)", cpu),
        row("first tree of a text from the shell, warm (elapsed)", elapsed, _START),
    ]
