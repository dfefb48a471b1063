"""What is known of single words."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.tagging.lexicon import learn_lexicon, lexicon, look_up
from arcwise.tagging.spelling import ATTRIBUTES, CASE, CLASS, FORM, LOWER

KEYS = [3, 5, 2**64 - 1]
ENTRIES = st.lists(
    st.tuples(st.sampled_from(KEYS), st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=20
)
FINE = np.array([1, 1, 2, 3], np.uint32)  # two tags share a fine one


@settings(deadline=None, max_examples=100)
@given(ENTRIES, st.integers(1, 40))
def test_a_lexicon(entries: list[tuple[int, bool, bool, int]], times: int) -> None:
    entries = entries * times
    keys, capitals, first, tags = (list(column) for column in zip(*entries, strict=True))
    arrays, occurrences = learn_lexicon(
        np.array(keys, np.uint64), np.array(capitals), np.array(first), np.array(tags, np.int32), FINE
    )
    counts = Counter(keys)
    assert occurrences.tolist() == [counts[key] for key in keys]
    known = lexicon(arrays)
    asked = np.array([*KEYS, 7], np.uint64)
    spelled, lists = np.ones((len(asked), ATTRIBUTES), np.uint32), np.zeros(len(asked), np.uint16)
    look_up(asked, known, spelled, lists)
    classes = {}
    for key, row, chosen in zip(asked.tolist(), spelled, lists, strict=True):
        allowed = known.tags[known.first[chosen] : known.first[chosen + 1]].tolist()
        if key not in counts:
            assert not row[[FORM, LOWER, CLASS, CASE]].any()
            assert allowed == [0, 1, 2, 3]
            continue
        assert row[FORM] == row[LOWER] == 1
        own = [entry for entry in entries if entry[0] == key]
        assert allowed == (sorted({entry[3] for entry in own}) if len(own) >= 30 else [0, 1, 2, 3])
        fine = Counter(int(FINE[entry[3]]) for entry in own)
        usual = frozenset(name for name, often in fine.items() if often >= 0.05 * len(own))
        classes[key] = int(row[CLASS]), usual if len(own) >= 5 else frozenset()
        inside = [entry[1] for entry in own if not entry[2]]
        assert row[CASE] == (1 + 4 * sum(inside) // len(inside) if len(inside) >= 5 else 0)
    assert len({number for number, _ in classes.values()}) == len({usual for _, usual in classes.values()})
    assert all((number == 0) == (not usual) for number, usual in classes.values())
