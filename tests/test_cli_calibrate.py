"""`arcwise calibrate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from arcwise.cli import arcwise_command
from arcwise.errors import InputError
from arcwise.pipeline.model import load_model, save_model
from tests.pipeline.models import trained

DEV = Path(__file__).parent / "data" / "dev.conllu"


def test_temperatures_change_and_weights_do_not(tmp_path: Path) -> None:
    old, new = tmp_path / "old.arcwise", tmp_path / "new.arcwise"
    save_model(trained().model, old)
    result = CliRunner().invoke(arcwise_command, ["calibrate", str(old), str(DEV), "-o", str(new)])
    assert result.exit_code == 0
    assert "temperature " in result.output
    before, after = load_model(old), load_model(new)
    assert after.temperature > 0
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(after.arrays[name], array)
    again = CliRunner().invoke(arcwise_command, ["calibrate", str(new), str(DEV), "-o", str(new)])
    assert again.exit_code == 0
    fitted = load_model(new)
    assert (fitted.temperature, fitted.doubt, fitted.label_temperature) == (
        after.temperature, after.doubt, after.label_temperature,
    )  # fmt: skip


def test_there_must_be_a_place_for_the_model(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "new.arcwise"):
        with pytest.raises(InputError, match="no place for a model"):
            CliRunner().invoke(
                arcwise_command, ["calibrate", "en", str(DEV), "-o", str(place)], catch_exceptions=False
            )
