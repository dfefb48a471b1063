"""Dual decomposition: the best tree of arcs and the best modifiers of every word, made to agree (Koo et al. 2010, figures 1 and 2).

    L(u, v) = max over trees y of  sum over arcs (u + v) y   +   sum over words of  max over z, z' of  f(z, z') - u z - v z'

is an upper bound on the score of every tree, whatever u and v. Where the tree y, the modifiers z that automata take and the heads z'
that they suppose are the same arcs, the tree is the best one. Until then u and v move by steps of z - y and z' - y. The paper's
terms gamma(i, j), the share beta of an arc's own score that the tree keeps, are nothing but where u begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Ints, Numbers
from arcwise.parts.tables import Floats
from arcwise.search.automata import Automata, Flags, best_chain, chain_score, edges_of, mark_chain
from arcwise.search.tree_search import (
    ShapedSearch,
    TreeSearch,
    bounded_heads,
    is_allowed,
    keep_rows,
    move_rows,
    row_slopes,
)

# How a descent ended: y = z; the bound met the best score seen; after so many steps, or so much work; no tree scores more than -inf.
AGREED, CLOSED, STOPPED, NOTHING = range(4)
LEFT, RIGHT, UP = 1, 2, 4  # what of an automaton has changed
_ROUNDING = 1e-9  # of values, by which an option must be worse than another to be left out: more than sums may be off by


class Live(NamedTuple):
    """The arcs that a tree may have, and the words above and below each."""

    arc: Ints
    head: Ints
    modifier: Ints


class Problem(NamedTuple):
    """A sentence to search. grand: whether automata fix the arc into their word. alive: arcs that a tree may have; alive[0] is True.

    slack: a tree that is better than another by no more than this counts as no better. vertices: those of word i are vertices[i] ..
    vertices[i + 1] - 1. budget: of work, after which the search gives up. live: the arcs alive.
    """

    graph: Graph
    automata: Automata
    grand: bool
    trees: TreeSearch | ShapedSearch
    alive: Flags
    slack: float
    vertices: Ints
    budget: int
    live: Live


class State(NamedTuple):
    """Where a descent is. All is kept from step to step, so that only what changed is computed again (section 7.4), and of that only
    what may be the best: an option's chains gain no more than the costs of arcs fell.

    u, v: the multipliers. tree: the arc into each word, y; 0 for the root. y, z, up: flags of arcs; z are the modifiers that automata
    take, up the arcs that they suppose into their words. of_tree: f_i(y) of each word; stale, other: what of its automaton's costs,
    and whether its share of y, has changed. value, option: of each automaton, the best. chains: of each chain, the best, and `made`,
    by which change of its side; changes: of both sides of each automaton, how many there were. fallen: of each automaton, what its
    arcs' costs have fallen by in all; most: of each option, with what they fell by since, a bound on its chains. best, back,
    taken: of nodes. incumbent: the best score of a tree so far; best_tree: that tree. least: the least bound so far; at: the
    multipliers that gave it. work: what was done so far, in edges of automata and pairs of words that were looked at.
    """

    u: Floats
    v: Floats
    S: Floats
    heads: Ints
    tree: Ints
    y: Flags
    z: Flags
    up: Flags
    of_tree: Floats
    stale: Ints
    other: Flags
    value: Floats
    option: Ints
    chains: Floats
    made: Ints
    changes: Ints
    fallen: Floats
    most: Floats
    best: Floats
    back: Ints
    taken: Ints
    incumbent: Floats
    best_tree: Ints
    least: Floats
    at: tuple[Floats, Floats]
    work: Numbers


class Steps(NamedTuple):
    """How long steps are: delta / (1 + times that the bound rose), where delta is the first bound less the first tree's score
    (appendix A.1). Or, if polyak > 0, that share of (bound - incumbent) / |z - y|^2, halved whenever `patience` steps did not lower
    the bound (Polyak 1969).
    """

    most: int
    polyak: float
    patience: int


class Outcome(NamedTuple):
    """How a descent ended, after how many steps, for how many of them automata were computed anew, summed over automata."""

    code: int
    steps: int
    recomputed: int


@kernel
def make_vertices(graph: Graph) -> Ints:
    """Where the vertices of each word begin, and the end."""
    words = graph.position[-1] + 1
    vertices = np.zeros(words + 1, np.int32)
    for v in range(len(graph.position)):
        vertices[graph.position[v] + 1] = v + 1
    return vertices


@kernel
def find_live(graph: Graph, alive: Flags) -> Live:
    """The arcs that are flagged, but for arc 0."""
    arc = np.flatnonzero(alive[1:]).astype(np.int32) + np.int32(1)
    head, modifier = np.empty_like(arc), np.empty_like(arc)
    for k in range(len(arc)):
        head[k], modifier[k] = graph.position[graph.head[arc[k]]], graph.position[graph.modifier[arc[k]]]
    return Live(arc, head, modifier)


@kernel
def make_state(
    problem: Problem, u: Floats, v: Floats, incumbent: float, best_tree: Ints, work: Numbers
) -> State:
    """The state before the first step. u, v: where the multipliers begin. incumbent: -inf if no tree is known. work: counted on."""
    words, arcs, nodes = len(problem.vertices) - 1, len(problem.graph.head), len(problem.automata.arc)
    chains, options = len(problem.automata.before), len(problem.automata.up)
    return State(
        u.copy(), v.copy(), np.full((words, words), -np.inf), np.empty(words, np.int32), np.zeros(words, np.int32),
        np.zeros(arcs, np.bool_), np.zeros(arcs, np.bool_), np.zeros(arcs, np.bool_), np.zeros(words),
        np.full(words, LEFT | RIGHT | UP, np.int32), np.ones(words, np.bool_), np.zeros(words), np.full(words, -1, np.int32),
        np.empty(chains), np.zeros(chains, np.int32), np.ones(2 * words, np.int32), np.zeros(words), np.full(options, np.inf),
        np.empty(nodes), np.empty(nodes, np.int32), np.empty(nodes, np.int32),
        np.full(1, incumbent), best_tree.copy(), np.full(1, np.inf), (u.copy(), v.copy()), work,
    )  # fmt: skip


@kernel
def tree_work(problem: Problem) -> int:
    """What a search for a tree takes."""
    words = len(problem.vertices) - 1
    return words * words * (words if problem.trees.projective else 1)


@kernel
def find_tree(problem: Problem, state: State) -> tuple[float, float]:
    """The best tree y under u + v: its value, or a bound on it, -inf if there is none; and how far it is from the class of trees that
    is searched for (`arcwise.search.tree_search.row_slopes`). O(n^2), or O(n^3) if projective.
    """
    graph, S, (arc, head, modifier) = problem.graph, state.S, problem.live
    state.work[0] += len(arc) + tree_work(problem)
    for k in range(len(arc)):
        S[head[k], modifier[k]] = -np.inf
    for k in range(len(arc)):
        h, m = head[k], modifier[k]
        S[h, m] = max(S[h, m], state.u[arc[k]] + state.v[arc[k]])
    value: float = bounded_heads(S, problem.trees, state.heads)
    away: float = row_slopes(S, problem.trees, state.heads) if value > -np.inf else 0.0
    for k in range(len(arc) if value > -np.inf else 0):
        b, h, m = arc[k], head[k], modifier[k]
        if state.heads[m] != h or state.u[b] + state.v[b] != S[h, m]:
            continue
        S[h, m] = np.inf  # taken: no other arc between the two
        old = state.tree[m]
        if old != b:
            if old > 0:
                state.y[old] = False
                state.other[graph.position[graph.head[old]]] = True
            state.y[b], state.tree[m] = True, b
            state.other[h] = True
            if problem.grand:
                state.other[m] = True
    return value, away


@kernel
def option_value(automata: Automata, state: State, o: int) -> float:
    """What an option is worth, with the best chains of its sides."""
    value: float = state.chains[2 * o] + state.chains[2 * o + 1] - state.v[automata.up[o]]
    return value


@kernel
def forget(state: State) -> None:
    """Nothing is known of any automaton: all options are computed when they are asked for next."""
    state.stale[:] = LEFT | RIGHT | UP
    state.changes[:] += 1
    state.most[:] = np.inf


@kernel
def _compute(problem: Problem, state: State, i: int, o: int) -> float:
    """What an option of automaton i is worth, its chains computed again where the costs of their arcs have changed."""
    automata = problem.automata
    for side in range(2):
        c = 2 * o + side
        if state.made[c] != state.changes[2 * i + side]:
            state.made[c] = state.changes[2 * i + side]
            state.work[0] += edges_of(automata, o)
            state.chains[c] = best_chain(automata, c, state.u, state.best, state.back)
    state.most[o] = state.chains[2 * o] + state.chains[2 * o + 1] - state.fallen[i]
    return option_value(automata, state, o)


@kernel
def find_modifiers(problem: Problem, state: State) -> tuple[float, int]:
    """The best modifiers z of every word, and their value; -inf if some word has none. And how many automata had to be computed.

    Of several best options the first is taken.
    """
    graph, automata, vertices = problem.graph, problem.automata, problem.vertices
    total, recomputed = 0.0, 0
    for i in range(len(vertices) - 1):
        if state.stale[i] != 0:
            recomputed += 1
            top, chosen, last = -np.inf, -1, state.option[i]
            if last >= 0:
                top, chosen = _compute(problem, state, i, last), last
                chosen = chosen if top > -np.inf else -1
            for o in range(automata.options[i], automata.options[i + 1]):
                most = state.most[o] + state.fallen[i] - state.v[automata.up[o]]
                if o == last or most < top - _ROUNDING * (abs(top) + state.fallen[i]):
                    continue
                value = _compute(problem, state, i, o)
                if value > top or (value == top and o < chosen):
                    top, chosen = value, o
            state.stale[i], state.value[i], state.option[i] = 0, top, chosen
            first, last = vertices[i], vertices[i + 1]
            state.z[graph.out[first] : graph.out[last]] = False
            for k in range(graph.into_first[first], graph.into_first[last]):
                state.up[graph.into[k]] = False
            if chosen >= 0:
                mark_chain(automata, 2 * chosen, state.back, state.z)
                mark_chain(automata, 2 * chosen + 1, state.back, state.z)
                state.up[automata.up[chosen]] = automata.up[chosen] > 0
        total += state.value[i]
    return total, recomputed


@kernel
def score_modifiers(problem: Problem, state: State, i: int, up: int, y: Flags) -> float:
    """f_i(y): the score of word i with the modifiers that are flagged, if the arc `up` leads into it; -inf if it may not be so."""
    graph, automata, top = problem.graph, problem.automata, -np.inf
    for v in range(problem.vertices[i], problem.vertices[i + 1]):
        if v != graph.modifier[up] and y[graph.out[v] : graph.out[v + 1]].any():
            return top  # a word is left in another sense than it is entered
    for o in range(automata.options[i], automata.options[i + 1]):
        if automata.up[o] == up or automata.up[o] == 0:
            state.work[0] += edges_of(automata, o)
            left = chain_score(automata, 2 * o, y, state.best, state.taken)
            if left > -np.inf:
                top = max(top, left + chain_score(automata, 2 * o + 1, y, state.best, state.taken))
    return top


@kernel
def score_tree(problem: Problem, state: State) -> float:
    """f(y), the score of the tree that was found; only for words whose share of it has changed is anything computed."""
    total = 0.0
    for i in range(len(state.tree)):
        if state.other[i]:
            # `best` of the chains is written over, so that they must be computed when they are asked for next: only `back` counts.
            state.of_tree[i] = score_modifiers(problem, state, i, state.tree[i], state.y)
            state.other[i] = False
        total += state.of_tree[i]
    return total


@kernel
def descend(problem: Problem, state: State, steps: Steps, votes: Ints, trace: Floats) -> Outcome:
    """Lower the bound step by step, until y = z, the bound meets the incumbent, `steps.most` were made, or the budget is used up.

    O(n^2) a step for the spanning tree and O(edges) for the automata whose multipliers changed. votes: counted up for every arc
    and step, 1 for y, z and up each that has it; empty if nobody asks. trace: (steps, 3) filled with bound, score of the tree and the
    number of automata computed anew, or (0, 3).
    """
    graph, (arc, head, modifier) = problem.graph, problem.live
    apart_at = np.empty(len(arc), np.int32)
    delta, rises, last = 0.0, 0, np.inf
    share, since = steps.polyak, 0
    recomputed = 0
    for k in range(steps.most):
        bound, apart = find_tree(problem, state)
        of_automata, anew = find_modifiers(problem, state)
        bound += of_automata
        recomputed += anew
        if bound == -np.inf:
            state.least[0] = bound
            return Outcome(NOTHING, k + 1, recomputed)
        score = score_tree(problem, state)
        if k < len(trace):
            trace[k, 0], trace[k, 1], trace[k, 2] = bound, score, anew
        if score > state.incumbent[0] and is_allowed(problem.trees, state.heads):
            state.incumbent[0] = score
            state.best_tree[:] = state.tree
        since += 1
        if bound < state.least[0]:
            state.least[0] = bound
            state.at[0][:], state.at[1][:] = state.u, state.v
            keep_rows(problem.trees, False)
            since = 0
        different = 0
        for j in range(len(arc)):
            b = arc[j]
            unlike, above = state.z[b] != state.y[b], problem.grand and state.up[b] != state.y[b]
            apart += np.int64(unlike) + np.int64(above)
            apart_at[different] = j
            different += unlike or above
        if apart == 0:
            state.least[0] = min(bound, score)
            return Outcome(AGREED, k + 1, recomputed)
        if state.least[0] <= state.incumbent[0] + problem.slack:
            return Outcome(CLOSED, k + 1, recomputed)
        if state.work[0] >= problem.budget:
            return Outcome(STOPPED, k + 1, recomputed)
        if steps.polyak > 0.0:
            if since >= steps.patience:
                share, since = 0.5 * share, 0
            length = share * (bound - max(state.incumbent[0], bound - abs(bound) - 1.0)) / apart
        else:
            if k == 0:
                delta = bound - score if score > -np.inf else (abs(bound) + 1.0) / len(graph.head)
            rises += bound > last
            last = bound
            length = delta / (1.0 + rises)
        move_rows(problem.trees, length)
        for j in apart_at[:different]:
            b, i = arc[j], head[j]
            y, z = state.y[b], state.z[b]
            if z != y:
                right = b >= graph.right[graph.head[b]]
                state.u[b] += length if z else -length
                state.stale[i] |= RIGHT if right else LEFT
                state.changes[2 * i + right] += 1
                if not z:
                    state.fallen[i] += length
            if problem.grand and state.up[b] != y:
                state.v[b] += length if state.up[b] else -length
                state.stale[modifier[j]] |= UP
        if len(votes) > 0:
            for b in arc:
                votes[b] += 2 * np.int32(state.y[b]) + np.int32(state.z[b]) + np.int32(state.up[b])
    return Outcome(STOPPED, steps.most, recomputed)
