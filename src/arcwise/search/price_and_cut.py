"""Parse, price and cut (Riedel et al. 2012, algorithm 1): solve a restricted program, add what it lacks, until it lacks nothing.

Beyond the paper, arcs are priced like parts: the program begins with a few arcs into each word. An arc that is outside is known to be
useless if its price pays for the best that all its parts could bring (`arcwise.search.pricing`). Bounds on scores do for most
parts; the others are scored on demand.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats
from arcwise.search.pricing import Duals, Flags, Known, price, wanted_pairs, wanted_steps
from arcwise.search.program import INFEASIBLE, OPTIMAL, Solution
from arcwise.search.restricted_program import Numbers, Restricted, arcs_of_pairs, arcs_of_steps

Tree = NDArray[np.int32]

_HEADS = 3  # of every word that the program begins with: those of its best arcs
_MOST = 2  # arcs into a word that are added at once
_DEAREST = 3  # steps below an arc that are scored at once


class Source(Protocol):
    """Where scores come from. `known` is filled in when they are asked for."""

    graph: Graph
    level: Level
    single_root: bool
    arcs: Floats
    known: Known

    def score_steps(self, steps: Numbers) -> None:
        """Grand parts that are not known yet."""

    def score_pairs(self, pairs: Numbers) -> None:
        """Pairs that are not known yet."""


class Relaxed(NamedTuple):
    """The solution of the linear program. status: as of `Solution`. z: by arcs. value: -inf if there is no solution. bound: no tree
    scores more; the value, once everything is priced.
    """

    status: str
    z: Floats
    value: float
    bound: float


class Missing(NamedTuple):
    """Arcs, steps and pairs to add."""

    arcs: Numbers
    steps: Numbers
    pairs: Numbers


class PriceAndCut:
    """The program of one sentence. It stays alive, and may be solved again with fewer arcs allowed."""

    def __init__(self, source: Source, tree: Tree) -> None:
        """tree: the arcs into the words of some tree, with which the program begins."""
        self.source, self.rounds = source, 0
        self.program = Restricted(source.graph, source.level, source.single_root, source.arcs, source.known)
        self.tolerance = 1e-9 * self.program.scale
        arcs = _best_arcs(source.graph, source.arcs, tree)
        self.program.add_arcs(arcs)
        self._add_below(arcs, arcs)

    def _add_below(self, uppers: Numbers, lowers: Numbers) -> None:
        """The grand parts of these arcs."""
        if not self.program.grand or len(uppers) == 0 or len(lowers) == 0:
            return
        self._add_steps(_steps_between(self.source.graph, self.source.level, uppers, lowers))

    def _add_steps(self, steps: Numbers) -> None:
        self.source.score_steps(steps[np.isnan(self.source.known.grand[steps])])
        self.program.add_steps(steps)

    def solve(self, allowed: Flags, until: float = -np.inf, deadline: float = np.inf) -> Relaxed:
        """The optimum of the whole program over the arcs allowed; or less, once no tree can score more than `until`."""
        program = self.program
        program.allow(allowed)
        best = np.inf
        while True:
            self.rounds += 1
            solution = program.program.solve(deadline - perf_counter())
            if solution.status != OPTIMAL:
                return Relaxed(solution.status, np.zeros(len(allowed)), -np.inf, best)
            z = program.values(solution)
            bound, missing = self._price(solution, z, allowed)
            best = min(best, bound)
            if best <= until:
                return Relaxed(OPTIMAL, z, solution.value, best)
            size = program.size
            program.cut(z)
            self._add(missing, z)
            if program.size == size:
                if program.is_tree(solution):
                    return Relaxed(OPTIMAL, z, solution.value, best)
                if not program.ask_more(best):
                    return Relaxed(INFEASIBLE, z, -np.inf, -np.inf)

    def _price(self, solution: Solution, z: Floats, allowed: Flags) -> tuple[float, Missing]:
        """A bound on all trees, and what is missing."""
        program, source = self.program, self.source
        graph, level, known, inside = source.graph, source.level, source.known, program.inside
        raw, used = program.duals(solution), z > 1e-9
        pairs = np.zeros(0, np.int64)
        if program.siblings:
            for unknown in (True, False):
                pairs = wanted_pairs(
                    graph, known, raw, inside, allowed, program.paired, unknown, self.tolerance
                )
                if unknown:
                    source.score_pairs(pairs)
        while True:
            duals, lack = price(
                graph, level, known, raw, inside, allowed, used, program.there, -program.penalty
            )
            if not program.grand:
                break
            steps = wanted_steps(
                graph, level, known, duals, lack > self.tolerance, allowed, program.there, True, 0.0
            )
            if len(steps) == 0:
                break
            source.score_steps(self._dearest(steps, duals))
        if len(pairs):
            nearer, farther = arcs_of_pairs(graph, pairs)
            np.add.at(lack, farther, known.pair[pairs] - raw.after[nearer] - raw.before[farther])
            pairs = pairs[lack[farther] > self.tolerance]
        most = np.zeros(len(graph.position))
        np.maximum.at(most, graph.modifier, lack)
        bound = solution.value + float(most[1:].sum())
        chosen = _worst(graph, lack, inside, self.tolerance)
        new = np.flatnonzero(chosen & ~inside)
        steps = np.zeros(0, np.int64)
        if program.grand:
            steps = wanted_steps(
                graph, level, known, duals, chosen, allowed, program.there, False, self.tolerance
            )
            lowers = arcs_of_steps(graph, level, steps)[1]
            new = np.union1d(new, lowers[~inside[lowers]])
        return bound, Missing(new, steps, pairs)

    def _dearest(self, steps: Numbers, duals: Duals) -> Numbers:
        """Of the steps below each arc, those that may take most of its slack: their scores may settle it."""
        known = self.source.known
        uppers, lowers = arcs_of_steps(self.source.graph, self.source.level, steps)
        shares = np.minimum(known.below[uppers], known.above[lowers]) - duals.one_gp[lowers]
        order = np.lexsort((-shares, uppers))
        rank = np.arange(len(order)) - np.searchsorted(uppers[order], uppers[order])
        return steps[order[rank < _DEAREST]]

    def _add(self, missing: Missing, z: Floats) -> None:
        """A new arc comes with the parts above it that may be used at once."""
        self.program.add_arcs(missing.arcs)
        self.program.add_steps(missing.steps)
        self.program.add_pairs(missing.pairs)
        self._add_below(np.flatnonzero(z > 1e-9), missing.arcs)


@kernel
def _steps_between(graph: Graph, level: Level, uppers: Numbers, lowers: Numbers) -> Numbers:
    """The steps over one of these arcs and then one of those, unless it leads back."""
    chosen, count = np.zeros(len(graph.head), np.bool_), 0
    chosen[lowers] = True
    for a in uppers:
        count += graph.out[graph.modifier[a] + 1] - graph.out[graph.modifier[a]]
    steps, count = np.empty(count, np.int64), 0
    for a in uppers:
        m = graph.modifier[a]
        for b in range(graph.out[m], graph.out[m + 1]):
            if chosen[b] and graph.modifier[b] != graph.head[a]:
                steps[count] = level.steps[a] + b - graph.out[m]
                count += 1
    return steps[:count]


def _best_arcs(graph: Graph, scores: Floats, tree: Tree) -> Numbers:
    """The best arcs into every word, and those of a tree."""
    order = np.lexsort((-scores, graph.modifier))
    order = order[order > 0]
    rank = np.arange(len(order)) - np.searchsorted(graph.modifier[order], graph.modifier[order])
    good = order[(rank < _HEADS) & (scores[order] > -np.inf)]
    return np.union1d(good, tree[1:])


def _worst(graph: Graph, lack: Floats, inside: Flags, tolerance: float) -> Flags:
    """All arcs inside that lack something, and the worst of those outside into every word."""
    chosen = lack > tolerance
    order = np.flatnonzero(chosen & ~inside)
    order = order[np.lexsort((-lack[order], graph.modifier[order]))]
    rank = np.arange(len(order)) - np.searchsorted(graph.modifier[order], graph.modifier[order])
    chosen[order[rank >= _MOST]] = False
    return chosen
