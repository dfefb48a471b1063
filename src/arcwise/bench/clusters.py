"""What `arcwise bench` measures of Brown clustering: text in memory to clusters, beside another package and beside counting alone.

The text is of an invented language: a chain of classes of words, in each of which few words are frequent. All words are clustered.
Beside the other package the text is one sentence: that package counts words at the ends of sentences in another way, which tells
nothing of either, and on one sentence both look for the same clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import partial
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, set_num_threads

from arcwise.bench.row import Row
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.clusters.brown import mutual_information
from arcwise.clusters.clustering import Clustering, cluster
from arcwise.clusters.corpora import TEXT, count_corpus
from arcwise.clusters.pairs import PairCounter

_PEER = "brown-clustering"
_CLASSES, _LENGTH = 40, 20  # of words; of sentences
_SMOOTHING = 1e-6  # of the peer, which cannot do without; with its default, 1, its clusters are far worse


class Size(NamedTuple):
    """tokens: of the text. words: different ones, at most. clusters: that they are put into."""

    tokens: int
    words: int
    clusters: int

    def __str__(self) -> str:
        return f"{self.tokens:,} words, at most {self.words:,} different ones, {self.clusters:,} clusters"


_BESIDE = Size(40_000, 2_000, 150)
_LARGE = (Size(200_000, 10_000, 500), Size(1_000_000, 20_000, 500), Size(1_000_000, 20_000, 1000))


def rows(
    rounds: int = 30, say: Say = silent, beside: Size = _BESIDE, large: Sequence[Size] = _LARGE
) -> list[Row]:
    """All figures of this part."""
    result = _beside_the_peer(beside, max(1, rounds // 6), say)
    for size in large:
        say(f"clusters of {size}")
        text = make_text(size)
        actions: dict[str, Action] = {"ours": partial(_ours, text, size), "counting": partial(_count, text)}
        spent = medians(actions, max(1, rounds // 10))
        ours, counting = (spent[name] / size.tokens for name in ("ours", "counting"))
        result.append(Row(f"clusters of {size}: a word", ours, "us", "counting the pairs alone", counting))
    return result


def make_text(size: Size, seed: int = 0) -> bytes:
    """So many words, a sentence a line.

    >>> make_text(Size(40, 80, 2)).count(b"\\n")
    2
    """
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.dirichlet(np.full(_CLASSES, 0.1), _CLASSES), axis=1)
    sentences, kinds = size.tokens // _LENGTH, size.words // _CLASSES
    words = np.empty((sentences, _LENGTH), np.int64)
    state = rng.integers(_CLASSES, size=sentences)
    for place in range(_LENGTH):
        chance = rng.random(sentences)[:, None]
        state = np.minimum(np.count_nonzero(chance > steps[state], axis=1), _CLASSES - 1)
        words[:, place] = state + _CLASSES * (np.floor(kinds ** rng.random(sentences)).astype(np.int64) - 1)
    return "".join(f"{' '.join(map(str, line))}\n" for line in words.tolist()).encode()


def _ours(text: bytes, size: Size) -> Clustering:
    return cluster([BytesIO(text)], clusters=size.clusters, minimum=1, format=TEXT)


def _count(text: bytes) -> PairCounter:
    counter = PairCounter()
    count_corpus(BytesIO(text), counter, format=TEXT)
    counter.counts(1)
    return counter


def _beside_the_peer(size: Size, rounds: int, say: Say) -> list[Row]:
    """Time, and how much of the mutual information of the words is that of their clusters."""
    say(f"clusters of {size}, {rounds} times")
    text = make_text(size).replace(b"\n", b" ")
    actions: dict[str, Action] = {"ours": partial(_ours, text, size)}
    found = _ours(text, size)
    spent_by_peer = kept_by_peer = None
    try:
        package: Any = import_module("brown_clustering")
    except ImportError:
        spent = medians(actions, rounds)
    else:
        sentences = [text.decode().split()]
        actions[_PEER] = partial(_peers, package, sentences, size.clusters)
        threads = get_num_threads()
        set_num_threads(1)
        try:
            spent = medians(actions, rounds)
            clusters = _peers(package, sentences, size.clusters)
        finally:
            set_num_threads(threads)
        spent_by_peer = spent[_PEER] / 1e6
        kept_by_peer = 100 * _information(text, clusters) / found.of_words
    ours, kept = spent["ours"] / 1e6, 100 * found.information / found.of_words
    return [
        Row(f"clusters of {size}", ours, "s", _PEER, spent_by_peer),
        Row("mutual information of words that they keep", kept, "%", _PEER, kept_by_peer),
    ]


def _peers(package: Any, sentences: list[list[str]], clusters: int) -> list[list[str]]:
    """The peer's clusters of lists of words; what it tells of its progress is for nobody."""
    with redirect_stderr(StringIO()):
        corpus = package.BigramCorpus(sentences, alpha=_SMOOTHING)
        found: list[list[str]] = package.BrownClustering(corpus, m=clusters).train()
    return found


def _information(text: bytes, clusters: list[list[str]]) -> float:
    """The mutual information of these clusters, in bits."""
    counts = _count(text).counts(1)
    numbers = {word: number for number, words in enumerate(clusters) for word in words}
    return mutual_information(counts, np.array([numbers[word.decode()] for word in counts.words], np.int64))
