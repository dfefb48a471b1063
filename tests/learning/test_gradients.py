"""Losses against all trees of short sentences, and gradients against differences of losses."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.moves import Move
from arcwise.learning.corpus import Corpus
from arcwise.learning.gradients import gradient_epoch
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import Space, mark_features, space_size
from tests.learning.slow_trees import (
    CORPUS,
    SEARCHES,
    SlowTrees,
    all_arcs,
    search_of,
    sentence_rows,
    space_of,
)

NOTHING = np.empty(0, np.float32)
LOG_LINEAR = None
COSTS = {"log-linear": LOG_LINEAR, "max-margin": 1.0}


def random_weights(space: Space, seed: int, scale: float = 0.2) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=space_size(space))


def loss_and_gradient(
    corpus: Corpus, search: str, space: Space, cost: float | None, weights: np.ndarray, sentences: list[int],
    single_root: bool = True,
) -> tuple[float, np.ndarray]:  # fmt: skip
    gradient = np.zeros(len(weights))
    loss, _ = gradient_epoch(
        corpus, all_arcs(), np.array(sentences), search_of(search), True if search == "loopy" else None, space,
        single_root, cost, weights, Move(gradient, NOTHING, -1.0, 0.0),
    )  # fmt: skip
    return loss, gradient


def slow_loss(
    corpus: Corpus, sentence: int, search: str, cost: float | None, weights: np.ndarray, single_root: bool,
    labelled: bool,
) -> float:  # fmt: skip
    """By listing all trees; labels of different arcs are independent of each other."""
    slow = SlowTrees(sentence, search, single_root, labelled)
    rows = sentence_rows(corpus, sentence)
    right, right_labels = corpus.heads[rows], corpus.labels[rows]
    join, each = (np.logaddexp.reduce, 0.0) if cost is None else (np.max, cost)
    totals = {True: [], False: []}  # type: dict[bool, list[float]]
    for heads in slow.trees:
        plain = slow.score(weights, heads)
        rival, as_right = plain, plain
        for m in range(1, slow.n + 1):
            h, known = int(heads[m]), right[m] >= 0
            rival += each * (known and h != right[m])
            if not labelled:
                continue
            scores = slow.label_scores(weights, h, m)
            costs = each * (np.arange(len(scores)) != right_labels[m]) * (right_labels[m] >= 0)
            rival += join(scores + costs)
            as_right += scores[right_labels[m]] if right_labels[m] >= 0 else join(scores)
        totals[False].append(rival)
        if all(right[m] in (-1, heads[m]) for m in range(1, slow.n + 1)):
            totals[True].append(as_right)
    return float(join(np.array(totals[False])) - join(np.array(totals[True])))


def forgetful(seed: int) -> Corpus:
    """The corpus with some heads and labels unknown, and some labels of known heads."""
    rng = np.random.default_rng(seed)
    forget = (rng.random(len(CORPUS.heads)) < 0.5) & (CORPUS.heads >= 0)
    heads = np.where(forget, -1, CORPUS.heads).astype(np.int32)
    labels = np.where(forget | (rng.random(len(forget)) < 0.2), -1, CORPUS.labels).astype(np.int32)
    return CORPUS._replace(heads=heads, labels=labels)


@pytest.mark.parametrize("known", ["whole", "partial"])
@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("search", SEARCHES)
def test_losses(search: str, name: str, known: str) -> None:
    corpus = CORPUS if known == "whole" else forgetful(1)
    for sentence in range(6):
        single_root, labelled = sentence % 2 == 0, sentence % 3 != 0
        space = space_of(search, labelled)
        weights = random_weights(space, sentence)
        loss, _ = loss_and_gradient(corpus, search, space, COSTS[name], weights, [sentence], single_root)
        expected = slow_loss(corpus, sentence, search, COSTS[name], weights, single_root, labelled)
        assert loss == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("known", ["whole", "partial"])
@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("search", SEARCHES)
def test_gradients(search: str, name: str, known: str) -> None:
    """Along random directions, and along those of single weights."""
    corpus = CORPUS if known == "whole" else forgetful(2)
    rng, everyone = np.random.default_rng(0), list(range(6))
    for labelled in (True, False):
        space = space_of(search, labelled)
        weights = random_weights(space, 3)
        _, gradient = loss_and_gradient(corpus, search, space, COSTS[name], weights, everyone)
        directions = [rng.normal(size=len(weights)) for _ in range(3)]
        directions += [
            (np.arange(len(weights)) == i).astype(float) for i in rng.choice(np.flatnonzero(gradient), 8)
        ]
        for direction in directions:
            step = 1e-6 / np.abs(direction).max()
            ends = [
                loss_and_gradient(
                    corpus, search, space, COSTS[name], weights + sign * step * direction, everyone
                )[0]
                for sign in (1, -1)
            ]
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("known", ["whole", "partial"])
def test_gradients_of_belief_propagation(known: str) -> None:
    """The sum is approximate; where messages have settled, its gradient is that of the sum."""
    corpus = CORPUS if known == "whole" else forgetful(2)
    space, rng, everyone = space_of("loopy"), np.random.default_rng(0), list(range(6))
    weights = random_weights(space, 3, 0.05)
    _, gradient = loss_and_gradient(corpus, "loopy", space, LOG_LINEAR, weights, everyone)
    higher = np.arange(len(weights)) >= len(weights) - (1 << space.part_bits)
    assert np.abs(gradient[higher]).max() > 1
    for only in (higher, ~higher, np.ones_like(higher)):
        direction = rng.normal(size=len(weights)) * only
        ends = [
            loss_and_gradient(corpus, "loopy", space, LOG_LINEAR, weights + step * direction, everyone)[0]
            for step in (1e-4, -1e-4)
        ]
        assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(gradient @ direction, rel=0.01, abs=0.02)


def test_belief_propagation_when_only_the_right_tree_is_kept() -> None:
    """Then it is certain: no loss and no gradient, also of a head with many modifiers on one side."""
    heads = np.array([-1, 0, 1, 1, 1, 1, 1, 6, 6], np.int32)
    words = len(heads) - 1
    own = CORPUS.numbers[1 : CORPUS.starts[1]]
    numbers = np.concatenate([CORPUS.numbers[:1], own[np.arange(words) % len(own)]])
    corpus = Corpus(numbers, np.array([0, words + 1]), heads, np.where(heads < 0, -1, 0).astype(np.int32))
    first = np.array([0, *range(words + 1)], np.int32)
    kept = PrunedCorpus(first, heads[1:].copy(), np.array([0, words]))
    space = space_of("loopy", labelled=False)
    weights, gradient = random_weights(space, 8), np.zeros(space_size(space))
    loss, wrong = gradient_epoch(
        corpus, kept, np.array([0]), search_of("loopy"), True, space, True, LOG_LINEAR, weights,
        Move(gradient, NOTHING, -1.0, 0.0),
    )  # fmt: skip
    assert loss == pytest.approx(0.0, abs=1e-9)
    assert wrong == 0
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)


def test_weak_parts_leave_the_sum_of_the_first_order() -> None:
    """Where siblings and grandchildren score next to nothing, belief propagation is the matrix-tree theorem."""
    space = space_of("loopy")
    weights = random_weights(space, 3)
    weights[len(weights) - (1 << space.part_bits) :] *= 1e-4
    first_order = space_of("spanning-tree")
    for single_root in (True, False):
        loss, _ = loss_and_gradient(CORPUS, "loopy", space, LOG_LINEAR, weights, [0, 1, 2], single_root)
        expected, _ = loss_and_gradient(
            CORPUS, "spanning-tree", first_order, LOG_LINEAR, weights[: space_size(first_order)], [0, 1, 2], single_root
        )  # fmt: skip
        assert loss == pytest.approx(expected, abs=0.05)
        assert loss != expected


@pytest.mark.parametrize("search", SEARCHES)
def test_marked_features_are_all_that_can_move(search: str) -> None:
    space = space_of(search)
    seen = np.zeros(space_size(space), np.float32)
    mark_features(CORPUS, all_arcs(), search_of(search), space, seen)
    _, gradient = loss_and_gradient(
        CORPUS, search, space, LOG_LINEAR, random_weights(space, 5), list(range(6))
    )
    assert not (gradient != 0)[seen == 0].any()
    assert (gradient != 0).sum() > 0.6 * (seen != 0).sum()


def test_adagrad_steps() -> None:
    """Part by part, each feature by the gradient of its part; parts below the threshold are left alone."""
    space = space_of("spanning-tree", labelled=False)
    weights = random_weights(space, 4)
    slow = SlowTrees(0, "spanning-tree", True, labelled=False)
    scores = np.array([slow.score(weights, heads) for heads in slow.trees])
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    expected, squares = weights.copy(), np.full(len(weights), 0.5)
    for h in range(slow.n + 1):
        for m in range(1, slow.n + 1):
            has = [heads[m] == h for heads in slow.trees]
            by_arc = (slow.features.heads[m] == h) - float(shares @ np.array(has, float))
            if h == m or abs(by_arc) <= 0.05:
                continue
            for i in slow.features.arc(h, m):
                squares[i] += by_arc**2
                expected[i] += 0.1 * by_arc / np.sqrt(squares[i] + 1e-6)
    room = np.full(len(weights), 0.5, np.float32)
    gradient_epoch(
        CORPUS, all_arcs(), np.array([0]), None, None, space, True, LOG_LINEAR, weights, Move(weights, room, 0.1, 0.05)
    )  # fmt: skip
    np.testing.assert_allclose(room, squares, rtol=1e-5)
    np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_scores_that_are_not_finite_end_the_pass(bad: float) -> None:
    for search in ("spanning-tree", "eisner"):
        space = space_of(search)
        weights = np.full(space_size(space), bad)
        gradient = np.zeros_like(weights)
        loss, _ = gradient_epoch(
            CORPUS, all_arcs(), np.arange(6), search_of(search), None, space, True, LOG_LINEAR, weights,
            Move(gradient, NOTHING, -1.0, 0.0),
        )  # fmt: skip
        assert np.isnan(loss)
        assert not gradient.any()
