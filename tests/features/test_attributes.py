"""Attributes against their definitions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import Clusters
from arcwise.clusters.lookup import CUTS, NO_CLUSTERS, ClusterTable, cluster_arrays, cluster_table
from arcwise.features.attributes import (
    ATTRIBUTES,
    CLUSTER,
    COLUMNS,
    EVERY,
    FORM,
    FREQUENT,
    LEMMA,
    MORPHOLOGY,
    MOST_FEATURES,
    SUFFIX,
    XPOS,
    collect_keys,
    number_words,
    vocabulary,
)
from arcwise.features.hash_table import ROOT, UNKNOWN, hash_table
from arcwise.features.hashing import hash_bytes
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import CONLLU, FORMATS
from arcwise.treebank.sentence import Sentence
from tests.clusters.test_lookup import plain
from tests.features.naive import assert_one_to_one, block_attributes
from tests.treebank.examples import ALL

Words = list[tuple[str, str, str, str, str]]

letters = st.text("abcé日𝔘_", min_size=1, max_size=7)
values = st.one_of(st.just("_"), letters)
features = st.lists(st.sampled_from([f"N{i}=v" for i in range(20)] + ["x"]), min_size=1, max_size=15)
words = st.tuples(letters, values, values, values, st.one_of(st.just("_"), features.map("|".join)))
sentences = st.lists(words, min_size=1, max_size=6)


def block_of(*sentences: Words) -> Block:
    """A block of sentences whose words are (form, lemma, upos, xpos, feats)."""
    texts = []
    for sentence in sentences:
        forms, lemmas, upos, xpos, feats = zip(*sentence, strict=True)
        texts.append(Sentence.from_words(forms, lemmas=lemmas, upos=upos, xpos=xpos, feats=feats).to_bytes())
    return index_block(b"".join(texts), CONLLU)[0]


def word_numbers(block: Block, keys: np.ndarray, clusters: ClusterTable = NO_CLUSTERS) -> np.ndarray:
    """The rows of the words alone."""
    numbers = number_words(block.data, block.starts, block.stops, block.words, vocabulary(keys, clusters))
    roots = block.words[:-1] + np.arange(len(block))
    assert (numbers[roots] == ROOT).all()
    return np.delete(numbers, roots, axis=0)


def check_numbers(known: Block, other: Block) -> None:
    """The numbers of `other`, when the vocabulary is that of `known`, are those of the definitions."""
    keys = collect_keys([known])
    names = [name for word in block_attributes(known) for name in word if name is not None]
    numbers = [
        number
        for word, row in zip(block_attributes(known), word_numbers(known, keys), strict=True)
        for name, number in zip(word, row, strict=True)
        if name is not None
    ]
    assert len(keys) == len(set(names))
    assert min(numbers) > ROOT
    assert_one_to_one(names, numbers)
    number_of = dict(zip(names, numbers, strict=True))
    for word, row in zip(block_attributes(other), word_numbers(other, keys), strict=True):
        assert row.tolist() == [number_of.get(name, UNKNOWN) for name in word]  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(st.lists(sentences, min_size=1, max_size=4), st.lists(sentences, min_size=1, max_size=4))
def test_numbers_follow_the_definitions(known: list[Words], other: list[Words]) -> None:
    check_numbers(block_of(*known), block_of(*other))


def test_an_attribute_knows_nothing_of_another() -> None:
    """All short values: what is known as one attribute must not be known as another."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    known = block_of(
        [(a + "x", b, "U", "P", "F=1") for a, b in zip(alphabet[::2], alphabet[1::2], strict=True)]
    )
    other = block_of([(a + "x", a, a, a, a) for a in alphabet + alphabet.upper()])
    check_numbers(known, other)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str) -> None:
    block = index_block(ALL[name].encode(), FORMATS[name])[0]
    assert len(block) == 2
    check_numbers(block, block)
    check_numbers(block_of([("They", "they", "PRP", "PRP", "pl"), ("x", "_", "_", "_", "_")]), block)


def test_fallbacks_count_letters_not_bytes() -> None:
    known = block_of([("日本語学校です", "_", "N", "_", "A=1")])
    keys = collect_keys([known])
    same = block_of([("日本語学校だった", "_", "N", "_", "A=1"), ("学校です", "_", "N", "_", "A=2")])
    one, two = word_numbers(same, keys)
    row = word_numbers(known, keys)[0]
    assert one[LEMMA] == row[LEMMA]
    assert one[SUFFIX] == UNKNOWN
    assert one[XPOS] == row[XPOS]
    assert two[LEMMA] == UNKNOWN
    assert two[SUFFIX] == row[SUFFIX]
    assert two[XPOS] == UNKNOWN


def test_morphology_beyond_the_twelfth_is_dropped() -> None:
    feats = [f"N{i:02}=v" for i in range(30)]
    block = block_of([("a", "a", "U", "P", "|".join(feats))])
    row = word_numbers(block, collect_keys([block]))[0]
    assert len(row) == COLUMNS
    assert len(ATTRIBUTES) + MOST_FEATURES == FREQUENT
    assert (row[FREQUENT:] == UNKNOWN).all()
    assert (row[MORPHOLOGY:FREQUENT] != UNKNOWN).all()
    assert len(set(row[MORPHOLOGY:FREQUENT].tolist())) == MOST_FEATURES
    fewer = block_of([("a", "a", "U", "P", "|".join(feats[:MOST_FEATURES]))])
    np.testing.assert_array_equal(
        word_numbers(fewer, collect_keys([block]))[0, MORPHOLOGY:FREQUENT], row[MORPHOLOGY:FREQUENT]
    )


def test_a_line_of_nearly_a_megabyte() -> None:
    block = block_of([("é" * 250_000, "_", "_", "_", "|".join(["A=1"] * 100_000))])
    check_numbers(block, block)


@settings(deadline=None, max_examples=20)
@given(st.lists(sentences, min_size=2, max_size=8), st.data())
def test_the_vocabulary_does_not_depend_on_blocks(treebank: list[Words], data: st.DataObject) -> None:
    whole = collect_keys([block_of(*treebank)])
    order = data.draw(st.permutations(treebank))
    cut = data.draw(st.integers(1, len(treebank) - 1))
    np.testing.assert_array_equal(collect_keys([block_of(*order[:cut]), block_of(*order[cut:])]), whole)
    assert (np.diff(whole) > 0).all()


def test_an_empty_vocabulary_knows_nothing() -> None:
    keys = collect_keys([])
    assert keys.dtype == np.uint64
    assert len(keys) == 0
    assert (word_numbers(block_of([("a", "b", "c", "d", "E=f")]), keys) == UNKNOWN).all()


# Clusters, and the forms seen beside them

shouted = st.text("abcéABCÉ", min_size=1, max_size=2)
texts = st.lists(
    st.lists(shouted.map(lambda form: (form, "_", "X", "_", "A=1")), min_size=1, max_size=9),
    min_size=1,
    max_size=4,
)
clusters = st.dictionaries(shouted, st.text("01", min_size=1, max_size=8), min_size=1, max_size=12)


def form_key(form: str) -> int:
    data = np.frombuffer(form.encode(), np.uint8)
    return int(hash_bytes(data, 0, len(data), FORM))


@settings(deadline=None, max_examples=100)
@given(texts, texts, clusters, st.integers(0, 8), st.sampled_from(CUTS))
def test_clusters_and_frequent_forms(
    known: list[Words], other: list[Words], bits: dict[str, str], frequent: int, cut: str
) -> None:
    found = Clusters(bits, {word: 1 + len(word) for word in bits})
    table = cluster_table(cluster_arrays(found, cut))
    keys = collect_keys([block_of(*known)], frequent)
    counts = Counter(word[0] for sentence in known for word in sentence)
    # Of equally frequent forms those of lowest hash: any order will do, if it is always the same.
    most = sorted(counts, key=lambda form: (-counts[form], form_key(form)))[:frequent]
    forms = [word[0] for sentence in [*known, *other] for word in sentence]
    block = block_of(*known, *other)
    numbers = word_numbers(block, keys, table)

    expected = [form if form in most else None for form in forms]
    assert_one_to_one([None, *expected], [UNKNOWN, *numbers[:, FREQUENT].tolist()])
    grains = [plain(found, cut, form) or (None, None, None) for form in forms]
    for grain, column in enumerate(numbers[:, CLUSTER:].T.tolist()):
        assert_one_to_one([None, *(names[grain] for names in grains)], [UNKNOWN, *column])
    # All else is as it is without them.
    without = word_numbers(block, keys)
    np.testing.assert_array_equal(numbers[:, :FREQUENT], without[:, :FREQUENT])
    assert (without[:, FREQUENT:] == UNKNOWN).all()


def test_frequent_forms_do_not_depend_on_blocks() -> None:
    """Ten forms, all equally frequent but one."""
    treebank: list[Words] = [[(form, "_", "X", "_", "_")] for form in "abcdefghija"]
    whole = collect_keys([block_of(*treebank)], 4)
    assert len(whole) == len(collect_keys([block_of(*treebank)])) + 4
    for cut in range(1, len(treebank)):
        np.testing.assert_array_equal(
            collect_keys([block_of(*treebank[cut:]), block_of(*treebank[:cut])], 4), whole
        )
    # With as many as there are, or more, all are.
    table = cluster_table(cluster_arrays(Clusters({"z": "0"}, {"z": 1})))
    for frequent, seen in ((0, 0), (1, 2), (4, 5), (10, 11), (800, 11)):
        column = word_numbers(block_of(*treebank), collect_keys([block_of(*treebank)], frequent), table)[
            :, FREQUENT
        ]
        assert np.count_nonzero(column) == seen


@settings(deadline=None, max_examples=100)
@given(texts, st.integers(0, 8))
def test_words_beyond_the_most_frequent_are_unknown(treebank: list[Words], words: int) -> None:
    """By form and by lemma, each on its own; all else is known."""
    block = block_of(*treebank)
    whole, limited = (word_numbers(block, collect_keys([block], 4, known)) for known in (EVERY, words))
    for column in (FORM, LEMMA):
        counts = Counter(whole[:, column].tolist())
        left = {*whole[limited[:, column] != UNKNOWN, column].tolist()}
        assert len(left) == min(words, len(counts))
        assert sum(counts[name] for name in left) == sum(count for _, count in counts.most_common(words))
        assert_one_to_one(
            [name if name in left else None for name in [None, *whole[:, column].tolist()]],
            [UNKNOWN, *limited[:, column].tolist()],
        )
    others = [column for column in range(COLUMNS) if column not in (FORM, LEMMA)]
    assert_one_to_one(whole[:, others].ravel().tolist(), limited[:, others].ravel().tolist())


@settings(deadline=None, max_examples=40)
@given(
    st.one_of(
        st.lists(st.integers(1, 2**64 - 1), unique=True, max_size=60),
        st.lists(st.integers(1, 2**16 - 1).map(lambda k: k << 48), unique=True, max_size=60),  # all collide
        st.lists(st.integers(1, 40).map(lambda k: 2**64 - k), unique=True, max_size=40),  # at the table's end
    )
)
def test_the_hash_table_holds_every_key_once(values: list[int]) -> None:
    keys = np.sort(np.array(values, np.uint64))
    slots, numbers = hash_table(keys)
    size = len(slots)
    assert size & (size - 1) == 0
    assert 2 * len(keys) <= size
    assert sorted(slots[slots != 0].tolist()) == keys.tolist()
    for number, key in enumerate(keys.tolist(), start=4):
        at = key % size
        while slots[at] != key:
            assert slots[at] != 0, "a search would end before it finds the key"
            at = (at + 1) % size
        assert numbers[at] == number
