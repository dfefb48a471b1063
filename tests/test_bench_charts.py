"""The charts grow as in theory: counted here, and not timed."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.bench.charts import _TABLES, _count_ways, _growth, _scores, rows


@pytest.mark.parametrize("chart", _TABLES)
def test_ways_to_build_items_grow_as_in_theory(chart: str):
    tables, theory = _TABLES[chart]
    lengths = (10, 14, 20, 28)
    ways = [_count_ways(_scores(np.random.default_rng(0), n, tables), chart) for n in lengths]
    assert _growth(chart, lengths, ways, theory).reached


def test_every_figure_is_reported():
    measured = rows(rounds=1, lengths=(3, 4, 6, 8))
    assert len({row.name for row in measured}) == len(measured) == 5 * (4 + 2) + 2 * 2
    assert all(row.ours > 0 for row in measured if row.unit == "ms")
