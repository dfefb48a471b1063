"""Table 1 of Zhang et al. 2014: the head of every word on its own, against trees.

First-order models of arcs alone, without labels, on the test treebanks, with the treebanks' own tags. Both have the same features and
the same pruner, and both learn by MIRA from what their own search finds with costs: the one takes the best arc into each word, be
that a tree or not, the other the best tree. The epoch kept is the one with the best UAS on dev, by the same search.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.attachment import accuracy
from arcwise.experiments.climbing_models import EPOCHS, Recipe, files_of, percent, read_test, trained
from arcwise.experiments.climbing_runs import first_order_scores, number_sentences
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing_rows
from arcwise.features.tokens import longest_sentence
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.online import (
    LEARNERS,
    Learner,
    Training,
    add_costs,
    begin_lesson,
    complete,
    end_lesson,
)
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import Space, make_scratch
from arcwise.learning.trainers import Online, Parts
from arcwise.parts.graph import Graph, Ints
from arcwise.pipeline.checkpoint import State
from arcwise.pipeline.model import Model
from arcwise.pipeline.sentences import Weights
from arcwise.pipeline.training_run import Arrays, TrainingRun
from arcwise.trees.checking import is_tree

INDEPENDENT, TREES = "independent", "trees"
NAMES = {INDEPENDENT: Recipe({}, "after"), TREES: Recipe({}, "after")}
_TREE = "are trees, %"
_TRAINING = 0.9  # the share of a task, for the progress bar

COLUMNS = [
    *(f"UAS, {name}" for name in NAMES),
    *(f"UAS without punctuation, {name}" for name in NAMES),
    f"{INDEPENDENT} heads that {_TREE}",
]


@kernel
def best_arcs(graph: Graph, scores: NDArray[np.float64], up: Ints) -> None:
    """Fill in the best arc into each word, the first of equals."""
    up[:] = 0
    for b in range(1, len(graph.head)):
        m = graph.modifier[b]
        if up[m] == 0 or scores[b] > scores[up[m]]:
            up[m] = b


@kernel
def independent_epoch(
    corpus: Corpus, pruned: PrunedCorpus, order: NDArray[np.int64], space: Space, learner: Learner, step: int, training: Training
) -> int:  # fmt: skip
    """As `arcwise.learning.online.online_epoch`, for arcs alone, from the best arc into each word with its costs, be that a tree or
    not; returns how many heads were wrong.
    """
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    wrong = 0
    for s in order:
        lesson, whole = begin_lesson(corpus, pruned, s, None, space, training, scratch)
        for completing in (True, False):
            if completing and whole:
                continue
            add_costs(corpus, s, None, learner, completing, lesson)
            lesson.found[:] = False
            best_arcs(lesson.graph, lesson.tables.step, lesson.up)
            if completing:
                complete(lesson)
            else:
                lesson.found[lesson.up[1:]] = True
        heads, _ = end_lesson(corpus, s, None, space, learner, step, training, scratch, lesson, None)
        wrong, step = wrong + heads, step + 1
    return wrong


class IndependentHeads(Online):
    """MIRA from the head of every word on its own."""

    def epoch(self, parts: Parts) -> float:
        corpus, pruned, _, space, _, _, _ = self.problem
        weights, step = self.state["weights"], self.state["step"]
        training = Training(weights, self.state["moves"], np.zeros(len(weights), np.int16))
        learner = LEARNERS["mira"]._replace(limit=self.choices.rate)
        wrong, error = 0, 0.0
        for part, share in parts():
            wrong += independent_epoch(corpus, pruned, part, space, learner, int(step[0]), training)
            step += len(part)
            error = self._error(wrong, share)
        return error


class IndependentRun(TrainingRun):
    """A training whose trees are no trees: heads on their own."""

    def tree_epoch(self, state: State, stage: str = "trees") -> tuple[Arrays, float]:
        if self._trainer is None:
            self._trainer = IndependentHeads(self.problem(state), self.choices, state.learner)
        return super().tree_epoch(state, stage)

    def accuracy(self, model: Model) -> tuple[float, float]:
        dev = self.data.dev
        assert dev is not None
        uas, _ = accuracy(dev.heads, dev.labels, best_heads(dev, model.weights()), dev.labels)
        return 100 * uas, 0.0  # there are no labels


def best_heads(corpus: Corpus, weights: Weights) -> NDArray[np.int32]:
    """The best head of every word on its own, by row, the first of equals; -1 for the root."""
    _, matrices = first_order_scores(corpus, weights)
    heads, at = np.full(len(corpus.heads), -1, np.int32), 0
    for begin, size in zip(corpus.starts.tolist(), np.diff(corpus.starts).tolist(), strict=False):
        S = matrices[at : at + size * size].reshape(size, size)
        heads[begin + 1 : begin + size] = S[:, 1:].argmax(axis=0)
        at += size * size
    return heads


def measure_model(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> dict[str, float]:
    """Those of COLUMNS that are about one model, trained if need be."""
    make_run = IndependentRun if name == INDEPENDENT else TrainingRun
    parser = trained(treebank, name, models, epochs, lambda share: tell(_TRAINING * share), NAMES, make_run)
    sentences = number_sentences(parser, read_test(files_of(treebank).test))
    corpus, weights = sentences.corpus, parser.model.weights()
    if name == INDEPENDENT:
        heads = best_heads(corpus, weights)
    else:
        heads = first_order_scores(corpus, weights)[0].heads
    uas, without = sentences.uas(heads)
    row = {f"UAS, {name}": uas, f"UAS without punctuation, {name}": without}
    if name == INDEPENDENT:
        bounds = zip(corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True)
        trees = [is_tree(heads[begin:end], parser.single_root) for begin, end in bounds]
        row[COLUMNS[-1]] = percent(np.array(trees))
    return row


def table_1(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, name, models, epochs, tell)

    return growing_rows(treebanks, NAMES, COLUMNS, task, jobs, tell)


def tables(rows: Rows) -> Iterator[str]:
    """The table in Markdown."""
    yield from markdown("test, first order", rows)
