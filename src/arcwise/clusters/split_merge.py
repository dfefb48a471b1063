"""Clusters from a hidden Markov model whose states are split and merged (Koo 2010, 3.5.1; Petrov et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.brown import brown_merges
from arcwise.clusters.corpora import block_tokens, is_text, text_tokens
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
from arcwise.clusters.pairs import PairCounter, PairCounts
from arcwise.errors import InputError
from arcwise.treebank.block import UPOS
from arcwise.treebank.reading import BlockReader
from arcwise.treebank.sources import Source, SourceLike

STATES, ITERATIONS = 64, 5
_NOISE = 0.05
_LONGEST = 256  # words that are looked at together

Tell = Callable[[str, int, int | None], None]


@dataclass
class TaggedText:
    """Text as numbers.

    words, occurrences: those kept, the most frequent first; all others have the number len(words). tokens, sentences: see
    `hidden_markov.expect`. tags: of the tokens, numbers of tag_names, -1 where there is none.
    """

    words: list[str]
    occurrences: NDArray[np.int64]
    tokens: NDArray[np.int32]
    sentences: NDArray[np.int64]
    tags: NDArray[np.int32]
    tag_names: list[str]


@dataclass
class HiddenClusters:
    """A hidden Markov model as clusters.

    bits: of every state. expected: how often the words of the text come from their states, as model.gives. numbers: of the
    words kept; occurrences: of these. likelihood: the logarithm of that of the text.
    """

    model: HiddenMarkov
    bits: list[str]
    expected: NDArray[np.float64]
    numbers: dict[str, int]
    occurrences: NDArray[np.int64]
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


def read_tagged(
    corpora: Iterable[SourceLike], minimum: int, *, format: str | None = None, tell: Tell | None = None
) -> TaggedText:
    """Text and treebanks as numbers, all in memory; words that are rarer than `minimum` are one word."""
    counter, tell = PairCounter(), tell or (lambda name, done, total: None)
    pieces: list[NDArray[np.int64]] = []
    tags: list[NDArray[np.int32]] = []
    names: dict[str, int] = {}
    for corpus in corpora:
        opened = Source(corpus)
        try:
            if is_text(opened, format):
                for tokens in text_tokens(opened, counter):
                    pieces.append(tokens)
                    tags.append(np.full(len(tokens), -1, np.int32))
                    tell(opened.name, opened.bytes_read, opened.bytes_total)
                continue
            for block in BlockReader(opened, format=format, check_trees=False):
                tokens = block_tokens(block, counter)
                found = [
                    -1 if tag == "_" else names.setdefault(tag, len(names)) for tag in block.column(UPOS)
                ]
                ends = block.words[1:]
                pieces.append(tokens)
                tags.append(np.insert(np.array(found, np.int32), ends, -1))
                tell(opened.name, opened.bytes_read, opened.bytes_total)
        finally:
            opened.close()
    counts, kinds = counter.counts(minimum), counter.words
    rank = np.full(len(kinds) + 1, len(counts.words), np.int32)
    places = {word: number for number, word in enumerate(kinds)}
    rank[[places[word] for word in counts.words]] = np.arange(len(counts.words))
    whole, whole_tags = np.concatenate([np.empty(0, np.int64), *pieces]), np.concatenate([[], *tags])
    is_word = whole >= 0
    begins = np.flatnonzero(is_word & np.concatenate([[True], ~is_word])[:-1])
    starts = np.append(np.cumsum(is_word)[begins] - 1, np.count_nonzero(is_word)).astype(np.int64)
    sentences = np.concatenate([np.arange(a, b, _LONGEST) for a, b in pairwise(starts)] + [starts[-1:]])
    return TaggedText(
        [word.decode() for word in counts.words],
        counts.occurrences,
        rank[whole[is_word]],
        sentences.astype(np.int64),
        whole_tags[is_word].astype(np.int32),
        list(names),
    )


def split_merge(
    text: TaggedText,
    states: int = STATES,
    *,
    iterations: int = ITERATIONS,
    seed: int = 0,
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
    """
    if states < 1 or iterations < 1:
        raise InputError(f"{states} states, {iterations} iterations", expected="1 or more of both")
    if not (text.tags >= 0).any():
        raise InputError(
            "no word has a tag", expected="a treebank, or text tagged by `arcwise parse`, to begin with"
        )
    rng, tell = np.random.default_rng(seed), tell or (lambda what, done, total: None)
    model, bits = _tag_model(text), _tag_bits(text)
    model, counts = _fit(model, text, iterations)
    while len(bits) < states:
        tell("splitting states", len(bits), states)
        # As many as are asked for, and no more than half of the splits.
        keep = min(states - len(bits), (len(bits) + 1) // 2)
        model, counts = _fit(_split(model, rng), text, iterations)
        of_state = np.bincount(model.states, counts.given, len(model.first))
        shares = of_state / np.maximum(np.repeat(of_state.reshape(-1, 2).sum(axis=1), 2), 1e-300)
        losses = np.zeros(len(bits))
        merge_losses(model, text.tokens, text.sentences, shares, losses)
        kept = np.zeros(len(bits), np.bool_)
        kept[np.argsort(-losses, kind="stable")[:keep]] = True
        model, bits = _merged(model, counts, kept, bits)
        model, counts = _fit(model, text, iterations)
    numbers = {word: number for number, word in enumerate(text.words)}
    return HiddenClusters(model, bits, counts.given, numbers, text.occurrences, float(counts.likelihood[0]))


def _fit(model: HiddenMarkov, text: TaggedText, iterations: int) -> tuple[HiddenMarkov, Expected]:
    """The model after so many rounds of expectation maximisation, and what it expects."""
    for _ in range(iterations):
        counts = no_counts(model)
        expect(model, text.tokens, text.sentences, counts)
        model = estimate(counts, model.starts, model.states)
    counts = no_counts(model)
    expect(model, text.tokens, text.sentences, counts)
    return model, counts


def _tag_model(text: TaggedText) -> HiddenMarkov:
    words, tags = len(text.words) + 1, len(text.tag_names)
    tagged = text.tags >= 0
    seen = np.zeros((words, tags))
    np.add.at(seen, (text.tokens[tagged], text.tags[tagged]), 1)
    once = seen[seen.sum(axis=1) == 1].sum(axis=0) + seen[-1] + 1e-3 * seen.sum(axis=0)
    unknown = seen.sum(axis=1) == 0
    seen[unknown] = once / once.sum()
    seen[-1] += once / once.sum()
    totals = np.bincount(text.tokens, minlength=words)
    seen *= (np.maximum(totals, 1) / seen.sum(axis=1))[:, None]
    can = seen > 0
    starts = np.concatenate([[0], np.cumsum(can.sum(axis=1))]).astype(np.int64)
    first, moves = np.zeros(tags), np.zeros((tags, tags))
    begins = text.sentences[:-1]
    np.add.at(first, text.tags[begins][tagged[begins]], 1)
    inner = np.ones(len(text.tags), np.bool_)
    inner[begins] = False
    second = np.flatnonzero(inner & tagged & np.roll(tagged, 1))
    np.add.at(moves, (text.tags[second - 1], text.tags[second]), 1)
    counts = Expected(first, moves, seen[can], np.zeros(1))
    return estimate(counts, starts, np.nonzero(can)[1].astype(np.int32))


def _tag_bits(text: TaggedText) -> list[str]:
    """The bit strings of the tags: a tree of them, by the tags that follow them."""
    tags = len(text.tag_names)
    inner = np.ones(len(text.tags), np.bool_)
    inner[text.sentences[:-1]] = False
    second = np.flatnonzero(inner & (text.tags >= 0) & (np.roll(text.tags, 1) >= 0))
    pairs, numbers = np.unique(
        text.tags[second - 1].astype(np.int64) * tags + text.tags[second], return_counts=True
    )
    names = [name.encode() for name in text.tag_names]
    counts = PairCounts(
        names, np.zeros(tags, np.int64), pairs // tags, pairs % tags, numbers.astype(np.int64)
    )
    return bit_strings(brown_merges(counts, tags), tags)


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
