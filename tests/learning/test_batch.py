"""L-BFGS and conjugate gradient: the objective and its gradient, and that they find its minimum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.learning.batch import Batch
from arcwise.learning.space import mark_features, space_size
from arcwise.learning.trainers import Choices, Problem
from arcwise.pipeline import options as pipeline_options
from tests.learning.slow_trees import CORPUS, all_arcs, space_of
from tests.pipeline.models import quick
from tests.pipeline.test_training import TINY, sentences

SPACE = space_of("spanning-tree")
PROBLEM = Problem(CORPUS, all_arcs(), None, SPACE, True)
OPTIMISERS = ["lbfgs", "cg"]


def parts() -> Iterator[tuple[NDArray[np.int64], float]]:
    yield np.array([4, 0, 2]), 0.5
    yield np.array([1, 5, 3]), 1.0


def batch(optimiser: str, penalty: float) -> Batch:
    return Batch(PROBLEM, Choices("log-linear", optimiser, 1.0, penalty), {})


def features_seen() -> NDArray[np.bool_]:
    seen = np.zeros(space_size(SPACE), np.float32)
    mark_features(CORPUS, all_arcs(), None, SPACE, seen)
    return np.asarray(seen != 0)


def objective(trainer: Batch) -> float:
    return trainer.value(trainer.state["weights"][features_seen()], parts)[0]


@pytest.mark.parametrize("penalty", [0.01, 5.0])
def test_the_gradient_is_that_of_the_value(penalty: float) -> None:
    trainer, rng = batch("lbfgs", penalty), np.random.default_rng(0)
    x = 0.2 * rng.normal(size=features_seen().sum())
    _, gradient, _ = trainer.value(x, parts)
    directions = [rng.normal(size=len(x)) for _ in range(5)]
    directions += [np.eye(1, len(x), i)[0] for i in rng.choice(len(x), 10)]
    for direction in directions:
        step = 1e-6 / np.abs(direction).max()
        ends = [trainer.value(x + sign * step * direction, parts)[0] for sign in (1, -1)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-5, abs=1e-4)


def test_the_value_at_zero() -> None:
    """No penalty, and the log of the number of labelled trees of every sentence."""
    trainer = batch("lbfgs", 3.0)
    value, gradient, _ = trainer.value(np.zeros(features_seen().sum()), parts)
    halves = [trainer.value(np.zeros(len(gradient)), lambda part=part: iter([part]))[0] for part in parts()]  # type: ignore[misc]
    assert value == pytest.approx(sum(halves))
    assert value > sum(np.log(n) for n in np.diff(CORPUS.starts) - 1)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_the_minimum_is_approached(optimiser: str) -> None:
    trainer = batch(optimiser, 1.0)
    start = np.linalg.norm(trainer.value(np.zeros(features_seen().sum()), parts)[1])
    values, norms = [objective(trainer)], trainer.state["norms"]
    for _ in range(4):
        told: list[float] = []
        trainer.tell = lambda share, error, told=told: told.append(share)  # type: ignore[misc]
        assert 0 <= trainer.epoch(parts) <= 1
        assert told == sorted(told)
        assert told[-1] == 1.0
        assert norms[0] == start
        values.append(objective(trainer))
    assert all(later < sooner + 1e-9 for sooner, later in pairwise(values))
    assert values[1] < values[0] / 2
    assert norms[1] < 1e-3 * norms[0]
    weights = trainer.state["weights"]
    assert norms[1] == pytest.approx(np.linalg.norm(trainer.value(weights[features_seen()], parts)[1]))
    assert not weights[~features_seen()].any()
    assert (weights[features_seen()] != 0).mean() > 0.9
    np.testing.assert_array_equal(trainer.weights(), weights.astype(np.float32))


def test_both_find_the_same_minimum() -> None:
    """No point is farther from it than the norm of its gradient, divided by the penalty."""
    penalty = 1.0
    trainers = [batch(optimiser, penalty) for optimiser in OPTIMISERS]
    for trainer in trainers:
        for _ in range(4):
            trainer.epoch(parts)
    first, second = (trainer.state["weights"] for trainer in trainers)
    apart = sum(trainer.state["norms"][1] for trainer in trainers) / penalty
    assert np.linalg.norm(first - second) <= apart + 1e-9
    assert np.linalg.norm(first - second) < 1e-2 * np.linalg.norm(first)


def test_a_greater_penalty_gives_smaller_weights() -> None:
    lengths = []
    for penalty in (0.1, 1.0, 10.0):
        trainer = batch("lbfgs", penalty)
        trainer.epoch(parts)
        lengths.append(np.linalg.norm(trainer.state["weights"]))
    assert lengths[0] > 1.2 * lengths[1] > 1.44 * lengths[2]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_without_scipy(monkeypatch: pytest.MonkeyPatch, optimiser: str) -> None:
    monkeypatch.setattr(pipeline_options, "find_spec", lambda name: None)
    options: dict[str, Any] = {"learner": "log-linear", "optimiser": optimiser, **TINY}
    with pytest.raises(
        ArcwiseError, match=rf"{optimiser} needs SciPy: pip install 'arcwise\[batch\]', or take sgd"
    ):
        quick(sentences(5), **options)
