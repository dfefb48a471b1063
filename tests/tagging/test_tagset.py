"""Tags and their parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.tagging.tagset import MOST_PARTS, MOST_TAGS, Tagset

NAMES = st.sampled_from(["_", "A", "B", "C"])
FEATURES = st.lists(st.sampled_from(["Case=Acc", "Case=Nom", "Number=Sing"]), unique=True).map(
    lambda names: "|".join(sorted(names)) or "_"
)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(NAMES, NAMES, FEATURES), min_size=1, max_size=30))
def test_the_parts_say_what_a_tag_is(tags: list[tuple[str, str, str]]) -> None:
    tagset = Tagset.of(tags)
    assert tagset.tags == sorted(set(tags))
    rows = [tuple(part for part in row if part >= 0) for row in tagset.parts.tolist()]
    assert len(set(rows)) == len(rows)
    assert {part for row in rows for part in row} == set(range(tagset.count))
    for row, (_, xpos, feats) in zip(rows, tagset.tags, strict=True):
        assert len(row) == 1 + (xpos in tagset.fine) + len(feats.split("|"))
    assert tagset.parts[:, -1].tolist() == [-1] * len(rows)  # kernels may rely on an end
    for tag, other, a, b in zip(
        tagset.tags, tagset.tags[1:], tagset.history, tagset.history[1:], strict=False
    ):
        assert (tag[0] == other[0]) == (a[0] == b[0])
        assert a[2] + 1 == b[2]
    several = len({tag[1] for tag in tags}) > 1  # else the features take the part of the fine tags
    fine = {(tag[0], tag[1 if several else 2]) for tag in tags}
    assert len(set(tagset.history[:, 1].tolist())) == len(fine)
    again = Tagset(tagset.tags, tagset.fine)
    np.testing.assert_array_equal(again.parts, tagset.parts)
    np.testing.assert_array_equal(again.history, tagset.history)


def test_rare_fine_tags_are_no_parts_of_their_own() -> None:
    tags = [("X", f"T{i}", "_") for i in range(400) for _ in range(1 + (i < 150))]
    tagset = Tagset.of(tags)
    assert set(tagset.fine) == {f"T{i}" for i in range(150)}
    assert tagset.count == 152
    assert len(np.unique(tagset.history[:, 1])) == 400


def test_tagsets_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="0 tags"):
        Tagset([], [])
    with pytest.raises(ValueError, match="all different"):
        Tagset([("X", "_", "_")] * 2, [])
    with pytest.raises(ValueError, match=f"at most {MOST_PARTS}"):
        Tagset([("X", "_", f"F={i}") for i in range(MOST_PARTS)], [])
    with pytest.raises(ValueError, match=f"1 to {MOST_TAGS}"):
        Tagset([("X", str(i), "_") for i in range(MOST_TAGS + 1)], [])
