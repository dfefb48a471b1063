"""Where runs of hill climbing begin: at trees drawn by Wilson's algorithm, uniformly or from the first-order distribution.

Every run has a stream of random numbers of its own, so its tree depends on nothing but seed, sentence and number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Floats
from arcwise.search.spanning_tree import make_room as make_search_room
from arcwise.search.spanning_tree import spanning_tree
from arcwise.search.status import FOUND
from arcwise.sums.chance import State, start_stream
from arcwise.sums.matrix_tree import Factors, Room, factorise, make_room
from arcwise.sums.wilson import begin_draws, draw_tree

# Where runs begin: at the first-order best tree and then at trees drawn uniformly; at trees drawn from the first-order distribution,
# of which there are few different ones by trained models; at trees drawn uniformly; at the first-order best tree only.
STARTS = ("best-first", "first-order", "uniform", "best")
BEST_FIRST, FIRST_ORDER, UNIFORM, BEST = range(4)
_SHARPNESS = 5.0


class Draws(NamedTuple):
    """Start trees of one sentence. heads: the one to begin with, if `starts` says so."""

    starts: int
    single_root: bool
    factors: Factors
    room: Room
    ways: NDArray[np.int64]
    state: State
    heads: Ints
    seed: np.uint64
    number: int


@kernel
def arc_matrix(graph: Graph, arcs: Floats) -> Floats:
    """The scores of arcs as a matrix; of several arcs between the same words the best, -inf for those that the graph has not."""
    words = graph.position[-1] + 1
    S = np.full((words, words), -np.inf)
    for b in range(1, len(graph.head)):
        h, m = graph.head[b], graph.modifier[b]
        S[h, m] = max(S[h, m], arcs[b])
    return S


@kernel
def sharpen(S: Floats) -> None:
    """Scale scores so that the best head of a word is as far above the mean of its heads as _SHARPNESS, on average: scores that were
    learned by margins are no logarithms of probabilities, and are often so small that all trees would be as likely.
    """
    size, total, words = len(S), 0.0, 0
    for m in range(1, size):
        top, mean, count = -np.inf, 0.0, 0
        for h in range(size):
            if S[h, m] > -np.inf and h != m:
                top, mean, count = max(top, S[h, m]), mean + S[h, m], count + 1
        if count > 1:
            total += top - mean / count
            words += 1
    if total > 0.0:
        S *= _SHARPNESS * words / total


@kernel
def make_draws(S: Floats, starts: int, single_root: bool, seed: np.uint64, number: int) -> tuple[Draws, bool]:
    """Start trees for a sentence, and whether there are any. S: the logarithms of arcs' weights. number: of the sentence. O(n^3)."""
    size = len(S)
    room, heads = make_room(size - 1), np.full(size, -1, np.int32)
    found = spanning_tree(S, single_root, make_search_room(size - 1), heads) == FOUND
    weights = S.copy()
    if starts in (UNIFORM, BEST_FIRST):
        weights[:] = np.where(-np.inf < S, 0.0, -np.inf)
    elif starts != BEST:
        sharpen(weights)
    factors = factorise(weights, single_root, room)
    if found and factors.log_partition == -np.inf:  # scores of sizes that no sum can hold
        weights[:] = np.where(-np.inf < S, 0.0, -np.inf)
        factors = factorise(weights, single_root, room)
    found = found and factors.log_partition > -np.inf
    if found:
        begin_draws(size, single_root, factors, room)
    ways, state = np.empty((2, size), np.int64), np.empty(1, np.uint64)
    return Draws(starts, single_root, factors, room, ways, state, heads, seed, number), found


@kernel
def start_tree(draws: Draws, run: int, heads: Ints) -> None:
    """Fill in the tree that a run begins with."""
    if draws.starts == BEST or (draws.starts == BEST_FIRST and run == 0):
        heads[:] = draws.heads
        return
    start_stream(draws.state, draws.seed, draws.number, run)
    draw_tree(len(heads), draws.single_root, draws.factors, draws.room, draws.state, draws.ways, heads)
