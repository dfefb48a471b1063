"""Inside and outside: the sum over all projective trees, and all arcs' marginals, in O(n^3).

Eisner's chart (`arcwise.search.eisner`) with sums for maxima (Paskin 2001; Koo 2010, section 4.2): a span holds the sum
over all ways to build it. The outside pass is the inside pass run backwards: it finds the derivative of log Z by every
span, and that by an arc's weight, times the weight, is the arc's marginal. Nothing is ever subtracted.

The charts are indexed [j, i], the right end first. With one root the chart leaves out the root, which takes a
complete span to the left and one to the right of its modifier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import fused_kernel, inline_kernel, kernel
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_TREE, REFUSED
from arcwise.sums.weights import UNSAFE, fill_weights, log_add, normalise, padded

_Floats = NDArray[np.float64]


class Spans(NamedTuple):
    """A number for every span; `inner` has one row, for what lies between i and the present j."""

    complete_right: _Floats
    complete_left: _Floats
    incomplete_right: _Floats
    incomplete_left: _Floats
    inner: _Floats


class Chart(NamedTuple):
    """Where the sum is found: used again for the next matrix."""

    weights: _Floats
    inside: Spans
    outside: Spans
    x: _Floats  # (n+1,), to work in


@kernel
def make_chart(longest: int) -> Chart:
    """Room for sentences of up to `longest` words: 72 bytes a pair of words."""
    size = longest + 1
    a, rows = np.zeros((8, size, padded(size))), np.zeros((2, 1, padded(size)))
    return Chart(
        np.empty((size, padded(size))),
        Spans(a[0], a[1], a[2], a[3], rows[0]),
        Spans(a[4], a[5], a[6], a[7], rows[1]),
        np.empty(size),
    )


@kernel
def inside_outside(S: _Floats, single_root: bool, chart: Chart, marginals: _Floats) -> float:
    """The log partition function of one matrix, for other kernels; fills `marginals`, both (n+1, n+1).

    -inf if there is no tree, and `marginals` is then left as it is; it may be (0, 0) if it is not asked for. The scores are
    trusted: no NaN, no +inf. O(n^3) time; allocates nothing.
    """
    log_partition, found, logs = inside(S, single_root, chart)
    if log_partition > -np.inf and marginals.size > 0:
        _outside(S.shape[0], single_root, logs, found, chart, marginals)
    return log_partition


@kernel
def inside(S: _Floats, single_root: bool, chart: Chart) -> tuple[float, float, bool]:
    """Fill the inside chart, in ordinary numbers if they are fit for it, else in logarithms.

    Returns the log partition function of the scores and of the weights, and whether the chart holds logarithms.
    """
    size = S.shape[0]
    if size == 1:
        return 0.0, 0.0, False
    logs = False
    while True:
        scale = fill_weights(S, single_root, logs, chart.weights, chart.x)
        if scale == -np.inf:
            return -np.inf, -np.inf, logs
        _fill_inside(size, 1 if single_root else 0, logs, chart.weights, chart.inside)
        total = _total(size, single_root, logs, chart)
        found = total if logs else np.log(total)
        if logs or found > UNSAFE:
            return scale + found, found, logs
        logs = True


@inline_kernel
def times(x: float, y: float, logs: bool) -> float:
    return x + y if logs else x * y


@inline_kernel
def _plus(x: float, y: float, logs: bool) -> float:
    return log_add(x, y) if logs else x + y


@kernel
def _offer_logs(cells: _Floats, j: int, x: float, spans: _Floats, k: int, last: int) -> None:
    if x > -np.inf:
        for i in range(last + 1):
            cells[j, i] = log_add(cells[j, i], x + spans[k, i])


@kernel
def _dot_logs(x: _Floats, j: int, y: _Floats, k: int, last: int) -> float:
    total = -np.inf
    for i in range(last + 1):
        total = log_add(total, x[j, i] + y[k, i])
    return total


@inline_kernel
def _offer(cells: _Floats, j: int, x: float, spans: _Floats, k: int, last: int, logs: bool) -> None:
    """Cells 0..last of row j take x times those of row k of `spans`: the O(n^3) loop. Beyond, row k is nothing."""
    if logs:
        _offer_logs(cells, j, x, spans, k, last)
    else:
        for i in range(padded(last + 1)):
            cells[j, i] += x * spans[k, i]


@inline_kernel
def _offer_back(cells: _Floats, k: int, x: float, spans: _Floats, j: int, last: int, logs: bool) -> None:
    """The same where row j of `spans` goes on, and cells beyond 0..last take nothing."""
    if logs:
        _offer_logs(cells, k, x, spans, j, last)
    else:
        for i in range(padded(last + 1)):
            cells[k, i] += (x if i <= last else 0.0) * spans[j, i]


@inline_kernel
def _dot(x: _Floats, j: int, y: _Floats, k: int, last: int, logs: bool) -> float:
    """The sum of x[j, i] times y[k, i] over 0..last. Beyond, row k of y is nothing."""
    if logs:
        return _dot_logs(x, j, y, k, last)
    a = b = c = d = 0.0  # four sums, so that none waits for another
    for i in range(0, padded(last + 1), 4):
        a += x[j, i] * y[k, i]
        b += x[j, i + 1] * y[k, i + 1]
        c += x[j, i + 2] * y[k, i + 2]
        d += x[j, i + 3] * y[k, i + 3]
    return (a + b) + (c + d)


@fused_kernel
def _fill_inside(size: int, low: int, logs: bool, weights: _Floats, inside: Spans) -> None:
    """Sum over all ways to build every span between the vertices `low` and n."""
    nothing, one = (-np.inf, 0.0) if logs else (0.0, 1.0)
    complete_right, complete_left, inner = inside.complete_right, inside.complete_left, inside.inner
    incomplete_right, incomplete_left = inside.incomplete_right, inside.incomplete_left
    for j in range(low, size):
        for i in range(padded(j + 1)):
            complete_right[j, i] = complete_left[j, i] = incomplete_right[j, i] = inner[0, i] = nothing
        complete_right[j, j] = complete_left[j, j] = one
        for k in range(j - 1, low - 1, -1):
            _offer(inner, 0, complete_left[j, k + 1], complete_right, k, k, logs)
            right, left = times(inner[0, k], weights[k, j], logs), times(inner[0, k], weights[j, k], logs)
            incomplete_right[j, k], incomplete_left[j, k] = right, left
            _offer(complete_left, j, left, complete_left, k, k, logs)
            complete_right[j, k] = _plus(complete_right[j, k], right, logs)
            _offer(complete_right, j, complete_right[j, k], incomplete_right, k, k, logs)


@kernel
def rooted_at(m: int, size: int, logs: bool, chart: Chart) -> float:
    """The sum over all trees whose one root is m."""
    both = times(chart.inside.complete_left[m, 1], chart.inside.complete_right[size - 1, m], logs)
    return times(chart.weights[0, m], both, logs)


@kernel
def _total(size: int, single_root: bool, logs: bool, chart: Chart) -> float:
    if not single_root:
        return float(chart.inside.complete_right[size - 1, 0])
    total = -np.inf if logs else 0.0
    for m in range(1, size):
        total = _plus(total, rooted_at(m, size, logs, chart), logs)
    return total


@fused_kernel
def _outside(
    size: int, single_root: bool, logs: bool, found: float, chart: Chart, marginals: _Floats
) -> None:
    """Undo the inside pass step by step: what every span adds to log Z, and so every arc's marginal."""
    weights, inside, outside = chart.weights, chart.inside, chart.outside
    complete_right, complete_left, inner = outside.complete_right, outside.complete_left, outside.inner
    incomplete_right = outside.incomplete_right
    nothing = -np.inf if logs else 0.0
    marginals[:] = nothing
    for j in range(size):
        for i in range(padded(j + 1)):
            complete_right[j, i] = complete_left[j, i] = incomplete_right[j, i] = inner[0, i] = nothing
    low, n = 1 if single_root else 0, size - 1
    share = -found if logs else np.exp(-found)
    if single_root:
        for m in range(1, size):
            marginals[0, m] = times(share, rooted_at(m, size, logs, chart), logs)
            hung = times(share, weights[0, m], logs)
            complete_right[n, m] = times(hung, inside.complete_left[m, 1], logs)
            complete_left[m, 1] = _plus(
                complete_left[m, 1], times(hung, inside.complete_right[n, m], logs), logs
            )
    elif n > 0:
        complete_right[n, 0] = share
    for j in range(n, low - 1, -1):
        for k in range(low, j):
            more = _dot(complete_right, j, inside.incomplete_right, k, k, logs)
            complete_right[j, k] = _plus(complete_right[j, k], more, logs)
            _offer_back(incomplete_right, k, inside.complete_right[j, k], complete_right, j, k - 1, logs)
            left = _dot(complete_left, j, inside.complete_left, k, k, logs)
            _offer_back(complete_left, k, inside.incomplete_left[j, k], complete_left, j, k, logs)
            right = _plus(incomplete_right[j, k], complete_right[j, k], logs)
            marginals[k, j] = times(right, inside.incomplete_right[j, k], logs)
            marginals[j, k] = times(left, inside.incomplete_left[j, k], logs)
            inner[0, k] = _plus(times(right, weights[k, j], logs), times(left, weights[j, k], logs), logs)
            more = _dot(inner, 0, inside.complete_right, k, k, logs)
            complete_left[j, k + 1] = _plus(complete_left[j, k + 1], more, logs)
            _offer_back(complete_right, k, inside.complete_left[j, k + 1], inner, 0, k, logs)
    if logs:
        normalise(marginals)


@kernel
def one_inside_outside(S: _Floats, single_root: bool, marginals: _Floats) -> tuple[int, float]:
    """The code and the log partition function of one matrix: `inside_outsides` without what only several need."""
    size = S.shape[0]
    return _checked(S, single_root, make_chart(size - 1), np.empty(size, np.int64), marginals)


@kernel
def _checked(
    S: _Floats, single_root: bool, chart: Chart, best: NDArray[np.int64], marginals: _Floats
) -> tuple[int, float]:
    code, log_partition = best_heads(S, chart.x, best), -np.inf
    if code != REFUSED:
        log_partition = inside_outside(S, single_root, chart, marginals)
        if code == FOUND and log_partition == -np.inf:
            code = NO_TREE
    return code, log_partition


@kernel
def inside_outsides(
    scores: _Floats,
    lengths: NDArray[np.int64],
    single_root: bool,
    marginals: _Floats,
    log_partitions: _Floats,
) -> NDArray[np.int64]:
    """The log partition function and all marginals of every matrix of a batch, over projective trees.

    O(n^3) time each; O(n^2) memory in all, n the greatest length. Arguments and result as of
    `arcwise.sums.matrix_tree.matrix_trees`.

    >>> marginals, log_partitions = np.empty(9), np.empty(1)
    >>> inside_outsides(np.array([0.0, 0, 0, 0, 0, 1, 0, 1, 0]), np.array([2]), True, marginals, log_partitions)
    array([0])
    >>> marginals.reshape(3, 3), log_partitions  # two trees, each of score 1
    (array([[0. , 0.5, 0.5],
           [0. , 0. , 0.5],
           [0. , 0.5, 0. ]]), array([1.69314718]))
    """
    codes = np.empty(len(lengths), np.int64)
    longest = lengths.max() if len(lengths) > 0 else 0
    chart, best = make_chart(longest), np.empty(longest + 1, np.int64)
    start = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        end = start + size * size
        S = scores[start:end].reshape(size, size)
        arcs = marginals[start:end].reshape(size, size) if len(marginals) > 0 else marginals.reshape(0, 0)
        codes[b], log_partitions[b] = _checked(S, single_root, chart, best, arcs)
        start = end
    return codes
