"""The local factors of belief propagation: the siblings on one side of a head, and the grandchildren through a word.

A factor is a distribution over some arcs. It takes for every arc the odds that the rest of the model gives it, and answers with the
odds that it gives the arc itself: all that has the arc against all that has not, the arc's own incoming odds left out. All are
logarithms, and no sum is found by a subtraction, so scores may be of any size. A factor whose scores are all 0 answers with 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats
from arcwise.sums.weights import log_add

_LARGEST = 1e12


class Parts(NamedTuple):
    """Scores of parts, or their probabilities, by the numbers of `arcwise.parts.graph`: arcs, first and last by arc, pair by pair,
    grand by step of level 1. Empty arrays say that there are no such factors: first, pair and last together, or grand.
    """

    arcs: Floats
    first: Floats
    pair: Floats
    last: Floats
    grand: Floats


class Messages(NamedTuple):
    """For every arc the log odds that its local factors give it, and what the tree factor believes when these are counted in.

    siblings: the factor of its head and side. lower: the grandchildren through its head, where it is the lower arc. upper: those
    through its modifier, where it is the upper arc; these are weights, of which a constant may be taken. belief: log odds.
    """

    siblings: Floats
    lower: Floats
    upper: Floats
    belief: Floats


class Scratch(NamedTuple):
    """Numbers for every arc, to work in."""

    odds: Floats  # incoming
    x: Floats
    y: Floats
    z: Floats


@inline_kernel
def softplus(x: float) -> float:
    """log(1 + e^x)."""
    return log_add(0.0, x)


@inline_kernel
def without(belief: float, message: float) -> float:
    """What is left of a belief without a message, within bounds: where messages swing, they may grow with every sweep.

    An arc that is impossible stays so.
    """
    return min(max(belief - message, -_LARGEST), _LARGEST) if belief > -np.inf else belief


@inline_kernel
def mixed(old: float, new: float, share: float) -> float:
    """The message to send: so much of it is new."""
    return new if share == 1.0 else old if share == 0.0 else (1.0 - share) * old + share * new


@inline_kernel
def probability(log_weight: float) -> float:
    """e^x, but 1 at most: rounding is relative to the size of the scores."""
    return np.exp(min(log_weight, 0.0))  # type: ignore[no-any-return]


@inline_kernel
def dissent(log_odds: float, believed: float) -> float:
    """How far the log odds of an arc are from what is believed of it."""
    difference: float = 1.0 / (1.0 + np.exp(-log_odds)) - believed
    return abs(difference)


@kernel
def siblings(
    graph: Graph, begin: int, end: int, scores: Parts, messages: Messages, share: float, scratch: Scratch, found: Parts
) -> tuple[float, float]:  # fmt: skip
    """The factor of the arcs begin .. end - 1, all that lead from one head to one side: a chain of those that are in the tree.

    Sends messages; a share of 0 says that nothing is to change, and the probabilities of first, pair and last are filled in.
    Returns the factor's term of log Z, and its greatest distance from the beliefs in `found.arcs`. O(k^2) time for k arcs: from the
    near end to the far one and back.
    """
    odds, before, upto, after = scratch
    total, free = 0.0, 0.0  # the empty chain
    for b in range(begin, end):
        free += softplus(messages.belief[b])
        odds[b] = without(messages.belief[b], messages.siblings[b])
        before[b], after[b] = scores.first[b], scores.last[b]
        for s in range(begin, b):
            before[b] = log_add(before[b], upto[s] + scores.pair[graph.pairs[b] + s - begin])
        upto[b] = before[b] + odds[b]
        total = log_add(total, upto[b] + after[b])
    worst, none = 0.0, 0.0
    for b in range(end - 1, begin - 1, -1):
        # after[s] is now all that may follow s beyond b, and `none` the same for no arc at all.
        skipped = none
        for s in range(begin, b):
            skipped = log_add(skipped, upto[s] + after[s])
        message = before[b] + after[b] - skipped
        worst = max(worst, dissent(odds[b] + message, found.arcs[b]))
        messages.siblings[b] = mixed(messages.siblings[b], message, share)
        onwards = odds[b] + after[b]
        none = log_add(none, scores.first[b] + onwards)
        for s in range(begin, b):
            pair = graph.pairs[b] + s - begin
            after[s] = log_add(after[s], scores.pair[pair] + onwards)
            if share == 0.0:
                found.pair[pair] = probability(upto[s] + scores.pair[pair] + onwards - total)
        if share == 0.0:
            found.first[b] = probability(scores.first[b] + onwards - total)
            found.last[b] = probability(upto[b] + scores.last[b] - total)
    return total - free, worst


@kernel
def grandchildren(
    graph: Graph, level: Level, v: int, scores: Parts, messages: Messages, share: float, scratch: Scratch, found: Parts
) -> tuple[float, float]:  # fmt: skip
    """The factor of the head of v, one of the arcs into v, and of all arcs from v, each scored together with that one.

    As `siblings`, but it is the probabilities of grand that are filled in. O(steps): given the arc into v, those from v do not depend
    on each other. So it does the work of a factor for every pair of arcs (Smith and Eisner 2008), in the same time and without the
    loops among these. An arc back to the head of v is not scored: no tree has both.
    """
    odds, on, off, below = scratch
    begin, end = graph.out[v], graph.out[v + 1]
    into = graph.into[graph.into_first[v] : graph.into_first[v + 1]]
    free, total = 0.0, -np.inf
    for b in range(begin, end):
        free += softplus(messages.belief[b])
        odds[b] = without(messages.belief[b], messages.lower[b])
        on[b] = off[b] = -np.inf
    for a in into:
        odds[a] = without(messages.belief[a] - softplus(messages.belief[a]), messages.upper[a])
        below[a] = 0.0
        for b in range(begin, end):
            step = level.steps[a] + b - begin
            score = scores.grand[step] if graph.modifier[b] != graph.head[a] else 0.0
            found.grand[step] = softplus(odds[b] + score)  # kept for the way back
            below[a] += found.grand[step]
        total = log_add(total, odds[a] + below[a])
    worst = 0.0
    for a in into:
        weight = odds[a] + below[a]
        worst = max(worst, abs(probability(weight - total) - found.arcs[a]))
        messages.upper[a] = mixed(messages.upper[a], below[a] - total, share)
        for b in range(begin, end):
            step, scored = level.steps[a] + b - begin, graph.modifier[b] != graph.head[a]
            rest, score = weight - found.grand[step], scores.grand[step] if scored else 0.0
            off[b], on[b] = log_add(off[b], rest), log_add(on[b], rest + score)
            if share == 0.0:
                found.grand[step] = probability(rest + score + odds[b] - total) if scored else 0.0
    for b in range(begin, end):
        message = on[b] - off[b]
        worst = max(worst, dissent(odds[b] + message, found.arcs[b]))
        messages.lower[b] = mixed(messages.lower[b], message, share)
    return total - free, worst
