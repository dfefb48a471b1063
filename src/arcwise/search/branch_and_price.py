"""From the linear program to the best tree: branch on arcs of fractional value, and price in every branch (branch and price).

A branch takes arcs away: all others into a word, so that it has the arc, or the arc itself. The restricted program and its scores are
those of the whole search, so that a branch begins where the last one ended.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats
from arcwise.search.price_and_cut import PriceAndCut, Source, Tree
from arcwise.search.pricing import Flags
from arcwise.search.program import FAILED, INFEASIBLE, OPTIMAL, TIME
from arcwise.search.restricted_program import Numbers
from arcwise.search.second_order import heaviest_tree, tree_value
from arcwise.threads import heed

_WHOLE = 1e-6  # how near to 0 or 1 a value is a whole number


class Priced(NamedTuple):
    """What was found, and what it took.

    status: OPTIMAL, TIME or FAILED, or INFEASIBLE. tree: the arc into each word, empty if there is none; score: what it scores.
    bound: no tree scores more. value: the optimum of the linear program, and how many arcs are fractional in it. rounds: how often
    programs were solved.
    arcs: how many are inside. scored, added: grand parts and pairs. cuts: sets of words. branches: besides the first program.
    """

    status: str
    tree: Tree
    score: float
    bound: float
    value: float
    fractional: int
    rounds: int
    arcs: int
    scored: int
    added: int
    cuts: int
    branches: int


def price_tree(source: Source, *, exact: bool, slack: float, seconds: float = np.inf) -> Priced:
    """The best tree, proved best if `exact`; else the one nearest to the solution of the linear program, whose value is a bound.

    slack: how much less than a bound a tree may score to count as the best one. Depth first: memory O(arcs) a branch.
    """
    deadline = perf_counter() + seconds
    allowed = source.arcs > -np.inf
    allowed[0] = False
    tree = heaviest_tree(source.graph, np.where(allowed, source.arcs, -np.inf), source.single_root)
    if len(tree) == 0:
        return Priced(INFEASIBLE, tree, -np.inf, -np.inf, -np.inf, 0, 0, 0, 0, 0, 0, 0)
    score, status, bound = tree_score(source, tree), OPTIMAL, _easy_bound(source)
    value, fractional = np.inf, 0
    search = PriceAndCut(source, tree)
    branches, open_ = 0, [(allowed, bound)]
    while open_:
        heed()
        here, least = open_.pop()
        if branches and least <= score + slack:
            continue
        relaxed = search.solve(here, score + slack if branches else -np.inf, deadline)
        least = min(least, relaxed.bound)
        whole = np.minimum(relaxed.z, 1.0 - relaxed.z) < _WHOLE
        if branches == 0:
            value, fractional, bound = relaxed.value, int((~whole).sum()), least
        branches += 1
        if relaxed.status in (TIME, FAILED):
            status = relaxed.status
            open_.append((here, least))
            break
        if least <= score + slack:
            continue
        near = np.where(here, relaxed.z + 1e-9 * source.arcs / search.program.scale, -np.inf)
        found = heaviest_tree(source.graph, near, source.single_root)
        if len(found) and (better := tree_score(source, found)) > score:
            tree, score = found, better
        if not exact and score > -np.inf:  # else it goes on to a tree without forbidden parts
            break
        if not whole.all():
            open_ += _branches(source.graph, relaxed.z, here, least)
    if exact or score == -np.inf:  # what is still open may be better; what is done is not
        bound = max([score, *(least for _, least in open_)])
    if bound <= score + slack:
        bound = score
    program, known = search.program, source.known
    scored = int((~np.isnan(known.grand)).sum() + (~np.isnan(known.pair)).sum())
    return Priced(
        status, tree, score, bound, value, fractional, search.rounds, int(program.inside.sum()), scored,
        int(program.there.sum() + program.paired.sum()), len(program.sets), branches - 1,
    )  # fmt: skip


def _easy_bound(source: Source) -> float:
    """What no tree scores more than: every word takes its best arc, with the best that is known of its parts."""
    graph, known = source.graph, source.known
    best = source.arcs.copy()
    if len(known.grand):
        best += np.where(graph.head == 0, 0.0, known.above)
    if len(known.first):
        best += np.maximum(known.first, known.farther) + np.maximum(known.last, 0.0)
    most, null = np.full(len(graph.position), -np.inf), np.zeros(2 * len(graph.position))
    np.maximum.at(most, graph.modifier[1:], best[1:])
    for side in range(2 if len(known.none) else 0):
        np.maximum.at(null, 2 * graph.modifier[1:] + side, known.none[2 + side :: 2])
    return float(most[1:].sum() + null.sum())


def _branches(graph: Graph, z: Floats, allowed: Flags, bound: float) -> list[tuple[Flags, float]]:
    """Without the arc most in dispute, and with it, which is gone into first."""
    b = int(np.argmin(np.abs(z - 0.5)))
    without, with_ = allowed.copy(), allowed.copy()
    without[b] = False
    with_[graph.modifier == graph.modifier[b]] = False
    with_[b] = True
    return [(without, bound), (with_, bound)]


def tree_score(source: Source, tree: Tree) -> float:
    """What a tree scores, its parts scored if they were not yet."""
    graph, level, known = source.graph, source.level, source.known
    if len(known.grand):
        lowers = tree[1:][graph.head[tree[1:]] > 0]
        uppers = tree[graph.head[lowers]]
        steps = level.steps[uppers] + lowers - graph.out[graph.modifier[uppers]]
        source.score_steps(steps[np.isnan(known.grand[steps])])
    if len(known.pair):
        pairs = _tree_pairs(graph, tree)
        source.score_pairs(pairs[np.isnan(known.pair[pairs])])
    return float(
        tree_value(
            graph, level, source.arcs, known.first, known.pair, known.last, known.grand, known.none, tree
        )
    )


@kernel
def _tree_pairs(graph: Graph, tree: Tree) -> Numbers:
    """The pairs of arcs that follow each other in a tree."""
    chosen = np.zeros(len(graph.head), np.bool_)
    for m in range(1, len(tree)):
        chosen[tree[m]] = True
    pairs, count, before = np.empty(len(tree), np.int64), 0, 0
    for b in range(1, len(graph.head)):
        if not chosen[b]:
            continue
        if before > 0 and graph.head[before] == graph.head[b] and before >= b - graph.inner[b]:
            side = graph.right[graph.head[b]] if b >= graph.right[graph.head[b]] else graph.out[graph.head[b]]
            pairs[count] = graph.pairs[b] + before - side
            count += 1
        before = b
    return pairs[:count]
