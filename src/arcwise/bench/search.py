"""What `arcwise bench` measures of the first-order searches.

Gaussian scores, as hard as they come: trained scores have fewer cycles.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from arcwise.bench.row import Row, at_most, times_as_fast
from arcwise.bench.search_peers import EISNER_PEERS, ufal
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.kernels import kernel
from arcwise.search.decode import decode
from arcwise.search.eisner import eisner_trees
from arcwise.search.k_best import Search
from arcwise.search.spanning_tree import spanning_trees

_SIZES = (20, 40, 80)
_BATCH = 100
_UFAL_TIMES = {20: 5.0, 40: 5.0, 80: 3.0}
_ARGMAX_TIMES = 4.0
_EISNER_TIMES = 40.0
_SINGLE_CALL = 15.0
_TWO_JOBS = 1.7

Batch = NDArray[np.float64]


def rows(rounds: int = 30, say: Say = silent) -> list[Row]:
    """All figures of this part."""
    rng = np.random.default_rng(0)
    result: list[Row] = []
    for n in _SIZES:
        batch = rng.normal(size=(_BATCH, n + 1, n + 1))
        say(f"spanning trees of {n} words")
        result += _spanning_tree_rows(batch, rounds)
        say(f"projective trees of {n} words")
        result += _eisner_rows(batch, rounds)
    say("single calls and threads")
    result.append(_single_call_row(rng.normal(size=(_BATCH, 21, 21)), rounds))
    return [*result, _jobs_row(rng, max(1, rounds // 3))]


@kernel
def column_argmax(batch: Batch, heads: NDArray[np.int32]) -> None:
    """The best head of every word of every matrix, written plainly: what no parser can do without."""
    for b in range(batch.shape[0]):
        for m in range(1, batch.shape[1]):
            best, head = -np.inf, 0
            for h in range(batch.shape[1]):
                if h != m and batch[b, h, m] > best:
                    best, head = batch[b, h, m], h
            heads[b, m] = head


@kernel
def row_argmax(
    batch: Batch, score: NDArray[np.float64], head: NDArray[np.int64], heads: NDArray[np.int32]
) -> None:
    """The same along the rows and without branches, so that it vectorises: as fast as it gets."""
    size = batch.shape[1]
    for b in range(batch.shape[0]):
        for m in range(size):
            score[m] = -np.inf
        for h in range(size):
            row = batch[b, h]
            for m in range(1, size):
                x, y, g = row[m], score[m] + 0.0, head[m]
                x = x if m != h else -np.inf
                score[m] = x if x > y else y
                head[m] = g ^ ((g ^ h) & -np.int64(x > y))
        for m in range(1, size):
            heads[b, m] = head[m]


def _search_batch(search: Search, batch: Batch, single_root: bool) -> Action:
    count, size = batch.shape[:2]
    lengths, heads = np.full(count, size - 1, np.int64), np.empty(count * size, np.int32)
    return lambda: search(batch.reshape(-1), lengths, single_root, heads)


def _spanning_tree_rows(batch: Batch, rounds: int) -> list[Row]:
    count, size = batch.shape[:2]
    n = size - 1
    heads, score, head = np.empty((count, size), np.int32), np.empty(size), np.zeros(size, np.int64)
    actions: dict[str, Action] = {
        "one root": _search_batch(spanning_trees, batch, True),
        "several roots": _search_batch(spanning_trees, batch, False),
        "column argmax": lambda: column_argmax(batch, heads),
        "row argmax": lambda: row_argmax(batch, score, head, heads),
    }
    if (peer := ufal(batch)) is not None:
        actions["ufal"] = peer
    spent = {name: value / count for name, value in medians(actions, rounds).items()}
    result = []
    for roots in ("one root", "several roots"):
        value = spent[roots]
        target = times_as_fast(value, spent.get("ufal"), _UFAL_TIMES[n])
        name = f"spanning tree, n = {n}, {roots}"
        result.append(Row(name, value, "us", "ufal.chu_liu_edmonds", spent.get("ufal"), *target))
    ours, argmax = spent["one root"], spent["column argmax"]
    name = f"spanning tree, n = {n}, one root"
    goal = f"at most {_ARGMAX_TIMES:g} times its time ({1 / _ARGMAX_TIMES:g})", ours <= _ARGMAX_TIMES * argmax
    result.append(Row(name, ours, "us", "plain column argmax", argmax, *goal))
    result.append(Row(name, ours, "us", "vectorised argmax", spent["row argmax"]))
    return result


def _eisner_rows(batch: Batch, rounds: int) -> list[Row]:
    n = batch.shape[1] - 1
    actions: dict[str, Action] = {
        "one root": _search_batch(eisner_trees, batch, True),
        "several roots": _search_batch(eisner_trees, batch, False),
    }
    peers = {name: action for name, prepare in EISNER_PEERS.items() if (action := prepare(batch)) is not None}
    turns = max(1, rounds // 6) if peers else rounds  # a round of a peer takes seconds
    spent = {name: value / len(batch) for name, value in medians(actions | peers, turns).items()}
    ours = spent["one root"]
    peer = min(peers, key=spent.__getitem__) if peers else " or ".join(EISNER_PEERS)
    target = times_as_fast(ours, spent.get(peer), _EISNER_TIMES)
    return [
        Row(f"Eisner, n = {n}, one root", ours, "us", peer, spent.get(peer), *target),
        Row(f"Eisner, n = {n}, several roots", spent["several roots"], "us"),
    ]


def _single_call_row(batch: Batch, rounds: int) -> Row:
    """One call a matrix; all are different, so that no search is known to the processor from the call before."""
    actions: dict[str, Action] = {"ours": lambda: [decode(S) for S in batch]}
    if (peer := ufal(batch)) is not None:
        actions["ufal"] = peer
    spent = {name: value / len(batch) for name, value in medians(actions, rounds).items()}
    ours = spent["ours"]
    return Row(
        "one decode call, n = 20", ours, "us", "ufal.chu_liu_edmonds", spent.get("ufal"),
        *at_most(ours, _SINGLE_CALL, "us"),
    )  # fmt: skip


def _jobs_row(rng: np.random.Generator, rounds: int) -> Row:
    matrices = list(rng.normal(size=(300, 81, 81)))
    actions: dict[str, Action] = {
        "two": lambda: decode(matrices, projective=True, jobs=2),
        "one": lambda: decode(matrices, projective=True, jobs=1),
    }
    spent = medians(actions, rounds, time.perf_counter_ns)  # elapsed: that is what threads are for
    two, one = spent["two"] / 1000, spent["one"] / 1000
    return Row(
        "decode, 300 projective trees of 80 words, jobs=2 (elapsed)", two, "ms", "jobs=1", one,
        *times_as_fast(two, one, _TWO_JOBS),
    )  # fmt: skip
