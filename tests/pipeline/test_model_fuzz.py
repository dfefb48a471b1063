"""A few of the files of `model_fuzz`, and a look at whether it can fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.arrays import Format, checked
from tests.pipeline.model_fuzz import KINDS, WAYS, Arrays, Header, case, outcome, rewrite, small_models

LEMMAS = ("tagger/lemmas.cases", "tagger/lemmas.cut", "tagger/lemmas.letters")


@pytest.fixture(scope="module")
def kinds() -> dict[str, tuple[Header, Arrays]]:
    return small_models()


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_right_before_they_are_rewritten(
    tmp_path: Path, kinds: dict[str, tuple[Header, Arrays]], kind: str
) -> None:
    assert outcome(tmp_path / "model", *kinds[kind], thorough=True) == "accepted"


def test_rewritten_models_are_accepted_or_refused(
    tmp_path: Path, kinds: dict[str, tuple[Header, Arrays]]
) -> None:
    found = {"accepted": 0, "refused": 0}
    systematic = len(WAYS) * sum(len(arrays) for _, arrays in kinds.values())
    for number in [*range(0, systematic, 97), *range(systematic, systematic + 200)]:
        told, header, arrays = case(kinds, 0, number)
        ended = outcome(tmp_path / "model", header, arrays, number % 4 == 0)
        assert ended in found, f"file {number}: {told}\n{ended}"
        found[ended] += 1
    assert min(found.values()) > 50


def test_every_way_changes_something(kinds: dict[str, tuple[Header, Arrays]]) -> None:
    assert len(WAYS) >= 20
    for way in WAYS:
        changed = 0
        for name, array in kinds["clusters"][1].items():
            arrays = {other: value.copy() for other, value in kinds["clusters"][1].items()}
            rewrite(np.random.default_rng(0), arrays, name, way)
            after = arrays.get(name)
            changed += after is None or after.dtype != array.dtype or not np.array_equal(after, array)
        assert changed > 0, way


def test_what_is_not_checked_is_found(
    tmp_path: Path, kinds: dict[str, tuple[Header, Arrays]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lemmas whose rules are gone: refused, and an error of the kernel's bounds checks where nothing is looked at."""
    header, arrays = kinds["first"][0], dict(kinds["first"][1])
    arrays["tagger/lemmas.numbers"] = np.zeros_like(arrays["tagger/lemmas.numbers"])
    arrays |= {name: arrays[name][:0] for name in LEMMAS} | {"tagger/lemmas.first": np.zeros(1, np.int32)}
    assert outcome(tmp_path / "model", header, arrays, thorough=False) == "refused"

    def lax(arrays: Arrays, format: Format) -> Arrays:
        return checked(arrays, {name: format[name]._replace(below=None) for name in arrays})

    monkeypatch.setattr("arcwise.tagging.tagger.checked", lax)
    assert "IndexError" in outcome(tmp_path / "model", header, arrays, thorough=False)
