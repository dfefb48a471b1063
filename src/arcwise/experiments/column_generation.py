"""Column generation inside a chart and inside dual decomposition (Riedel et al. 2012, section 4.5), for grandparents, no arc pruned.

The search looks at a few arcs only; of all others it is asked whether a better tree could have one. For any u by arcs, a tree scores
no more than the sum over its arcs of

    w[a] = u[a] + sum over the arcs b from a's modifier of (score of b below a - u[b])+

so that the best tree under w that has a given arc bounds all trees that have it. For arcs that were looked at, u is what dual
decomposition has found among them; for the others it is the best that they score below those, and more where that does no harm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Ints, Level, make_graph
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.search.automata import Flags
from arcwise.search.chart import make_levels
from arcwise.search.derivations import chart_tree
from arcwise.search.dual import BUDGET, STALL, begin, search
from arcwise.search.dual_decomposition import TreeSearch, best_heads
from arcwise.search.sibling_automata import sibling_automata

_HEADS, _MOST = 3, 2  # of every word: the best arcs to begin with, and those added at once
_TIGHTER, _POLYAK, _PATIENCE = 150, 1.5, 10
SLACK = 0.5  # scores are whole numbers


class Found(NamedTuple):
    """The arc into each word of the best tree, and its score. rounds: of searching and pricing. arcs, parts: that were looked at."""

    tree: Ints
    score: float
    rounds: int
    arcs: int
    parts: int


@kernel
def _restrict(
    graph: Graph, level: Level, step: Floats, inside: Flags, kind: Kind
) -> tuple[Graph, tuple[Level, Level, Level], Tables, NDArray[np.int64]]:
    """The graph of the arcs inside and its tables; which arcs they are."""
    arcs = np.flatnonzero(inside)
    part = make_graph(graph.position, graph.head[arcs[1:]], graph.modifier[arcs[1:]])
    levels = make_levels(part, kind)
    of_part = levels[0]
    scores, none = np.empty(of_part.steps[len(of_part.steps) - 1]), np.empty(0)
    scores[0] = 0.0
    for p in range(len(arcs)):
        m = part.modifier[p]
        for q in range(part.out[m], part.out[m + 1]):
            scores[of_part.steps[p] + q - part.out[m]] = step[level.steps[arcs[p]] + arcs[q] - graph.out[m]]
    return part, levels, Tables(scores, none, none, none, none, none, none, none, none, none, none), arcs


@kernel
def _meets(graph: Graph, a: int, b: int, projective: bool) -> bool:
    """Whether a tree may have b below a."""
    g, h, m = graph.head[a], graph.modifier[a], graph.modifier[b]
    return g != m and (not projective or a == 0 or (m < g) == (h < g))


@kernel
def _weigh(
    graph: Graph, level: Level, step: Floats, u: Floats, trees: TreeSearch, S: Floats, heads: Ints, U: Floats
) -> None:
    """Fill S with w, heads with its best tree, and U, by arcs, with a quick bound on all trees that have it."""
    size, arcs = len(graph.position), len(graph.head)
    most, total = np.full(size, -np.inf), 0.0
    for a in range(1, arcs):
        m, w = graph.modifier[a], u[a]
        for b in range(graph.out[m], graph.out[m + 1]):
            if _meets(graph, a, b, trees.projective):
                w += max(0.0, step[level.steps[a] + b - graph.out[m]] - u[b])
        S[graph.head[a], m] = w
        most[m] = max(most[m], w)
    for m in range(1, size):
        total += most[m]
    best = best_heads(S, trees, heads)
    for a in range(1, arcs):
        U[a] = min(best, total - most[graph.modifier[a]] + S[graph.head[a], graph.modifier[a]])


@kernel
def _price(
    graph: Graph, level: Level, step: Floats, inside: Flags, u: Floats, trees: TreeSearch, score: float
) -> Floats:
    """By arcs outside, a bound on all trees that have it. u: of the arcs inside; filled for the others."""
    size, arcs = len(graph.position), len(graph.head)
    top = np.full(arcs, -np.inf)
    below = np.full(arcs, -np.inf)
    for a in range(arcs):
        m = graph.modifier[a]
        for b in range(graph.out[m], graph.out[m + 1]):
            if _meets(graph, a, b, trees.projective):
                x = step[level.steps[a] + b - graph.out[m]]
                top[b] = max(top[b], x)
                if inside[a]:
                    below[b] = max(below[b], x)
    for b in range(1, arcs):
        if graph.head[b] == 0 or u[b] == -np.inf:
            u[b] = below[b] if below[b] > -np.inf else top[b]
    S, U = np.full((size, size), -np.inf), np.full(arcs, -np.inf)
    column, heads, others = np.empty(size), np.empty(size, np.int32), np.empty(size, np.int32)
    arc, g = np.zeros((size, size), np.int32), np.zeros(arcs)
    for b in range(1, arcs):
        arc[graph.head[b], graph.modifier[b]] = b
    _weigh(graph, level, step, u, trees, S, heads, U)
    share, since, least, kept = _POLYAK, 0, np.inf, u.copy()
    for _ in range(_TIGHTER):
        best = U[1:].max()
        since += 1
        if best < least:
            least, since = best, 0
            kept[:] = u
        if not ((U > score + SLACK) & ~inside).any():
            return U
        if since >= _PATIENCE:
            share, since = 0.5 * share, 0
        g[:] = 0.0
        norm = 0.0
        for m in range(1, size):
            h = heads[m]
            a = arc[h, m]
            g[a] += 1.0 if h > 0 else 0.0
            for b in range(graph.out[m], graph.out[m + 1]):
                if _meets(graph, a, b, trees.projective) and step[level.steps[a] + b - graph.out[m]] > u[b]:
                    g[b] -= 1.0
        for b in range(1, arcs):
            norm += g[b] * g[b]
        if norm == 0.0:
            break
        for b in range(1, arcs):
            u[b] -= share * (best - score) / norm * g[b]
        _weigh(graph, level, step, u, trees, S, heads, U)
    u[:] = kept
    _weigh(graph, level, step, u, trees, S, heads, U)
    for a in range(1, arcs):
        h, m = graph.head[a], graph.modifier[a]
        if not inside[a] and U[a] > score + SLACK and heads[m] != h:
            column[:] = S[:, m]
            S[:, m] = -np.inf
            S[h, m] = column[h]
            U[a] = best_heads(S, trees, others)
            S[:, m] = column
    return U


@kernel
def _add(graph: Graph, worth: Floats, least: float, most: int, inside: Flags) -> int:
    """Put the arcs inside that are worth most of those into each word, so many at most; returns how many."""
    count = 0
    for m in range(1, len(graph.position)):
        into = graph.into[graph.into_first[m] : graph.into_first[m + 1]]
        for _ in range(most):
            best, arc = least, 0
            for b in into:
                if not inside[b] and worth[b] > best:
                    best, arc = worth[b], b
            if arc > 0:
                inside[arc] = True
                count += 1
    return count


@kernel
def generate_columns(
    graph: Graph, level: Level, own: Floats, step: Floats, kind: Kind, trees: TreeSearch
) -> Found:  # fmt: skip
    """The best tree of all arcs of a sentence, found among few of them; by the chart of the kind if trees are projective, else by dual
    decomposition and its finish. The scores are whole numbers.

    level: level 1. own: the scores of arcs, step: those of steps with their arcs.
    """
    size, arcs = len(graph.position), len(graph.head)
    inside, u, S = np.zeros(arcs, np.bool_), np.zeros(arcs), np.full((size, size), -np.inf)
    inside[0] = True
    for b in range(1, arcs):
        S[graph.head[b], graph.modifier[b]] = own[b]
    heads, into = np.empty(size, np.int32), np.zeros(size, np.int32)
    best_heads(S, trees, heads)
    for b in range(1, arcs):
        inside[b] = heads[graph.modifier[b]] == graph.head[b]
    _add(graph, own, -np.inf, _HEADS, inside)
    rounds, score, no_trace = 0, -np.inf, np.empty((0, 3))
    while True:
        rounds += 1
        part, levels, tables, numbers = _restrict(graph, level, step, inside, kind)
        if trees.projective:
            score = chart_tree(part, levels, kind, tables, trees.single_root, into)
            u[:] = -np.inf
        else:
            automata = sibling_automata(kind, part, levels[0], tables, trees.single_root)
            problem, state = begin(part, automata, True, trees, own[numbers], SLACK)
            search(problem, state, STALL, False, BUDGET, no_trace)
            score, into[:] = state.incumbent[0], state.best_tree
            u[:] = -np.inf
            u[numbers] = state.at[0]
        U = _price(graph, level, step, inside, u, trees, score)
        if _add(graph, U, score + SLACK, _MOST << rounds, inside) == 0:
            tree = numbers[into].astype(np.int32)
            return Found(tree, score, rounds, len(numbers) - 1, len(tables.step))
