"""Checkpoints with something wrong in them: a run goes on, or refuses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise.errors import ArcwiseError
from arcwise.pipeline.checkpoint import State
from arcwise.pipeline.model import Settings, read_sealed, write_sealed
from tests.pipeline import models
from tests.pipeline.model_fuzz import VALUES, WAYS, rewrite
from tests.pipeline.test_training import InterruptedRunError, Killer, sentences

KIND = "arcwise checkpoint"
SETTINGS = Settings(coarse_bits=6, arc_bits=7, label_bits=6, tag_bits=6, tensor_bits=6)
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mira": ("trees", {}),
    "labels": ("labels", {}),
    "tensor": ("trees", {"settings": Settings(**{**SETTINGS.__dict__, "tensor": 2})}),
    "sgd": ("trees", {"learner": "log-linear", "optimiser": "sgd"}),
    "adagrad": ("trees", {"learner": "log-linear", "optimiser": "adagrad"}),
    "eg": ("trees", {"learner": "log-linear", "optimiser": "eg"}),
    "lbfgs": ("trees", {"learner": "log-linear", "optimiser": "lbfgs"}),
}


def run(path: Path, **options: Any) -> None:
    chosen: dict[str, Any] = {"settings": SETTINGS, "epochs": 2, "label_epochs": 2}
    models.quick(sentences(6), None, path, **(chosen | options))


@pytest.mark.parametrize("name", RUNS)
def test_rewritten_checkpoints_are_used_or_refused(tmp_path: Path, name: str) -> None:
    stage, options = RUNS[name]
    path, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    with pytest.raises(InterruptedRunError):
        run(path, watcher=Killer(stage, 2), **options)
    kept = checkpoint.read_bytes()
    header, arrays = read_sealed(checkpoint, KIND)
    random = np.random.default_rng(0)
    assert {array.partition(".")[0] for array in arrays} == {"learner", "best"}
    found = {"used": 0, "refused": 0}
    for number in range(80):
        changed, numbers, told = {array: arrays[array].copy() for array in arrays}, dict(header), ""
        if number % 5:
            array = list(arrays)[number % len(arrays)]
            told = f"{array} {rewrite(random, changed, array, list(WAYS)[int(random.integers(len(WAYS)))])}"
        else:
            field = [*State.__dataclass_fields__][number // 5 % len(State.__dataclass_fields__)]
            numbers[field] = VALUES[int(random.integers(len(VALUES)))]
            told = f"{field} {numbers[field]!r}"
        write_sealed(checkpoint, KIND, numbers, changed)
        try:
            run(path, resume=True, **options)
        except ArcwiseError:
            found["refused"] += 1
        except Exception as error:
            error.add_note(told)
            raise
        else:
            found["used"] += 1
    assert min(found.values()) > 5
    checkpoint.write_bytes(kept)
    run(path, resume=True, **options)
