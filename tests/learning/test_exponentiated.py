"""Exponentiated gradient: what figure 4-2 says, what the dual is, and how fast appendix A says that it falls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from arcwise.features.moves import Move
from arcwise.learning.exponentiated import (
    BETA,
    LOG_LINEAR,
    MAX_MARGIN,
    Duals,
    Objective,
    begin_duals,
    dual_sizes,
    exponentiated_epoch,
)
from arcwise.learning.gradients import gradient_epoch
from arcwise.learning.space import Space, space_size
from arcwise.sums.front import log_partition, marginals
from tests.learning.slow_trees import (
    ARC_BITS,
    CORPUS,
    SEARCHES,
    SlowTrees,
    all_arcs,
    search_of,
    sentence_rows,
    space_of,
)

NOTHING = np.empty(0, np.float32)
OBJECTIVES = {"log-linear": LOG_LINEAR, "max-margin": MAX_MARGIN}
EVERYONE = np.arange(6)


class Run:
    """A run on the small corpus, online or in batches."""

    def __init__(
        self, search: str, objective: Objective, penalty: float, beta: float = BETA, *, space: Space | None = None,
        sentences: np.ndarray = EVERYONE, single_root: bool = True,
    ) -> None:  # fmt: skip
        self.search, self.objective, self.penalty, self.single_root = search, objective, penalty, single_root
        self.space = space or space_of(search)
        self.trees, self.sentences = search_of(search), sentences
        starts = dual_sizes(CORPUS, all_arcs(), self.trees, self.space)
        self.duals = Duals(starts, np.zeros(starts[-1]), np.zeros(starts[-1]))
        begin_duals(CORPUS, all_arcs(), self.trees, self.space, beta, self.duals)
        self.weights = np.zeros(space_size(self.space))
        self.dual = self.epoch(0.0)

    def epoch(self, rate: float, *, batch: bool = False, order: np.ndarray | None = None) -> float:
        """Minus the dual objective, which is to be maximised: never above the primal's minimum."""
        target = self.weights.copy() if batch else self.weights
        share, _ = exponentiated_epoch(
            CORPUS, all_arcs(), self.sentences if order is None else order, self.trees, self.space, self.single_root,
            self.objective, self.duals, rate, self.weights, Move(target, NOTHING, 1 / self.penalty, 0.0),
        )  # fmt: skip
        self.weights = target
        self.dual = -self.penalty / 2 * float(self.weights @ self.weights) - share
        return self.dual

    def primal(self) -> float:
        loss, _ = gradient_epoch(
            CORPUS, all_arcs(), self.sentences, self.trees, None, self.space, self.single_root,
            None if self.objective.entropy else self.objective.cost, self.weights,
            Move(np.zeros_like(self.weights), NOTHING, 0.0, np.inf),
        )  # fmt: skip
        return self.penalty / 2 * float(self.weights @ self.weights) + loss


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("search", SEARCHES)
def test_the_gap_closes(search: str, name: str) -> None:
    """The dual value rises to meet the primal one, which no other weights can beat."""
    run = Run(search, OBJECTIVES[name], penalty=4.0)
    rate = 0.05 if name == "log-linear" else 0.5
    values = []
    for _ in range(150):
        last, gap = run.dual, run.primal() - run.dual
        assert gap >= -1e-9
        values.append(gap)
        if run.epoch(rate) < last - 1e-12:
            rate /= 2
    assert values[-1] < 0.02 * values[0]


def test_figure_4_2() -> None:
    """Step by step, as the thesis has it, on matrices of numbers: C there is 1/penalty here."""
    penalty, space = 2.0, space_of("spanning-tree", labelled=False)
    C, eta = 1 / penalty, penalty
    slow = [SlowTrees(s, "spanning-tree", True, labelled=False) for s in range(6)]
    arcs = [[(h, m) for h in range(x.n + 1) for m in range(1, x.n + 1) if h != m] for x in slow]
    right = [CORPUS.heads[sentence_rows(CORPUS, s)] for s in range(6)]
    loss = []
    for one, heads in zip(slow, right, strict=True):
        loss.append((np.arange(one.n + 1)[:, None] != heads[None, :]).astype(float))
    theta = [9.0 * (1 - one) for one in loss]
    weights = np.zeros(space_size(space))

    def add(s: int, amounts: np.ndarray) -> None:
        for h, m in arcs[s]:
            np.add.at(weights, slow[s].features.arc(h, m), C * amounts[h, m])

    for s in range(6):
        add(s, 1 - loss[s] - marginals(theta[s]))
    run = Run("spanning-tree", MAX_MARGIN, penalty, space=space)
    np.testing.assert_allclose(run.weights, weights, atol=1e-12)
    for _ in range(3):
        objective = 0.0
        for s in range(6):
            scores = np.zeros_like(theta[s])
            for h, m in arcs[s]:
                scores[h, m] = weights[slow[s].features.arc(h, m)].sum()
            moved = theta[s] + eta * C * (loss[s] + scores)
            before, after = marginals(theta[s]), marginals(moved)
            add(s, before - after)
            theta[s] = moved
            objective += C * float((loss[s] * after)[:, 1:].sum())
        objective -= 0.5 * float(weights @ weights)
        assert run.epoch(eta * C) * C == pytest.approx(objective, abs=1e-9)
        np.testing.assert_allclose(run.weights, weights, atol=1e-9)


@pytest.mark.parametrize("search", ["spanning-tree", "model1"])
def test_nothing_is_lost_by_waiting(search: str) -> None:
    """Probabilities that change little are counted later: the weights are always those of what was counted."""
    exact, lazy = Run(search, LOG_LINEAR, 1.0), Run(search, LOG_LINEAR, 1.0)
    for _ in range(20):
        exact.epoch(0.05)
        share, _ = exponentiated_epoch(
            CORPUS, all_arcs(), EVERYONE, lazy.trees, lazy.space, True, LOG_LINEAR, lazy.duals, 0.05, lazy.weights,
            Move(lazy.weights, NOTHING, 1.0, 1e-3),
        )  # fmt: skip
        assert np.isfinite(share)
    assert np.abs(exact.duals.counted - lazy.duals.counted).max() < 0.02
    again = Run(search, LOG_LINEAR, 1.0)
    again.duals.theta[:], again.duals.counted[:] = lazy.duals.theta, lazy.duals.counted
    again.weights[:] = lazy.weights
    again.epoch(0.0)  # counts all that waits
    fresh = Run(search, LOG_LINEAR, 1.0)
    fresh.duals.theta[:] = lazy.duals.theta
    fresh.epoch(0.0)
    np.testing.assert_allclose(again.weights, fresh.weights, atol=1e-9)


def largest_product(sentences: list[int]) -> float:
    """|A|: the greatest product of two vectors f(right tree) - f(tree), of any two sentences."""
    vectors = []
    for s in sentences:
        slow = SlowTrees(s, "spanning-tree", True, labelled=False)
        right = CORPUS.heads[sentence_rows(CORPUS, s)]

        def counts(heads: np.ndarray, slow: SlowTrees = slow) -> np.ndarray:
            places = [slow.features.arc(heads[m], m) for m in range(1, slow.n + 1)]
            return np.bincount(np.concatenate(places), minlength=1 << ARC_BITS).astype(float)

        vectors.append(np.array([counts(right) - counts(heads) for heads in slow.trees]))
    return float(max(np.abs(one @ other.T).max() for one, other in product(vectors, repeat=2)))


def divergence(best: Run, first: Run) -> float:
    """D[u || alpha]: of the trees of all sentences, from the duals."""
    total = 0.0
    for s in best.sentences:
        scores = []
        for run in (best, first):
            at, size = run.duals.starts[s], CORPUS.starts[s + 1] - CORPUS.starts[s]
            S = np.full((size, size), -np.inf)
            # All arcs are kept, in order of their heads, first to the left, then to the right, the nearest first.
            arcs = [(h, m) for h in range(size) for m in [*range(h - 1, 0, -1), *range(h + 1, size)]]
            S[tuple(np.array(arcs).T)] = run.duals.theta[at + 1 : at + 1 + len(arcs)]
            scores.append(S)
        u, v = scores
        P = marginals(u)
        finite = np.isfinite(u)
        total += float(P[finite] @ (u[finite] - v[finite])) - log_partition(u) + log_partition(v)
    return total


@pytest.mark.parametrize("batch", [True, False])
def test_the_theorems_of_appendix_a(batch: bool) -> None:
    """The log-linear dual gap falls geometrically, at least as fast as theorems A.2.1 and A.3.1 say.

    Q is (mu, tau)-bounded with mu = 1, from its entropy, and tau = 1 + n |A| / C, or online 1 + |A| / C (Collins et al. 2008).
    """
    penalty, sentences = 40.0, [s for s in range(6) if CORPUS.starts[s + 1] - CORPUS.starts[s] <= 5]
    number, space = len(sentences), space_of("spanning-tree", labelled=False)
    assert number > 1
    tau = 1 + largest_product(sentences) / penalty * (number if batch else 1)
    rate = 1 / tau

    def begin() -> Run:
        return Run("spanning-tree", LOG_LINEAR, penalty, 1.0, space=space, sentences=np.array(sentences))

    best = begin()
    for _ in range(20_000):
        best.epoch(rate, batch=True)
        if best.primal() - best.dual < 1e-11:
            break
    optimum = best.dual
    assert best.primal() == pytest.approx(optimum, abs=1e-9)

    run, gaps, bounds = begin(), [], []
    start = divergence(best, run) / rate + (0.0 if batch else optimum - run.dual)
    rng, shrinking = np.random.default_rng(0), 1.0
    for _ in range(int(6 / rate)):
        if batch:
            run.epoch(rate, batch=True)
            shrinking *= np.exp(-rate)
        else:  # an epoch of random sentences; the theorem bounds the mean over all orders
            for s in rng.choice(sentences, number):
                run.epoch(rate, order=np.array([s]))
            run.epoch(0.0)
            shrinking *= np.exp(-rate)
        gaps.append(optimum - run.dual)
        bounds.append(shrinking * start)
    assert np.all(np.array(gaps) <= np.array(bounds) + 1e-10)
    # The primal value less the dual one bounds the gap from above, and closes as well.
    assert -1e-10 <= gaps[-1] <= run.primal() - run.dual + 1e-10
    assert run.primal() - run.dual < 0.05 * bounds[0]

    # A line through the logarithms: geometric, and no slower than the theorem.
    logs = np.log(np.maximum(gaps, 1e-13))
    middle = slice(len(logs) // 10, int(np.argmax(np.array(gaps) < 1e-9)) or len(logs))
    x = np.arange(len(logs))[middle]
    slope, cut = np.polyfit(x, logs[middle], 1)
    residual = logs[middle] - (slope * x + cut)
    assert slope <= -rate
    assert 1 - residual.var() / logs[middle].var() > 0.98
