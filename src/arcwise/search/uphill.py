"""From a tree uphill to a local optimum, one head at a time (Zhang et al. 2014, figure 1).

A pass goes through the words from those farthest from the root upwards and gives each the head with which the tree scores most;
passes go on until none changes anything. The tree is then a local optimum: no other head of a single word betters it. With exactly
one root no single change can replace the root, so a pass also tries to make a word the root and to hang the old root below it, in
one move.

A pass takes one evaluation for each arc, which costs the sides of families that it changes (`arcwise.search.hill`), and nothing
where these are as they were when it was last evaluated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcwise.kernels import kernel, merged_kernel
from arcwise.parts.graph import Ints
from arcwise.parts.whole import whole_score
from arcwise.search.hill import Hill, Tree, below_score, change, is_below, refresh, set_arc, side_score, stand

_ENOUGH = 64  # changes seen before what they gained tells what others may gain


@kernel
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
def _side_changed(hill: Hill, tree: Tree, a: int, old: int, base: int) -> float:
    """What the side with arc a of its head's family scores when the arc is taken, or left out if the tree has it.

    It is known as long as the family is the same. old: the arc that the modifier has. base: as of `best_change`.
    """
    m, g, known = int(hill.modifier[a]), int(hill.head[a]), tree.known
    twin = a != old and g == hill.head[old]  # an arc between the same words: one leaves, the other comes
    if known[a, 1] > tree.changed[g] and not twin:
        return float(known[a, 0])
    if twin:
        tree.taken[old] = False
    tree.taken[a] = not tree.taken[a]
    score = side_score(hill, tree, g, int(m > g))
    tree.taken[a] = not tree.taken[a]
    tree.taken[old] = True
    if tree.changed[g] <= base and not twin:
        known[a, 0], known[a, 1] = score, base + 1
    return score


@merged_kernel
def _below_changed(hill: Hill, tree: Tree, a: int, base: int) -> float:
    """What the families score that know the arc into a modifier, if that is a. It is known as long as the modifier's is the same."""
    m, known = int(hill.modifier[a]), tree.known
    if hill.kind.complete < 2 and known[a, 3] > tree.changed[m]:
        return float(known[a, 2])
    old = tree.up[m]
    tree.up[m], tree.heads[m] = a, hill.head[a]
    score = below_score(hill, tree, m, True)
    tree.up[m], tree.heads[m] = old, hill.head[old]
    if tree.changed[m] <= base:
        known[a, 2], known[a, 3] = score, base + 1
    return score


@merged_kernel
def best_change(
    hill: Hill, tree: Tree, m: int, whole: Any, present: float, hope: float, base: int
) -> tuple[int, float]:
    """The arc that gains most in place of the one into m, -1 if none gains, and what it gains. present: what the tree scores as a
    whole. hope: what a change may gain by that at most. The number of roots stays as it is, if it is one. base: what is found out
    about families that changed after this reading of the clock is not kept.
    """
    tree.looked[m] = tree.clock[0] + 1
    old, first = int(tree.up[m]), int(hill.into_first[m])
    h = int(hill.head[old])
    before = tree.family[h, int(m > h)] + below_score(hill, tree, m, False)
    best, top = -1, hill.least
    for k in range(first - 1, hill.into_first[m + 1]):  # first of all to take the arc away that it has
        a = old if k < first else int(hill.into[k])
        g = int(hill.head[a])
        if k >= first:
            if a == old or (hill.single_root and (g == 0) != (h == 0)):
                continue
            if g != h and is_below(tree, g, m):
                tree.looked[m] = 0  # what is below may change without any of these families
                continue
        side = _side_changed(hill, tree, a, old, base)
        if k < first:
            without = side
            continue
        gain = side + _below_changed(hill, tree, a, base) - before
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


@kernel
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


@kernel
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
            arc, gain = best_change(hill, tree, m, whole, present, hope, int(tree.clock[0]))
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
            tree.looked[m] = 0
            if root > 0:
                tree.clock[0] += 1
                set_arc(hill, tree, m, arc)
                set_arc(hill, tree, int(hill.modifier[root]), root)
                for word in range(len(tree.up)):
                    refresh(hill, tree, word, False)
            else:
                change(hill, tree, m, arc)
            present = whole_score(whole, tree.heads, True)
    return changes, present
