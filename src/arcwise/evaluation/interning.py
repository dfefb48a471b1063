"""Equal strings get equal numbers, without a Python string for every word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel


@kernel
def number_fields(
    data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32], roles: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct strings data[starts[w, role] : stops[w, role]] in the order they come.

    Exact: strings are hashed (FNV-1a), and compared byte by byte. Expected time O(bytes), memory O(W * R).

    Shapes: starts and stops (W, 8), roles (R). Returns the numbers, int32 (R, W), and where the first string
    of each number starts and stops, int32 (D, 2).
    """
    words = len(starts)
    size = 2
    while size < 2 * words * len(roles):
        size *= 2
    table = np.full(size, -1, np.int32)  # of numbers, at the string's hash or the next free place
    fields = np.empty((words * len(roles), 2), np.int32)
    numbers = np.empty((len(roles), words), np.int32)
    count = 0
    for word in range(words):
        for k, role in enumerate(roles):
            start, stop = starts[word, role], stops[word, role]
            code = np.uint64(0xCBF29CE484222325)
            for at in range(start, stop):
                code = (code ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
            place = np.int64(code >> np.uint64(24)) & (size - 1)
            while table[place] >= 0 and not _same(data, fields[table[place]], start, stop):
                place = (place + 1) & (size - 1)
            if table[place] < 0:
                table[place] = count
                fields[count, 0], fields[count, 1] = start, stop
                count += 1
            numbers[k, word] = table[place]
    return numbers, fields[:count].copy()


@kernel
def _same(data: NDArray[np.uint8], field: NDArray[np.int32], start: int, stop: int) -> bool:
    """Whether two stretches of bytes are equal."""
    size, offset = stop - start, 0
    if field[1] - field[0] != size:
        return False
    while offset < size and data[field[0] + offset] == data[start + offset]:
        offset += 1
    return bool(offset == size)
