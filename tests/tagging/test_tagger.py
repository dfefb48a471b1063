"""The tagger as a whole; and arrays of strangers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.arrays import Arrays
from arcwise.errors import InputError
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.training import mean_tagger, read_words
from arcwise.treebank.block import LEMMA, UPOS
from tests.tagging import naive
from tests.tagging.corpora import conllu_block, data_blocks, learn, small_tagger, toy_tagger, toy_text

ODD = [["\u202e", "🙂" * 300, "_", "1-2", "a b", "\u0301", "x" * 3000], ["-"], ["A"] * 500]


def test_what_was_stored_is_what_was_learned() -> None:
    tagger = small_tagger()
    read_only = {
        name: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape) for name, a in tagger.arrays.items()
    }
    again = Tagger(read_only, dict(tagger.header))
    for block in data_blocks("train.conllu"):
        assert again.tag(block, anew=True).data.tobytes() == tagger.tag(block, anew=True).data.tobytes()


def test_threads() -> None:
    blocks = data_blocks("train.conllu") * 8
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda block: small_tagger().tag(block, anew=True).data.tobytes(), blocks))
    alone = [small_tagger().tag(block, anew=True).data.tobytes() for block in blocks]
    assert found == alone


def test_odd_words() -> None:
    tagged = small_tagger().tag(naive.block_of(ODD))
    assert all(tag != "_" for tag in tagged.column(UPOS))
    assert tagged.column(LEMMA)[1] == "🙂" * 300


def test_a_line_that_becomes_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="line"):
        small_tagger().tag(naive.block_of([["a"], ["x" * 700_000]]))


def test_a_treebank_without_tags_gives_no_words() -> None:
    assert read_words([naive.block_of([["a", "b"]])]) is None
    assert read_words([naive.block_of([["a", "b"]]), conllu_block(toy_text(1))]) is not None


def test_the_mean_of_taggers() -> None:
    one, other = (learn(data_blocks(), bits=10, epochs=1, seed=seed) for seed in (0, 1))
    mean = mean_tagger([one, other])
    sums = sum(tagger.arrays["table"] * tagger.header["unit"] for tagger in (one, other))
    np.testing.assert_allclose(
        mean.arrays["table"] * mean.header["unit"], sums, atol=0.51 * mean.header["unit"]
    )
    for name in other.arrays.keys() - {"table"}:
        assert mean.arrays[name] is other.arrays[name]
    assert mean_tagger([one]).arrays["table"].tobytes() == one.arrays["table"].tobytes()


# Arrays of strangers


def leap(array: np.ndarray) -> np.ndarray:
    """From 0 to the same end, but far outside on the way: in 32 bits all steps look small and positive."""
    leaping = array.copy()
    leaping[1 : len(array) - 1] = (
        np.linspace(1, 2**32 - 1, len(array))[1:-1].astype(np.int64).astype(np.int32)
    )
    return leaping


def reversed_steps(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array[:1], array[-2:0:-1], array[-1:]])


DAMAGE: dict[str, Callable[[np.ndarray], Any]] = {
    "shorter": lambda array: array[:-1].copy(),
    "longer": lambda array: np.concatenate([array, array[-1:]]),
    "empty": lambda array: array[:0].copy(),
    "square": lambda array: array[None],
    "of floats": lambda array: array.astype(np.float32),
    "of other integers": lambda array: array.astype(np.int64),
}
PLACED: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "a list before the first": ("lexicon.first", lambda array: array - 1),
    "lists that leap": ("lexicon.first", leap),
    "lists that go back": ("lexicon.first", reversed_steps),
    "a list without tags": ("lexicon.first", lambda array: np.concatenate([array, array[-1:]])),
    "a tag too many": ("lexicon.tags", lambda array: array + 1),
    "a tag too few": ("lexicon.tags", lambda array: array - 1),
    "a list too many": ("lexicon.lists", lambda array: array + 60_000),
    "no key": ("lexicon.keys", lambda array: array * 0),
    "letters that leap": ("lemmas.first", leap),
    "letters that go back": ("lemmas.first", reversed_steps),
    "no letter": ("lemmas.letters", lambda array: array - 2**21),
    "letters beyond all": ("lemmas.letters", lambda array: array + 2**21),
    "half letters": ("lemmas.letters", lambda array: array * 0 + 0xD800),
    "a tab": ("lemmas.letters", lambda array: array * 0 + 9),
    "a line end": ("lemmas.letters", lambda array: array * 0 + 10),
    "a rule too many": ("lemmas.numbers", lambda array: array + 60_000),
    "no lemma's key": ("lemmas.keys", lambda array: array * 0),
}


def refused(arrays: Arrays, header: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, OverflowError)):
        Tagger(arrays, header)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_arrays_are_refused(damage: str) -> None:
    for tagger in (toy_tagger(), small_tagger()):
        for name, array in tagger.arrays.items():
            damaged = DAMAGE[damage](array)
            if damaged.dtype != array.dtype or damaged.shape != array.shape:
                refused(tagger.arrays | {name: damaged}, tagger.header)


@pytest.mark.parametrize("damage", PLACED)
def test_arrays_that_lead_outside_are_refused(damage: str) -> None:
    name, change = PLACED[damage]
    arrays = small_tagger().arrays
    refused(arrays | {name: change(arrays[name]).astype(arrays[name].dtype)}, small_tagger().header)


def test_missing_arrays_are_refused() -> None:
    tagger = small_tagger()
    for name in tagger.arrays.keys() - {"lemmas.keys"}:
        refused({other: array for other, array in tagger.arrays.items() if other != name}, tagger.header)


WRONG: list[dict[str, Any]] = [
    {"bits": 5}, {"bits": 29}, {"bits": 13}, {"bits": None}, {"bits": "x"}, {"bits": float("inf")}, {"tags": []},
    {"tags": None}, {"tags": [["X", "Y"]]}, {"tags": [["X", "Y", "Z"]]}, {"tags": 5}, {"fine": None}, {"fine": 5},
    {"templates": "Q"}, {"templates": "T+1"}, {"templates": "     ".join(["W"] * 300)}, {"templates": None},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(wrong)[:30])
def test_wrong_headers_are_refused(wrong: dict[str, Any]) -> None:
    refused(small_tagger().arrays, small_tagger().header | wrong)


@pytest.mark.parametrize("name", ["\ud800", "a\tb", "a\nb", ""])
def test_names_that_would_break_the_columns_are_refused(name: str) -> None:
    tags = [(name, *tag[1:]) if tag == tagged else tag for tagged in small_tagger().tagset.tags[:1]
            for tag in small_tagger().tagset.tags]  # fmt: skip
    refused(small_tagger().arrays, small_tagger().header | {"tags": tags})


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_damage_is_refused_or_harmless(data: st.DataObject) -> None:
    """Bounds are checked in the tests: what would be read outside an array is an IndexError here."""
    arrays = dict(small_tagger().arrays)
    for name in data.draw(
        st.lists(st.sampled_from(sorted(arrays.keys() - {"table"})), min_size=1, max_size=2)
    ):
        changed = arrays[name].copy()
        at = data.draw(st.integers(0, len(changed) - 1))
        limits = np.iinfo(changed.dtype)
        changed[at] = data.draw(st.integers(int(limits.min), int(limits.max)) | st.integers(0, 100))
        arrays[name] = changed
    try:
        tagger = Tagger(arrays, small_tagger().header)
    except ValueError:
        return
    block = naive.block_of([*ODD, *naive.forms(data_blocks()[0])[:20]])
    tagged = tagger.tag(block)
    assert len(tagged) == len(block)
    assert naive.forms(tagged) == naive.forms(block)
