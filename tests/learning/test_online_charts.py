"""MIRA and the perceptron with charts, one step at a time, against all projective trees."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.attributes import vocabulary
from arcwise.features.part_templates import compile_part_templates
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.learning.online import LEARNERS, Learner, Training, online_epoch
from arcwise.learning.pruned import PrunedCorpus, prune_corpus
from arcwise.learning.space import Search, Space
from arcwise.search.chart import CHARTS
from arcwise.sums.pruning import BY_HEADS
from arcwise.trees.blocks import is_projective
from arcwise.trees.enumerate import all_trees
from tests.features.whole_trees import features_of
from tests.learning.corpora import TEMPLATES, Features, small_corpus
from tests.learning.slow_trees import make_training

ARC_BITS, LABEL_BITS, PART_BITS, COARSE_BITS = 14, 10, 15, 10
CORPUS, LABELS = small_corpus(6)
PARTS = compile_part_templates(vocabulary(np.array([5], np.uint64)))
ALLOWED = np.ones((2, LABELS), np.bool_)
SPACE = Space(TEMPLATES, PARTS, ARC_BITS, LABEL_BITS, PART_BITS, ALLOWED)
FREE = Learner(cost=1.0, limit=1e9)
LEARNED = ["eisner", "sibling", "tri-sibling", "carreras", "model0", "model1", "model2"]


def pruned(most: int = 20) -> PrunedCorpus:
    """With this default all arcs are kept."""
    zeros = np.zeros(1 << COARSE_BITS, np.int8)
    return prune_corpus(CORPUS, TEMPLATES, zeros, COARSE_BITS, 1.0, BY_HEADS, True, most, np.inf)


def random_training(seed: int, scale: float = 0.05) -> Training:
    training = make_training(SPACE)
    training.weights[:] = scale * np.random.default_rng(seed).normal(size=len(training.weights))
    return training


def learn(
    training: Training, order: list[int], chart: str, learner: Learner, step: int = 0, *, single_root: bool = True,
    arcs: PrunedCorpus | None = None,
) -> tuple[int, int]:  # fmt: skip
    return online_epoch(
        CORPUS,
        arcs or pruned(),
        np.array(order),
        Search(CHARTS[chart], False, False),
        SPACE,
        single_root,
        learner,
        step,
        training,
    )


class Slow:
    """All labelled projective trees of a sentence, scored one by one."""

    def __init__(self, sentence: int, chart: str, weights: np.ndarray) -> None:
        self.features = Features(CORPUS, sentence, ARC_BITS, LABEL_BITS)
        self.kind, self.weights = CHARTS[chart], weights.astype(np.float64)
        self.heads, self.labels = self.features.heads, self.features.labels
        self.n = self.features.n
        self.tokens = make_part_tokens(self.n, PARTS)
        begin, end = CORPUS.starts[sentence : sentence + 2]
        hash_part_tokens(CORPUS.numbers[begin:end], PARTS, self.tokens)
        pairs = [(h, m) for h in range(self.n + 1) for m in range(1, self.n + 1) if h != m]
        self.arcs = {arc: (self.features.arc(*arc), self.features.label(*arc)) for arc in pairs}

    def places(self, heads: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Where the weights of all features of a labelled tree lie."""
        higher = features_of(self.kind, heads, self.tokens, PARTS, PART_BITS)
        places = [higher.astype(np.int64) + len(self.weights) - (1 << PART_BITS)]
        for m in range(1, self.n + 1):
            arc, rows = self.arcs[heads[m], m]
            places += [arc, (1 << ARC_BITS) + rows * LABELS + labels[m]]
        return np.concatenate(places)

    def score(self, heads: np.ndarray, labels: np.ndarray) -> float:
        return float(self.weights[self.places(heads, labels)].sum())

    def counts(self, heads: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """How often a labelled tree has each feature."""
        return np.bincount(self.places(heads, labels), minlength=len(self.weights))

    def best_label(self, h: int, m: int, cost: float) -> int:
        table = self.weights[1 << ARC_BITS : -(1 << PART_BITS)].reshape(-1, LABELS)
        scores = table[self.arcs[h, m][1]].sum(axis=0) + cost * (np.arange(LABELS) != self.labels[m])
        return int(scores.argmax())

    def wrong(self, heads: np.ndarray, labels: np.ndarray) -> int:
        return int((heads != self.heads).sum() + (labels != self.labels).sum())

    def best(self, cost: float, single_root: bool) -> tuple[float, np.ndarray, np.ndarray]:
        """The labelled tree of the highest score plus cost."""
        found = []
        best = {arc: self.best_label(*arc, cost) for arc in self.arcs}
        for heads in filter(is_projective, all_trees(self.n, single_root)):
            own = [best[int(heads[m]), m] for m in range(1, self.n + 1)]
            labels = np.array([-1, *own], np.int32)
            found.append((self.score(heads, labels) + cost * self.wrong(heads, labels), heads, labels))
        return max(found, key=lambda each: each[0])


@pytest.mark.parametrize("learner", [FREE, Learner(1.0, 1e-4), LEARNERS["mira"], LEARNERS["perceptron"]])
@pytest.mark.parametrize("chart", LEARNED)
def test_one_step(chart: str, learner: Learner) -> None:
    moved = 0
    for sentence in range(6):
        single_root = sentence % 2 == 0
        training = random_training(sentence)
        before = training.weights.copy()
        slow = Slow(sentence, chart, before)
        score, heads, labels = slow.best(learner.cost, single_root)
        difference = slow.counts(slow.heads, slow.labels) - slow.counts(heads, labels)
        loss = score - slow.score(slow.heads, slow.labels)
        norm = float((difference**2).sum())
        length = (min(learner.limit, loss / norm) if norm else 0.0) if learner.limit > 0 else 1.0

        wrong = learn(training, [sentence], chart, learner, single_root=single_root)
        np.testing.assert_allclose(training.weights, before + length * difference, atol=1e-5)
        right_heads = heads == slow.heads
        assert wrong == (int((~right_heads).sum()), int((right_heads & (labels != slow.labels)).sum()))
        assert not training.difference.any()
        moved += wrong[0] > 0
    assert moved > 3, "nothing to learn: choose other weights"


@pytest.mark.parametrize("chart", ["sibling", "model1"])
def test_it_learns_its_sentences(chart: str) -> None:
    training = make_training(SPACE)
    for epoch in range(30):
        wrong = learn(training, list(range(6)), chart, LEARNERS["perceptron"], 6 * epoch)
    assert wrong == (0, 0)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_average_is_the_mean_of_all_steps(name: str) -> None:
    order = [3, 1, 4, 1, 5, 0, 2, 0, 0, 3]
    step_by_step, at_once = random_training(7, 0.01), random_training(7, 0.01)
    total = np.zeros(len(at_once.weights))
    for step, sentence in enumerate(order):
        learn(step_by_step, [sentence], "model1", LEARNERS[name], step)
        total += step_by_step.weights
    learn(at_once, order, "model1", LEARNERS[name])
    np.testing.assert_array_equal(at_once.weights, step_by_step.weights)
    np.testing.assert_allclose(at_once.weights - at_once.moves / len(order), total / len(order), atol=1e-5)


def test_without_higher_parts_it_is_the_first_order() -> None:
    """Where the spanning trees found are projective, both learners make the same steps."""
    structured, first_order = random_training(3), random_training(3)
    order = np.array([s for s in range(6) if CORPUS.starts[s + 1] - CORPUS.starts[s] <= 4])
    assert len(order) > 1
    learn(structured, order.tolist(), "eisner", FREE)
    online_epoch(CORPUS, pruned(), order, None, SPACE, True, FREE, 0, first_order)
    np.testing.assert_allclose(structured.weights, first_order.weights, atol=1e-5)


def test_pruned_arcs() -> None:
    coarse = np.random.default_rng(2).integers(-128, 128, 1 << COARSE_BITS, dtype=np.int8)
    arcs = prune_corpus(CORPUS, TEMPLATES, coarse, COARSE_BITS, 1.0, BY_HEADS, True, 2, 5.0)
    for chart in LEARNED:
        learn(random_training(4), list(range(6)), chart, FREE, arcs=arcs)  # bounds checks are on
