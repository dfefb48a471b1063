"""Random scores on the transitions of automata."""

from __future__ import annotations

from arcwise.experiments.random_instances import MODELS, table_2


def test_the_table() -> None:
    shares: list[float] = []
    rows = dict(table_2(4, 5, seed=1, jobs=2, tell=shares.append))
    assert len(rows) == 18
    for name, row in rows.items():
        assert row["certified, %"] == 100 or "exact" not in name
        assert row["branches"] == 0 or "exact" in name
        assert row["steps"] >= 1
        assert row["milliseconds"] > 0
    for model in MODELS:
        assert (
            rows[f"{model}, one root, K = 250"]["certified, %"]
            <= rows[f"{model}, one root, K = 5000"]["certified, %"]
        )
    assert shares == sorted(shares)
    assert shares[-1] == 1
