"""Checkpoints: all that a training run needs to go on after it was killed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from arcwise.errors import ModelError
from arcwise.pipeline.model import named, read_sealed, write_sealed

_KIND = "arcwise checkpoint"


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
    """Read a checkpoint; one that is damaged is a ModelError."""
    try:
        header, arrays = read_sealed(path, _KIND)
        return State(
            learner=named(arrays, "learner."),
            best=named(arrays, "best."),
            **{name: header[name] for name in _NUMBERS},
        )
    except (ModelError, KeyError, TypeError):
        raise ModelError(f"{path}: not a checkpoint, or damaged: remove it to start anew") from None


def check_state(state: State, path: Path, fingerprint: str) -> None:
    """ModelError, if the checkpoint that was read from `path` is of another run than the one with this fingerprint."""
    if state.fingerprint != fingerprint:
        raise ModelError(
            f"{path}: a checkpoint of other data or other options: give the same ones, or remove it to start anew"
        )
