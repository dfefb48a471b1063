"""Work in threads, and the main thread that waits for it."""

from __future__ import annotations

from threading import Event, Thread, current_thread, main_thread

import numpy as np
import pytest

from arcwise.threads import Workers, heed, in_threads, interruptible, undisturbed


def test_work_is_done_in_another_thread_and_in_the_context_of_its_caller():
    for work in (interruptible, undisturbed):
        assert work(current_thread) is not main_thread()
        assert work(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            work(divmod, 7, 0)
    assert interruptible(current_thread, long=False) is main_thread()
    with np.errstate(over="raise"):
        assert interruptible(np.geterr)["over"] == "raise"


def test_no_thread_is_made_where_one_waits_already():
    def inner():
        return current_thread(), interruptible(current_thread), in_threads(lambda _: current_thread(), [0], 1)

    outer, interrupted, [mapped] = interruptible(inner)
    assert outer is interrupted is mapped
    inside, again = undisturbed(lambda: (current_thread(), undisturbed(current_thread)))
    assert inside is again


def test_results_come_in_order_and_the_first_error_ends_it():
    assert in_threads(lambda x: -x, range(9), 3) == [-x for x in range(9)]
    assert in_threads(abs, [], 2) == []
    begun = []

    def fail_at_three(number):
        begun.append(number)
        if number == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        in_threads(fail_at_three, range(10_000), 1)
    assert len(begun) < 10_000


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_threads_that_are_left_are_told_to_stop(error):
    begun, ended, never = Event(), Event(), Event()

    def work():
        begun.set()
        try:
            while True:
                heed()
                never.wait(0.01)
        finally:
            ended.set()

    def leave():
        with Workers(1) as workers:
            workers.submit(work)
            begun.wait()
            raise error

    with pytest.raises(error):
        leave()
    assert ended.wait(60)  # so that a thread which goes on fails instead of hanging


def test_what_is_undisturbed_goes_on():
    begun, go, ended = Event(), Event(), Event()

    def compile_():
        begun.set()
        go.wait()
        ended.set()

    def leave():
        with Workers(1) as workers:
            workers.submit(undisturbed, compile_)
            begun.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    go.set()
    assert ended.wait(60)


def test_other_errors_wait_for_what_was_begun():
    begun, go, ended = Event(), Event(), Event()

    def work():
        begun.set()
        go.wait()
        ended.set()

    def fail():
        with Workers(1) as workers:
            workers.submit(work)
            begun.wait()
            Thread(target=go.set).start()
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert ended.is_set()
