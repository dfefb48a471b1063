"""Tables 1, 2 and 3 and figure 2 of Corro et al. 2016: five strategies of decoding, on treebanks whose trees are of a class.

The class is the smallest that covers 99% of the training trees. UAS is of all words. `arcwise.experiments.strategies` says what the
strategies are, and how they are timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from arcwise.evaluation.structure import Structure, measure_structure, smallest_class
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.strategies import (
    BRANCHING,
    FALLBACK,
    LR,
    MSA,
    PAPER,
    SLACK,
    STRATEGIES,
    Batch,
    Floats,
    Search,
    find_shaped,
    make_efforts,
    make_searches,
    mean,
    outside,
    race_warm,
    read_matrices,
    reduce_problem,
    time_parsers,
    time_sentences,
)
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import EPOCHS, Tell, growing_rows, trained
from arcwise.pipeline.parser import Parser
from arcwise.search.shaped import PAPER_STEPS
from arcwise.search.shaped_tree import Effort
from arcwise.treebank.block import Block
from arcwise.treebank.reading import read_blocks
from arcwise.trees.shapes import Shape

PARTS = "dev", "test"
NODES = 2000  # of the paper's branch and bound, at most
_SEARCH = "spanning-tree"
DEGREES = ["1 WN", *(f"{degree} {nested}" for degree in ("2", "3", "4", ">4") for nested in ("WN", "IL"))]
TIMED = MSA, LR, BRANCHING, PAPER
TIMES = "mean", "std.", "median", "3rd quartile", "total"
BRANCHINGS = BRANCHING, PAPER
EFFORTS = "proved by descent, %", "arcs fixed, %", "nodes, mean", "nodes, most", "out of nodes"
MEASURES = "UAS", "in class, %", "search, times MSA", "parse, times MSA", "search, ms", "parse, ms"
# Kinds of rows, and whether they are the paper's; kinds of optimality; and steps.
ROWS = {"borders": True, "cells": False}
OPTIMAL = "with certificate", "without"
CURVES = [f"{kind}, {how}" for kind in ROWS for how in OPTIMAL]
STEPS = range(0, PAPER_STEPS + 1, 10)
_COVERED = "in class, % of train"
_CLASS = [*Shape._fields, _COVERED]
COLUMNS = [
    *_CLASS,
    *(f"Table 1, {column}" for column in DEGREES),
    "sentences",
    *(f"Table 2, {name}, {measure}" for name in TIMED for measure in TIMES),
    *(f"Nodes, {name}, {measure}" for name in BRANCHINGS for measure in EFFORTS),
    *(f"Table 3, {name}, {measure}" for name in STRATEGIES for measure in MEASURES),
    *(f"Figure 2, {curve}, {steps}" for curve in CURVES for steps in STEPS),
]
_TRAINING = 0.2  # the share of a task, for the progress bar


def describe(structure: Structure) -> dict[str, float]:
    """Table 1: block degrees, well-nested (WN) and ill-nested (IL) trees, in percent."""
    row = dict.fromkeys(DEGREES, 0.0)
    for (degree, nested), trees in structure.block_degrees.items():
        name = f"{degree if degree <= 4 else '>4'} {'WN' if nested else 'IL'}"
        row[name] += 100 * trees / structure.sentences
    return _named("Table 1", row)


def compare(
    parser: Parser, shape: Shape, batch: Batch, blocks: list[Block], searches: Mapping[str, Search]
) -> dict[str, float]:
    """Table 3, of a batch of matrices and the same sentences in blocks."""
    strategies = {name: partial(searches[name], batch) for name in STRATEGIES}
    searching, parsing = race_warm(strategies), time_parsers(parser, shape, blocks)
    parsing[FALLBACK] = parsing[LR] - searching[LR] + searching[FALLBACK]  # that is all they differ in
    row: dict[str, float] = {}
    sentences = len(batch.lengths)
    for name, search in strategies.items():
        heads = search().heads
        values = [
            batch.uas(heads),
            100 * (1 - len(outside(heads, batch.starts, shape)) / sentences),
            *(float(np.median(seconds[name] / seconds[MSA])) for seconds in (searching, parsing)),
            *(1000 * float(np.median(seconds[name])) / sentences for seconds in (searching, parsing)),
        ]
        row |= _named(f"Table 3, {name}", zip(MEASURES, values, strict=True))
    return row


def time_and_reduce(
    shape: Shape, batch: Batch, efforts: Mapping[str, Effort], searches: Mapping[str, Search]
) -> dict[str, float]:
    """Table 2, and what branch and bound takes."""
    row: dict[str, float] = {}
    for name, (seconds, found) in time_sentences({name: searches[name] for name in TIMED}, batch).items():
        row |= _named(f"Table 2, {name}", zip(TIMES, _spread(1000 * seconds), strict=True))
        if name in BRANCHINGS:
            counts = mean(found.nodes), found.nodes.max(initial=0.0), (~found.certified).sum()
            values = [*reduce_problem(batch, shape, efforts[name]), *counts]
            row |= _named(f"Nodes, {name}", zip(EFFORTS, values, strict=True))
    return row


def stop_early(shape: Shape, batch: Batch, efforts: Mapping[str, Effort], best: Floats) -> dict[str, float]:
    """Figure 2: the trees of the relaxation that are optimal after so many steps, in percent; best: the scores of those that are."""
    row: dict[str, float] = {}
    for (kind, paper), steps in product(ROWS.items(), STEPS):
        effort = efforts[LR]._replace(descent=efforts[LR].descent._replace(steps=steps), paper=paper)
        found = find_shaped(shape, effort, batch)
        optimal = found.certified, np.abs(found.scores - best) < SLACK
        for how, which in zip(OPTIMAL, optimal, strict=True):
            row[f"Figure 2, {kind}, {how}, {steps}"] = 100 * mean(which)
    return row


def measure(
    treebank: Path, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None, *, part: str = PARTS[0],
    nodes: int = NODES,
) -> dict[str, float]:  # fmt: skip
    """COLUMNS of a treebank, its model trained if need be. part: the one that is parsed, "dev" or "test"; Table 1 counts it, and what
    comes before it. nodes: that the paper's branch and bound looks at, at most.
    """
    parser = trained(treebank, _SEARCH, models, epochs, lambda share: tell(_TRAINING * share))
    files = dict(zip(("train", *PARTS), treebank_files(treebank), strict=True))
    structures = []
    for name in ("train", *PARTS[: PARTS.index(part) + 1]):
        with read_blocks(files[name]) as read:
            structures.append(measure_structure(read))
    train, shape = structures[0], smallest_class(structures[0])
    row = dict(zip(_CLASS, [*shape, 100 * train.classes[shape] / train.sentences], strict=True))
    row |= describe(sum(structures[1:], train))
    batch, blocks = read_matrices(parser, files[part])
    efforts = make_efforts(shape, nodes)
    searches = make_searches(shape, efforts)
    tell(0.3)
    row |= compare(parser, shape, batch, blocks, searches)
    tell(0.6)
    hard = batch.pick(outside(searches[MSA](batch).heads, batch.starts, shape))
    row["sentences"] = len(hard.lengths)
    row |= time_and_reduce(shape, hard, efforts, searches)
    tell(0.9)
    row |= stop_early(shape, hard, efforts, searches[BRANCHING](hard).scores)
    return {column: row[column] for column in COLUMNS}


def _named(table: str, values: Mapping[str, float] | Iterable[tuple[str, float]]) -> dict[str, float]:
    """Values as they are named among all columns."""
    return {f"{table}, {key}": float(value) for key, value in dict(values).items()}


def _spread(times: Floats) -> list[float]:
    """The columns of Table 2."""
    if not len(times):
        return [0.0] * len(TIMES)
    return [times.mean(), times.std(), *np.quantile(times, (0.5, 0.75)), times.sum()]


def shapes(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None, *,
    part: str = PARTS[0], nodes: int = NODES,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is. part, nodes: as of `measure`."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure(treebank, models, epochs, tell, part=part, nodes=nodes)

    return growing_rows(treebanks, [_SEARCH], COLUMNS, task, jobs, tell)


def tables(rows: Rows, part: str = PARTS[0]) -> Iterator[str]:
    """All tables in Markdown."""
    banks = {bank: row for bank, row in rows.items() if bank != "mean"}
    classes = {
        bank: Shape(int(row["block_degree"]), *(row[field] > 0 for field in Shape._fields[1:]))
        for bank, row in banks.items()
    }
    files = "train, dev, test" if part == "test" else "train, dev"
    yield from markdown(
        f"Table 1, % of {files}",
        {
            f"{bank} ({classes[bank]})": {**_columns(row, "Table 1"), _COVERED: row[_COVERED]}
            for bank, row in banks.items()
        },
    )
    yield ""
    yield (
        f"In brackets: above the class, below the number of sentences of {part} whose MSA is not in it. Table 3 is of all sentences, "
        "all others of these."
    )
    yield ""
    hard = {f"{bank} ({row['sentences']:.0f})": row for bank, row in banks.items()}
    for title, table, names, among in (
        ("Table 2, ms", "Table 2", TIMED, hard),
        ("Branch and bound", "Nodes", BRANCHINGS, hard),
        (f"Table 3, {part}", "Table 3", STRATEGIES, rows),
        ("Figure 2, % optimal after", "Figure 2", CURVES, hard),
    ):
        lines = {
            f"{bank}, {name}": _columns(row, f"{table}, {name}")
            for bank, row in among.items()
            for name in names
        }
        yield from markdown(title, lines)
        yield ""
    yield (
        "Search: from matrices of scores. Parse: with features and labels; Eisner looks there at the trees of MSA that are not "
        "projective, and the time of MSA/Eisner is not measured, but that of LR with the search exchanged. Arcs fixed: "
        "where the descent at the first node proves nothing."
    )


def _columns(row: Mapping[str, float], table: str) -> dict[str, float]:
    """Those of a table, by the rest of their names."""
    return {
        column.removeprefix(f"{table}, "): row[column]
        for column in COLUMNS
        if column.startswith(f"{table}, ")
    }
