from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.trees import block_degrees, check_tree, is_tree, roots


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([], "empty heads"),
        ([-1], "no words"),
        ([0, 0], "heads[0] is 0, expected -1, for the root has no head"),
        ([-1, 2, 4, 0], "the head of word 2 is 4, expected a number from 0 to 3"),
        ([-1, 0, -1], "the head of word 2 is -1"),
        ([-1, 2**40], "the head of word 1 is 1099511627776, expected a number from 0 to 1"),
        ([-1, 0, 2], "word 2 is its own head"),
        ([-1, 0, 3, 2], "the heads form a cycle: 2 -> 3 -> 2, expected a tree"),
        ([-1, 2, 3, 4, 2, 0], "the heads form a cycle: 2 -> 3 -> 4 -> 2, expected a tree"),
        ([-1, 2, 1], "no word has head 0, expected a root"),
        (
            [-1, *range(2, 31), 1, 0],
            "1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 10 -> 11 -> ... -> 1, expected",
        ),
        ([-1.0, 0.0], "heads of shape (2,) and type float64, expected one row of integers"),
        ([[-1, 0]], "heads of shape (1, 2)"),
        ([[-1], [0, 1]], "expected one row of integers"),
        ([-1, None], "expected one row of integers"),
        ("heads", "expected one row of integers"),
        (None, "expected one row of integers"),
    ],
)
def test_what_is_wrong_is_said(heads: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        check_tree(heads)
    assert message in str(error.value)
    assert not is_tree(heads)


def test_a_single_root_only_if_asked_for() -> None:
    heads = [-1, 0, 1, 0]
    assert is_tree(heads)
    assert roots(heads).tolist() == [1, 3]
    with pytest.raises(InputError, match="words 1, 3 are roots, expected exactly one root"):
        check_tree(heads, single_root=True)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_any_integers_will_do(dtype: type) -> None:
    heads: np.ndarray = np.array([-1, 9, 2, 9, 0, 9], dtype)[::2]
    checked = check_tree(heads)
    assert checked.tolist() == [-1, 2, 0]
    assert checked.dtype == np.int32
    assert checked.flags.c_contiguous


@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(-2, 7), max_size=7))
def test_any_list_is_a_tree_or_refused(words: list[int]) -> None:
    n = len(words)
    reaches = n > 0 and all(0 <= head <= n for head in words)
    for word in range(1, n + 1) if reaches else ():
        for _ in range(n):
            word = words[word - 1] if word else 0
        reaches = reaches and word == 0
    assert is_tree([-1, *words]) == reaches
    if not reaches:
        with pytest.raises(InputError):
            block_degrees([-1, *words])
