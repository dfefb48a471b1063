"""What `arcwise bench` measures of models that search all trees by dual decomposition: speed, proofs, and what the finish costs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from arcwise.bench.parsing import parse_file
from arcwise.bench.row import Row
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.errors import InputError
from arcwise.pipeline.dual_sentences import ROUNDS, STEPS
from arcwise.pipeline.parser import load
from arcwise.treebank.reading import read_blocks

_SPEED = 13_000.0  # words a second of second order, at least
_COST = 1.3  # of an exact search beside one by the paper's steps, at most
_ITERATIONS = 5000


def rows(treebank: BenchTreebank, model: Path, rounds: int = 30, say: Say = silent) -> list[Row]:
    """Of the test file: words a second from file to file, beside the paper's steps and beside a single step, which is hardly more
    than the scores; and how many trees are proved best.
    """
    parser = load(model)
    if not parser.model.settings.dual:
        raise InputError(
            f"search {parser.model.settings.search!r}",
            expected="dual decomposition: a model trained with --order 2 or 3",
            file=str(model),
        )
    ways = {
        "exact": parser,
        "paper": parser.searching(exact=False, rule="paper", iterations=_ITERATIONS),
        "one step": parser.searching(exact=False, rule="paper", iterations=1),
    }
    file, name = treebank.test, f"{model.name}, {treebank.name} {treebank.test.stem}"
    say(f"parsing {file.name}")
    proved: dict[str, float] = {}
    report = np.empty((0, 0))
    for way in ("paper", "exact"):
        trees = [ways[way].parse_block(block) for block in read_blocks(file)]
        proved[way] = 100 * float(np.mean(np.concatenate([each.certified for each in trees])))
        report = np.concatenate([each.report for each in trees])
    words = sum(len(block.heads) for block in read_blocks(file))
    say(f"parsing {file.name} {rounds} times")
    with TemporaryDirectory() as folder:
        output = Path(folder) / "parsed.conllu"
        actions: dict[str, Action] = {
            way: partial(parse_file, searching, file, output, 1) for way, searching in ways.items()
        }
        speed = {way: words / spent * 1e6 for way, spent in medians(actions, rounds).items()}
    paper = f"the paper's steps, {_ITERATIONS} at most"
    return [
        Row(f"{name}: trees proved best", proved["exact"], "%", paper, proved["paper"], "100 %", proved["exact"] == 100),
        Row(
            f"{name}: parsing, one thread", speed["exact"], "words/s", paper, speed["paper"],
            f"at least {_SPEED:,.0f} words/s; at most {_COST:g} times the time",
            speed["exact"] >= _SPEED and speed["paper"] <= _COST * speed["exact"],
        ),
        Row(f"{name}: parsing, one thread", speed["exact"], "words/s", "one step, unproved", speed["one step"]),
        Row(f"{name}: steps before the finish", float(report[:, STEPS].mean()), "steps"),
        Row(f"{name}: sentences that need the finish", 100 * float(np.mean(report[:, ROUNDS] > 0)), "%"),
    ]  # fmt: skip
