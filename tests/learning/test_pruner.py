"""The pruner's gradient against differences of its loss, and its steps against a slow AdaGrad."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.coarse import coarse_scores
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.learning import pruner
from arcwise.learning.pruner import RATE, pruner_epoch
from tests.learning.corpora import TEMPLATES, small_corpus

BITS = 9
CORPUS, _ = small_corpus(6)


def learn(order: list[int], weights: np.ndarray, squares: np.ndarray, rate: float = RATE) -> float:
    return pruner_epoch(CORPUS, np.array(order), TEMPLATES, BITS, rate, weights, squares)


def loss_of(sentence: int, weights: np.ndarray) -> float:
    """A rate of zero moves nothing."""
    before = weights.copy()
    loss = learn([sentence], weights, np.zeros_like(weights), 0.0)
    np.testing.assert_array_equal(weights, before)
    return loss


def counts_of(sentence: int) -> np.ndarray:
    """How often each weight counts in the score of each arc: (n+1, n+1, weights)."""
    numbers = CORPUS.numbers[CORPUS.starts[sentence] : CORPUS.starts[sentence + 1]]
    size = len(numbers)
    tokens = make_tokens(size - 1, TEMPLATES.end)
    hash_tokens(numbers, TEMPLATES, tokens)
    counts = np.zeros((size, size, 1 << BITS))
    for index in range(1 << BITS):
        S = np.zeros((size, size))
        coarse_scores(tokens, TEMPLATES, (np.arange(1 << BITS) == index).astype(np.int8), BITS, S)
        counts[:, :, index] = S
    return counts


def naive_loss(counts: np.ndarray, heads: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The negative log-likelihood of a sentence and its gradient."""
    loss, gradient = 0.0, np.zeros(len(weights))
    for m in range(1, len(heads)):
        scores = counts[:, m] @ weights.astype(np.float64)
        scores[m] = -np.inf
        p = np.exp(scores - scores.max())
        p /= p.sum()
        loss -= np.log(p[heads[m]])
        gradient += p @ counts[:, m] - counts[heads[m], m]
    return loss, gradient


@pytest.mark.parametrize("sentence", range(3))
def test_loss(sentence: int) -> None:
    weights = (0.3 * np.random.default_rng(sentence).normal(size=1 << BITS)).astype(np.float32)
    counts = counts_of(sentence)
    heads = CORPUS.heads[CORPUS.starts[sentence] : CORPUS.starts[sentence + 1]]
    loss, gradient = naive_loss(counts, heads, weights)
    assert loss_of(sentence, weights) == pytest.approx(loss, rel=1e-5)
    for index in np.argsort(-np.abs(gradient))[:10]:
        ends = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[index] += sign * np.float32(1 / 256)
            ends.append(loss_of(sentence, moved))
        assert (ends[0] - ends[1]) * 128 == pytest.approx(gradient[index], rel=0.02, abs=0.02)


def test_steps_are_those_of_adagrad() -> None:
    """Word by word, arc by arc: each feature of an arc moves by the arc's gradient."""
    weights = (0.1 * np.random.default_rng(0).normal(size=1 << BITS)).astype(np.float32)
    squares = np.zeros_like(weights)
    slow, slow_squares = weights.astype(np.float64), np.zeros(1 << BITS)
    learn([0, 1, 0], weights, squares)
    for sentence in (0, 1, 0):
        counts = counts_of(sentence)
        heads = CORPUS.heads[CORPUS.starts[sentence] : CORPUS.starts[sentence + 1]]
        for m in range(1, len(heads)):
            scores = counts[:, m] @ slow
            scores[m] = -np.inf
            p = np.exp(scores - scores.max())
            p /= p.sum()
            for h in range(len(heads)):
                gradient = (h == heads[m]) - p[h]
                if abs(gradient) < pruner._NEGLIGIBLE:
                    continue
                for index in np.flatnonzero(counts[h, m]):
                    for _ in range(int(counts[h, m, index])):
                        slow_squares[index] += gradient**2
                        step = gradient / np.sqrt(slow_squares[index] + pruner._EPSILON)
                        slow[index] += RATE * step
    np.testing.assert_allclose(squares, slow_squares, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(weights, slow, atol=1e-4)


def test_the_loss_falls() -> None:
    weights, squares = np.zeros(1 << BITS, np.float32), np.zeros(1 << BITS, np.float32)
    losses = [learn(list(range(6)), weights, squares) for _ in range(10)]
    assert losses[-1] < losses[0] / 4
    uniform = sum(
        (size - 1) * np.log(size - 1) for size in np.diff(CORPUS.starts).tolist()
    )  # each of the other words and the root
    fresh = np.zeros_like(weights)
    assert sum(loss_of(s, fresh) for s in range(6)) == pytest.approx(uniform)
