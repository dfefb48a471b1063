"""The pruner's loss against sums over all trees, its gradient against differences, its steps against a slow AdaGrad."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from arcwise.features import moves
from arcwise.features.coarse import coarse_scores
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.learning import pruner
from arcwise.learning.corpus import Corpus
from arcwise.learning.pruned import prune_corpus
from arcwise.learning.pruner import RATE, pruner_epoch
from arcwise.sums.pruning import BY_HEADS, BY_PROJECTIVE_TREES, BY_TREES
from arcwise.trees.enumerate import all_trees
from tests.learning.corpora import TEMPLATES, small_corpus

BITS = 9
CORPUS, _ = small_corpus(6)

kinds = pytest.mark.parametrize(
    ("pruning", "single_root"),
    [(BY_HEADS, True), *product((BY_TREES, BY_PROJECTIVE_TREES), (True, False))],
)


def partial_corpus() -> Corpus:
    """About half of the heads unknown; all of the third sentence, none of the fourth."""
    heads = np.where(np.random.default_rng(1).random(len(CORPUS.heads)) < 0.5, -1, CORPUS.heads)
    third, fourth, fifth = CORPUS.starts[2:5]
    heads[third:fourth], heads[fourth:fifth] = -1, CORPUS.heads[fourth:fifth]
    return CORPUS._replace(heads=heads.astype(np.int32))


PARTIAL = partial_corpus()
corpora = pytest.mark.parametrize("corpus", [CORPUS, PARTIAL], ids=["complete", "partial"])


def random_weights(seed: int) -> np.ndarray:
    return (0.3 * np.random.default_rng(seed).normal(size=1 << BITS)).astype(np.float32)


def heads_of(corpus: Corpus, sentence: int) -> np.ndarray:
    return corpus.heads[corpus.starts[sentence] : corpus.starts[sentence + 1]]


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


def candidates(n: int, pruning: int, single_root: bool) -> np.ndarray:
    """All trees that share the probability: (k, n+1)."""
    if pruning == BY_HEADS:
        return np.array(
            [(-1, *h) for h in product(range(n + 1), repeat=n) if not np.any(h == np.arange(1, n + 1))]
        )
    return all_trees(n, single_root, pruning == BY_PROJECTIVE_TREES)


def with_known(trees: np.ndarray, heads: np.ndarray) -> np.ndarray:
    chosen: np.ndarray = trees[((trees == heads) | (heads == -1)).all(axis=1)]
    return chosen


def naive_sum(S: np.ndarray, trees: np.ndarray) -> tuple[float, np.ndarray]:
    """The logarithm of the sum over some trees, and the marginals of all arcs."""
    words = np.arange(1, len(S))
    scores = S[trees[:, 1:], words].sum(axis=1)
    log_partition = np.logaddexp.reduce(scores)
    marginals = np.zeros_like(S)
    for tree, p in zip(trees, np.exp(scores - log_partition), strict=True):
        marginals[tree[1:], words] += p
    return log_partition, marginals


def naive_loss(S: np.ndarray, heads: np.ndarray, pruning: int, single_root: bool) -> tuple[float, np.ndarray]:
    """The negative log-likelihood of the known heads and its gradient by the scores of all arcs."""
    trees = candidates(len(heads) - 1, pruning, single_root)
    total, expected = naive_sum(S, trees)
    known, observed = naive_sum(S, with_known(trees, heads))
    return total - known, expected - observed


@corpora
@kinds
def test_loss(corpus: Corpus, pruning: int, single_root: bool) -> None:
    def loss_of(sentence: int, weights: np.ndarray) -> float:
        """A rate of zero moves nothing."""
        before = weights.copy()
        order, squares = np.array([sentence]), np.zeros_like(weights)
        loss = pruner_epoch(corpus, order, TEMPLATES, BITS, pruning, single_root, 0.0, weights, squares)
        np.testing.assert_array_equal(weights, before)
        return loss

    for sentence in range(6):
        weights, counts = random_weights(sentence), counts_of(sentence)
        S = counts @ weights.astype(np.float64)
        loss, by_score = naive_loss(S, heads_of(corpus, sentence), pruning, single_root)
        gradient = np.tensordot(by_score, counts)
        assert loss_of(sentence, weights) == pytest.approx(loss, rel=1e-5, abs=1e-9)
        for index in np.argsort(-np.abs(gradient))[:10]:
            ends = []
            for sign in (1, -1):
                moved = weights.copy()
                moved[index] += sign * np.float32(1 / 256)
                ends.append(loss_of(sentence, moved))
            assert (ends[0] - ends[1]) * 128 == pytest.approx(gradient[index], rel=0.02, abs=0.02)


@corpora
@kinds
def test_steps_are_those_of_adagrad(corpus: Corpus, pruning: int, single_root: bool) -> None:
    """Arc by arc: each feature of an arc moves by the arc's gradient, found before the sentence's first step."""
    order = [0, 1, 2, 0]
    weights = random_weights(0)
    squares = np.zeros_like(weights)
    slow, slow_squares = weights.astype(np.float64), np.zeros(1 << BITS)
    pruner_epoch(corpus, np.array(order), TEMPLATES, BITS, pruning, single_root, RATE, weights, squares)
    for sentence in order:
        counts, heads = counts_of(sentence), heads_of(corpus, sentence)
        _, by_score = naive_loss(counts @ slow, heads, pruning, single_root)
        for m, h in product(range(1, len(heads)), range(len(heads))):
            gradient = -by_score[h, m]
            if abs(gradient) < pruner._NEGLIGIBLE:
                continue
            for index in np.flatnonzero(counts[h, m]):
                for _ in range(int(counts[h, m, index])):
                    slow_squares[index] += gradient**2
                    slow[index] += RATE * gradient / np.sqrt(slow_squares[index] + moves.EPSILON)
    np.testing.assert_allclose(squares, slow_squares, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(weights, slow, atol=1e-4)


@kinds
def test_the_loss_falls(pruning: int, single_root: bool) -> None:
    weights, squares = np.zeros(1 << BITS, np.float32), np.zeros(1 << BITS, np.float32)
    losses = [
        pruner_epoch(CORPUS, np.arange(6), TEMPLATES, BITS, pruning, single_root, RATE, weights, squares)
        for _ in range(10)
    ]
    assert losses[-1] < losses[0] / 4


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_the_best_tree_with_the_known_heads_is_kept(projective: bool, single_root: bool) -> None:
    coarse = np.random.default_rng(3).integers(-9, 10, 1 << BITS).astype(np.int8)
    pruned = prune_corpus(
        PARTIAL, TEMPLATES, coarse, BITS, 1.0, BY_HEADS, single_root, 2, 0.0, projective
    )  # one head a word, and the tree's
    for sentence in range(6):
        S, heads = counts_of(sentence) @ coarse, heads_of(PARTIAL, sentence)
        trees = with_known(all_trees(len(heads) - 1, single_root, projective), heads)
        best = trees[np.argmax(S[trees[:, 1:], np.arange(1, len(heads))].sum(axis=1))]
        first = pruned.first[PARTIAL.starts[sentence] + sentence :]
        for m in range(1, len(heads)):
            kept = pruned.heads[pruned.arc_starts[sentence] + np.arange(first[m], first[m + 1])]
            greedy = np.argmax(np.where(np.arange(len(heads)) == m, -np.inf, S[:, m]))
            assert set(kept.tolist()) == {int(greedy), int(best[m])}
