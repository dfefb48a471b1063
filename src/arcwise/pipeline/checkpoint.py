"""Checkpoints: all that a training run needs to go on after it was killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError, ModelError
from arcwise.pipeline.model import named, read_sealed, write_sealed

_KIND = "arcwise checkpoint"
_LARGEST = 1 << 35  # bytes
_STAGES = ("trees", "labels", "done")
_MOST_EPOCHS = 1 << 31


@dataclass
class State:
    """Where a training run is after an epoch.

    stage: "trees", "labels" or "done". epoch: those finished in this stage. best_epoch, best_uas, best_las: of the best
    epoch of this stage so far. learner: the state of what learns. best: the arrays of the model so far. tuned: the
    rate and the penalty, if they were chosen on the development set.
    """

    fingerprint: str
    stage: str
    learner: dict[str, NDArray[Any]]
    best: dict[str, NDArray[Any]]
    epoch: int = 0
    best_epoch: int = 0
    best_uas: float = -1.0
    best_las: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)
    tuned: list[float] | None = None

    def fresh(self) -> State:
        """The same before the first epoch of its stage."""
        return replace(self, learner={}, epoch=0, best=dict(self.best))


_NUMBERS = ("fingerprint", "stage", "epoch", "best_epoch", "best_uas", "best_las", "history", "tuned")


def save_state(state: State, path: Path) -> None:
    """Write a checkpoint; the one before is replaced only when this one is complete."""
    arrays = {f"learner.{name}": array for name, array in state.learner.items()}
    arrays |= {f"best.{name}": array for name, array in state.best.items()}
    write_sealed(path, _KIND, {name: getattr(state, name) for name in _NUMBERS}, arrays)


def load_state(path: Path) -> State:
    """Read a checkpoint; one that is damaged is a ModelError. Whether a run can use it is for `check_state` and `check_contents`."""
    try:
        header, arrays = read_sealed(path, _KIND, _LARGEST)
        state = State(
            learner=named(arrays, "learner."),
            best=named(arrays, "best."),
            **{name: header[name] for name in _NUMBERS},
        )
        _check_numbers(state)
        if len(state.learner) + len(state.best) < len(arrays):
            raise InputError("arrays that nothing reads", expected="those of a learner and of a model")
    except (ModelError, InputError, KeyError, TypeError):
        raise _damaged(path) from None
    return state


def check_state(state: State, path: Path, fingerprint: str) -> None:
    """ModelError, if the checkpoint that was read from `path` is of another run than the one with this fingerprint."""
    if state.fingerprint != fingerprint:
        raise ModelError(
            f"{path}: a checkpoint of other data or other options: give the same ones, or remove it to start anew"
        )


def check_contents(state: State, path: Path, check: Callable[[State], None]) -> None:
    """ModelError, if `check` raises InputError: a run cannot use the state that was read from `path`.

    What the learner has is looked at when the run goes on.
    """
    try:
        check(state)
    except (InputError, KeyError, TypeError):
        raise _damaged(path) from None


def _damaged(path: Path) -> ModelError:
    return ModelError(f"{path}: not a checkpoint, or damaged: remove it to start anew")


def _check_numbers(state: State) -> None:
    """InputError for numbers that `save_state` does not write."""
    epochs, tuned = (state.epoch, state.best_epoch), state.tuned
    if not (
        state.stage in _STAGES
        and all(type(epoch) is int for epoch in epochs)
        and 0 <= state.best_epoch <= state.epoch <= _MOST_EPOCHS
        and all(
            type(share) in (int, float) and -1 <= share <= 100 for share in (state.best_uas, state.best_las)
        )
        and (tuned is None or (isinstance(tuned, list) and len(tuned) == 2))
        and all(type(number) in (int, float) and 0 <= number < np.inf for number in tuned or [])
        and isinstance(state.history, list)
        and all(isinstance(entry, dict) for entry in state.history)
    ):
        raise InputError("numbers of no training run", expected="epochs, accuracies and a history")
