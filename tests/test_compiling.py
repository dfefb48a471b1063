"""Kernels that count who uses an array and those that do not: nothing is lost, and nothing is freed that is still in use."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from arcwise.kernels import kernel

Numbers = NDArray[np.float64]
runtime: Any = import_module("numba.core.runtime.nrt")


class Pair(NamedTuple):
    one: Numbers
    two: Numbers


@kernel
def _total(pair: Pair) -> float:
    """Only looks at arrays: at a row, at a part of it, in a loop."""
    total = 0.0
    for row in (pair.one, pair.two):
        for x in row[1:].reshape((1, len(row) - 1))[0]:
            total += x
    return total


@kernel
def _tail(pair: Pair) -> Numbers:
    """Gives back what it was given."""
    return pair.one[1:]


@kernel
def _make(size: int) -> Pair:
    return Pair(np.full(size, 2.0), np.ones(size))


@kernel
def _make_and_look(size: int) -> float:
    """Is given arrays that nobody else holds."""
    pair = _make(size)
    return float(pair.one[0])


@kernel
def _pick(pair: Pair, order: NDArray[np.int64]) -> float:
    """Copies."""
    return float(pair.one[order][0])


@kernel
def _shift(pair: Pair) -> float:
    """Writes over what it reads."""
    pair.two[1:] = pair.two[:-1]
    return float(pair.two[1])


@kernel
def _doubled(pair: Pair) -> float:
    return float((pair.one + pair.one)[0])


@kernel
def all_kinds(pair: Pair, order: NDArray[np.int64], rounds: int) -> tuple[float, Numbers]:
    total, tail = 0.0, pair.one
    for _ in range(rounds):
        total += (
            _total(pair) + _make_and_look(len(pair.one)) + _pick(pair, order) + _shift(pair) + _doubled(pair)
        )
        tail = _tail(_make(len(pair.one)))
    return total, tail


@kernel
def tail_of(pair: Pair) -> Numbers:
    return _tail(pair)


def counted(call: Any, *arguments: Any) -> Any:
    """What a call gives, which must be the only array that is left of it."""
    call(*arguments)  # compiles
    before = runtime.rtsys.get_allocation_stats()
    result = call(*arguments)
    after = runtime.rtsys.get_allocation_stats()
    return result, (after.alloc - after.free) - (before.alloc - before.free)


@pytest.fixture(autouse=True)
def statistics() -> Iterator[None]:
    runtime._nrt.memsys_enable_stats()
    yield
    runtime._nrt.memsys_disable_stats()


def test_no_array_is_lost() -> None:
    pair, order = Pair(np.arange(4.0), np.ones(4)), np.array([2, 1])
    (total, tail), left = counted(all_kinds, pair, order, 50)
    assert total == 50 * (6.0 + 3.0 + 2.0 + 2.0 + 1.0 + 0.0)
    np.testing.assert_array_equal(tail, [2.0, 2.0, 2.0])
    assert left == 1  # the tail


def test_what_is_given_back_stays() -> None:
    def make() -> Numbers:
        return np.asarray(tail_of(Pair(np.arange(4.0), np.zeros(1))))

    tails = [make() for _ in range(100)]
    for tail in tails:
        np.testing.assert_array_equal(tail, [1.0, 2.0, 3.0])
