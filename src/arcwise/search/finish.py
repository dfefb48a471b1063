"""The finish of dual decomposition: what the bound has left open is closed by fixing arcs, by better trees, and by branching.

At any multipliers the best value of a problem in which an arc must be, or must not be, bounds the score of all trees that have
it, or have it not. Where that is no more than the score of a tree already known, the arc is fixed, and nothing better is lost.
With fewer arcs left the bound falls, more arcs can be fixed, and so on. When that stalls, the search branches on an arc that is in
dispute. Every branch has fewer arcs, so it ends; if a budget ends it first, the bound of what is still open is the proven gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search.automata import Flags, chain_margins, edges_of, restrict
from arcwise.search.dual_decomposition import (
    STOPPED,
    Problem,
    State,
    Steps,
    descend,
    find_live,
    find_modifiers,
    find_tree,
    forget,
    make_state,
    option_value,
    score_modifiers,
    tree_work,
)
from arcwise.search.tree_search import arc_losses, bounded_heads, is_allowed, keep_rows


class Rounds(NamedTuple):
    """A round of steps, after which arcs are fixed: how many, and `Steps.polyak` and `Steps.patience`. progress: what share of the
    gap or of the arcs a round must take away to be followed by another one, instead of branching.
    """

    steps: int
    polyak: float
    patience: int
    progress: float


class Losses(NamedTuple):
    """By arc: of the automaton of its head, and of that of its modifier."""

    down: Floats
    up: Floats


class Finished(NamedTuple):
    """What the finish took: steps of the descent, rounds of fixing arcs, arcs fixed, trees improved by local search, branches."""

    steps: int
    rounds: int
    fixed: int
    improved: int
    branches: int


@kernel
def arcs_into(problem: Problem, m: int) -> Ints:
    """The arcs into a word, in any of its senses."""
    graph, vertices = problem.graph, problem.vertices
    return graph.into[graph.into_first[vertices[m]] : graph.into_first[vertices[m + 1]]]


@kernel
def automata_losses(problem: Problem, state: State) -> tuple[Losses, Losses]:
    """What the automata's value loses if an arc must not be taken, and if it must; `state` is fresh. O(edges)."""
    graph, automata = problem.graph, problem.automata
    arcs = len(graph.head)
    without, with_ = Losses(np.zeros(arcs), np.zeros(arcs)), Losses(np.zeros(arcs), np.zeros(arcs))
    after, have, lack = np.empty(len(automata.arc)), np.empty(arcs), np.empty(arcs)
    for i in range(len(problem.vertices) - 1):
        begin, end = graph.out[problem.vertices[i]], graph.out[problem.vertices[i + 1]]
        with_.down[begin:end] = without.down[begin:end] = np.inf
        second = -np.inf
        for o in range(automata.options[i], automata.options[i + 1]):
            value = option_value(automata, state, o)
            state.work[0] += 2 * edges_of(automata, o)
            if o != state.option[i]:
                second = max(second, value)
            loss = state.value[i] - value
            have[begin:end], lack[begin:end] = -np.inf, np.nan
            for side in range(2):
                c = 2 * o + side
                chain_margins(automata, c, state.u, state.best, after, have, lack)
                for b in range(automata.before[c] + 1, automata.seen[automata.nodes[c + 1] - 1] + 1):
                    with_.down[b] = min(with_.down[b], loss + state.chains[c] - have[b])
                    without.down[b] = min(without.down[b], loss + state.chains[c] - lack[b])
            for b in range(begin, end):
                if np.isnan(lack[b]):  # an arc of another sense: lacking at no cost
                    without.down[b] = min(without.down[b], loss)
        for o in range(automata.options[i], automata.options[i + 1] if i > 0 and problem.grand else 0):
            value = option_value(automata, state, o)
            with_.up[automata.up[o]] = state.value[i] - value
            if o == state.option[i]:
                without.up[automata.up[o]] = state.value[i] - second
    return without, with_


@kernel
def _greatest(losses: Floats) -> float:
    """The greatest finite one."""
    greatest = 0.0
    for loss in losses[1:]:
        if greatest < loss < np.inf:
            greatest = loss
    return greatest


@kernel
def spread_scores(problem: Problem, state: State, share: float) -> None:
    """Begin where the tree knows a share of what the automata know of every arc: of the loss if they must not take it, less that
    if they must. So the first tree is a good one, and few steps are left to make.
    """
    forget(state)
    total, _ = find_modifiers(problem, state)
    if total == -np.inf:
        return
    without, with_ = automata_losses(problem, state)
    # A loss may be infinite; great multipliers would cost the bound its last digits.
    far = max(_greatest(without.down), _greatest(with_.down), _greatest(without.up), _greatest(with_.up))
    for b in range(1, len(problem.graph.head)):
        state.u[b] += share * (min(without.down[b], far) - min(with_.down[b], far))
        if problem.grand:
            state.v[b] += share * (min(without.up[b], far) - min(with_.up[b], far))
    forget(state)


@kernel
def fix_arcs(problem: Problem, state: State, alive: Flags) -> int:
    """Take arcs out of `alive` that no tree better than the incumbent has, and those beside an arc that all of them have.

    At the multipliers of the least bound. Returns how many arcs were taken out, or -1 if that leaves no tree: the incumbent is then
    the best. O(n^2) for most arcs together, and a search for a tree for every other one, as far as the budget goes.
    """
    graph = problem.graph
    arcs = len(graph.head)
    state.u[:], state.v[:] = state.at[0], state.at[1]
    keep_rows(problem.trees, True)
    forget(state)
    of_tree, _ = find_tree(problem, state)
    of_automata, _ = find_modifiers(problem, state)
    bound, enough = of_tree + of_automata, state.incumbent[0] + problem.slack
    if bound <= enough:
        return -1
    without, with_ = automata_losses(problem, state)
    having, lacking = with_.down + with_.up, without.down + without.up
    S, fixed = state.S, 0
    for m in range(1, len(state.tree)):  # where the tree was read off, the matrix was marked
        S[graph.position[graph.head[state.tree[m]]], m] = state.u[state.tree[m]] + state.v[state.tree[m]]
    tree = state.tree.copy()
    column, losses = np.empty(len(tree)), np.zeros(arcs)
    arc_losses(S, problem.trees, of_tree, graph.position[graph.head], graph.position[graph.modifier], losses)
    for b in range(1, arcs):
        if problem.alive[b]:  # of several arcs between two words, only the best was looked at
            losses[b] += (
                S[graph.position[graph.head[b]], graph.position[graph.modifier[b]]] - state.u[b] - state.v[b]
            )
    for b in range(1, arcs):
        if not problem.alive[b] or not alive[b]:
            continue
        h, m = graph.position[graph.head[b]], graph.position[graph.modifier[b]]
        affordable = state.work[0] < problem.budget
        if tree[m] != b:
            gone = bound - having[b] - max(0.0, losses[b]) <= enough
            if not gone and affordable:
                state.work[0] += tree_work(problem)
                column[:] = S[:, m]
                S[:, m] = -np.inf
                S[h, m] = state.u[b] + state.v[b]
                loss = of_tree - bounded_heads(S, problem.trees, state.heads)
                S[:, m] = column
                gone = bound - having[b] - loss <= enough
            if gone:
                alive[b] = False
                fixed += 1
            continue
        into = arcs_into(problem, m)
        loss = np.inf
        for a in into:
            if a != b and problem.alive[a]:
                loss = min(loss, max(0.0, losses[a]))
        needed = bound - lacking[b] - loss <= enough
        if not needed and affordable:
            state.work[0] += tree_work(problem)
            kept, S[h, m] = S[h, m], -np.inf
            for a in into:
                if a != b and problem.alive[a] and graph.position[graph.head[a]] == h:
                    S[h, m] = max(S[h, m], state.u[a] + state.v[a])
            loss = of_tree - bounded_heads(S, problem.trees, state.heads)
            S[h, m] = kept
            needed = bound - lacking[b] - loss <= enough
        if bound - having[b] <= enough:
            alive[b] = False
            fixed += 1
        for a in into:
            if needed and a != b and alive[a]:
                alive[a] = False
                fixed += 1
    for m in range(1, len(tree)):
        if not alive[arcs_into(problem, m)].any():
            return -1
    return fixed


@kernel
def _allowed(problem: Problem, tree: Ints) -> bool:
    """Whether a tree, given by its arcs, is of the class asked for."""
    graph, heads = problem.graph, np.full(len(tree), -1, np.int32)
    for m in range(1, len(tree)):
        heads[m] = graph.position[graph.head[tree[m]]]
    return bool(is_allowed(problem.trees, heads))


@kernel
def climb(problem: Problem, state: State) -> bool:
    """Better the incumbent by changing one head at a time, as long as that helps and the budget lasts: whether it did. Not for
    projective trees.

    A change costs the scores of the three automata that see it.
    """
    graph = problem.graph
    tree = state.best_tree
    y = np.zeros(len(graph.head), np.bool_)
    score = state.incumbent[0]
    if score == -np.inf or problem.trees.projective:
        return False
    for m in range(1, len(tree)):
        y[tree[m]] = True
    improved, again = False, True
    while again:
        again = False
        for m in range(1, len(tree)):
            for b in arcs_into(problem, m):
                old = tree[m]
                if b == old or not problem.alive[b] or graph.modifier[b] != graph.modifier[old]:
                    continue
                if state.work[0] >= problem.budget:
                    break
                g, h = graph.position[graph.head[old]], graph.position[graph.head[b]]
                if problem.trees.single_root and (g == 0) != (h == 0):
                    continue
                ancestor = h
                while ancestor != 0 and ancestor != m:
                    ancestor = graph.position[graph.head[tree[ancestor]]]
                if ancestor == m or (h > 0 and graph.head[b] != graph.modifier[tree[h]]):
                    continue
                before = after = 0.0
                for turn in range(2):
                    total = score_modifiers(problem, state, g, tree[g], y)
                    if h != g:
                        total += score_modifiers(problem, state, h, tree[h], y)
                    if problem.grand:
                        total += score_modifiers(problem, state, m, tree[m], y)
                    if turn == 0:
                        before = total
                        y[old], y[b], tree[m] = False, True, b
                    else:
                        after = total
                if after > before and score + after - before > score and _allowed(problem, tree):
                    score += after - before
                    improved = again = True
                else:
                    y[old], y[b], tree[m] = True, False, old
    if improved:
        score = 0.0
        for i in range(len(tree)):
            score += score_modifiers(problem, state, i, tree[i], y)
        improved = score > state.incumbent[0]
        state.incumbent[0] = max(score, state.incumbent[0])
    return improved


@kernel
def _disputed(problem: Problem, alive: Flags, votes: Ints, half: int) -> int:
    """The arc that y, z and up took nearest to half of the time, of those whose words may have another head; -1 if there is none."""
    dispute, least = -1, np.int64(1 << 30)
    for m in range(1, len(problem.vertices) - 1):
        into = arcs_into(problem, m)
        if alive[into].sum() > 1:
            for b in into:
                if alive[b] and abs(votes[b] - half) < least:
                    dispute, least = b, abs(votes[b] - half)
    return dispute


@kernel
def _leave(problem: Problem, arc: int, inside: bool, alive: Flags) -> None:
    """Leave in `alive` only what goes with an arc, or without it."""
    if not inside:
        alive[arc] = False
        return
    m = problem.graph.position[problem.graph.modifier[arc]]
    for a in arcs_into(problem, m):
        alive[a] = a == arc


@kernel
def finish(problem: Problem, state: State, each: Rounds) -> Finished:
    """Close the gap between the incumbent and the bound of `state`, which are then those of the whole problem.

    When the budget is used up, the bound is that of the branches still open. Depth first: memory O(arcs) a branch.
    """
    arcs = len(problem.graph.head)
    taken = rounds = fixed = improved = branches = 0
    room, no_trace, votes = 16, np.empty((0, 3)), np.zeros(arcs, np.int32)
    alive = np.empty((room, arcs), np.bool_)  # of the open branches
    u, v, bounds = np.empty((room, arcs)), np.empty((room, arcs)), np.empty(room)
    alive[0], u[0], v[0], bounds[0] = problem.alive, state.at[0], state.at[1], state.least[0]
    count, climbed = 1, -np.inf
    while count > 0 and state.work[0] < problem.budget:
        if state.incumbent[0] > climbed:
            improved += 1 if climb(problem, state) else 0
            climbed = state.incumbent[0]
        top = count - 1
        if bounds[top] <= state.incumbent[0] + problem.slack:
            count -= 1
            continue
        here, before = alive[top], bounds[top]
        left = here.sum()
        automata = restrict(problem.automata, here)
        part = Problem(
            problem.graph,
            automata,
            problem.grand,
            problem.trees,
            here,
            problem.slack,
            problem.vertices,
            problem.budget,
            find_live(problem.graph, here),
        )
        state.work[0] += len(automata.source)
        below = make_state(part, u[top], v[top], state.incumbent[0], state.best_tree, state.work)
        votes[:] = 0
        rounds += 1
        outcome = descend(part, below, Steps(each.steps, each.polyak, each.patience), votes, no_trace)
        taken += outcome.steps
        if below.incumbent[0] > state.incumbent[0]:
            state.incumbent[0] = below.incumbent[0]
            state.best_tree[:] = below.best_tree
        gone = -1
        if outcome.code == STOPPED and below.least[0] > state.incumbent[0] + problem.slack:
            gone = fix_arcs(part, below, here)
        if gone < 0:
            count -= 1
            continue
        fixed += gone
        u[top], v[top], bounds[top] = below.at[0], below.at[1], min(before, below.least[0])
        gap = before - state.incumbent[0]
        if bounds[top] < before - each.progress * gap or gone > each.progress * left:
            continue  # another round
        dispute = _disputed(problem, here, votes, 2 * each.steps)
        if dispute < 0:  # only one tree is left, and it was found
            count -= 1
            continue
        branches += 1
        if count == room:
            room *= 2
            alive = np.concatenate((alive, np.empty_like(alive)))
            u, v = np.concatenate((u, np.empty_like(u))), np.concatenate((v, np.empty_like(v)))
            bounds = np.concatenate((bounds, np.empty_like(bounds)))
        alive[count], u[count], v[count], bounds[count] = alive[top], u[top], v[top], bounds[top]
        inside = votes[dispute] > 2 * each.steps  # the likelier branch lies on top
        _leave(problem, dispute, not inside, alive[top])
        _leave(problem, dispute, inside, alive[count])
        count += 1
    state.least[0] = state.incumbent[0]
    for k in range(count):
        state.least[0] = max(state.least[0], bounds[k])
    return Finished(taken, rounds, fixed, improved, branches)
