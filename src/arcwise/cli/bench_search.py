"""What `arcwise bench` measures of the first-order searches.

Gaussian scores, as hard as they come: trained scores have fewer cycles. What is compared runs in one
process, turn by turn, and medians of CPU time are reported, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

from arcwise.cli.bench_row import Row
from arcwise.kernels import kernel
from arcwise.search.decode import decode
from arcwise.search.eisner import eisner_trees
from arcwise.search.k_best import Search
from arcwise.search.spanning_tree import spanning_trees

_SIZES = (20, 40, 80)
_BATCH = 50
_UFAL_TIMES = {20: 5.0, 40: 5.0, 80: 3.0}
_ARGMAX_TIMES = 4.0
_EISNER_PEER = {20: 440.0, 40: 1948.0, 80: 17087.0}  # the faster of SuPar and torch-struct, batches of 100
_EISNER_TIMES = 40.0
_SINGLE_CALL = 15.0
_TWO_JOBS = 1.7

Clock = Callable[[], int]


def rows(rounds: int = 30) -> list[Row]:
    """All figures of this part, about ten seconds at 30 rounds."""
    rng = np.random.default_rng(0)
    result: list[Row] = []
    for n in _SIZES:
        batch = rng.normal(size=(_BATCH, n + 1, n + 1))
        result += _spanning_tree_rows(batch, rounds)
        result += _eisner_rows(batch, rounds)
    result += [_single_call_row(rng.normal(size=(21, 21)), rounds), _jobs_row(rng, max(1, rounds // 3))]
    return result


def medians(
    actions: dict[str, Callable[[], object]], rounds: int, clock: Clock = time.process_time_ns
) -> dict[str, float]:
    """The median microseconds of every action; they take turns, and a first round is not counted."""
    times: dict[str, list[int]] = {name: [] for name in actions}
    for round_ in range(rounds + 1):
        for name, action in actions.items():
            start = clock()
            action()
            if round_ > 0:
                times[name].append(clock() - start)
    return {name: median(spent) / 1000 for name, spent in times.items()}


@kernel
def column_argmax(batch: NDArray[np.float64], heads: NDArray[np.int32]) -> None:
    """The best head of every word of every matrix, written plainly: what no parser can do without."""
    for b in range(batch.shape[0]):
        for m in range(1, batch.shape[1]):
            best = -np.inf
            for h in range(batch.shape[1]):
                if h != m and batch[b, h, m] > best:
                    best = batch[b, h, m]
                    heads[b, m] = h


def _search_batch(search: Search, batch: NDArray[np.float64], single_root: bool) -> Callable[[], object]:
    count, size = batch.shape[:2]
    lengths, heads = np.full(count, size - 1, np.int64), np.empty(count * size, np.int32)
    return lambda: search(batch.reshape(-1), lengths, single_root, heads)


def _spanning_tree_rows(batch: NDArray[np.float64], rounds: int) -> list[Row]:
    count, size = batch.shape[:2]
    n = size - 1
    heads = np.empty((count, size), np.int32)
    actions: dict[str, Callable[[], object]] = {
        "one root": _search_batch(spanning_trees, batch, True),
        "several roots": _search_batch(spanning_trees, batch, False),
        "argmax": lambda: column_argmax(batch, heads),
    }
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        pass
    else:
        # It wants heads in columns, and NaN where no arc may be.
        turned = [np.ascontiguousarray(S.T) for S in batch]
        for S in turned:
            np.fill_diagonal(S, np.nan)
            S[0] = np.nan
        actions["ufal"] = lambda: [chu_liu_edmonds(S) for S in turned]
    spent = {name: value / count for name, value in medians(actions, rounds).items()}
    result = []
    for roots in ("one root", "several roots"):
        ours, name = spent[roots], f"spanning tree, n = {n}, {roots}"
        ufal, argmax = spent.get("ufal"), spent["argmax"]
        result += [
            Row(
                name, ours, "us", "ufal.chu_liu_edmonds", ufal, f"{_UFAL_TIMES[n]:g} times as fast",
                None if ufal is None else ufal >= _UFAL_TIMES[n] * ours,
            ),
            Row(
                name, ours, "us", "column argmax", argmax, f"at most {_ARGMAX_TIMES:g} times its time",
                ours <= _ARGMAX_TIMES * argmax,
            ),
        ]  # fmt: skip
    return result


def _eisner_rows(batch: NDArray[np.float64], rounds: int) -> list[Row]:
    n = batch.shape[1] - 1
    actions = {
        "one root": _search_batch(eisner_trees, batch, True),
        "several roots": _search_batch(eisner_trees, batch, False),
    }
    spent = medians(actions, rounds)
    peer, target = _EISNER_PEER[n], f"{_EISNER_TIMES:g} times as fast"
    return [
        Row(
            f"Eisner, n = {n}, {roots}", value / len(batch), "us", "SuPar, torch-struct (as measured before)",
            peer, target, peer >= _EISNER_TIMES * value / len(batch),
        )
        for roots, value in spent.items()
    ]  # fmt: skip


def _single_call_row(S: NDArray[np.float64], rounds: int) -> Row:
    calls = range(200)
    actions: dict[str, Callable[[], object]] = {"ours": lambda: [decode(S) for _ in calls]}
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        pass
    else:
        turned = np.ascontiguousarray(S.T)
        np.fill_diagonal(turned, np.nan)
        turned[0] = np.nan
        actions["ufal"] = lambda: [chu_liu_edmonds(turned) for _ in calls]
    spent = {name: value / len(calls) for name, value in medians(actions, rounds).items()}
    return Row(
        "one decode call, n = 20", spent["ours"], "us", "ufal.chu_liu_edmonds", spent.get("ufal"),
        f"at most {_SINGLE_CALL:g} us", spent["ours"] <= _SINGLE_CALL,
    )  # fmt: skip


def _jobs_row(rng: np.random.Generator, rounds: int) -> Row:
    matrices = list(rng.normal(size=(300, 81, 81)))
    actions = {
        "two": lambda: decode(matrices, projective=True, jobs=2),
        "one": lambda: decode(matrices, projective=True, jobs=1),
    }
    spent = medians(actions, rounds, time.perf_counter_ns)  # elapsed: that is what threads are for
    return Row(
        "decode, 300 projective trees of 80 words, jobs=2", spent["two"] / 1000, "ms", "jobs=1",
        spent["one"] / 1000, f"{_TWO_JOBS:g} times as fast", spent["one"] >= _TWO_JOBS * spent["two"],
    )  # fmt: skip
