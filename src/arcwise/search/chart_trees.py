"""The best tree of a chart, and the k best."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from arcwise.parts.graph import Ints
from arcwise.search.chart import KIND, LISTED, ONE, TWO, Chart, Y, Z, find_ways, make_ways
from arcwise.search.derivations import chart_tree
from arcwise.search.part_chart import PartChart
from arcwise.search.passes import forward
from arcwise.search.result import Parse


def best_parse(parts: PartChart) -> Parse:
    """The best tree; NoTreeError if there is none."""
    arcs = np.zeros(parts.graph.position[-1] + 1, np.int32)
    score = chart_tree(parts.graph, parts.levels, parts.kind, parts.tables, parts.single_root, arcs)
    if score == -np.inf:
        raise parts.no_tree()
    return parts.parse(arcs, score, score)


def k_best_parses(parts: PartChart, k: int) -> list[Parse]:
    """The k best trees, best first, or all if there are fewer; NoTreeError if there is none."""
    trees = k_best_arcs(parts.chart(), k)
    if not trees:
        raise parts.no_tree()
    best = trees[0][0]
    return [parts.parse(arcs, score, best, rank=rank) for rank, (score, arcs) in enumerate(trees, start=1)]


def k_best_arcs(chart: Chart, k: int) -> list[tuple[float, Ints]]:
    """The scores of the k best trees of an empty chart, and the arcs into their words."""
    if forward(chart, False) == -np.inf:
        return []
    trees = _LazyTrees(chart)
    found: list[tuple[float, Ints]] = []
    while len(found) < k and (derivation := trees.derivation(chart.width - 1, len(found))) is not None:
        found.append((-derivation.cost, trees.arcs(len(found))))
    return found


class _Derivation(NamedTuple):
    """One way to build an item from derivations of its two cells, given by their ranks; the best one of a cell comes first."""

    cost: float  # minus the score
    way: int
    first: int
    second: int


class _Cell:
    """The derivations of one cell, as far as anyone asked."""

    def __init__(self, ways: list[tuple[int, int]], costs: list[float]) -> None:
        self.ways, self.costs = ways, costs  # of each way its two cells, and the cost of its best derivation
        self.waiting = [_Derivation(cost, way, 0, 0) for way, cost in enumerate(costs)]
        heapq.heapify(self.waiting)
        self.found: list[_Derivation] = []
        self.next: list[
            tuple[int, int, int]
        ] = []  # may come after what was found last: looked at when someone asks
        self.seen: set[tuple[int, int, int]] = set()
        self.exhausted = False


class _LazyTrees:
    """The derivations of every cell from the best on, each found when it is asked for (Huang and Chiang 2005, algorithm 3).

    For the best tree O(n) cells are looked at, and for each further one those where it may differ: in charts up to the third
    order O(n^2) time and memory a tree at most, beside the chart itself.
    """

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._room = make_ways(chart.width, chart.graph.out, 1)
        self._cells: dict[int, _Cell] = {}

    def derivation(self, cell: int, rank: int) -> _Derivation | None:
        """The derivation of this rank, from 0, of a cell; None if it has fewer."""
        # It may need the next derivation of a cell below, and so on down: an agenda, so that deep trees do no harm.
        agenda = [(cell, rank)]
        while agenda:
            missing = self._advance(*agenda[-1])
            if missing is None:
                agenda.pop()
            else:
                agenda.append(missing)
        found = self._cells[cell].found
        return found[rank] if rank < len(found) else None

    def arcs(self, rank: int) -> Ints:
        """The arc into each word of the tree of this rank."""
        chart = self.chart
        arcs = np.zeros(chart.width - 1, np.int32)
        agenda = [(chart.width - 1, rank)]
        while agenda:
            cell, rank = agenda.pop()
            number = chart.item[cell]
            if number < 0:
                continue
            kind = chart.items[number, KIND]
            if kind in (ONE, TWO):
                b = chart.items[number, Y if kind == ONE else Z]
                arcs[chart.graph.position[chart.graph.modifier[b]]] = b
            derivation = self.derivation(cell, rank)
            assert derivation is not None
            first, second = self._cells[cell].ways[derivation.way]
            agenda += [(first, derivation.first), (second, derivation.second)]
        return arcs

    def _advance(self, at: int, rank: int) -> tuple[int, int] | None:
        """Find the derivations of a cell up to a rank, or all; returns what must be found before, if anything."""
        cell = self._cells.get(at) or self._open(at)
        while len(cell.found) <= rank and not cell.exhausted:
            while cell.next:
                way, i, j = cell.next[-1]
                below = list(zip(cell.ways[way], (i, j), strict=True))
                for missing in below:
                    if self._is_missing(*missing):
                        return missing
                cell.next.pop()
                cost = cell.costs[way] + sum(self._loss(*derivation) for derivation in below)
                if cost < np.inf:
                    heapq.heappush(cell.waiting, _Derivation(cost, way, i, j))
            if not cell.waiting:
                cell.exhausted = True
                return None
            found = heapq.heappop(cell.waiting)
            cell.found.append(found)
            for step in (
                (found.way, found.first + 1, found.second),
                (found.way, found.first, found.second + 1),
            ):
                if step not in cell.seen:
                    cell.seen.add(step)
                    cell.next.append(step)
        return None

    def _is_missing(self, at: int, rank: int) -> bool:
        """Whether nobody knows yet if a cell has a derivation of this rank."""
        cell = self._cells.get(at)
        return rank > 0 and (cell is None or (len(cell.found) <= rank and not cell.exhausted))

    def _loss(self, at: int, rank: int) -> float:
        """How much worse than the best a derivation of a cell is; inf if there is none of this rank."""
        if rank == 0:
            return 0.0
        found = self._cells[at].found
        return found[rank].cost - found[0].cost if rank < len(found) else np.inf

    def _open(self, at: int) -> _Cell:
        chart, room = self.chart, self._room
        number = int(chart.item[at])
        if number < 0:
            cell = _Cell([], [])
            cell.found.append(_Derivation(-float(chart.cells[at]), 0, 0, 0))
            cell.exhausted = True
        else:
            find_ways(chart, number, number + 1, room, LISTED)
            count = int(room.start[1])
            ways = list(zip(room.first[:count].tolist(), room.second[:count].tolist(), strict=True))
            cell = _Cell(ways, (-room.score[:count]).tolist())
        self._cells[at] = cell
        return cell
