"""Sets of 64-bit keys that kernels look up: the number of a key is its place in a sorted list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

UNKNOWN, ROOT, START, END = range(4)
FIRST_NUMBER = 4


class HashTable(NamedTuple):
    """Keys and their numbers, by open addressing. `slots` is a power of two in size, 0 is free."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]


@kernel
def _fill(slots: NDArray[np.uint64], numbers: NDArray[np.int32], keys: NDArray[np.uint64]) -> None:
    mask = np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = keys[i] & mask
        while slots[at] != 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = keys[i]
        numbers[at] = FIRST_NUMBER + i


def hash_table(keys: NDArray[np.uint64]) -> HashTable:
    """The table of these keys, none of which is 0, at most half full. Numbers begin with FIRST_NUMBER."""
    size = 1 << max(4, (2 * len(keys)).bit_length())
    slots, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    _fill(slots, numbers, keys)
    return HashTable(slots, numbers)


@kernel
def find_key(table: HashTable, key: np.uint64) -> int:
    """The number of a key, UNKNOWN if it is not there."""
    slots = table.slots
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] != 0 and slots[at] != key:
        at = (at + np.uint64(1)) & mask
    return int(table.numbers[at]) if slots[at] == key else UNKNOWN
