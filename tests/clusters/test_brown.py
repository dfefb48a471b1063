from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcwise import InputError
from arcwise.clusters import brown, window
from arcwise.clusters.brown import brown_merges, final_clusters, mutual_information
from arcwise.clusters.pairs import PairCounter, PairCounts
from arcwise.clusters.window import make_logs, settle
from tests.clusters.plain import objective, plain_merges


def counted(sentences: list[list[int]], minimum: int = 1) -> PairCounts:
    counter = PairCounter()
    for sentence in sentences:
        tokens = np.array(counter.number(f"w{word}".encode() for word in sentence), np.int64)
        counter.add_words(tokens)
        counter.add_neighbours(tokens)
    return counter.counts(minimum)


texts = st.lists(st.lists(st.integers(0, 9), max_size=12), min_size=1, max_size=8).map(counted)


@settings(deadline=None)
@given(texts, st.integers(1, 12))
def test_merges_are_those_of_the_plain_algorithm(counts, clusters):
    logs = make_logs(int(counts.numbers.sum()))
    exact = plain_merges(counts, clusters, lambda n: int(logs.table[n]))
    assert brown_merges(counts, clusters).tolist() == exact


@settings(deadline=None)
@given(texts, st.integers(1, 12), st.integers(1, 4))
def test_logarithms_that_are_in_no_table(counts, clusters, size):
    """As of the counts of large texts."""
    unit = make_logs(int(counts.numbers.sum())).unit
    exact = plain_merges(counts, clusters, lambda n: round(math.log(n) * unit))
    before, window._TABLE = window._TABLE, size
    try:
        assert len(make_logs(int(counts.numbers.sum())).table) <= size
        assert brown_merges(counts, clusters).tolist() == exact
    finally:
        window._TABLE = before


@settings(deadline=None)
@given(texts, st.integers(1, 12))
def test_every_merge_is_as_good_as_the_best_in_real_numbers(counts, clusters):
    names = {w: w for w in range(min(clusters, len(counts.words)))}
    for step, (low, high) in enumerate(brown_merges(counts, clusters).tolist()):
        if clusters + step < len(counts.words):
            names[clusters + step] = clusters + step

        def merged(low: int, high: int, names: dict[int, int] = names) -> dict[int, int]:
            return {w: low if name == high else name for w, name in names.items()}

        alive = sorted(set(names.values()))
        best = max(objective(counts, merged(u, v)) for u in alive for v in alive if u < v)
        assert objective(counts, merged(low, high)) == pytest.approx(best, abs=1e-6)
        names = merged(low, high)


@settings(deadline=None)
@given(texts, st.integers(1, 12))
def test_mutual_information(counts, clusters):
    words = len(counts.words)
    names = final_clusters(brown_merges(counts, clusters), words, clusters)
    assert len(set(names.tolist())) == min(words, clusters)
    total = int(counts.numbers.sum())
    expected = 0.0
    if total:
        nats = objective(counts, dict(enumerate(names.tolist()))) / total + math.log(total)
        expected = nats / math.log(2)
    assert mutual_information(counts, names) == pytest.approx(expected, abs=1e-9)
    assert -1e-9 <= expected <= mutual_information(counts, np.arange(words)) + 1e-9


@settings(deadline=None)
@given(texts, st.integers(1, 12), st.data())
def test_a_run_goes_on_from_any_merge(counts, clusters, data):
    merges = brown_merges(counts, clusters)
    done = data.draw(st.integers(0, len(merges)))
    assert brown_merges(counts, clusters, done=merges[:done]).tolist() == merges.tolist()


def random_counts(seed: int, words: int, tokens: int) -> PairCounts:
    """Words as frequent as in texts, of which each goes best with some others."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.3, tokens), words)
    text = (ranks + np.roll(ranks, 1) * rng.integers(0, 2, tokens)) % words
    return counted(text.reshape(-1, 20).tolist())


def test_what_is_kept_up_to_date_is_what_is_computed_anew(monkeypatch):
    counts = random_counts(1, 300, 20_000)
    logs = make_logs(int(counts.numbers.sum()))
    grow, looks = brown._grow, []

    def watched(window, *arguments):
        grow(window, *arguments)
        anew = window._replace(**{name: array.copy() for name, array in window._asdict().items()})
        settle(anew, logs)
        alive = window.rank >= 0
        for name in ("turned", "shared", "own", "left_inside", "right_inside"):
            kept, fresh = (getattr(one, name)[alive] for one in (window, anew))
            if kept.ndim == 2:
                kept, fresh = (
                    table[:, alive] * (1 - np.eye(alive.sum(), dtype=int)) for table in (kept, fresh)
                )
            assert (kept == fresh).all(), name
        looks.append(alive.sum())

    monkeypatch.setattr(brown, "_grow", watched)
    monkeypatch.setattr(brown, "_STEPS", 7)
    brown_merges(counts, 40)
    assert min(looks) == 1
    assert max(looks) == 40


def test_progress_and_going_on_in_the_middle():
    counts = random_counts(2, 400, 20_000)
    told: dict[int, NDArray[np.int32]] = {}

    def tell(merges: NDArray[np.int32], k: int) -> None:
        told[k] = merges[:k].copy()

    merges = brown_merges(counts, 30, tell=tell)
    assert list(told)[-1] == len(merges)
    assert len(told) > 2
    for done in told.values():
        assert (brown_merges(counts, 30, done=done) == merges).all()


@pytest.mark.parametrize(
    "done", [[[0, 0]], [[1, 0]], [[0, 9]], [[-1, 0]], [[0, 1], [1, 2]], [[0, 2], [1, 2]]]
)
def test_merges_that_cannot_be_are_refused(done):
    with pytest.raises(InputError, match="two clusters of the window"):
        brown_merges(counted([[0, 1, 2, 3, 4]]), 3, done=np.array(done, np.int32))


def test_fewer_words_than_clusters():
    counts = counted([[0, 1], [0, 2]])
    assert len(brown_merges(counts, 1000)) == 2
    assert brown_merges(counted([[0, 0]]), 1000).shape == (0, 2)
    assert brown_merges(counted([[]]), 1000).shape == (0, 2)
    with pytest.raises(InputError, match="0 clusters"):
        brown_merges(counts, 0)


def test_more_clusters_than_memory(monkeypatch):
    """It is the clusters that there will be that count, not those asked for."""
    words = 140_000
    none = np.empty(0, np.int64)
    counts = PairCounts([b""] * words, np.ones(words, np.int64), none, none, none)
    with pytest.raises(InputError, match="140,000 clusters need 784 GB of tables, expected 16,384 at most"):
        brown_merges(counts, 10**9)
    monkeypatch.setattr(brown, "MOST_CLUSTERS", 3)
    assert len(brown_merges(counted([[0, 1, 2]]), 10**9)) == 2
    assert len(brown_merges(counted([[0, 1, 2, 3, 4]]), 3)) == 4
    with pytest.raises(InputError, match="4 clusters"):
        brown_merges(counted([[0, 1, 2, 3, 4]]), 4)


def test_logarithms_stay_in_64_bits():
    for total in (0, 1, 10, 10**7, 10**9, 10**12):
        logs = make_logs(total)
        assert 4 * total * math.log(max(total, 1)) * logs.unit < 2**63
        assert logs.unit >= 2**15
