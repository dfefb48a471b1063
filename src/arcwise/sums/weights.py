"""Arc scores as weights: every word's heads as a distribution, which is where all sums over trees start.

To add a constant to the scores of all heads of one word changes no tree's probability. So the weights of a
word's heads are scaled to sum to 1. The sum of all trees' weights is then the probability that heads drawn
for every word on its own form a tree, and this tells whether floating point is fit for it: every sum here
adds and multiplies non-negative weights, so a number lost to underflow, at most e^-708, changes the result
by no more than n^4 times that. A result above UNSAFE is right to all digits; otherwise logarithms of the
weights are used instead, which lose nothing, and are slower.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import fused_kernel, inline_kernel, kernel

UNSAFE = -600.0  # logarithm of a sum below which weights may have been lost to underflow

_LEAST = -708.0  # the logarithm of the smallest weight
_LANES = 8  # numbers worked on at a time
_NEGLIGIBLE = 40.0  # e^-40 added to 1 changes nothing
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which the low bits then hold
_BIAS = np.int64(1023)
_SHIFT = np.int64(52)


@inline_kernel
def exp_of_negative(x: float) -> float:
    """e^x for x <= 0 within 3 units of the last place, and 0 for x < -708; loops over it vectorise."""
    y = x if x > _LEAST else _LEAST
    whole = y * _LOG2E + _ROUND
    bits = np.float64(whole).view(np.int64)
    k = whole - _ROUND
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    # Taylor's series: |r| <= ln(2) / 2, where 13 terms are enough; two at a time, so that fewer wait for another.
    rr = r * r
    p = 1.0 / 479001600.0
    p = p * rr + (r * (1.0 / 39916800.0) + 1.0 / 3628800.0)
    p = p * rr + (r * (1.0 / 362880.0) + 1.0 / 40320.0)
    p = p * rr + (r * (1.0 / 5040.0) + 1.0 / 720.0)
    p = p * rr + (r * (1.0 / 120.0) + 1.0 / 24.0)
    p = p * rr + (r * (1.0 / 6.0) + 0.5)
    p = (p * rr + r) + 1.0
    power = np.int64((bits + _BIAS) << _SHIFT).view(np.float64)
    return p * power if x > _LEAST else 0.0


@fused_kernel
def fill_weights(
    S: NDArray[np.float64],
    single_root: bool,
    logs: bool,
    weights: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> float:
    """Fill `weights` with those of all arcs, or their logarithms; returns the logarithm of what was taken out.

    That is: the logarithm of a sum over trees is what comes back, plus that of the sum over these weights; -inf
    if some word has no allowed head, or no word has head 0. In column m the weights of the heads sum to 1; with
    `single_root` those of the words do, and the greatest weight in row 0 is 1, which no tree uses more than once.
    Column 0 and the diagonal weigh nothing. O(n^2). S, weights: (n+1, n+1). shift: (n+1,), to work in.
    """
    size = S.shape[0]
    first = 1 if single_root else 0
    for m in range(size):
        shift[m] = -np.inf
    for h in range(first, size):
        row = S[h]
        for m in range(1, size):
            x, y = row[m], shift[m] + 0.0
            x = x if m != h else -np.inf
            shift[m] = x if x > y else y
    only = 0  # a word that nothing but the root can head is the root
    for m in range(1, size):
        if shift[m] == -np.inf:
            if only > 0 or S[0, m] == -np.inf:
                return -np.inf
            only, shift[m] = m, S[0, m]

    total = weights[0]  # row 0 is filled last
    for m in range(padded(size)):
        total[m] = 0.0
    for h in range(size - 1, 0, -1):
        _fill_row(S[h], h, shift, weights[h], total)
    if not single_root:
        for m in range(1, size):
            total[m] += exp_of_negative(S[0, m] - shift[m])

    scale = 0.0
    for m in range(1, size):
        if total[m] > 0.0:
            shift[m] += np.log(total[m])
        scale += shift[m]
        total[m] = 1.0 / total[m] if total[m] > 0.0 else 1.0
    top = 0.0
    if single_root:
        top = -np.inf
        for m in range(1, size):
            if only in (0, m):
                top = max(top, S[0, m] - shift[m])
        if top == -np.inf:
            return -np.inf
    for h in range(1, size):
        row = weights[h]
        if logs:
            for m in range(1, size):
                row[m] = S[h, m] - shift[m]
        else:
            for m in range(1, size):
                row[m] *= total[m]
        row[0] = row[h] = -np.inf if logs else 0.0
    for m in range(1, size):
        x = min(S[0, m] - shift[m] - top, 0.0) if only in (0, m) else -np.inf
        weights[0, m] = x if logs else exp_of_negative(x)
    weights[0, 0] = -np.inf if logs else 0.0
    return scale + top


@fused_kernel
def _fill_row(
    scores: NDArray[np.float64],
    head: int,
    shift: NDArray[np.float64],
    weights: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """One step a loop: each then vectorises, and the long one has no odd cells."""
    size = len(scores)
    for m in range(1, size):
        weights[m] = scores[m] - shift[m]
    weights[0] = weights[head] = -np.inf
    for m in range(size, padded(size)):
        weights[m] = -np.inf
    for m in range(padded(size)):
        weights[m] = exp_of_negative(weights[m])
    for m in range(padded(size)):
        total[m] += weights[m]


@inline_kernel
def padded(width: int) -> int:
    """The width to give rows whose first `width` cells matter, so that loops over them leave no odd cells to do one by one."""
    return (width + _LANES - 1) // _LANES * _LANES


@fused_kernel
def add_rows(
    x: NDArray[np.float64],
    first: int,
    end: int,
    rows: NDArray[np.float64],
    width: int,
    logs: bool,
    out: NDArray[np.float64],
) -> None:
    """Add x[r] times rows[r] to `out`, for first <= r < end: the O(n^3) loop. With `logs`, all are logarithms.

    O((end - first) * width). The cells from `width` to padded(width) are worked on too, whatever they hold.
    """
    if logs:
        for r in range(first, end):
            if x[r] > -np.inf:
                for j in range(width):
                    out[j] = log_add(out[j], x[r] + rows[r, j])
        return
    fours = (end - first) // 4
    for four in range(fours):
        r = first + 4 * four
        a, b, c, d = x[r], x[r + 1], x[r + 2], x[r + 3]
        for j in range(padded(width)):
            out[j] += (a * rows[r, j] + b * rows[r + 1, j]) + (c * rows[r + 2, j] + d * rows[r + 3, j])
    for r in range(first + 4 * fours, end):
        a = x[r]
        for j in range(padded(width)):
            out[j] += a * rows[r, j]


@kernel
def log_add(x: float, y: float) -> float:
    """log(e^x + e^y), also of -inf."""
    high, low = (x, y) if x > y else (y, x)
    return high + np.log1p(np.exp(low - high)) if low > high - _NEGLIGIBLE else high


@kernel
def normalise(marginals: NDArray[np.float64]) -> None:
    """From logarithms to marginals, whose columns sum to 1: rounding is relative to the size of the scores."""
    size = marginals.shape[0]
    for m in range(1, size):
        top = -np.inf
        for h in range(size):
            top = max(top, marginals[h, m])
        total = 0.0
        for h in range(size):
            marginals[h, m] = np.exp(marginals[h, m] - top)
            total += marginals[h, m]
        for h in range(size):
            marginals[h, m] /= total
    marginals[:, 0] = 0.0
