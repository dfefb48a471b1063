"""Dual decomposition and its finish, checked against all trees of short sentences: certificates, bounds and traces."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import HeadAutomata, InputError, NoTreeError, Scores
from arcwise.parts.scores import TABLES as ALL_TABLES
from arcwise.search import part_chart
from arcwise.search.sibling_automata import AUTOMATA
from tests.parts import naive
from tests.search.dual_problems import KINDS, STATES, TABLES, cases, forced, labelled_case, random_case

every_kind = pytest.mark.parametrize(
    ("kind", "single_root", "projective"),
    [
        pytest.param(kind, single_root, projective, id=f"{kind}-{'one-root' if single_root else 'roots'}{'-projective' * projective}")
        for kind, single_root, projective in product([*KINDS, STATES], (True, False), (False, True))
    ],
)  # fmt: skip


def test_every_kind_is_tested_with_all_tables_it_understands():
    assert KINDS.keys() == AUTOMATA.keys()
    for kind, tables in TABLES.items():
        understood = [
            table
            for table in ALL_TABLES
            if table != "arcs" and part_chart._understands(AUTOMATA[kind], table)
        ]
        assert set(tables) == set(understood)
        assert part_chart.pick_automata(["arcs", *tables]) == kind


@every_kind
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_finds_the_best_tree_and_proves_it(kind, single_root, projective, data):
    case = data.draw(cases(kind, single_root, projective, constrained=data.draw(st.booleans())))
    # The finish takes over after so many iterations.
    options = case.options | {"iterations": data.draw(st.sampled_from([1, 3, 5000])), "trace": True}
    with forced(kind):
        if case.best == -np.inf:
            with pytest.raises(NoTreeError):
                arcwise.decode(case.scores, **options)
            return
        parse = arcwise.decode(case.scores, **options)
        again = arcwise.decode(case.scores, **options)
    # Where a tree's numbers are far smaller than those of others, rounding may leave a doubt.
    assert parse.certified or parse.bound <= parse.score + case.tolerance
    assert parse.score == pytest.approx(case.best, abs=case.tolerance)
    assert case.score_of(parse.heads) == pytest.approx(parse.score, abs=case.tolerance)
    assert parse.bound >= case.best - case.tolerance
    assert parse.stats["method"] == "dual"
    assert parse.stats["ended"] in ("agreement", "bound", "finish")
    assert ("finish_steps" in parse.stats) == (parse.stats["ended"] == "finish")
    check_trace(parse, case)
    assert results(again) == results(parse)


def check_trace(parse, case):
    """One row an iteration; a bound is never below the best score, nor a tree's score above it."""
    bounds, scores, recomputed = parse.stats["trace"].T
    assert len(bounds) == parse.stats["iterations"]
    assert (bounds >= case.best - case.tolerance).all()
    assert (scores <= case.best + case.tolerance).all()
    assert parse.score >= scores.max() - case.tolerance
    words = len(parse.heads)
    assert recomputed[0] == words
    assert parse.stats["recomputed"] == pytest.approx(recomputed.sum() / words / len(bounds))


@every_kind
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_without_the_finish_the_gap_is_proved(kind, single_root, projective, data):
    case = data.draw(cases(kind, single_root, projective))
    exact, steps = data.draw(st.sampled_from([(False, 1), (False, 2), (False, 5), (False, 500), (True, 1)]))
    options = (
        case.options | {"exact": exact, "iterations": steps, "trace": True} | ({"budget": 1} if exact else {})
    )
    with forced(kind):
        try:
            parse = arcwise.decode(case.scores, **options)
        except NoTreeError:
            assert case.best == -np.inf
            return
        except InputError as error:
            told = str(error)
            parse = None
    if parse is None:
        assert "nor proved that there is none" in told
        return
    assert case.score_of(parse.heads) == pytest.approx(parse.score, abs=case.tolerance)
    assert parse.bound >= case.best - case.tolerance
    assert parse.certified or parse.stats["ended"] in ("iterations", "budget")
    if parse.certified:
        assert parse.score == pytest.approx(case.best, abs=case.tolerance)
    assert parse.stats["iterations"] <= steps
    check_trace(parse, case)


@every_kind
def test_five_words(kind, single_root, projective):
    rng = np.random.default_rng(11)
    ends = set()
    for _ in range(6):
        case = random_case(kind, rng, 5, single_root, projective)
        for options in ({}, {"iterations": 1}):
            parse = arcwise.decode(case.scores, **case.options | options)
            assert parse.certified
            assert parse.score == pytest.approx(case.best)
            assert case.score_of(parse.heads) == pytest.approx(case.best)
            ends.add(parse.stats["ended"])
        gaps = [
            arcwise.decode(case.scores, **case.options | {"exact": False, "iterations": steps}).gap
            for steps in (1, 2, 5, 50)
        ]
        assert gaps == sorted(gaps, reverse=True)  # the best bound and the best tree so far
    assert "finish" in ends


@pytest.mark.parametrize("senses", [False, True])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_senses(kind, single_root, projective, senses):
    rng = np.random.default_rng(5)
    for _ in range(3):
        case = labelled_case(kind, rng, 3, single_root, projective, senses)
        graph = case.scores.graph
        options: dict[str, Any] = {"single_root": single_root, "projective": projective, "decoder": "dual"}
        if not case.choices:
            with pytest.raises(NoTreeError):
                arcwise.decode(case.scores, **options)
            continue
        best = case.choices[int(case.of_choices.argmax())]
        for iterations in (1, 5000):
            parse = arcwise.decode(case.scores, iterations=iterations, **options)
            assert parse.certified
            assert parse.score == pytest.approx(case.of_choices.max())
            assert parse.heads[1:].tolist() == [int(graph.arcs[a][0]) for a in best]
            assert parse.labels == [graph.labels[a] for a in best]
            assert parse.senses == [int(graph.senses[a][1]) for a in best]
        some = arcwise.decode(case.scores, exact=False, iterations=20, **options)
        assert some.score <= case.of_choices.max() + 1e-9 <= some.bound + 2e-9


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
def test_states_that_remember_the_last_modifier_are_siblings(single_root, projective):
    rng = np.random.default_rng(3)
    for n in (1, 2, 6, 9):
        S, siblings = rng.normal(size=(n + 1,) * 2), rng.normal(size=(n + 1,) * 3)
        steps, ends = np.full((n + 1,) * 4, -np.inf), np.zeros((n + 1, n + 1))
        for h, m in product(range(n + 1), range(1, n + 1)):
            steps[h, 1:, m, m] = siblings[h, 1:, m]
            steps[h, 0, m, m] = siblings[h, h, m]
            ends[h, m] = siblings[h, m, h]
        options: dict[str, Any] = {"single_root": single_root, "projective": projective, "decoder": "dual"}
        states = arcwise.decode(HeadAutomata(S, steps, steps, ends, ends), **options)
        tables = arcwise.decode(Scores(S, siblings=siblings), **options)
        assert states.certified
        assert states.heads.tolist() == tables.heads.tolist()
        assert states.score == pytest.approx(tables.score)


def test_projective_trees_agree_with_the_chart():
    rng = np.random.default_rng(9)
    for kind, chart in KINDS.items():
        n = 9 if chart in ("sibling", "model1") else 6
        tables = {name: rng.normal(size=naive.shape(name, n)) for name in ["arcs", *TABLES[kind]]}
        expected = arcwise.decode(Scores(**tables), projective=True, decoder=chart)
        parse = arcwise.decode(Scores(**tables), projective=True, decoder="dual")
        assert parse.certified
        assert parse.score == pytest.approx(expected.score)
        assert parse.heads.tolist() == expected.heads.tolist()


def test_a_matrix_is_searched_too():
    S = np.random.default_rng(2).normal(size=(13, 13))
    for projective in (False, True):
        expected = arcwise.decode(S, projective=projective)
        parse = arcwise.decode(S, projective=projective, decoder="dual")
        assert parse.heads.tolist() == expected.heads.tolist()
        assert parse.certified


def results(parse):
    return parse.heads.tolist(), parse.score, parse.bound, parse.labels


def test_several_problems_and_threads():
    rng = np.random.default_rng(0)
    problems: list[Any] = [
        Scores(rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3)) for n in range(9)
    ]
    problems += [
        HeadAutomata(
            rng.normal(size=(n + 1, n + 1)), *rng.normal(size=(2, n + 1, 2, 2, n + 1)), *rng.normal(size=(2, n + 1, 2))
        )
        for n in range(9)
    ]  # fmt: skip
    problems.append(labelled_case("sibling", rng, 3, True, False, False).scores)
    alone = [results(arcwise.decode(scores)) for scores in problems]
    for jobs in (1, 2):
        assert list(map(results, arcwise.decode(problems, jobs=jobs))) == alone
        assert list(map(results, arcwise.decode(problems[::-1], jobs=jobs))) == alone[::-1]
    required = [
        [(0, 1)] if isinstance(scores, HeadAutomata) and len(scores.arcs) > 2 else [] for scores in problems
    ]
    for parse, arcs in zip(arcwise.decode(problems, required=required), required, strict=True):
        assert all(parse.heads[m] == h for h, m in arcs)


def test_a_used_up_budget_is_told():
    rng = np.random.default_rng(4)
    n, seen = 10, set()
    for _ in range(5):
        tables = {
            name: rng.normal(size=naive.shape(name, n)) for name in ("arcs", "siblings", "grandchildren")
        }
        best = arcwise.decode(Scores(**tables))
        parse = arcwise.decode(Scores(**tables), budget=1)
        assert best.certified
        assert parse.score <= best.score + 1e-9 <= parse.bound + 2e-9
        assert parse.certified == (parse.gap == 0) == (parse.stats["ended"] != "budget")
        seen.add(parse.stats["ended"])
    assert "budget" in seen


def test_refusals():
    S, cube = np.zeros((4, 4)), np.zeros((4, 4, 4))
    with pytest.raises(
        InputError, match="great_grandchildren for decoder 'dual', expected no tables but arcs"
    ):
        arcwise.decode(Scores(S, great_grandchildren=np.zeros((4,) * 4)))
    for option in ("iterations", "budget"):
        for number in (0, -1, 1.5, "2"):
            options: dict[str, Any] = {option: number}
            with pytest.raises(
                InputError, match=f"{option} is .*, expected a (number of steps|budget of work), 1 or more"
            ):
                arcwise.decode(Scores(S), **options)
    for scores in (Scores(S, siblings=cube), automaton(S)):
        with pytest.raises(InputError, match="give word 1 two heads"):
            arcwise.decode(scores, required=[(0, 1), (2, 1)])
        with pytest.raises(InputError, match="both required and forbidden"):
            arcwise.decode(scores, required=[(0, 1)], forbidden=[(0, 1)])
        with pytest.raises(NoTreeError, match="with exactly one root"):
            arcwise.decode(scores, required=[(0, 1), (0, 2)])
        with pytest.raises(NoTreeError, match="words 1, 2 from outside"):
            arcwise.decode(scores, required=[(1, 2), (2, 1)])
        with pytest.raises(NoTreeError, match="cross"):
            arcwise.decode(scores, required=[(1, 3), (0, 2)], projective=True, decoder="dual")
        with pytest.raises(NoTreeError, match="matrix 1: word 3 has no allowed head"):
            arcwise.decode([scores, scores], forbidden=[[], [(0, 3), (1, 3), (2, 3)]])
    wrong = cube.copy()
    wrong[1, 1, 2], wrong[2, 2, 2] = np.nan, np.inf  # the latter is never read
    with pytest.raises(InputError, match=r"siblings\[1, 1, 2\] is nan"):
        arcwise.decode(Scores(S, siblings=wrong))
    with pytest.raises(
        InputError,
        match="tables of parts with projective=False and decoder 'model1', expected projective=True, or",
    ):
        arcwise.decode(Scores(S), decoder="model1")


def automaton(S):
    steps = np.zeros((len(S), 2, 2, len(S)))
    return HeadAutomata(S, steps, steps)


def test_head_automata_are_checked(monkeypatch):
    S, steps, ends = np.zeros((4, 4)), np.zeros((4, 2, 2, 4)), np.zeros((4, 2))
    wrong: list[tuple[Any, str]] = [
        ((np.zeros((3, 4)), steps, steps), r"scores of shape \(3, 4\)"),
        ((S, steps[0], steps), r"left of shape \(2, 2, 4\), expected \(4, S, S, 4\)"),
        ((S, steps[:, :1], steps), r"left of shape \(4, 1, 2, 4\)"),
        ((S, steps[:, :0, :0], steps), r"left of shape \(4, 0, 0, 4\)"),
        ((S, steps, steps[:, :1, :1]), r"right of shape \(4, 1, 1, 4\), expected \(4, 2, 2, 4\)"),
        ((S, steps, None), "right: scores of type object"),
        ((S, steps, steps, ends[:3]), r"left_end of shape \(3, 2\), expected \(4, 2\)"),
        ((S, steps, steps, None, ends.T), r"right_end of shape \(2, 4\)"),
        ((S, "left", steps), "left: scores of type"),
    ]
    for given_tables, error in wrong:
        with pytest.raises(InputError, match=error):
            HeadAutomata(*given_tables)
    for name, index, value in (
        ("arcs", (1, 2), np.nan), ("left", (2, 0, 1, 1), np.inf), ("right", (0, 1, 1, 3), np.nan),
        ("left_end", (1, 1), -1e301), ("right_end", (0, 0), np.nan),
    ):  # fmt: skip
        tables = {"arcs": S, "left": steps, "right": steps, "left_end": ends, "right_end": ends}
        tables[name] = tables[name].copy()
        tables[name][index] = value
        place = ", ".join(map(str, index))
        with pytest.raises(InputError, match=rf"{name}\[{place}\] is .*, expected a number between"):
            arcwise.decode(HeadAutomata(**tables))
    # What is never read: the wrong side, the root's left, forbidden arcs.
    left, right, left_end = steps.copy(), steps.copy(), ends.copy()
    left[0] = left[:, :, :, 0] = left[1, :, :, 2] = left[2, :, :, 1] = right[2, :, :, 1] = np.nan
    left_end[0] = np.nan
    assert arcwise.decode(HeadAutomata(S, left, right, left_end), forbidden=[(2, 1)]).certified
    with pytest.raises(InputError, match="HeadAutomata for decoder 'sibling', expected decoder 'dual'"):
        arcwise.decode(automaton(S), decoder="sibling", projective=True)
    monkeypatch.setattr(part_chart, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"automata take .* fewer arcs"):
        arcwise.decode(automaton(S))


def test_only_decode_takes_head_automata():
    one = automaton(np.zeros((3, 3)))
    for scores in (one, [one, one]):
        for other in (
            arcwise.marginals, arcwise.log_partition, arcwise.entropy, arcwise.expected_score, arcwise.min_risk,
            arcwise.max_marginals,
        ):  # fmt: skip
            for projective in (False, True):
                with pytest.raises(InputError, match="HeadAutomata, expected Scores or PartScores"):
                    other(scores, projective=projective)
        with pytest.raises(InputError, match="HeadAutomata"):
            arcwise.sample(scores, 2)
        with pytest.raises(InputError, match="HeadAutomata"):
            arcwise.k_best(scores, 2, projective=True)
    with pytest.raises(InputError, match="matrix 1: HeadAutomata, expected"):
        arcwise.marginals([Scores(np.zeros((3, 3))), one], projective=True)


def test_the_smallest_sentences():
    for single_root, projective in product((True, False), (True, False)):
        options: dict[str, Any] = {"single_root": single_root, "projective": projective, "decoder": "dual"}
        for scores in (Scores([[np.nan]]), automaton(np.zeros((1, 1)))):
            empty = arcwise.decode(scores, **options)
            assert (empty.heads.tolist(), empty.score, empty.certified) == ([-1], 0.0, True)
        for scores in (Scores([[0, 7], [0, 0]]), automaton(np.array([[0, 7], [0, 0]]))):
            one = arcwise.decode(scores, **options)
            assert (one.heads.tolist(), one.score, one.certified) == ([-1, 0], 7.0, True)
