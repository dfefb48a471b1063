"""Koo's tables 4.2 and 4.3: three learners, each trained on projective and on all trees.

As in the thesis (4.6): arcs only, without labels, with the treebank's own tags; of every learner the penalty and the epoch are those
that are best on the development treebank. Models of all trees search for projective trees or for all, whichever is better there.
UAS counts all words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.evaluation.attachment import accuracy
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
from arcwise.search.status import FOUND
from arcwise.treebank.reading import read_blocks

# The choices tried of each learner, and for how many epochs.
LEARNERS = {
    "perceptron": [Choices("perceptron", "online", 1.0, 0.0)],
    "max-margin": [Choices("max-margin", "eg", 1.0, penalty) for penalty in (100.0, 300.0)],
    "log-linear": [Choices("log-linear", "sgd", 0.02, penalty) for penalty in (1.0, 5.0)],
}
EPOCHS = {"perceptron": 15, "max-margin": 20, "log-linear": 12}
TREES = ("p", "np")
_THRESHOLD = 6.2  # of the pruner by projective trees: as many arcs are kept as by heads with the default

Heads = NDArray[np.int32]


class Outcome(NamedTuple):
    """Of one learner on one treebank: the accuracy on both sets, in percent, what was best on the development set, and by sentence of
    the test set how many heads are right.
    """

    dev: float
    test: float
    best: str
    right: list[int]


def treebank_files(folder: Path) -> list[Path]:
    """The training, development and test files of a treebank, each the one whose name begins with `train`, `dev` or `test`."""
    files = []
    for part in ("train", "dev", "test"):
        found = sorted(folder.glob(f"{part}*.conll*"))
        if len(found) != 1:
            raise InputError(f"{len(found)} files {part}*.conll*", expected="one", file=str(folder))
        files += found
    return files


def run(treebank: Path, learner: str, trees: str) -> Outcome:
    """Train a learner on the treebank in a folder, choose on dev, measure on test."""
    settings = Settings()
    if trees == "p":
        settings = Settings(search="eisner", threshold=_THRESHOLD, pruning="projective")
    options = Options(gold_tags=True, labels="after", settings=settings)
    train, dev, test_file = treebank_files(treebank)
    data = read_training_data(train, dev, options, Watcher())
    assert data.dev is not None
    first = TrainingRun(data, options, Watcher())
    begun = first.begin()
    best, best_dev = None, -1.0
    for choices in LEARNERS[learner]:
        trial = TrainingRun(data, options, Watcher())
        trial.choices = choices
        state = begun.fresh()
        for epoch in range(EPOCHS[learner]):
            state.epoch = epoch
            found, _ = trial.tree_epoch(state)
            model = trial.model(found, state)
            for projective in (False,) if trees == "p" else (False, True):
                on_dev = uas(data.dev, parse(model, data.dev, projective))
                if on_dev > best_dev:
                    how = f"C {choices.penalty:g}, " * (choices.penalty > 0) + f"epoch {epoch + 1}"
                    best = (model, projective, how + ", projective search" * projective)
                    best_dev = on_dev
    assert best is not None
    model, projective, how = best
    with read_blocks(test_file) as blocks:
        test = make_corpus(list(blocks), vocabulary(data.keys.copy()), {})
    heads = parse(model, test, projective)
    right = np.add.reduceat((heads == test.heads) & (test.heads >= 0), test.starts[:-1], dtype=np.int64)
    return Outcome(best_dev, uas(test, heads), how, right.tolist())


def parse(model: Model, corpus: Corpus, projective: bool) -> Heads:
    """The best tree of every sentence; projective: of a model of all trees, the best projective one."""
    rows = unknown_trees(corpus.numbers, corpus.starts)
    sizes = np.diff(corpus.starts)
    matrices = np.empty(int(np.square(sizes).sum()) if projective else 0)
    rows.find_trees(model.weights(), matrices=matrices)
    if projective:
        found = np.empty(len(rows.heads), np.int32)
        codes = eisner_trees(matrices, sizes - 1, model.single_root, found)
        for sentence in np.flatnonzero(codes == FOUND):  # else no projective tree is left among the arcs kept
            begin, end = corpus.starts[sentence : sentence + 2]
            rows.heads[begin:end] = found[begin:end]
    return rows.heads


def uas(corpus: Corpus, heads: Heads) -> float:
    """The share of right heads, in percent."""
    return 100 * accuracy(corpus.heads, corpus.labels, heads, corpus.labels)[0]


def read_log(file: Path) -> dict[str, Outcome]:
    """The outcomes kept in a file, by key; none if there is no file yet."""
    if not file.exists():
        return {}
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {
            key: Outcome(float(dev), float(test), str(best), list(map(int, right)))
            for key, (dev, test, best, right) in kept.items()
        }
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            "not a log of this experiment, or damaged", expected="one, or none", file=str(file)
        ) from None


def run_all(
    treebanks: list[Path], jobs: int, done: Mapping[str, Outcome], tell: Callable[[str, Outcome], None]
) -> dict[str, Outcome]:
    """All learners on all treebanks, by `name/learner/trees`; those in `done` are not run again."""
    tasks = {
        f"{treebank.resolve().name}/{learner}/{trees}": (treebank, learner, trees)
        for treebank, learner, trees in product(treebanks, LEARNERS, TREES)
    }
    if len(tasks) < len(treebanks) * len(LEARNERS) * len(TREES):
        raise InputError("two treebanks of one name", expected="folders of different names")
    outcomes = {key: done[key] for key in tasks if key in done}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run, *task): key for key, task in tasks.items() if key not in outcomes}
        try:
            for future in as_completed(waiting):
                key = waiting[future]
                outcomes[key] = future.result()
                tell(key, outcomes[key])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {key: outcomes[key] for key in tasks}


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
