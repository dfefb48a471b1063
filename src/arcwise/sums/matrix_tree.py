"""The matrix-tree theorem: the sum over all trees, projective or not, and all arcs' marginals, in O(n^3).

Koo, Globerson, Carreras and Collins (2007); Koo (2010), section 4.3. With the weights w[h, m] = exp(S[h, m]) the
partition function Z is a determinant, and the marginals are its logarithm's gradient. Where words prefer to
head each other in a circle, the matrix is as good as singular, and the textbook's factorisation loses all
digits. This one has no subtractions. It eliminates word after word from the *graph*, as Grassmann, Taksar and
Heyman (1985) do for Markov chains: whatever k headed is now headed by the heads of k,

    s[k] = sum over i of w[i, k],    w[i, j] += w[i, k] / s[k] * w[k, j],    Z = s[n] ... s[2] * w[0, 1].

The root is never eliminated, and with several roots allowed its arcs count in s[k]. With exactly one root they
do not, and nothing else changes: Z is then the sum over r of w[0, r] * T[r], where T[r], the sum over the trees
that hang from word r, is the stationary measure of a Markov chain (the Markov chain tree theorem), which the
elimination keeps. (The thesis replaces the first row of the Laplacian; this is the same sum.)

The gradient runs the elimination backwards. There is a subtraction in it, but of numbers of moderate size: the
expected number of modifiers of a word.

The words are eliminated from n down to 2. Row k of `heading` holds the weights w[k, j] of the arcs from k, row k
of `headed` the shares w[i, k] / s[k] of its heads, both as they are when k is eliminated, so that only j, i < k
occur. Both rows are known in one go, from the rows of the words eliminated before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.search import spanning_tree as search
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_TREE, REFUSED
from arcwise.sums.weights import UNSAFE, add_rows, fill_weights, log_add, normalise, padded

_Floats = NDArray[np.float64]


class Room(NamedTuple):
    """Where the sum is found: used again for the next matrix."""

    weights: _Floats  # this and the next four: (n+1, padded(n+1))
    heading: _Floats
    headed: _Floats
    by_head: _Floats  # the gradient, [h, m]
    by_modifier: _Floats  # [m, h]
    pivots: _Floats  # s[k], or their logarithms
    x: _Floats  # (n+1,), to work in
    y: _Floats
    search: search.Room
    heads: NDArray[np.int32]


class Factors(NamedTuple):
    """What an elimination was like. The rest is in its room."""

    log_partition: float
    logs: bool  # the room holds logarithms
    base: int  # the word that is left: it and word 1 have changed places


@kernel
def make_room(longest: int) -> Room:
    """Room for sentences of up to `longest` words: 48 bytes a pair of words."""
    size = longest + 1
    squares, rows = np.empty((5, size, padded(size))), np.empty((3, size))
    return Room(
        squares[0], squares[1], squares[2], squares[3], squares[4],
        rows[0], rows[1], rows[2], search.make_room(longest), np.empty(size, np.int32),
    )  # fmt: skip


@kernel
def matrix_tree(S: _Floats, single_root: bool, room: Room, marginals: _Floats) -> float:
    """The log partition function of one matrix, for other kernels; fills `marginals`, both (n+1, n+1).

    -inf if there is no tree, and `marginals` is then left as it is; it may be (0, 0) if it is not asked for. The scores are
    trusted: no NaN, no +inf. O(n^3) time; allocates nothing.
    """
    factors = factorise(S, single_root, room)
    if factors.log_partition > -np.inf and marginals.size > 0:
        _fill_marginals(S.shape[0], single_root, factors, room, marginals)
    return factors.log_partition


@kernel
def factorise(S: _Floats, single_root: bool, room: Room) -> Factors:
    """Eliminate all words, in ordinary numbers if they are fit for it, else in logarithms."""
    size = S.shape[0]
    if size == 1:
        room.weights[0, 0] = 0.0
        return Factors(0.0, False, 0)
    base, logs = 1, False
    while True:
        scale = fill_weights(S, single_root, logs, room.weights, room.x)
        if scale == -np.inf:
            return Factors(-np.inf, logs, base)
        # With one root, the word that is left must be one from which all others can be reached.
        if single_root and logs:
            for m in range(1, size):
                if room.heads[m] == 0:
                    base = m
        elif single_root:
            for m in range(2, size):
                if room.weights[0, m] > room.weights[0, base]:
                    base = m
        _swap(room.weights, size, base)
        found = _eliminate(size, single_root, logs, room)
        if logs or UNSAFE < found < np.inf:
            return Factors(scale + found, logs, base)
        if search.spanning_tree(S, single_root, room.search, room.heads) != FOUND:
            return Factors(-np.inf, logs, base)
        logs = True


@kernel
def _swap(matrix: _Floats, size: int, base: int) -> None:
    """Let word 1 and the word `base` change places."""
    for i in range(size):
        matrix[1, i], matrix[base, i] = matrix[base, i], matrix[1, i]
    for i in range(size):
        matrix[i, 1], matrix[i, base] = matrix[i, base], matrix[i, 1]


@kernel
def _eliminate(size: int, single_root: bool, logs: bool, room: Room) -> float:
    """Eliminate the words n..1; returns the logarithm of the sum over the weights, -inf or NaN if it is lost."""
    weights, heading, headed, pivots = room.weights, room.heading, room.headed, room.pivots
    log_partition = 0.0
    for k in range(size - 1, 0, -1):
        arcs_from, arcs_to = heading[k], headed[k]
        for i in range(k):
            arcs_from[i], arcs_to[i] = weights[k, i], weights[i, k]
        for e in range(k + 1, size):
            room.x[e], room.y[e] = headed[e, k], heading[e, k]
        add_rows(room.x, k + 1, size, heading, k, logs, arcs_from)
        add_rows(room.y, k + 1, size, headed, k, logs, arcs_to)
        pivots[k] = _sum(arcs_to[1 if single_root and k > 1 else 0 : k], logs)
        if logs:
            log_partition += pivots[k]
            for i in range(k):
                arcs_to[i] -= pivots[k]
        else:
            log_partition += np.log(pivots[k])
            share = 1.0 / pivots[k]
            for i in range(k):
                arcs_to[i] *= share
    return log_partition


@kernel
def _sum(x: _Floats, logs: bool) -> float:
    if logs:
        total = -np.inf
        for i in range(len(x)):
            total = log_add(total, x[i])
        return total
    a = b = c = d = 0.0  # four sums, so that none waits for another
    fours = len(x) // 4
    for four in range(fours):
        i = 4 * four
        a, b, c, d = a + x[i], b + x[i + 1], c + x[i + 2], d + x[i + 3]
    for i in range(4 * fours, len(x)):
        a += x[i]
    return (a + b) + (c + d)


@kernel
def _fill_marginals(size: int, single_root: bool, factors: Factors, room: Room, marginals: _Floats) -> None:
    """Run the elimination backwards: the gradient of log Z by every weight, and times the weight the marginals."""
    heading, headed, pivots, by_head, by_modifier = (
        room.heading, room.headed, room.pivots, room.by_head, room.by_modifier,
    )  # fmt: skip
    logs = factors.logs
    nothing = -np.inf if logs else 0.0
    by_head[0, 0] = by_modifier[0, 0] = nothing
    for k in range(1, size):
        from_k, to_k = by_head[k], by_modifier[k]
        from_k[: k + 1] = nothing
        to_k[: k + 1] = nothing
        # An arc from k is worth its shares in the arcs that it has become ...
        add_rows(headed[k], 0, k, by_head, k, logs, from_k)
        add_rows(heading[k], 1, k, by_modifier, k, logs, to_k)
        # ... and an arc to k likewise, but it takes from the shares of the other heads.
        for i in range(k):
            room.x[i] = headed[k, i] + to_k[i] if logs else headed[k, i] * to_k[i]
        modifiers = _sum(room.x[:k], logs)
        if logs:
            modifiers = np.exp(modifiers)
        for i in range(1 if single_root and k > 1 else 0, k):
            if not logs:
                to_k[i] += 1.0 - modifiers
            elif to_k[i] < 40.0:
                to_k[i] = np.log(max(0.0, np.exp(to_k[i]) + 1.0 - modifiers))
        share = 1.0 / pivots[k]
        for i in range(k):
            to_k[i] = to_k[i] - pivots[k] if logs else to_k[i] * share
            by_head[i, k], by_modifier[i, k] = to_k[i], from_k[i]
        from_k[k] = to_k[k] = nothing
    for h in range(size):
        for m in range(size):
            x, w = by_head[h, m], room.weights[h, m]
            y = x + w if logs else x * w
            marginals[h, m] = y if logs or y > 0.0 else 0.0
    if size > 1:
        _swap(marginals, size, factors.base)
    if logs:
        for m in range(1, size):
            top = -np.inf
            for h in range(size):
                top = max(top, marginals[h, m])
            if top == -np.inf:  # scores so large that rounding ate every head: take the best tree's
                marginals[room.heads[m], m] = 0.0
        normalise(marginals)


@kernel
def one_matrix_tree(S: _Floats, single_root: bool, marginals: _Floats) -> tuple[int, float]:
    """The code and the log partition function of one matrix: `matrix_trees` without what only several need."""
    return _checked(S, single_root, make_room(S.shape[0] - 1), marginals)


@kernel
def _checked(S: _Floats, single_root: bool, room: Room, marginals: _Floats) -> tuple[int, float]:
    code, log_partition = best_heads(S, room.x, room.search.roots), -np.inf
    if code != REFUSED:
        log_partition = matrix_tree(S, single_root, room, marginals)
        if code == FOUND and log_partition == -np.inf:
            code = NO_TREE
    return code, log_partition


@kernel
def matrix_trees(
    scores: _Floats,
    lengths: NDArray[np.int64],
    single_root: bool,
    marginals: _Floats,
    log_partitions: _Floats,
) -> NDArray[np.int64]:
    """The log partition function and all marginals of every matrix of a batch.

    O(n^3) time each; O(n^2) memory in all, n the greatest length. `scores`: the matrices one after another, each (n+1, n+1)
    with n from `lengths`; `marginals`: filled likewise, or empty if none are asked for; column 0 is 0. `log_partitions`: filled,
    -inf where there is no tree. Returns one code a matrix, FOUND, REFUSED, or what went wrong (`arcwise.search.status`).

    >>> marginals, log_partitions = np.empty(9), np.empty(1)
    >>> matrix_trees(np.array([0.0, 0, 0, 0, 0, 1, 0, 1, 0]), np.array([2]), True, marginals, log_partitions)
    array([0])
    >>> marginals.reshape(3, 3), log_partitions  # two trees, each of score 1
    (array([[0. , 0.5, 0.5],
           [0. , 0. , 0.5],
           [0. , 0.5, 0. ]]), array([1.69314718]))
    """
    codes = np.empty(len(lengths), np.int64)
    room = make_room(lengths.max() if len(lengths) > 0 else 0)
    start = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        end = start + size * size
        S = scores[start:end].reshape(size, size)
        arcs = marginals[start:end].reshape(size, size) if len(marginals) > 0 else marginals.reshape(0, 0)
        codes[b], log_partitions[b] = _checked(S, single_root, room, arcs)
        start = end
    return codes
