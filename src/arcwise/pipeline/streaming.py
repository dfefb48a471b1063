"""Parsing streams: blocks in, blocks out, in order, with several threads and in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def map_in_order(function: Callable[[In], Out], items: Iterable[In], jobs: int = 1) -> Iterator[Out]:
    """function(item) for each item, in order, on `jobs` threads; at most 2 * jobs items are under way at once.

    >>> list(map_in_order(abs, [-1, 2, -3], jobs=2))
    [1, 2, 3]
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    source = iter(items)
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Out]] = deque(pool.submit(function, item) for item in islice(source, 2 * jobs))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(function, item) for item in islice(source, 1))
                yield result
        finally:
            for future in waiting:
                future.cancel()
