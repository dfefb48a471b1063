"""Step size and penalty of a learner, chosen on a development treebank."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, nan

from arcwise.errors import ArcwiseError, InputError
from arcwise.learning.trainers import USELESS, Choices
from arcwise.pipeline.options import Note

TUNING_EPOCHS = 3  # of each trial
_FACTOR = 4.0  # between neighbours of the grid
MOST_TRIALS = 12


def _tunable(choices: Choices) -> list[str]:
    return [
        name for name, without in USELESS.items() if not {choices.learner, choices.optimiser} & {*without}
    ]


def _values(choices: Choices) -> str:
    return ", ".join(f"{name} {getattr(choices, name):g}" for name in _tunable(choices))


def check_tunable(choices: Choices, has_dev: bool) -> None:
    """InputError if there is nothing to choose, or nothing to choose by."""
    if not _tunable(choices):
        raise InputError(f"--tune: the {choices.learner} has neither a step size nor a penalty")
    if not has_dev:
        raise InputError("--tune needs a development treebank (--dev) to choose by")


def tune(measure: Callable[[Choices], float], start: Choices, note: Note) -> Choices:
    """The best choices met on a walk through the grid of step sizes and penalties, a factor of 4 apart.

    From `start` it goes to the best neighbour along one axis after the other, and on in that direction as long as that helps, until
    no neighbour is better or 12 were measured. The greater `measure`, the better; the first of equals is kept. NaN is worst, and so
    is an ArcwiseError (steps too long), unless it is at the start.

    >>> from math import log2
    >>> peak = lambda at: -abs(log2(at.rate) + 5) - abs(log2(at.penalty) - 1)
    >>> tune(peak, Choices("log-linear", "sgd", 0.125, 0.5), lambda text: None)
    Choices(learner='log-linear', optimiser='sgd', rate=0.03125, penalty=2.0)
    """
    seen: dict[Choices, float] = {}

    def measured(choices: Choices) -> float:
        if choices not in seen and len(seen) < MOST_TRIALS:
            try:
                value = measure(choices)
                outcome = f"{value:.2f} on the development treebank"
            except ArcwiseError as error:
                if choices == start:
                    raise
                value, outcome = nan, str(error)
            seen[choices] = -inf if isnan(value) else value
            note(f"tuning: {_values(choices)}: {outcome}")
        return seen.get(choices, -inf)

    best, last = start, None
    measured(best)
    while best != last:
        last = best
        for name in _tunable(start):
            for factor in (_FACTOR, 1 / _FACTOR):
                while measured(there := best._replace(**{name: getattr(best, name) * factor})) > seen[best]:
                    best = there
    note(f"tuning: chose {_values(best)}")
    return best
