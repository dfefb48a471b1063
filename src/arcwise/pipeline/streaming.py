"""Parsing streams: blocks in, blocks out, in order, with several threads and in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from typing import TypeVar

from arcwise.threads import Workers

In = TypeVar("In")
Out = TypeVar("Out")

_AHEAD = 2  # items under way for each thread


def map_in_order(
    function: Callable[[In], Out], items: Iterable[In], jobs: int = 1
) -> Generator[Out, None, None]:
    """function(item) for each item, in order, on `jobs` threads; at most 2 * jobs items are under way at once.

    An error among the items is raised after the results of all items before it, whatever the number of threads.

    >>> list(map_in_order(abs, [-1, 2, -3], jobs=2))
    [1, 2, 3]
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    source = iter(items)
    waiting: deque[Future[Out]] = deque()
    end: Exception | None = None
    with Workers(jobs) as workers:
        while waiting or end is None:
            while end is None and len(waiting) < _AHEAD * jobs:
                try:
                    waiting.append(workers.submit(function, next(source)))
                except Exception as error:
                    end = error
            if waiting:
                yield waiting.popleft().result()
    if not isinstance(end, StopIteration) and end is not None:
        raise end
