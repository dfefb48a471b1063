"""Belief propagation against sums over all trees, its own derivatives, and the cases in which it is exact."""

from __future__ import annotations

from itertools import pairwise, product

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError, NoTreeError, Scores, log_partition, marginals
from arcwise.parts.arc_graph import ArcGraph, PartScores
from arcwise.parts.folding import ancestry
from arcwise.parts.graph import make_graph
from arcwise.sums.belief_propagation import belief_propagation
from arcwise.sums.factors import Parts
from arcwise.trees.enumerate import all_trees

TABLES = [("siblings",), ("grandchildren",), ("siblings", "grandchildren")]
OPTIONS = [{"projective": p, "single_root": s} for p, s in product((False, True), repeat=2)]
every_table = pytest.mark.parametrize("tables", TABLES, ids="+".join)
every_tree = pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda o: "-".join(k for k in o if o[k]) or "any"
)


def random_tables(rng, n, tables, scale=1.0):
    return {name: rng.normal(scale=scale, size=(n + 1,) * 3) for name in tables}


def parts_of(heads):
    """The indices of all parts of a tree, projective or not, by table."""
    n = len(heads) - 1
    found: dict[str, list[tuple[int, ...]]] = {
        "arcs": [(int(heads[m]), m) for m in range(1, n + 1)],
        "siblings": [],
        "grandchildren": [(int(heads[heads[m]]), int(heads[m]), m) for m in range(1, n + 1) if heads[m] > 0],
    }
    for h in range(n + 1):
        children = [m for m in range(1, n + 1) if heads[m] == h]
        for side in ([m for m in reversed(children) if m < h], [m for m in children if m > h]):
            if side:
                found["siblings"] += [(h, s, m) for s, m in zip([h, *side], [*side, h], strict=True)]
    return found


def exact(S, tables, options):
    """The log partition function and the probability of every part, by brute force."""
    tables = {"arcs": S, **tables}
    trees = [parts_of(heads) for heads in all_trees(len(S) - 1, **options)]
    scores = np.array([sum(tables[name][part] for name in tables for part in tree[name]) for tree in trees])
    log_z = np.logaddexp.reduce(scores)
    found = {name: np.zeros(table.shape) for name, table in tables.items()}
    for tree, p in zip(trees, np.exp(scores - log_z), strict=True):
        for name, table in found.items():
            for part in tree[name]:
                table[part] += p
    return log_z, found


def random_parts(rng, n, tables, draw):
    """A graph of all arcs, its level 1, and scores of its parts."""
    h, m = np.nonzero(~np.eye(n + 1, dtype=bool))
    graph = make_graph(np.arange(n + 1, dtype=np.int32), *(x[m > 0].astype(np.int32) for x in (h, m)))
    level = ancestry(graph, 1)
    arcs, pairs, steps = len(graph.head), int(graph.pairs[-1]), int(level.steps[-1])
    lengths = [0 if "siblings" not in tables else length for length in (arcs, pairs, arcs)]
    lengths = [arcs, *lengths, steps if "grandchildren" in tables else 0]
    return graph, level, Parts(*(draw(length) for length in lengths))


def propagate(graph, level, scores, options, sweeps=2000, tolerance=1e-12):
    found = Parts(*(np.full(len(array), np.nan) for array in scores))
    weighed = np.full(len(graph.head), np.nan)
    log_z, used, dissent = belief_propagation(
        graph, level, scores, options["projective"], options["single_root"], sweeps, tolerance, found, weighed
    )
    if log_z > -np.inf and np.isfinite(weighed[1:]).any():  # the tree factor's scores have its beliefs
        S = np.full((len(graph.position),) * 2, -np.inf)
        S[graph.head[1:], graph.modifier[1:]] = weighed[1:]
        alone = marginals(S, projective=options["projective"], single_root=options["single_root"])
        np.testing.assert_allclose(alone[graph.head[1:], graph.modifier[1:]], found.arcs[1:], atol=1e-9)
    return log_z, found, used, dissent


def check_beliefs(graph, found):
    assert all(np.all((array >= 0) & (array <= 1 + 1e-9)) for array in found)
    into = np.bincount(graph.modifier[1:], found.arcs[1:])[1:]
    assert np.allclose(into, 1, rtol=0, atol=1e-9)


@every_tree
@settings(deadline=None, max_examples=50)
@given(data=st.data(), n=st.integers(1, 6))
def test_arcs_alone_are_summed_exactly(options, data, n):
    elements = st.floats(-5, 5) | st.floats(-1e4, 1e4) | st.just(-np.inf)
    S = data.draw(arrays.arrays(np.float64, (n + 1, n + 1), elements=elements))
    right = log_partition(S, **options)
    assert log_partition(Scores(S), approximate=True, **options) == pytest.approx(right, rel=0, abs=1e-10)
    if right == -np.inf:
        with pytest.raises(NoTreeError):
            marginals(Scores(S), approximate=True, **options)
    else:
        arcs = marginals(Scores(S), approximate=True, **options)
        assert np.allclose(arcs, marginals(S, **options), rtol=0, atol=1e-10)


@every_table
@every_tree
def test_a_single_tree_is_scored_as_it_should_be(tables, options):
    """Of all shapes, crossing arcs included: nothing is then left to approximate."""
    rng = np.random.default_rng(0)
    for heads in all_trees(4, **options)[::3]:
        S = np.full((5, 5), -np.inf)
        S[heads[1:], np.arange(1, 5)] = rng.normal(size=4)
        scores = Scores(S, **random_tables(rng, 4, tables))
        parts = parts_of(heads)
        total = sum(table[part] for name, table in scores.tables().items() for part in parts[name])
        assert log_partition(scores, approximate=True, **options) == pytest.approx(total, abs=1e-9)
        found = marginals(scores, approximate=True, parts=True, **options).tables()
        for name, table in found.items():
            right = np.zeros(table.shape)
            for part in parts[name]:
                right[part] = 1
            assert np.allclose(table, right, rtol=0, atol=1e-9)


@every_tree
def test_modifiers_without_siblings_are_summed_exactly(options):
    """Of two words, each has but one possible modifier: such a factor adds to the score of its arc."""
    rng = np.random.default_rng(1)
    S, siblings = rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3))
    siblings[0] = 0
    log_z, found = exact(S, {"siblings": siblings}, options)
    scores = Scores(S, siblings=siblings)
    assert log_partition(scores, approximate=True, **options) == pytest.approx(log_z, abs=1e-9)
    assert np.allclose(marginals(scores, approximate=True, **options), found["arcs"], rtol=0, atol=1e-7)


@every_table
@every_tree
def test_the_error_shrinks_with_the_scores_of_higher_parts(tables, options):
    rng = np.random.default_rng(2)
    S, unit = rng.normal(size=(6, 6)), random_tables(rng, 5, tables)
    errors = []
    for scale in (0.5, 0.05, 0.005):
        higher = {name: scale * table for name, table in unit.items()}
        log_z, right = exact(S, higher, options)
        scores = Scores(S, **higher)
        errors.append(np.abs(marginals(scores, approximate=True, **options) - right["arcs"]).max())
        assert log_partition(scores, approximate=True, **options) == pytest.approx(log_z, abs=2 * scale)
    assert errors[0] < 0.4
    assert all(smaller < larger / 5 for larger, smaller in pairwise(errors))


def normal(rng):
    return lambda length: rng.normal(scale=0.7, size=length)


def ties(rng):
    return lambda length: rng.integers(-1, 2, length) / 2


def with_forbidden_parts(rng):
    return lambda length: np.where(rng.random(length) < 0.1, -np.inf, rng.normal(scale=0.5, size=length))


@every_table
@every_tree
@pytest.mark.parametrize("kind", [normal, ties, with_forbidden_parts])
def test_the_gradient_of_the_log_partition_function_is_the_beliefs(tables, options, kind):
    rng = np.random.default_rng(3)
    graph, level, scores = random_parts(rng, 4, tables, kind(rng))
    _, found, _, dissent = propagate(graph, level, scores, options)
    assert dissent <= 1e-12
    check_beliefs(graph, found)
    step = 1e-4
    for table, beliefs in zip(scores, found, strict=True):
        for i in rng.permutation(np.flatnonzero(np.isfinite(table)))[:25]:
            kept = table[i]
            table[i] = kept + step
            up = propagate(graph, level, scores, options)[0]
            table[i] = kept - step
            down = propagate(graph, level, scores, options)[0]
            table[i] = kept
            assert (up - down) / (2 * step) == pytest.approx(beliefs[i], abs=1e-7)


@every_tree
def test_all_factors_agree_in_the_end(options):
    rng = np.random.default_rng(4)
    graph, level, scores = random_parts(rng, 6, TABLES[2], normal(rng))
    _, found, _, dissent = propagate(graph, level, scores, options)
    assert dissent <= 1e-12
    coming, going = found.first.copy(), found.last.copy()
    for b in range(1, len(graph.head)):
        h = graph.head[b]
        side = graph.right[h] if b >= graph.right[h] else graph.out[h]
        for k in range(graph.inner[b]):
            coming[b] += found.pair[graph.pairs[b] + k]
            going[side + k] += found.pair[graph.pairs[b] + k]
    assert np.allclose(coming, found.arcs, rtol=0, atol=1e-10)
    assert np.allclose(going, found.arcs, rtol=0, atol=1e-10)


_SIZES = [
    st.integers(-2, 2).map(float) | st.just(-np.inf),
    st.floats(-30, 30),
    st.floats(-1e3, 1e3) | st.just(-np.inf),
    st.sampled_from([-1e6, -1e3, 0.0, 1.0, 1e3, 1e6, -np.inf]),
    st.floats(-1e299, 1e299),
]


@every_table
@every_tree
@settings(deadline=None, max_examples=60)
@given(data=st.data(), n=st.integers(1, 5))
def test_scores_of_any_size_give_no_rubbish(tables, options, data, n):
    elements = data.draw(st.sampled_from(_SIZES))
    graph, level, scores = random_parts(
        None, n, tables, lambda length: data.draw(arrays.arrays(np.float64, length, elements=elements))
    )
    log_z, found, used, dissent = propagate(graph, level, scores, options, sweeps=30, tolerance=1e-6)
    assert 0 <= used <= 30
    assert log_z < np.inf
    if log_z > -np.inf:
        check_beliefs(graph, found)
        assert 0 <= dissent <= 1 + 1e-9
        again = propagate(graph, level, scores, options, sweeps=30, tolerance=1e-6)
        assert log_z == again[0]
        assert all(map(np.array_equal, found, again[1]))
    else:
        S = np.full((n + 1, n + 1), -np.inf)
        S[graph.head[1:], graph.modifier[1:]] = scores.arcs[1:]
        forbidden = any(np.isneginf(array).any() for array in scores[1:])
        assert forbidden or log_partition(S, **options) == -np.inf


def test_parts_of_minus_infinity_are_forbidden():
    """Words 2 and 3 may not be consecutive modifiers of 1, nor 2 below 1 below the root."""
    S, siblings, grandchildren = np.zeros((4, 4)), np.zeros((4, 4, 4)), np.zeros((4, 4, 4))
    siblings[1, 2, 3] = grandchildren[0, 1, 2] = -np.inf
    scores = Scores(S, siblings=siblings, grandchildren=grandchildren)
    found = marginals(scores, approximate=True, parts=True)
    assert found.siblings[1, 2, 3] == found.grandchildren[0, 1, 2] == 0
    assert found.arcs[1, 2] < marginals(S)[1, 2]
    S[2, 1] = grandchildren[3, 1, 2] = -np.inf
    assert marginals(Scores(S, grandchildren=grandchildren), approximate=True)[1, 2] == 0


@every_table
def test_marginals_are_close_to_those_of_the_exact_chart(tables):
    rng = np.random.default_rng(5)
    errors = []
    for n in (8, 10, 12):
        scores = Scores(rng.normal(size=(n + 1, n + 1)), **random_tables(rng, n, tables, 0.5))
        right = marginals(scores, projective=True)
        errors.append(np.abs(marginals(scores, projective=True, approximate=True) - right).sum() / n**2)
    assert np.mean(errors) < 0.03


@every_tree
def test_sparse_and_dense_scores_agree(options):
    rng = np.random.default_rng(6)
    n = 7
    S, higher = rng.normal(size=(n + 1, n + 1)), random_tables(rng, n, TABLES[2], 0.3)
    S[rng.random(S.shape) < 0.3] = -np.inf
    S[np.arange(n), np.arange(1, n + 1)] = 0
    pairs = [(h, m) for h, m in product(range(n + 1), range(1, n + 1)) if h != m and S[h, m] > -np.inf]
    pairs = [pairs[i] for i in rng.permutation(len(pairs))]
    graph = ArcGraph(n, pairs)
    tables = {"arcs": np.array([S[pair] for pair in pairs])}
    for name, table in higher.items():
        tables[name] = np.zeros(len(graph.parts(name)))
        for k, part in enumerate(graph.parts(name).tolist()):
            h = pairs[max(part) if name == "siblings" else part[1]][0]
            near, far = (h if arc < 0 else pairs[arc][1] for arc in part)
            if name == "siblings":
                tables[name][k] = table[h, near, far]
            elif part[0] >= 0:
                tables[name][k] = table[pairs[part[0]][0], h, far]
    dense, sparse = Scores(S, **higher), PartScores(graph, **tables)
    options = {**options, "approximate": True}
    assert log_partition(sparse, **options) == pytest.approx(log_partition(dense, **options), rel=1e-12)
    arcs = marginals(dense, **options)
    assert np.allclose(marginals(sparse, **options), [arcs[pair] for pair in pairs], rtol=0, atol=1e-9)
    found = marginals(sparse, parts=True, **options)
    assert found.keys() == tables.keys()


def test_several_tables_are_summed_as_one_by_one():
    rng = np.random.default_rng(7)
    batch = [Scores(rng.normal(size=(n, n)), grandchildren=rng.normal(size=(n,) * 3) / 3) for n in (2, 6, 9)]
    alone = [log_partition(scores, approximate=True) for scores in batch]
    for jobs in (1, 2):
        assert log_partition(batch, approximate=True, jobs=jobs) == alone
        found = marginals(batch, approximate=True, jobs=jobs)
        assert all(np.allclose(arcs.sum(axis=0)[1:], 1) for arcs in found)


def test_what_has_not_converged_is_said_to():
    rng = np.random.default_rng(4)
    scores = Scores(np.zeros((9, 9)), **random_tables(rng, 8, TABLES[2], 3.0))
    with pytest.warns(RuntimeWarning, match="has not converged after 300 sweeps"):
        arcs = marginals(scores, approximate=True)
    assert np.allclose(arcs.sum(axis=0)[1:], 1)


def test_what_is_not_understood_is_refused():
    S, cube = np.zeros((4, 4)), np.zeros((4, 4, 4))
    for function in (log_partition, marginals):
        with pytest.raises(InputError, match=r"approximate=True$"):
            function(Scores(S, siblings=cube))
        with pytest.raises(
            InputError, match=r"^matrix 1: first, none with approximate=True, expected no tables but"
        ):
            function([Scores(S), Scores(S, first=S, none=np.zeros((4, 4, 2)))], approximate=True)
        labelled = PartScores(ArcGraph(1, [(0, 1), (0, 1)], labels=["a", "b"]), arcs=[0, 1])
        with pytest.raises(
            InputError, match=r"^labels or senses with approximate=True, expected at most one arc"
        ):
            function(labelled, approximate=True)
    S[:, 2] = -np.inf
    assert log_partition(Scores(S, siblings=cube), approximate=True) == -np.inf
    with pytest.raises(NoTreeError, match=r"^word 2 has no allowed head$"):
        marginals(Scores(S, siblings=cube), approximate=True)
    S = np.full((4, 4), -np.inf)
    S[3, 1] = S[0, 2] = S[2, 3] = 0.0
    crossing = Scores(S, grandchildren=cube)
    assert log_partition(crossing, approximate=True) == pytest.approx(0.0)
    with pytest.raises(
        NoTreeError, match=r"^the allowed arcs form no projective tree with exactly one root$"
    ):
        marginals(crossing, projective=True, approximate=True)
