"""The rows of a program that make its arcs a tree, or what linear programs know of one: `z` in the arborescence polytope.

In every program here the first columns are the arcs: column b - 1 is arc b of the graph. Several arcs may join the same words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.parts.graph import Graph, Ints
from arcwise.search.program import Program

CUTS, SINGLE_FLOW, MULTI_FLOW = CONNECTED = "cuts", "single-flow", "multi-flow"


def one_head(program: Program, graph: Graph) -> None:
    """OneHead (Martins et al. 2009): one arc into each word."""
    arcs, _, modifier = _arcs(graph)
    program.add_entries(_words(graph), 1.0, 1.0, modifier - 1, arcs, 1.0)


def one_root(program: Program, graph: Graph) -> None:
    """One arc from 0."""
    arcs, head, _ = _arcs(graph)
    program.add_entries(1, 1.0, 1.0, np.zeros(np.count_nonzero(head == 0), np.int32), arcs[head == 0], 1.0)


def single_flow(program: Program, graph: Graph) -> None:
    """LP(S): 0 sends out n units over the chosen arcs, and each word consumes one; O(arcs) columns and rows.

    Consume, and NoFlow on arcs that are not chosen, as in Riedel et al. (2012, 3.1); Source is the sum of all Consume.
    """
    n, (arcs, head, modifier) = _words(graph), _arcs(graph)
    flow, from_word = program.width + arcs, head > 0
    program.add_columns(np.zeros(len(arcs)))
    ends = np.concatenate([modifier, head[from_word]]) - 1
    signs = np.concatenate([np.ones(len(arcs)), np.full(from_word.sum(), -1.0)])
    program.add_entries(n, 1.0, 1.0, ends, np.concatenate([flow, flow[from_word]]), signs)
    shares = np.repeat([1.0, -float(n)], len(arcs))
    program.add_entries(len(arcs), -np.inf, 0.0, np.tile(arcs, 2), np.concatenate([flow, arcs]), shares)


def multi_flow(program: Program, graph: Graph) -> None:
    """LP(M): 0 sends out a unit of its own for each word over the chosen arcs; O(n arcs) columns and rows. Exactly the arborescence
    polytope (Martins et al. 2009). What is sent to a word is sent on no further.
    """
    n = _words(graph)
    _, from_, into = _arcs(graph)
    k, arc = np.nonzero(np.arange(1, n + 1)[:, np.newaxis] != from_)  # the unit of word 1 + k, on an arc
    head, modifier, unit = from_[arc], into[arc], np.arange(len(arc))
    flow, from_word = program.width + unit, head > 0
    program.add_columns(np.zeros(len(flow)))
    ends = np.concatenate([k * n + modifier - 1, (k * n + head - 1)[from_word]])
    signs = np.concatenate([np.ones(len(flow)), np.full(from_word.sum(), -1.0)])
    consumed = np.eye(n).ravel()
    program.add_entries(n * n, consumed, consumed, ends, np.concatenate([flow, flow[from_word]]), signs)
    shares = np.repeat([1.0, -1.0], len(flow))
    program.add_entries(len(flow), -np.inf, 0.0, np.tile(unit, 2), np.concatenate([flow, arc]), shares)


def cut(program: Program, graph: Graph, sets: NDArray[np.bool_]) -> None:
    """A row for each set of words, as `separate` finds them: one arc at least comes from outside, so all but one may be inside."""
    _, head, modifier = _arcs(graph)
    number, arcs = np.nonzero(sets[:, head] & sets[:, modifier])
    program.add_entries(len(sets), -np.inf, sets.sum(axis=1) - 1.0, number, arcs, 1.0)


def _words(graph: Graph) -> int:
    return len(graph.position) - 1


def _arcs(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Columns, heads and modifiers."""
    return np.arange(len(graph.head) - 1, dtype=np.int32), graph.head[1:], graph.modifier[1:]
