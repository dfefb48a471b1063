"""Clusters from a hidden Markov model whose states are split and merged (Koo 2010, 3.5.1; Petrov et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.brown import brown_merges
from arcwise.clusters.files import Clusters
from arcwise.clusters.hidden_markov import (
    Expected,
    HiddenMarkov,
    estimate,
    expect,
    merge_losses,
    no_counts,
    posteriors,
)
from arcwise.clusters.hierarchy import bit_strings
from arcwise.clusters.pairs import PairCounts
from arcwise.clusters.tagged_text import MOST_TAGS, TaggedText
from arcwise.errors import InputError

STATES, ITERATIONS = 64, 5
_NOISE = 0.05
_LONGEST = 256  # words that are looked at together
_PIECE = 1 << 16  # words between two looks at what else is going on

Tell = Callable[[str, int, int | None], None]


class Fitted(NamedTuple):
    """A model after some rounds, and the bit strings of its states."""

    model: HiddenMarkov
    bits: list[str]


@dataclass
class HiddenClusters:
    """A hidden Markov model as clusters.

    bits: of every state. expected: how often the words of the text come from their states, as model.gives. numbers: of the
    words kept; occurrences: of these. tags: how many it began with. likelihood: the logarithm of that of the text.
    """

    model: HiddenMarkov
    bits: list[str]
    expected: NDArray[np.float64]
    numbers: dict[str, int]
    occurrences: NDArray[np.int64]
    tags: int
    likelihood: float

    def hard(self) -> Clusters:
        """For every word the state it most often comes from, wherever it stands."""
        model, bits = self.model, {}
        for word, number in self.numbers.items():
            begin, end = model.starts[number], model.starts[number + 1]
            bits[word] = self.bits[model.states[begin + int(np.argmax(self.expected[begin:end]))]]
        return Clusters(bits, dict(zip(self.numbers, self.occurrences.tolist(), strict=True)))

    def soft(self, words: Sequence[str]) -> list[str]:
        """For every word of a sentence the bit string of its most probable state there."""
        if not words:
            return []
        return [self.bits[s] for s in self.probabilities(words).argmax(axis=1).tolist()]

    def probabilities(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Of every state for every word of a sentence: float64[n, S], rows sum to 1."""
        rare = len(self.numbers)
        return posteriors(self.model, np.array([self.numbers.get(word, rare) for word in words], np.int32))


def check_tags(text: TaggedText, file: str | None = None) -> None:
    """InputError, if there are no tags to begin with. file: what the text was read from."""
    if not (text.tags >= 0).any():
        raise InputError(
            "no word has a tag",
            expected="a treebank, or text tagged by `arcwise parse`, to begin with",
            file=file,
        )


def split_merge(
    text: TaggedText,
    states: int = STATES,
    *,
    iterations: int = ITERATIONS,
    seed: int = 0,
    done: Fitted | None = None,
    keep: Callable[[Fitted], None] | None = None,
    tell: Tell | None = None,
) -> HiddenClusters:
    """Clusters of the words of a text: the states of a hidden Markov model that begins with its tags.

    The first model is that of the tags: which follows which, and which words they have; where a text has no tags, words are
    taken to have those they have elsewhere, and unknown words those of words that were tagged once. Then every state is split in two,
    slightly different ones, the model is fitted by expectation maximisation (`iterations` rounds), the half of the splits
    that gains least likelihood is undone, and the model is fitted again; until there are `states`. A word keeps the tags it begins
    with, so most words have few states, and a round takes O(a^2) a token for a of them.

    Bit strings begin with those of the tags, merged by Brown's algorithm, and go on with the splits. The same seed gives the same
    clusters.

    keep(fitted) is called with the first model and whenever states have been split; with such a one as `done` a run goes on from
    there, and finds the same clusters to the last bit. tell("fitting", words read, words to read) is called now and then.
    """
    if states < 1 or iterations < 1:
        raise InputError(f"{states} states, {iterations} iterations", expected="1 or more of both")
    if states > MOST_TAGS:
        raise InputError(f"{states:,} states", expected=f"{MOST_TAGS:,} at most")
    check_tags(text)
    tell, keep = tell or (lambda what, done, total: None), keep or (lambda fitted: None)
    begin = len(text.tag_names if done is None else done.bits)
    passes = (0 if done else iterations) + _rounds(begin, states) * (2 * iterations + 2) + 1
    reader = _Reader(text, passes, tell)
    if done is None:
        model, bits = _tag_model(text, reader)
        done = Fitted(_fit(model, reader, iterations), bits)
        keep(done)
    while len(done.bits) < states:
        done = _split_and_merge(done, states, reader, iterations, seed)
        keep(done)
    counts = reader.expect(done.model)
    numbers = {word: number for number, word in enumerate(text.words)}
    return HiddenClusters(
        done.model, done.bits, counts.given, numbers, text.occurrences, len(text.tag_names), float(counts.likelihood[0])
    )  # fmt: skip


class _Reader:
    """A text that is read again and again: in pieces, so that an interrupt is soon heard, and always the same ones."""

    def __init__(self, text: TaggedText, passes: int, tell: Tell) -> None:
        self._tokens, self._tell = text.tokens, tell
        self._done, self._total = 0, passes * len(text.tokens)
        starts = text.sentences
        long = np.flatnonzero(np.diff(starts) > _LONGEST)
        parts = [np.arange(starts[i], starts[i + 1], _LONGEST) for i in long]
        self._sentences = np.unique(np.concatenate([starts, *parts]))
        cuts = np.searchsorted(self._sentences, np.arange(0, len(text.tokens), _PIECE))
        self._cuts = np.unique(np.append(cuts, len(self._sentences) - 1)).tolist()

    def pieces(self) -> Iterator[NDArray[np.int64]]:
        """Where the sentences begin, and the last of the piece ends."""
        for begin, end in pairwise(self._cuts):
            yield self._sentences[begin : end + 1]

    def expect(self, model: HiddenMarkov) -> Expected:
        """The expected counts of the text."""
        counts = no_counts(model)
        for piece in self.pieces():
            expect(model, self._tokens, piece, counts)
            self._progress(piece)
        return counts

    def merge_losses(self, model: HiddenMarkov, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is lost if two states that were one are merged."""
        losses = np.zeros(len(shares) // 2)
        for piece in self.pieces():
            merge_losses(model, self._tokens, piece, shares, losses)
            self._progress(piece)
        return losses

    def _progress(self, piece: NDArray[np.int64]) -> None:
        self._done += int(piece[-1] - piece[0])
        self._tell("fitting", self._done, self._total)


def _more(now: int, states: int) -> int:
    """How many states a round adds: as many as are asked for, and no more than half of the splits."""
    return min(states - now, (now + 1) // 2)


def _rounds(now: int, states: int) -> int:
    rounds = 0
    while now < states:
        now += _more(now, states)
        rounds += 1
    return rounds


def _split_and_merge(done: Fitted, states: int, reader: _Reader, iterations: int, seed: int) -> Fitted:
    """One round. Its noise depends on the seed and on how many states there are, not on earlier rounds."""
    rng = np.random.default_rng((seed, len(done.bits)))
    model = _fit(_split(done.model, rng), reader, iterations)
    counts = reader.expect(model)
    of_state = np.bincount(model.states, counts.given, len(model.first))
    shares = of_state / np.maximum(np.repeat(of_state.reshape(-1, 2).sum(axis=1), 2), 1e-300)
    losses = reader.merge_losses(model, shares)
    kept = np.zeros(len(losses), np.bool_)
    kept[np.argsort(-losses, kind="stable")[: _more(len(losses), states)]] = True
    model, bits = _merged(model, counts, kept, done.bits)
    return Fitted(_fit(model, reader, iterations), bits)


def _fit(model: HiddenMarkov, reader: _Reader, iterations: int) -> HiddenMarkov:
    """The model after so many rounds of expectation maximisation."""
    for _ in range(iterations):
        model = estimate(reader.expect(model), model.starts, model.states)
    return model


def _tag_model(text: TaggedText, reader: _Reader) -> tuple[HiddenMarkov, list[str]]:
    """The model of the tags, and their bit strings."""
    words, tags = len(text.words) + 1, len(text.tag_names)
    first, moves, seen = np.zeros(tags), np.zeros((tags, tags)), np.zeros((words, tags))
    for piece in reader.pieces():
        here = slice(piece[0], piece[-1])
        tagged, begins = text.tags[here] >= 0, piece[:-1] - piece[0]
        np.add.at(seen, (text.tokens[here][tagged], text.tags[here][tagged]), 1)
        np.add.at(first, text.tags[here][begins][tagged[begins]], 1)
        follows = tagged & np.roll(tagged, 1)
        follows[begins] = False
        second = np.flatnonzero(follows)
        np.add.at(moves, (text.tags[here][second - 1], text.tags[here][second]), 1)
    once = seen[seen.sum(axis=1) == 1].sum(axis=0) + seen[-1] + 1e-3 * seen.sum(axis=0)
    unknown = seen.sum(axis=1) == 0
    seen[unknown] = once / once.sum()
    seen[-1] += once / once.sum()
    totals = np.append(text.occurrences, len(text.tokens) - text.occurrences.sum())
    seen *= (np.maximum(totals, 1) / seen.sum(axis=1))[:, None]
    can = seen > 0
    starts = np.concatenate([[0], np.cumsum(can.sum(axis=1))]).astype(np.int64)
    counts = Expected(first, moves, seen[can], np.zeros(1))
    model = estimate(counts, starts, np.nonzero(can)[1].astype(np.int32))
    return model, _tag_bits(text.tag_names, moves)


def _tag_bits(names: list[str], moves: NDArray[np.float64]) -> list[str]:
    """The bit strings of the tags: a tree of them, by the tags that follow them."""
    first, second = np.nonzero(moves)
    counts = PairCounts(
        [name.encode() for name in names],
        np.zeros(len(names), np.int64),
        first,
        second,
        moves[first, second].astype(np.int64),
    )
    return bit_strings(brown_merges(counts, len(names)), len(names))


def _split(model: HiddenMarkov, rng: np.random.Generator) -> HiddenMarkov:
    """Every state s as 2s and 2s + 1, with some noise so that they can differ."""

    def noisy(shape: tuple[int, ...]) -> NDArray[np.float64]:
        noise = rng.uniform(-_NOISE, _NOISE, shape)
        return np.stack([1 + noise, 1 - noise], axis=-1)

    old = len(model.first)
    first = (model.first[:, None] / 2 * noisy((old,))).reshape(-1)
    moves = (np.repeat(model.moves, 2, axis=0)[:, :, None] / 2 * noisy((2 * old, old))).reshape(2 * old, -1)
    states = np.stack([2 * model.states, 2 * model.states + 1], axis=1).reshape(-1)
    gives = (model.gives[:, None] * noisy((len(model.gives),))).reshape(-1)
    gives /= np.bincount(states, gives, 2 * old)[states]
    return HiddenMarkov(first, moves, 2 * model.starts, states.astype(np.int32), gives)


def _merged(
    model: HiddenMarkov, counts: Expected, kept: NDArray[np.bool_], bits: list[str]
) -> tuple[HiddenMarkov, list[str]]:
    """The model in which only the splits that are kept are splits, by the expected counts; and the bit strings of its states."""
    new: list[str] = []
    places = np.empty(2 * len(kept), np.int32)
    for pair, two in enumerate(kept.tolist()):
        for k in range(2):
            places[2 * pair + k] = len(new) + (k if two else 0)
        new += [bits[pair] + "0", bits[pair] + "1"] if two else [bits[pair]]
    first, moves = np.zeros(len(new)), np.zeros((len(new), len(new)))
    np.add.at(first, places, counts.first)
    np.add.at(moves, (places[:, None], places[None, :]), counts.moves)
    words = np.repeat(np.arange(len(model.starts) - 1), np.diff(model.starts))
    keys, entries = np.unique(words * len(new) + places[model.states], return_inverse=True)
    starts = np.searchsorted(keys, np.arange(len(model.starts)) * len(new)).astype(np.int64)
    given = np.bincount(entries, counts.given, len(keys)).astype(np.float64)
    together = Expected(first, moves, given, np.zeros(1))
    return estimate(together, starts, (keys % len(new)).astype(np.int32)), new
