"""Labels and senses: charts over sparse graphs, checked against all choices of an arc into every word."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import arcwise
from arcwise import ArcGraph, InputError, NoTreeError, PartScores, Scores
from arcwise.search.chart import CHARTS
from arcwise.trees.enumerate import all_trees

# Every chart, and tables that need it.
TABLES = {
    "eisner": [],
    "sibling": ["siblings"],
    "tri-sibling": ["siblings", "tri_siblings", "second"],
    "carreras": ["siblings", "outermost_grandchildren"],
    "model0": ["grandchildren", "first_grandchildren", "none"],
    "model1": ["siblings", "grandchildren", "grand_siblings"],
    "model2": ["siblings", "tri_siblings", "outermost_grandchildren", "outermost_grand_siblings"],
    "grand-tri-sibling": [
        "siblings",
        "tri_siblings",
        "grandchildren",
        "grand_siblings",
        "grand_tri_siblings",
    ],
    "great-grandparent": ["grandchildren", "great_grandchildren", "great_grand_siblings"],
}


def arc_parts(graph, choice):
    """All parts of a tree that takes the arcs `choice`, as (table, arcs): told by arcs, not by words."""
    into = {int(graph.arcs[a][1]): a for a in choice}
    for h in range(graph.n + 1):
        above = into.get(h)
        top = into.get(int(graph.arcs[above][0])) if above is not None else None
        for side in (0, 1):
            chain = [into[m] for m in into if graph.arcs[into[m]][0] == h and (m > h) == bool(side)]
            chain.sort(key=lambda a: abs(int(graph.arcs[a][1]) - h))
            if above is not None and not chain:
                yield "none", (above, side)
            padded = [-1, *chain, -1]
            for k, a in enumerate(chain):
                yield "arcs", (a,)
                if above is not None:
                    yield "grandchildren", (above, a)
                    if k == 0:
                        yield "first_grandchildren", (above, a)
                    if top is not None:
                        yield "great_grandchildren", (top, above, a)
                if k == 1:
                    yield "second", (chain[0], a)
                if k > 0:
                    yield "tri_siblings", (padded[k - 1], chain[k - 1], a)
                    if above is not None:
                        yield "grand_tri_siblings", (above, padded[k - 1], chain[k - 1], a)
            for pair in pairwise(padded):
                if chain:
                    yield "siblings", pair
                    if above is not None:
                        yield "grand_siblings", (above, *pair)
                        if top is not None:
                            yield "great_grand_siblings", (top, above, *pair)
            if chain and above is not None:
                yield "outermost_grandchildren", (above, chain[-1])
                yield "outermost_grand_siblings", (above, padded[len(chain) - 1], chain[-1])


def all_choices(graph, single_root):
    """All ways to take an arc into every word, such that they form a projective tree that leaves a word as it was entered."""
    for heads in all_trees(graph.n, single_root, projective=True):
        candidates = [
            [a for a, (h, m) in enumerate(graph.arcs.tolist()) if m == word and h == heads[word]]
            for word in range(1, graph.n + 1)
        ]
        for choice in product(*candidates):
            sense = {0: 0} | {int(graph.arcs[a][1]): int(graph.senses[a][1]) for a in choice}
            if all(sense[int(graph.arcs[a][0])] == graph.senses[a][0] for a in choice):
                yield choice


def random_graph(rng, n):
    """Up to two senses a word, up to two labels an arc, some arcs missing."""
    kinds = [1, *rng.integers(1, 3, n)]
    arcs = [
        ((h, m), (i, j), label)
        for h in range(n + 1)
        for m in range(1, n + 1)
        if h != m
        for i in range(kinds[h])
        for j in range(kinds[m])
        for label in range(rng.integers(1, 3))
        if rng.random() < 0.8
    ]
    arcs = [arcs[k] for k in rng.permutation(len(arcs))]
    pairs, senses, labels = zip(*arcs, strict=True)
    return ArcGraph(n, pairs, labels=[f"l{label}" for label in labels], senses=senses)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("chart", TABLES)
def test_labels_and_senses(chart, single_root):
    rng = np.random.default_rng(5)
    for _ in range(4):
        graph = random_graph(rng, 3)
        tables = {"arcs": rng.normal(size=len(graph.arcs))}
        tables |= {table: rng.normal(size=len(graph.parts(table))) for table in TABLES[chart]}
        by_part = {
            table: dict(zip(map(tuple, graph.parts(table).tolist()), tables[table], strict=True))
            for table in TABLES[chart]
        } | {"arcs": {(a,): score for a, score in enumerate(tables["arcs"])}}
        choices = list(all_choices(graph, single_root))
        scores = np.array(
            [sum(by_part[t][arcs] for t, arcs in arc_parts(graph, c) if t in by_part) for c in choices]
        )
        options = {"projective": True, "single_root": single_root}
        if len(choices) == 0:
            with pytest.raises(NoTreeError):
                arcwise.decode(PartScores(graph, **tables), decoder=chart, **options)
            continue
        parse = arcwise.decode(PartScores(graph, **tables), decoder=chart, **options)
        best = choices[int(scores.argmax())]
        assert parse.score == pytest.approx(scores.max())
        assert parse.heads[1:].tolist() == [int(graph.arcs[a][0]) for a in best]
        assert parse.labels == [graph.labels[a] for a in best]
        assert parse.senses == [int(graph.senses[a][1]) for a in best]
        k_best = arcwise.k_best(PartScores(graph, **tables), 9, decoder=chart, **options)
        assert [other.score for other in k_best] == pytest.approx(np.sort(scores)[::-1][:9])
        log_z = arcwise.log_partition(PartScores(graph, **tables), **options)
        assert log_z == pytest.approx(np.logaddexp.reduce(scores))
        p = np.exp(scores - log_z)
        found = arcwise.marginals(PartScores(graph, **tables), parts=True, **options)
        expected = {table: dict.fromkeys(by_part[table], 0.0) for table in by_part}
        for choice, share in zip(choices, p, strict=True):
            for table, arcs in arc_parts(graph, choice):
                if table in expected:
                    expected[table][arcs] += share
        for table, shares in expected.items():
            np.testing.assert_allclose(found[table], list(shares.values()), atol=1e-9, err_msg=table)
        drawn = arcwise.sample(PartScores(graph, **tables), 20, **options)
        assert {tuple(arcs) for arcs in drawn[:, 1:].tolist()} <= set(choices)


def test_senses_in_which_a_word_is_never_entered():
    """Then there are as many spines that know one ancestor as know two."""
    senses = [(0, 0), (0, 0), (0, 0), (0, 0), (7, 0), (0, 0), (8, 0)]
    graph = ArcGraph(4, [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3), (3, 4), (1, 4)], senses=senses)
    scores = PartScores(graph, arcs=np.zeros(7), grandchildren=10.0 ** np.arange(7))
    options: dict[str, Any] = {"projective": True, "single_root": False}
    expected = [tree.score for tree in arcwise.k_best(scores, 9, decoder="model0", **options)]
    for decoder in ("model1", "grand-tri-sibling", "great-grandparent"):
        assert [tree.score for tree in arcwise.k_best(scores, 9, decoder=decoder, **options)] == expected


def test_every_chart_is_tested():
    assert TABLES.keys() == CHARTS.keys()


def test_dense_and_sparse_tables_agree():
    rng = np.random.default_rng(1)
    n = 7
    S, siblings = rng.normal(size=(n + 1,) * 2), rng.normal(size=(n + 1,) * 3)
    arcs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    graph = ArcGraph(n, arcs)
    flat = [
        siblings[arcs[b if b >= 0 else a][0], arcs[a][1] if a >= 0 else arcs[b][0], arcs[b][1] if b >= 0 else arcs[a][0]]
        for a, b in graph.parts("siblings").tolist()
    ]  # fmt: skip
    sparse = arcwise.decode(PartScores(graph, [S[arc] for arc in arcs], siblings=flat), projective=True)
    dense = arcwise.decode(Scores(S, siblings=siblings), projective=True)
    assert sparse.heads.tolist() == dense.heads.tolist()
    assert sparse.score == pytest.approx(dense.score)
    kept = arcwise.decode(
        PartScores(graph, [S[arc] for arc in arcs], siblings=flat), projective=True, required=[(3, 1)]
    )
    assert kept.heads[1] == 3


def test_refusals():
    with pytest.raises(InputError, match="arc 1 from 3 to 1"):
        ArcGraph(2, [(0, 1), (3, 1)])
    with pytest.raises(InputError, match="1 labels, expected one for each of the 2 arcs"):
        ArcGraph(2, [(0, 1), (1, 2)], labels=["root"])
    with pytest.raises(InputError, match="the root has a sense other than 0"):
        ArcGraph(1, [(0, 1)], senses=[(1, 0)])
    with pytest.raises(InputError, match="arcs of shape"):
        ArcGraph(2, [0.5])
    graph = ArcGraph(2, [(0, 1), (1, 2)])
    with pytest.raises(InputError, match=r"siblings of shape \(3,\), expected \(4,\)"):
        PartScores(graph, [1.0, 2.0], siblings=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="table 'cousins'"):
        graph.parts("cousins")
    with pytest.raises(InputError, match="int as the graph"):
        PartScores(3, arcs=[1.0])  # type: ignore[arg-type]
    shuffled = ArcGraph(2, [(1, 2), (0, 1), (2, 1)])
    with pytest.raises(InputError, match=r"arcs\[0\] is nan"):
        arcwise.decode(PartScores(shuffled, [np.nan, 1.0, 2.0]), projective=True)
    with pytest.raises(NoTreeError, match="word 1 has no allowed head"):
        arcwise.decode(PartScores(shuffled, [1.0, -np.inf, -np.inf]), projective=True)
    with pytest.raises(InputError, match=r"arcs\[1\] is nan"):
        arcwise.decode(PartScores(graph, [1.0, np.nan]), projective=True)
    with pytest.raises(NoTreeError, match="word 2 has no allowed head"):
        arcwise.decode(PartScores(ArcGraph(2, [(0, 1)]), [1.0]), projective=True)
