"""The learner of labels against a slow one."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.learning.labels import LABEL_LEARNERS, label_epoch
from arcwise.learning.online import Learner
from tests.learning.corpora import TEMPLATES, Features, small_corpus

BITS = 20
CORPUS, LABELS = small_corpus(5)
FREE = Learner(cost=1.0, limit=1e9)


def learn(
    order: list[int], learner: Learner, weights: np.ndarray, moves: np.ndarray, *, step: int = 0
) -> int:
    return label_epoch(CORPUS, np.array(order), TEMPLATES, BITS, learner, step, weights, moves)


@pytest.mark.parametrize("learner", [*LABEL_LEARNERS.values(), FREE])
def test_every_word_is_one_step(learner: Learner) -> None:
    order = [2, 0, 4, 2, 1, 3]
    weights, moves = np.zeros((1 << BITS, LABELS), np.float32), np.zeros((1 << BITS, LABELS), np.float32)
    wrong = learn(order, learner, weights, moves)

    slow: dict[tuple[int, int], float] = {}  # the weights that are not zero
    total: dict[tuple[int, int], float] = {}  # of all steps
    steps = errors = 0
    for sentence in order:
        features = Features(CORPUS, sentence, 10, BITS)
        for m in range(1, features.n + 1):
            rows = features.in_tree(features.heads, m).tolist()
            right = int(features.labels[m])
            scores = [sum(slow.get((row, label), 0.0) for row in rows) for label in range(LABELS)]
            rival = max((label for label in range(LABELS) if label != right), key=lambda label: scores[label])
            errors += scores[rival] >= scores[right]
            loss = learner.cost + scores[rival] - scores[right]
            if loss >= 0:  # the perceptron moves on a tie, too
                length = min(learner.limit, loss / (2 * len(rows))) if learner.limit > 0 else 1.0
                for row in rows:
                    slow[row, right] = slow.get((row, right), 0.0) + length
                    slow[row, rival] = slow.get((row, rival), 0.0) - length
            steps += 1
            for place, weight in slow.items():
                total[place] = total.get(place, 0.0) + weight
    places = np.array(list(slow))
    assert wrong == errors
    np.testing.assert_allclose(weights[places[:, 0], places[:, 1]], list(slow.values()), atol=1e-4)
    assert np.count_nonzero(np.abs(weights) > 1e-5) <= len(slow)
    average = weights - moves / steps
    mean = np.array([total[row, label] / steps for row, label in slow])
    np.testing.assert_allclose(average[places[:, 0], places[:, 1]], mean, atol=1e-4)


def test_parts_of_an_epoch_are_an_epoch() -> None:
    order, learner = [0, 1, 2, 3, 4], LABEL_LEARNERS["mira"]
    whole = [np.zeros((1 << BITS, LABELS), np.float32) for _ in range(2)]
    parts = [np.zeros((1 << BITS, LABELS), np.float32) for _ in range(2)]
    wrong = learn(order, learner, *whole)
    words = int(CORPUS.starts[2] - 2)
    assert wrong == learn(order[:2], learner, *parts) + learn(order[2:], learner, *parts, step=words)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", LABEL_LEARNERS)
def test_the_training_error_falls_to_nothing(name: str) -> None:
    weights, moves = np.zeros((1 << BITS, LABELS), np.float32), np.zeros((1 << BITS, LABELS), np.float32)
    errors = [learn([0, 1, 2, 3, 4], LABEL_LEARNERS[name], weights, moves) for _ in range(15)]
    assert errors[0] > 0
    assert errors[-1] == 0


def test_one_label_needs_no_learning() -> None:
    corpus = CORPUS._replace(labels=np.where(CORPUS.labels >= 0, 0, -1).astype(np.int32))
    weights, moves = np.zeros((1 << 10, 1), np.float32), np.zeros((1 << 10, 1), np.float32)
    assert label_epoch(corpus, np.arange(5), TEMPLATES, 10, FREE, 0, weights, moves) == 0
    assert not weights.any()
