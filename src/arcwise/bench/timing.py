"""How `arcwise bench` takes times.

What is compared runs in one process, turn by turn, and medians are reported, so that a busy machine slows all
sides alike. Times are CPU time, unless threads or waiting are the point: then they are elapsed time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryFile
from typing import NamedTuple

from arcwise.errors import ArcwiseError

Action = Callable[[], object]
Clock = Callable[[], int]
Say = Callable[[str], None]


def silent(text: str) -> None:
    """Say nothing about what is being measured."""


def medians(actions: dict[str, Action], rounds: int, clock: Clock = time.process_time_ns) -> dict[str, float]:
    """The median microseconds of every action; they take turns. A first round is not counted."""
    times: dict[str, list[int]] = {name: [] for name in actions}
    for round_ in range(-1, rounds):
        for name, action in actions.items():
            start = clock()
            action()
            if round_ >= 0:
                times[name].append(clock() - start)
    return {name: median(spent) / 1000 for name, spent in times.items()}


class Child(NamedTuple):
    """What a process cost: elapsed and CPU seconds, and its greatest memory in MB.

    The memory is at least that of the process which started it: the kernel counts from the fork.
    """

    elapsed: float
    cpu: float
    memory: float


def run_python(*arguments: str, environment: dict[str, str] | None = None) -> Child:
    """Run the interpreter with some arguments in a process of its own, from its start to its end."""
    if not hasattr(os, "wait4"):
        raise ArcwiseError("bench: this system cannot tell what a process cost (it has no wait4)")
    with TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | (environment or {}),
        )
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            raise ArcwiseError(f"bench: {' '.join(arguments)}: {lines[-1] if lines else process.returncode}")
    scale = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kilobytes elsewhere
    return Child(elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)
