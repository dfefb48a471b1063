"""Importance sampling, against sums over all trees of short sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from arcwise.parts.scores import Scores
from arcwise.search.part_chart import PartChart, part_chart
from arcwise.sums.importance import Estimate, crosses, sum_by_samples
from arcwise.trees.blocks import is_projective
from arcwise.trees.enumerate import all_trees


def score(tables: dict[str, np.ndarray], heads: np.ndarray) -> float:
    """What a tree scores by tables of arcs, siblings, grandchildren and grand-siblings."""
    n = len(heads) - 1
    total = float(tables["arcs"][heads[1:], np.arange(1, n + 1)].sum())
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            modifiers = [m for m in side if heads[m] == h]
            for before, m in zip(
                [h, *modifiers], [*modifiers, h] if modifiers else [], strict=bool(modifiers)
            ):
                if "siblings" in tables:
                    total += tables["siblings"][h, before, m]
                if "grand_siblings" in tables and h > 0:
                    total += tables["grand_siblings"][heads[h], h, before, m]
            if "grandchildren" in tables and h > 0:
                total += sum(tables["grandchildren"][heads[h], h, m] for m in modifiers)
    return total


class Truth(NamedTuple):
    trees: np.ndarray
    scores: np.ndarray
    log_partition: float
    chances: np.ndarray
    marginals: np.ndarray

    @property
    def entropy(self) -> float:
        p = self.chances[self.chances > 0]
        return float(-(p * np.log(p)).sum())


def brute_force(scores: Scores, single_root: bool) -> Truth:
    n = len(scores.arcs) - 1
    trees = all_trees(n, single_root)
    tables = scores.tables()
    found = np.array([score(tables, heads) for heads in trees])
    total = float(np.logaddexp.reduce(found))
    chances = np.exp(found - total)
    marginals = np.zeros((n + 1, n + 1))
    for heads, chance in zip(trees, chances, strict=True):
        marginals[heads[1:], np.arange(1, n + 1)] += chance
    return Truth(trees, found, total, chances, marginals)


def random_scores(
    seed: int, n: int, scale: float = 0.8, forbidden: float = 0.0, tied: bool = False
) -> Scores:
    random = np.random.default_rng(seed)

    def table(axes: int) -> np.ndarray:
        values = random.normal(0, scale, (n + 1,) * axes)
        return np.rint(values) if tied else values

    tables = {"arcs": table(2), "siblings": table(3), "grandchildren": table(3)}
    if seed % 2:
        tables["grand_siblings"] = table(4)
    for values in tables.values():
        values[random.random(values.shape) < forbidden] = -np.inf
    tables["arcs"][0, 1:] = np.maximum(tables["arcs"][0, 1:], -3.0)
    for m in range(2, n + 1):  # one tree is left, whatever is forbidden
        tables["arcs"][m - 1, m] = max(tables["arcs"][m - 1, m], -3.0)
        if m > 2:
            tables["grandchildren"][m - 2, m - 1, m] = 0.0
        tables["grandchildren"][0, 1, 2] = 0.0
        tables["siblings"][m - 1, [m - 1, m], [m, m - 1]] = 0.0
        if "grand_siblings" in tables:
            g = max(m - 2, 0)
            tables["grand_siblings"][g, m - 1, [m - 1, m], [m, m - 1]] = 0.0
    tables["siblings"][0, [0, 1], [1, 0]] = 0.0
    return Scores(**tables)


def estimate(
    chart: PartChart, atoms: np.ndarray, samples: int, seed: int
) -> tuple[Estimate, np.ndarray, np.ndarray]:
    size = len(chart.graph.position)
    marginals, errors = np.empty((size, size)), np.empty((size, size))
    found = sum_by_samples(
        chart.kind, chart.graph, chart.levels, chart.tables, None, 1.0, chart.single_root, atoms.astype(np.int32), samples,
        seed, 0, marginals, errors,
    )  # fmt: skip
    return found, marginals, errors


def chart_of(scores: Scores, single_root: bool) -> PartChart:
    return part_chart(scores, projective=True, single_root=single_root)


PROBLEMS = [
    (seed, single_root, forbidden, tied)
    for seed, (single_root, forbidden, tied) in enumerate(
        [(True, 0.0, False), (True, 0.0, False), (False, 0.0, False), (False, 0.0, False), (True, 0.15, False),
         (True, 0.15, False), (False, 0.15, True), (True, 0.0, True)]
    )
]  # fmt: skip


@pytest.mark.parametrize(("seed", "single_root", "forbidden", "tied"), PROBLEMS)
def test_estimates_are_unbiased_and_errors_are_right(
    seed: int, single_root: bool, forbidden: float, tied: bool
) -> None:
    """In 150 repetitions means are right, and estimates scatter as far from them as their standard errors say."""
    scores = random_scores(seed, 5, forbidden=forbidden, tied=tied)
    truth, chart = brute_force(scores, single_root), chart_of(scores, single_root)
    best = truth.trees[[truth.scores.argmax()]]
    found = [estimate(chart, best, 1000, k) for k in range(150)]
    shares = np.exp([one.log_partition - truth.log_partition for one, _, _ in found])
    marginals, known = np.array([arcs for _, arcs, _ in found]), truth.marginals > 0.05
    scatter, of_arcs = np.std(shares), np.std(marginals, axis=0)
    assert abs(np.mean(shares) - 1) <= 4 * scatter / np.sqrt(150) + 1e-9
    np.testing.assert_allclose(np.mean(marginals, axis=0), truth.marginals, atol=0.02)
    if scatter < 1e-9:
        assert truth.chances[[crosses(heads.astype(np.int32)) for heads in truth.trees]].sum() < 1e-9
        return
    errors = np.sqrt(np.mean([np.square(one.error) for one, _, _ in found]))
    assert errors == pytest.approx(scatter, rel=0.35)
    distances = (shares - 1) / [one.error for one, _, _ in found]
    assert np.std(distances) == pytest.approx(1, abs=0.4)
    assert np.mean(np.abs(distances) > 3) < 0.05
    arc_errors = np.sqrt(np.mean([np.square(arcs) for _, _, arcs in found], axis=0))
    assert (arc_errors[known] >= 0.65 * of_arcs[known]).all()
    assert (arc_errors[known] <= 1.4 * of_arcs[known] + 0.005).all()  # the draw that is added
    entropies = [one.entropy for one, _, _ in found]
    assert np.mean(entropies) == pytest.approx(truth.entropy, abs=0.05)
    of_entropy = np.sqrt(np.mean([np.square(one.entropy_error) for one, _, _ in found]))
    assert of_entropy == pytest.approx(np.std(entropies), rel=0.5)


@pytest.mark.parametrize(("seed", "single_root", "forbidden", "tied"), PROBLEMS)
def test_no_tree_is_likelier_than_its_arcs(
    seed: int, single_root: bool, forbidden: float, tied: bool
) -> None:
    """And several never have more than 1 together; with one draw, too."""
    scores = random_scores(seed, 5, 2.0, forbidden, tied)
    truth, chart = brute_force(scores, single_root), chart_of(scores, single_root)
    order = np.argsort(-truth.scores)[: np.isfinite(truth.scores).sum()]
    for samples in (1, 3, 50):
        for count in (1, 4, len(order)):
            atoms = truth.trees[order[:count]]
            found, marginals, errors = estimate(chart, atoms, samples, samples)
            chances = np.exp(truth.scores[order[:count]] - found.log_partition)
            assert chances.sum() <= 1 + 1e-12
            for heads, chance in zip(atoms, chances, strict=True):
                assert marginals[heads[1:], np.arange(1, 6)].min() >= chance - 1e-12
            np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1)
            if count == len(order):  # all trees there are
                assert found.log_partition == pytest.approx(truth.log_partition)
                np.testing.assert_allclose(marginals, truth.marginals, atol=1e-9)
                assert forbidden > 0 or found.error == pytest.approx(0, abs=1e-6)
                assert forbidden > 0 or errors == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_trees_are_gone_through(n: int, single_root: bool) -> None:
    scores = random_scores(n, n, 2.0)
    truth, chart = brute_force(scores, single_root), chart_of(scores, single_root)
    found, marginals, errors = estimate(chart, truth.trees[:1], n**n + 1, 0)
    assert found.log_partition == pytest.approx(truth.log_partition)
    assert found.entropy == pytest.approx(truth.entropy)
    np.testing.assert_allclose(marginals, truth.marginals, atol=1e-9)
    assert found.error == found.entropy_error == errors.max() == 0


def test_more_draws_are_nearer() -> None:
    scores = random_scores(2, 6)
    truth, chart = brute_force(scores, True), chart_of(scores, True)
    best = truth.trees[[truth.scores.argmax()]]
    errors = []
    for samples in (400, 1600, 6400):
        found, marginals, of_arcs = estimate(chart, best, samples, 0)
        assert abs(found.log_partition - truth.log_partition) < 5 * found.error
        assert abs(found.entropy - truth.entropy) < 5 * found.entropy_error
        assert (np.abs(marginals - truth.marginals) <= 6 * of_arcs + 1e-9).all()
        errors.append(found.error)
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.4)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.4)


def test_the_seed_decides() -> None:
    scores = random_scores(3, 6)
    chart = chart_of(scores, True)
    best = brute_force(scores, True).trees[:1]
    one, same, other = (estimate(chart, best, 50, seed) for seed in (1, 1, 2))
    assert one[0] == same[0]
    assert one[1].tobytes() == same[1].tobytes()
    assert one[0] != other[0]


def test_crossing_is_not_being_projective() -> None:
    for single_root in (True, False):
        for heads in all_trees(5, single_root):
            assert crosses(heads.astype(np.int32)) != is_projective(heads)
