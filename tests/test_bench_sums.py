"""The benchmark of the sums runs and reports every figure; what it measures is not judged here."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import marginals
from arcwise.bench import sums_peers
from arcwise.bench.sums import rows
from arcwise.bench.sums_peers import MATRIX_TREE_PEERS, PROJECTIVE_PEERS, scipy


def test_every_figure_is_reported():
    measured = rows(rounds=1)
    assert len({(row.name, row.peer) for row in measured}) == len(measured) == 3 * (1 + 2) + 2 * 4
    assert all(row.ours > 0 and row.unit == "us" and row.target for row in measured)


@pytest.mark.parametrize(
    ("prepare", "projective"),
    [(scipy, False), *((peer, False) for peer in MATRIX_TREE_PEERS.values())]
    + [(peer, True) for peer in PROJECTIVE_PEERS.values()],
)
def test_peers_sum_over_the_same_trees(prepare, projective):
    batch = np.random.default_rng(0).normal(size=(3, 7, 7))
    peer = prepare(batch)
    if peer is None:
        pytest.skip("not installed")
    assert np.allclose(peer.marginals(), marginals(batch, projective=projective), rtol=0, atol=1e-4)


def test_peers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(sums_peers, "import_module", missing)
    monkeypatch.setattr(sums_peers, "torch_on_one_thread", lambda: missing("torch"))
    assert all(row.peer_value is None and row.reached is None for row in rows(rounds=1))
