"""What `arcwise bench` measures of the first-order sums: the log partition function and all marginals, with one root.

Gaussian scores. A peer's name says how far its marginals are from ours, which the tests compare with all trees of short sentences.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from arcwise.bench.row import Row, times_as_fast
from arcwise.bench.sums_peers import MATRIX_TREE_PEERS, PROJECTIVE_PEERS, Prepare, scipy
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.sums.front import marginals

_BATCH = 100
_SCIPY_TIMES = {20: 2.0, 40: 2.0, 80: 1.0}
_PROJECTIVE_TIMES = {20: 20.0, 40: 20.0}

Batch = NDArray[np.float64]


def rows(rounds: int = 30, say: Say = silent) -> list[Row]:
    """All figures of this part."""
    rng = np.random.default_rng(0)
    result: list[Row] = []
    for n, times in _SCIPY_TIMES.items():
        batch = rng.normal(size=(_BATCH, n + 1, n + 1))
        say(f"sums over all trees of {n} words")
        result += _rows(
            f"marginals, n = {n}, one call a matrix", partial(_one_by_one, batch), batch, False,
            {"SciPy": scipy}, times, rounds,
        )  # fmt: skip
        result += _rows(
            f"marginals, n = {n}, {_BATCH} in one call", partial(marginals, batch), batch, False,
            MATRIX_TREE_PEERS, 1.0, rounds,
        )  # fmt: skip
    for n, times in _PROJECTIVE_TIMES.items():
        batch = rng.normal(size=(_BATCH, n + 1, n + 1))
        say(f"sums over all projective trees of {n} words")
        result += _rows(
            f"projective marginals, n = {n}, {_BATCH} in one call", partial(marginals, batch, projective=True), batch, True,
            PROJECTIVE_PEERS, times, rounds,
        )  # fmt: skip
    return result


def _one_by_one(batch: Batch) -> None:
    for S in batch:
        marginals(S)


def _rows(
    name: str,
    ours: Action,
    batch: Batch,
    projective: bool,
    prepare: dict[str, Prepare],
    times: float,
    rounds: int,
) -> list[Row]:
    """One row a peer, all measured in turn."""
    right = np.stack(marginals(batch, projective=projective))
    peers = {peer: found for peer, one in prepare.items() if (found := one(batch)) is not None}
    turns = max(1, rounds // 6) if projective and peers else rounds  # a round of these peers takes seconds
    actions = {"ours": ours} | {peer: found.action for peer, found in peers.items()}
    spent = {what: value / len(batch) for what, value in medians(actions, turns).items()}
    result = []
    for peer in prepare:
        value, shown = spent.get(peer), peer
        # A target is for numbers like ours: half the digits are half the work.
        target = ("none", None) if "single precision" in peer else times_as_fast(spent["ours"], value, times)
        if peer in peers:
            shown += f" (off by up to {np.abs(peers[peer].marginals() - right).max():.0e})"
        result.append(Row(name, spent["ours"], "us", shown, value, *target))
    return result
