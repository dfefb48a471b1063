"""Which arcs and parts a restricted linear program lacks: reduced costs, from exact scores or from bounds on them.

The duals of a solution say what each arc b must pay for its place in a tree (`price`), what it gets from its grandparent part
(`one_gp`), and from its neighbours on its side (`before` and `after`). What is not in the program yet has no duals of its own: they
may be chosen (Riedel et al. 2012, 4.3.3), such that no part outside has a positive reduced cost, if that can be done.

    one_gp[b] >= score of (a, b) - share[a, b]        after[b'] + before[b] >= score of (b', b)
    slack[b] = price[b] - before[b] - after[b] - one_gp[b] - shares of b >= 0

An arc that no solution uses has slack to spare. Most of it may raise one_gp[b], which makes b worth less to the arcs above; the rest
pays the shares that b, as a grandparent, has to give for the parts below it. Where it does not suffice, parts are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats

Flags = NDArray[np.bool_]

# How much of its slack an arc spends on one_gp before it is known what it needs for shares, and how often it spends more afterwards.
_SPENT, _AGAIN = 0.7, 3


class Known(NamedTuple):
    """What is known of the scores of parts. An empty array: such parts are not scored.

    grand, pair: by steps of level 1 and by pairs of arcs; NaN where nothing is known but the bounds. first, last, none: as in
    `arcwise.search.second_order.SecondOrder`, all known. below, above: by arcs, of all grand parts with the arc as the upper and as
    the lower one, what none scores more than. nearer, farther: by arcs, the same for pairs in which the arc is the nearer and the
    farther one.
    """

    grand: Floats
    pair: Floats
    first: Floats
    last: Floats
    none: Floats
    below: Floats
    above: Floats
    nearer: Floats
    farther: Floats


class Duals(NamedTuple):
    """By arc: price, one_gp, before, after, shares (of the arc as a grandparent, in rows that are there). chain: by 2 head + side, of
    the first edge of a chain. null: by 2 head + side, of the parts of a word without modifiers there.
    """

    price: Floats
    one_gp: Floats
    before: Floats
    after: Floats
    shares: Floats
    chain: Floats
    null: Floats


@inline_kernel
def _grand(known: Known, step: int, a: int, b: int) -> float:
    """The score of a grand part, or a bound on it."""
    score = known.grand[step]
    return float(min(known.below[a], known.above[b]) if np.isnan(score) else score)


@inline_kernel
def _pair(known: Known, pair: int, nearer: int, farther: int) -> float:
    score = known.pair[pair]
    return float(min(known.nearer[nearer], known.farther[farther]) if np.isnan(score) else score)


@inline_kernel
def _side(graph: Graph, b: int) -> tuple[int, int, int]:
    """The first arc on b's side, the end of the side, and which it is."""
    h = graph.head[b]
    if b >= graph.right[h]:
        return graph.right[h], graph.out[h + 1], 1
    return graph.out[h], graph.right[h], 0


@kernel
def _choose_duals(
    graph: Graph, known: Known, duals: Duals, inside: Flags, allowed: Flags, used: Flags, floor: float
) -> Floats:  # fmt: skip
    """Choose duals for the arcs outside, raise one_gp where that costs nothing; returns the slack that is left, by arc.

    inside: the arcs in the program. allowed: those that may be. used: those with a positive value. O(pairs).
    """
    arcs = len(graph.head)
    slack = np.full(arcs, np.inf)
    siblings, grand = len(known.first) > 0, len(known.grand) > 0
    if siblings:
        for b in range(1, arcs):
            if inside[b] or not allowed[b]:
                continue
            begin, _, side = _side(graph, b)
            x = max(known.first[b] - duals.chain[2 * graph.head[b] + side], floor)
            for k in range(graph.inner[b]):
                if inside[begin + k] and allowed[begin + k]:
                    x = max(x, _pair(known, graph.pairs[b] + k, begin + k, b) - duals.after[begin + k])
            duals.before[b] = x
        for b in range(1, arcs):
            if inside[b] or not allowed[b]:
                continue
            begin, end, _ = _side(graph, b)
            x = max(known.last[b], floor)
            for c in range(b + 1, end):
                if allowed[c] and graph.inner[c] > b - begin:
                    x = max(x, _pair(known, graph.pairs[c] + b - begin, b, c) - duals.before[c])
            duals.after[b] = x
    for b in range(1, arcs):
        if not allowed[b]:
            continue
        rest = duals.price[b] - duals.before[b] - duals.after[b] - duals.shares[b]
        if grand and graph.head[b] > 0:
            if not inside[b]:
                duals.one_gp[b] = max(min(known.above[b], _SPENT * rest), floor)
            elif not used[b]:
                room = rest - duals.one_gp[b]
                duals.one_gp[b] += max(0.0, min(known.above[b] - duals.one_gp[b], _SPENT * room))
            rest -= duals.one_gp[b]
        slack[b] = 0.0 if used[b] else rest
    return slack


@kernel
def _find_lack(
    graph: Graph, level: Level, known: Known, duals: Duals, slack: Floats, inside: Flags, allowed: Flags, there: Flags,
) -> Floats:  # fmt: skip
    """By arc, how much of the slack the shares of parts outside take too much: what is positive is missing. O(steps) at most.

    there: by steps, those in the program.
    """
    arcs = len(graph.head)
    lack = np.full(arcs, -np.inf)
    # Of the arcs from each word those whose parts may be worth more than one_gp, one word after another.
    worth, count = np.empty(arcs, np.int32), 0
    first = np.zeros(len(graph.position) + 1, np.int32)
    for b in range(1, arcs):
        if len(known.grand) > 0 and allowed[b] and graph.head[b] > 0 and known.above[b] > duals.one_gp[b]:
            worth[count] = b
            count += 1
            first[graph.head[b] + 1] = count
    for m in range(len(graph.position)):
        first[m + 1] = max(first[m], first[m + 1])
    for a in range(1, arcs):
        if not allowed[a]:
            continue
        m, total = graph.modifier[a], 0.0
        begin = level.steps[a] - graph.out[m]
        for k in range(first[m], first[m + 1]):
            b = worth[k]
            if not there[begin + b] and graph.modifier[b] != graph.head[a]:
                total += max(0.0, _grand(known, begin + b, a, b) - duals.one_gp[b])
        if len(known.none) > 0 and not inside[a]:
            for side in range(2):
                total += max(0.0, known.none[2 * a + side] - duals.null[2 * m + side])
        lack[a] = total - slack[a]
    return lack


@kernel
def _spend_more(
    graph: Graph, known: Known, duals: Duals, slack: Floats, lack: Floats, allowed: Flags, used: Flags
) -> None:
    """Where shares leave some of the slack, raise one_gp further by it."""
    for b in range(1, len(graph.head)):
        if allowed[b] and not used[b] and graph.head[b] > 0 and lack[b] < 0.0:
            more = max(0.0, min(known.above[b] - duals.one_gp[b], -lack[b]))
            duals.one_gp[b] += more
            slack[b] -= more


@kernel
def price(
    graph: Graph, level: Level, known: Known, duals: Duals, inside: Flags, allowed: Flags, used: Flags, there: Flags,
    floor: float,
) -> tuple[Duals, Floats]:  # fmt: skip
    """All duals, chosen as well as may be, and what each arc lacks: what is positive asks for more parts. O(pairs + steps).

    Of all trees with the arcs allowed, none scores more than the program and the greatest lack (if positive) into each word. duals:
    as the solution has them. inside: the arcs in the program, allowed: those that may be used, used: those with a positive value.
    there: by steps, the grand parts in the program. floor: less than any dual need be.
    """
    chosen = Duals(
        duals.price, duals.one_gp.copy(), duals.before.copy(), duals.after.copy(), duals.shares, duals.chain, duals.null
    )  # fmt: skip
    slack = _choose_duals(graph, known, chosen, inside, allowed, used, floor)
    lack = _find_lack(graph, level, known, chosen, slack, inside, allowed, there)
    for _ in range(_AGAIN if len(known.grand) > 0 else 0):
        _spend_more(graph, known, chosen, slack, lack, allowed, used)
        lack = _find_lack(graph, level, known, chosen, slack, inside, allowed, there)
    return chosen, lack


@kernel
def wanted_steps(
    graph: Graph, level: Level, known: Known, duals: Duals, chosen: Flags, allowed: Flags, there: Flags, unknown: bool,
    tolerance: float,
) -> NDArray[np.int64]:  # fmt: skip
    """The steps below chosen arcs that are worth more than one_gp: those whose scores are not known yet, or those that are."""
    count = 0
    steps = np.empty(16, np.int64)
    for a in range(1, len(graph.head)):
        if not chosen[a]:
            continue
        m = graph.modifier[a]
        for b in range(graph.out[m], graph.out[m + 1]):
            step = level.steps[a] + b - graph.out[m]
            if there[step] or not allowed[b] or graph.modifier[b] == graph.head[a]:
                continue
            if (
                np.isnan(known.grand[step]) == unknown
                and _grand(known, step, a, b) > duals.one_gp[b] + tolerance
            ):
                if count == len(steps):
                    steps = np.concatenate((steps, np.empty(count, np.int64)))
                steps[count] = step
                count += 1
    return steps[:count]


@kernel
def wanted_pairs(
    graph: Graph, known: Known, duals: Duals, inside: Flags, allowed: Flags, there: Flags, unknown: bool, tolerance: float
) -> NDArray[np.int64]:  # fmt: skip
    """The same for pairs of arcs inside that are worth more than after[b'] + before[b]."""
    count = 0
    pairs = np.empty(16, np.int64)
    for b in range(1, len(graph.head)):
        if not inside[b] or not allowed[b]:
            continue
        begin, _, _ = _side(graph, b)
        for k in range(graph.inner[b]):
            pair = graph.pairs[b] + k
            if there[pair] or not inside[begin + k] or not allowed[begin + k]:
                continue
            worth = _pair(known, pair, begin + k, b)
            if (
                np.isnan(known.pair[pair]) == unknown
                and worth > duals.after[begin + k] + duals.before[b] + tolerance
            ):
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty(count, np.int64)))
                pairs[count] = pair
                count += 1
    return pairs[:count]
