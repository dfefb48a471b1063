"""MIRA and the perceptron with head automata, one step at a time: over what each word may take on its own, and over trees."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from arcwise.features.tree_parts import most_tree_features, tree_features
from arcwise.learning.online import LEARNERS, Learner, Training, automata_epoch
from arcwise.learning.space import Search, kept_graph
from arcwise.search.sibling_automata import AUTOMATA
from arcwise.trees.enumerate import all_trees
from tests.learning.test_online_charts import (
    ARC_BITS,
    CORPUS,
    FREE,
    LABELS,
    PART_BITS,
    PARTS,
    SPACE,
    Slow,
    pruned,
    random_training,
)

LEARNED = ["sibling", "grand-sibling"]
MANY = 400  # steps, enough to find the best tree of these short sentences


def learn(
    training: Training, order: list[int], name: str, learner: Learner, step: int = 0, *, steps: int, single_root: bool = True
) -> tuple[int, int]:  # fmt: skip
    search = Search(AUTOMATA[name], False, True)
    return automata_epoch(
        CORPUS, pruned(), np.array(order), search, steps, SPACE, single_root, learner, step, training
    )


class SlowWords(Slow):
    """What each word may take as modifiers, scored one by one."""

    def __init__(self, sentence: int, name: str, weights: np.ndarray) -> None:
        super().__init__(sentence, "sibling", weights)
        self.kind = AUTOMATA[name]
        self.graph = kept_graph(CORPUS, pruned(), sentence)
        self.number = {arc: b for b, arc in enumerate(zip(self.graph.head, self.graph.modifier, strict=True))}
        self.right = {self.number[self.heads[m], m] for m in range(1, self.n + 1)}
        self.first_up = np.array(
            [0, *(self.number[self.heads[m], m] for m in range(1, self.n + 1))], np.int32
        )

    def higher(self, taken: set[int], up: np.ndarray) -> np.ndarray:
        """How often all that is taken has each feature of higher parts."""
        flags = np.zeros(len(self.graph.head), np.bool_)
        flags[list(taken)] = True
        indices = np.empty(most_tree_features(self.n, len(flags), PARTS), np.uint32)
        count = tree_features(self.kind, self.graph, flags, up, self.tokens, PARTS, PART_BITS, indices)
        return np.bincount(indices[:count], minlength=1 << PART_BITS)

    def arc(self, b: int, label: int) -> np.ndarray:
        """How often an arc with a label has each feature."""
        arc, rows = self.arcs[int(self.graph.head[b]), int(self.graph.modifier[b])]
        return np.bincount(
            np.concatenate([arc, (1 << ARC_BITS) + rows * LABELS + label]), minlength=len(self.weights)
        )

    @cache  # noqa: B019
    def labelled(self, b: int, cost: float) -> tuple[int, float]:
        """The best label of an arc, and the score of the arc with it and what it costs."""
        h, m = int(self.graph.head[b]), int(self.graph.modifier[b])
        label = self.best_label(h, m, cost)
        score = self.weights @ self.arc(b, label) + cost * (label != self.labels[m])
        return label, float(score + (0.5 * cost if b not in self.right else -0.5 * cost))

    def best_words(self, cost: float, single_root: bool) -> tuple[set[int], np.ndarray]:
        """The arcs that the words take, each on its own, and the arcs that they suppose into themselves."""
        taken, ups = set(), np.zeros(self.n + 1, np.int32)
        nothing = self.weights[-(1 << PART_BITS) :] @ self.higher(set(), self.first_up)
        for i in range(self.n + 1):
            own = [b for b in range(1, len(self.graph.head)) if self.graph.head[b] == i]
            above = [b for b in range(1, len(self.graph.head)) if self.graph.modifier[b] == i]
            best, chosen = -np.inf, (tuple[int, ...](), 0)
            for size in range(len(own) + 1):
                for arcs in combinations(own, size):
                    if i == 0 and single_root and size != 1:
                        continue
                    for a in above if self.kind.complete and i else [0]:
                        if a and any(self.graph.modifier[b] == self.graph.head[a] for b in arcs):
                            continue
                        up = self.first_up.copy()
                        up[i] = a or up[i]
                        parts = self.weights[-(1 << PART_BITS) :] @ self.higher(set(arcs), up) - nothing
                        score = parts + sum(self.labelled(b, cost)[1] for b in arcs)
                        if score > best:
                            best, chosen = score, (arcs, a)
            taken |= set(chosen[0])
            ups[i] = chosen[1]
        return taken, ups


@pytest.mark.parametrize("learner", [FREE, LEARNERS["mira"], LEARNERS["perceptron"]])
@pytest.mark.parametrize("name", LEARNED)
def test_one_step_over_what_words_take_on_their_own(name: str, learner: Learner) -> None:
    moved = 0
    short = [s for s in range(6) if CORPUS.starts[s + 1] - CORPUS.starts[s] <= 5]
    for sentence in short:
        single_root = sentence % 2 == 0
        training = random_training(sentence)
        before = training.weights.copy()
        slow = SlowWords(sentence, name, before)
        taken, ups = slow.best_words(learner.cost, single_root)
        difference = np.zeros(len(before), np.int64)
        difference[-(1 << PART_BITS) :] = slow.higher(slow.right, slow.first_up) - slow.higher(taken, ups)
        cost = 0.0
        for b in slow.right:
            difference += slow.arc(b, int(slow.labels[slow.graph.modifier[b]]))
            cost += 0.5 * learner.cost * (b not in taken)
        for b in taken:
            label = slow.labelled(b, learner.cost)[0]
            difference -= slow.arc(b, label)
            cost += 0.5 * learner.cost * (b not in slow.right)
            cost += learner.cost * (label != slow.labels[slow.graph.modifier[b]])
        norm = float((difference**2).sum())
        loss = max(cost - float(difference @ before.astype(np.float64)), 0.0)
        length = (min(learner.limit, loss / norm) if norm else 0.0) if learner.limit > 0 else 1.0
        learn(training, [sentence], name, learner, steps=0, single_root=single_root)
        np.testing.assert_allclose(training.weights, before + length * difference, atol=1e-4)
        assert not training.difference.any()
        moved += norm > 0
    assert moved > 1, "nothing to learn: choose other weights"


@pytest.mark.parametrize("name", LEARNED)
def test_one_step_over_trees(name: str) -> None:
    """With enough steps dual decomposition finds the best tree with costs, among all trees, nearly always."""
    as_expected = 0
    for sentence in range(6):
        single_root = sentence % 2 == 0
        training = random_training(sentence)
        before = training.weights.copy()
        slow = Slow(sentence, "sibling", before)
        slow.kind = AUTOMATA[name]
        best = {arc: slow.best_label(*arc, FREE.cost) for arc in slow.arcs}
        found = []
        for heads in all_trees(slow.n, single_root):
            labels = np.array([-1, *(best[int(heads[m]), m] for m in range(1, slow.n + 1))], np.int32)
            found.append((slow.score(heads, labels) + FREE.cost * slow.wrong(heads, labels), heads, labels))
        score, heads, labels = max(found, key=lambda each: each[0])
        difference = slow.counts(slow.heads, slow.labels) - slow.counts(heads, labels)
        length = (score - slow.score(slow.heads, slow.labels)) / max((difference**2).sum(), 1)
        learn(training, [sentence], name, FREE, steps=MANY, single_root=single_root)
        as_expected += np.allclose(training.weights, before + length * difference, atol=1e-4)
    assert as_expected >= 5


@pytest.mark.parametrize("steps", [0, 20])
@pytest.mark.parametrize("name", LEARNED)
def test_it_learns_its_sentences(name: str, steps: int) -> None:
    training = random_training(1, 0.0)
    for epoch in range(40):
        wrong = learn(training, list(range(6)), name, LEARNERS["perceptron"], 6 * epoch, steps=steps)
    assert wrong == (0, 0)


def test_what_is_not_known_costs_nothing() -> None:
    """Where all heads are unknown, the right tree is a tree that the weights choose, and a tree once found is kept."""
    heads = np.where(CORPUS.heads >= 0, -1, CORPUS.heads).astype(np.int32)
    corpus = CORPUS._replace(heads=heads, labels=np.full_like(CORPUS.labels, -1))
    training = random_training(2)
    before = training.weights.copy()
    search = Search(AUTOMATA["grand-sibling"], False, True)
    automata_epoch(
        corpus, pruned(), np.arange(6), search, MANY, SPACE, True, LEARNERS["perceptron"], 0, training
    )
    np.testing.assert_array_equal(training.weights, before)
