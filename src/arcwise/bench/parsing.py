"""What `arcwise bench` measures of parsing, from a CoNLL-U file to a CoNLL-U file."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from arcwise.bench.parsing_peers import PEERS
from arcwise.bench.row import Row, at_least, at_most, times_as_fast
from arcwise.bench.timing import Action, Say, medians, run_python, silent
from arcwise.bench.treebank import BenchTreebank, make_sentences
from arcwise.errors import InputError
from arcwise.pipeline.parser import Parser, load
from arcwise.pipeline.streaming import map_in_order
from arcwise.treebank.reading import read_blocks

_WORDS = 50_000.0  # per CPU second
_TWO_THREADS = 1.7
_BLOCK_BYTES = 1 << 17  # as `arcwise parse` reads
_WARM, _COLD, _MODEL = 1.5, 30.0, 30.0  # seconds, CPU seconds, MB


def rows(
    treebank: BenchTreebank, model: Path, rounds: int = 30, peers: bool = False, say: Say = silent
) -> list[Row]:
    """Speed, threads, starting warm and cold, and the size of the model."""
    parser = load(model)
    with TemporaryDirectory() as folder:
        output = Path(folder) / "parsed.conllu"
        result = _speed_rows(treebank, parser, output, rounds, peers, say)
        result.append(_threads_row(treebank, parser, output, max(1, rounds // 3), say))
        result += _start_rows(Path(folder), model, max(1, rounds // 3), say)
    size = model.stat().st_size / 1e6
    return [*result, Row("model file", size, "MB", "", None, *at_most(size, _MODEL, "MB"))]


def parse_file(parser: Parser, path: Path, output: Path, jobs: int) -> None:
    """Parse a file as `arcwise parse` does."""
    blocks = read_blocks(path, check_trees=False, block_bytes=_BLOCK_BYTES)
    with output.open("wb") as file:
        for text in map_in_order(parser.parse_to_bytes, blocks, jobs):
            file.write(text.data)


def _speed_rows(
    treebank: BenchTreebank, parser: Parser, output: Path, rounds: int, peers: bool, say: Say
) -> list[Row]:
    path = treebank.test
    words = sum(len(block.heads) for block in read_blocks(path, check_trees=False))
    actions: dict[str, Action] = {"ours": lambda: parse_file(parser, path, output, 1)}
    if peers:
        if path.suffix != ".conllu":
            raise InputError("not a .conllu file", expected="one, since peers read no others", file=str(path))
        for name, prepare in PEERS.items():
            say(f"preparing {name}")
            action = prepare(treebank)
            if action is not None:
                actions[name] = action
    turns = rounds if len(actions) == 1 else max(1, rounds // 6)  # a round of a peer takes seconds
    say(f"parsing {path.name} {turns} times")
    speed = {name: words / spent * 1e6 for name, spent in medians(actions, turns).items()}
    name, ours = f"parsing {treebank.name} {path.stem}, one thread", speed["ours"]
    target = at_least(ours, _WORDS, "words/s")
    if not peers:
        return [Row(name, ours, "words/s", "", None, *target)]
    return [Row(name, ours, "words/s", peer, speed.get(peer), *target) for peer in PEERS]


def _threads_row(treebank: BenchTreebank, parser: Parser, output: Path, rounds: int, say: Say) -> Row:
    path = treebank.train  # long enough to keep two threads busy
    say(f"parsing {path.name} {rounds} times with one thread and with two")
    actions: dict[str, Action] = {
        "two": lambda: parse_file(parser, path, output, 2),
        "one": lambda: parse_file(parser, path, output, 1),
    }
    spent = medians(actions, rounds, time.perf_counter_ns)  # elapsed: that is what threads are for
    two, one = spent["two"] / 1e6, spent["one"] / 1e6
    return Row(
        f"parsing {treebank.name} {path.stem}, two threads (elapsed)", two, "s", "one thread", one,
        *times_as_fast(two, one, _TWO_THREADS),
    )  # fmt: skip


def _start_rows(folder: Path, model: Path, rounds: int, say: Say) -> list[Row]:
    """One sentence through the command line: warm from shell to tree and end, and cold."""
    sentence, cache = folder / "sentence.conllu", folder / "cache"
    sentence.write_text("".join(make_sentences(1)), encoding="utf-8")
    cache.mkdir()
    command = (
        "-m",
        "arcwise",
        "parse",
        str(sentence),
        "--model",
        str(model),
        "-o",
        str(folder / "tree.conllu"),
    )
    say(f"starting {rounds} times")
    run_python(*command)
    warm = median(run_python(*command).elapsed for _ in range(rounds))
    say("starting with nothing compiled")
    cold = run_python(*command, environment={"NUMBA_CACHE_DIR": str(cache)}).cpu
    return [
        Row("first tree from the shell, warm (elapsed)", warm, "s", "", None, *at_most(warm, _WARM, "s")),
        Row("first tree from the shell, nothing compiled", cold, "s", "", None, *at_most(cold, _COLD, "s")),
    ]
