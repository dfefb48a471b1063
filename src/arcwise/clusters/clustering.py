"""Clustering: from corpora to a file of word clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, checked
from arcwise.clusters.brown import brown_merges, final_clusters, mutual_information
from arcwise.clusters.checkpoint import check_fingerprint, fingerprint, load_checkpoint, save_checkpoint
from arcwise.clusters.corpora import NEIGHBOURS, count_corpus
from arcwise.clusters.files import Clusters, write_clusters
from arcwise.clusters.hidden_markov import HiddenMarkov
from arcwise.clusters.hierarchy import bit_strings
from arcwise.clusters.pairs import PairCounter, PairCounts
from arcwise.clusters.split_merge import (
    ITERATIONS,
    STATES,
    Fitted,
    HiddenClusters,
    check_tags,
    split_merge,
)
from arcwise.clusters.tagged_text import TaggedText, read_tagged
from arcwise.errors import InputError
from arcwise.treebank.sources import SourceLike, source_name
from arcwise.treebank.writing import check_output

CLUSTERS, MINIMUM = 1000, 3
BROWN, HMM = "brown", "hmm"
METHODS = (BROWN, HMM)
_SEED = 0
_SAVE_EVERY = 20.0  # seconds
_LEAST, _ROUNDING = 1e-200, 1e-6  # of probabilities


def _sum_to_one(rows: NDArray[Any]) -> bool:
    return bool((np.abs(rows.sum(axis=-1) - 1) < _ROUNDING).all())


# What checkpoints hold: the merges of Brown's algorithm; or a hidden Markov model, and the bit strings of its states, with spaces
# between.
_MERGES = {"merges": Array(np.int32, ("merges", 2))}
_HIDDEN = {
    "first": Array(np.float64, ("states",), least=_LEAST, most=2, holds=_sum_to_one, meaning="probabilities"),
    "moves": Array(
        np.float64, ("states", "states"), least=_LEAST, most=2, holds=_sum_to_one, meaning="probabilities"
    ),
    "starts": Array(np.int64, ("words+1",), starts="pairs", steps=(1, 1 << 31)),
    "states": Array(np.int32, ("pairs",), below="states"),
    "gives": Array(np.float64, ("pairs",), least=_LEAST, most=2),
    "bits": Array(
        np.uint8,
        ("letters",),
        holds=lambda bits: bool(np.isin(bits, [32, 48, 49]).all()),
        meaning="0, 1 and spaces",
    ),
}

Finish = Callable[[Clusters], Clusters]


class Watcher:
    """What a clustering tells while it runs; does nothing by itself."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def progress(self, what: str, done: int, total: int | None) -> None:
        """How far it is with something."""

    def resumable(self, checkpoint: Path) -> None:
        """From here on a run can go on from this file."""


@dataclass
class Clustering:
    """Clusters, and how they came about.

    sentences, tokens: of the corpora. covered: the tokens whose words were kept, those not too rare.

    Of Brown clusters: pairs, those of kept words; information, the mutual information of the clusters of a pair, as they are written,
    in bits; of_words, that of the words themselves. Of hidden Markov clusters: hidden, the model, which has also the soft ones.
    """

    clusters: Clusters
    sentences: int
    tokens: int
    covered: int
    pairs: int = 0
    information: float = 0.0
    of_words: float = 0.0
    hidden: HiddenClusters | None = None


def cluster(
    corpora: SourceLike | Iterable[SourceLike],
    output: str | Path | None = None,
    *,
    method: str = BROWN,
    clusters: int | None = None,
    minimum: int = MINIMUM,
    by: str = NEIGHBOURS,
    format: str | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    finish: Finish = lambda clusters: clusters,
) -> Clustering:
    """Clusters of the words of corpora, written to a file if `output` is given.

    corpora: one or several of paths, "-", or open files; see `count_corpus`, also for `by` and `format`. method: Brown's algorithm
    (`brown_merges`), or "hmm": a hidden Markov model that begins with tags (`split_merge`), for neighbours only. clusters: how many
    at most; CLUSTERS, of hmm STATES, and no fewer than there are tags. minimum: a word that is rarer is left out, as are its pairs.
    finish: what is done to the bit strings before they are written.

    While it runs, what is known so far (the merges, or after every round the model) is kept beside `output` in a file whose name
    ends in `.checkpoint`; with `resume` a run that was stopped reads the corpora again, goes on from there, and gives the same bytes
    as an unbroken one.
    """
    if method not in METHODS:
        raise InputError(f"method {method!r}", expected=f"one of {', '.join(METHODS)}")
    if method == HMM and by != NEIGHBOURS:
        raise InputError(f"pairs of {by!r}", expected=f"{NEIGHBOURS}: it is them that follow each other")
    wanted = (CLUSTERS if method == BROWN else STATES) if clusters is None else clusters
    for number, name in ((wanted, "clusters"), (minimum, "minimum")):
        if not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name}: {number!r}", expected="a whole number, 1 or more")
    target = None if output is None or str(output) == "-" else Path(output)
    if target is not None and not target.parent.is_dir():
        raise InputError("no such folder", file=str(target.parent))
    if target is not None and target.is_dir():
        raise InputError("a folder", expected="a file for the clusters", file=str(target))
    if target is not None:
        check_output(target)
        check_output(f"{target}.checkpoint")
    sources = _sources(corpora)
    watcher = watcher or Watcher()
    kept = _Kept(None if target is None else Path(f"{target}.checkpoint"), resume, watcher)
    if method == BROWN:
        counter = PairCounter()
        for source in sources:
            count_corpus(source, counter, by=by, format=format, tell=watcher.progress)
        counts = counter.counts(minimum)
        _check_words(len(counts.words), counter.tokens, minimum, sources)
        result = _brown(counter, counts, wanted, kept, finish)
    else:
        text = read_tagged(sources, minimum, format=format, tell=watcher.progress)
        _check_words(len(text.words), len(text.tokens), minimum, sources)
        check_tags(text, _named(sources))
        result = _hidden(text, wanted, kept, finish)
    if output is not None:
        write_clusters(result.clusters, output)
    if kept.path is not None:
        kept.path.unlink(missing_ok=True)
    return result


def _sources(corpora: SourceLike | Iterable[SourceLike]) -> list[SourceLike]:
    if isinstance(corpora, str | Path):
        return [corpora]
    return [cast(BinaryIO, corpora)] if hasattr(corpora, "read") else list(corpora)


def _check_words(words: int, tokens: int, minimum: int, sources: list[SourceLike]) -> None:
    """InputError, if there is nothing to cluster."""
    if words:
        return
    found = f"no word occurs {minimum} times or more" if tokens else "no words"
    raise InputError(found, expected="more text", file=_named(sources))


def _named(sources: list[SourceLike]) -> str | None:
    """The corpora, for an error."""
    names = [source_name(source) for source in sources]
    if len(names) > 1:
        return f"{names[0]} and {len(names) - 1} more"
    return names[0] if names else None


class _Kept:
    """Where a run keeps what it knows; nowhere, if path is None. A checkpoint that one is to go on from is read at once."""

    def __init__(self, path: Path | None, resume: bool, watcher: Watcher) -> None:
        self.path, self.watcher = path, watcher
        self._loaded: tuple[Mapping[str, NDArray[Any]], str] | None = None
        if resume and path is not None and path.exists():
            self._loaded = load_checkpoint(path)
        elif resume:
            watcher.note("no checkpoint to go on from: starting anew")

    def load(self, print_: str) -> Mapping[str, NDArray[Any]] | None:
        """What a run that was stopped has kept, if one is to go on."""
        if self._loaded is None or self.path is None:
            return None
        (arrays, found), self._loaded = self._loaded, None
        check_fingerprint(found, print_, self.path)
        self.watcher.resumable(self.path)
        return arrays

    def save(self, arrays: Mapping[str, NDArray[Any]], print_: str) -> None:
        """In place of what was kept before."""
        if self.path is not None:
            save_checkpoint(self.path, arrays, print_)
            self.watcher.resumable(self.path)


def _brown(
    counter: PairCounter, counts: PairCounts, clusters: int, kept: _Kept, finish: Finish
) -> Clustering:
    """Clusters by Brown's algorithm."""
    words = len(counts.words)
    if words < clusters:
        kept.watcher.note(
            f"only {words:,} different word{'s' * (words != 1)} for {clusters:,} clusters: each is a cluster of its own"
        )
    merges = _merges(counts, clusters, kept)
    result = finish(_clusters(counts, final_clusters(merges, words, clusters), merges))
    numbers = {bits: number for number, bits in enumerate(sorted(set(result.bits.values())))}
    names = np.array([numbers[result.bits[word.decode()]] for word in counts.words], np.int64)
    return Clustering(
        result,
        counter.sentences,
        counter.tokens,
        int(counts.occurrences.sum()),
        int(counts.numbers.sum()),
        mutual_information(counts, names),
        mutual_information(counts, np.arange(words)),
    )


def _merges(counts: PairCounts, clusters: int, kept: _Kept) -> NDArray[np.int32]:
    """All merges, by way of checkpoints."""
    print_ = fingerprint((BROWN, clusters), counts.words, counts[1:])
    loaded = kept.load(print_)
    done = None if loaded is None else checked(loaded, _MERGES)["merges"]
    if done is not None:
        kept.watcher.note(f"going on after {len(done):,} of {len(counts.words) - 1:,} merges")
    saved, found = monotonic(), np.empty((0, 2), np.int32)

    def tell(merges: NDArray[np.int32], k: int) -> None:
        nonlocal saved, found
        found = merges[:k]
        kept.watcher.progress("merging", k, len(merges))
        if monotonic() - saved > _SAVE_EVERY:
            kept.save({"merges": found}, print_)
            saved = monotonic()

    try:
        return brown_merges(counts, clusters, done=done, tell=tell)
    except (KeyboardInterrupt, SystemExit):
        if len(found):
            kept.save({"merges": found}, print_)
        raise


def _clusters(counts: PairCounts, names: NDArray[np.int64], merges: NDArray[np.int32]) -> Clusters:
    words, final = len(counts.words), len(np.unique(names))
    strings = bit_strings(merges[words - final :], words)
    texts = [word.decode() for word in counts.words]
    bits = {text: strings[name] for text, name in zip(texts, names.tolist(), strict=True)}
    return Clusters(bits, dict(zip(texts, counts.occurrences.tolist(), strict=True)))


def _hidden(text: TaggedText, states: int, kept: _Kept, finish: Finish) -> Clustering:
    """The hard clusters of a hidden Markov model, by way of checkpoints."""
    print_ = fingerprint(
        (HMM, states, ITERATIONS, _SEED, text.tag_names),
        (word.encode() for word in text.words),
        (text.occurrences, text.tokens, text.sentences, text.tags),
    )
    loaded, done = kept.load(print_), None
    if loaded is not None:
        found = checked(loaded, _HIDDEN, {"words": len(text.words) + 1})
        bits = found.pop("bits").tobytes().decode().split(" ")
        if len(bits) != len(found["first"]) or not all(bits):
            raise InputError(f"{len(bits)} bit strings", expected="one for each state", file=str(kept.path))
        done = Fitted(HiddenMarkov(**found), bits)
        kept.watcher.note(f"going on with {len(done.bits):,} of {states:,} states")

    def keep(fitted: Fitted) -> None:
        bits = np.frombuffer(" ".join(fitted.bits).encode(), np.uint8)
        kept.save({**fitted.model._asdict(), "bits": bits}, print_)

    hidden = split_merge(
        text, states, iterations=ITERATIONS, seed=_SEED, done=done, keep=keep, tell=kept.watcher.progress
    )
    return Clustering(
        finish(hidden.hard()),
        len(text.sentences) - 1,
        len(text.tokens),
        int(text.occurrences.sum()),
        hidden=hidden,
    )
