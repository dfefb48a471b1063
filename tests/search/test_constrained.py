"""`decode` under constraints: the best tree and labels that satisfy them, whatever the scores and the search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import ArcGraph, InputError, NoTreeError, PartScores, Scores, decode
from arcwise.constraints import Arc, AtMostOne, Leaf, NoArc, Root, Subtree
from arcwise.trees import all_trees
from arcwise.trees.shapes import Shape, has_shape
from tests.constraints.naive import NAMES, constraint_of, labelled_trees, satisfying
from tests.parts import naive

# What is searched, and how: arcs alone or with siblings, and options of `decode`.
SEARCHES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "spanning-tree": ([], {}),
    "eisner": ([], {"projective": True}),
    "branch-and-bound": ([], {"block_degree": 2, "well_nested": True}),
    "sibling-chart": (["siblings"], {"projective": True}),
    "model0": (["grandchildren"], {"projective": True}),
    "dual": (["siblings"], {}),
}


@pytest.mark.parametrize("name", SEARCHES)
@settings(deadline=None, max_examples=25)
@given(data=st.data(), n=st.integers(2, 4), single_root=st.booleans(), seed=st.integers(0, 2**32))
def test_finds_the_best_tree(name, data, n, single_root, seed):
    tables, options = SEARCHES[name]
    rng = np.random.default_rng(seed)
    drawn = {table: rng.integers(-3, 4, naive.shape(table, n)).astype(float) for table in ["arcs", *tables]}
    drawn["arcs"][rng.random((n + 1, n + 1)) < 0.1] = -np.inf
    constraints = data.draw(st.lists(constraint_of(n, labels=0, tags=False), min_size=1, max_size=3))
    shape = Shape(options.get("block_degree", 0), options.get("well_nested", False))
    trees = all_trees(n, single_root, projective=options.get("projective", False))
    trees = trees[satisfying(constraints, trees, np.zeros_like(trees))]
    members = [heads for heads in trees if has_shape(heads, shape)]
    best = max((naive.score(drawn, heads) for heads in members), default=-np.inf)
    scores = Scores(**drawn) if tables else drawn["arcs"]
    if best == -np.inf:
        with pytest.raises(NoTreeError):
            decode(scores, constraints=constraints, single_root=single_root, **options)
        return
    parse = decode(scores, constraints=list(map(str, constraints)), single_root=single_root, **options)
    assert parse.certified
    assert parse.score == pytest.approx(best)
    assert naive.score(drawn, parse.heads) == pytest.approx(best)
    assert any(np.array_equal(parse.heads, heads) for heads in members)


@pytest.mark.parametrize("projective", [True, False])
@settings(deadline=None, max_examples=30)
@given(data=st.data(), n=st.integers(2, 3), single_root=st.booleans(), seed=st.integers(0, 2**32))
def test_labels_are_chosen_with_the_arcs(projective, data, n, single_root, seed):
    names = NAMES[:3]
    constraints = data.draw(st.lists(constraint_of(n, labels=3, tags=False), min_size=1, max_size=3))
    arcs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m for _ in names]
    arc_labels = [*names] * (len(arcs) // len(names))
    graph = ArcGraph(n, arcs, labels=arc_labels)
    own = np.random.default_rng(seed).integers(-4, 5, len(arcs)).astype(float)
    own_of = dict(zip(zip(*np.array(arcs).T.tolist(), arc_labels, strict=True), own.tolist(), strict=True))
    trees, labels = labelled_trees(n, len(names), single_root, projective)
    good = satisfying(constraints, trees, labels, names)
    best = max(
        (
            sum(own_of[heads[m], m, names[numbers[m]]] for m in range(1, n + 1))
            for heads, numbers in zip(trees[good].tolist(), labels[good].tolist(), strict=True)
        ),
        default=None,
    )
    options = {"constraints": constraints, "single_root": single_root, "projective": projective}
    if best is None:
        with pytest.raises(NoTreeError, match="no tree has"):
            decode(PartScores(graph, own), **options)
        return
    parse = decode(PartScores(graph, own), **options)
    assert parse.certified
    assert parse.score == best
    found = [own_of[parse.heads[m], m, parse.labels[m - 1]] for m in range(1, n + 1)]
    assert sum(found) == best


S = np.random.default_rng(0).normal(size=(7, 7))


def test_conflicts_are_named():
    with pytest.raises(NoTreeError, match=r"no tree has all of these together: leaf 2; arc 2 3$"):
        decode(S, constraints=[Root(1), Leaf(2), NoArc(4, 5)], required=[(2, 3)])
    with pytest.raises(NoTreeError, match=r"matrix 1.*: subtree 1-3; subtree 2-4"):
        decode([S, S], constraints=[[], [Subtree(1, 3), Arc(0, 5), Subtree(2, 4)]])


def test_several_matrices_have_constraints_each():
    one, other = decode([S, S], constraints=[["root 3"], [Root(5)]], jobs=2)
    assert one.heads[3] == other.heads[5] == 0
    assert decode(S, constraints=[]).heads.tolist() == decode(S).heads.tolist()


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (3, "constraints is 3"),
        ([3], "constraint 3"),
        (["jump 3"], "jump"),
        ([Root(7)], "root 7"),
        ([AtMostOne("nsubj")], "label"),
    ],
)
def test_unusable_wishes(wishes, message):
    with pytest.raises(InputError, match=message):
        decode(S, constraints=wishes)
