"""What `arcwise bench` measures of linear programs: price and cut beside full programs, cutting planes beside flow."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from arcwise.bench.row import Row, at_least, times_as_fast
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.errors import InputError
from arcwise.pipeline.parser import Parser, load
from arcwise.pipeline.program_sentences import FRACTIONAL
from arcwise.search.part_chart import PROGRAMS
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.reading import read_conllu

_RATIO, _SPEED = 10.0, 20.0  # of price and cut: times as fast as the full program; sentences a second
_SENTENCES, _LONGEST = 60, 40  # what is searched; the full program of long ones takes gigabytes


def rows(treebank: BenchTreebank, model: Path, rounds: int = 30, say: Say = silent) -> list[Row]:
    """Of the first sentences of the test file, all arcs: price and cut beside the full program and dual decomposition. Of the arcs
    kept: cutting planes beside the two kinds of flow. CPU time on one thread, milliseconds a sentence.
    """
    parser = load(model)
    if not {*PROGRAMS} <= {*parser.decoders}:
        raise InputError(
            f"search {parser.model.settings.search!r}",
            expected="a model of second order over all trees: trained with --order 2",
            file=str(model),
        )
    chosen = [sentence for sentence in read_conllu(treebank.test) if len(sentence) <= _LONGEST][:_SENTENCES]
    data = b"".join(sentence.to_bytes() for sentence in chosen)
    block, _ = index_block(data, chosen[0].format, check_trees=False)
    ways: dict[str, Parser] = {
        "price": parser.searching("price", exact=False, pruned=False),
        "lazy": parser.searching("price", exact=False, pruned=False, lazy=True),
        "full": parser.searching("lp", pruned=False),
        "paper": parser.searching("lp", pruned=False, relaxation="all-rows", connected="single-flow"),
        "dual": parser.searching("dual"),
        "exact": parser.searching("price"),
        "cuts": parser.searching("lp"),
        "single": parser.searching("lp", connected="single-flow"),
        "multi": parser.searching("lp", connected="multi-flow"),
    }
    say(f"searching {len(block)} sentences of {treebank.test.name} {rounds} times in {len(ways)} ways")
    actions: dict[str, Action] = {way: partial(_parse, searching, block) for way, searching in ways.items()}
    spent = {way: time / 1000 / len(block) for way, time in medians(actions, rounds).items()}
    whole = {
        way: 100 * float(np.mean(searching.parse_block(block).report[:, FRACTIONAL] == 0))
        for way, searching in ways.items()
        if way != "dual"
    }
    name = f"{model.name}, {treebank.name}"
    price, speed = spent["price"], 1000 / spent["price"]
    return [
        Row(f"{name}: price and cut, all arcs", speed, "sentences/s", "", None, *at_least(speed, _SPEED, "sentences/s")),
        Row(f"{name}: price and cut, all arcs", price, "ms", "full program, all rows, single-commodity flow", spent["paper"],
            *times_as_fast(price, spent["paper"], _RATIO)),
        Row(f"{name}: price and cut, all arcs", price, "ms", "full program without implied rows, cuts", spent["full"]),
        Row(f"{name}: price and cut, all arcs", price, "ms", "parts scored on demand", spent["lazy"]),
        Row(f"{name}: branch and price, arcs kept", spent["exact"], "ms", "dual decomposition and its finish", spent["dual"]),
        Row(f"{name}: full program, arcs kept, cuts", spent["cuts"], "ms", "single-commodity flow", spent["single"]),
        Row(f"{name}: full program, arcs kept, cuts", spent["cuts"], "ms", "multi-commodity flow", spent["multi"]),
        Row(f"{name}: integral solutions, cuts", whole["cuts"], "%", "single-commodity flow", whole["single"]),
        Row(f"{name}: integral solutions, cuts", whole["cuts"], "%", "multi-commodity flow", whole["multi"]),
    ]  # fmt: skip


def _parse(parser: Parser, block: Block) -> None:
    parser.parse_block(block)
