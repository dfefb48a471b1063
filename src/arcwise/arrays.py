"""Arrays from files: what each must be is said once, and nothing is read that was not checked against it.

A format is a dictionary of descriptions. `checked` gives those arrays of a file that are described, and refuses all others. So
kernels may take for granted whatever a description says, and an array without one cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arcwise.errors import InputError

Arrays = dict[str, NDArray[Any]]


class Array(NamedTuple):
    """What an array must be. All numbers of floats are finite, those of bools 0 and 1.

    shape: the length of each dimension, a number or a name. Arrays that name the same length agree on it; "rules+1" is one more.
    least, most: of the numbers in it. below: a length that all numbers are below. rising: whether each number is greater than the one
    before. starts, steps: the array holds where stretches of another begin, from 0 to the length that `starts` names; how long
    stretches are, at least and at most. holds, meaning: what else is asked, and how to say it.
    """

    kind: DTypeLike
    shape: tuple[int | str, ...]
    least: float | None = None
    most: float | None = None
    below: str | None = None
    rising: bool = False
    starts: str | None = None
    steps: tuple[int, int] = (0, np.iinfo(np.int64).max)
    holds: Callable[[NDArray[Any]], bool] | None = None
    meaning: str = ""


Format = Mapping[str, Array]

_LONGEST_HEADER, _READ_AT_ONCE = 1 << 24, 1 << 24  # bytes


def checked(
    arrays: Mapping[str, NDArray[Any]],
    format: Format,
    lengths: Mapping[str, int] | None = None,
    *,
    complete: bool = True,
) -> Arrays:
    """The arrays, all of which are as they are described; InputError for any that is not. O(numbers that are described by value).

    lengths: those that are known already. complete: whether arrays that are described may not be missing.

    >>> format = {
    ...     "first": Array(np.int32, ("rules+1",), starts="letters"),
    ...     "letters": Array(np.int32, ("letters",), least=1),
    ...     "rules": Array(np.uint8, ("suffixes",), below="rules"),
    ... }
    >>> letters, first = np.array([97, 98], np.int32), np.array([0, 2], np.int32)
    >>> sorted(checked({"letters": letters, "first": first, "rules": np.zeros(5, np.uint8)}, format))
    ['first', 'letters', 'rules']
    >>> checked({"letters": letters, "first": first, "rules": np.ones(5, np.uint8)}, format)
    Traceback (most recent call last):
    arcwise.errors.InputError: array rules: a number of 1, expected below 1
    """
    for name in arrays:
        if name not in format:
            raise InputError(f"array {name}, which nothing reads", expected=", ".join(format))
    found = dict(lengths or {})
    for name, described in format.items():
        if name in arrays:
            _check_shape(name, arrays[name], described, found)
        elif complete:
            raise InputError(f"array {name} is missing")
    for name, array in arrays.items():
        _check_numbers(name, array, format[name], found)
    return dict(arrays)


def zeros(described: Array) -> NDArray[Any]:
    """An array of zeros, for one whose lengths are numbers."""
    return np.zeros([int(length) for length in described.shape], np.dtype(described.kind))


def header_size(content: bytes) -> int:
    """How long the head of a safetensors file is; ValueError if that is no length of one."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 0 < size <= _LONGEST_HEADER:
        raise ValueError("no safetensors file")
    return size


def read_content(path: Path, most: int, other: bytes | None = None) -> bytes:
    """What a safetensors file holds; ValueError for one that is none, or longer than `most` bytes. How it begins is looked at first.

    other: how else a file may begin.
    """
    with path.open("rb") as file:
        head = file.read(8)
        if other is None or not head.startswith(other):
            header_size(head)
        pieces, size = [head], len(head)
        while piece := file.read(_READ_AT_ONCE):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise ValueError(f"more than {most} bytes")
    return b"".join(pieces)


def powers_of_two(most: int) -> Callable[[NDArray[Any]], bool]:
    """For `holds`: whether the length is a power of two up to 2^most."""
    return lambda array: len(array).bit_count() == 1 and len(array) <= 1 << most


def are_letters(codes: NDArray[Any]) -> bool:
    """For `holds`: whether all are code points that a file in UTF-8 can have."""
    return bool(((codes > 0) & (codes < 0x110000) & ~((codes >= 0xD800) & (codes < 0xE000))).all())


def _length(name: int | str, found: Mapping[str, int]) -> int | None:
    """The length that a description asks for, or None if nothing is known of it yet."""
    if isinstance(name, int):
        return name
    base = name.removesuffix("+1")
    return found[base] + (base != name) if base in found else None


def _check_shape(name: str, array: NDArray[Any], described: Array, found: dict[str, int]) -> None:
    """Notes the lengths that this array is the first to have."""
    kind, shape = np.dtype(described.kind), described.shape
    good = array.dtype == kind and array.ndim == len(shape)
    if good:
        for size, asked in zip(array.shape, shape, strict=True):
            length = _length(asked, found)
            if length is None:
                plus = str(asked).endswith("+1")
                found[str(asked).removesuffix("+1")] = size - plus
                good &= size >= plus
            else:
                good &= size == length
    if not good:
        asks = [_length(asked, found) or asked for asked in shape]
        raise InputError(
            f"array {name} is {array.dtype} ({_listed(array.shape)})", expected=f"{kind} ({_listed(asks)})"
        )


def _listed(lengths: Any) -> str:
    return ", ".join(map(str, lengths))


def _check_numbers(name: str, array: NDArray[Any], described: Array, found: Mapping[str, int]) -> None:
    def refuse(what: str, expected: str) -> InputError:
        return InputError(f"array {name}: {what}", expected=expected)

    if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
        raise refuse("a truth value that is neither 0 nor 1", "0 or 1")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise refuse("a number that is not finite", "finite ones")
    least, most, ends = described.least, described.most, None
    if described.below is not None:
        least, ends = 0 if least is None else least, _length(described.below, found)
    if array.size and least is not None and array.min() < least:
        raise refuse(f"a number of {array.min()}", f"{least} or more")
    if array.size and most is not None and array.max() > most:
        raise refuse(f"a number of {array.max()}", f"{most} or less")
    if array.size and ends is not None and array.max() >= ends:
        raise refuse(f"a number of {array.max()}", f"below {ends}")
    if described.rising and (array[1:] <= array[:-1]).any():
        raise refuse("numbers that do not rise", "each greater than the one before")
    if described.starts is not None:
        end, lengths = _length(described.starts, found), np.diff(array.astype(np.int64))
        shortest, longest = described.steps
        if array[0] != 0 or array[-1] != end:
            raise refuse(f"stretches from {array[0]} to {array[-1]}", f"from 0 to {end}")
        if len(lengths) and not (shortest <= lengths.min() and lengths.max() <= longest):
            raise refuse(
                f"stretches of {lengths.min()} to {lengths.max()}", f"{shortest} to {longest} numbers each"
            )
    if described.holds is not None and not described.holds(array):
        raise refuse("what it may not be", described.meaning)
