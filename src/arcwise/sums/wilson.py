"""Exact samples by Wilson's algorithm: random walks from word to head, with their loops erased.

Wilson (1996). Every word that is not in the tree yet walks to a head drawn by its weight, from there to that
one's head, and so on until it meets the tree; the last choice of every word on the way is its head. With one root, that
word is drawn first, by its marginal, and the walks end there. The time is the number of steps, which is small
unless words prefer to head each other in a circle. So the steps are counted: past a few a word, the walk is given up for
`arcwise.sums.unwinding`, with the same root. That is no bias: where the walks end being given, their number of steps is
independent of the tree, since the cycles popped off are independent of the tree found beneath (Propp and Wilson, 1998).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.search.best_heads import best_heads
from arcwise.search.status import FOUND, NO_TREE
from arcwise.sums.chance import State, next_uniform, start_stream
from arcwise.sums.matrix_tree import Factors, Room, factorise, make_room
from arcwise.sums.unwinding import rename, unwind

_STEPS = 8  # steps a word before a walk is given up


@kernel
def sample_trees(
    scores: NDArray[np.float64],
    lengths: NDArray[np.int64],
    single_root: bool,
    count: int,
    seed: np.uint64,
    first: int,
    heads: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Draw `count` trees from the distribution of every matrix of a batch.

    O(n^3 + count n^2) time each, unless the scores are extreme, then up to O(count n^3); O(n^2) memory. scores, lengths: as in
    `arcwise.sums.matrix_tree.matrix_trees`. `heads`: filled with count trees a matrix, each of length n+1. The matrices are
    numbered from `first`: the trees depend on seed and number. Returns one code a matrix, as `matrix_trees` does.

    >>> heads = np.empty((4, 3), np.int32)
    >>> scores = np.array([0.0, 0, 0, 0, 0, 1, 0, 1, 0])
    >>> sample_trees(scores, np.array([2]), True, 4, np.uint64(0), 0, heads.reshape(-1)), heads
    (array([0]), array([[-1,  0,  1],
           [-1,  0,  1],
           [-1,  2,  0],
           [-1,  0,  1]], dtype=int32))
    """
    codes = np.empty(len(lengths), np.int64)
    longest = lengths.max() if len(lengths) > 0 else 0
    room = make_room(longest)
    ways, state = np.empty((2, longest + 1), np.int64), np.empty(1, np.uint64)
    start = tree = 0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        S = scores[start : start + size * size].reshape(size, size)
        codes[b] = best_heads(S, room.x, room.search.roots)
        if codes[b] == FOUND:
            factors = factorise(S, single_root, room)
            if factors.log_partition == -np.inf:
                codes[b] = NO_TREE
        if codes[b] == FOUND:
            begin_draws(size, single_root, factors, room)
            for t in range(count):
                start_stream(state, seed, first + b, t)
                drawn = heads[tree + t * size : tree + (t + 1) * size]
                draw_tree(size, single_root, factors, room, state, ways, drawn)
        start += size * size
        tree += count * size
    return codes


@kernel
def begin_draws(size: int, single_root: bool, factors: Factors, room: Room) -> None:
    """Prepare a matrix that was factorised, and has trees, for `draw_tree`."""
    if not factors.logs and size > 1:
        _fill_shares(size, single_root, factors, room)


@kernel
def draw_tree(
    size: int, single_root: bool, factors: Factors, room: Room, state: State, ways: NDArray[np.int64], heads: NDArray[np.int32]
) -> None:  # fmt: skip
    """Fill `heads` with a tree drawn by the stream of `state`. ways: (2, n+1), scratch."""
    heads[0] = -1
    if size > 1 and (factors.logs or not _walk(size, single_root, factors, room, state, ways[0], heads)):
        unwind(size, single_root, factors, room, state, ways, heads)


@kernel
def _fill_shares(size: int, single_root: bool, factors: Factors, room: Room) -> None:
    """Sum the weights of every word's heads up, in rows of `by_modifier`; in row 0, with one root, those of the roots."""
    shares, first = room.by_modifier, 1 if single_root else 0
    for m in range(1, size):
        total = 0.0
        for h in range(size):
            if h >= first:
                total += room.weights[h, m]
            shares[m, h] = total
    if single_root:
        # The sum over the trees that hang from k, up to a common factor.
        hanging = room.y
        hanging[1] = 1.0
        total = shares[0, 0] = 0.0
        for k in range(1, size):
            if k > 1:
                hanging[k] = 0.0
                for j in range(1, k):
                    hanging[k] += room.heading[k, j] * hanging[j]
                hanging[k] /= room.pivots[k]
            total += room.weights[0, k] * hanging[k]
            shares[0, k] = total


@kernel
def _hang_from(root: int, size: int, room: Room) -> None:
    """Change the elimination to that of the trees that hang from `root` alone: it is the same but for row 0."""
    for k in range(size - 1, 0, -1):
        room.weights[0, k] = 1.0 if k == root else 0.0
        total = room.weights[0, k]
        for e in range(k + 1, size):
            total += room.headed[e, 0] * room.heading[e, k]
        room.headed[k, 0] = total / room.pivots[k]


@kernel
def _draw(shares: NDArray[np.float64], state: State) -> int:
    """An index, as likely as its share: the first whose sum lies above a random number."""
    x = next_uniform(state) * shares[-1]
    low, high = 0, len(shares) - 1
    while low < high:
        middle = (low + high) // 2
        if shares[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _walk(
    size: int,
    single_root: bool,
    factors: Factors,
    room: Room,
    state: State,
    in_tree: NDArray[np.int64],
    heads: NDArray[np.int32],
) -> bool:
    """Fill `heads` with one tree, and whether that took few enough steps."""
    for m in range(size):
        in_tree[m] = 0
    in_tree[0] = 1
    if single_root:
        root = _draw(room.by_modifier[0, :size], state)
        heads[root] = 0
        in_tree[root] = 1
    steps = _STEPS * size
    for word in range(1, size):
        m = word
        while in_tree[m] == 0:
            steps -= 1
            if steps < 0:
                if single_root:
                    _hang_from(root, size, room)
                return False
            heads[m] = _draw(room.by_modifier[m, :size], state)
            m = heads[m]
        m = word
        while in_tree[m] == 0:
            in_tree[m] = 1
            m = heads[m]
    rename(heads, factors.base)
    return True
