"""Clusters as kernels look them up, against plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcwise import Clusters, InputError
from arcwise.arrays import Arrays
from arcwise.clusters import lookup
from arcwise.clusters.hierarchy import equal_frequency
from arcwise.clusters.lookup import (
    ALL_BITS,
    CUTS,
    FEW_BITS,
    GRAINS,
    MORE_BITS,
    NO_CLUSTERS,
    ClusterTable,
    bits_of_words,
    cluster_arrays,
    cluster_table,
    find_cluster,
)
from arcwise.features.hash_table import FIRST_NUMBER
from arcwise.features.letters import LONGEST_WORD, letters_of
from tests.tagging.naive import lower

COMMON = st.sampled_from("aAbBzZéÉßİıſ09жЖאة中Ａａ🙂\u0301")
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r") | COMMON
WORDS = st.text(COMMON, min_size=1, max_size=3) | st.text(LETTERS, min_size=1, max_size=8)
LONG = st.builds(
    "".join, st.tuples(st.text("aAb", max_size=3), st.just("xY" * 31), st.text("aAb", max_size=4))
)
ENTRIES = st.dictionaries(
    WORDS | LONG,
    st.tuples(st.text("01", min_size=1, max_size=9), st.integers(0, 99)),
    min_size=1,
    max_size=40,
)


def clusters_of(entries: dict[str, tuple[str, int]]) -> Clusters:
    return Clusters({w: bits for w, (bits, _) in entries.items()}, {w: n for w, (_, n) in entries.items()})


def find(table: ClusterTable, word: str) -> int:
    data, letters = np.frombuffer(word.encode(), np.uint8), np.empty(LONGEST_WORD, np.int32)
    count = letters_of(data, 0, len(data), letters)
    seen = letters.copy()
    found = find_cluster(letters, count, table, np.empty(LONGEST_WORD, np.int32))
    assert (letters[:count] == seen[:count]).all()  # they are looked at again after this
    return int(found)


def plain(clusters: Clusters, cut: str, word: str) -> tuple[str, str, str] | None:
    """The three grains of a word's cluster, as names."""
    bits: dict[str, str] = {}
    for known, string in clusters.bits.items():
        bits.setdefault(
            known[-64:], string
        )  # of a long word its end is looked at, and the first such word counts
    seen = word[-64:]
    string = bits.get(seen) or bits.get(lower(seen)) or ""
    return cut_off(clusters, cut, string) if string else None


def cut_off(clusters: Clusters, cut: str, string: str) -> tuple[str, str, str]:
    """What is known of a cluster."""
    if cut == "bits":
        return string[:4], string[:6], string
    of_strings = [
        {
            clusters.bits[w]: name
            for w, name in equal_frequency(clusters.bits, clusters.counts, classes).items()
        }
        for classes in (16, 64)
    ]
    return of_strings[0][string], of_strings[1][string], string


@settings(deadline=None, max_examples=150)
@given(ENTRIES, st.lists(WORDS | LONG, max_size=10), st.sampled_from(CUTS))
@example({"été": ("0", 1), "ab": ("10", 2), "Ab": ("11", 3)}, ["ÉTÉ", "Été", "AB", "aB", "Ab", "abc"], "bits")
@example({"Paris": ("0", 1)}, ["paris", "PARIS", "Paris"], "bits")  # not the other way round
@example({"x" * 70: ("01", 1), "y" + "x" * 64: ("1", 1)}, ["X" * 64, "x" * 63, "z" + "x" * 64], "frequency")
@example({"a": ("0", 0), "b": ("0", 0)}, ["A", "c"], "frequency")  # one cluster
def test_lookup(entries: dict[str, tuple[str, int]], others: list[str], cut: str) -> None:
    clusters = clusters_of(entries)
    table = cluster_table(cluster_arrays(clusters, cut))
    words = [
        change(word) for word in [*entries, *others] for change in (str, str.upper, str.title, str.lower)
    ]
    words = [word for word in words if word]
    names = [plain(clusters, cut, word) for word in words]
    found = [find(table, word) for word in words]
    assert [row < 0 for row in found] == [name is None for name in names]
    assert bits_of_words(clusters.bits, words) == {
        word: name[ALL_BITS] for word, name in zip(words, names, strict=True) if name is not None
    }
    for grain in (FEW_BITS, MORE_BITS, ALL_BITS):
        kinds = sorted(
            {name[grain] for bits in clusters.bits.values() for name in [cut_off(clusters, cut, bits)]}
        )
        assert [int(table.grains[row, grain]) for row in found if row >= 0] == [
            FIRST_NUMBER + kinds.index(name[grain]) for name in names if name is not None
        ]


@settings(deadline=None, max_examples=50)
@given(ENTRIES, st.sampled_from(CUTS))
def test_numbers_have_no_gaps(entries: dict[str, tuple[str, int]], cut: str) -> None:
    arrays = cluster_arrays(clusters_of(entries), cut)
    grains = arrays["clusters.grains"]
    assert grains.shape == (len({bits for bits, _ in entries.values()}), GRAINS)
    for column in grains.T.tolist():
        assert set(column) == set(range(FIRST_NUMBER, FIRST_NUMBER + len(set(column))))
    assert (np.diff(arrays["clusters.keys"]) > 0).all()


def test_the_order_of_the_file_makes_no_difference() -> None:
    entries = {f"w{k}": (f"{k % 32:05b}", k) for k in range(200)}
    for cut in CUTS:
        one, other = (
            cluster_arrays(clusters_of(dict(items)), cut)
            for items in (entries.items(), reversed(entries.items()))
        )
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])


def test_the_cuts_differ() -> None:
    """By bits, what is frequent stays together; by frequency it is split."""
    entries = {f"w{k}": ("0" * 10 + f"{k:03b}", 100) for k in range(8)} | {"rare": ("1", 1)}
    kinds = {cut: [len(set(column)) for column in
                   cluster_arrays(clusters_of(entries), cut)["clusters.grains"].T.tolist()] for cut in CUTS}  # fmt: skip
    assert kinds == {"bits": [2, 2, 9], "frequency": [9, 9, 9]}


@pytest.mark.parametrize("cut", CUTS)
def test_few_bits_are_fewer_than_more(cut: str) -> None:
    grains = cluster_arrays(clusters_of({f"w{k}": (f"{k:07b}", 1) for k in range(128)}), cut)[
        "clusters.grains"
    ]
    assert [len(set(column)) for column in grains.T.tolist()] == [16, 64, 128]


def test_no_clusters() -> None:
    assert cluster_table({}) is NO_CLUSTERS
    assert cluster_table({"keys": np.zeros(3)}) is NO_CLUSTERS
    assert find(NO_CLUSTERS, "word") == -1


def test_what_cannot_be_stored() -> None:
    with pytest.raises(InputError, match="clusters cut by 'magic', expected bits or frequency"):
        cluster_arrays(Clusters({"a": "0"}, {"a": 1}), "magic")


def test_too_many_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.iinfo(np.uint16).max == lookup._MOST_CLUSTERS - 1
    monkeypatch.setattr(lookup, "_MOST_CLUSTERS", 4)
    four = {f"w{k}": (f"{k:03b}", 1) for k in range(4)}
    assert len(cluster_arrays(clusters_of(four))["clusters.grains"]) == 4
    with pytest.raises(InputError, match="5 clusters, expected 4 at most"):
        cluster_arrays(clusters_of(four | {"more": ("1", 1)}))


def stored() -> Arrays:
    return cluster_arrays(clusters_of({f"w{k}": (f"{k % 5:03b}", k) for k in range(20)}))


KEYS, OF, GRAINS_NAME = "clusters.keys", "clusters.of", "clusters.grains"
DAMAGE: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "keys that are too few": (KEYS, lambda array: array[:-1]),
    "keys in a square": (KEYS, lambda array: array[None]),
    "keys of other integers": (KEYS, lambda array: array.astype(np.int64)),
    "a key that says free": (KEYS, lambda array: np.where(array == array[3], np.uint64(0), array)),
    "clusters that are too few": (OF, lambda array: array[:-1]),
    "clusters in a square": (OF, lambda array: array[None]),
    "clusters of other integers": (OF, lambda array: array.astype(np.int32)),
    "a cluster too many": (OF, lambda array: array + np.uint16(1)),
    "no grains": (GRAINS_NAME, lambda array: array[:0]),
    "grains that are too few": (GRAINS_NAME, lambda array: array[:-1]),
    "grains without a column": (GRAINS_NAME, lambda array: array[:, :-1]),
    "grains in a row": (GRAINS_NAME, lambda array: array.ravel()),
    "grains in a cube": (GRAINS_NAME, lambda array: array[None]),
    "grains of floats": (GRAINS_NAME, lambda array: array.astype(np.float32)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_arrays_are_refused(name: str) -> None:
    array, change = DAMAGE[name]
    with pytest.raises(ValueError, match="clusters"):
        cluster_table(stored() | {array: change(stored()[array])})


@pytest.mark.parametrize("name", [OF, GRAINS_NAME])
def test_missing_arrays_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is missing"):
        cluster_table({other: array for other, array in stored().items() if other != name})


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_any_damage_is_refused_or_harmless(data: st.DataObject) -> None:
    """Bounds are checked in the tests: what would be read outside an array is an IndexError here."""
    arrays = {name: array.copy() for name, array in stored().items()}
    for name in data.draw(st.lists(st.sampled_from(sorted(arrays)), min_size=1, max_size=3)):
        limits = np.iinfo(arrays[name].dtype)
        at = data.draw(st.integers(0, arrays[name].size - 1))
        arrays[name].ravel()[at] = data.draw(
            st.integers(int(limits.min), int(limits.max)) | st.sampled_from(arrays[name].ravel().tolist())
        )
    try:
        table = cluster_table(arrays)
    except ValueError:
        return
    for word in ("w3", "W7", "none"):
        assert -1 <= find(table, word) < len(table.grains)
