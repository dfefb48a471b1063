"""Checkpoints: all that a training run needs to go on after it was killed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ModelError
from arcwise.pipeline.model import read_sealed, write_sealed

_KIND = "arcwise checkpoint"


@dataclass
class State:
    """Where a training run is after an epoch.

    stage: "trees", "labels" or "done". epoch, step: those finished in this stage. best_epoch, best_uas, best_las: of the best
    epoch of this stage so far. weights, moves: of the learner. best: the arrays of the model so far.
    """

    fingerprint: str
    stage: str
    weights: NDArray[np.float32]
    moves: NDArray[Any]
    best: dict[str, NDArray[Any]]
    epoch: int = 0
    step: int = 0
    best_epoch: int = 0
    best_uas: float = -1.0
    best_las: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)


_NUMBERS = ("fingerprint", "stage", "epoch", "step", "best_epoch", "best_uas", "best_las", "history")


def save_state(state: State, path: Path) -> None:
    """Write a checkpoint; the one before is replaced only when this one is complete."""
    arrays = {"learner.weights": state.weights, "learner.moves": state.moves}
    arrays |= {f"best.{name}": array for name, array in state.best.items()}
    write_sealed(path, _KIND, {name: getattr(state, name) for name in _NUMBERS}, arrays)


def load_state(path: Path, fingerprint: str) -> State:
    """Read a checkpoint of the run with this fingerprint; another or a damaged one is a ModelError."""
    try:
        header, arrays = read_sealed(path, _KIND)
        state = State(
            weights=arrays.pop("learner.weights"),
            moves=arrays.pop("learner.moves"),
            best={name.removeprefix("best."): array for name, array in arrays.items()},
            **{name: header[name] for name in _NUMBERS},
        )
    except (ModelError, KeyError):
        raise ModelError(f"{path}: not a checkpoint, or damaged: remove it to start anew") from None
    if state.fingerprint != fingerprint:
        raise ModelError(
            f"{path}: a checkpoint of other data or other options: give the same ones, or remove it to start anew"
        )
    return state
