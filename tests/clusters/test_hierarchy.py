from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.clusters.hierarchy import bit_strings, equal_frequency, fixed_prefixes


@st.composite
def trees(draw) -> tuple[dict[str, str], dict[str, int]]:
    """Words at the leaves of a binary tree, some at the same leaf, and their counts."""
    leaves = [""]
    for _ in range(draw(st.integers(1, 12))):
        leaf = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        leaves += [leaf + "0", leaf + "1"]
    places = leaves + draw(st.lists(st.sampled_from(leaves), max_size=5))
    strings = {f"w{k}": bits for k, bits in enumerate(places)}
    return strings, {word: draw(st.integers(1, 50)) for word in strings}


@given(st.integers(1, 20), st.randoms(use_true_random=False))
def test_bit_strings_are_the_leaves_of_a_tree(words, random):
    alive, merges = list(range(words)), []
    while len(alive) > 1:
        low, high = sorted(random.sample(alive, 2))
        merges.append((low, high))
        alive.remove(high)
    strings = bit_strings(np.array(merges, np.int32).reshape(-1, 2), words)
    assert len(set(strings)) == words
    if words == 1:
        assert strings == ["0"]
        return
    assert sum(2.0 ** -len(bits) for bits in strings) == 1  # Kraft: complete, and no one begins another
    assert all(not b.startswith(a) for a in strings for b in strings if a != b)
    low, high = merges[0]
    assert strings[low][:-1] == strings[high][:-1]
    assert (strings[low][-1], strings[high][-1]) == ("0", "1")


def test_one_cluster():
    none = np.empty((0, 2), np.int32)
    assert [bit_strings(none, words) for words in range(4)] == [[], ["0"], ["0", ""], ["0", "", ""]]


@given(trees(), st.integers(1, 20))
def test_equal_frequency(tree, classes):
    strings, counts = tree
    cut = equal_frequency(strings, counts, classes)
    assert list(cut) == list(strings)
    kinds, leaves = set(cut.values()), set(strings.values())
    assert len(kinds) == min(classes, len(leaves))
    if classes == 1:
        assert kinds == {"0"}
        return
    assert all(strings[word].startswith(bits) for word, bits in cut.items())
    assert all(not b.startswith(a) for a in kinds for b in kinds if a != b)
    # Whatever was split was no rarer than what could still be.
    frequencies = Counter[str]()
    for word, bits in strings.items():
        for length in range(len(bits) + 1):
            frequencies[bits[:length]] += counts[word]
    split = {bits[:length] for bits in kinds for length in range(len(bits))}
    could = [frequencies[bits] for bits in kinds if bits not in leaves]
    assert min(frequencies[bits] for bits in split) >= max(could, default=0)


@given(trees(), st.integers(1, 8))
def test_fixed_prefixes(tree, length):
    strings, _ = tree
    cut = fixed_prefixes(strings, length)
    assert all(bits == strings[word][:length] for word, bits in cut.items())


def test_bad_arguments():
    for classes in (0, -1):
        with pytest.raises(InputError, match="classes"):
            equal_frequency({"a": "0"}, {"a": 1}, classes)
        with pytest.raises(InputError, match="bits"):
            fixed_prefixes({"a": "0"}, classes)
    assert equal_frequency({}, {}, 4) == {}
