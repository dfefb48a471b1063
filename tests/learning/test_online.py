"""MIRA and the perceptron, one step at a time, against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.part_templates import no_part_templates
from arcwise.learning.online import LEARNERS, Learner, Training, online_epoch
from arcwise.learning.pruned import PrunedCorpus, prune_corpus
from arcwise.learning.space import Space
from arcwise.sums.pruning import BY_HEADS
from arcwise.trees.enumerate import all_trees
from tests.learning.corpora import TEMPLATES, Features, small_corpus
from tests.learning.slow_trees import make_training

ARC_BITS, LABEL_BITS, COARSE_BITS = 14, 10, 10
CORPUS, LABELS = small_corpus(6)
ALLOWED = np.ones((2, LABELS), np.bool_)
FREE = Learner(cost=1.0, limit=1e9)


def pruned(most: int = 20) -> PrunedCorpus:
    """With this default all arcs are kept."""
    zeros = np.zeros(1 << COARSE_BITS, np.int8)
    return prune_corpus(CORPUS, TEMPLATES, zeros, COARSE_BITS, 1.0, BY_HEADS, True, most, np.inf)


def space_of(allowed: np.ndarray) -> Space:
    return Space(TEMPLATES, no_part_templates(), ARC_BITS, LABEL_BITS, 10, allowed)


def random_training(seed: int, scale: float = 0.05) -> Training:
    training = make_training(space_of(ALLOWED))
    training.weights[:] = scale * np.random.default_rng(seed).normal(size=len(training.weights))
    return training


def learn(
    training: Training, order: list[int], learner: Learner, step: int = 0, *, single_root: bool = True,
    allowed: np.ndarray = ALLOWED, arcs: PrunedCorpus | None = None,
) -> tuple[int, int]:  # fmt: skip
    return online_epoch(
        CORPUS,
        arcs or pruned(),
        np.array(order),
        None,
        space_of(allowed),
        single_root,
        learner,
        step,
        training,
    )


class Slow:
    """All labelled trees of a sentence, scored one by one."""

    def __init__(self, sentence: int, weights: np.ndarray) -> None:
        self.features = Features(CORPUS, sentence, ARC_BITS, LABEL_BITS)
        self.weights = weights.astype(np.float64)
        self.gold = (self.features.heads, self.features.labels)
        self.n = self.features.n

    def places(self, heads: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Where the weights of all features of a labelled tree lie."""
        places = []
        for m in range(1, self.n + 1):
            rows = self.features.label(heads[m], m)
            places += [self.features.arc(heads[m], m), (1 << ARC_BITS) + rows * LABELS + labels[m]]
        return np.concatenate(places)

    def score(self, heads: np.ndarray, labels: np.ndarray) -> float:
        return float(self.weights[self.places(heads, labels)].sum())

    def cost(self, heads: np.ndarray, labels: np.ndarray) -> int:
        """One for every wrong head and one for every wrong label."""
        wrong = (heads != self.gold[0])[1:].sum() + (labels != self.gold[1])[1:].sum()
        return int(wrong)

    def best(self, learner: Learner, single_root: bool, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The labelled tree of the highest score plus cost."""
        rows: dict[tuple[int, int], np.ndarray] = {}
        table = self.weights[1 << ARC_BITS :].reshape(-1, LABELS)
        best, found = -np.inf, None
        for heads in all_trees(self.n, single_root):
            labels = np.full(self.n + 1, -1, np.int32)
            for m in range(1, self.n + 1):
                arc = (int(heads[m]), m)
                if arc not in rows:
                    scores = table[self.features.label(*arc)].sum(axis=0)
                    scores = scores + learner.cost * (np.arange(LABELS) != self.gold[1][m])
                    rows[arc] = np.where(allowed[min(arc[0], 1)], scores, -np.inf)
                labels[m] = rows[arc].argmax()
            score = self.score(heads, labels) + learner.cost * self.cost(heads, labels)
            if score > best:
                best, found = score, (heads, labels)
        assert found is not None
        return found

    def difference(self, heads: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The features of the right tree less those of this one."""
        counts = np.bincount(self.places(*self.gold), minlength=len(self.weights))
        return counts - np.bincount(self.places(heads, labels), minlength=len(self.weights))


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("sentence", range(6))
@pytest.mark.parametrize("learner", [FREE, Learner(1.0, 1e-3), Learner(1.0, 0.01), LEARNERS["perceptron"]])
def test_one_step(sentence: int, learner: Learner, single_root: bool) -> None:
    training = random_training(sentence)
    before = training.weights.copy()
    slow = Slow(sentence, before)
    heads, labels = slow.best(learner, single_root, ALLOWED)
    assert slow.cost(heads, labels) > 0, "nothing to learn: choose other weights"
    difference = slow.difference(heads, labels)
    loss = slow.score(heads, labels) + learner.cost * slow.cost(heads, labels) - slow.score(*slow.gold)
    length = min(learner.limit, loss / (difference**2).sum()) if learner.limit > 0 else 1.0

    wrong = learn(training, [sentence], learner, single_root=single_root)
    np.testing.assert_allclose(training.weights, before + length * difference, atol=1e-5)
    wrong_heads = int((heads != slow.gold[0])[1:].sum())
    right_heads = (heads == slow.gold[0])[1:]
    assert wrong == (wrong_heads, int((right_heads & (labels != slow.gold[1])[1:]).sum()))
    assert not training.difference.any()

    after = Slow(sentence, training.weights)
    margin = after.score(*after.gold) - after.score(heads, labels)
    if learner == FREE:  # the step is as long as it must be, and no longer
        assert margin == pytest.approx(learner.cost * slow.cost(heads, labels), abs=1e-3)
    else:
        assert margin > slow.score(*slow.gold) - slow.score(heads, labels)


def test_no_step_when_the_margin_is_kept() -> None:
    training = random_training(0)
    for _ in range(100):
        learn(training, [0], FREE._replace(cost=2.0))
    slow = Slow(0, training.weights.copy())
    for heads in all_trees(slow.n):
        margin = slow.score(*slow.gold) - slow.score(heads, slow.gold[1])
        assert margin >= 1.9 * slow.cost(heads, slow.gold[1])
    for learner in (FREE, LEARNERS["mira"], LEARNERS["perceptron"]):
        assert learn(training, [0], learner, step=77) == (0, 0)
        np.testing.assert_array_equal(training.weights, slow.weights.astype(np.float32))


def test_labels_that_are_not_allowed_are_not_found() -> None:
    """Where only the right labels are allowed, no label is ever wrong and no label weight of another moves."""
    allowed = np.zeros((2, LABELS), np.bool_)
    for heads, labels in zip(CORPUS.heads, CORPUS.labels, strict=True):
        if heads >= 0:
            allowed[min(heads, 1), labels] = True
    assert allowed.sum(axis=1).tolist() == [1, LABELS - 1]
    for sentence in range(6):
        training = random_training(10 + sentence)
        slow = Slow(sentence, training.weights.copy())
        heads, labels = slow.best(FREE, True, allowed)
        loss = slow.score(heads, labels) + slow.cost(heads, labels) - slow.score(*slow.gold)
        difference = slow.difference(heads, labels)
        expected = slow.weights + loss / (difference**2).sum() * difference
        learn(training, [sentence], FREE, allowed=allowed)
        np.testing.assert_allclose(training.weights, expected, atol=1e-5)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_average_is_the_mean_of_all_steps(name: str) -> None:
    learner = LEARNERS[name]
    order = [3, 1, 4, 1, 5, 0, 2, 0, 0, 3]
    step_by_step, at_once = random_training(7, 0.01), random_training(7, 0.01)
    total = np.zeros(len(at_once.weights))
    wrong = np.zeros(2, np.int64)
    for step, sentence in enumerate(order):
        wrong += learn(step_by_step, [sentence], learner, step)
        total += step_by_step.weights
    assert wrong.tolist() == list(learn(at_once, order, learner))
    np.testing.assert_array_equal(at_once.weights, step_by_step.weights)
    np.testing.assert_array_equal(at_once.moves, step_by_step.moves)
    average = at_once.weights - at_once.moves / len(order)
    np.testing.assert_allclose(average, total / len(order), atol=1e-5)
    assert np.abs(average - at_once.weights).max() > 1e-4


@pytest.mark.parametrize("name", LEARNERS)
def test_labels_that_are_not_known(name: str) -> None:
    """The best label by the weights as they are is right: with right heads nothing moves, and never a weight of no feature."""
    rng = np.random.default_rng(4)
    forget = (rng.random(len(CORPUS.labels)) < 0.5) & (CORPUS.labels >= 0)
    corpus = CORPUS._replace(labels=np.where(forget, -1, CORPUS.labels).astype(np.int32))
    for sentence in range(6):
        training = random_training(sentence)
        before = training.weights.copy()
        online_epoch(
            corpus,
            pruned(),
            np.array([sentence]),
            None,
            space_of(ALLOWED),
            True,
            LEARNERS[name],
            0,
            training,
        )
        moved = np.flatnonzero(training.weights != before)
        features = Features(CORPUS, sentence, ARC_BITS, LABEL_BITS)
        arcs = [(h, m) for h in range(features.n + 1) for m in range(1, features.n + 1) if h != m]
        own = [features.arc(*arc) for arc in arcs]
        own += [(1 << ARC_BITS) + features.label(*arc)[:, None] * LABELS + np.arange(LABELS) for arc in arcs]
        assert np.isin(moved, np.concatenate([places.reshape(-1) for places in own])).all()
        alone = CORPUS._replace(labels=np.where(CORPUS.labels >= 0, -1, -1).astype(np.int32))
        for _ in range(60):  # heads can be learned without any label
            wrong = online_epoch(
                alone, pruned(), np.array([sentence]), None, space_of(ALLOWED), True, LEARNERS["perceptron"], 0,
                training,
            )  # fmt: skip
        assert wrong == (0, 0)


def test_pruned_arcs_hold_the_right_tree() -> None:
    coarse = np.random.default_rng(2).integers(-128, 128, 1 << COARSE_BITS, dtype=np.int8)
    for most in (2, 3):
        arcs = prune_corpus(CORPUS, TEMPLATES, coarse, COARSE_BITS, 1.0, BY_HEADS, True, most, 5.0)
        for s in range(len(CORPUS.starts) - 1):
            begin, size = CORPUS.starts[s], CORPUS.starts[s + 1] - CORPUS.starts[s]
            first = arcs.first[begin + s : begin + s + size + 1]
            kept = arcs.heads[arcs.arc_starts[s] : arcs.arc_starts[s + 1]]
            assert first[size] == len(kept)
            for m in range(1, size):
                assert CORPUS.heads[begin + m] in kept[first[m] : first[m + 1]]
                assert first[m + 1] - first[m] <= most
        training = random_training(most)
        learn(training, list(range(6)), FREE, arcs=arcs)  # bounds checks are on
