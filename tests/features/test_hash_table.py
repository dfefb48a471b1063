"""Tables of keys: what is put in is found, in a time that does not depend on the keys."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.errors import InputError
from arcwise.features.hash_table import FIRST_NUMBER, UNKNOWN, fill, find_key, hash_table, most_probes


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("number", [0, 1, 7, 8, 1000, 1 << 15])
def test_keys_are_found(number: int, odd: bool) -> None:
    keys = np.random.default_rng(number).integers(1, 2**64 - 1, number, np.uint64, endpoint=True)
    keys = np.unique(keys | np.uint64(odd))
    table = hash_table(keys)
    for place, key in enumerate(keys[:200]):
        assert find_key(table, key) == FIRST_NUMBER + place
    assert find_key(table, np.uint64(12345)) == UNKNOWN


@pytest.mark.parametrize("odd", [False, True])
def test_hashes_take_few_probes(odd: bool) -> None:
    """The bound is far from what hashes need, those of suffixes, too, which are odd."""
    for number in (10, 1000, 1 << 15, (1 << 16) - 1):
        keys = np.random.default_rng(number).integers(1, 2**64 - 1, number, np.uint64) | np.uint64(odd)
        size = 1 << max(4, (2 * number).bit_length())
        most = most_probes(number)
        probes = fill(np.zeros(size, np.uint64), np.zeros(size, np.int32), keys, most)
        assert number <= probes < most / 4


@pytest.mark.parametrize("number", [1 << 10, 1 << 16])
def test_colliding_keys_take_as_few_and_are_refused(number: int) -> None:
    """Keys that all want the same slot would take number^2 / 2 probes."""
    keys = np.arange(1, number + 1, dtype=np.uint64) << np.uint64(40)
    size = 1 << (2 * number).bit_length()
    most = most_probes(number)
    assert fill(np.zeros(size, np.uint64), np.zeros(size, np.int32), keys, most) == most + 1 < 20 * number
    with pytest.raises(InputError, match="keys that collide"):
        hash_table(keys)


def test_too_many_keys_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcwise.features.hash_table._MOST_KEYS", 10)
    with pytest.raises(InputError, match="11 keys, expected 10 at most"):
        hash_table(np.arange(1, 12, dtype=np.uint64))
