"""Sets of 64-bit keys that kernels look up: the number of a key is its place in a sorted list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.kernels import kernel

UNKNOWN, ROOT, START, END = range(4)
FIRST_NUMBER = 4
_MOST_PROBES = 16  # for a key, on average; hashes need 1.5
_MOST_KEYS = 1 << 24


class HashTable(NamedTuple):
    """Keys and their numbers, by open addressing. `slots` is a power of two in size, 0 is free."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]


@kernel
def fill(slots: NDArray[np.uint64], numbers: NDArray[np.int32], keys: NDArray[np.uint64], most: int) -> int:
    """Put the keys into a table that is empty; returns how many slots it looked at. It stops when these are more than `most`."""
    mask = np.uint64(len(slots) - 1)
    probes = 0
    for i in range(len(keys)):
        at = keys[i] & mask
        probes += 1
        while slots[at] != 0 and probes <= most:
            at = (at + np.uint64(1)) & mask
            probes += 1
        if probes > most:
            break
        slots[at] = keys[i]
        numbers[at] = FIRST_NUMBER + i
    return probes


def hash_table(keys: NDArray[np.uint64]) -> HashTable:
    """The table of these keys, none of which is 0, at most half full. Numbers begin with FIRST_NUMBER. O(keys).

    InputError for keys that collide so often that they can be no hashes, and for more than _MOST_KEYS.
    """
    if len(keys) > _MOST_KEYS:
        raise InputError(f"{len(keys):,} keys", expected=f"{_MOST_KEYS:,} at most")
    size = 1 << max(4, (2 * len(keys)).bit_length())
    slots, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    most = most_probes(len(keys))
    if fill(slots, numbers, keys, most) > most:
        raise InputError("keys that collide", expected="hashes, all different")
    return HashTable(slots, numbers)


def most_probes(keys: int) -> int:
    """How many slots may be looked at to build a table of so many keys."""
    return _MOST_PROBES * (keys + 64)


@kernel
def find_key(table: HashTable, key: np.uint64) -> int:
    """The number of a key, UNKNOWN if it is not there."""
    slots = table.slots
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] != 0 and slots[at] != key:
        at = (at + np.uint64(1)) & mask
    return int(table.numbers[at]) if slots[at] == key else UNKNOWN
