"""Brown clustering (Brown et al. 1992, as in Liang 2005): merge the words that least change which word follows which."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.pairs import PairCounts
from arcwise.clusters.window import (
    Logs,
    Window,
    cheapest,
    empty_window,
    enter,
    make_logs,
    merge,
    settle,
    window_bytes,
)
from arcwise.errors import InputError
from arcwise.kernels import kernel
from arcwise.threads import interruptible

MOST_CLUSTERS = 1 << 14  # whose window takes 11 GB
_STEPS = 100  # merges between two looks at what else is going on

Tell = Callable[[NDArray[np.int32], int], None]


class _Earlier(NamedTuple):
    """The pairs of every word with words of lower rank, and with itself.

    starts[w] .. starts[w + 1]: those of w in others, after (how often it follows w) and before (how often it comes before w; 0 for w
    itself). totals[w]: how often w comes first, and second, in all pairs.
    """

    starts: NDArray[np.int64]
    others: NDArray[np.int32]
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    totals: NDArray[np.int64]


def brown_merges(
    counts: PairCounts,
    clusters: int = 1000,
    *,
    done: NDArray[np.int32] | None = None,
    tell: Tell | None = None,
) -> NDArray[np.int32]:
    """All merges, from single words to one cluster, by Brown's algorithm with a window of `clusters` clusters.

    The words are numbered by rank. The first `clusters` of them are a cluster each; then each further word becomes a
    cluster, and the two clusters whose merging loses least of the objective in `window` are merged. At last the
    remaining clusters are merged, the cheapest pair first. A cluster is named after its word of lowest rank; of equal losses
    the pair with the lowest names, in order, is merged. Exact in the arithmetic of `window`, so the same counts
    give the same merges on every run.

    Returns int32[V - 1, 2]: the names of the clusters merged, the lower first, which names the result. The last min(V,
    clusters) - 1 rows merge the final clusters. done: the first merges, if they are known already. tell(merges, k) is called now and
    then with the first k merges found.

    Time O(V C d + C^2 d), where d <= C is how many clusters the sparser of two merged clusters has as neighbours, which is far fewer
    than C for most words; memory 40 C^2 bytes beside the counts. More than MOST_CLUSTERS clusters of as many words are an InputError.

    >>> from arcwise.clusters.pairs import PairCounter
    >>> counter = PairCounter()
    >>> text = b"the cat sees a dog and the dog hears a cat and a cat sees the dog and a dog hears the cat and"
    >>> tokens = np.array(counter.number(text.split()))
    >>> counter.add_words(tokens)
    >>> counter.add_neighbours(tokens)
    >>> counts = counter.counts(minimum=1)
    >>> [(counts.words[low].decode(), counts.words[high].decode()) for low, high in brown_merges(counts)]
    [('a', 'the'), ('and', 'hears'), ('and', 'sees'), ('cat', 'dog'), ('a', 'and'), ('a', 'cat')]
    """
    if clusters < 1:
        raise InputError(f"{clusters} clusters", expected="1 or more")
    words = len(counts.words)
    inside = min(clusters, words)
    if inside > MOST_CLUSTERS:
        raise InputError(
            f"{inside:,} clusters need {window_bytes(inside + 1) / 1e9:,.0f} GB of tables",
            expected=f"{MOST_CLUSTERS:,} at most",
        )
    merges = np.zeros((max(words - 1, 0), 2), np.int32)
    found = 0 if done is None else len(done)
    if done is not None:
        _check_merges(done, words, clusters)
        merges[:found] = done
    earlier, logs = _earlier(counts), make_logs(int(counts.numbers.sum()))
    entered = min(inside + found, words)
    window, parents = _window(earlier, merges[:found], entered, inside + 1, logs)
    slots = np.full(words, -1, np.int64)
    for slot in range(inside + 1):
        if window.rank[slot] >= 0:
            slots[window.rank[slot]] = slot
    while found < len(merges):
        stop = min(found + _STEPS, len(merges))
        interruptible(_grow, window, earlier, parents, slots, inside, found, stop, merges, logs)
        found = stop
        if tell is not None:
            tell(merges, found)
    return merges


def final_clusters(merges: NDArray[np.int32], words: int, clusters: int) -> NDArray[np.int64]:
    """The cluster of every word, by the name of its word of lowest rank, before the final clusters are merged."""
    return _roots(merges[: max(0, words - clusters)], words)


def mutual_information(counts: PairCounts, names: NDArray[np.int64]) -> float:
    """Of the clusters of the two words of a pair, in bits. names[w]: the cluster of word w."""
    total = int(counts.numbers.sum())
    if not total:
        return 0.0
    first, second = names[counts.first], names[counts.second]
    keys, places = np.unique(first * (int(names.max()) + 1) + second, return_inverse=True)
    joint = np.bincount(places, counts.numbers, len(keys))
    left, right = np.bincount(first, counts.numbers), np.bincount(second, counts.numbers)
    s, t = np.divmod(keys, int(names.max()) + 1)
    return float(np.sum(joint * np.log2(joint * total / (left[s] * right[t]))) / total)


def _roots(merges: NDArray[np.int32], words: int) -> NDArray[np.int64]:
    parents = np.arange(words)
    for low, high in merges[::-1].tolist():  # later merges first, so that every parent is final
        parents[high] = parents[low]
    return parents


def _check_merges(merges: NDArray[np.int32], words: int, clusters: int) -> None:
    """Whether these can be the first merges of so many words."""
    inside = min(clusters, words)
    merged = np.zeros(words, np.bool_)
    for k, (low, high) in enumerate(merges.tolist()):
        if not 0 <= low < high < min(inside + k + 1, words) or merged[low] or merged[high]:
            raise InputError(f"merge {k} is of {low} and {high}", expected="two clusters of the window")
        merged[high] = True


def _earlier(counts: PairCounts) -> _Earlier:
    words = len(counts.words)
    first, second, numbers = counts.first, counts.second, counts.numbers
    forward = first >= second  # the pair belongs to its first word
    owners = np.where(forward, first, second)
    order = np.argsort(owners, kind="stable")
    starts = np.zeros(words + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=words), out=starts[1:])
    totals = np.zeros((words, 2), np.int64)
    np.add.at(totals[:, 0], first, numbers)
    np.add.at(totals[:, 1], second, numbers)
    return _Earlier(
        starts,
        np.where(forward, second, first)[order].astype(np.int32),
        np.where(forward, numbers, 0)[order],
        np.where(forward, 0, numbers)[order],
        totals,
    )


def _window(
    earlier: _Earlier, merges: NDArray[np.int32], entered: int, slots: int, logs: Logs
) -> tuple[Window, NDArray[np.int64]]:
    """The window after these merges of the first `entered` words, and the parent of every word: its cluster's name."""
    parents = _roots(merges, len(earlier.totals))
    names = np.unique(parents[:entered])
    slot_of = np.full(len(parents), -1, np.int64)
    slot_of[names] = np.arange(len(names))
    window = empty_window(slots)
    window.rank[: len(names)] = names
    np.add.at(window.left, slot_of[parents[:entered]], earlier.totals[:entered, 0])
    np.add.at(window.right, slot_of[parents[:entered]], earlier.totals[:entered, 1])
    stop = int(earlier.starts[entered])
    owners = np.repeat(np.arange(entered), np.diff(earlier.starts[: entered + 1]))
    own, other = slot_of[parents[owners]], slot_of[parents[earlier.others[:stop]]]
    np.add.at(window.pairs, (own, other), earlier.after[:stop])
    np.add.at(window.pairs, (other, own), earlier.before[:stop])
    settle(window, logs)
    return window, parents


@kernel
def _name(parents: NDArray[np.int64], word: int) -> int:
    """The name of a word's cluster."""
    while parents[word] != word:
        parents[word] = parents[parents[word]]
        word = parents[word]
    return word


@kernel
def _enter_word(
    window: Window,
    earlier: _Earlier,
    parents: NDArray[np.int64],
    slots: NDArray[np.int64],
    word: int,
    logs: Logs,
    gains: NDArray[np.int64],
    places: NDArray[np.int64],
) -> None:
    """A cluster of its own for a word, in the free slot."""
    k = 0
    while window.rank[k] >= 0:
        k += 1
    slots[word], window.rank[k] = k, word
    window.left[k], window.right[k] = earlier.totals[word]
    for i in range(earlier.starts[word], earlier.starts[word + 1]):
        other = slots[_name(parents, earlier.others[i])]
        window.pairs[k, other] += earlier.after[i]
        window.pairs[other, k] += earlier.before[i]
    enter(window, k, logs, gains, places)


@kernel
def _grow(
    window: Window,
    earlier: _Earlier,
    parents: NDArray[np.int64],
    slots: NDArray[np.int64],
    inside: int,
    start: int,
    stop: int,
    merges: NDArray[np.int32],
    logs: Logs,
) -> None:
    """Merges number `start` to `stop`; as long as there are words, each after the next one has entered."""
    gains, places = np.empty(len(window.rank), np.int64), np.empty(len(window.rank), np.int64)
    for step in range(start, stop):
        if inside + step < len(parents):
            _enter_word(window, earlier, parents, slots, inside + step, logs, gains, places)
        u, v = cheapest(window)
        low, high = window.rank[u], window.rank[v]
        free = merge(window, u, v, logs, gains, places)
        merges[step, 0], merges[step, 1] = low, high
        parents[high] = low
        slots[low] = u + v - free
