"""Arrays from files are as they are described, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arcwise.arrays import Array, are_letters, checked, powers_of_two, zeros
from arcwise.errors import InputError

FORMAT = {
    "keys": Array(np.uint64, ("words",), least=1, rising=True),
    "of": Array(np.uint16, ("words",), below="rules"),
    "first": Array(np.int32, ("rules+1",), starts="letters", steps=(1, 3)),
    "letters": Array(np.int32, ("letters",), least=33, holds=are_letters, meaning="letters"),
    "pairs": Array(np.int32, ("pairs", 2), below="letters+1"),
    "allowed": Array(np.bool_, (2, "labels")),
    "table": Array(np.int8, (8,)),
    "scales": Array(np.float32, (3,), least=0.5, most=2.0),
    "weights": Array(np.float64, ("weights",), holds=powers_of_two(4), meaning="a power of two"),
}


def right() -> dict[str, np.ndarray[Any, Any]]:
    return {
        "keys": np.array([1, 5, 2**64 - 1], np.uint64),
        "of": np.array([1, 0, 1], np.uint16),
        "first": np.array([0, 3, 4], np.int32),
        "letters": np.array([65, 66, 0x10FFFF, 33], np.int32),
        "pairs": np.array([[0, 4]], np.int32),
        "allowed": np.ones((2, 3), np.bool_),
        "table": np.full(8, -128, np.int8),
        "scales": np.array([0.5, 1.0, 2.0], np.float32),
        "weights": np.zeros(4),
    }


def test_what_is_right_is_read() -> None:
    found = checked(right(), FORMAT)
    assert found.keys() == FORMAT.keys()
    empty: dict[str, np.ndarray[Any, Any]] = {
        "keys": np.empty(0, np.uint64),
        "of": np.empty(0, np.uint16),
        "first": np.zeros(1, np.int32),
        "letters": np.empty(0, np.int32),
        "pairs": np.empty((0, 2), np.int32),
    }
    checked(right() | empty, FORMAT)


BY_VALUE: dict[str, list[Any]] = {
    "keys": [[0, 5, 6], [1, 5, 5], [1, 5, 4], [2**64 - 1, 1, 2]],
    "of": [[1, 0, 2], [0, 0, 2**16 - 1]],
    "first": [[1, 3, 4], [0, 3, 3], [0, 4, 4], [0, 0, 4], [0, -1, 4], [0, 2**31 - 1, 4], [0, 3, 5], [0]],
    "letters": [[65, 66, 67, 32], [65, 66, 67, 0x110000], [65, 66, 67, 0xD800], [65, 66, 67, -65]],
    "pairs": [[[0, 5]], [[-1, 0]], [[-(2**31), 0]]],
    "scales": [[0.4, 1, 1], [1, 1, 2.1], [np.nan, 1, 1], [1, np.inf, 1], [1, 1, -np.inf]],
    "weights": [[np.nan] * 4, [0, 0, -np.inf, 0], [0, 0, 0], [], [0] * 32],
}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for name in BY_VALUE for values in BY_VALUE[name]]
)
def test_wrong_numbers_are_refused(name: str, values: Any) -> None:
    array = np.array(values, FORMAT[name].kind)
    with pytest.raises(InputError):
        checked(right() | {name: array}, FORMAT)


def test_truth_values_are_bits() -> None:
    arrays = right()
    arrays["allowed"].view(np.uint8)[0, 0] = 2
    with pytest.raises(InputError, match="allowed: a truth value that is neither 0 nor 1"):
        checked(arrays, FORMAT)


@pytest.mark.parametrize("name", FORMAT)
def test_other_kinds_and_shapes_are_refused(name: str) -> None:
    array = right()[name]
    others = [array.astype(np.complex64), array[None], array.ravel()[:, None], np.array(array.ravel()[0])]
    if name not in ("weights", "pairs", "allowed"):
        others += [array[:-1], np.concatenate([array, array])]
    for other in others:
        with pytest.raises(InputError, match=r"^array "):
            checked(right() | {name: other}, FORMAT)
    with pytest.raises(InputError, match=f"array {name} is missing"):
        checked({other: array for other, array in right().items() if other != name}, FORMAT)


def test_another_byte_order_is_another_kind() -> None:
    with pytest.raises(InputError, match="array first is >i4"):
        checked(right() | {"first": right()["first"].astype(">i4")}, FORMAT)


def test_what_is_not_described_is_refused() -> None:
    with pytest.raises(InputError, match="array more, which nothing reads"):
        checked(right() | {"more": np.zeros(1)}, FORMAT)


def test_known_lengths_and_missing_arrays() -> None:
    checked(right(), FORMAT, {"words": 3, "letters": 4})
    with pytest.raises(InputError, match=r"array keys is uint64 \(3\), expected uint64 \(4\)"):
        checked(right(), FORMAT, {"words": 4})
    found = checked({"table": right()["table"]}, FORMAT, complete=False)
    assert list(found) == ["table"]


def test_zeros() -> None:
    made = zeros(Array(np.float32, (2, 3)))
    assert made.shape == (2, 3)
    assert made.dtype == np.float32
    assert not made.any()
