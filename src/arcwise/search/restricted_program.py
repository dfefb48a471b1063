"""The linear program of second-order trees, restricted to some arcs and parts:

    maximise   arcs . z + grand . z_gp + pairs . z_next + nulls . z_null

    OneHead    sum of z over the arcs into m = 1                             every word m
    Root       sum of z over the arcs from 0 = 1                             with a single root
    Cut        sum of z inside C <= |C| - 1                                  sets C of words, when violated
    OneGP      sum over a of z_gp[a, b] = z[b]                               arcs b inside, but for those from the root
    GPArc      z_gp[a, b] <= z[a]                                            grand parts inside
    Before     sum over b' of z_next[b', b] + z_next[START, b] = z[b]        arcs b inside
    After      sum over b of z_next[b', b] + z_next[b', END] = z[b']         arcs b' inside
    Chain      sum over b of z_next[START, b] + z_next[START, END] = 1       both sides of every word
    OneNull    sum over a of z_null[a, side] = z_next[START, END]            both sides of every word
    NullArc    z_null[a, side] <= z[a]                                       arcs a inside

ArcGP, z[a] + z[b] - z_gp[a, b] <= 1, follows from these: z[b] - z_gp[a, b] is the sum of z_gp[a', b] over the other arcs a' into the
same word, at most that of their z, 1 - z[a].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats
from arcwise.search.pricing import Duals, Flags, Known
from arcwise.search.program import Program, Solution
from arcwise.search.subtours import separate

Numbers = NDArray[np.int64]

_VIOLATED = 1e-6  # by how much a row must be before it is added


class Restricted:
    """The program with the arcs and parts inside it so far; rows follow columns. Words have one sense each.

    inside: by arcs. there, paired: by steps of level 1 and by pairs, the parts inside. sets: (cuts, words), of the rows Cut.
    """

    def __init__(self, graph: Graph, level: Level, single_root: bool, arcs: Floats, known: Known) -> None:
        self.graph, self.level, self.arcs, self.known = graph, level, arcs, known
        self.grand, self.siblings, self.nulls = (len(x) > 0 for x in (known.grand, known.first, known.none))
        self.inside = np.zeros(len(graph.head), np.bool_)
        self.there, self.paired = np.zeros(len(known.grand), np.bool_), np.zeros(len(known.pair), np.bool_)
        self.sets = np.zeros((0, len(graph.position)), np.bool_)
        # Columns and rows of the arcs inside; rows of the sets; rows of GPArc and NullArc, and the arcs that they are about.
        self._column, self._one_gp, self._before, self._after = (
            np.zeros(len(graph.head), np.int64) for _ in range(4)
        )
        self._set_rows, self._guards, self._guarded = (np.zeros(0, np.int64) for _ in range(3))

        words = len(graph.position) - 1
        roots = 1 if single_root and words > 0 else 0
        sides = np.arange(2 * (words + 1) if self.siblings else 0)
        self._root, self._chains, self._no_modifiers = words, words + roots, words + roots + len(sides)
        sums = np.concatenate(
            [np.ones(words + roots + len(sides)), np.zeros(len(sides) if self.nulls else 0)]
        )
        self.program = Program()
        self.program.add_rows(sums, sums, np.zeros(len(sums) + 1), (), ())
        # At a price, a word does without a head or without a null part, and the root without modifiers: so there is always a
        # solution. What is missing in the end is asked for at a greater price (`ask_more`).
        sizes = self._sizes()
        self.scale, self.penalty = max(1.0, *sizes), 16.0 * (1.0 + sum(sizes))
        nulls = sides[2:] if self.nulls else sides[:0]
        missing = np.concatenate([np.arange(words + roots), self._no_modifiers + nulls])
        self._missing = self._add(
            np.full(len(missing), -self.penalty), (np.arange(len(missing)), missing, 1.0)
        )
        must = (sides == 1) & (words > 0)
        empty = self._add(  # START -> END
            np.where(must, -self.penalty, 0.0), (sides, self._chains + sides, 1.0), (nulls, self._no_modifiers + nulls, -1.0)
        )  # fmt: skip
        self._missing = np.append(self._missing, empty[must])

    def _sizes(self) -> list[float]:
        """The greatest score in size, of arcs and of each kind of part."""
        return [float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in (self.arcs, *self.known)]

    @property
    def size(self) -> int:
        """Columns and rows."""
        return self.program.width + self.program.height

    def _add(self, scores: Floats, *entries: tuple[Any, Any, float]) -> Numbers:
        """Columns with entries (which of them, rows, value); returns their numbers."""
        first = self.program.width
        self.program.add_columns(scores, np.inf, *_compress(len(scores), entries))
        return np.arange(first, first + len(scores))

    def _add_rows(self, number: int, lower: Any, upper: Any, *entries: tuple[Any, Any, float]) -> Numbers:
        first = self.program.height
        self.program.add_rows(lower, upper, *_compress(number, entries))
        return np.arange(first, first + number)

    def add_arcs(self, arcs: Numbers) -> None:
        """With the first and the last edge of its chain and its null parts, and the rows of each."""
        arcs = arcs[~self.inside[arcs]]
        graph, known, which = self.graph, self.known, np.arange(len(arcs))
        heads, modifiers = graph.head[arcs], graph.modifier[arcs]
        self.inside[arcs] = True
        lower = which[heads > 0] if self.grand else which[:0]
        entries: list[tuple[Any, Any, float]] = [(which, modifiers - 1, 1.0)]
        if self._chains > self._root:
            entries.append((which[heads == 0], np.full(int((heads == 0).sum()), self._root), 1.0))
        within, of = np.nonzero(self.sets[:, heads] & self.sets[:, modifiers])
        entries.append((of, self._set_rows[within], 1.0))
        self._one_gp[arcs[lower]] = self._add_rows(len(lower), 0.0, 0.0)
        entries.append((lower, self._one_gp[arcs[lower]], -1.0))
        if self.siblings:
            self._before[arcs] = self._add_rows(len(arcs), 0.0, 0.0)
            self._after[arcs] = self._add_rows(len(arcs), 0.0, 0.0)
            entries += [(which, self._before[arcs], -1.0), (which, self._after[arcs], -1.0)]
        self._column[arcs] = self._add(self.arcs[arcs], *entries)
        if self.siblings:
            sides = self._chains + 2 * heads + (modifiers > heads)
            good = np.flatnonzero(known.first[arcs] > -np.inf)
            self._add(
                known.first[arcs[good]], (np.arange(len(good)), self._before[arcs[good]], 1.0),
                (np.arange(len(good)), sides[good], 1.0),
            )  # fmt: skip
            good = np.flatnonzero(known.last[arcs] > -np.inf)
            self._add(known.last[arcs[good]], (np.arange(len(good)), self._after[arcs[good]], 1.0))
        if self.nulls:
            nulls = (2 * arcs[:, None] + np.arange(2)).reshape(-1)
            nulls = nulls[known.none[nulls] > -np.inf]
            rows = self._no_modifiers + 2 * graph.modifier[nulls // 2] + nulls % 2
            columns = self._add(known.none[nulls], (np.arange(len(nulls)), rows, 1.0))
            self._below(columns, nulls // 2)

    def add_steps(self, steps: Numbers) -> None:
        """Grand parts of arcs inside, whose scores are known."""
        steps = steps[~self.there[steps] & (self.known.grand[steps] > -np.inf)]
        uppers, lowers = arcs_of_steps(self.graph, self.level, steps)
        self.there[steps] = True
        self._below(
            self._add(self.known.grand[steps], (np.arange(len(steps)), self._one_gp[lowers], 1.0)), uppers
        )

    def _below(self, columns: Numbers, uppers: Numbers) -> None:
        """Rows that keep parts from being more than the arcs above them."""
        which = np.arange(len(columns))
        rows = self._add_rows(
            len(which), -np.inf, 0.0, (which, columns, 1.0), (which, self._column[uppers], -1.0)
        )
        self._guards, self._guarded = np.append(self._guards, rows), np.append(self._guarded, uppers)

    def add_pairs(self, pairs: Numbers) -> None:
        """Pairs of arcs inside, whose scores are known."""
        pairs = pairs[~self.paired[pairs] & (self.known.pair[pairs] > -np.inf)]
        nearer, farther = arcs_of_pairs(self.graph, pairs)
        self.paired[pairs] = True
        which = np.arange(len(pairs))
        self._add(
            self.known.pair[pairs], (which, self._after[nearer], 1.0), (which, self._before[farther], 1.0)
        )

    def allow(self, allowed: Flags) -> None:
        """Only these arcs may be in a tree."""
        arcs = np.flatnonzero(self.inside)
        self.program.set_upper(self._column[arcs], np.where(allowed[arcs], np.inf, 0.0))

    def values(self, solution: Solution) -> Floats:
        """z, by arcs; 0 outside."""
        return np.where(self.inside, solution.columns[self._column], 0.0)

    def is_tree(self, solution: Solution) -> bool:
        """Whether every word has a head, and no part is missing."""
        return bool(solution.columns[self._missing].sum() < _VIOLATED)

    def ask_more(self, bound: float) -> bool:
        """Raise the price of what is missing; False if a bound on all trees tells that there is none, as each scores more."""
        if bound < -2.0 * len(self.graph.position) * sum(self._sizes()):
            return False
        self.penalty *= 8.0
        self.program.set_scores(self._missing, -self.penalty)
        return True

    def duals(self, solution: Solution) -> Duals:
        """What the rows that are there say of all arcs; those outside get 0 where they have no row."""
        graph, rows = self.graph, np.append(solution.rows, 0.0)
        price = rows[graph.modifier - 1] - self.arcs
        if self._chains > self._root:
            price += np.where(graph.head == 0, rows[self._root], 0.0)
        if len(self.sets):
            weighted = (self.sets * rows[self._set_rows][:, None]).T @ self.sets.astype(np.float64)
            price += weighted[graph.head, graph.modifier]
        one_gp = np.where(self.inside & (graph.head > 0) & self.grand, rows[self._one_gp], 0.0)
        before, after = (
            np.where(self.inside & self.siblings, rows[x], 0.0) for x in (self._before, self._after)
        )
        shares = np.zeros(len(price))
        np.add.at(shares, self._guarded, rows[self._guards])
        sides = 2 * len(graph.position)
        chain, null = (
            rows[self._chains : self._chains + sides],
            rows[self._no_modifiers : self._no_modifiers + sides],
        )
        return Duals(price, one_gp, before, after, shares, chain.copy(), null.copy())

    def cut(self, z: Floats) -> None:
        """Add the rows of sets of words that a solution violates."""
        used, arcs = np.flatnonzero(z > 1e-9), np.flatnonzero(self.inside)
        heads, modifiers = self.graph.head, self.graph.modifier
        sets = separate(len(self.graph.position) - 1, heads[used], modifiers[used], z[used], _VIOLATED)
        if len(sets) == 0:
            return
        most = sets.sum(axis=1) - 1.0
        within = (sets[:, heads[arcs]] & sets[:, modifiers[arcs]]).astype(np.float64)
        known = {words.tobytes() for words in self.sets}  # never twice, whatever the solver's tolerance
        violated = within @ z[arcs] > most + _VIOLATED  # not if a word does without a head
        violated &= [words.tobytes() not in known for words in sets]
        sets, (row, of) = sets[violated], np.nonzero(within[violated])
        rows = self._add_rows(len(sets), -np.inf, most[violated], (row, self._column[arcs[of]], 1.0))
        self.sets, self._set_rows = np.concatenate([self.sets, sets]), np.append(self._set_rows, rows)


def _compress(number: int, entries: tuple[tuple[Any, Any, float], ...]) -> tuple[Any, Any, Floats]:
    """Sparse columns (or rows): where each begins, the rows (columns) of its entries, and their values."""
    if not entries:
        return np.zeros(number + 1, np.int32), np.zeros(0, np.int32), np.zeros(0)
    which, where = (np.concatenate([entry[i] for entry in entries]) for i in range(2))
    values = np.repeat([entry[2] for entry in entries], [len(entry[0]) for entry in entries])
    return _sorted(number, which.astype(np.int64), where.astype(np.int64), values)


@kernel
def _sorted(
    number: int, which: Numbers, where: Numbers, values: Floats
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    starts, at, sorted_ = np.zeros(number + 2, np.int32), np.empty(len(which), np.int32), np.empty(len(which))
    for i in which:
        starts[i + 2] += 1
    for i in range(number):
        starts[i + 2] += starts[i + 1]
    for k in range(len(which)):
        place = starts[which[k] + 1]
        at[place], sorted_[place] = where[k], values[k]
        starts[which[k] + 1] += 1
    return starts[: number + 1], at, sorted_


def arcs_of_steps(graph: Graph, level: Level, steps: Numbers) -> tuple[Numbers, Numbers]:
    """The upper and the lower arc of grand parts, given by steps of level 1."""
    uppers = np.searchsorted(level.steps, steps, "right") - 1
    return uppers, steps - level.steps[uppers] + graph.out[graph.modifier[uppers]]


def arcs_of_pairs(graph: Graph, pairs: Numbers) -> tuple[Numbers, Numbers]:
    """The nearer and the farther arc of pairs."""
    farther = np.searchsorted(graph.pairs, pairs, "right") - 1
    head = graph.head[farther]
    side = np.where(farther >= graph.right[head], graph.right[head], graph.out[head])
    return pairs - graph.pairs[farther] + side, farther
