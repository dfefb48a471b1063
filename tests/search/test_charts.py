"""What every chart must do, checked against all projective trees of short sentences. A new chart is one more line in CHARTS."""

from __future__ import annotations

from itertools import product

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcwise
from arcwise import InputError, NoTreeError, Scores
from arcwise.search import part_chart
from arcwise.search.chart import CHARTS as ALL_CHARTS
from arcwise.trees.enumerate import all_trees
from tests.parts import naive

# Every chart, and all tables that it understands: the most it can be asked for.
CHARTS = {
    "eisner": ["first"],
    "sibling": ["first", "siblings"],
    "tri-sibling": ["first", "second", "siblings", "tri_siblings"],
    "carreras": ["first", "siblings", "outermost_grandchildren", "none"],
    "model0": ["first", "grandchildren", "first_grandchildren", "none"],
    "model1": [
        "first", "siblings", "outermost_grandchildren", "none", "grandchildren", "first_grandchildren", "grand_siblings",
    ],
    "model2": [
        "first", "second", "siblings", "tri_siblings", "none", "outermost_grandchildren", "outermost_grand_siblings",
    ],
    "grand-tri-sibling": [
        "first", "second", "siblings", "tri_siblings", "none", "outermost_grandchildren", "outermost_grand_siblings",
        "grandchildren", "first_grandchildren", "grand_siblings", "grand_tri_siblings",
    ],
    "great-grandparent": [
        "first", "siblings", "none", "outermost_grandchildren", "grandchildren", "first_grandchildren",
        "grand_siblings", "great_grandchildren", "great_grand_siblings",
    ],
}  # fmt: skip
every_chart = pytest.mark.parametrize(
    ("chart", "single_root"),
    [
        pytest.param(chart, single_root, id=f"{chart}-{'one-root' if single_root else 'roots'}")
        for chart, single_root in product(CHARTS, (True, False))
    ],
)

_FORBIDDEN = st.just(-np.inf)
_ELEMENTS = [
    st.integers(-2, 2).map(float),  # ties
    st.integers(-2, 2).map(float) | _FORBIDDEN,
    st.sampled_from([0.0, 1.0, -np.inf]),  # mostly no tree
    st.floats(-3, 3),
    st.floats(-1e4, 1e4),
]


@st.composite
def problems(draw, chart, longest=4):
    """Arc scores and some of the tables that a chart understands; the arcs are mostly there."""
    n = draw(st.integers(1, longest))
    elements = draw(st.sampled_from(_ELEMENTS))
    tables = {"arcs": draw(arrays.arrays(np.float64, (n + 1, n + 1), elements=elements))}
    for table in CHARTS[chart]:
        if draw(st.sampled_from([True, True, False])):
            tables[table] = draw(
                arrays.arrays(np.float64, naive.shape(table, n), elements=elements, fill=elements)
            )
    return tables


def everything(tables, single_root):
    """All trees and their scores."""
    trees = all_trees(len(tables["arcs"]) - 1, single_root, projective=True)
    return trees, np.array([naive.score(tables, heads) for heads in trees])


def test_every_chart_is_tested():
    assert CHARTS.keys() == ALL_CHARTS.keys()


@every_chart
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_best_tree_and_k_best(chart, single_root, data):
    tables = data.draw(problems(chart))
    _, scores = everything(tables, single_root)
    options = {"projective": True, "single_root": single_root, "decoder": chart}
    if scores.max() == -np.inf:
        with pytest.raises(NoTreeError):
            arcwise.decode(Scores(**tables), **options)
        return
    parse = arcwise.decode(Scores(**tables), **options)
    size = max(1.0, np.abs(scores[scores > -np.inf]).max())
    assert parse.score == pytest.approx(scores.max(), abs=1e-9 * size)
    assert naive.score(tables, parse.heads) == pytest.approx(parse.score, abs=1e-9 * size)
    assert parse.certified
    assert parse.stats["method"] == chart
    k = data.draw(st.integers(1, 8))
    best = arcwise.k_best(Scores(**tables), k, **options)
    expected = np.sort(scores[scores > -np.inf])[::-1][:k]
    assert [other.score for other in best] == pytest.approx(expected, abs=1e-9 * size)
    assert [naive.score(tables, other.heads) for other in best] == pytest.approx(expected, abs=1e-9 * size)
    assert len({tuple(other.heads) for other in best}) == len(best)
    assert best[0].heads.tolist() == parse.heads.tolist()


@every_chart
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_sums(chart, single_root, data):
    tables = data.draw(problems(chart))
    trees, scores = everything(tables, single_root)
    options = {"projective": True, "single_root": single_root}
    chosen = Scores(**tables)
    with Forced(chart):
        log_z = arcwise.log_partition(chosen, **options)
        if scores.max() == -np.inf:
            assert log_z == -np.inf
            with pytest.raises(NoTreeError):
                arcwise.marginals(chosen, **options)
            return
        size = max(1.0, np.abs(scores[scores > -np.inf]).max())
        assert log_z == pytest.approx(np.logaddexp.reduce(scores), abs=1e-9 * size)
        p = np.exp(scores - scores.max())
        p /= p.sum()
        found = arcwise.marginals(chosen, parts=True, **options).tables()
        for table, expected in naive.marginals(tables, trees, p).items():
            np.testing.assert_allclose(found[table], expected, atol=1e-9, err_msg=table)
        arcs = arcwise.marginals(chosen, **options)
        np.testing.assert_array_equal(arcs, found["arcs"])
        np.testing.assert_allclose(arcs[:, 1:].sum(axis=0), 1.0, atol=1e-9)
        usual = float(p[p > 0] @ scores[p > 0])
        assert arcwise.expected_score(chosen, **options) == pytest.approx(usual, abs=1e-9 * size)
        nats = -float(p[p > 0] @ np.log(p[p > 0]))
        assert arcwise.entropy(chosen, **options) == pytest.approx(nats, abs=1e-8 * size)
        risk = arcwise.min_risk(chosen, **options)
        gains = np.array([arcs[heads[1:], np.arange(1, len(heads))].sum() for heads in trees])
        allowed = np.isfinite(tables["arcs"])[trees[:, 1:], np.arange(1, trees.shape[1])].all(axis=1)
        assert risk.score == pytest.approx(gains[allowed].max(), abs=1e-9)
        best = arcwise.max_marginals(chosen, **options)
        for h, m in np.ndindex(best.shape):
            having = scores[trees[:, m] == h] if m > 0 else scores[:0]
            assert best[h, m] == pytest.approx(having.max(initial=-np.inf), abs=1e-9 * size)


class Forced:
    """Sums pick the cheapest chart; here, a given one."""

    def __init__(self, chart):
        self.patch = pytest.MonkeyPatch()
        self.chart = chart

    def __enter__(self):
        pick = part_chart.pick_chart
        self.patch.setattr(
            part_chart, "pick_chart", lambda tables, decoder: pick(tables, decoder or self.chart)
        )

    def __exit__(self, *error):
        self.patch.undo()


@every_chart
def test_samples_follow_the_distribution(chart, single_root):
    rng = np.random.default_rng(7)
    n = 3
    tables = {table: rng.normal(size=naive.shape(table, n)) for table in ["arcs", *CHARTS[chart]]}
    trees, scores = everything(tables, single_root)
    p = np.exp(scores - np.logaddexp.reduce(scores))
    options = {"projective": True, "single_root": single_root, "seed": 3}
    with Forced(chart):
        drawn = arcwise.sample(Scores(**tables), 4000, **options)
        again = arcwise.sample([Scores(**tables)] * 2, 10, **options)
    np.testing.assert_array_equal(again[0], drawn[:10])
    assert not np.array_equal(again[1], again[0])
    numbers = {tuple(heads): k for k, heads in enumerate(trees.tolist())}
    counts = np.bincount([numbers[tuple(heads)] for heads in drawn.tolist()], minlength=len(trees))
    error = np.sqrt(p * (1 - p) / len(drawn))
    assert (np.abs(counts / len(drawn) - p) < 5 * error + 1e-9).all()


@every_chart
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_constraints(chart, single_root, data):
    tables = data.draw(problems(chart))
    n = len(tables["arcs"]) - 1
    words = st.integers(1, n)
    pairs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    m = data.draw(words)
    required = data.draw(st.sampled_from([[], [(h, m) for h in range(n + 1) if h != m][:1]]))
    forbidden = [
        arc for arc in data.draw(st.lists(st.sampled_from(pairs), max_size=2)) if arc not in required
    ]
    trees, scores = everything(tables, single_root)
    for h, m in required:
        scores[trees[:, m] != h] = -np.inf
    for h, m in forbidden:
        scores[trees[:, m] == h] = -np.inf
    options = {
        "projective": True, "single_root": single_root, "decoder": chart, "required": required, "forbidden": forbidden,
    }  # fmt: skip
    if scores.max() == -np.inf:
        with pytest.raises(NoTreeError):
            arcwise.decode(Scores(**tables), **options)
    else:
        parse = arcwise.decode(Scores(**tables), **options)
        assert parse.score == pytest.approx(scores.max(), rel=1e-9, abs=1e-9)
        assert all(parse.heads[m] == h for h, m in required)
        assert not any(parse.heads[m] == h for h, m in forbidden)


@settings(deadline=None, max_examples=30)
@given(data=st.data(), single_root=st.booleans())
def test_emulations_of_the_thesis(data, single_root):
    n = data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    S = rng.normal(size=(n + 1, n + 1))
    siblings, grandchildren = rng.normal(size=(2, n + 1, n + 1, n + 1))
    options = {"projective": True, "single_root": single_root}

    def best(decoder, **tables):
        return arcwise.decode(Scores(arcs=S, **tables), decoder=decoder, **options).score

    # Model 2 with third-order parts demoted to second-order ones is Carreras' factorisation (5.4.3).
    size = n + 1
    tri_siblings = np.broadcast_to(siblings[:, None], (size,) * 4).copy()
    demoted = np.broadcast_to(grandchildren[:, :, None], (size,) * 4).copy()
    words = np.arange(size)
    ends = np.zeros_like(siblings)  # what has no third sibling: the first on each side, and its end
    ends[words, words], ends[words, :, words] = siblings[words, words], siblings[words, :, words]
    assert best(
        "model2", siblings=ends, tri_siblings=tri_siblings, outermost_grand_siblings=demoted
    ) == pytest.approx(best("carreras", siblings=siblings, outermost_grandchildren=grandchildren))
    # Model 1 without third-order scores is Model 0 plus siblings.
    assert best("model1", grandchildren=grandchildren) == pytest.approx(
        best("model0", grandchildren=grandchildren)
    )
    assert best("model1", siblings=siblings) == pytest.approx(best("sibling", siblings=siblings))
    # With no higher scores all are Eisner's chart.
    eisner = arcwise.decode(S, **options).score
    for decoder in CHARTS:
        assert best(decoder) == pytest.approx(eisner)


def test_refusals(monkeypatch):
    S, cube = np.zeros((4, 4)), np.zeros((4, 4, 4))
    wrong = cube.copy()
    wrong[1, 1, 2] = np.nan
    wrong[2, 2, 2] = np.inf  # never read
    with pytest.raises(InputError, match=r"siblings\[1, 1, 2\] is nan"):
        arcwise.decode(Scores(S, siblings=wrong), projective=True)
    wrong[1, 1, 2] = 1.0
    arcwise.decode(Scores(S, siblings=wrong), projective=True)
    with pytest.raises(InputError, match=r"arcs\[0, 3\] is inf"):
        arcwise.decode(Scores(np.where(np.arange(4) == 3, np.inf, S)), projective=True)
    with pytest.raises(InputError, match=r"siblings of shape \(4, 4\), expected \(4, 4, 4\)"):
        Scores(S, siblings=S)
    with pytest.raises(InputError, match="square"):
        Scores(cube)
    with pytest.raises(InputError, match="projective=True, or decoder 'dual'"):
        arcwise.decode(Scores(S, siblings=cube), decoder="sibling")
    with pytest.raises(InputError, match="projective=True"):
        arcwise.k_best(Scores(S, siblings=cube), 2)
    with pytest.raises(InputError, match="grandchildren for decoder 'sibling'"):
        arcwise.decode(Scores(S, grandchildren=cube), projective=True, decoder="sibling")
    with pytest.raises(InputError, match="decoder is 'ellipse'"):
        arcwise.decode(Scores(S), projective=True, decoder="ellipse")
    with pytest.raises(InputError, match="together"):
        arcwise.decode(
            Scores(S, tri_siblings=np.zeros((4,) * 4), great_grandchildren=np.zeros((4,) * 4)),
            projective=True,
        )
    for scores in (Scores(S), S):
        with pytest.raises(NoTreeError, match="required arcs from 0 to 2 and from 1 to 3 cross"):
            arcwise.decode(scores, projective=True, required=[(1, 3), (0, 2)])
    with pytest.raises(InputError, match="matrix 1: float, expected tables"):
        arcwise.decode([Scores(S), 1.0], projective=True)  # type: ignore[list-item]
    with pytest.raises(InputError, match="required is None"):
        arcwise.decode(Scores(S), projective=True, required=None)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="several tables of parts, expected one"):
        arcwise.k_best([Scores(S)], 2, projective=True)
    with pytest.raises(InputError, match="labelled=True for tables"):
        arcwise.marginals(Scores(S), projective=True, labelled=True)
    with pytest.raises(InputError, match="jobs is 0"):
        arcwise.log_partition(Scores(S), projective=True, jobs=0)
    monkeypatch.setattr(part_chart, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="fewer arcs"):
        arcwise.decode(Scores(S, grandchildren=cube), projective=True)


def test_memory_is_asked_for_before_it_is_taken():
    S = np.zeros((2001, 2001))
    with pytest.raises(InputError, match=r"the chart 'model1' takes .* GiB"):
        arcwise.decode(Scores(S), projective=True, decoder="model1")


def test_pruned_long_sentences():
    n = 1500  # each word has two candidates: a chain, and the root
    S = np.full((n + 1, n + 1), -np.inf)
    S[0] = 0.0
    S[np.arange(n), np.arange(1, n + 1)] = 1.0
    parse = arcwise.decode(Scores(S), projective=True, decoder="model1")
    assert parse.heads.tolist() == list(range(-1, n))
    best = arcwise.k_best(Scores(S), 3, projective=True, decoder="sibling")
    assert [other.score for other in best] == [n]  # with one root there is no other tree
    n = 300
    best = arcwise.k_best(
        Scores(S[: n + 1, : n + 1]), 3, projective=True, single_root=False, decoder="sibling"
    )
    assert [other.score for other in best] == [n, n - 1, n - 1]


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12, 1e16])
def test_great_scores_cost_no_digits(size):
    rng = np.random.default_rng(1)
    S, siblings = rng.normal(size=(6, 6)), rng.normal(size=(6, 6, 6))
    plain, great = Scores(S, siblings=siblings), Scores(np.full((6, 6), size), siblings=siblings)
    flat = Scores(np.zeros((6, 6)), siblings=siblings)
    np.testing.assert_allclose(
        arcwise.marginals(great, projective=True), arcwise.marginals(flat, projective=True), atol=1e-12
    )
    assert arcwise.entropy(great, projective=True) == pytest.approx(
        arcwise.entropy(flat, projective=True), rel=1e-12
    )
    np.testing.assert_array_equal(
        arcwise.sample(great, 50, projective=True), arcwise.sample(flat, 50, projective=True)
    )
    moved = Scores(S + size * (np.arange(6) > 2), siblings=siblings)
    if size <= 1e8:  # the scores themselves have lost the digits else
        np.testing.assert_allclose(
            arcwise.marginals(moved, projective=True), arcwise.marginals(plain, projective=True), atol=1e-6
        )


def test_a_chart_takes_matrices_and_generators_of_tables():
    S = np.random.default_rng(0).normal(size=(6, 6))
    best = arcwise.decode(S, projective=True)
    assert arcwise.decode(S, projective=True, decoder="model1").heads.tolist() == best.heads.tolist()
    found = arcwise.decode((Scores(S) for _ in range(2)), projective=True)  # type: ignore[call-overload]
    assert [parse.heads.tolist() for parse in found] == [best.heads.tolist()] * 2
    np.testing.assert_allclose(
        arcwise.marginals(S, projective=True, parts=True).arcs,
        arcwise.marginals(S, projective=True),
        atol=1e-12,
    )


def test_several_tables_and_threads():
    rng = np.random.default_rng(0)
    tables = [
        Scores(rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3)) for n in range(1, 9)
    ]
    one = arcwise.decode(tables, projective=True)
    two = arcwise.decode(tables, projective=True, jobs=2)
    assert [parse.heads.tolist() for parse in one] == [parse.heads.tolist() for parse in two]
    assert arcwise.log_partition(tables, projective=True) == [
        arcwise.log_partition(table, projective=True) for table in tables
    ]
    with pytest.raises(NoTreeError, match="matrix 1: "):
        arcwise.decode([tables[0], Scores(np.full((3, 3), -np.inf))], projective=True)
