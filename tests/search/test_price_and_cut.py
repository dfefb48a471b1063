"""Parse, price and cut, and branch and price, checked against all trees of short sentences and against the whole program."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import InputError, NoTreeError, Scores
from arcwise.parts.graph import make_graph
from arcwise.search import price_and_cut
from arcwise.search.branch_and_price import price_tree, tree_score
from arcwise.search.linear_program import ProgramOptions, size_of_scores, solve_program
from arcwise.search.price_and_cut import PriceAndCut
from arcwise.search.priced_tables import TableSource
from arcwise.search.program import Program, Solution
from arcwise.search.restricted_program import arcs_of_pairs, arcs_of_steps
from arcwise.search.second_order import (
    TABLES,
    consecutive_arcs,
    grand_steps,
    heaviest_tree,
    second_order,
    value,
)
from tests.parts import naive
from tests.search.constraints import draw_constraints
from tests.search.dual_problems import ELEMENTS, labelled_case, table_scores

ALL_TABLES = TABLES[1:]
one_or_several_roots = pytest.mark.parametrize("single_root", [True, False])


@contextmanager
def fewer(heads):
    """A program that begins with so many heads a word, and adds and scores one at a time: more is left to pricing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(price_and_cut, "_HEADS", heads)
        if heads == 1:
            patch.setattr(price_and_cut, "_MOST", 1)
            patch.setattr(price_and_cut, "_DEAREST", 1)
        yield


@st.composite
def problems(draw, longest=4):
    """Arcs and some of the tables that programs understand."""
    n, elements = draw(st.integers(1, longest)), draw(st.sampled_from(ELEMENTS))
    names = ["arcs", *sorted(draw(st.sets(st.sampled_from(ALL_TABLES))))]
    return {
        name: draw(arrays.arrays(np.float64, naive.shape(name, n), elements=elements, fill=elements))
        for name in names
    }


def random_tables(rng, n, names=ALL_TABLES, rough=False):
    """rough: with ties and -inf."""
    tables = {name: rng.normal(size=naive.shape(name, n)) for name in ["arcs", *names]}
    if rough:
        tables = {
            name: np.where(rng.random(table.shape) < 0.05, -np.inf, np.round(table))
            for name, table in tables.items()
        }
    return tables


def size_of(tables):
    return max(1.0, *(np.abs(table[np.isfinite(table)]).max(initial=0.0) for table in tables.values()))


def parts_of(tables, single_root):
    """The same tables by the numbers of a graph that has all arcs, also the forbidden ones."""
    size = len(tables["arcs"])
    pairs = [(h, m) for m in range(1, size) for h in range(size) if h != m]
    head, modifier = np.array(pairs, np.int32).T.copy()
    graph = make_graph(np.arange(size, dtype=np.int32), head, modifier)
    return second_order(graph, tables, single_root)


def some_tree(parts):
    return heaviest_tree(parts.graph, parts.arcs, parts.single_root)


def arcs_of(parts, trees):
    """The arcs into the words of many trees, given their heads."""
    graph = parts.graph
    number = np.zeros((len(graph.position),) * 2, np.int64)
    number[graph.head[1:], graph.modifier[1:]] = np.arange(1, len(graph.head))
    return number[trees[:, 1:], np.arange(1, trees.shape[1])]


class Hidden:
    """Shows no grand part and no pair before it is asked for it, and bounds that may be loose."""

    def __init__(self, parts, rng, looseness):
        shown = TableSource(parts)
        self.graph, self.level, self.single_root = shown.graph, shown.level, shown.single_root
        self.arcs, self.truth = shown.arcs, shown.known
        loose = {
            name: getattr(self.truth, name) + looseness * rng.random(len(getattr(self.truth, name)))
            for name in ("below", "above", "nearer", "farther")
        }
        grand, pair = (np.full_like(scores, np.nan) for scores in (self.truth.grand, self.truth.pair))
        self.known = self.truth._replace(grand=grand, pair=pair, **loose)

    def score_steps(self, steps):
        assert len(np.unique(steps)) == len(steps)
        assert np.isnan(self.known.grand[steps]).all()
        uppers, lowers = arcs_of_steps(self.graph, self.level, steps)
        assert (uppers > 0).all()
        assert (self.graph.modifier[lowers] != self.graph.head[uppers]).all()
        self.known.grand[steps] = self.truth.grand[steps]

    def score_pairs(self, pairs):
        assert len(np.unique(pairs)) == len(pairs)
        assert np.isnan(self.known.pair[pairs]).all()
        self.known.pair[pairs] = self.truth.pair[pairs]

    @property
    def scored(self):
        return int((~np.isnan(self.known.grand)).sum() + (~np.isnan(self.known.pair)).sum())


def check_program(search, parts):
    """Only parts are inside whose arcs are, and whose scores are known; no more of them than there are."""
    program, known = search.program, search.source.known
    steps, pairs = np.flatnonzero(program.there), np.flatnonzero(program.paired)
    assert np.isfinite(known.grand[steps]).all()
    assert np.isfinite(known.pair[pairs]).all()
    for arcs in (
        *arcs_of_steps(parts.graph, parts.level, steps),
        *arcs_of_pairs(parts.graph, pairs),
        np.flatnonzero(program.inside),
    ):
        assert program.inside[arcs].all()
        assert (parts.arcs[arcs] > -np.inf).all()
    if isinstance(search.source, Hidden):
        assert search.source.scored <= number_of_parts(parts)


def number_of_parts(parts):
    of_grand = len(grand_steps(parts)[0]) if len(parts.grand) else 0
    return of_grand + (len(consecutive_arcs(parts.graph)[0]) if parts.siblings else 0)


def whole_program(parts, allowed):
    """The value of the program with all parts, -inf without a solution."""
    arcs = np.where(allowed, parts.arcs, -np.inf)
    outcome = solve_program(parts._replace(arcs=arcs), ProgramOptions(), integer=False)
    assert outcome.status in ("optimal", "infeasible")
    return outcome.value if outcome.status == "optimal" else -np.inf


# The front door


@one_or_several_roots
@settings(deadline=None, max_examples=100)
@given(tables=problems(), heads=st.sampled_from([1, 3]), data=st.data())
def test_finds_the_best_tree_and_proves_it(single_root, tables, heads, data):
    trees, of_trees = table_scores(tables, single_root, projective=False)
    constraints, allowed = draw_constraints(data, trees)
    options: dict[str, Any] = {"single_root": single_root, **constraints}
    trees, of_trees = trees[allowed], of_trees[allowed]
    best, size = of_trees.max(initial=-np.inf), size_of(tables)
    scores, tolerance = Scores(**tables), 1e-6 * size
    with fewer(heads):
        if best == -np.inf:
            for exact in (True, False):
                with pytest.raises(NoTreeError):
                    arcwise.decode(scores, decoder="price", exact=exact, **options)
            return
        parse = arcwise.decode(scores, decoder="price", **options)
        again = arcwise.decode(scores, decoder="price", **options)
        relaxed = arcwise.decode(scores, decoder="price", exact=False, **options)
    for found in (parse, relaxed):
        [number] = np.flatnonzero((trees == found.heads).all(axis=1))
        assert of_trees[number] == pytest.approx(found.score, abs=1e-9 * size)
        assert found.stats["status"] == "optimal"
        assert found.stats["integral"] == (found.stats["fractional"] == 0)
        assert found.stats["added"] <= found.stats["parts"]
    assert parse.certified
    assert parse.score == pytest.approx(best, abs=1e-12 * size)
    assert (parse.heads.tolist(), parse.score, parse.stats) == (
        again.heads.tolist(),
        again.score,
        again.stats,
    )
    lp = arcwise.decode(scores, decoder="lp", relaxation="all", connected="cuts", **options)
    assert relaxed.stats["value"] == pytest.approx(lp.stats["value"], abs=tolerance)
    off = tolerance * (
        1 + 8 * len(parse.heads) ** 2
    )  # what the solver's tolerances may come to, which are added
    assert relaxed.bound == pytest.approx(max(lp.stats["value"], relaxed.score), abs=off)
    assert relaxed.certified or not relaxed.stats["integral"]


@one_or_several_roots
def test_longer_sentences(single_root):
    rng = np.random.default_rng(8)
    kinds = [("grandchildren",), ("siblings",), ("none",), ("grandchildren", "none"), ALL_TABLES]
    fractional = branches = 0
    for names, n, rough in product(kinds, (5, 7), (False, True)):
        scores = Scores(**random_tables(rng, n, names, rough))
        options: dict[str, Any] = {"single_root": single_root}
        best = arcwise.decode(scores, decoder="dual", **options)
        parse = arcwise.decode(scores, decoder="price", **options)
        assert parse.certified
        assert parse.score == pytest.approx(best.score, abs=1e-6)
        relaxed = arcwise.decode(scores, decoder="price", exact=False, **options)
        lp = arcwise.decode(scores, decoder="lp", **options)
        assert relaxed.stats["value"] == pytest.approx(lp.stats["value"], abs=1e-5)
        assert relaxed.bound >= best.score - 1e-6 >= relaxed.score - 2e-6
        fractional += not relaxed.stats["integral"]
        branches += parse.stats["branches"]
    assert fractional > 0
    assert branches > 0


@one_or_several_roots
def test_labels(single_root):
    rng = np.random.default_rng(5)
    options: dict[str, Any] = {"single_root": single_root, "decoder": "price"}
    for kind, heads in product(("sibling", "grand-sibling"), (1, 3)):
        for _ in range(4):
            case = labelled_case(kind, rng, 3, single_root, False, senses=False)
            tables = {name: table for name, table in case.scores.tables().items() if name in TABLES}
            assert {"arcs", "siblings"} <= tables.keys()
            assert ("grandchildren" in tables) == (kind == "grand-sibling")
            scores, graph = arcwise.PartScores(case.scores.graph, **tables), case.scores.graph
            with fewer(heads):
                if not case.choices:
                    with pytest.raises(NoTreeError):
                        arcwise.decode(scores, **options)
                    continue
                parse = arcwise.decode(scores, **options)
                expected = arcwise.decode(scores, single_root=single_root, decoder="dual")
                assert parse.certified
                assert parse.score == pytest.approx(expected.score)
                assert parse.heads.tolist() == expected.heads.tolist()
                assert parse.labels == expected.labels
                lp = arcwise.decode(scores, single_root=single_root, decoder="lp")
                relaxed = arcwise.decode(scores, exact=False, **options)
                assert relaxed.stats["value"] == pytest.approx(lp.stats["value"], abs=1e-6)
                h, m = graph.arcs[0].tolist()
                without = [arc for arc in case.choices if graph.arcs[arc[m - 1], 0] != h]
                if without:
                    assert arcwise.decode(scores, forbidden=[(h, m)], **options).heads[m] != h


def test_trees_that_a_missing_word_would_outdo():
    # Without word 1, which only 0 may head, all words could hang from 2 below 0, and score much more.
    for n in (20, 40, 60):
        S, grandchildren = np.zeros((n + 1, n + 1)), np.full((n + 1,) * 3, -1.0)
        S[1:, 1], S[1, 2:] = -np.inf, 0.1
        grandchildren[0, 2], grandchildren[1, 3] = 1.0, -0.5
        parse = arcwise.decode(Scores(S, grandchildren=grandchildren), decoder="price")
        assert parse.certified
        assert parse.heads.tolist() == [-1, 0, 3, 1] + [3] * (n - 3)
        assert parse.stats["value"] >= parse.score - 1e-6


def test_the_root_must_have_modifiers():
    for names in ((), ("siblings",), ("grandchildren", "none")):
        tables = random_tables(np.random.default_rng(3), 4, ("first", *names))
        tables["first"][0] = -np.inf
        for exact, single_root in product((True, False), (True, False)):
            with pytest.raises(NoTreeError):
                arcwise.decode(Scores(**tables), decoder="price", exact=exact, single_root=single_root)


def test_a_time_limit_gives_a_tree_and_its_gap():
    tables = random_tables(np.random.default_rng(1), 6)
    best = arcwise.decode(Scores(**tables))
    for exact in (True, False):
        parse = arcwise.decode(Scores(**tables), decoder="price", seconds=0, exact=exact)
        assert parse.stats["status"] == "time limit"
        assert not parse.stats["integral"]
        assert not parse.certified
        assert np.isfinite(parse.gap)
        assert parse.score <= best.score + 1e-9 <= parse.bound + 2e-9
    forbidden = Scores(np.zeros((3, 3)), grandchildren=np.full((3, 3, 3), -np.inf))
    with pytest.raises(InputError, match="time limit: no tree found, nor proved that there is none"):
        arcwise.decode(forbidden, decoder="price", seconds=0)
    with pytest.raises(NoTreeError):
        arcwise.decode(forbidden, decoder="price")
    assert arcwise.decode(forbidden, decoder="price", single_root=False).heads.tolist() == [-1, 0, 0]


def test_a_solver_failure_gives_a_tree_and_its_gap(monkeypatch):
    rng = np.random.default_rng(2)
    problems = [random_tables(rng, 6) for _ in range(6)]
    best = [arcwise.decode(Scores(**tables)) for tables in problems]
    solve = Program.solve
    failure = Solution("solver failure", np.empty(0), np.empty(0), -np.inf, np.inf)
    later = 0
    for after, exact in product((0, 1, 2, 4, 8), (True, False)):
        for tables, expected in zip(problems, best, strict=True):
            calls = iter(range(after))
            monkeypatch.setattr(
                Program, "solve", lambda *args, calls=calls: failure if next(calls, None) is None else solve(*args)
            )  # fmt: skip
            parse = arcwise.decode(Scores(**tables), decoder="price", exact=exact)
            assert np.isfinite(parse.gap)
            assert parse.score <= expected.score + 1e-6 <= parse.bound + 2e-6
            if after == 0:
                assert parse.stats["status"] == "solver failure"
                assert not parse.certified
                assert not parse.stats["integral"]
            if parse.stats["status"] == "optimal" and exact:
                assert parse.certified
            later += after > 0 and parse.stats["status"] == "solver failure"
    assert later > 0


def test_the_smallest_sentences():
    for names, single_root in product(((), *((name,) for name in ALL_TABLES), ALL_TABLES), (True, False)):
        options: dict[str, Any] = {"single_root": single_root, "decoder": "price"}
        empty = arcwise.decode(
            Scores(**{name: np.zeros(naive.shape(name, 0)) for name in ("arcs", *names)}), **options
        )
        assert (empty.heads.tolist(), empty.score, empty.certified) == ([-1], 0.0, True)
        tables = random_tables(np.random.default_rng(0), 1, names)
        one = arcwise.decode(Scores(**tables), **options)
        assert (one.heads.tolist(), one.certified) == ([-1, 0], True)
        assert one.score == pytest.approx(naive.score(tables, [-1, 0]))


# Scores on demand, bounds and branches


@one_or_several_roots
@settings(deadline=None, max_examples=100)
@given(
    tables=problems(),
    heads=st.sampled_from([1, 3]),
    seed=st.integers(0, 99),
    loose=st.sampled_from([0.0, 0.5, 9.0]),
)
def test_scores_on_demand_are_as_good_as_all(single_root, tables, heads, seed, loose):
    parts = parts_of(tables, single_root)
    if len(tree := some_tree(parts)) == 0:
        return
    _, of_trees = table_scores(tables, single_root, projective=False)
    best, tolerance = of_trees.max(initial=-np.inf), 1e-6 * size_of(tables)
    allowed = parts.arcs > -np.inf
    allowed[0] = False
    expected = whole_program(parts, allowed)
    with fewer(heads):
        for source in (TableSource(parts), Hidden(parts, np.random.default_rng(seed), loose)):
            search = PriceAndCut(source, tree)
            relaxed = search.solve(allowed)
            assert relaxed.value == pytest.approx(expected, abs=tolerance)
            assert relaxed.bound == pytest.approx(expected, abs=tolerance)
            assert relaxed.status == ("optimal" if expected > -np.inf else "infeasible")
            check_program(search, parts)
        source = Hidden(parts, np.random.default_rng(seed), loose)
        found = price_tree(source, exact=True, slack=1e-7 * size_of_scores(parts))
    assert found.score == found.bound == pytest.approx(best, abs=tolerance)
    assert found.status == "optimal"
    assert found.scored == source.scored <= number_of_parts(parts)
    assert found.score == pytest.approx(value(parts, found.tree), abs=1e-9)


@one_or_several_roots
@settings(deadline=None, max_examples=60)
@given(tables=problems(), heads=st.sampled_from([1, 3]), seed=st.integers(0, 99), hidden=st.booleans())
def test_the_bound_of_every_round_holds(single_root, tables, heads, seed, hidden):
    parts = parts_of(tables, single_root)
    trees, of_trees = table_scores(tables, single_root, projective=False)
    arcs, tolerance, slack = arcs_of(parts, trees), 1e-6 * size_of(tables), 1e-7 * size_of_scores(parts)
    real = PriceAndCut._price
    rounds = 0

    def checked(self, solution, z, allowed):
        nonlocal rounds
        rounds += 1
        bound, missing = real(self, solution, z, allowed)
        best = of_trees[allowed[arcs].all(axis=1)].max(initial=-np.inf)
        assert bound >= best - tolerance
        return bound, missing

    source = Hidden(parts, np.random.default_rng(seed), 1.0) if hidden else TableSource(parts)
    with fewer(heads), pytest.MonkeyPatch.context() as patch:
        patch.setattr(PriceAndCut, "_price", checked)
        found = price_tree(source, exact=True, slack=slack)
    assert found.rounds == rounds
    assert found.score == pytest.approx(of_trees.max(initial=-np.inf), abs=tolerance)


@one_or_several_roots
@settings(deadline=None, max_examples=80)
@given(tables=problems(), heads=st.sampled_from([1, 3]), data=st.data())
def test_fewer_arcs_after_an_earlier_solution(single_root, tables, heads, data):
    parts = parts_of(tables, single_root)
    if len(tree := some_tree(parts)) == 0:
        return
    possible = np.flatnonzero(parts.arcs[1:] > -np.inf) + 1
    tolerance = 1e-6 * size_of(tables)
    hidden = data.draw(st.booleans())
    source = Hidden(parts, np.random.default_rng(0), 1.0) if hidden else TableSource(parts)
    with fewer(heads):
        search = PriceAndCut(source, tree)
        for _ in range(4):
            allowed = np.zeros(len(parts.arcs), np.bool_)
            allowed[list(data.draw(st.sets(st.sampled_from(possible.tolist()))))] = True
            if data.draw(st.booleans()):
                allowed[possible] = ~allowed[possible]  # most of them
            expected = whole_program(parts, allowed)
            relaxed = search.solve(allowed)
            check_program(search, parts)
            assert relaxed.value == pytest.approx(expected, abs=tolerance)
            if expected == -np.inf:
                assert (relaxed.status, relaxed.bound) == ("infeasible", -np.inf)
                continue
            assert relaxed.status == "optimal"
            assert relaxed.bound == pytest.approx(expected, abs=tolerance)
            assert not relaxed.z[~allowed].any()
            # No more than is needed to know that no tree is better than this.
            early = search.solve(allowed, until=expected + 1.0)
            assert expected - tolerance <= early.bound <= expected + 1.0 + tolerance


@one_or_several_roots
def test_what_pricing_leaves_out(single_root):
    rng = np.random.default_rng(4)
    for names in (("grandchildren",), ("siblings",), ALL_TABLES):
        tables = random_tables(rng, 14, names)
        tables["arcs"] *= 4
        parts = parts_of(tables, single_root)
        allowed = np.arange(len(parts.arcs)) > 0
        source = Hidden(parts, rng, 0.1)
        search = PriceAndCut(source, some_tree(parts))
        relaxed = search.solve(allowed)
        check_program(search, parts)
        assert relaxed.value == pytest.approx(whole_program(parts, allowed), abs=1e-5)
        program = search.program
        added = int(program.there.sum() + program.paired.sum())
        assert added <= source.scored < number_of_parts(parts) / 2
        assert program.inside.sum() < len(parts.arcs) / 2


@one_or_several_roots
@settings(deadline=None, max_examples=50)
@given(tables=problems(), number=st.integers(0, 10**6))
def test_trees_are_scored_on_demand(single_root, tables, number):
    parts = parts_of(tables, single_root)
    trees, of_trees = table_scores(tables, single_root, projective=False)
    number %= len(trees)
    tree = np.append(0, arcs_of(parts, trees[[number]])[0]).astype(np.int32)
    source = Hidden(parts, np.random.default_rng(0), 1.0)
    for _ in range(2):
        assert tree_score(source, tree) == pytest.approx(of_trees[number], abs=1e-9 * size_of(tables))
        assert source.scored <= 2 * len(tree)
