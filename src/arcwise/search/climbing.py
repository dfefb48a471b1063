"""Randomized greedy search: from a random tree uphill, one head at a time, again and again.

Zhang, Lei, Barzilay and Jaakkola (2014), figure 1. A pass goes through the words from those farthest from the root upwards and gives
each the head with which the tree scores most; passes go on until none changes anything. The tree is then a local optimum: no other
head of a single word betters it. With exactly one root no single change can replace the root, so a pass also tries to make a word the
root and to hang the old root below it, in one move.

A pass takes one evaluation for each arc, which costs the families it changes (`arcwise.search.hill`). Nothing is proved by climbing
itself; but a tree whose score meets a bound that some other search has proved is the best there is, and climbing stops there.

Start trees are drawn by Wilson's algorithm, uniformly or from the first-order distribution. Every run has a stream of random numbers
of its own, so its tree depends on nothing but seed and number. A score of whole trees (`arcwise.parts.whole`) may be added: a run
then climbs by the tables, which is cheap, and the best trees that runs end in climb on by everything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel, lean_kernel, merged_kernel
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Floats
from arcwise.parts.whole import whole_score
from arcwise.search.hill import (
    Hill,
    Tree,
    below_score,
    is_below,
    make_tree,
    refresh,
    set_arc,
    side_score,
    stand,
    total_score,
)
from arcwise.search.spanning_tree import make_room as make_search_room
from arcwise.search.spanning_tree import spanning_tree
from arcwise.search.status import FOUND
from arcwise.sums.chance import State, start_stream
from arcwise.sums.matrix_tree import Factors, Room, factorise, make_room
from arcwise.sums.wilson import begin_draws, draw_tree

# Where runs begin: at the first-order best tree and then at trees drawn from the first-order distribution; at those drawn from it
# only; at trees drawn uniformly; at the first-order best tree only.
STARTS = ("best-first", "first-order", "uniform", "best")
BEST_FIRST, FIRST_ORDER, UNIFORM, BEST = range(4)
# In a row without a better tree, unless told otherwise; 300 in training, as the paper has it, make no better models.
RESTARTS, TRAINING_RESTARTS = 100, 10
_SHARPNESS = 5.0
FINALISTS = 4  # trees of the runs that climb on by the score of whole trees
_ENOUGH = 64  # changes seen before what they gained tells what others may gain
MOST = 1 << 16  # runs for a sentence, whatever they find
_PRIME = np.uint64(0x100000001B3)


class Climbing(NamedTuple):
    """How a sentence is climbed: runs in a row without a better tree before it ends; where they begin, an index of `STARTS`; the seed
    of what is drawn; whether to look for a bound first, where a search can prove one, and to stop at a tree that meets it; runs at
    the most, whatever they find.
    """

    restarts: int = RESTARTS
    starts: int = BEST_FIRST
    seed: int = 0
    bounded: bool = True
    most: int = MOST


class Climbed(NamedTuple):
    """What climbing took. score: of the best tree. runs: how many there were. best: which found it. tops: how many different trees
    the runs ended in before the score of whole trees came in. changes: heads that were changed.
    """

    score: float
    runs: int
    best: int
    tops: int
    changes: int


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
    if starts == UNIFORM:
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


@lean_kernel
def place(hill: Hill, tree: Tree, heads: Ints) -> float:
    """Stand at the tree with these heads, by the best arc where several join two words; returns its score by the tables."""
    for m in range(1, len(heads)):
        best, top = -1, -np.inf
        for k in range(hill.into_first[m], hill.into_first[m + 1]):
            b = hill.into[k]
            score = hill.scores[hill.at.step + b] if hill.kind.incomplete == 0 else 0.0
            if hill.head[b] == heads[m] and (best < 0 or score > top):
                best, top = b, score
        tree.up[m] = best
    return stand(hill, tree)


@kernel
def order_bottom_up(tree: Tree) -> None:
    """Fill `order` with the words, those farthest from the root first, the smaller first of equals. O(n * depth)."""
    n, depths = len(tree.up) - 1, np.empty(len(tree.up), np.int32)
    deepest = 0
    for m in range(1, n + 1):
        depth, word = 0, m
        while word > 0:
            word = tree.heads[word]
            depth += 1
        depths[m] = depth
        deepest = max(deepest, depth)
    counts = np.zeros(deepest + 2, np.int32)
    for m in range(1, n + 1):
        counts[deepest - depths[m] + 1] += 1
    for depth in range(deepest):
        counts[depth + 1] += counts[depth]
    for m in range(1, n + 1):
        at = deepest - depths[m]
        tree.order[counts[at]] = m
        counts[at] += 1


@merged_kernel
def _is_settled(hill: Hill, tree: Tree, m: int) -> bool:
    """Whether nothing that decides about the head of m has changed since it was found to be the best."""
    looked = tree.looked[m]
    if tree.changed[m] >= looked:
        return False
    settled = True
    for k in range(hill.into_first[m], hill.into_first[m + 1]):
        settled &= tree.changed[hill.head[hill.into[k]]] < looked
    return settled


@merged_kernel
def _best_change(
    hill: Hill, tree: Tree, m: int, whole: Any, present: float, hope: float, base: int
) -> tuple[int, float]:
    """The arc that gains most in place of the one into m, -1 if none gains, and what it gains. present: what the tree scores as a
    whole. hope: what a change may gain by that at most. The number of roots stays as it is, if it is one.
    """
    tree.looked[m] = tree.clock[0] + 1
    old = int(tree.up[m])
    h = int(hill.head[old])
    below = 2 if hill.kind.complete > 1 else int(hill.kind.complete == 1 or hill.at.none >= 0)
    before = tree.family[h, int(m > h)] + below_score(hill, tree, m, False)
    without, best, top = 0.0, -1, hill.least
    for k in range(hill.into_first[m] - 1, hill.into_first[m + 1]):
        a = old if k < hill.into_first[m] else int(hill.into[k])
        g = int(hill.head[a])
        if k >= hill.into_first[m]:
            if a == old or (hill.single_root and (g == 0) != (h == 0)):
                continue
            if g != h and is_below(tree, g, m):
                tree.looked[m] = 0  # what is below may change without any of these families
                continue
        known = tree.known
        if g == h and a != old:
            tree.taken[old] = False
        if known[a, 1] > tree.changed[g] and (g != h or a == old):
            with_it = known[a, 0]
        else:
            tree.taken[a] = not tree.taken[a]
            with_it = side_score(hill, tree, g, int(m > g))
            tree.taken[a] = not tree.taken[a]
            if tree.changed[g] <= base and (g != h or a == old):
                known[a, 0], known[a, 1] = with_it, base + 1
        tree.taken[old] = True
        if a == old:
            without = with_it
            continue
        gain = with_it - before
        if below > 0:
            if below == 1 and known[a, 3] > tree.changed[m]:
                gain += known[a, 2]
            else:
                tree.up[m], tree.heads[m] = a, g
                under = below_score(hill, tree, m, True)
                tree.up[m], tree.heads[m] = old, h
                gain += under
                if tree.changed[m] <= base:
                    known[a, 2], known[a, 3] = under, base + 1
        if g != h:
            gain += without - tree.family[g, int(m > g)]
        if gain + hope > top:
            tree.heads[m] = g
            more = whole_score(whole, tree.heads, False) - present
            tree.heads[m] = h
            tree.reach[0], tree.reach[1] = max(tree.reach[0], more), tree.reach[1] + 1
            gain += more
            if gain > top:
                best, top = a, gain
    return best, top


@lean_kernel
def _try_root(
    hill: Hill, tree: Tree, m: int, arc: int, whole: Any, present: float, hope: float
) -> tuple[int, float]:  # fmt: skip
    """The arc into the old root that gains most when `arc` makes m the root in its place, -1 if none gains, and what it gains."""
    root = m
    while tree.heads[root] > 0:
        root = int(tree.heads[root])
    old, old_of_root, h = int(tree.up[m]), int(tree.up[root]), int(tree.heads[m])
    everyone = hill.kind.complete > 1  # else only families around the words that change
    best, top = -1, hill.least
    for k in range(hill.into_first[root], hill.into_first[root + 1]):
        b = int(hill.into[k])
        x = int(hill.head[b])
        if x == 0 or not is_below(tree, x, m):
            continue
        set_arc(hill, tree, m, arc)
        set_arc(hill, tree, root, b)
        gain = 0.0
        for word in range(len(tree.up)):
            if everyone or (word - h) * (word - m) * (word - root) * (word - x) * word == 0:
                for side in range(2):
                    gain += side_score(hill, tree, word, side) - tree.family[word, side]
        if gain + hope > top:
            gain += whole_score(whole, tree.heads, False) - present
            if gain > top:
                best, top = b, gain
        set_arc(hill, tree, root, old_of_root)
        set_arc(hill, tree, m, old)
    return best, top


@lean_kernel
def climb(hill: Hill, tree: Tree, whole: Any, present: float, local: bool, hasty: bool) -> tuple[int, float]:
    """Climb from a tree to a local optimum; returns how many changes that took, and what the tree then scores as a whole.

    present: what it scores as a whole now. local: whether trees score nothing as wholes, so that a word need not be looked at again
    before something around it has changed. hasty: do not look at changes which by the tables lose twice as much as any was seen to
    gain by the score of whole trees; what is found need not be a local optimum then. Ties keep the head.
    """
    changes, before = 0, -1
    while changes != before:
        before = changes
        order_bottom_up(tree)
        for place in range(len(tree.up) - 1):
            m = int(tree.order[place])
            h, root = int(tree.heads[m]), 0
            if local and _is_settled(hill, tree, m):
                continue
            hope = 0.0 if local else (2.0 * tree.reach[0] if hasty and tree.reach[1] >= _ENOUGH else np.inf)
            arc, gain = _best_change(hill, tree, m, whole, present, hope, tree.clock[0])
            if hill.single_root and h != 0:
                for k in range(hill.into_first[m], hill.into_first[m + 1]):
                    a = int(hill.into[k])
                    if hill.head[a] == 0:
                        tree.looked[m] = 0
                        other, more = _try_root(hill, tree, m, a, whole, present, hope)
                        if other >= 0 and more > gain:
                            arc, gain, root = a, more, other
            if arc < 0:
                continue
            changes += 1
            tree.clock[0] += 1
            tree.looked[m] = 0
            set_arc(hill, tree, m, arc)
            if root > 0:
                set_arc(hill, tree, int(hill.modifier[root]), root)
                for word in range(len(tree.up)):
                    refresh(hill, tree, word, False)
            else:
                refresh(hill, tree, h, False)
                refresh(hill, tree, int(tree.heads[m]), False)
                refresh(hill, tree, m, True)
            present = whole_score(whole, tree.heads, True)
    return changes, present


@lean_kernel
def _tree_key(tree: Ints, kind: int) -> np.uint64:
    key = np.uint64(kind)
    for m in range(1, len(tree)):
        key = (key ^ np.uint64(tree[m])) * _PRIME
        key ^= key >> np.uint64(29)
    return key


@lean_kernel
def _is_new(seen: NDArray[np.uint64], key: np.uint64) -> bool:
    """Whether a key is met for the first time; it is then kept. 0 is a free place."""
    key, mask = key | np.uint64(1), np.uint64(len(seen) - 1)
    at = (key >> np.uint64(7)) & mask
    while seen[at] != 0:
        if seen[at] == key:
            return False
        at = (at + np.uint64(1)) & mask
    seen[at] = key
    return True


@kernel
def run(hill: Hill, tree: Tree, draws: Draws, number: int, heads: Ints) -> float:
    """Make one run by the tables alone: `tree` is then its local optimum. Returns its score; heads: scratch."""
    start_tree(draws, number, heads)
    place(hill, tree, heads)
    climb(hill, tree, None, 0.0, True, False)
    return total_score(tree)


@kernel
def climb_often(
    hill: Hill, whole: Any, draws: Draws, restarts: int, most: int, bound: float, thorough: bool, best: Ints
) -> Climbed:  # fmt: skip
    """Climb until so many runs in a row found no better tree, `most` were made, or one met the bound; fills `best` with its arcs.

    bound: what no tree exceeds, or inf. With a score of whole trees none is known, and it must be inf. Runs climb by the tables; a
    run that begins where an earlier one began would end where that did, and is left out. The FINALISTS best trees that they end in,
    each scored as a whole, then climb by everything, hastily; the best of these, if it must be thorough, until no change of one head
    betters it.
    """
    words = len(best)
    tree, heads = make_tree(words, len(hill.head)), np.empty(words, np.int32)
    seen, keys = np.zeros(1024, np.uint64), 0
    finalists, scores = np.zeros((FINALISTS, words), np.int32), np.full(FINALISTS, -np.inf)
    at, tops, changes, number = 0, 0, 0, 0
    most = 1 if draws.starts == BEST else most
    while number < most and (number == 0 or number - at < restarts) and scores[0] < bound - hill.least:
        start_tree(draws, number, heads)
        number += 1
        if 2 * (keys + 2) > len(seen):
            older, seen = seen, np.zeros(2 * len(seen), np.uint64)
            for key in older:
                if key != 0:
                    _is_new(seen, key)
        if not _is_new(seen, _tree_key(heads, 1)):
            continue
        keys += 1
        place(hill, tree, heads)
        more, _ = climb(hill, tree, None, 0.0, True, False)
        changes += more
        if not _is_new(seen, _tree_key(tree.up, 2)):
            continue
        keys += 1
        tops += 1
        found = total_score(tree) + whole_score(whole, tree.heads, tops == 1)
        if found > scores[0] + (hill.least if number > 1 else 0.0):
            at = number
        place_of = 0
        while place_of < FINALISTS and scores[place_of] >= found:
            place_of += 1
        if place_of < FINALISTS:
            for k in range(FINALISTS - 1, place_of, -1):
                finalists[k], scores[k] = finalists[k - 1], scores[k - 1]
            finalists[place_of], scores[place_of] = tree.up, found
    score = scores[0]
    best[:] = finalists[0]
    for k in range(FINALISTS + 1):
        if k < FINALISTS:
            if scores[k] == -np.inf:
                continue
            tree.up[:] = finalists[k]
        elif thorough:
            tree.up[:] = best
        else:
            break
        stand(hill, tree)
        more, worth = climb(hill, tree, whole, whole_score(whole, tree.heads, True), False, k < FINALISTS)
        changes += more
        if total_score(tree) + worth > score:
            score = total_score(tree) + worth
            best[:] = tree.up
    return Climbed(score, number, max(at - 1, 0), tops, changes)


@kernel
def climb_sentence(
    hill: Hill, whole: Any, S: Floats, climbing: Climbing, number: int, begin_at: Ints, bound: float, thorough: bool, best: Ints
) -> tuple[Climbed, bool]:  # fmt: skip
    """As `climb_often`, for the sentence of a number; and whether there is any tree, else nothing is filled in.

    S: the scores of arcs alone, for what is drawn. begin_at: the heads of the tree that the first run begins with, if it does not
    begin with a drawn one, or empty: the first-order best tree then.
    """
    draws, found = make_draws(S, climbing.starts, hill.single_root, np.uint64(climbing.seed), number)
    if not found:
        return Climbed(-np.inf, 0, 0, 0, 0), False
    if len(begin_at) > 0:
        draws.heads[:] = begin_at
    return climb_often(hill, whole, draws, climbing.restarts, climbing.most, bound, thorough, best), True
