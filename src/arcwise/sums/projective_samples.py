"""Exact samples of projective trees: O(n^2) a tree, once Eisner's chart holds the sum of every span.

A tree is drawn from the top down, every split as likely as its part of its span's sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_TREE
from arcwise.sums.chance import State, draw, start_stream
from arcwise.sums.inside_outside import Chart, inside, make_chart, rooted_at, times

_COMPLETE_RIGHT, _COMPLETE_LEFT, _INCOMPLETE_RIGHT, _INCOMPLETE_LEFT = 0, 1, 2, 3


@kernel
def _draw_split(kind: int, i: int, j: int, logs: bool, chart: Chart, state: State) -> int:
    spans, weight, top = chart.inside, chart.x, -np.inf
    for k in range(i, j):
        if kind == _COMPLETE_RIGHT:
            x, y = spans.incomplete_right[k + 1, i], spans.complete_right[j, k + 1]
        elif kind == _COMPLETE_LEFT:
            x, y = spans.complete_left[k, i], spans.incomplete_left[j, k]
        else:
            x, y = spans.complete_right[k, i], spans.complete_left[j, k + 1]
        weight[k] = times(x, y, logs)
        top = max(top, weight[k])
    return i + draw(weight[i:j], top, logs, state)


@kernel
def _draw_root(size: int, logs: bool, chart: Chart, state: State) -> int:
    top = -np.inf
    for m in range(1, size):
        chart.x[m] = rooted_at(m, size, logs, chart)
        top = max(top, chart.x[m])
    return 1 + draw(chart.x[1:size], top, logs, state)


@kernel
def _draw_tree(
    size: int,
    single_root: bool,
    logs: bool,
    chart: Chart,
    agenda: NDArray[np.int64],
    state: State,
    heads: NDArray[np.int32],
) -> None:
    """Draw splits from the top down, in O(n^2) at most. agenda: (2n+4, 3), for spans still to be drawn."""
    n = size - 1
    heads[0] = -1
    count = 1
    if single_root and n > 0:
        root = _draw_root(size, logs, chart, state)
        heads[root] = 0
        agenda[0] = _COMPLETE_LEFT, 1, root
        agenda[1] = _COMPLETE_RIGHT, root, n
        count = 2
    else:
        agenda[0] = _COMPLETE_RIGHT, 0, n
    while count > 0:
        count -= 1
        kind, i, j = agenda[count]
        if i == j:
            continue
        k = _draw_split(kind, i, j, logs, chart, state)
        if kind == _COMPLETE_RIGHT:
            agenda[count] = _INCOMPLETE_RIGHT, i, k + 1
            agenda[count + 1] = _COMPLETE_RIGHT, k + 1, j
        elif kind == _COMPLETE_LEFT:
            agenda[count] = _COMPLETE_LEFT, i, k
            agenda[count + 1] = _INCOMPLETE_LEFT, k, j
        else:
            if kind == _INCOMPLETE_RIGHT:
                heads[j] = i
            else:
                heads[i] = j
            agenda[count] = _COMPLETE_RIGHT, i, k
            agenda[count + 1] = _COMPLETE_LEFT, k + 1, j
        count += 2


@kernel
def sample_projective_trees(
    scores: NDArray[np.float64],
    lengths: NDArray[np.int64],
    single_root: bool,
    count: int,
    seed: np.uint64,
    first: int,
    heads: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Draw `count` projective trees from the distribution of every matrix of a batch.

    O(n^3 + count n^2) time each, O(n^2) memory. Arguments and result as of `arcwise.sums.wilson.sample_trees`.
    """
    codes = np.empty(len(lengths), np.int64)
    longest = lengths.max() if len(lengths) > 0 else 0
    chart, best, state = make_chart(longest), np.empty(longest + 1, np.int64), np.empty(1, np.uint64)
    agenda = np.empty((2 * longest + 4, 3), np.int64)
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        S = scores[start : start + size * size].reshape(size, size)
        codes[b] = best_heads(S, chart.x, best)
        if codes[b] == FOUND:
            log_partition, _, logs = inside(S, single_root, chart)
            if log_partition == -np.inf:
                codes[b] = NO_TREE
            else:
                for t in range(count):
                    start_stream(state, seed, first + b, t)
                    drawn = heads[tree + t * size : tree + (t + 1) * size]
                    _draw_tree(size, single_root, logs, chart, agenda, state, drawn)
        start += size * size
        tree += count * size
    return codes
