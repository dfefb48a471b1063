"""A training run: from a treebank to a model file, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import arcwise
from arcwise.errors import ArcwiseError, InputError
from arcwise.evaluation.attachment import accuracy
from arcwise.features.attributes import vocabulary
from arcwise.features.quantising import quantise
from arcwise.features.templates import compile_templates
from arcwise.learning.labels import LABEL_LEARNERS, label_epoch
from arcwise.learning.online import LEARNERS, Training, average, make_training, online_epoch
from arcwise.learning.pruned import prune_corpus
from arcwise.learning.pruner import RATE, pruner_epoch
from arcwise.learning.structured import make_structured_training, structured_epoch
from arcwise.pipeline.checkpoint import State, load_state, save_state
from arcwise.pipeline.confidence import fit_temperature, unknown_trees
from arcwise.pipeline.model import Model, save_model
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import TrainingData, TreebankLike, read_training_data
from arcwise.search.chart import CHARTS
from arcwise.sums.pruning import PRUNINGS

_PRUNER_EPOCHS = 3
_MOST_LABEL_WEIGHTS = 1 << 24
# Added to the pruner's threshold in training, which it has seen and is too sure of: more wrong arcs to learn from.
_LOOSER = {"heads": 2.0, "trees": 6.0, "projective": 6.0}
_PARTS = 50  # an epoch is so many calls of a kernel, to show progress between them

Part = tuple[NDArray[np.int64], float]
Arrays = dict[str, NDArray[Any]]


def train(
    train: TreebankLike,
    dev: TreebankLike | None = None,
    output: str | Path | None = None,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    resume: bool = False,
    jobs: int = 1,
    watcher: Watcher | None = None,
    **options: Any,
) -> Parser:
    """Train a parser on a treebank and save it; keeps the epoch with the best LAS on `dev`, the last one without.

    train, dev: a path, "-", an open file, or sentences. options: the fields of `arcwise.pipeline.options.Options`. While it runs,
    all that is needed to go on is kept beside `output` in a file whose name ends in `.checkpoint`; with `resume` a killed run goes
    on from there and gives the same model, byte for byte, as an unbroken one. jobs: threads for the taggers. The same seed gives the
    same bytes, whatever their number.
    """
    try:
        chosen = Options(**options)
    except TypeError as error:
        raise ArcwiseError(f"train: {error}") from None
    if output is not None and not Path(output).parent.is_dir():
        raise InputError("no such folder", file=str(Path(output).parent))
    if output is not None and Path(output).is_dir():
        raise InputError("a folder", expected="a file for the model", file=str(output))
    watcher = watcher or Watcher()
    data = read_training_data(train, dev, chosen, watcher, format=format, skip_bad=skip_bad, jobs=jobs)
    run = _Run(data, chosen, watcher)
    checkpoint = None if output is None else Path(f"{output}.checkpoint")
    if resume and checkpoint is not None and checkpoint.exists():
        state = load_state(checkpoint, data.fingerprint)
        watcher.note(f"going on after epoch {state.epoch} of the {state.stage}")
    else:
        if resume:
            watcher.note("no checkpoint to go on from: starting anew")
        state = run.begin()
    while state.stage != "done":
        state = run.next_epoch(state)
        if checkpoint is not None:
            save_state(state, checkpoint)
    model = run.model(state.best, state)
    if data.dev is not None:
        model = replace(model, temperature=fit_temperature(model, data.dev))
    if output is not None:
        save_model(model, output)
        Path(f"{output}.checkpoint").unlink(missing_ok=True)
    return Parser(model)


class _Run:
    """The stages of a training run: first the pruner, then the trees, then the labels of known trees."""

    def __init__(self, data: TrainingData, options: Options, watcher: Watcher) -> None:
        self.data, self.options, self.watcher = data, options, watcher
        # Many labels share a table of bounded size: fewer rows, as wide as they must be.
        most_rows = (_MOST_LABEL_WEIGHTS // len(data.names)).bit_length() - 1
        self.settings = replace(options.settings, label_bits=min(options.settings.label_bits, most_rows))
        self.part_templates = self.settings.part_templates(vocabulary(data.keys))
        self.templates = compile_templates(self.settings.coarse, self.settings.arcs, self.settings.labels)
        self.words = int(np.count_nonzero(data.train.heads >= 0))
        self.pruned: Any = None

    def begin(self) -> State:
        """Train the pruner; all other weights are zero."""
        weights = np.zeros(1 << self.settings.coarse_bits, np.float32)
        squares = np.zeros_like(weights)
        for epoch in range(_PRUNER_EPOCHS):
            loss = 0.0
            for part, share in self._parts("pruner", epoch):
                loss += pruner_epoch(
                    self.data.train, part, self.templates, self.settings.coarse_bits, RATE, weights, squares
                )
                error = loss / (share * self.words)
                self.watcher.progress(Progress("pruner", epoch + 1, _PRUNER_EPOCHS, share, error))
        coarse, unit = quantise(weights)
        settings, labels = self.settings, len(self.data.names)
        if settings.higher:
            training = make_structured_training(
                settings.arc_bits, settings.label_bits, labels, settings.part_bits
            )
        else:
            training = make_training(settings.arc_bits, settings.label_bits, labels)
        return State(
            fingerprint=self.data.fingerprint,
            stage="trees",
            weights=training.weights,
            moves=training.moves,
            best={
                "keys": self.data.keys,
                "allowed": self.data.allowed,
                "coarse": coarse,
                "scales": np.array([unit, 1.0, 1.0], np.float32),
            },
        )

    def next_epoch(self, state: State) -> State:
        """The state after one more epoch, and after the turn to the next stage where one ends."""
        trees = state.stage == "trees"
        found, error = self._tree_epoch(state) if trees else self._label_epoch(state)
        self._judge(state, found, error)
        stale = state.epoch - state.best_epoch >= self.options.patience
        if state.epoch < (self.options.epochs if trees else self.options.label_epochs) and not stale:
            return state
        state.history.append(
            {
                "stage": state.stage,
                "epochs": state.epoch,
                "best": state.best_epoch,
                "uas": state.best_uas,
                "las": state.best_las,
            }
        )
        shape = (1 << self.settings.label_bits, len(self.data.names))
        return State(
            fingerprint=state.fingerprint,
            stage="labels" if trees and self.options.labels != "joint" else "done",
            weights=np.zeros(shape, np.float32),
            moves=np.zeros(shape, np.float32),
            best=state.best,
            best_uas=state.best_uas,
            best_las=state.best_las,
            history=state.history,
        )

    def _tree_epoch(self, state: State) -> tuple[Arrays, float]:
        """Train arcs and labels together; returns the arrays of the model with the averaged weights, and the error."""
        settings = self.settings
        if self.pruned is None:
            self.pruned = prune_corpus(
                self.data.train, self.templates, state.best["coarse"], settings.coarse_bits,
                float(state.best["scales"][0]), PRUNINGS[settings.pruning], self.data.single_root,
                settings.most_heads, settings.threshold + _LOOSER[settings.pruning],
            )  # fmt: skip
        training = Training(
            state.weights, state.moves, np.zeros(len(state.weights), np.int16), settings.arc_bits,
            settings.label_bits, len(self.data.names),
        )  # fmt: skip
        templates = self.templates
        if self.options.labels == "after":
            templates = templates._replace(end=templates.labels)
        wrong = 0
        for part, share in self._parts("trees", state.epoch):
            learner = LEARNERS[self.options.learner]
            if settings.projective:
                wrong_heads, wrong_labels = structured_epoch(
                    self.data.train, self.pruned, part, CHARTS[settings.search], templates, self.part_templates,
                    settings.part_bits, self.data.allowed, self.data.single_root, learner, state.step, training,
                )  # fmt: skip
            else:
                wrong_heads, wrong_labels = online_epoch(
                    self.data.train, self.pruned, part, templates, self.data.allowed, self.data.single_root,
                    learner, state.step, training,
                )  # fmt: skip
            wrong += wrong_heads + (wrong_labels if self.options.labels != "after" else 0)
            state.step += len(part)
            self._progress(state, state.epoch + 1, share, wrong / (share * self.words))
        both, unit = quantise(average(state.weights, state.moves, state.step))
        arcs = 1 << settings.arc_bits
        end = arcs + (len(self.data.names) << settings.label_bits)
        labels = both[arcs:end].reshape(-1, len(self.data.names))
        scales = np.array([state.best["scales"][0], unit, unit], np.float32)
        found = state.best | {"arcs": both[:arcs].copy(), "labels": labels, "scales": scales}
        if settings.higher:
            found["parts"] = both[end:].copy()
        return found, wrong / self.words

    def _label_epoch(self, state: State) -> tuple[Arrays, float]:
        """Train the labels of known trees; their weights are added to those found together with the arcs. Returns as above."""
        wrong = 0
        for part, share in self._parts("labels", state.epoch):
            wrong += label_epoch(
                self.data.train, part, self.templates, self.settings.label_bits,
                LABEL_LEARNERS[self.options.learner], state.step, state.weights, state.moves,
            )  # fmt: skip
            state.step += int(np.sum(self.data.train.starts[part + 1] - self.data.train.starts[part] - 1))
            self._progress(state, state.epoch + 1, share, wrong / (share * self.words))
        with_arcs = state.best["labels"] * state.best["scales"][1]
        final, unit = quantise(with_arcs + state.weights - state.moves / np.float32(state.step))
        scales = np.array([*state.best["scales"][:2], unit], np.float32)
        return state.best | {"final": final, "scales": scales}, wrong / self.words

    def _judge(self, state: State, found: Arrays, error: float) -> None:
        """Keep `found` if it does better than the best so far on the development set."""
        state.epoch += 1
        uas = las = None
        if self.data.dev is not None:
            uas, las = self._accuracy(self.model(found, state))
        if state.stage == "trees" and self.options.labels == "after":
            best = uas is None or uas > state.best_uas
        else:
            best = las is None or las > state.best_las
        if best:
            state.best, state.best_epoch = found, state.epoch
            state.best_uas, state.best_las = (-1.0, -1.0) if uas is None or las is None else (uas, las)
        self._progress(state, state.epoch, 1.0, error, uas, las, best)

    def _accuracy(self, model: Model) -> tuple[float, float]:
        """UAS and LAS on the development set, in percent."""
        dev = self.data.dev
        assert dev is not None
        rows = unknown_trees(dev.numbers, dev.starts)
        rows.find_trees(model.weights())
        uas, las = accuracy(dev.heads, dev.labels, rows.heads, rows.labels)
        return 100 * uas, 100 * las

    def model(self, arrays: Arrays, state: State) -> Model:
        """A model of these arrays."""
        facts = {
            "arcwise": arcwise.__version__,
            "learner": self.options.learner,
            "seed": self.options.seed,
            "sentences": len(self.data.train.starts) - 1,
            "words": self.words,
            "sentences with several roots": self.data.several_roots,
            "training": state.history,
            "tags": self.data.tag_accuracy,
        }
        return Model(
            self.settings,
            self.data.names,
            self.data.single_root,
            arrays,
            facts,
            self.data.tokeniser,
            self.data.tagger,
        )

    def _parts(self, stage: str, epoch: int) -> Iterator[Part]:
        """The sentences in the order of this epoch, in parts, each with the share done after it."""
        sentences = len(self.data.train.starts) - 1
        seed = [self.options.seed, ("pruner", "trees", "labels").index(stage), epoch]
        order = np.random.default_rng(seed).permutation(sentences)
        lengths = np.cumsum((np.diff(self.data.train.starts) - 1)[order])
        done = 0
        for part in np.array_split(order, min(_PARTS, sentences)):
            done += len(part)
            yield part, float(lengths[done - 1] / self.words)

    def _progress(
        self,
        state: State,
        epoch: int,
        share: float,
        error: float,
        uas: float | None = None,
        las: float | None = None,
        best: bool = False,
    ) -> None:
        epochs = self.options.epochs if state.stage == "trees" else self.options.label_epochs
        self.watcher.progress(Progress(state.stage, epoch, epochs, share, error, uas, las, best))
