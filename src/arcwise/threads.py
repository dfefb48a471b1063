"""Threads that never keep a program from being stopped.

The interpreter tells only the main thread of Ctrl-C, and only between two steps of Python: while a kernel runs there, nobody hears
it. So long work is done in another thread, and the main thread waits, which can be interrupted. The other thread is then told to
stop. It does so where it heeds that, between two kernels, and is a daemon, so that the process can end before. Nothing is raised in
it from outside: that would come while a kernel makes its results, of which nobody cleans up half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread, current_thread, main_thread
from types import TracebackType
from typing import Any, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

_GRACE = 0.2  # seconds that a thread which is told to stop has to tidy up


class _Worker(Thread):
    """A thread that can be told to stop."""

    stopped = False


class Workers:
    """So many threads that do what they are given, in this order.

    At the end of the `with` block they finish what they have begun. After an interrupt they are left alone.
    """

    def __init__(self, jobs: int) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [_Worker(target=self._work, name="arcwise", daemon=True) for _ in range(jobs)]

    def submit(self, work: Callable[..., Out], *arguments: Any) -> Future[Out]:
        """What work(*arguments) will give, in the context of the caller."""
        future: Future[Out] = Future()
        context = copy_context()
        self._tasks.put((future, lambda: context.run(work, *arguments)))
        return future

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> None:
        if kind is not None:
            self._forget_tasks()
        for _thread in self._threads:
            self._tasks.put(None)
        if kind is not None and issubclass(kind, KeyboardInterrupt | SystemExit):
            _stop(self._threads)
            return
        for thread in self._threads:
            thread.join()

    def _forget_tasks(self) -> None:
        while True:
            try:
                self._tasks.get_nowait()
            except Empty:
                return

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            _do(*task)
            del task  # nothing is held while this waits


def interruptible(work: Callable[..., Out], *arguments: Any, long: bool = True) -> Out:
    """work(*arguments), which Ctrl-C ends at once if this is the main thread.

    long: whether the work may take so long that somebody will interrupt it. If not it is spared 50 microseconds for a thread.
    """
    if not long or current_thread() is not main_thread():
        return work(*arguments)
    with Workers(1) as workers:
        return workers.submit(work, *arguments).result()


class _Undisturbed(Thread):
    """A thread that nobody tells to stop."""


def undisturbed(work: Callable[..., Out], *arguments: Any) -> Out:
    """work(*arguments), which always goes on to its end, also if the caller, who waits for it, is interrupted."""
    if isinstance(current_thread(), _Undisturbed):
        return work(*arguments)
    future: Future[Out] = Future()
    _Undisturbed(target=_do, args=(future, partial(work, *arguments)), daemon=True).start()
    return future.result()


def in_threads(work: Callable[[In], Out], items: Sequence[In], jobs: int) -> list[Out]:
    """work(item) for each item, in order, on so many threads. The first error is raised, and what was not begun is left out.

    >>> in_threads(abs, [-1, 2, -3], jobs=2)
    [1, 2, 3]
    """
    if jobs == 1 and current_thread() is not main_thread():
        return [work(item) for item in items]
    with Workers(max(min(jobs, len(items)), 1)) as workers:
        futures = [workers.submit(work, item) for item in items]
        return [future.result() for future in futures]


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def heed() -> None:
    """KeyboardInterrupt, if this thread was told to stop: for loops that go on for long."""
    if getattr(current_thread(), "stopped", False):
        raise KeyboardInterrupt


def _stop(threads: Sequence[_Worker]) -> None:
    """Tell threads to stop, and give them a moment for it."""
    for thread in threads:
        thread.stopped = True
    for thread in threads:
        thread.join(_GRACE / len(threads))
