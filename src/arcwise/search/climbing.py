"""Randomized greedy search: from a random tree uphill, one head at a time, again and again.

Zhang, Lei, Barzilay and Jaakkola (2014), figure 1, with kicks. A run climbs from a start tree (`arcwise.search.start_trees`) to a
tree that no other head of a single word betters (`arcwise.search.uphill`). Where it would end it is kicked: an arc is forced into the
tree, and if the words around can make a better tree of that, it climbs on (`arcwise.search.kicks`). The best tree of many runs is
found.

Nothing is proved by climbing itself; but a tree whose score meets a bound that some other search has proved is the best there is, and
climbing stops there. A score of whole trees (`arcwise.parts.whole`) may be added: a run then climbs by the tables, which is cheap,
and the best trees that runs meet climb on by everything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.parts.whole import whole_score
from arcwise.search.hill import Hill, make_tree, stand, total_score
from arcwise.search.kicks import kick, make_room
from arcwise.search.start_trees import BEST, BEST_FIRST, Draws, make_draws, start_tree
from arcwise.search.uphill import climb, place

# In a row without a better tree, unless told otherwise; more in training make no better models.
RESTARTS, TRAINING_RESTARTS = 20, 3
FINALISTS = 4  # local optima that climb on by the score of whole trees
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
    """What climbing took. score: of the best tree. runs: how many there were. best: which found it. tops: how many different local
    optima the runs met before the score of whole trees came in. changes: heads that were changed, but by kicks.
    """

    score: float
    runs: int
    best: int
    tops: int
    changes: int


@kernel
def _tree_key(tree: Ints, kind: int) -> np.uint64:
    key = np.uint64(kind)
    for m in range(1, len(tree)):
        key = (key ^ np.uint64(tree[m])) * _PRIME
        key ^= key >> np.uint64(29)
    return key


@kernel
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
def _with_room(seen: NDArray[np.uint64], keys: int) -> NDArray[np.uint64]:
    """The same keys, so many, with room for two more."""
    if 2 * (keys + 2) <= len(seen):
        return seen
    more = np.zeros(2 * len(seen), np.uint64)
    for key in seen:
        if key != 0:
            _is_new(more, key)
    return more


@kernel
def make_runs(hill: Hill, draws: Draws, first: int, end: int, scores: Floats, ups: NDArray[np.int32]) -> None:
    """Make the runs of these numbers by the tables alone; fills in what the trees score that they end in, and their arcs.

    A run that meets a tree of an earlier one would end where that did, and stops there.
    """
    words, arcs = ups.shape[1], len(hill.head)
    tree, room, heads = make_tree(words, arcs), make_room(words, arcs), np.empty(words, np.int32)
    seen, keys = np.zeros(1024, np.uint64), 0
    for number in range(first, end):
        start_tree(draws, number, heads)
        place(hill, tree, heads)
        climb(hill, tree, None, 0.0, True, False)
        seen = _with_room(seen, keys)
        while _is_new(seen, _tree_key(tree.up, 2)) and kick(hill, tree, room):
            keys += 1
            seen = _with_room(seen, keys)
        keys += 1
        scores[number - first], ups[number - first] = total_score(tree), tree.up


@kernel
def climb_often(
    hill: Hill, whole: Any, draws: Draws, restarts: int, most: int, bound: float, thorough: bool, best: Ints
) -> Climbed:  # fmt: skip
    """Climb until so many runs in a row found no better tree, `most` were made, or one met the bound; fills `best` with its arcs.

    bound: what no tree exceeds, or inf. With a score of whole trees none is known, and it must be inf. Runs climb by the tables, and
    are kicked out of the trees where they would end as long as this leads to better ones; a run that meets a tree of an earlier one
    would end where that did, and stops there. The FINALISTS best trees that were met, each scored as a whole, then climb by
    everything, hastily; the best of these, if it must be thorough, until no change of one head betters it.
    """
    words, arcs = len(best), len(hill.head)
    tree, room, heads = make_tree(words, arcs), make_room(words, arcs), np.empty(words, np.int32)
    seen, keys = np.zeros(1024, np.uint64), 0
    finalists, scores = np.zeros((FINALISTS, words), np.int32), np.full(FINALISTS, -np.inf)
    at, tops, changes, number = 0, 0, 0, 0
    most = 1 if draws.starts == BEST else most
    while number < most and (number == 0 or number - at < restarts) and scores[0] < bound - hill.least:
        start_tree(draws, number, heads)
        number += 1
        seen = _with_room(seen, keys)
        if not _is_new(seen, _tree_key(heads, 1)):
            continue
        keys += 1
        place(hill, tree, heads)
        more, _ = climb(hill, tree, None, 0.0, True, False)
        changes += more
        while _is_new(seen, _tree_key(tree.up, 2)):
            keys += 1
            seen = _with_room(seen, keys)
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
            if scores[0] >= bound - hill.least or not kick(hill, tree, room):
                break
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
