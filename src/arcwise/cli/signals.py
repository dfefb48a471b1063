"""How the commands obey SIGINT (Ctrl-C) and SIGTERM: within a second, whatever runs."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from arcwise.leaving import leave

INTERRUPTED, TERMINATED = 130, 143  # exit statuses, as shells have them
_STATUSES: dict[int, int] = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}

# Seconds that the main thread has to end by itself, which takes a few milliseconds unless a kernel or the compiler runs in it.
_GRACE = 0.5
_SHOW_CURSOR = b"\x1b[?25h"


@contextmanager
def heeding_signals() -> Iterator[None]:
    """Inside, the first signal raises KeyboardInterrupt (SIGINT) or SystemExit (SIGTERM) in the main thread, and the process ends
    with its status when this block does.

    The main thread cannot hear a signal while a kernel runs in it. But the interpreter writes the signal's number to a socket at
    once. A thread waits there. It ends the process itself if the main thread has not done so after half a second, or at a second
    signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []

    def stop(number: int, _: Any) -> None:
        if seen:
            return  # the main thread is on its way out
        seen.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(TERMINATED)

    before = {
        number: signal.signal(number, stop)
        for number in _STATUSES
        if signal.getsignal(number) is not signal.SIG_IGN  # as in a shell's background jobs
    }
    here, there = socket.socketpair()
    there.setblocking(False)
    wakeup = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
    watchman = threading.Thread(target=_watch, args=(here,), name="arcwise signals", daemon=True)
    watchman.start()
    try:
        yield
    finally:
        if seen:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            leave(_STATUSES[seen[0]])
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        there.close()
        watchman.join()
        here.close()


def _watch(numbers: socket.socket) -> None:
    """End the process some time after the first signal that arrives, or at a second."""
    first = _next_signal(numbers)
    if first is None:
        return
    numbers.settimeout(_GRACE)
    with suppress(TimeoutError):
        _next_signal(numbers)
    if first == signal.SIGINT:
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + b"arcwise: interrupted\n")
    leave(_STATUSES[first])


def _next_signal(numbers: socket.socket) -> int | None:
    """The number of the next of our signals, or None if there will be none."""
    while received := numbers.recv(1):
        if received[0] in _STATUSES:
            return received[0]
    return None
