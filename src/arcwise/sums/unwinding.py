"""Exact samples by unwinding an elimination: at most O(n^3) a tree, mostly O(n^2), whatever the scores.

After the elimination of `arcwise.sums.matrix_tree` only the root and one word are left, and the tree on them is
known. The words come back in reverse order. When k does, an arc from i to j is either what it was before k went, or it
stands for a way through k, with probability w[i, k] / s[k] * w[k, j] over its present weight: then j is headed by
k. The arcs that stay have the right distribution (Durfee, Kyng, Peebles, Rao and Sachdeva, 2017, use this for
undirected graphs), and what k heads is settled. Its own head is any vertex that does not descend from it, with
probabilities in proportion to w[i, k]: by Cayley's formula for forests, just what all ways through k add up to. With one
root, k is the root if the way from the root went through it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.sums.chance import State, draw
from arcwise.sums.matrix_tree import Factors, Room

_UNKNOWN, _ABOVE, _BELOW = 0, 1, 2


@kernel
def unwind(
    size: int,
    single_root: bool,
    factors: Factors,
    room: Room,
    state: State,
    ways: NDArray[np.int64],
    heads: NDArray[np.int32],
) -> None:
    """Fill `heads` with one tree, drawn from the trees that were factorised. ways: (2, n+1), to work in."""
    way, place = ways[0], ways[1]  # the word that the arc to j leads through, or 0
    heads[0] = -1
    heads[1] = 0
    way[1] = _draw_way(size, 0, 1, 1, factors.logs, room, state)
    for k in range(2, size):
        head, any_below = -1, False
        for j in range(k):
            place[j] = _UNKNOWN
        place[0] = _ABOVE
        for j in range(1, k):
            if way[j] == k:
                any_below = True
                place[j] = _BELOW
                if single_root and heads[j] == 0:
                    head = 0
        if head < 0:
            for j in range(1, k):
                _find_place(j, heads, place)
            if single_root:
                place[0] = _BELOW  # not to be drawn
            head = _draw_head(k, place, factors.logs, room, state)
        heads[k] = head
        way[k] = _draw_way(size, head, k, k, factors.logs, room, state)
        if any_below:
            for j in range(1, k):
                if way[j] == k:
                    heads[j] = k
                    way[j] = _draw_way(size, k, j, k, factors.logs, room, state)
    rename(heads, factors.base)


@kernel
def _find_place(word: int, heads: NDArray[np.int32], place: NDArray[np.int64]) -> None:
    """Whether a word descends from one whose place is known to be below."""
    top = word
    while place[top] == _UNKNOWN:
        top = heads[top]
    found = place[top]
    while place[word] == _UNKNOWN:
        place[word] = found
        word = heads[word]


@kernel
def _draw_head(k: int, place: NDArray[np.int64], logs: bool, room: Room, state: State) -> int:
    """A head for k among the vertices above, as likely as their shares."""
    weight = room.x
    top = -np.inf
    for i in range(k):
        weight[i] = room.headed[k, i] if place[i] == _ABOVE else (-np.inf if logs else 0.0)
        top = max(top, weight[i])
    return draw(weight[:k], top, logs, state)


@kernel
def _draw_way(size: int, i: int, j: int, k: int, logs: bool, room: Room, state: State) -> int:
    """Which word, of those eliminated before k, the arc from i to j leads through; 0 if it is an arc of the graph."""
    weight = room.x
    weight[k] = top = room.weights[i, j]
    for e in range(k + 1, size):
        x, y = room.headed[e, i], room.heading[e, j]
        weight[e] = x + y if logs else x * y
        top = max(top, weight[e])
    drawn = draw(weight[k:size], top, logs, state)
    return k + drawn if drawn > 0 else 0


@kernel
def rename(heads: NDArray[np.int32], base: int) -> None:
    """Word 1 and the word `base` get their own names back."""
    for m in range(1, len(heads)):
        if heads[m] == 1:
            heads[m] = base
        elif heads[m] == base:
            heads[m] = 1
    heads[1], heads[base] = heads[base], heads[1]
