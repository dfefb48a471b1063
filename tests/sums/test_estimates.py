"""`arcwise.estimate`, against sums over all trees of short sentences."""

from __future__ import annotations

import numpy as np
import pytest

import arcwise
from arcwise import InputError, NoTreeError, PartScores, Scores
from arcwise.sums.estimates import Estimate
from tests.sums.test_importance import brute_force, random_scores


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_near(seed: int, single_root: bool) -> None:
    scores = random_scores(seed, 5, forbidden=0.1 * (seed > 1))
    truth = brute_force(scores, single_root)
    found = arcwise.estimate(scores, single_root=single_root, seed=7)
    assert found.log_partition == pytest.approx(truth.log_partition, abs=5 * found.log_partition_error + 1e-9)
    assert found.entropy == pytest.approx(truth.entropy, abs=5 * found.entropy_error + 1e-9)
    far = np.abs(found.marginals - truth.marginals)[:, 1:]
    assert np.mean(far <= 3 * found.marginal_errors[:, 1:] + 1e-9) > 0.9
    assert far.max() < 0.2
    np.testing.assert_allclose(found.marginals[:, 1:].sum(axis=0), 1)
    assert found.best.score == pytest.approx(truth.scores.max())
    assert found.probability == pytest.approx(truth.chances.max(), abs=5 * found.probability_error + 1e-9)
    assert found.probability <= found.marginals[found.best.heads[1:], np.arange(1, 6)].min()


def test_several_are_estimated_as_each_alone() -> None:
    several = [random_scores(seed, n) for seed, n in enumerate([6, 3, 7, 6])]
    alone = [arcwise.estimate(scores, samples=50) for scores in several]
    for jobs in (1, 3):
        for found, expected in zip(arcwise.estimate(several, samples=50, jobs=jobs), alone, strict=True):
            assert found.log_partition == expected.log_partition
            assert found.marginals.tobytes() == expected.marginals.tobytes()
            assert found.marginal_errors.tobytes() == expected.marginal_errors.tobytes()
    other = arcwise.estimate(several[0], samples=50, seed=1)
    assert other.log_partition != alone[0].log_partition


def test_great_scores_and_ties() -> None:
    """Scores of thousands, all equal, and a tree that is a thousand better than others."""
    arcs = np.full((6, 6), 5000.0)
    scores = Scores(arcs, siblings=np.zeros((6, 6, 6)))
    found: Estimate = arcwise.estimate(scores)
    assert found.log_partition == pytest.approx(25000 + np.log(5**4), abs=5 * found.log_partition_error)
    assert found.marginals[0, 1:] == pytest.approx(0.2, abs=0.1)
    arcs[0, 1] = arcs[1, 2] = arcs[2, 3] = arcs[3, 4] = arcs[4, 5] = 6000.0
    found = arcwise.estimate(scores)
    assert found.log_partition == pytest.approx(30000)
    assert found.probability == pytest.approx(1)


def test_what_cannot_be_estimated_is_refused() -> None:
    scores = random_scores(0, 3)
    for options, message in (
        ({"samples": 0}, "samples is 0"),
        ({"samples": -1}, "samples is -1"),
        ({"samples": 2.5}, r"samples is 2\.5"),
        ({"seed": -1}, "seed is -1"),
        ({"jobs": 0}, "jobs is 0"),
    ):
        with pytest.raises(InputError, match=message):
            arcwise.estimate(scores, **options)
    with pytest.raises(InputError, match="scores of arcs alone, expected tables of parts"):
        arcwise.estimate(np.zeros((3, 3)))
    with pytest.raises(NoTreeError):
        arcwise.estimate(Scores(np.full((3, 3), -np.inf), siblings=np.zeros((3, 3, 3))))
    twice = arcwise.ArcGraph(2, [(0, 1), (0, 1), (1, 2)], labels=["a", "b", "c"])
    with pytest.raises(InputError, match="labels or senses with estimate"):
        arcwise.estimate(PartScores(twice, arcs=np.zeros(3)))


def test_sparse_tables() -> None:
    graph = arcwise.ArcGraph(3, [(0, 1), (1, 2), (2, 3), (1, 3), (3, 2)])
    found = arcwise.estimate(PartScores(graph, arcs=np.array([0.0, 1, 2, 0, 1])))
    assert found.log_partition == pytest.approx(np.log(np.exp(3) + 2 * np.exp(1)))
    assert found.marginals[2, 3] == pytest.approx(np.exp(3) / (np.exp(3) + 2 * np.exp(1)))
