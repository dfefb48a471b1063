"""The score of a tree by tables of parts, as a sum over families, so that a change of one head costs what it changes.

The family of a word is what its modifiers score on both sides, with what is known of the word's ancestors. To give word m another
head changes the families of the old head and of the new one; where parts know a grandparent also that of m, and where they know a
great-grandparent those of the modifiers of m. Nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel, merged_kernel
from arcwise.parts.graph import Graph, Ints, Level, Numbers
from arcwise.parts.tables import Floats, Kind, Tables

Flags = NDArray[np.bool_]
Levels = tuple[Level, Level, Level]


class Places(NamedTuple):
    """Where each of `Tables` begins in one array, -1 if it is not there."""

    step: int
    first: int
    pair: int
    slot: int
    second: int
    triple: int
    run: int
    last: int
    only: int
    last_pair: int
    none: int


class Hill(NamedTuple):
    """What is climbed: the parts of one sentence whose words have one sense each.

    What climbing needs of a graph, its levels (steps, slots, runs: of incomplete spans; outer_steps, outer_slots: of complete ones;
    top_steps: of the level above) and tables, and no more: a kernel compiles the longer the more arrays it is given. scores: all
    tables, one after another, with `forbidden` in place of -inf: so low that no sum of others makes up for it. least: a change that
    gains less is none.
    """

    kind: Kind
    head: Ints
    modifier: Ints
    out: Ints
    right: Ints
    into_first: Ints
    into: Ints
    pairs: Numbers
    triples: Numbers
    steps: Numbers
    slots: Numbers
    runs: Numbers
    outer_steps: Numbers
    outer_slots: Numbers
    top_steps: Numbers
    scores: Floats
    at: Places
    single_root: bool
    least: float
    forbidden: float


class Tree(NamedTuple):
    """A tree on the hill, and room to change it.

    up: the arc into each word, 0 for the root. heads: the same as heads. taken: by arc, whether the tree has it. family: (words,
    2), what each word's family scores to its left and right. order: words, those farthest from the root first, as they were
    before a pass. clock, changed, looked: a count of changes, and its reading when each word's family last changed and when no
    head of the word was found better than its own. reach: the most that a change was seen to gain by the score of whole trees,
    and how many were. known: by arc, what the family of its head scores with this arc taken, or left out if the tree has it; the
    clock, plus one, when that was found out; and the same of what `below_score` gives with this arc into its modifier.
    """

    up: Ints
    heads: Ints
    taken: Flags
    family: Floats
    order: Ints
    clock: Ints
    changed: Ints
    looked: Ints
    reach: Floats
    known: Floats


@kernel
def make_hill(
    kind: Kind, graph: Graph, levels: Levels, tables: Tables, single_root: bool, least: float
) -> Hill:
    """The hill of a chart's tables. O(their size)."""
    size, greatest, longest = 0, 1.0, 0
    for table in tables:
        size += len(table)
        longest = max(longest, min(len(table), 1 << 20))
        for value in table:
            if value > -np.inf:
                greatest = max(greatest, abs(value))
    forbidden = -(4.0 * len(tables)) * (longest + 1.0) * greatest
    scores, at = np.empty(size), np.full(len(tables), -1)
    k, begin = 0, 0
    for table in tables:
        if len(table) > 0:
            at[k] = begin
        for i in range(len(table)):
            scores[begin + i] = table[i] if table[i] > -np.inf else forbidden
        k, begin = k + 1, begin + len(table)
    places = Places(at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], at[9], at[10])
    upper, lower = levels[0], levels[1]
    return Hill(
        kind, graph.head, graph.modifier, graph.out, graph.right, graph.into_first, graph.into, graph.pairs, graph.triples,
        lower.steps, lower.slots, lower.runs, upper.steps, upper.slots, levels[2].steps, scores, places, single_root, least,
        forbidden,
    )  # fmt: skip


@kernel
def make_tree(words: int, arcs: int) -> Tree:
    """Room for a tree of so many words, the root counted, among so many arcs."""
    return Tree(
        np.zeros(words, np.int32), np.full(words, -1, np.int32), np.zeros(arcs, np.bool_), np.zeros((words, 2)),
        np.empty(words, np.int32), np.zeros(1, np.int32), np.zeros(words, np.int32), np.zeros(words, np.int32), np.zeros(2),
        np.zeros((arcs, 4)),
    )  # fmt: skip


@kernel
def stand(hill: Hill, tree: Tree) -> float:
    """Score the tree whose arcs are in `up`: fills in the rest of it."""
    tree.clock[0] = 1
    tree.changed[:] = 1
    tree.looked[:] = 0
    tree.taken[:] = False
    tree.known[:] = 0.0
    tree.heads[0] = -1
    for m in range(1, len(tree.up)):
        tree.taken[tree.up[m]] = True
        tree.heads[m] = hill.head[tree.up[m]]
    for h in range(len(tree.up)):
        for side in range(2):
            tree.family[h, side] = side_score(hill, tree, h, side)
    return total_score(tree)


@inline_kernel
def _of(scores: Floats, place: int, i: int) -> float:
    return scores[place + i] if place >= 0 else 0.0


@merged_kernel
def _spine(hill: Hill, known: int, tree: Tree, h: int) -> int:
    """The number of what is known of a word's ancestors, if these are so many."""
    if known == 0 or h == 0:
        return h
    arc = int(tree.up[h])
    if known == 1:
        return arc
    g = hill.head[arc]
    return int(hill.top_steps[tree.up[g]] + arc - hill.out[g])


@merged_kernel
def side_score(hill: Hill, tree: Tree, h: int, side: int) -> float:
    """What the modifiers of h to its left (side 0) or right (1) score, by `up` and `taken`. O(arcs from h to that side)."""
    kind, at, scores, taken = hill.kind, hill.at, hill.scores, tree.taken
    p, q = _spine(hill, kind.incomplete, tree, h), _spine(hill, kind.complete, tree, h)
    out = hill.out[h]
    first_pair = hill.pairs[out]
    score = 0.0
    begin, end = (hill.right[h], hill.out[h + 1]) if side == 1 else (out, hill.right[h])
    far, farther, pair = -1, -1, np.int64(0)  # the last arc met, the one before it, and their pair
    for b in range(begin, end):
        if not taken[b]:
            continue
        step = hill.steps[p] + b - out
        score += scores[at.step + step]
        if far < 0:
            score += _of(scores, at.first, step)
        elif kind.siblings > 0:
            pair = hill.pairs[b] + far - begin
            slot = hill.slots[p] + pair - first_pair
            score += _of(scores, at.pair, pair) + _of(scores, at.slot, slot)
            if farther < 0:
                score += _of(scores, at.second, slot)
            elif kind.siblings > 1:
                triple = hill.triples[pair] + farther - begin
                score += _of(scores, at.triple, triple)
                score += _of(scores, at.run, hill.runs[p] + triple - hill.triples[first_pair])
        farther, far = far, b
    if far >= 0:
        step = hill.outer_steps[q] + far - out
        score += _of(scores, at.last, step)
        if farther < 0:
            score += _of(scores, at.only, step)
        else:
            score += _of(scores, at.last_pair, hill.outer_slots[q] + pair - first_pair)
    elif h > 0:
        score += _of(scores, at.none, 2 * tree.up[h] + side)
    return score


@kernel
def total_score(tree: Tree) -> float:
    """What a tree scores by the tables, by its families."""
    score = 0.0
    for h in range(len(tree.up)):
        score += tree.family[h, 0] + tree.family[h, 1]
    return score


@merged_kernel
def is_below(tree: Tree, word: int, ancestor: int) -> bool:
    """Whether a word is in the yield of another, or is that word itself. O(depth)."""
    while word > 0 and word != ancestor:
        word = tree.heads[word]
    return bool(word == ancestor)


@merged_kernel
def set_arc(hill: Hill, tree: Tree, m: int, arc: int) -> None:
    """Give m another arc; the families are left as they are."""
    tree.taken[tree.up[m]] = False
    tree.taken[arc] = True
    tree.up[m] = arc
    tree.heads[m] = hill.head[arc]


@merged_kernel
def below_score(hill: Hill, tree: Tree, m: int, anew: bool) -> float:
    """What the families score that know the arc into m: its own, and where great-grandparents are known those of its modifiers.

    anew: whether they are scored as `up` and `taken` have it, or as they were scored last.
    """
    if hill.kind.complete == 0 and hill.at.none < 0:
        return 0.0
    score, b, end = 0.0, hill.out[m], hill.out[m + 1] if hill.kind.complete > 1 else hill.out[m]
    word = m
    while True:  # one place that scores a side: it is copied wherever it stands
        for side in range(2):
            score += side_score(hill, tree, word, side) if anew else tree.family[word, side]
        while b < end and not tree.taken[b]:
            b += 1
        if b >= end:
            return score
        word = hill.modifier[b]
        b += 1


@kernel
def refresh(hill: Hill, tree: Tree, word: int, all_below: bool) -> None:
    """Score a word's family anew, and if asked for those that know the arc into it."""
    b, end = hill.out[word], hill.out[word + 1] if all_below and hill.kind.complete > 1 else hill.out[word]
    while True:
        for side in range(2):
            tree.family[word, side] = side_score(hill, tree, word, side)
        tree.changed[word] = tree.clock[0]
        while b < end and not tree.taken[b]:
            b += 1
        if b >= end:
            return
        word = hill.modifier[b]
        b += 1


@kernel
def change(hill: Hill, tree: Tree, m: int, arc: int) -> None:
    """Give m another arc, and score the families anew that this changes."""
    h = int(tree.heads[m])
    tree.clock[0] += 1
    set_arc(hill, tree, m, arc)
    refresh(hill, tree, h, False)
    refresh(hill, tree, int(tree.heads[m]), False)
    refresh(hill, tree, m, True)


@kernel
def copy_tree(tree: Tree, to: Tree) -> None:
    """Make `to` the same tree, as far as it differs from it by calls of `change`. O(arcs)."""
    to.clock[0] = tree.clock[0]
    for word in range(len(tree.up)):
        to.up[word], to.heads[word], to.changed[word] = tree.up[word], tree.heads[word], tree.changed[word]
        to.family[word, 0], to.family[word, 1] = tree.family[word, 0], tree.family[word, 1]
    for b in range(len(tree.taken)):
        to.taken[b] = tree.taken[b]
