"""What takes how long: runs that take turns, so that what slows down the machine slows down all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import thread_time

import numpy as np
from numpy.typing import NDArray

Run = Callable[[], object]


def race(
    runs: Mapping[str, Run], rounds: int, tell: Callable[[float], None] = lambda share: None
) -> dict[str, NDArray[np.float64]]:
    """Seconds of CPU time by name and round. `tell` is told after every round what share of them is done."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for done in range(rounds):
        for name, run in runs.items():
            seconds[name].append(time_run(run))
        tell((done + 1) / rounds)
    return {name: np.array(times) for name, times in seconds.items()}


def time_run(run: Run) -> float:
    """Seconds of CPU time."""
    started = thread_time()
    run()
    return thread_time() - started
