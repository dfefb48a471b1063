"""What the commands tell people while they work: on standard error, bars only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Show = Callable[[str, float, float | None], None]

_PATIENCE = 2.0  # seconds until a progress bar appears
_COMPILING = "compiling for this machine (once)"


jobs_option = click.option(
    "-j", "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="all cores", help="Threads."
)  # fmt: skip


def say(text: str) -> None:
    """A line on standard error."""
    click.echo(text, err=True)


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(1.234), duration(75), duration(7265)
    ('1.23 s', '1 min 15 s', '2 h 01 min')
    """
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "word"), counted(12345, "word")
    ('1 word', '12,345 words')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def compiled_kernels() -> int:
    """How many kernels this process had to compile; does not load the compiler for the question."""
    kernels = sys.modules.get("arcwise.kernels")
    return kernels.compiled_kernels() if kernels else 0


@contextmanager
def progress_bar(wanted: bool = True, *, only_compiling: bool = False) -> Iterator[Show]:
    """Gives `show(what, done, total)`, which moves the bar of `what`; total is None if unknown.

    The bars appear on a terminal, if all takes longer than two seconds, and vanish at the end. As long as
    nothing is shown and kernels are being compiled, a bar says so; with `only_compiling` it is the only one,
    and the first `show` ends it.
    """
    if not (wanted and sys.stderr.isatty()):
        yield lambda what, done, total: None
        return
    bars = _Bars(only_compiling)
    # A timer, since the first step may have to wait for the compiler.
    timer = Timer(_PATIENCE, bars.appear)
    timer.daemon = True
    timer.start()
    try:
        yield bars.show
    finally:
        timer.cancel()
        timer.join()
        bars.vanish()


class _Bars:
    """Bars that are told of progress before and after they appear; only then is `rich` loaded."""

    def __init__(self, only_compiling: bool) -> None:
        self._lock = Lock()
        self._only_compiling, self._over = only_compiling, False
        self._steps: dict[str, tuple[float, float | None]] = {}
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, what: str, done: float, total: float | None) -> None:
        if self._only_compiling:
            self.vanish()
            return
        with self._lock:
            self._steps[what] = done, total
            if self._progress is not None:
                self._draw(self._progress)

    def appear(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if not self._over:
                self._progress = Progress(console=Console(stderr=True), transient=True)
                self._draw(self._progress)
                self._progress.start()

    def vanish(self) -> None:
        with self._lock:
            self._over = True
            if self._progress is not None:
                self._progress.stop()
                self._progress = None

    def _draw(self, progress: Progress) -> None:
        steps = dict(self._steps)
        if not steps and compiled_kernels():
            steps = {_COMPILING: (0, None)}
        for what in self._tasks.keys() - steps.keys():
            progress.remove_task(self._tasks.pop(what))
        for what, (done, total) in steps.items():
            if what not in self._tasks:
                self._tasks[what] = progress.add_task(what, total=total)
            progress.update(self._tasks[what], completed=done)
