"""What linear programs read: the scores of arcs, of consecutive siblings and of grandparents, each in an array of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.folding import ancestry, fold
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind
from arcwise.search.spanning_tree import make_room, spanning_tree
from arcwise.search.status import FOUND

# The tables that fall into arcs, pairs of arcs that follow each other, and pairs of arcs one above the other.
TABLES = ("arcs", "siblings", "first", "grandchildren", "none")


class SecondOrder(NamedTuple):
    """Scores over the numbers of `arcwise.parts.graph`; an empty array is a kind of part that is not scored, -inf forbids a part.

    level: level 1, whose spines are arcs: the step (a, b) is the grandparent part of an arc a and an arc b from its modifier.
    arcs, first, last: by arcs, of every arc, of one that is the nearest on its side, of one that is the farthest. pair: by pairs
    (b', b) of arcs that follow each other. grand: by steps of level 1; those over arcs from the root, which have none above them,
    are not read. none: by 2 a + side, of an arc a whose modifier has no modifiers on that side.
    """

    graph: Graph
    level: Level
    single_root: bool
    arcs: Floats
    first: Floats
    pair: Floats
    last: Floats
    grand: Floats
    none: Floats

    @property
    def siblings(self) -> bool:
        """Whether the order of a word's modifiers is scored."""
        return len(self.first) + len(self.pair) + len(self.last) + len(self.none) > 0


def second_order(graph: Graph, tables: dict[str, Floats], single_root: bool) -> SecondOrder:
    """The arrays of tables as `Scores` and `PartScores` have them, TABLES at most, with arcs after constraints."""
    level0, level1 = ancestry(graph, 0), ancestry(graph, 1)
    flat = fold(_of(tables, "arcs", "siblings", "first"), graph, (level0, level0, level0), Kind(0, 0, 1))
    high = fold(_of(tables, "grandchildren", "none"), graph, (level1, level1, level1), Kind(1, 1, 0))
    return SecondOrder(
        graph, level1, single_root, flat.step, flat.first, flat.pair, flat.last, high.step, high.none
    )


def _of(tables: dict[str, Floats], *names: str) -> dict[str, Floats]:
    return {name: tables[name] for name in names if name in tables}


@kernel
def tree_value(
    graph: Graph, level: Level, arcs: Floats, first: Floats, pair: Floats, last: Floats, grand: Floats, none: Floats, tree: Ints
) -> float:  # fmt: skip
    """What a tree scores, -inf if a part of it is forbidden. tree: the arc into each vertex, -1 for none. O(arcs)."""
    chosen = np.zeros(len(graph.head), np.bool_)
    for m in range(1, len(tree)):
        if tree[m] > 0:
            chosen[tree[m]] = True
    total = 0.0
    for h in range(len(graph.position)):
        if h > 0 and tree[h] <= 0:
            continue
        for side in range(2):
            begin, end = (graph.right[h], graph.out[h + 1]) if side == 1 else (graph.out[h], graph.right[h])
            before = -1
            for b in range(begin, end):
                if not chosen[b]:
                    continue
                total += arcs[b]
                if h > 0 and len(grand) > 0:
                    total += grand[level.steps[tree[h]] + b - graph.out[h]]
                if before < 0:
                    total += first[b] if len(first) > 0 else 0.0
                elif len(pair) > 0:
                    total += pair[graph.pairs[b] + before - begin]
                before = b
            if before >= 0:
                total += last[before] if len(last) > 0 else 0.0
            elif h > 0 and len(none) > 0:
                total += none[2 * tree[h] + side]
    return total


def value(parts: SecondOrder, tree: NDArray[np.int32]) -> float:
    """What a tree scores, given the arc into each vertex."""
    return float(
        tree_value(
            parts.graph, parts.level, parts.arcs, parts.first, parts.pair, parts.last, parts.grand, parts.none, tree
        )
    )  # fmt: skip


@kernel
def heaviest_tree(graph: Graph, weights: Floats, single_root: bool) -> Ints:
    """The tree whose arcs have the greatest sum of weights, as the arc into each word; empty if there is none. O(n^2).

    weights: by arcs, -inf for those that may not be in it.
    """
    size = len(graph.position)
    S, arc = np.full((size, size), -np.inf), np.zeros((size, size), np.int32)
    for b in range(1, len(graph.head)):
        h, m = graph.head[b], graph.modifier[b]
        if weights[b] > S[h, m]:
            S[h, m], arc[h, m] = weights[b], b
    heads, tree = np.empty(size, np.int32), np.full(size, -1, np.int32)
    if spanning_tree(S, single_root, make_room(size - 1), heads) != FOUND:
        return tree[:0]
    for m in range(1, size):
        tree[m] = arc[heads[m], m]
    return tree


def grand_steps(parts: SecondOrder) -> tuple[NDArray[np.int64], Ints, Ints]:
    """Every grandparent part that a tree may have: the number of the step (a, b), a, and b. O(steps).

    Left out are those above which there is nothing, and those whose b leads back to where a came from.
    """
    graph, level = parts.graph, parts.level
    spines = np.arange(len(level.head), dtype=np.int32)
    a = np.repeat(spines, np.diff(level.steps))
    number = np.arange(level.steps[0], level.steps[-1])
    b = (number - level.steps[a] + graph.out[level.head[a]]).astype(np.int32)
    chosen = (a > 0) & (graph.modifier[b] != graph.head[a])
    return number[chosen], a[chosen], b[chosen]


@kernel
def count_steps(graph: Graph) -> int:
    """How many grandparent parts a tree may have: those of `grand_steps`. O(arcs)."""
    count = 0
    joined = np.zeros((len(graph.position), len(graph.position)), np.int32)
    for a in range(1, len(graph.head)):
        m = graph.modifier[a]
        count += graph.out[m + 1] - graph.out[m]
        joined[graph.head[a], m] += 1
    for g in range(1, len(joined)):
        for h in range(1, len(joined)):
            count -= joined[g, h] * joined[h, g]
    return count


def sides(graph: Graph) -> Ints:
    """Of each arc, the first arc from the same head to the same side; 0 of arc 0."""
    arcs = np.arange(len(graph.head))
    right = graph.right[graph.head]
    first = np.where(arcs >= right, right, graph.out[graph.head])
    first[0] = 0
    return first.astype(np.int32)


def consecutive_arcs(graph: Graph) -> tuple[Ints, Ints]:
    """The arcs b' and b of every pair. O(pairs)."""
    outer = np.repeat(np.arange(len(graph.head), dtype=np.int32), graph.inner)
    return (sides(graph)[outer] + np.arange(len(outer)) - graph.pairs[outer]).astype(np.int32), outer


def easy_bound(parts: SecondOrder) -> float:
    """What no tree scores more than: every word takes its best arc, with what is best above it and beside it for this arc alone.
    O(parts). -inf only if there is no tree.
    """
    graph = parts.graph
    best = parts.arcs.copy()
    if len(parts.grand) > 0:
        number, _, b = grand_steps(parts)
        above = np.where(graph.head == 0, 0.0, -np.inf)
        np.maximum.at(above, b, parts.grand[number])
        best += above
    if len(parts.first) + len(parts.pair) > 0:
        before = parts.first.copy() if len(parts.first) > 0 else np.zeros(len(best))
        _, outer = consecutive_arcs(graph)
        np.maximum.at(before, outer, parts.pair if len(parts.pair) > 0 else 0.0)
        best += before
    if len(parts.last) > 0:
        best += np.maximum(parts.last, 0.0)
    if len(parts.none) > 0:
        best += np.maximum(parts.none, 0.0).reshape(-1, 2).sum(axis=1)
    of_words = np.full(len(graph.position), -np.inf)
    np.maximum.at(of_words, graph.modifier[1:], best[1:])
    return float(of_words[1:].sum())
