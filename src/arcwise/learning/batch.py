"""Log-linear models by batch optimisers: L-BFGS and conjugate gradient, as SciPy has them, on exact gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays
from arcwise.features.moves import Move
from arcwise.learning.gradients import gradient_epoch
from arcwise.learning.space import mark_features, space_size
from arcwise.learning.trainers import GREATEST, Choices, Parts, Problem, Trainer, make_room

_ITERATIONS = 10  # an epoch of these is so many, begun with no memory of the last: a run can be stopped and resumed between them
_MEMORY = 3  # pairs of vectors that L-BFGS keeps, of all weights seen: memory is what it has too little of
_METHODS = {"lbfgs": ("L-BFGS-B", {"maxcor": _MEMORY, "maxfun": 3 * _ITERATIONS}), "cg": ("CG", {})}


class Batch(Trainer):
    """Minimises C/2 |w|^2 + sum of the losses. Weights that no arc kept has stay 0. norms: of the gradient at the start and now."""

    def __init__(self, problem: Problem, choices: Choices, state: Arrays) -> None:
        super().__init__(problem, choices, state)
        make_room(
            self.state,
            {
                "weights": self._by_feature(np.float64),
                "norms": Array(np.float64, (2,), least=0, most=GREATEST),
            },
        )
        corpus, pruned, search, space, _, _, _ = problem
        seen = np.zeros(space_size(space), np.float32)
        mark_features(corpus, pruned, search, space, seen)
        self._seen = np.flatnonzero(seen).astype(np.int32)
        self._weights, self._gradient = np.zeros(len(seen)), np.zeros(len(seen))

    def epoch(self, parts: Parts) -> float:
        from scipy.optimize import minimize

        wrong, calls, norms = 0, 0, self.state["norms"]

        def objective(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            nonlocal wrong, calls
            value, gradient, wrong = self.value(x, parts)
            calls += 1
            self.tell(min(calls / (1.2 * _ITERATIONS), 0.99), wrong / self.problem.words)
            if norms[0] == 0.0:
                norms[0] = np.linalg.norm(gradient)
            return value, gradient

        method, options = _METHODS[self.choices.optimiser]
        found = minimize(
            objective, self.state["weights"][self._seen], jac=True, method=method,
            options={"maxiter": _ITERATIONS, "gtol": 0.0, **options},
        )  # fmt: skip
        self.state["weights"][self._seen] = found.x
        norms[1] = np.linalg.norm(found.jac)
        return self._error(wrong, 1.0)

    def facts(self) -> dict[str, float]:
        """The norms of the gradient at the start and at the end."""
        first, last = self.state["norms"].tolist()
        return {"first gradient": first, "last gradient": last}

    def value(self, x: NDArray[np.float64], parts: Parts) -> tuple[float, NDArray[np.float64], int]:
        """The objective at the weights x (of those seen), its gradient, and how many words are wrong."""
        corpus, pruned, search, space, single_root, _, _ = self.problem
        weights, gradient = self._weights, self._gradient
        weights[self._seen] = x
        gradient[:] = 0.0
        move = Move(gradient, np.empty(0, np.float32), -1.0, 0.0)
        value, wrong = self.choices.penalty / 2 * float(x @ x), 0
        for part, _ in parts():
            loss, errors = gradient_epoch(
                corpus,
                pruned,
                np.sort(part),
                search,
                self.problem.loopy,
                space,
                single_root,
                None,
                weights,
                move,
            )
            self._must_be_finite(loss)
            value += loss
            wrong += errors
        found = gradient[self._seen]
        found += self.choices.penalty * x
        return value, found, wrong

    def weights(self) -> NDArray[np.float32]:
        return self.state["weights"].astype(np.float32)
