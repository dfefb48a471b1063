"""Hill climbing: its trees are local optima, scored as they say, never above the best of all; threads change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import ArcwiseError, InputError, NoTreeError, Scores
from arcwise.search.start_trees import STARTS
from arcwise.trees.checking import is_tree
from arcwise.trees.enumerate import all_trees
from tests.parts import naive
from tests.search.dual_problems import cases, random_case, table_scores

roots = pytest.mark.parametrize("single_root", [True, False], ids=["one-root", "roots"])


def neighbours(heads: Any, single_root: bool) -> set[tuple[int, ...]]:
    """The trees that differ in one head."""
    found = set()
    for m in range(1, len(heads)):
        for h in range(len(heads)):
            other = np.array(heads)
            other[m] = h
            if h not in (m, heads[m]) and is_tree(other, single_root=single_root):
                found.add(tuple(other.tolist()))
    return found


@roots
@pytest.mark.parametrize("kind", ["sibling", "grand-tri-sibling"])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_no_change_of_one_head_betters_the_tree(kind, single_root, data):
    case = data.draw(cases(kind, single_root, False, constrained=data.draw(st.booleans())))
    exact = data.draw(st.booleans())
    options = case.options | {"decoder": "climb", "exact": exact, "start": data.draw(st.sampled_from(STARTS))}
    try:
        parse = arcwise.decode(case.scores, restarts=5, **options)
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
    assert parse.score <= case.best + case.tolerance
    assert (parse.bound is not None) >= parse.certified
    if parse.bound is not None:
        assert parse.bound >= case.best - case.tolerance
    near = neighbours(parse.heads, single_root)
    of_near = [
        score for tree, score in zip(case.trees.tolist(), case.of_trees, strict=True) if tuple(tree) in near
    ]
    assert max(of_near, default=-np.inf) <= parse.score + case.tolerance


@pytest.mark.parametrize("table", ["first", "none"])
def test_a_bound_knows_tables_that_need_no_chart_of_their_own(table):
    extra = np.zeros(naive.shape(table, 4))
    extra[(3, 1) if table == "first" else np.s_[:]] = 1.0
    parse = arcwise.decode(Scores(arcs=np.zeros((5, 5)), **{table: extra}), decoder="climb", start="uniform")
    _, of_trees = table_scores({"arcs": np.zeros((5, 5)), table: extra}, True, False)
    assert parse.bound is None or parse.bound >= of_trees.max() - 1e-9
    assert parse.score == pytest.approx(of_trees.max())


@roots
def test_all_tables_and_enough_restarts_find_the_best_tree(single_root):
    rng, n = np.random.default_rng(4), 4
    for _ in range(6):
        tables = {name: rng.normal(size=naive.shape(name, n)) for name in naive.WORDS}
        trees, of_trees = table_scores(tables, single_root, False)
        parse = arcwise.decode(
            Scores(**tables), decoder="climb", single_root=single_root, start="uniform", restarts=500
        )
        assert parse.score == pytest.approx(of_trees[(trees == parse.heads).all(axis=1)][0])
        assert parse.score == pytest.approx(of_trees.max())
        assert parse.bound is None
        assert not parse.certified


@roots
def test_threads_and_lists_change_nothing_and_seeds_do(single_root):
    rng = np.random.default_rng(8)
    problems = [random_case("sibling", rng, 5, single_root, False).scores for _ in range(4)]
    options: dict[str, Any] = {"decoder": "climb", "exact": False, "single_root": single_root, "restarts": 7}
    alone = arcwise.decode(problems[0], **options)
    for jobs in (2, 3):
        again = arcwise.decode(problems[0], jobs=jobs, **options)
        assert again.heads.tolist() == alone.heads.tolist()
        assert (again.score, again.stats) == (alone.score, alone.stats)
    together = arcwise.decode(problems, **options)
    assert [p.stats for p in together] == [p.stats for p in arcwise.decode(problems, jobs=2, **options)]
    assert together[0].stats == alone.stats
    shapes = {name: naive.shape(name, 20) for name in ("siblings", "grandchildren", "tri_siblings")}
    hard = Scores(arcs=np.zeros((21, 21)), **{name: rng.normal(size=shape) for name, shape in shapes.items()})
    for jobs in (2, 3):
        assert arcwise.decode(hard, jobs=jobs, **options).stats == arcwise.decode(hard, **options).stats
    uniform = [arcwise.decode(hard, seed=seed, start="uniform", **options).stats for seed in range(6)]
    assert len({str(stats) for stats in uniform}) > 1


def test_whole_trees():
    rng, n = np.random.default_rng(3), 4
    trees = all_trees(n)
    for _ in range(5):
        S, worth = rng.normal(size=(n + 1, n + 1)), rng.normal(size=1000)

        def whole(heads, worth=worth):
            return float(worth[int(heads[1:] @ [1, 5, 25, 125])])

        every = S[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1) + [whole(tree) for tree in trees]
        parse = arcwise.decode(S, decoder="climb", whole_tree=whole, restarts=300, start="uniform")
        assert parse.score == pytest.approx(every.max())
        assert parse.bound is None


def test_faults_of_whole_trees_are_told():
    def broken(heads):
        raise ZeroDivisionError("by zero")

    S = np.zeros((3, 3))
    with pytest.raises(ArcwiseError, match="whole_tree raised ZeroDivisionError: by zero"):
        arcwise.decode(S, decoder="climb", whole_tree=broken)
    with pytest.raises(InputError, match="whole_tree gave nan"):
        arcwise.decode(S, decoder="climb", whole_tree=lambda heads: np.nan)
    nothing: Any = list
    with pytest.raises(ArcwiseError, match="whole_tree raised TypeError"):
        arcwise.decode(S, decoder="climb", whole_tree=nothing)


def test_a_given_tree_is_where_a_single_run_begins():
    S = np.array([[0, 1, 1.0], [0, 0, 0], [0, 0, 0]])
    for start in ([-1, 0, 1], [-1, 2, 0]):
        parse = arcwise.decode(S, decoder="climb", exact=False, start=start)
        assert parse.heads.tolist() == start  # a tie: it stays
        assert parse.stats["runs"] == 1
    for start, told in (
        ([-1, 0, 0], "2 roots"), ([-1, 2, 1], "cycle"), ([-1, 0, 3], "the arc from 3 to 2"), ([0, 1], "start of shape"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=told):
            arcwise.decode(S, decoder="climb", start=start)


def test_with_one_root_climbing_can_change_the_root():
    S = np.array([[0, 0, 9.0], [0, 0, 0], [0, 0, 0]])
    assert arcwise.decode(S, decoder="climb", exact=False, start=[-1, 0, 1]).heads.tolist() == [-1, 2, 0]


def test_long_sentences_of_arcs_are_proved_best_at_once():
    S = np.random.default_rng(0).normal(size=(501, 501))
    parse = arcwise.decode(S, decoder="climb")
    assert parse.certified
    assert parse.score == pytest.approx(arcwise.decode(S).score)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"restarts": 0}, "restarts is 0"),
        ({"start": "top"}, "start is 'top'"),
        ({"seed": -1}, "seed is -1"),
        ({"whole_tree": 5}, "whole_tree is 5"),
        ({"projective": True}, "projective=True"),
        ({"block_degree": 2}, "for trees of shape"),
        ({"decoder": None, "restarts": 5}, "restarts with decoder 'spanning-tree'"),
    ],
)
def test_what_makes_no_sense_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        arcwise.decode(np.zeros((3, 3)), **{"decoder": "climb"} | options)
