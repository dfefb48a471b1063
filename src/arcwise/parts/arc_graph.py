"""Scores that people bring for some arcs only, with labels and senses: a vector over the parts of a sparse graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.folding import FIRST, LAST, NONE, RULES, RUN, SECOND, STEP, Rule, ancestry, sparse_lengths
from arcwise.parts.graph import make_graph, sort_arcs
from arcwise.parts.matrices import as_floats
from arcwise.parts.tables import Floats

_MOST_PAIRS = 1 << 28  # of arcs from one head, of which numbers are kept: 2 GiB


class ArcGraph:
    """Candidate arcs of a sentence of n words, each with a label and with a sense of its head and of its modifier, if these matter.

    A tree takes one arc into each word, such that all arcs from a word leave the sense in which it was entered: so the best tree
    chooses heads, labels and senses (say, tags) together. With L labels an arc and K senses a word, the charts of third order take
    n^4 K^4 L^3 time and n^3 K^3 L^2 memory (Koo 2010, B.5.1); no label or sense that cannot matter should be a candidate.

    arcs: pairs (h, m). labels: of each arc, anything. senses: of each arc, a pair of numbers, those of its head and of its modifier;
    the root has sense 0. The same pair of words may have several arcs.

    >>> graph = ArcGraph(2, [(0, 1), (0, 2), (1, 2), (1, 2)], labels=["root", "root", "obj", "nsubj"])
    >>> graph.parts("grandchildren").tolist()  # arc 0, then arc 2 or arc 3; nothing is above the root's own arcs
    [[-1, 0], [-1, 1], [0, 2], [0, 3]]
    """

    def __init__(self, n: int, arcs: Any, *, labels: Sequence[Any] | None = None, senses: Any = None) -> None:
        pairs = _whole_numbers(arcs, "arcs", "pairs (h, m)")
        self.n, self.labels = n, None if labels is None else list(labels)
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n is {n!r}", expected="a number of words, 1 or more")
        for k, (h, m) in enumerate(pairs.tolist()):
            if not (0 <= h <= n and 1 <= m <= n and h != m):
                raise InputError(
                    f"arc {k} from {h} to {m}", expected=f"a head in 0..{n} and another word in 1..{n}"
                )
        if self.labels is not None and len(self.labels) != len(pairs):
            raise InputError(f"{len(self.labels)} labels", expected=f"one for each of the {len(pairs)} arcs")
        self.senses = (
            np.zeros_like(pairs)
            if senses is None
            else _whole_numbers(senses, "senses", "pairs (head's, modifier's)")
        )
        if len(self.senses) != len(pairs):
            raise InputError(
                f"senses of {len(self.senses)} arcs", expected=f"of each of the {len(pairs)} arcs"
            )
        ends = np.concatenate([[[0, 0]], np.stack([pairs, self.senses], axis=2).reshape(-1, 2)])
        if (self.senses[pairs[:, 0] == 0, 0] != 0).any():
            raise InputError("the root has a sense other than 0", expected="0")
        # A word without arcs is a vertex too: then no tree is found, and said so.
        missing = np.setdiff1d(np.arange(n + 1), ends[:, 0])
        ends = np.concatenate([ends, np.stack([missing, np.zeros_like(missing)], axis=1)])
        vertices, numbers = np.unique(ends, axis=0, return_inverse=True)
        numbers = numbers.reshape(-1)[1 : 2 * len(pairs) + 1].reshape(-1, 2)
        position = vertices[:, 0].astype(np.int32)
        head, modifier = numbers.T.astype(np.int32, order="C")
        out = np.bincount(head, minlength=1).astype(np.int64)
        if int((out * out).sum()) > _MOST_PAIRS:
            raise InputError(
                f"{len(pairs)} arcs between {n} words", expected="fewer: leave out unlikely ones"
            )
        self.arcs = pairs
        self.order = sort_arcs(position, head, modifier)  # arc 1 + i of `graph` is arcs[order[i]]
        self.graph = make_graph(position, head, modifier)
        self.names = np.concatenate([[-1], self.order])  # by the graph's numbers

    def as_given(self, arcs: Floats) -> Floats:
        """Numbers of arcs in the order of the graph, in the order in which the arcs were given."""
        given = np.empty_like(arcs)
        given[self.order] = arcs
        return given

    def parts(self, table: str) -> NDArray[np.int64]:
        """The parts that a table scores, in order, each as the numbers of its arcs from the top down and from the head outwards.

        -1 stands for no arc: before an arc it says that this is the first one on its side, after one that it is the last; above, that
        the head is the root (such grandparents are never scored). Of `none` the second number is the side, 0 or 1.
        """
        if table not in RULES:
            raise InputError(f"table {table!r}", expected=f"one of {', '.join(RULES)}")
        if table == "arcs":
            return np.arange(len(self.arcs))[:, np.newaxis]
        width = max(rule.ancestors + _width(rule.pattern) for rule in RULES[table])
        rows = [self._rows(rule) for rule in RULES[table]]
        assert all(row.shape[1] == width for row in rows)
        return np.concatenate(rows)

    def _rows(self, rule: Rule) -> NDArray[np.int64]:
        graph, names = self.graph, self.names
        if rule.pattern == NONE:
            return np.array([(name, side) for name in names[1:] for side in (0, 1)], np.int64).reshape(-1, 2)
        level = ancestry(graph, rule.ancestors)
        starts = {STEP: level.steps, FIRST: level.steps, LAST: level.steps, RUN: level.runs}.get(
            rule.pattern, level.slots
        )
        spine = np.repeat(np.arange(len(level.head)), np.diff(starts))
        number = np.arange(starts[0], starts[-1]) - starts[spine]  # within the spine
        first = graph.out[level.head[spine]]
        nobody = np.full(len(spine), -1)
        columns = []
        if rule.ancestors == 2:
            columns.append(names[ancestry(graph, 1).arc[level.parent[spine]]])
        if rule.ancestors > 0:
            columns.append(names[level.arc[spine]])
        side = np.where(
            np.arange(len(graph.head)) >= graph.right[graph.head],
            graph.right[graph.head],
            graph.out[graph.head],
        )
        outer = np.repeat(np.arange(len(graph.head)), graph.inner)  # of each pair
        inner = side[outer] + np.arange(len(outer)) - graph.pairs[outer]
        if rule.pattern in (STEP, FIRST, LAST):
            arc = names[first + number]
            columns += {STEP: [arc], FIRST: [nobody, arc], LAST: [arc, nobody]}[rule.pattern]
        elif rule.pattern == RUN:
            pair_of = np.repeat(np.arange(len(outer)), np.diff(graph.triples))
            triple = graph.triples[graph.pairs[first]] + number
            pair = pair_of[triple]
            columns += [
                names[side[outer[pair]] + triple - graph.triples[pair]],
                names[inner[pair]],
                names[outer[pair]],
            ]
        else:
            pair = graph.pairs[first] + number
            columns += [nobody] if rule.pattern == SECOND else []
            columns += [names[inner[pair]], names[outer[pair]]]
        return np.stack(columns, axis=1)


class PartScores:
    """Scores for the parts of an `ArcGraph`: each table a vector over `graph.parts(table)`, `arcs` one over the arcs as given.

    Tables as of `Scores`; absent ones count as zero, -inf forbids a part.

    >>> graph = ArcGraph(1, [(0, 1), (0, 1)], labels=["root", "orphan"])
    >>> PartScores(graph, arcs=[1.0, 2.0]).graph.n
    1
    """

    def __init__(self, graph: ArcGraph, arcs: Any, **tables: Any) -> None:
        if not isinstance(graph, ArcGraph):
            raise InputError(f"{type(graph).__name__} as the graph", expected="an ArcGraph")
        self.graph = graph
        self._tables: dict[str, Floats] = {}
        for name, table in {"arcs": arcs, **tables}.items():
            if name not in RULES:
                raise InputError(f"table {name!r}", expected=f"one of {', '.join(RULES)}")
            floats = as_floats(table, f"{name}: ")
            length = sum(sparse_lengths(name, graph.graph))
            if floats.shape != (length,):
                raise InputError(
                    f"{name} of shape {floats.shape}",
                    expected=f"({length},), one score for each part of the graph",
                )
            self._tables[name] = floats[graph.order] if name == "arcs" else floats

    def tables(self) -> dict[str, Floats]:
        """The tables that are there, by name; `arcs` in the order of the graph."""
        return dict(self._tables)


def _width(pattern: int) -> int:
    """How many arcs from one head a part has, or places for them."""
    return {STEP: 1, NONE: 1, SECOND: 3, RUN: 3}.get(pattern, 2)


def _whole_numbers(pairs: Any, name: str, expected: str) -> NDArray[np.int64]:
    try:
        array = np.asarray(pairs)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.size == 0 and array.dtype != object:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(f"{name} of shape {array.shape} and type {array.dtype}", expected=expected)
    return array.astype(np.int64)
