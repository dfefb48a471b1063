"""Models for the tests of experiments: small tables, few epochs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from arcwise.experiments import climbing_models, trained_models
from arcwise.experiments.trained_models import trained
from arcwise.pipeline.model import Settings
from tests.experiments.test_learners import SMALL

EPOCHS = 2


def train_small(bank: Path, folder: Path, *searches: str) -> Path:
    """The models of a treebank for these searches, in the folder, which is returned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained_models, "Settings", partial(Settings, **SMALL, part_bits=10))
        for search in searches:
            trained(bank, search, folder, EPOCHS)
    return folder


def train_small_climbers(bank: Path, folder: Path, *names: str) -> Path:
    """The models of the experiments with hill climbing of these names, in the folder, which is returned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(climbing_models, "Settings", partial(Settings, **SMALL, part_bits=10, tensor_bits=8))
        for name in names:
            climbing_models.trained(bank, name, folder, EPOCHS)
    return folder
