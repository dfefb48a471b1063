"""Clustering: from corpora to a file of word clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.brown import brown_merges, final_clusters, mutual_information
from arcwise.clusters.checkpoint import fingerprint, load_merges, save_merges
from arcwise.clusters.corpora import NEIGHBOURS, count_corpus
from arcwise.clusters.files import Clusters, write_clusters
from arcwise.clusters.hierarchy import bit_strings
from arcwise.clusters.pairs import PairCounter, PairCounts
from arcwise.errors import InputError
from arcwise.treebank.sources import SourceLike

CLUSTERS, MINIMUM = 1000, 3
_SAVE_EVERY = 20.0  # seconds


class Watcher:
    """What a clustering tells while it runs; does nothing by itself."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def progress(self, what: str, done: int, total: int | None) -> None:
        """How far it is with something."""


@dataclass
class Clustering:
    """Clusters, and how they came about.

    sentences, tokens: of the corpora. covered: the tokens whose words were kept, those not too rare. pairs: of kept words.
    information: the mutual information of the clusters of a pair, in bits; of_words: that of the words themselves.
    """

    clusters: Clusters
    sentences: int
    tokens: int
    covered: int
    pairs: int
    information: float
    of_words: float


def cluster(
    corpora: Iterable[SourceLike],
    output: str | Path | None = None,
    *,
    clusters: int = CLUSTERS,
    minimum: int = MINIMUM,
    by: str = NEIGHBOURS,
    format: str | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    finish: Callable[[Clusters], Clusters] = lambda clusters: clusters,
) -> Clustering:
    """Brown clusters of the words of corpora, written to a file if `output` is given.

    corpora: paths, "-", or open files; see `count_corpus`, also for `by` and `format`. clusters: how many. minimum: a word that is
    rarer is left out, as are its pairs. While it runs, the merges so far are kept beside `output` in a file whose name ends
    in `.checkpoint`; with `resume` a run that was stopped reads the corpora again, goes on from there, and gives the same bytes
    as an unbroken one. finish: what is done to the clusters before they are written. See `brown_merges` for what is guaranteed.
    """
    if clusters < 1 or minimum < 1:
        raise InputError(
            f"{clusters} clusters of words that occur {minimum} times", expected="1 or more of both"
        )
    target = None if output is None or str(output) == "-" else Path(output)
    if target is not None and not target.parent.is_dir():
        raise InputError("no such folder", file=str(target.parent))
    if target is not None and target.is_dir():
        raise InputError("a folder", expected="a file for the clusters", file=str(target))
    watcher = watcher or Watcher()
    counter = PairCounter()
    for corpus in corpora:
        count_corpus(corpus, counter, by=by, format=format, tell=watcher.progress)
    counts = counter.counts(minimum)
    if not counts.words:
        found = f"no word occurs {minimum} times or more" if counter.tokens else "no words"
        raise InputError(found, expected="more text")
    checkpoint = None if target is None else Path(f"{target}.checkpoint")
    merges = _merges(counts, clusters, checkpoint, resume, watcher)
    names = final_clusters(merges, len(counts.words), clusters)
    result = finish(_named(counts, names, merges))
    if output is not None:
        write_clusters(result, output)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return Clustering(
        result,
        counter.sentences,
        counter.tokens,
        int(counts.occurrences.sum()),
        int(counts.numbers.sum()),
        mutual_information(counts, names),
        mutual_information(counts, np.arange(len(counts.words))),
    )


def _merges(
    counts: PairCounts, clusters: int, checkpoint: Path | None, resume: bool, watcher: Watcher
) -> NDArray[np.int32]:
    """All merges, by way of checkpoints."""
    done = None
    print_ = fingerprint(counts, clusters)
    if resume and checkpoint is not None and checkpoint.exists():
        done = load_merges(checkpoint, print_)
        watcher.note(f"going on after {len(done):,} of {len(counts.words) - 1:,} merges")
    elif resume:
        watcher.note("no checkpoint to go on from: starting anew")
    saved, found = monotonic(), np.empty((0, 2), np.int32)

    def tell(merges: NDArray[np.int32], k: int) -> None:
        nonlocal saved, found
        found = merges[:k]
        watcher.progress("merging", k, len(merges))
        if checkpoint is not None and monotonic() - saved > _SAVE_EVERY:
            save_merges(checkpoint, found, print_)
            saved = monotonic()

    try:
        return brown_merges(counts, clusters, done=done, tell=tell)
    except (KeyboardInterrupt, SystemExit):
        if checkpoint is not None and len(found):
            save_merges(checkpoint, found, print_)
        raise


def _named(counts: PairCounts, names: NDArray[np.int64], merges: NDArray[np.int32]) -> Clusters:
    words, final = len(counts.words), len(np.unique(names))
    strings = bit_strings(merges[words - final :], words)
    texts = [word.decode() for word in counts.words]
    bits = {text: strings[name] for text, name in zip(texts, names.tolist(), strict=True)}
    return Clusters(bits, dict(zip(texts, counts.occurrences.tolist(), strict=True)))
