"""The benchmark of the searches runs and reports every figure; what it measures is not judged here."""

from __future__ import annotations

from arcwise.bench.search import rows


def test_every_figure_is_reported():
    measured = rows(rounds=1)
    assert len({(row.name, row.peer) for row in measured}) == len(measured) == 3 * (4 + 2) + 2
    assert all(row.ours > 0 and row.unit in ("us", "ms") and row.target for row in measured)
