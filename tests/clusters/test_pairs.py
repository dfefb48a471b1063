from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcwise.clusters import pairs
from arcwise.clusters.pairs import PairCounter

sentences = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b"c", "\u00e9".encode(), b"dd"]), max_size=6), max_size=12
)


@given(sentences, st.integers(1, 3), st.integers(1, 20))
def test_counts(text, minimum, buffer):
    before, pairs._BUFFER = pairs._BUFFER, buffer
    try:
        counter = PairCounter()
        for sentence in text:
            tokens = np.array(counter.number(sentence), np.int64)
            counter.add_words(tokens)
            counter.add_neighbours(np.concatenate([[-1], tokens, [-1]]))
        found = counter.counts(minimum)
    finally:
        pairs._BUFFER = before
    words = Counter(word for sentence in text for word in sentence)
    expected = sorted((-n, word) for word, n in words.items() if n >= minimum)
    assert found.words == [word for _, word in expected]
    assert found.occurrences.tolist() == [-n for n, _ in expected]
    kept = set(found.words)
    neighbours = Counter(pair for sentence in text for pair in pairwise(sentence) if kept.issuperset(pair))
    counted = {
        (found.words[w], found.words[x]): n
        for w, x, n in zip(found.first.tolist(), found.second.tolist(), found.numbers.tolist(), strict=True)
    }
    assert counted == neighbours
    assert sorted(zip(found.first.tolist(), found.second.tolist(), strict=True)) == list(
        zip(found.first.tolist(), found.second.tolist(), strict=True)
    )
    assert counter.tokens == words.total()
