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
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind, Tables

Flags = NDArray[np.bool_]
Levels = tuple[Level, Level, Level]


class Hill(NamedTuple):
    """What is climbed: the parts of one sentence whose words have one sense each.

    kind, levels, tables: as a chart of the kind has them, but without -inf (see `finite`). least: a change that gains less is none.
    """

    kind: Kind
    graph: Graph
    levels: Levels
    tables: Tables
    single_root: bool
    least: float


class Tree(NamedTuple):
    """A tree on the hill, and room to change it.

    up: the arc into each word, 0 for the root. heads: the same as heads. taken: by arc, whether the tree has it. family: the score
    of each word's family. order: words, those farthest from the root first, as they were before a pass. room: scratch by word.
    clock, changed, looked: a count of changes, and its reading when each word's family last changed and when no head of the word
    was found better than its own. reach: the most that a change was seen to gain by the score of whole trees, and how many were.
    """

    up: Ints
    heads: Ints
    taken: Flags
    family: Floats
    order: Ints
    room: Ints
    clock: Ints
    changed: Ints
    looked: Ints
    reach: Floats


@kernel
def make_tree(words: int, arcs: int) -> Tree:
    """Room for a tree of so many words, the root counted, among so many arcs."""
    return Tree(
        np.zeros(words, np.int32), np.full(words, -1, np.int32), np.zeros(arcs, np.bool_), np.zeros(words),
        np.empty(words, np.int32), np.zeros(words, np.int32), np.zeros(1, np.int32), np.zeros(words, np.int32),
        np.zeros(words, np.int32), np.zeros(2),
    )  # fmt: skip


@kernel
def finite(tables: Tables) -> float:
    """Put in place of every -inf a finite score so low that no sum of others makes up for it; returns that score."""
    greatest, parts = 1.0, 0
    for table in tables:
        for i in range(len(table)):
            if table[i] > -np.inf:
                greatest = max(greatest, abs(table[i]))
        parts = max(parts, min(len(table), 1 << 20))
    forbidden = -(4.0 * len(tables)) * (parts + 1.0) * greatest
    for table in tables:
        for i in range(len(table)):
            if table[i] == -np.inf:
                table[i] = forbidden
    return forbidden


@kernel
def stand(hill: Hill, tree: Tree) -> float:
    """Score the tree whose arcs are in `up`: fills in the rest of it."""
    graph = hill.graph
    tree.clock[0] = 1
    tree.changed[:] = 1
    tree.looked[:] = 0
    tree.taken[:] = False
    tree.heads[0] = -1
    for m in range(1, len(tree.up)):
        tree.taken[tree.up[m]] = True
        tree.heads[m] = graph.head[tree.up[m]]
    score = 0.0
    for h in range(len(tree.up)):
        tree.family[h] = family_score(hill, tree, h)
        score += tree.family[h]
    return score


@inline_kernel
def _of(table: Floats, i: int) -> float:
    return table[i] if len(table) > 0 else 0.0


@merged_kernel
def _spine(hill: Hill, known: int, tree: Tree, h: int) -> int:
    """The number of what is known of a word's ancestors, if these are so many."""
    if known == 0 or h == 0:
        return h
    arc = int(tree.up[h])
    if known == 1:
        return arc
    g = hill.graph.head[arc]
    return int(hill.levels[2].steps[tree.up[g]] + arc - hill.graph.out[g])


@merged_kernel
def family_score(hill: Hill, tree: Tree, h: int) -> float:
    """What the modifiers of h score, by `up` and `taken`. O(arcs from h)."""
    kind, graph, tables, taken = hill.kind, hill.graph, hill.tables, tree.taken
    upper, lower = hill.levels[0], hill.levels[1]
    p, q = _spine(hill, kind.incomplete, tree, h), _spine(hill, kind.complete, tree, h)
    out = graph.out[h]
    first_pair = graph.pairs[out]
    score = 0.0
    for side in range(2):
        begin, end = (graph.right[h], graph.out[h + 1]) if side == 1 else (out, graph.right[h])
        far, farther, pair = -1, -1, np.int64(0)  # the last arc met, the one before it, and their pair
        for b in range(begin, end):
            if not taken[b]:
                continue
            step = lower.steps[p] + b - out
            score += tables.step[step]
            if far < 0:
                score += _of(tables.first, step)
            elif kind.siblings > 0:
                pair = graph.pairs[b] + far - begin
                slot = lower.slots[p] + pair - first_pair
                score += _of(tables.pair, pair) + _of(tables.slot, slot)
                if farther < 0:
                    score += _of(tables.second, slot)
                elif kind.siblings > 1:
                    triple = graph.triples[pair] + farther - begin
                    score += _of(tables.triple, triple)
                    score += _of(tables.run, lower.runs[p] + triple - graph.triples[first_pair])
            farther, far = far, b
        if far >= 0:
            step = upper.steps[q] + far - out
            score += _of(tables.last, step)
            if farther < 0:
                score += _of(tables.only, step)
            else:
                score += _of(tables.last_pair, upper.slots[q] + pair - first_pair)
        elif h > 0:
            score += _of(tables.none, 2 * tree.up[h] + side)
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
    tree.heads[m] = hill.graph.head[arc]


@merged_kernel
def below_score(hill: Hill, tree: Tree, m: int, anew: bool) -> float:
    """What the families score that know the arc into m: its own, and where great-grandparents are known those of its modifiers.

    anew: whether they are scored as `up` and `taken` have it, or as they were scored last.
    """
    if hill.kind.complete == 0 and len(hill.tables.none) == 0:
        return 0.0
    score = family_score(hill, tree, m) if anew else tree.family[m]
    if hill.kind.complete > 1:
        for b in range(hill.graph.out[m], hill.graph.out[m + 1]):
            if tree.taken[b]:
                c = hill.graph.modifier[b]
                score += family_score(hill, tree, c) if anew else tree.family[c]
    return score


@merged_kernel
def refresh(hill: Hill, tree: Tree, word: int, all_below: bool) -> None:
    """Score a word's family anew, and if asked for those that know the arc into it."""
    tree.family[word] = family_score(hill, tree, word)
    tree.changed[word] = tree.clock[0]
    if all_below and hill.kind.complete > 1:
        for b in range(hill.graph.out[word], hill.graph.out[word + 1]):
            if tree.taken[b]:
                c = hill.graph.modifier[b]
                tree.family[c] = family_score(hill, tree, c)
                tree.changed[c] = tree.clock[0]
