"""The stages of a training run: first the pruner, then the trees, then the labels of known trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import arcwise
from arcwise.arrays import Array
from arcwise.errors import InputError
from arcwise.evaluation.attachment import accuracy
from arcwise.features.attributes import vocabulary
from arcwise.features.part_templates import no_part_templates
from arcwise.features.quantising import quantise
from arcwise.features.templates import compile_templates
from arcwise.features.tensor import pack_tensor
from arcwise.learning.corpus import whole_trees
from arcwise.learning.labels import LABEL_LEARNERS, label_epoch
from arcwise.learning.pruned import prune_corpus
from arcwise.learning.pruner import RATE, pruner_epoch
from arcwise.learning.space import LOOPY, Search, Space
from arcwise.learning.trainers import GREATEST, MOST_STEPS, Choices, Problem, Trainer, make_room, make_trainer
from arcwise.pipeline.checkpoint import State
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.forest import EXACT
from arcwise.pipeline.model import BELIEFS, FULL, Model, Settings, check_arrays
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.training_data import TrainingData
from arcwise.pipeline.tuning import MOST_TRIALS, TUNING_EPOCHS
from arcwise.search.climbing import Climbing
from arcwise.search.start_trees import BEST_FIRST
from arcwise.sums.pruning import PRUNINGS

_PRUNER_EPOCHS = 3
_MOST_LABEL_WEIGHTS = 1 << 24
# Added to the pruner's threshold in training, which it has seen and is too sure of: more wrong arcs to learn from. For the same
# reason a model that is to keep fewer heads of a word than usual, for speed, learns from as many as any other.
_LOOSER = {"heads": 2.0, "trees": 2.0, "projective": 4.0}
_PARTS = 50  # an epoch is so many calls of a kernel, to show progress between them

Part = tuple[NDArray[np.int64], float]
Arrays = dict[str, NDArray[Any]]


class TrainingRun:
    """One epoch after another. choices: of the learner, which may be changed before the first. effort: of dual decomposition, for the
    trees of the development set.
    """

    effort = EXACT

    def __init__(self, data: TrainingData, options: Options, watcher: Watcher) -> None:
        if not data.tagged:
            options = replace(options, settings=options.settings.without_tags())
        self.data, self.options, self.watcher, self.choices = data, options, watcher, options.choices
        # Many labels share a table of bounded size: fewer rows, as wide as they must be.
        most_rows = (_MOST_LABEL_WEIGHTS // len(data.names)).bit_length() - 1
        label_bits = min(options.settings.label_bits, most_rows)
        self.settings = replace(options.settings, label_bits=label_bits, shape=data.shape)
        self.templates = compile_templates(self.settings.coarse, self.settings.arcs, self.settings.labels)
        self.words = len(data.train.heads) - (len(data.train.starts) - 1)
        self.whole = whole_trees(data.train)
        self._problem: Problem | None = None
        self._trainer: Trainer | None = None
        self._trials = 0

    def begin(self) -> State:
        """Train the pruner; all other weights are zero."""
        weights = np.zeros(1 << self.settings.coarse_bits, np.float32)
        squares = np.zeros_like(weights)
        for epoch in range(_PRUNER_EPOCHS):
            loss = 0.0
            for part, share in self._parts("pruner", epoch):
                loss += pruner_epoch(
                    self.data.train, part, self.templates, self.settings.coarse_bits,
                    PRUNINGS[self.settings.pruning], self.data.single_root, RATE, weights, squares,
                )  # fmt: skip
                error = loss / (share * self.words)
                self.watcher.progress(Progress("pruner", epoch + 1, _PRUNER_EPOCHS, share, error))
        coarse, unit = quantise(weights)
        return State(
            fingerprint=self.data.fingerprint,
            stage="trees",
            learner={},
            best={
                "keys": self.data.keys,
                "allowed": self.data.allowed,
                **self.data.clusters,
                "coarse": coarse,
                "scales": np.array([unit, 1.0, 1.0], np.float32),
            },
        )

    def check(self, state: State) -> None:
        """InputError for a state with which this run could not go on."""
        if state.stage == "trees" and not state.best_epoch and max(state.best_uas, state.best_las) >= 0:
            raise InputError("accuracies of no epoch", expected="none before the first")
        began = state.stage != "trees" or state.best_epoch > 0
        missing = {"keys", "allowed", "coarse", "scales", *self.data.clusters} - state.best.keys()
        if missing:
            raise InputError(f"no {missing}", expected="what a pruner needs")
        check_arrays(self.settings, len(self.data.names), state.best, complete=began)

    def next_epoch(self, state: State) -> State:
        """The state after one more epoch, and after the turn to the next stage where one ends."""
        trees = state.stage == "trees"
        found, error = self.tree_epoch(state) if trees else self._label_epoch(state)
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
            | ({} if self._trainer is None else self._trainer.facts())
        )
        self._trainer = None
        return State(
            fingerprint=state.fingerprint,
            stage="labels" if trees and self.options.labels != "joint" and self.whole.any() else "done",
            learner={},
            best=state.best,
            best_uas=state.best_uas,
            best_las=state.best_las,
            history=state.history,
            tuned=state.tuned,
        )

    def problem(self, state: State) -> Problem:
        """What the trees are learned from, among the arcs that the pruner keeps."""
        if self._problem is None:
            settings, data = self.settings, self.data
            pruned = prune_corpus(
                data.train, self.templates, state.best["coarse"], settings.coarse_bits,
                float(state.best["scales"][0]), PRUNINGS[settings.pruning], data.single_root,
                max(settings.most_heads, Settings.most_heads),
                settings.threshold + _LOOSER[settings.pruning], settings.projective,
            )  # fmt: skip
            templates, parts = self.templates, no_part_templates()
            if self.options.labels == "after":
                templates = templates._replace(end=templates.labels)
            if settings.higher:
                parts = settings.part_templates(vocabulary(data.keys))
            space = Space(
                templates, parts, settings.arc_bits, settings.label_bits, settings.part_bits, data.allowed,
                settings.far(vocabulary(data.keys)),
            )  # fmt: skip
            search = None
            if settings.search == BELIEFS:
                search = LOOPY
            elif settings.projective or settings.dual or settings.climb:
                search = Search(settings.kind, False, not settings.projective)
            climbing = None
            if settings.climb:
                climbing = Climbing(self.options.restarts, BEST_FIRST, self.options.seed)
            self._problem = Problem(
                data.train, pruned, search, space, data.single_root, self.options.steps, climbing
            )
        return self._problem

    def tree_epoch(self, state: State, stage: str = "trees") -> tuple[Arrays, float]:
        """Train arcs and labels together; returns the arrays of the model with the weights learned, and the error."""
        if self._trainer is None:
            self._trainer = make_trainer(
                self.problem(state), self.choices, state.learner, self.options.tensor
            )
        settings, trainer = self.settings, self._trainer
        before, epochs = 0, self.options.epochs
        if stage == "tuning":
            before, epochs = (self._trials - 1) * TUNING_EPOCHS, MOST_TRIALS * TUNING_EPOCHS
        trainer.tell = lambda share, error: self.watcher.progress(
            Progress(stage, before + state.epoch + 1, epochs, share, error)
        )
        error = trainer.epoch(lambda: self._parts("trees", state.epoch))
        weights, arcs = trainer.weights(), 1 << settings.arc_bits
        end = arcs + (len(self.data.names) << settings.label_bits)
        far = end + (1 << settings.part_bits if settings.higher else 0)
        both, unit = quantise(weights[:far])
        labels = both[arcs:end].reshape(-1, len(self.data.names))
        scales = np.array([state.best["scales"][0], unit, unit], np.float32)
        found = state.best | {"arcs": both[:arcs].copy(), "labels": labels, "scales": scales}
        if settings.higher:
            found["parts"] = both[end:].copy()
        if settings.search == FULL:  # which are so small that in units of the others most would be 0
            found["far"], far_unit = quantise(weights[far:])
            found["far_scale"] = np.array([far_unit], np.float32)
        if settings.tensor:
            found |= pack_tensor(**trainer.tensor())
        return found, error

    def _label_epoch(self, state: State) -> tuple[Arrays, float]:
        """Train the labels of known trees; their weights are added to those found together with the arcs. Returns as above."""
        shape = (1 << self.settings.label_bits, len(self.data.names))
        make_room(
            state.learner,
            {
                "weights": Array(np.float32, shape, least=-GREATEST, most=GREATEST),
                "moves": Array(np.float32, shape, least=-GREATEST, most=GREATEST),
                "step": Array(np.int64, (1,), least=0, most=MOST_STEPS),
            },
        )
        weights, moves, step = (state.learner[name] for name in ("weights", "moves", "step"))
        learner = LABEL_LEARNERS["perceptron" if self.options.learner == "perceptron" else "mira"]
        wrong = 0
        for part, share in self._parts("labels", state.epoch):
            part = part[self.whole[part]]
            wrong += label_epoch(
                self.data.train, part, self.templates, self.settings.label_bits, learner, int(step[0]), weights, moves
            )  # fmt: skip
            step += int(np.sum(self.data.train.starts[part + 1] - self.data.train.starts[part] - 1))
            self._progress(state, state.epoch + 1, share, wrong / (share * self.words))
        with_arcs = state.best["labels"] * state.best["scales"][1]
        final, unit = quantise(with_arcs + weights - moves / np.float32(step[0]))
        scales = np.array([*state.best["scales"][:2], unit], np.float32)
        return state.best | {"final": final, "scales": scales}, wrong / self.words

    def try_out(self, state: State, choices: Choices, epochs: int) -> float:
        """The best LAS (UAS, if labels come later) on the development set in so many epochs of trees; `state` is left as it is."""
        trial, best = state.fresh(), -1.0
        self._trials += 1
        trainer = make_trainer(self.problem(state), choices, trial.learner, self.options.tensor)
        kept, self._trainer = self._trainer, trainer
        try:
            for epoch in range(epochs):
                trial.epoch = epoch
                found, _ = self.tree_epoch(trial, "tuning")
                uas, las = self.accuracy(self.model(found, trial))
                best = max(best, uas if self.options.labels == "after" else las)
        finally:
            self._trainer = kept
        return best

    def _judge(self, state: State, found: Arrays, error: float) -> None:
        """Keep `found` if it does better than the best so far on the development set."""
        state.epoch += 1
        uas = las = None
        if self.data.dev is not None:
            uas, las = self.accuracy(self.model(found, state))
        if state.stage == "trees" and self.options.labels == "after":
            best = uas is None or uas > state.best_uas
        else:
            best = las is None or las > state.best_las
        if best:
            state.best, state.best_epoch = found, state.epoch
            state.best_uas, state.best_las = (-1.0, -1.0) if uas is None or las is None else (uas, las)
        self._progress(state, state.epoch, 1.0, error, uas, las, best)

    def accuracy(self, model: Model) -> tuple[float, float]:
        """UAS and LAS on the development set, in percent; by climbing alone, if trees are found so: bounds would take longer."""
        dev = self.data.dev
        assert dev is not None
        rows = unknown_trees(dev.numbers, dev.starts)
        climbing = Climbing(bounded=False) if self.settings.climb else None
        rows.find_trees(model.weights(), self.effort, climbing=climbing)
        uas, las = accuracy(dev.heads, dev.labels, rows.heads, rows.labels)
        return 100 * uas, 100 * las

    def model(self, arrays: Arrays, state: State) -> Model:
        """A model of these arrays."""
        facts = {
            "arcwise": arcwise.__version__,
            "learner": self.options.learner,
            "optimiser": self.choices.optimiser,
            "rate": self.choices.rate,
            "penalty": self.choices.penalty,
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
