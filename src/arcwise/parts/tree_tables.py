"""Where a tree's parts lie in the tables of a chart."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind, Tables


@inline_kernel
def _add(table: Floats, i: int, amount: float) -> None:
    if len(table) > 0:
        table[i] += amount


@kernel
def add_tree(
    kind: Kind, graph: Graph, levels: tuple[Level, Level, Level], arcs: Ints, amount: float, tables: Tables
) -> None:
    """Add an amount to every entry that scores a part of a tree. O(arcs of the graph).

    arcs: the arc into each word, 0 for the root. For charts that know at most one ancestor, and words without senses. An empty table
    is left alone.
    """
    upper, lower = levels[0], levels[1]
    chosen = np.zeros(len(graph.head), np.bool_)
    for m in range(1, len(arcs)):
        chosen[arcs[m]] = True
    for h in range(len(arcs)):
        p = arcs[h] if kind.incomplete > 0 else h
        q = arcs[h] if kind.complete > 0 else h
        out = graph.out[h]
        first_pair = graph.pairs[out]
        for side in range(2):
            begin, end = (graph.right[h], graph.out[h + 1]) if side == 1 else (out, graph.right[h])
            far, farther, pair = -1, -1, np.int64(0)  # the last arc met, the one before it, and their pair
            for b in range(begin, end):
                if not chosen[b]:
                    continue
                step = lower.steps[p] + b - out
                _add(tables.step, step, amount)
                if far < 0:
                    _add(tables.first, step, amount)
                else:
                    pair = graph.pairs[b] + far - begin
                    slot = lower.slots[p] + pair - first_pair
                    _add(tables.pair, pair, amount)
                    _add(tables.slot, slot, amount)
                    if farther < 0:
                        _add(tables.second, slot, amount)
                    else:
                        triple = graph.triples[pair] + farther - begin
                        _add(tables.triple, triple, amount)
                        _add(tables.run, lower.runs[p] + triple - graph.triples[first_pair], amount)
                farther, far = far, b
            if far >= 0:
                step = upper.steps[q] + far - out
                _add(tables.last, step, amount)
                if farther < 0:
                    _add(tables.only, step, amount)
                else:
                    _add(tables.last_pair, upper.slots[q] + pair - first_pair, amount)
            elif h > 0:
                _add(tables.none, 2 * arcs[h] + side, amount)
