"""Parse, price and cut on tables of scores that people bring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats
from arcwise.search.branch_and_price import price_tree
from arcwise.search.linear_program import WHOLE, ProgramOptions, no_tree_found, scaled_parts, size_of_scores
from arcwise.search.part_chart import PartChart
from arcwise.search.pricing import Known
from arcwise.search.program import INFEASIBLE
from arcwise.search.restricted_program import Numbers
from arcwise.search.result import Parse
from arcwise.search.second_order import (
    SecondOrder,
    consecutive_arcs,
    second_order,
    value,
)

_NOTHING = np.empty(0)


class TableSource:
    """Scores that are all known (`arcwise.search.price_and_cut.Source`); what is best above, below and beside each arc is exact."""

    def __init__(self, parts: SecondOrder) -> None:
        self.graph, self.level, self.single_root = parts.graph, parts.level, parts.single_root
        self.arcs, number = parts.arcs, len(parts.arcs)
        below = above = nearer = farther = first = last = pair = _NOTHING
        if len(parts.grand):
            below, above = _greatest_steps(self.graph, self.level, parts.grand)
        if parts.siblings:
            first, last = (x if len(x) else np.zeros(number) for x in (parts.first, parts.last))
            pair = parts.pair if len(parts.pair) else np.zeros(int(self.graph.pairs[-1]))
            nearer, farther = (_greatest(number, arcs, pair) for arcs in consecutive_arcs(self.graph))
        self.known = Known(parts.grand, pair, first, last, parts.none, below, above, nearer, farther)

    def score_steps(self, steps: Numbers) -> None:
        """There are none to score."""

    def score_pairs(self, pairs: Numbers) -> None:
        """Nor here."""


@kernel
def _greatest_steps(graph: Graph, level: Level, grand: Floats) -> tuple[Floats, Floats]:
    """By arc, the greatest score of a grand part below it, and of one above it, but for those that lead back."""
    below, above = np.full(len(graph.head), -np.inf), np.full(len(graph.head), -np.inf)
    for a in range(1, len(graph.head)):
        m = graph.modifier[a]
        for b in range(graph.out[m], graph.out[m + 1]):
            if graph.modifier[b] != graph.head[a]:
                score = grand[level.steps[a] + b - graph.out[m]]
                below[a], above[b] = max(below[a], score), max(above[b], score)
    return below, above


@kernel
def _greatest(number: int, arcs: NDArray[np.int32], scores: Floats) -> Floats:
    """By arc, the greatest of its scores."""
    greatest = np.full(number, -np.inf)
    for k in range(len(arcs)):
        greatest[arcs[k]] = max(greatest[arcs[k]], scores[k])
    return greatest


def price_parse(chart: PartChart, options: ProgramOptions) -> Parse:
    """The best tree, or with exact=False the one nearest to the solution of the linear program, whose value is then the bound.

    NoTreeError if there is no tree; InputError if none was found in time.
    """
    parts = second_order(chart.graph, chart.given, chart.single_root)
    scaled, unscaled = scaled_parts(parts)
    slack = 1e-7 * max(1.0, size_of_scores(scaled))
    source = TableSource(scaled)
    found = price_tree(source, exact=options.exact, slack=slack, seconds=options.seconds)
    if found.status == INFEASIBLE or found.bound == -np.inf:
        raise chart.no_tree()
    if found.score == -np.inf:
        raise no_tree_found(chart.place, found.status)
    score = value(parts, found.tree)
    bound = max(score, unscaled(found.bound))
    if found.bound <= found.score + slack or bound <= score + WHOLE * max(1.0, size_of_scores(parts)):
        bound = score
    return chart.parse(
        found.tree, score, bound,
        status=found.status, value=unscaled(found.value), integral=found.value > -np.inf and found.fractional == 0,
        fractional=found.fractional, rounds=found.rounds, arcs_added=found.arcs, added=found.added,
        parts=len(source.known.grand) + len(source.known.pair),
        cuts=found.cuts, branches=found.branches,
    )  # fmt: skip
