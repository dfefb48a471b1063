"""Koo's tables 4.2 and 4.3: three learners, each trained on projective and on all trees.

As in the thesis (4.6): arcs only, without labels, with the treebank's own tags; of every learner the penalty and the epoch are those
that are best on the development treebank. Models of all trees search for projective trees or for all, whichever is better there.
UAS counts all words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.significance import binomial_p
from arcwise.features.attributes import vocabulary
from arcwise.learning.corpus import Corpus, make_corpus
from arcwise.learning.trainers import Choices
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.model import Model, Settings
from arcwise.pipeline.options import Options, Watcher
from arcwise.pipeline.training_data import read_training_data
from arcwise.pipeline.training_run import TrainingRun
from arcwise.search.eisner import eisner_trees
from arcwise.treebank.reading import read_blocks

# Name, learner, optimiser, rate, and the penalties tried.
LEARNERS = {
    "perceptron": [Choices("perceptron", "online", 1.0, 0.0)],
    "max-margin": [Choices("max-margin", "eg", 1.0, penalty) for penalty in (1.0, 4.0, 16.0)],
    "log-linear": [Choices("log-linear", "sgd", 0.02, penalty) for penalty in (1.0, 4.0, 16.0)],
}
TREES = ("p", "np")
_EPOCHS = 12
_THRESHOLD = 9.21  # of the pruner: e^-9.21 is 0.0001, Koo's

Heads = NDArray[np.int32]


class Outcome(NamedTuple):
    """Of one learner on one treebank: the accuracy on both sets, in percent, what was best on the development set, and by sentence of
    the test set how many heads are right.
    """

    dev: float
    test: float
    best: str
    right: list[int]


def run(treebank: Path, learner: str, trees: str, epochs: int = _EPOCHS) -> Outcome:
    """Train a learner on the treebank in a folder (train, dev and test.conllu), choose on dev, measure on test."""
    settings = Settings(threshold=_THRESHOLD)
    if trees == "p":
        settings = Settings(search="eisner", threshold=_THRESHOLD, pruning="projective")
    options = Options(gold_tags=True, labels="after", settings=settings)
    data = read_training_data(treebank / "train.conllu", treebank / "dev.conllu", options, Watcher())
    assert data.dev is not None
    first = TrainingRun(data, options, Watcher())
    begun = first.begin()
    best, best_dev = None, -1.0
    for choices in LEARNERS[learner]:
        trial = TrainingRun(data, options, Watcher())
        trial.choices = choices
        state = begun.fresh()
        for epoch in range(epochs):
            state.epoch = epoch
            found, _ = trial.tree_epoch(state)
            model = trial.model(found, state)
            for projective in (False,) if trees == "p" else (False, True):
                dev = accuracy(data.dev, parse(model, data.dev, projective))
                if dev > best_dev:
                    how = f"C {choices.penalty:g}, " * (choices.penalty > 0) + f"epoch {epoch + 1}"
                    best = (model, projective, how + ", projective search" * projective)
                    best_dev = dev
    assert best is not None
    model, projective, how = best
    with read_blocks(treebank / "test.conllu") as blocks:
        test = make_corpus(list(blocks), vocabulary(data.keys.copy()), {})
    heads = parse(model, test, projective)
    right = np.add.reduceat((heads == test.heads) & (test.heads >= 0), test.starts[:-1], dtype=np.int64)
    return Outcome(best_dev, accuracy(test, heads), how, right.tolist())


def parse(model: Model, corpus: Corpus, projective: bool) -> Heads:
    """The best tree of every sentence; projective: of a model of all trees, the best projective one."""
    rows = unknown_trees(corpus.numbers, corpus.starts)
    sizes = np.diff(corpus.starts)
    matrices = np.empty(int(np.square(sizes).sum()) if projective else 0)
    rows.find_trees(model.weights(), matrices)
    if projective:
        found = np.empty(len(rows.heads), np.int32)
        codes = eisner_trees(matrices, sizes - 1, model.single_root, found)
        for sentence in np.flatnonzero(codes == 0):  # else no projective tree is left among the arcs kept
            begin, end = corpus.starts[sentence : sentence + 2]
            rows.heads[begin:end] = found[begin:end]
    return rows.heads


def accuracy(corpus: Corpus, heads: Heads) -> float:
    """The share of right heads, in percent."""
    words = corpus.heads >= 0
    return 100 * float((heads == corpus.heads)[words].mean())


def run_all(
    treebanks: list[Path], jobs: int, done: dict[str, Any], tell: Callable[[str, Outcome], None]
) -> dict[str, Outcome]:
    """All learners on all treebanks, by `name/learner/trees`; those in `done` are not run again."""
    outcomes = {key: Outcome(*value) for key, value in done.items()}
    keys = [
        (f"{treebank.name}/{learner}/{trees}", treebank, learner, trees)
        for treebank, learner, trees in product(treebanks, LEARNERS, TREES)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            key: pool.submit(run, treebank, learner, trees)
            for key, treebank, learner, trees in keys
            if key not in outcomes
        }
        for key, future in waiting.items():
            outcomes[key] = future.result()
            tell(key, outcomes[key])
    return outcomes


def tables(outcomes: dict[str, Outcome]) -> Iterator[str]:
    """The lines of both tables, in Markdown, and of the sign tests."""
    names = list(dict.fromkeys(key.split("/")[0] for key in outcomes))
    settings = list(product(LEARNERS, TREES))
    yield "| test UAS | " + " | ".join(f"{learner} {trees}" for learner, trees in settings) + " |"
    yield "|---|" + "---|" * len(settings)
    for name in names:
        row = [outcomes[f"{name}/{learner}/{trees}"].test for learner, trees in settings]
        yield f"| {name} | " + " | ".join(_bold(value, row) for value in row) + " |"
    yield ""
    chosen = {
        learner: [
            max((outcomes[f"{name}/{learner}/{trees}"] for trees in TREES), key=lambda one: one.dev)
            for name in names
        ]
        for learner in LEARNERS
    }
    yield "| chosen on dev | " + " | ".join(names) + " | mean |"
    yield "|---|" + "---|" * (len(names) + 1)
    columns = np.array([[one.test for one in chosen[learner]] for learner in LEARNERS])
    columns = np.concatenate([columns, columns.mean(axis=1, keepdims=True)], axis=1)
    for learner, values in zip(LEARNERS, columns, strict=True):
        cells = [_bold(value, column.tolist()) for value, column in zip(values, columns.T, strict=True)]
        yield f"| {learner} | " + " | ".join(cells) + " |"
    yield ""
    for learner in list(LEARNERS)[1:]:
        pairs = zip(chosen[learner], chosen["perceptron"], strict=True)
        change = np.concatenate([np.array(one.right) - np.array(other.right) for one, other in pairs])
        better, worse = int((change > 0).sum()), int((change < 0).sum())
        yield (
            f"- {learner} against the perceptron: of {len(change)} sentences {better} better, {worse} worse; "
            f"sign test p = {binomial_p(better, worse):.2g}"
        )
    for name in names:
        for learner in LEARNERS:
            one, other = (outcomes[f"{name}/{learner}/{trees}"] for trees in ("np", "p"))
            change = np.array(one.right) - np.array(other.right)
            better, worse = int((change > 0).sum()), int((change < 0).sum())
            if binomial_p(better, worse) < 0.05:
                yield (
                    f"- {name}, {learner}, np against p: {better} better, {worse} worse, "
                    f"p = {binomial_p(better, worse):.2g}"
                )


def _bold(value: float, values: list[float]) -> str:
    return f"**{value:.2f}**" if value == max(values) else f"{value:.2f}"
