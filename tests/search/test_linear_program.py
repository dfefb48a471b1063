"""Linear and integer programs over part tables, checked against all trees of short sentences: values, bounds, certificates."""

from __future__ import annotations

import builtins
from itertools import product
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import ArcGraph, ArcwiseError, InputError, NoTreeError, PartScores, Scores
from arcwise.parts.graph import make_graph
from arcwise.search import part_chart
from arcwise.search.arborescence import CONNECTED
from arcwise.search.part_polytopes import RELAXATIONS
from arcwise.search.program import Program, Solution
from arcwise.search.second_order import TABLES, easy_bound, second_order, value
from tests.parts import naive
from tests.search.constraints import draw_constraints
from tests.search.dual_problems import ELEMENTS, table_scores
from tests.search.test_arc_graphs import arc_parts, random_graph

FORMULATIONS: list[dict[str, Any]] = [
    {"relaxation": relaxation, "connected": connected}
    for relaxation, connected in product(RELAXATIONS, CONNECTED)
]
one_or_several_roots = pytest.mark.parametrize("single_root", [True, False])


@st.composite
def problems(draw, longest=4):
    """Arcs and some of the tables that programs understand."""
    n, elements = draw(st.integers(1, longest)), draw(st.sampled_from(ELEMENTS))
    names = ["arcs", *sorted(draw(st.sets(st.sampled_from(TABLES[1:]))))]
    return {
        name: draw(arrays.arrays(np.float64, naive.shape(name, n), elements=elements, fill=elements))
        for name in names
    }


def random_tables(rng, n, names=TABLES[1:]):
    return {name: rng.normal(size=naive.shape(name, n)) for name in ["arcs", *names]}


def check_values(values, tolerance):
    """The relaxations that are tighter than others."""
    for connected in CONNECTED:
        both = min(values["pairs", connected], values["sums", connected])
        assert values["all", connected] <= both + tolerance
    for relaxation in RELAXATIONS:
        single, multi, cuts = (
            values[relaxation, connected] for connected in ("single-flow", "multi-flow", "cuts")
        )
        assert multi == pytest.approx(cuts, abs=tolerance)
        assert cuts <= single + tolerance


@one_or_several_roots
@settings(deadline=None, max_examples=60)
@given(tables=problems(), data=st.data())
def test_values_and_trees_of_all_formulations(single_root, tables, data):
    trees, of_trees = table_scores(tables, single_root, projective=False)
    constraints, allowed = draw_constraints(data, trees)
    options: dict[str, Any] = {"single_root": single_root, **constraints}
    trees, of_trees = trees[allowed], of_trees[allowed]
    best = of_trees.max(initial=-np.inf)
    size = max(1.0, *(np.abs(table[np.isfinite(table)]).max(initial=0.0) for table in tables.values()))
    tolerance = 1e-6 * size
    values = {}
    for formulation in FORMULATIONS:
        for decoder in ("lp", "ilp"):
            if best == -np.inf:
                with pytest.raises(NoTreeError):
                    arcwise.decode(Scores(**tables), decoder=decoder, **options, **formulation)
                continue
            parse = arcwise.decode(Scores(**tables), decoder=decoder, **options, **formulation)
            [number] = np.flatnonzero((trees == parse.heads).all(axis=1))
            assert of_trees[number] == pytest.approx(parse.score, abs=1e-9 * size)
            assert parse.bound >= best - 1e-12 * size
            assert parse.stats["value"] >= best - tolerance
            assert parse.stats["status"] == "optimal"
            assert parse.stats["integral"] == (parse.stats["fractional"] == 0)
            assert {name: parse.stats[name] for name in formulation} == formulation
            if decoder == "ilp" or parse.stats["integral"]:
                assert parse.certified
                assert parse.score == pytest.approx(best, abs=1e-12 * size)
            if decoder == "lp":
                values[tuple(formulation.values())] = parse.stats["value"]
    if values:
        check_values(values, tolerance)


@one_or_several_roots
def test_five_words(single_root):
    rng = np.random.default_rng(7)
    fractional = {tuple(formulation.values()): 0 for formulation in FORMULATIONS}
    for names in (("grandchildren",), ("siblings",), ("none",), TABLES[1:]):
        for _ in range(1 if len(names) == 1 else 2):
            tables, values = random_tables(rng, 5, names), {}
            best = table_scores(tables, single_root, False)[1].max()
            for formulation in FORMULATIONS:
                parse = arcwise.decode(Scores(**tables), decoder="lp", single_root=single_root, **formulation)
                key = tuple(formulation.values())
                values[key] = parse.stats["value"]
                fractional[key] += not parse.stats["integral"]
                assert parse.bound >= best - 1e-6 >= parse.score - 2e-6
                parse = arcwise.decode(
                    Scores(**tables), decoder="ilp", single_root=single_root, **formulation
                )
                assert parse.certified
                assert parse.score == pytest.approx(best)
            check_values(values, 1e-6)
    assert all(fractional[relaxation, "cuts"] > 0 for relaxation in RELAXATIONS)
    assert fractional["all", "cuts"] <= min(fractional["pairs", "cuts"], fractional["sums", "cuts"])


@one_or_several_roots
def test_without_parts_all_but_single_flow_are_exact(single_root):
    rng = np.random.default_rng(3)
    for n in (1, 2, 6, 12):
        for _ in range(10):
            S = np.round(rng.normal(size=(n + 1, n + 1)) * 2)
            best = arcwise.decode(S, single_root=single_root).score
            for connected in CONNECTED:
                parse = arcwise.decode(S, decoder="lp", connected=connected, single_root=single_root)
                if connected != "single-flow":
                    assert parse.certified
                    assert parse.stats["value"] == pytest.approx(best)
                assert parse.bound >= best - 1e-6


@one_or_several_roots
def test_labels(single_root):
    rng = np.random.default_rng(5)
    for _ in range(4):
        graph = random_graph(rng, 3)
        labels: Any = graph.labels
        graph = ArcGraph(3, graph.arcs, labels=labels)
        tables = {name: rng.normal(size=len(graph.parts(name))) for name in TABLES if name != "first"}
        by_part = {
            name: dict(zip(map(tuple, graph.parts(name).tolist()), table.tolist(), strict=True))
            for name, table in tables.items()
        }
        choices = {}
        for arcs in product(*(np.flatnonzero(graph.arcs[:, 1] == m).tolist() for m in (1, 2, 3))):
            heads = [-1, *(int(graph.arcs[a, 0]) for a in arcs)]
            if arcwise.trees.is_tree(heads, single_root=single_root):
                parts = arc_parts(graph, arcs)
                choices[arcs] = sum(by_part[name][part] for name, part in parts if name in by_part)
        scores = PartScores(graph, **tables)
        for formulation in FORMULATIONS:
            options: dict[str, Any] = {"single_root": single_root, **formulation}
            if not choices:
                with pytest.raises(NoTreeError):
                    arcwise.decode(scores, decoder="lp", **options)
                continue
            best = max(choices, key=lambda choice: choices[choice])
            parse = arcwise.decode(scores, decoder="ilp", **options)
            assert parse.certified
            assert parse.score == pytest.approx(choices[best])
            assert parse.labels == [labels[a] for a in best]
            relaxed = arcwise.decode(scores, decoder="lp", **options)
            assert relaxed.bound >= parse.score - 1e-6 >= relaxed.score - 2e-6
            h, m = graph.arcs[best[0]].tolist()
            forced = arcwise.decode(scores, decoder="ilp", required=[(h, m)], **options)
            assert forced.score == pytest.approx(parse.score)


@one_or_several_roots
@settings(deadline=None, max_examples=60)
@given(tables=problems())
def test_the_easy_bound_holds(single_root, tables):
    trees, of_trees = table_scores(tables, single_root, projective=False)
    allowed = np.isfinite(tables["arcs"])
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = False
    head, modifier = (ends.astype(np.int32) for ends in np.nonzero(allowed))
    graph = make_graph(np.arange(trees.shape[1], dtype=np.int32), head, modifier)
    parts = second_order(graph, tables, single_root)
    assert easy_bound(parts) >= of_trees.max(initial=-np.inf) - 1e-9 * np.abs(
        of_trees[np.isfinite(of_trees)]
    ).max(initial=1.0)
    numbers = {
        (h, m): b for b, (h, m) in enumerate(zip(graph.head.tolist(), graph.modifier.tolist(), strict=True))
    }
    for heads, score in zip(trees.tolist(), of_trees, strict=True):
        if score > -np.inf:
            tree = np.array([0, *(numbers[heads[m], m] for m in range(1, len(heads)))], np.int32)
            assert value(parts, tree) == pytest.approx(score)


def test_a_time_limit_gives_a_tree_and_its_gap():
    rng = np.random.default_rng(1)
    tables = random_tables(rng, 6)
    best = arcwise.decode(Scores(**tables))
    for decoder, formulation in product(("lp", "ilp"), FORMULATIONS):
        parse = arcwise.decode(Scores(**tables), decoder=decoder, seconds=0, **formulation)
        assert parse.stats["status"] == "time limit"
        assert not parse.stats["integral"]
        assert np.isfinite(parse.gap)
        assert parse.score <= best.score + 1e-9 <= parse.bound + 2e-9
    forbidden = Scores(np.zeros((3, 3)), grandchildren=np.full((3, 3, 3), -np.inf))
    with pytest.raises(InputError, match="time limit: no tree found, nor proved that there is none"):
        arcwise.decode(forbidden, decoder="lp", seconds=0)
    with pytest.raises(NoTreeError):
        arcwise.decode(forbidden, decoder="lp")
    assert arcwise.decode(forbidden, decoder="lp", single_root=False).heads.tolist() == [-1, 0, 0]


def test_a_solver_failure_gives_a_tree_and_its_gap(monkeypatch):
    tables = random_tables(np.random.default_rng(1), 6)
    best = arcwise.decode(Scores(**tables))
    failure = Solution("solver failure", np.empty(0), np.empty(0), -np.inf, np.inf)
    monkeypatch.setattr(Program, "solve", lambda *_: failure)
    for decoder in ("lp", "ilp"):
        parse = arcwise.decode(Scores(**tables), decoder=decoder)
        assert parse.stats["status"] == "solver failure"
        assert not parse.certified
        assert parse.score <= best.score + 1e-9 <= parse.bound + 2e-9


def test_several_problems_and_threads():
    rng = np.random.default_rng(0)
    problems = [Scores(**random_tables(rng, n)) for n in range(6)]
    for decoder in ("lp", "ilp"):
        alone = [arcwise.decode(scores, decoder=decoder) for scores in problems]
        together = arcwise.decode(problems, decoder=decoder, jobs=2)
        for parse, again in zip(alone, together, strict=True):
            assert parse.heads.tolist() == again.heads.tolist()
            assert (parse.score, parse.bound, parse.stats) == (again.score, again.bound, again.stats)


def test_refusals(monkeypatch):
    S, cube = np.zeros((4, 4)), np.zeros((4, 4, 4))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"relaxation": "some"}, "relaxation is 'some', expected 'all' or 'pairs' or 'sums'"),
        ({"connected": "flow"}, "connected is 'flow', expected 'cuts' or 'single-flow' or 'multi-flow'"),
        ({"seconds": -1}, "seconds is -1, expected a number, 0 or more"),
        ({"seconds": np.nan}, "seconds is nan, expected"),
        ({"seconds": "1"}, "seconds is '1', expected"),
        ({"projective": True}, "decoder 'lp' with projective=True, expected projective=False"),
    ]
    for options, error in wrong:
        with pytest.raises(InputError, match=error):
            arcwise.decode(Scores(S), **{"decoder": "lp", **options})
    others: list[dict[str, Any]] = [{"relaxation": "sums"}, {"connected": "single-flow"}]
    for option in others:
        with pytest.raises(
            InputError, match=r"with decoder 'price', expected one of the decoders lp, ilp for it"
        ):
            arcwise.decode(Scores(S), decoder="price", **option)
    for decoder in ("lp", "ilp", "price"):
        with pytest.raises(
            InputError, match=f"tri_siblings for decoder '{decoder}', expected no tables but arcs, sib"
        ):
            arcwise.decode(Scores(S, siblings=cube, tri_siblings=np.zeros((4,) * 4)), decoder=decoder)
        senses = ArcGraph(1, [(0, 1), (0, 1)], senses=[(0, 0), (0, 1)])
        with pytest.raises(InputError, match="several senses, expected decoder 'dual'"):
            arcwise.decode(PartScores(senses, arcs=[1.0, 2.0]), decoder=decoder)
        with pytest.raises(
            InputError, match=f"HeadAutomata for decoder '{decoder}', expected decoder 'dual'"
        ):
            arcwise.decode(arcwise.HeadAutomata(S, *np.zeros((2, 4, 1, 1, 4))), decoder=decoder)
    cube[1, 2, 3] = np.nan
    with pytest.raises(InputError, match=r"grandchildren\[1, 2, 3\] is nan"):
        arcwise.decode(Scores(S, grandchildren=cube), decoder="lp")
    with pytest.raises(NoTreeError, match="with exactly one root"):
        arcwise.decode(Scores(S), decoder="lp", required=[(0, 1), (0, 2)])
    monkeypatch.setattr(part_chart, "MOST_BYTES", 40_000)
    assert arcwise.decode(Scores(S), decoder="lp").certified is True
    large: list[tuple[Scores, dict[str, Any]]] = [
        (Scores(S), {"connected": "multi-flow"}),
        (Scores(S, siblings=np.zeros((4, 4, 4))), {"relaxation": "pairs"}),
        (Scores(S, grandchildren=np.zeros((4, 4, 4))), {}),
    ]
    for scores, formulation in large:
        with pytest.raises(InputError, match=r"for which the program takes .* fewer arcs"):
            arcwise.decode(scores, decoder="lp", **formulation)


def test_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "highspy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ArcwiseError, match=r'linear programs need HiGHS: pip install "arcwise\[lp\]"'):
        arcwise.decode(np.zeros((3, 3)), decoder="lp")
