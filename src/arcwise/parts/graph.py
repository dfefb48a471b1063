"""The arc graph of the charts: arcs numbered by their heads, and chains and runs of them numbered too.

Every higher part is a few arcs that meet: the pair (b', b) of consecutive siblings is two arcs from one head, a grandchild is the
pair (a, b) of an arc into a head and one out of it. So all tables of part scores are flat arrays over numbers given here.

A vertex is a word with a sense; without senses, a word. An arc joins two vertices and may have a label: several arcs may join the
same two. So labels and senses (Koo 2010, B.5.1) are nothing but more vertices and arcs, and no chart knows of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

Ints = NDArray[np.int32]
Numbers = NDArray[np.int64]


class Graph(NamedTuple):
    """Arcs from 1 on, in order of their heads; of one head, first those to the left, then those to the right, the nearest first.

    Arc 0 leads into the root from nowhere. position: of each vertex, its word; vertex 0 is the root. head, modifier: vertices of
    each arc. out: the arcs from v are out[v] .. out[v + 1] - 1, those to the right begin at right[v]. into: all arcs in order of
    their modifiers, those into v are into[into_first[v] : into_first[v + 1]]. inner: how many arcs of the same head and side lead to
    nearer words. pairs: the pair (b', b) of a nearer arc and an arc has the number pairs[b] + b' - side(b), where side(b) is the
    first arc of its side. triples: the triple (b'', b', b) the number triples[pair] + b'' - side(b).
    """

    position: Ints
    head: Ints
    modifier: Ints
    out: Ints
    right: Ints
    into_first: Ints
    into: Ints
    inner: Ints
    pairs: Numbers
    triples: Numbers


class Level(NamedTuple):
    """Spines: what a span knows of its head's ancestors. On level 0 the head itself, on level 1 the arc into it, on level 2 that arc
    and the one above it, and so on. The root has one spine on each level, with the number 0.

    A step is a spine p and an arc b from its head: (p, b) has the number steps[p] + b - out[head]; 0 is the step into the root. The
    spines of the next level are the steps of this one. A slot is a spine and a pair of arcs from its head: slots[p] + pair -
    pairs[out[head]]; a run is a spine and a triple of arcs: runs[p] + triple - triples[pairs[out[head]]].

    head: the vertex. arc: the arc into it, 0 on level 0. parent: the spine of the level below from which that arc leads. above: the
    position of the head's head, -1 on level 0 and for the root. below: the spine of the level below when the topmost ancestor is
    forgotten. child, span: the number of step (below[p], first arc) and of slot (below[p], first pair) on the level below. first, at:
    the spines of vertex v are at[first[v] : first[v + 1]].
    """

    head: Ints
    arc: Ints
    parent: Ints
    above: Ints
    below: Ints
    steps: Numbers
    slots: Numbers
    runs: Numbers
    child: Numbers
    span: Numbers
    first: Ints
    at: Ints


@kernel
def make_graph(position: Ints, head: Ints, modifier: Ints) -> Graph:
    """The graph of arcs in any order; O(arcs log arcs + pairs). `sort_arcs` tells how they are ordered.

    position: of the vertices, ascending from 0. head, modifier: vertices of each arc, without arc 0.
    """
    vertices, arcs = len(position), len(head) + 1
    order = sort_arcs(position, head, modifier)
    heads, modifiers = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
    heads[0], modifiers[0] = -1, 0
    out, right = np.zeros(vertices + 1, np.int32), np.zeros(vertices, np.int32)
    into_first = np.zeros(vertices + 2, np.int32)
    into_first[2] = 1
    for k in range(arcs - 1):
        h, m = head[order[k]], modifier[order[k]]
        heads[k + 1], modifiers[k + 1] = h, m
        out[h + 1] += 1
        if position[m] < position[h]:
            right[h] += 1
        into_first[m + 2] += 1
    out[0] = 1
    for v in range(vertices):
        out[v + 1] += out[v]
        right[v] += out[v]
        into_first[v + 2] += into_first[v + 1]
    into = np.empty(arcs, np.int32)
    for a in range(arcs):
        into[into_first[modifiers[a] + 1]] = a
        into_first[modifiers[a] + 1] += 1

    inner, pairs = np.zeros(arcs, np.int32), np.zeros(arcs + 1, np.int64)
    for b in range(1, arcs):
        h = heads[b]
        side = right[h] if b >= right[h] else out[h]
        if b > side and position[modifiers[b - 1]] == position[modifiers[b]]:
            inner[b] = inner[b - 1]
        else:
            inner[b] = b - side
        pairs[b + 1] = pairs[b] + inner[b]
    triples = np.zeros(pairs[arcs] + 1, np.int64)
    for b in range(1, arcs):
        side = right[heads[b]] if b >= right[heads[b]] else out[heads[b]]
        for k in range(inner[b]):
            triples[pairs[b] + k + 1] = triples[pairs[b] + k] + inner[side + k]
    return Graph(
        position, heads, modifiers, out, right, into_first[: vertices + 1].copy(), into, inner, pairs, triples
    )


@kernel
def sort_arcs(position: Ints, head: Ints, modifier: Ints) -> Numbers:
    """The order of arcs in a graph: by head, then left before right, then by distance; equal ones as they are given.

    >>> sort_arcs(np.arange(4, dtype=np.int32), np.array([2, 2, 2], np.int32), np.array([3, 1, 3], np.int32))
    array([1, 0, 2])
    """
    n = np.int64(position[len(position) - 1])
    places = np.empty(len(head), np.int64)
    for k in range(len(head)):
        distance = np.int64(position[modifier[k]]) - position[head[k]]
        places[k] = -distance if distance < 0 else n + 1 + distance
    return _sorted_by(head, len(position), _sorted_by(places, int(2 * n + 2), np.arange(len(head))))


@kernel
def _sorted_by(keys: NDArray[Any], end: int, order: Numbers) -> Numbers:
    """An order that goes by keys from 0 to end - 1 first, then by the order given. O(keys + end)."""
    first = np.zeros(end + 1, np.int64)
    for key in keys:
        first[key + 1] += 1
    for key in range(end):
        first[key + 1] += first[key]
    found = np.empty(len(order), np.int64)
    for k in order:
        found[first[keys[k]]] = k
        first[keys[k]] += 1
    return found


@kernel
def first_level(graph: Graph) -> Level:
    """Level 0: a spine is a vertex, a step an arc, a slot a pair, a run a triple."""
    vertices = len(graph.position)
    everyone = np.arange(vertices).astype(np.int32)
    nobody = np.full(vertices, -1, np.int32)
    slots = np.empty(vertices + 1, np.int64)
    for v in range(vertices + 1):
        slots[v] = graph.pairs[graph.out[v]]
    return Level(
        everyone, np.zeros(vertices, np.int32), nobody, nobody, nobody, graph.out.astype(np.int64), slots, graph.triples[slots],
        np.zeros(vertices, np.int64), np.zeros(vertices, np.int64), np.arange(vertices + 1).astype(np.int32), everyone,
    )  # fmt: skip


@kernel
def next_level(graph: Graph, level: Level, number: int) -> Level:
    """The level above `level`, whose `number` it is. O(its spines), which are the steps of `level`."""
    spines = level.steps[len(level.steps) - 1]
    head, arc, above = np.zeros(spines, np.int32), np.zeros(spines, np.int32), np.full(spines, -1, np.int32)
    parent = np.full(spines, -1, np.int32)
    below, child, span = np.zeros(spines, np.int32), np.zeros(spines, np.int64), np.zeros(spines, np.int64)
    steps, slots, runs = (
        np.empty(spines + 1, np.int64),
        np.empty(spines + 1, np.int64),
        np.empty(spines + 1, np.int64),
    )
    for p in range(len(level.head)):
        h = level.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            s = level.steps[p] + b - graph.out[h]
            head[s], arc[s] = graph.modifier[b], b
            parent[s], above[s] = p, graph.position[h]
            below[s] = graph.modifier[b] if number == 1 else level.child[p] + b - graph.out[h]
    steps[0], slots[0], runs[0] = 1, 0, 0
    first = np.zeros(len(graph.position) + 2, np.int32)
    for s in range(spines):
        h = head[s]
        begin, end = graph.out[h], graph.out[h + 1]
        child[s], span[s] = level.steps[below[s]], level.slots[below[s]]
        steps[s + 1] = steps[s] + end - begin
        slots[s + 1] = slots[s] + graph.pairs[end] - graph.pairs[begin]
        runs[s + 1] = runs[s] + graph.triples[graph.pairs[end]] - graph.triples[graph.pairs[begin]]
        first[h + 2] += 1
    for v in range(len(graph.position)):
        first[v + 2] += first[v + 1]
    at = np.empty(spines, np.int32)
    for s in range(spines):
        at[first[head[s] + 1]] = s
        first[head[s] + 1] += 1
    return Level(
        head,
        arc,
        parent,
        above,
        below,
        steps,
        slots,
        runs,
        child,
        span,
        first[: len(graph.position) + 1].copy(),
        at,
    )
