"""Problems for dual decomposition, and all trees of each with their scores."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import strategies as st

from arcwise import ArcGraph, HeadAutomata, PartScores, Scores
from arcwise.search import part_chart
from arcwise.search.automata import Automata
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.state_automata import state_automata
from arcwise.trees.enumerate import all_trees
from tests.parts import naive, naive_automata
from tests.search import test_charts
from tests.search.test_arc_graphs import arc_parts, random_graph

# Every kind of automata, and the chart that understands the same tables.
KINDS = {
    "sibling": "sibling",
    "grand-sibling": "model1",
    "tri-sibling": "tri-sibling",
    "grand-tri-sibling": "grand-tri-sibling",
}
TABLES = {kind: test_charts.CHARTS[chart] for kind, chart in KINDS.items()}
STATES = "states"  # HeadAutomata
ELEMENTS = [
    st.integers(-2, 2).map(float),  # ties
    st.integers(-2, 2).map(float) | st.just(-np.inf),
    st.sampled_from([0.0, 1.0, -np.inf]),  # mostly no tree
    st.floats(-3, 3),
    st.floats(-1e4, 1e4),
]


class Case(NamedTuple):
    """scores: for `decode`. trees: heads of all trees, constraints kept, and their scores `of_trees`."""

    scores: Any
    trees: Any
    of_trees: Any
    options: dict[str, Any]

    @property
    def best(self) -> float:
        return float(self.of_trees.max(initial=-np.inf))

    @property
    def tolerance(self) -> float:
        return 1e-12 * float(np.abs(self.of_trees[self.of_trees > -np.inf]).max(initial=1.0))

    def score_of(self, heads: Any) -> float:
        """The score of a tree, which must be one of those that are allowed."""
        [number] = np.flatnonzero((self.trees == heads).all(axis=1))
        return float(self.of_trees[number])


@cache
def tree_parts(n: int, single_root: bool, projective: bool) -> Any:
    """All trees, and for each table (numbers of trees, index): all parts of all trees."""
    trees = all_trees(n, single_root, projective)
    found: dict[str, list[tuple[int, ...]]] = {}
    for number, heads in enumerate(trees.tolist()):
        for table, index in naive.parts(heads):
            found.setdefault(table, []).append((number, *index))
    return trees, {table: np.array(parts).T for table, parts in found.items()}


def table_scores(tables: dict[str, Any], single_root: bool, projective: bool) -> tuple[Any, Any]:
    """All trees, and their scores by tables of parts."""
    trees, parts = tree_parts(len(tables["arcs"]) - 1, single_root, projective)
    scores = np.zeros(len(trees))
    for name, table in tables.items():
        if name in parts:
            number, *index = parts[name]
            np.add.at(scores, number, table[tuple(index)])
    return trees, scores


@st.composite
def head_automata(draw, longest=4):
    """Tables of `HeadAutomata`."""
    n, states = draw(st.integers(1, longest)), draw(st.integers(1, 3))
    elements = draw(st.sampled_from(ELEMENTS))
    shapes = {
        "arcs": (n + 1, n + 1),
        "left": (n + 1, states, states, n + 1),
        "right": (n + 1, states, states, n + 1),
    }
    for end in ("left_end", "right_end"):
        if draw(st.booleans()):
            shapes[end] = (n + 1, states)
    return {
        name: draw(arrays.arrays(np.float64, shape, elements=elements, fill=elements))
        for name, shape in shapes.items()
    }


@st.composite
def cases(draw, kind, single_root, projective, constrained=False):
    """A problem for automata of a kind."""
    if kind == STATES:
        tables = draw(head_automata())
        trees = all_trees(len(tables["arcs"]) - 1, single_root, projective)
        scores: Any = HeadAutomata(**tables)
        of_trees = naive_automata.scores(tables, trees)
    else:
        tables = draw(test_charts.problems(KINDS[kind]))
        scores = Scores(**tables)
        trees, of_trees = table_scores(tables, single_root, projective)
    options: dict[str, Any] = {"single_root": single_root, "projective": projective, "decoder": "dual"}
    if constrained:
        n = trees.shape[1] - 1
        arcs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
        heads = {m: h for h, m in draw(st.lists(st.sampled_from(arcs), max_size=2))}
        options["required"] = [(h, m) for m, h in heads.items()]
        options["forbidden"] = [
            (h, m) for h, m in draw(st.lists(st.sampled_from(arcs), max_size=3)) if heads.get(m) != h
        ]
        allowed = np.ones(len(trees), bool)
        for h, m in options["required"]:
            allowed &= trees[:, m] == h
        for h, m in options["forbidden"]:
            allowed &= trees[:, m] != h
        trees, of_trees = trees[allowed], of_trees[allowed]
    return Case(scores, trees, of_trees, options)


def random_case(kind, rng, n, single_root, projective, rough=False):
    """A problem that needs more than agreement now and then. rough: with ties and -inf."""
    names = ["arcs", *TABLES.get(kind, [])]
    shapes = {name: naive.shape(name, n) for name in names}
    if kind == STATES:
        shapes |= {"left": (n + 1, 2, 2, n + 1), "right": (n + 1, 2, 2, n + 1), "left_end": (n + 1, 2)}
    tables = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    if rough:
        tables = {
            name: np.where(rng.random(table.shape) < 0.05, -np.inf, np.round(table))
            for name, table in tables.items()
        }
    options = {"single_root": single_root, "projective": projective, "decoder": "dual"}
    if kind == STATES:
        trees = all_trees(n, single_root, projective)
        return Case(HeadAutomata(**tables), trees, naive_automata.scores(tables, trees), options)
    return Case(Scores(**tables), *table_scores(tables, single_root, projective), options)


class Labelled(NamedTuple):
    """A problem with labels, and perhaps senses. choices: all ways to take an arc into each word, and their scores."""

    scores: PartScores
    choices: list[tuple[int, ...]]
    of_choices: Any


def labelled_case(kind, rng, n, single_root, projective, senses):
    """A random problem with up to two labels an arc and, if asked for, two senses a word."""
    graph = random_graph(rng, n)
    if not senses:
        graph = ArcGraph(n, graph.arcs, labels=graph.labels)
    names = ["arcs", *(table for table in TABLES[kind] if table != "first")]
    tables = {table: rng.normal(size=len(graph.parts(table))) for table in names}
    by_part = {
        table: dict(zip(map(tuple, graph.parts(table).tolist()), scores.tolist(), strict=True))
        for table, scores in tables.items()
    }
    choices = list(_choices(graph, single_root, projective))
    of_choices = [
        sum(by_part[table][part] for table, part in arc_parts(graph, choice) if table in by_part)
        for choice in choices
    ]
    return Labelled(PartScores(graph, **tables), choices, np.array(of_choices))


def _choices(graph, single_root, projective):
    """All ways to take an arc into every word, such that they form a tree that leaves a word in the sense in which it was entered."""
    for heads in all_trees(graph.n, single_root, projective):
        arcs = [
            np.flatnonzero((graph.arcs == (heads[m], m)).all(axis=1)).tolist() for m in range(1, graph.n + 1)
        ]
        for choice in product(*arcs):
            sense = [0, *graph.senses[list(choice), 1]]
            if all(sense[graph.arcs[a][0]] == graph.senses[a][0] for a in choice):
                yield choice


@contextmanager
def forced(kind):
    """Automata of this kind, where the tables would do with a cheaper one."""
    with pytest.MonkeyPatch.context() as patch:
        if kind != STATES:
            patch.setattr(part_chart, "pick_automata", lambda tables: kind)
        yield


def automata_of(kind, scores, single_root, projective=False) -> tuple[part_chart.PartChart, Automata]:
    """The automata of a problem; kind: any of KINDS, or another word for those that fit."""
    with forced(kind if kind in KINDS else STATES):
        parts = part_chart.part_chart(
            scores, projective=projective, single_root=single_root, decoder="dual", dual=True
        )
    if isinstance(scores, HeadAutomata):
        ends = scores.left_end, scores.right_end
        return parts, state_automata(parts.graph, parts.arcs, scores.left, scores.right, *ends, single_root)
    return parts, sibling_automata(parts.kind, parts.graph, parts.levels[0], parts.tables, single_root)
