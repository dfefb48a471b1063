"""First-order arc scores that stand for tables of any parts: what importance sampling draws its trees by.

Belief propagation puts siblings and grandchildren into the scores of arcs (`weighed` of `arcwise.sums.belief_propagation`): trees of
these scores alone have its probabilities of arcs. What it does not understand of the tables is left out, and it may not converge.
So no arc that some tree may have is ruled out: none scores less than _FARTHEST below the best head of its word.
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Level, first_level, next_level
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.sums.belief_propagation import belief_propagation
from arcwise.sums.factors import Parts

_SWEEPS, _TOLERANCE = 10, 1e-2  # a proposal need not be perfect
_FARTHEST = 8.0


@kernel
def propose(
    graph: Graph, levels: tuple[Level, Level, Level], kind: Kind, tables: Tables, single_root: bool, S: Floats
) -> None:
    """Fill S[h, m] with the scores of arcs to draw trees by, of a word's best head 0, of arcs that no tree may have -inf.

    At most one arc between two words, and one vertex a word. O(n^3) a sweep of belief propagation.
    """
    parts = _simplified(graph, levels, kind, tables)
    found = Parts(
        np.empty(len(parts.arcs)), np.empty(len(parts.first)), np.empty(len(parts.pair)), np.empty(len(parts.last)),
        np.empty(len(parts.grand)),
    )  # fmt: skip
    weighed, level = parts.arcs.copy(), next_level(graph, first_level(graph), 1)
    belief_propagation(graph, level, parts, False, single_root, _SWEEPS, _TOLERANCE, found, weighed)
    S[:] = -np.inf
    for m in range(1, len(S)):
        into = graph.into[graph.into_first[m] : graph.into_first[m + 1]]
        top = -np.inf
        for b in into:
            if np.isnan(weighed[b]):
                weighed[b] = -np.inf
            top = max(top, weighed[b])
        for b in into:
            if parts.arcs[b] > -np.inf:
                S[graph.head[b], m] = max(weighed[b] - top, -_FARTHEST) if top > -np.inf else 0.0


@kernel
def _simplified(graph: Graph, levels: tuple[Level, Level, Level], kind: Kind, tables: Tables) -> Parts:
    """What belief propagation understands of tables: arcs, siblings and, where spans know one ancestor, grandchildren. What siblings
    score by their head's head is averaged over it.
    """
    upper, lower, count = levels[0], levels[1], len(graph.head)
    arcs, nothing = np.full(count, -np.inf), np.empty(0)
    grand = np.zeros(len(tables.step)) if kind.incomplete == 1 else nothing
    first, pair, last = nothing, nothing, nothing
    for p in range(len(lower.head)):
        h = lower.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            arcs[b] = max(arcs[b], tables.step[lower.steps[p] + b - graph.out[h]])
    if kind.incomplete == 1:
        for p in range(len(lower.head)):
            h = lower.head[p]
            for b in range(graph.out[h], graph.out[h + 1]):
                step = lower.steps[p] + b - graph.out[h]
                grand[step] = tables.step[step] - arcs[b] if arcs[b] > -np.inf else 0.0
    if kind.siblings > 0:
        first, last = _averaged(graph, lower, tables.first), _averaged(graph, upper, tables.last)
        pair = tables.pair.copy() if len(tables.pair) > 0 else np.zeros(graph.pairs[count])
    return Parts(arcs, first, pair, last, grand)


@kernel
def _averaged(graph: Graph, level: Level, by_step: Floats) -> Floats:
    """The mean over spines of what an arc has on them, of what is not -inf."""
    mean, known = np.zeros(len(graph.head)), np.zeros(len(graph.head))
    if len(by_step) == 0:
        return mean
    for p in range(len(level.head)):
        h = level.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            score = by_step[level.steps[p] + b - graph.out[h]]
            if score > -np.inf:
                mean[b] += score
                known[b] += 1.0
    for b in range(1, len(mean)):
        mean[b] = mean[b] / known[b] if known[b] > 0.0 else -np.inf
    return mean
