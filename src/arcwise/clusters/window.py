"""The window of Brown's algorithm: a few clusters, what merging any two of them would lose, and how that changes.

Everything is counted in whole numbers: log n is rounded to a multiple of 2^-bits, so that sums are exact in whatever order they are
taken. What is kept up to date is equal, to the last bit, to what is computed anew; ties are real ties.

With n[s, t] the number of times cluster t follows cluster s, and L[s], R[t] how often s comes first and t second in any pair of
words, in the window or not, the objective is

    sum over s, t in the window of n[s, t] (log n[s, t] - log L[s] - log R[t])

which is the mutual information of neighbouring clusters (times the number of pairs, but for a constant) once all words are in.
With g(a, b) = (a + b) log(a + b) - a log a - b log b, which is 0 if a or b is 0, merging u and v loses

      inside[u] (log L[u+v] - log L[u]) + inside[v] (log L[u+v] - log L[v])       and the same with R
    - sum over x other than u, v of g(n[u, x], n[v, x]) + g(n[x, u], n[x, v])
    - what the four counts n[u, u], n[u, v], n[v, u], n[v, v] gain as one

where inside[u] is the part of L[u] whose second word is in the window. The first line takes two products; the others are kept in a
table, `shared`. Only neighbours x that two clusters share count there. So a word that enters, or the sparser of two
clusters that merge, changes only the rows of its own neighbours: O(C d) operations for d of them instead of O(C^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel

_MOST_BITS = 32
_TABLE = 1 << 16  # logarithms that are looked up
_SQUARES = 5  # tables of a value for every two slots


class Logs(NamedTuple):
    """Logarithms in whole numbers. unit: what 1 is. table[n]: log n, of small n; 0 for 0."""

    table: NDArray[np.int64]
    unit: float


class Window(NamedTuple):
    """C + 1 slots for clusters. All int64.

    pairs[s, t], and turned[t, s]: how often a word of t follows one of s. shared[u, v]: what is gained if u and v are merged: the
    last two lines above. left_logs[u, v], right_logs: log of the counts of u and v together. left, right: how often a
    cluster comes first and second in a pair; left_inside, right_inside: with both words in the window. own[u]: left_inside log left +
    right_inside log right. rank: of the most frequent word of a cluster; -1 if the slot is free. best[u]: the cluster of lower rank
    with which u loses least, the one of lowest rank if there are several; -1 if there is none; least[u]: that loss. touched: 1 for
    slots whose losses have changed since `best` was right.
    """

    pairs: NDArray[np.int64]
    turned: NDArray[np.int64]
    shared: NDArray[np.int64]
    left_logs: NDArray[np.int64]
    right_logs: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    left_inside: NDArray[np.int64]
    right_inside: NDArray[np.int64]
    own: NDArray[np.int64]
    least: NDArray[np.int64]
    rank: NDArray[np.int64]
    best: NDArray[np.int64]
    touched: NDArray[np.int64]


def make_logs(total: int) -> Logs:
    """As exact as counts that sum to `total` allow: no sum of theirs may leave 64 bits."""
    whole = total * max(1.0, math.log(max(total, 1)))
    bits = min(_MOST_BITS, 60 - math.ceil(math.log2(max(whole, 1.0))))
    unit = float(2**bits)
    table = [0, *(round(math.log(n) * unit) for n in range(1, min(_TABLE, 2 * total + 2)))]
    return Logs(np.array(table, np.int64), unit)


def window_bytes(slots: int) -> int:
    """What the tables of a window take."""
    return 8 * _SQUARES * slots**2


def empty_window(slots: int) -> Window:
    """A window of free slots."""
    tables = [np.zeros((slots, slots), np.int64) for _ in range(_SQUARES)]
    vectors = [np.zeros(slots, np.int64) for _ in range(6)]
    free = [np.full(slots, -1, np.int64) for _ in range(2)]
    return Window._make([*tables, *vectors, *free, np.zeros(slots, np.int64)])


@inline_kernel
def _log(n: int, logs: Logs) -> int:
    if n < len(logs.table):
        return logs.table[n]  # type: ignore[no-any-return]
    return np.int64(np.rint(math.log(n) * logs.unit))  # type: ignore[return-value]


@inline_kernel
def _whole(n: int, logs: Logs) -> int:
    """n log n."""
    return n * _log(n, logs)


@kernel
def _together(a: int, b: int, logs: Logs) -> int:
    """g(a, b)."""
    if a == 0 or b == 0:
        return 0
    return _whole(a + b, logs) - _whole(a, logs) - _whole(b, logs)


@kernel
def _selves(window: Window, u: int, v: int, logs: Logs) -> int:
    """What the pairs among u and v gain if they are merged."""
    n = window.pairs
    uu, uv, vu, vv = n[u, u], n[u, v], n[v, u], n[v, v]
    apart = _whole(uu, logs) + _whole(uv, logs) + _whole(vu, logs) + _whole(vv, logs)
    return _whole(uu + uv + vu + vv, logs) - apart


@kernel
def _set_own(window: Window, u: int, logs: Logs) -> None:
    w = window
    w.own[u] = w.left_inside[u] * _log(w.left[u], logs) + w.right_inside[u] * _log(w.right[u], logs)


@kernel
def _set_logs(window: Window, u: int, logs: Logs) -> None:
    """The logarithms of u's counts with those of all others."""
    w = window
    for v in range(len(w.rank)):
        if w.rank[v] >= 0:
            left, right = _log(w.left[u] + w.left[v], logs), _log(w.right[u] + w.right[v], logs)
            w.left_logs[u, v] = left
            w.left_logs[v, u] = left
            w.right_logs[u, v] = right
            w.right_logs[v, u] = right


@kernel
def _share(
    window: Window, row: NDArray[np.int64], x: int, logs: Logs, places: NDArray[np.int64], touch: bool
) -> None:
    """Add what the neighbour x gives to all that share it; row[u]: its pairs with u on one side."""
    found = 0
    for u in range(len(row)):
        if row[u] > 0 and u != x:
            places[found] = u
            found += 1
            if touch:
                window.touched[u] = 1
    for i in range(found):
        u = places[i]
        for j in range(i):
            v = places[j]
            gain = _together(row[u], row[v], logs)
            window.shared[u, v] += gain
            window.shared[v, u] += gain


@kernel
def settle(window: Window, logs: Logs) -> None:
    """All that follows from pairs, left, right and rank, computed anew. O(C d^2) for clusters of d neighbours."""
    w, slots = window, len(window.rank)
    places = np.empty(slots, np.int64)
    for u in range(slots):
        w.left_inside[u], w.right_inside[u] = np.sum(w.pairs[u]), np.sum(w.pairs[:, u])
        _set_own(w, u, logs)
        for v in range(slots):
            w.turned[u, v] = w.pairs[v, u]
    for u in range(slots):
        if w.rank[u] >= 0:
            _set_logs(w, u, logs)
        for v in range(slots):
            w.shared[u, v] = _selves(w, u, v, logs)
    for x in range(slots):
        _share(w, w.pairs[x], x, logs, places, False)
        _share(w, w.turned[x], x, logs, places, False)
    w.touched[:] = 1


@kernel
def _join_row(
    row: NDArray[np.int64], before: int, more: int, x: int, logs: Logs, gains: NDArray[np.int64]
) -> None:
    """What x gives if it has `more` pairs with a cluster that has had `before`: row[v] are those with v on the same side."""
    alone = _whole(before + more, logs) - _whole(before, logs)
    for v in range(len(row)):
        other = row[v]
        if other > 0 and v != x:
            gains[v] += _whole(before + more + other, logs) - alone - _whole(before + other, logs)


@kernel
def enter(window: Window, k: int, logs: Logs, gains: NDArray[np.int64], places: NDArray[np.int64]) -> None:
    """A new cluster in slot k, whose rank, left, right and row and column of `pairs` are set, all else not. Last two: scratch."""
    w, slots = window, len(window.rank)
    gains[:] = 0
    for u in range(slots):
        after, before = w.pairs[u, k], w.pairs[k, u]
        w.turned[u, k], w.turned[k, u] = before, after
        if u != k and (after > 0 or before > 0):
            w.left_inside[u] += after
            w.right_inside[u] += before
            _set_own(w, u, logs)
            if before > 0:
                _join_row(w.turned[u], 0, before, u, logs, gains)
            if after > 0:
                _join_row(w.pairs[u], 0, after, u, logs, gains)
    w.left_inside[k], w.right_inside[k] = np.sum(w.pairs[k]), np.sum(w.turned[k])
    _set_own(w, k, logs)
    _set_logs(w, k, logs)
    _share(w, w.pairs[k], k, logs, places, True)
    _share(w, w.turned[k], k, logs, places, True)
    for v in range(slots):
        gain = gains[v] + _selves(w, k, v, logs)
        w.shared[k, v] = gain
        w.shared[v, k] = gain
    w.touched[k] = 1


@kernel
def _join_neighbours(
    window: Window, row_p: NDArray[np.int64], row_q: NDArray[np.int64], p: int, q: int, logs: Logs,
    places: NDArray[np.int64],
) -> None:  # fmt: skip
    """What p and q give as one neighbour more than as two; row_p[u]: the pairs of p with u on one side."""
    w, slots, found = window, len(window.rank), 0
    for u in range(slots):
        if row_q[u] > 0 and u != p and u != q:
            places[found] = u
            found += 1
            w.touched[u] = 1
    # v outside: the rows of all u stay in the cache while v moves along them.
    for v in range(slots):
        of_p, of_q = row_p[v], row_q[v]
        if v in (p, q) or (of_p == 0 and of_q == 0):
            continue
        both, alone_p, alone_q = _whole(of_p + of_q, logs), _whole(of_p, logs), _whole(of_q, logs)
        for i in range(found):
            u = places[i]
            if u >= v and (u == v or of_q > 0):
                continue  # this pair comes with v and u exchanged
            with_p, with_q = row_p[u], row_q[u]
            gain = _whole(with_p + with_q + of_p + of_q, logs) - _whole(with_p + with_q, logs) - both
            if of_p > 0 and with_p > 0:
                gain -= _whole(with_p + of_p, logs) - _whole(with_p, logs) - alone_p
            if of_q > 0:
                gain -= _whole(with_q + of_q, logs) - _whole(with_q, logs) - alone_q
            w.shared[u, v] += gain
            w.shared[v, u] += gain


@kernel
def merge(
    window: Window, a: int, b: int, logs: Logs, gains: NDArray[np.int64], places: NDArray[np.int64]
) -> int:
    """Merge the clusters in slots a and b; returns the slot that becomes free. Last two: scratch."""
    w, slots = window, len(window.rank)
    excess = 0
    for x in range(slots):
        excess += (w.pairs[a, x] > 0) + (w.turned[a, x] > 0)
        excess -= (w.pairs[b, x] > 0) + (w.turned[b, x] > 0)
    p, q = (a, b) if excess >= 0 else (b, a)  # the sparser one moves
    for v in range(slots):
        gains[v] = w.shared[p, v] - _selves(w, p, v, logs)
        gains[v] -= _together(w.pairs[p, q], w.pairs[v, q], logs) + _together(
            w.pairs[q, p], w.pairs[q, v], logs
        )
    for x in range(slots):
        if x != p and x != q:
            if w.pairs[q, x] > 0:
                _join_row(w.turned[x], w.pairs[p, x], w.pairs[q, x], x, logs, gains)
            if w.turned[q, x] > 0:
                _join_row(w.pairs[x], w.turned[p, x], w.turned[q, x], x, logs, gains)
    _join_neighbours(w, w.pairs[p], w.pairs[q], p, q, logs, places)
    _join_neighbours(w, w.turned[p], w.turned[q], p, q, logs, places)
    for table in (w.pairs, w.turned):
        for x in range(slots):
            table[p, x] += table[q, x]
            table[q, x] = 0
        for x in range(slots):
            table[x, p] += table[x, q]
            table[x, q] = 0
    for counts in (w.left, w.right, w.left_inside, w.right_inside):
        counts[p] += counts[q]
        counts[q] = 0
    w.rank[p], w.rank[q] = min(w.rank[p], w.rank[q]), -1
    _set_own(w, p, logs)
    _set_logs(w, p, logs)
    for v in range(slots):
        gain = gains[v] + _selves(w, p, v, logs)
        w.shared[p, v] = gain
        w.shared[v, p] = gain
    w.touched[p] = 1
    w.touched[q] = 1
    return q


@kernel
def _find_best(window: Window, u: int) -> None:
    w, best, least, low = window, -1, 0, 0
    rank, left_inside, right_inside, own = w.rank, w.left_inside, w.right_inside, w.own
    left_logs, right_logs, shared = w.left_logs[u], w.right_logs[u], w.shared[u]
    u_rank, u_left, u_right, u_own = rank[u], left_inside[u], right_inside[u], own[u]
    for v in range(len(rank)):
        if 0 <= rank[v] < u_rank:
            loss = left_logs[v] * (u_left + left_inside[v]) + right_logs[v] * (u_right + right_inside[v])
            loss -= u_own + own[v] + shared[v]
            if best < 0 or loss < least or (loss == least and rank[v] < low):
                best, least, low = v, loss, rank[v]
    w.best[u], w.least[u] = best, least


@kernel
def _offer(window: Window, v: int) -> None:
    """v to all of higher rank that nothing else has happened to."""
    w = window
    rank, left_inside, right_inside, own, best = w.rank, w.left_inside, w.right_inside, w.own, w.best
    left_logs, right_logs, shared = w.left_logs[v], w.right_logs[v], w.shared[v]
    v_rank, v_left, v_right, v_own = rank[v], left_inside[v], right_inside[v], own[v]
    for u in range(len(rank)):
        if rank[u] > v_rank and not w.touched[u]:
            loss = left_logs[u] * (v_left + left_inside[u]) + right_logs[u] * (v_right + right_inside[u])
            loss -= v_own + own[u] + shared[u]
            if loss < w.least[u] or (loss == w.least[u] and v_rank < rank[best[u]]):
                best[u], w.least[u] = v, loss


@kernel
def cheapest(window: Window) -> tuple[int, int]:
    """The two clusters that lose least when merged: of the lowest rank, then with the one of lowest rank, if there are several.

    Every cluster remembers its best partner of lower rank. It is the rare clusters that are cheap to merge with any other; most have
    a high rank, so that few clusters have to look anew when one of them changes.
    """
    w, slots = window, len(window.rank)
    for u in range(slots):
        if w.rank[u] >= 0 and (w.touched[u] or w.best[u] < 0 or w.touched[w.best[u]]):
            _find_best(w, u)
    for v in range(slots):
        if w.touched[v] and w.rank[v] >= 0:
            _offer(w, v)
    w.touched[:] = 0
    second = -1
    for u in range(slots):
        if w.rank[u] < 0 or w.best[u] < 0:
            continue
        if second < 0 or w.least[u] < w.least[second]:
            second = u
        elif w.least[u] == w.least[second]:
            low, other = w.rank[w.best[u]], w.rank[w.best[second]]
            if low < other or (low == other and w.rank[u] < w.rank[second]):
                second = u
    return w.best[second], second
