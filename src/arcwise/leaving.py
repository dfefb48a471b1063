"""What is to be done before the process ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import NoReturn

_PATIENCE = 0.3  # seconds for all duties together

_duties: dict[object, Callable[[], None]] = {}
_leaving = Lock()


@contextmanager
def before_leaving(duty: Callable[[], None]) -> Iterator[None]:
    """Inside the block the process does not end by `leave` without doing this."""
    key = object()
    _duties[key] = duty
    try:
        yield
    finally:
        del _duties[key]


def leave(status: int) -> NoReturn:
    """End the process at once, whatever its threads do: kernels, compilation. Duties are done first, the last one first."""
    with _leaving:  # forever
        timer = Timer(_PATIENCE, os._exit, [status])
        timer.daemon = True
        timer.start()
        for duty in reversed(list(_duties.values())):
            with suppress(BaseException):
                duty()
        os._exit(status)
