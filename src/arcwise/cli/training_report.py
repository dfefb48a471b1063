"""What `arcwise train` tells while it runs: a line an epoch, and on a terminal a bar below them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from arcwise.cli.terminal import compiled_kernels, duration, say
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.tuning import MOST_TRIALS, TUNING_EPOCHS
from arcwise.tagging.training import FOLDS

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

# How long an epoch of each stage takes, beside one of the trees: for the time left.
_COSTS = {"words": 1.0, "tags": 1.5, "pruner": 0.4, "tuning": 1.0, "trees": 1.0, "labels": 0.5}

_BEGINNING = "reading the treebanks, and on first use compiling for this machine"


@contextmanager
def training_report(options: Options, quiet: bool) -> Iterator[Watcher]:
    """The watcher of a training run that reports on standard error."""
    if quiet:
        yield Watcher()
    elif not sys.stderr.isatty():
        yield Report(options)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[left]}"),
        )
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            yield Report(options, bar)


class Report(Watcher):
    """Prints notes and epochs as lines, and moves the bar if there is one."""

    def __init__(self, options: Options, bar: Bar | None = None) -> None:
        self._bar, self._clock, self._finished = bar, Clock(options), perf_counter()
        self._task = None if bar is None else bar.add_task(_BEGINNING, total=None, left="")

    def note(self, text: str) -> None:
        self._say(f"note: {text}")

    def progress(self, progress: Progress) -> None:
        left = self._clock.left(progress)
        remaining = "" if left is None else f"at most {duration(left)} left"
        if (
            progress.las is not None
            or progress.best
            or (progress.stage not in ("tuning", "trees", "labels") and progress.share == 1)
        ):
            seconds, self._finished = perf_counter() - self._finished, perf_counter()
            self._say(f"{_line(progress):<58} {duration(seconds):>9}  {remaining}".rstrip())
        if self._bar is not None and self._task is not None:
            compiling = "(compiling on first use included)" if compiled_kernels() else ""
            self._bar.update(
                self._task,
                description=f"{progress.stage} {progress.epoch}/{progress.epochs}  {_error(progress)}",
                completed=progress.share,
                total=1.0,
                left=f"{remaining} {compiling}",
            )

    def _say(self, text: str) -> None:
        if self._bar is None:
            say(text)
        else:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _line(progress: Progress) -> str:
    line = f"{progress.stage:<6} {progress.epoch:>2}/{progress.epochs:<2}  {_error(progress)}"
    if progress.las is not None:
        line += f"  dev UAS {progress.uas:.2f} LAS {progress.las:.2f}" + "  best" * progress.best
    return line


def _error(progress: Progress) -> str:
    if progress.stage == "words":
        return ""
    if progress.stage == "pruner":
        return f"loss {progress.error:.3f} "
    return f"error {100 * progress.error:5.2f}%"


class Clock:
    """Tells how much time is left if no stage stops early, from the time taken so far.

    >>> times = iter([10.0, 11.0])
    >>> clock = Clock(Options(epochs=2, label_epochs=2), lambda: next(times))
    >>> clock.left(Progress("trees", 1, 2, 0.5, 0.3))
    >>> clock.left(Progress("trees", 1, 2, 1.0, 0.2))  # half an epoch a second; one of trees, two short ones of labels
    4.0
    """

    def __init__(self, options: Options, now: Callable[[], float] = perf_counter) -> None:
        self._now, self._start = now, 0.0
        epochs = {
            "words": 1, "tags": 0 if options.gold_tags else FOLDS + 1, "pruner": 3,
            "tuning": MOST_TRIALS * TUNING_EPOCHS if options.tune else 0, "trees": options.epochs,
            "labels": options.label_epochs,
        }  # fmt: skip
        costs = [_COSTS[stage] * epochs[stage] for stage in _COSTS]
        self._later = {stage: sum(costs[i + 1 :]) for i, stage in enumerate(_COSTS)}
        self._stage, self._here, self._work = (
            "",
            0.0,
            0.0,
        )  # the stage, what is done of it, what was done in all

    def left(self, progress: Progress) -> float | None:
        """Seconds, or None at the first call."""
        cost = _COSTS[progress.stage]
        here = cost * (progress.epoch - 1 + progress.share)
        if not self._stage:  # a run that goes on from a checkpoint may begin anywhere
            self._start, self._here = self._now(), here
            self._stage = progress.stage
            return None
        if progress.stage == self._stage:
            here = max(here, self._here)  # taggers that learn at the same time report as it happens
            self._work += here - self._here
        else:
            self._work += here
        self._stage, self._here = progress.stage, here
        remaining = cost * progress.epochs - here + self._later[progress.stage]
        return (self._now() - self._start) / self._work * remaining if self._work else None
