"""Checkpoints of a clustering with something wrong in them: a run goes on, or refuses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load

from arcwise.clusters import clustering
from arcwise.clusters.checkpoint import save_checkpoint
from arcwise.clusters.clustering import Watcher, cluster
from arcwise.errors import ArcwiseError
from tests.pipeline.model_fuzz import WAYS, rewrite
from tests.pipeline.models import DATA

METHODS: dict[str, dict[str, Any]] = {
    "brown": {"method": "brown", "clusters": 5},
    "hmm": {"method": "hmm", "clusters": 20},
}


class InterruptedRunError(Exception):
    pass


class Killer(Watcher):
    """Ends a run as soon as it can go on."""

    def resumable(self, checkpoint: Path) -> None:
        raise InterruptedRunError


def checkpoint_of(
    path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    """The fingerprint and the arrays of a checkpoint, and the checkpoint itself beside `path`."""
    monkeypatch.setattr(clustering, "_SAVE_EVERY", -1.0)
    with pytest.raises(InterruptedRunError):
        cluster(DATA / "dev.conllu", path, minimum=2, watcher=Killer(), **options)
    content = Path(f"{path}.checkpoint").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]["arcwise"]
    return json.loads(header)["fingerprint"], load(content)


@pytest.mark.parametrize("method", METHODS)
def test_rewritten_checkpoints_are_used_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    path, checkpoint = tmp_path / "clusters", tmp_path / "clusters.checkpoint"
    fingerprint, arrays = checkpoint_of(path, METHODS[method], monkeypatch)
    random, found = np.random.default_rng(0), {"used": 0, "refused": 0}
    monkeypatch.setattr(clustering, "_SAVE_EVERY", 1e9)
    for name in arrays:
        for way in WAYS:
            changed = {other: array.copy() for other, array in arrays.items()}
            rewrite(random, changed, name, way)
            save_checkpoint(checkpoint, changed, fingerprint)
            try:
                cluster(DATA / "dev.conllu", path, minimum=2, resume=True, **METHODS[method])
            except ArcwiseError:
                found["refused"] += 1
            except Exception as error:
                error.add_note(f"{name} {way}")
                raise
            else:
                found["used"] += 1
    assert min(found.values()) >= 2
