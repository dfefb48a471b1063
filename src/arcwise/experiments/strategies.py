"""Five ways to find trees where those of a treebank are of a class (Corro et al. 2016, section 7.2), and what they take.

    MSA         the best tree of any shape
    Eisner      the best projective tree
    LR          the Lagrangian relaxation alone (section 5.3), 200 steps, with the paper's rows
    B&B         branch and bound (section 6), as `arcwise.decode` has it
    MSA/Eisner  that of MSA if it is in the class, else that of Eisner

All see the same scores: those of arcs, each with its best label, that the pruner keeps; where these form no projective tree, it keeps
more. Times are of CPU, on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.experiments.racing import race
from arcwise.features.attributes import number_words
from arcwise.learning.corpus import word_rows
from arcwise.pipeline.best_trees import repeat
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.shaped_sentences import MOST_OPEN, NODES, find_others
from arcwise.search.eisner import eisner_trees
from arcwise.search.lagrangian import relax
from arcwise.search.shaped import PAPER_STEPS, ShapeOptions
from arcwise.search.shaped_tree import Effort, Outcome, begin, fix_arcs, make_shaped_room, shaped_trees
from arcwise.search.spanning_tree import spanning_trees
from arcwise.treebank.block import Block
from arcwise.treebank.reading import read_blocks
from arcwise.trees.shapes import PROJECTIVE, Shape

Heads = NDArray[np.int32]
Floats = NDArray[np.float64]

MSA, EISNER, LR, BRANCHING, FALLBACK = STRATEGIES = "MSA", "Eisner", "LR", "B&B", "MSA/Eisner"
PAPER = "B&B of the paper"  # with its rows and branches
SLACK = 0.5  # scores are whole numbers: a better tree is better by 1 at least
_ROUNDS = 21  # of which the median counts
# Seconds: what takes less is done several times over, what takes more is timed once.
_SHORT, _LONG = 1e-3, 0.03
_MOST_COPIES = 100


class Batch(NamedTuple):
    """Sentences: the matrices of their arcs one after another, their lengths, and the right heads, a row for each root and word."""

    scores: Floats
    lengths: NDArray[np.int64]
    single_root: bool
    gold: Heads

    @property
    def starts(self) -> NDArray[np.int64]:
        """The row where each sentence begins, and the end."""
        return np.concatenate(([0], np.cumsum(self.lengths + 1)))

    def pick(self, sentences: NDArray[np.int64]) -> Batch:
        """These sentences, each as often as it is named."""
        squares = np.concatenate(([0], np.cumsum((self.lengths + 1) ** 2)))
        return Batch(
            self.scores[repeat(squares, sentences)],
            self.lengths[sentences],
            self.single_root,
            self.gold[repeat(self.starts, sentences)],
        )

    def uas(self, heads: Heads) -> float:
        """Right heads of those known, in percent."""
        return 100 * float((heads == self.gold)[self.gold >= 0].mean())


class Found(NamedTuple):
    """Trees, a row for each root and word; and by sentence what `Outcome` has, if the search tells."""

    heads: Heads
    outcomes: Floats

    @property
    def scores(self) -> Floats:
        return self.outcomes[:, Outcome._fields.index("score")]

    @property
    def certified(self) -> NDArray[np.bool_]:
        return self.outcomes[:, Outcome._fields.index("bound")] <= self.scores

    @property
    def nodes(self) -> Floats:
        return self.outcomes[:, Outcome._fields.index("nodes")]


Search = Callable[[Batch], Found]


def make_efforts(shape: Shape, nodes: int) -> dict[str, Effort]:
    """How the searches for trees of a class go about it; nodes: of the paper's branch and bound."""
    options = {
        LR: ShapeOptions(shape, False, PAPER_STEPS, 0, None, True),
        BRANCHING: ShapeOptions(shape, True, None, NODES, None, False),
        FALLBACK: ShapeOptions(shape, False, 0, 0, None, True),
        PAPER: ShapeOptions(shape, True, PAPER_STEPS, nodes, None, True),
    }
    efforts = {name: option.effort._replace(slack=SLACK) for name, option in options.items()}
    return {**efforts, BRANCHING: efforts[BRANCHING]._replace(most_open=MOST_OPEN)}


def find_any(kernel: Callable[..., object], batch: Batch) -> Found:
    """All trees of a batch by a search that knows no class."""
    heads = np.empty(len(batch.gold), np.int32)
    kernel(batch.scores, batch.lengths, batch.single_root, heads)
    return Found(heads, np.empty((0, len(Outcome._fields))))


def find_shaped(shape: Shape, effort: Effort, batch: Batch) -> Found:
    """All trees of a batch by a search that does."""
    heads = np.empty(len(batch.gold), np.int32)
    outcomes = np.empty((len(batch.lengths), len(Outcome._fields)))
    shaped_trees(batch.scores, batch.lengths, batch.single_root, shape, effort, heads, outcomes)
    return Found(heads, outcomes)


def make_searches(shape: Shape, efforts: Mapping[str, Effort]) -> dict[str, Search]:
    """All searches by name."""
    return {
        MSA: partial(find_any, spanning_trees),
        EISNER: partial(find_any, eisner_trees),
        **{name: partial(find_shaped, shape, effort) for name, effort in efforts.items()},
    }


def read_matrices(parser: Parser, file: Path) -> tuple[Batch, list[Block]]:
    """The sentences of a treebank, as a model of arcs scores them; and as they are in the file."""
    weights, vocabulary = parser.model.weights()._replace(shape=PROJECTIVE), parser.model.vocabulary()
    scores, lengths, gold, kept = [], [], [], []
    with read_blocks(file) as blocks:
        for block in blocks:
            starts = block.words + np.arange(len(block.words))
            numbers = number_words(block.data, block.starts, block.stops, block.words, vocabulary)
            scores.append(np.empty(int((np.diff(starts) ** 2).sum())))
            unknown_trees(numbers, starts).find_trees(weights, matrices=scores[-1])
            lengths.append(np.diff(block.words).astype(np.int64))
            gold.append(_with_roots(block, block.heads))
            kept.append(block)
    scored = Batch(np.concatenate(scores), np.concatenate(lengths), parser.single_root, np.concatenate(gold))
    return scored, kept


def _with_roots(block: Block, heads: Heads) -> Heads:
    """Heads of a block's words, with a row for each root before them."""
    rows = np.full(len(heads) + len(block), -1, np.int32)
    rows[word_rows(block.words)] = heads
    return rows


def outside(heads: Heads, starts: NDArray[np.int64], shape: Shape) -> NDArray[np.int64]:
    """The sentences whose trees do not belong to a class."""
    others = np.ones(len(starts) - 1, np.bool_)
    find_others(heads, starts, shape, others)
    return np.flatnonzero(others)


def race_warm(runs: Mapping[str, Callable[[], object]]) -> dict[str, Floats]:
    """As `race`, but before the first round each runs once, since things may have to be compiled."""
    for run in runs.values():
        run()
    return race(runs, _ROUNDS)


def time_sentences(searches: Mapping[str, Search], batch: Batch) -> dict[str, tuple[Floats, Found]]:
    """By name, the seconds that a search takes for each sentence, and what it finds. What is short is done several times over, one
    after another.
    """
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    found = {name: [search(batch.pick(np.arange(0)))] for name, search in searches.items()}
    for sentence in range(len(batch.lengths)):
        runs = {}
        for name, search in searches.items():
            started = thread_time()
            found[name].append(search(batch.pick(np.array([sentence]))))
            seconds[name].append(thread_time() - started)
            if seconds[name][-1] <= _LONG:
                copies = int(np.clip(_SHORT / seconds[name][-1], 1, _MOST_COPIES))
                runs[name] = copies, partial(search, batch.pick(np.full(copies, sentence)))
        for name, times in race_warm({name: run for name, (_, run) in runs.items()}).items():
            seconds[name][-1] = float(np.median(times)) / runs[name][0]
    return {
        name: (np.array(seconds[name]), Found(*map(np.concatenate, zip(*found[name], strict=True))))
        for name in searches
    }


def time_parsers(parser: Parser, shape: Shape, blocks: list[Block]) -> dict[str, Floats]:
    """As `race`, how long it takes to parse a treebank: features, search and labels. Eisner begins with MSA, and goes on if the tree
    is not projective.
    """
    parsers = {
        MSA: parser.searching(shape="any"),
        EISNER: parser.searching(shape="projective"),
        LR: parser.searching(shape=str(shape), exact=False, rule="gap" if shape == PROJECTIVE else "paper"),
        BRANCHING: parser.searching(shape=str(shape)),
    }

    def parse(one: Parser) -> None:
        for block in blocks:
            one.parse_block(block)

    return race_warm({name: partial(parse, one) for name, one in parsers.items()})


def reduce_problem(batch: Batch, shape: Shape, effort: Effort) -> tuple[float, float]:
    """In percent, the sentences that the descent at the first node proves, and of the others the arcs that are then fixed (sections
    6.2 and 6.3): out, or the only one left into their word; nan if there are no others.
    """
    starts = np.concatenate(([0], np.cumsum((batch.lengths + 1) ** 2)))
    proved, fixed = [], []
    for sentence, length in enumerate(batch.lengths.tolist()):
        S = batch.scores[starts[sentence] : starts[sentence + 1]].reshape(length + 1, length + 1)
        trees, rows, nodes, incumbent = begin(S, batch.single_root, shape, effort, make_shaped_room(length))
        alive = nodes.alive[0]
        relaxed = relax(trees, rows, alive, incumbent, effort.descent)
        enough = float(incumbent.score[0]) + trees.slack
        proved.append(relaxed.bound <= enough)
        if not proved[-1]:
            room = np.empty(len(alive))
            still_open = fix_arcs(trees, relaxed, alive, enough, room, effort.paper)
            left = np.bincount(trees.arcs.modifier[alive], minlength=length + 1)
            fixed.append(1 - left[left > 1].sum() / len(alive) if still_open else 1.0)
    return 100 * mean(np.array(proved)), 100 * float(np.mean(fixed)) if fixed else np.nan


def mean(values: NDArray[Any]) -> float:
    """0 if there are none."""
    return float(values.mean()) if len(values) else 0.0
