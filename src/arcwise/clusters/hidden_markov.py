"""Hidden Markov models with few states a word: likelihoods, expected counts, and what merging two states would lose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

_SMALLEST = 1e-4  # states of lower probability, given the word, are dropped
_PSEUDO = 1e-3  # added to every count of a transition: none is impossible


class HiddenMarkov(NamedTuple):
    """S states, V words.

    first[s]: that a sentence begins in s. moves[s, t]: that t follows s. The states that can give word w are states[starts[w]]
    .. states[starts[w + 1]], in order, and gives: the probability of w, given the state. All float64, but starts, int64, and
    states, int32.
    """

    first: NDArray[np.float64]
    moves: NDArray[np.float64]
    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    gives: NDArray[np.float64]


class Expected(NamedTuple):
    """Expected counts, as in HiddenMarkov (given[e] for gives[e]), and the log-likelihood, in an array of one."""

    first: NDArray[np.float64]
    moves: NDArray[np.float64]
    given: NDArray[np.float64]
    likelihood: NDArray[np.float64]


def no_counts(model: HiddenMarkov) -> Expected:
    """Expected counts of nothing."""
    return Expected(
        np.zeros_like(model.first), np.zeros_like(model.moves), np.zeros_like(model.gives), np.zeros(1)
    )


def estimate(counts: Expected, starts: NDArray[np.int64], states: NDArray[np.int32]) -> HiddenMarkov:
    """The model that makes these counts most likely. States that hardly give a word are dropped for it."""
    words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    totals = np.bincount(words, counts.given, len(starts) - 1)
    best = np.zeros(len(starts) - 1)
    np.maximum.at(best, words, counts.given)
    kept = (counts.given >= _SMALLEST * totals[words]) | (counts.given == best[words])
    given = np.where(totals[words] > 0, counts.given, 1.0)[kept]
    states = states[kept]
    new_starts = np.zeros_like(starts)
    np.cumsum(np.bincount(words[kept], minlength=len(starts) - 1), out=new_starts[1:])
    of_state = np.bincount(states, given, len(counts.first))
    first, moves = counts.first + _PSEUDO, counts.moves + _PSEUDO
    return HiddenMarkov(
        first / first.sum(),
        moves / moves.sum(axis=1, keepdims=True),
        new_starts,
        states,
        given / np.maximum(of_state, 1e-300)[states],
    )


@kernel
def _forward(
    model: HiddenMarkov, words: NDArray[np.int32], before: NDArray[np.float64], scales: NDArray[np.float64]
) -> None:
    """before[i, k]: the probability of words 0 .. i - 1 and the k-th state of word i, each position scaled to give word i with 1."""
    for i in range(len(words)):
        begin, end = model.starts[words[i]], model.starts[words[i] + 1]
        scale = 0.0
        for k in range(end - begin):
            t, total = model.states[begin + k], 0.0
            if i == 0:
                total = model.first[t]
            else:
                last = model.starts[words[i - 1]]
                for j in range(model.starts[words[i - 1] + 1] - last):
                    alpha = before[i - 1, j] * model.gives[last + j]
                    total += alpha * model.moves[model.states[last + j], t]
                total /= scales[i - 1]
            before[i, k] = total
            scale += total * model.gives[begin + k]
        scales[i] = scale


@kernel
def _backward(
    model: HiddenMarkov, words: NDArray[np.int32], scales: NDArray[np.float64], after: NDArray[np.float64]
) -> None:
    """after[i, k]: the probability of the words after i, given the k-th state of word i; scaled like `_forward`."""
    for i in range(len(words) - 1, -1, -1):
        begin, end = model.starts[words[i]], model.starts[words[i] + 1]
        for k in range(end - begin):
            if i == len(words) - 1:
                after[i, k] = 1.0
                continue
            s, total, following = model.states[begin + k], 0.0, model.starts[words[i + 1]]
            for j in range(model.starts[words[i + 1] + 1] - following):
                beta = model.gives[following + j] * after[i + 1, j]
                total += model.moves[s, model.states[following + j]] * beta
            after[i, k] = total / scales[i + 1]


@kernel
def _count(
    model: HiddenMarkov,
    words: NDArray[np.int32],
    before: NDArray[np.float64],
    scales: NDArray[np.float64],
    after: NDArray[np.float64],
    counts: Expected,
) -> None:
    for i in range(len(words)):
        begin, end = model.starts[words[i]], model.starts[words[i] + 1]
        counts.likelihood[0] += np.log(scales[i])
        for k in range(end - begin):
            alpha = before[i, k] * model.gives[begin + k] / scales[i]
            counts.given[begin + k] += alpha * after[i, k]
            s = model.states[begin + k]
            if i == 0:
                counts.first[s] += alpha * after[i, k]
            if i + 1 < len(words):
                following = model.starts[words[i + 1]]
                for j in range(model.starts[words[i + 1] + 1] - following):
                    t = model.states[following + j]
                    beta = model.gives[following + j] * after[i + 1, j] / scales[i + 1]
                    counts.moves[s, t] += alpha * model.moves[s, t] * beta


@kernel
def expect(
    model: HiddenMarkov, tokens: NDArray[np.int32], sentences: NDArray[np.int64], counts: Expected
) -> None:
    """Add the expected counts of sentences; sentence i is tokens[sentences[i]] .. tokens[sentences[i + 1]].

    O(a^2) a token for words of a states.
    """
    longest = np.max(np.diff(sentences)) if len(sentences) > 1 else 0
    before, after = np.empty((longest, len(model.first))), np.empty((longest, len(model.first)))
    scales = np.empty(longest)
    for i in range(len(sentences) - 1):
        words = tokens[sentences[i] : sentences[i + 1]]
        _forward(model, words, before, scales)
        _backward(model, words, scales, after)
        _count(model, words, before, scales, after, counts)


@kernel
def merge_losses(
    model: HiddenMarkov,
    tokens: NDArray[np.int32],
    sentences: NDArray[np.int64],
    shares: NDArray[np.float64],
    losses: NDArray[np.float64],
) -> None:
    """Add to losses[p] about how much log-likelihood is lost if the states 2p and 2p + 1 are merged.

    As Petrov et al. (2006) for trees: the sum over all positions of what is lost if the two are merged there alone. Of the two states
    as one, the words before see the sum of the ways into them, and the words from here on their mean, weighted by shares[s]: how
    often it is s when it is one of the two.
    """
    longest = np.max(np.diff(sentences)) if len(sentences) > 1 else 0
    before, after = np.empty((longest, len(model.first))), np.empty((longest, len(model.first)))
    scales = np.empty(longest)
    for i in range(len(sentences) - 1):
        words = tokens[sentences[i] : sentences[i + 1]]
        _forward(model, words, before, scales)
        _backward(model, words, scales, after)
        for place in range(len(words)):
            begin, end = model.starts[words[place]], model.starts[words[place] + 1]
            k = 0
            while k < end - begin:
                pair, apart, ways, rest = model.states[begin + k] // 2, 0.0, 0.0, 0.0
                present = 0.0
                while k < end - begin and model.states[begin + k] // 2 == pair:
                    s, inside = model.states[begin + k], model.gives[begin + k] * after[place, k]
                    apart += before[place, k] * inside
                    ways += before[place, k]
                    rest += shares[s] * inside
                    present += shares[s]
                    k += 1
                if (
                    present < 1.0
                ):  # one of the two cannot give this word: it adds ways into the pair all the same
                    for s in (2 * pair, 2 * pair + 1):
                        seen = False
                        for j in range(end - begin):
                            seen |= model.states[begin + j] == s
                        if not seen:
                            ways += _way(model, words, before, scales, place, s)
                losses[pair] -= np.log1p((ways * rest - apart) / scales[place])


@kernel
def _way(
    model: HiddenMarkov,
    words: NDArray[np.int32],
    before: NDArray[np.float64],
    scales: NDArray[np.float64],
    place: int,
    s: int,
) -> float:
    """The probability of the words before a place, and of state s there, scaled."""
    if place == 0:
        return model.first[s]  # type: ignore[no-any-return]
    last, total = model.starts[words[place - 1]], 0.0
    for j in range(model.starts[words[place - 1] + 1] - last):
        total += before[place - 1, j] * model.gives[last + j] * model.moves[model.states[last + j], s]
    return total / scales[place - 1]  # type: ignore[no-any-return]


@kernel
def posteriors(model: HiddenMarkov, words: NDArray[np.int32]) -> NDArray[np.float64]:
    """The probability of every state of every word of a sentence: float64[n, S]."""
    before, after = np.empty((len(words), len(model.first))), np.empty((len(words), len(model.first)))
    scales, found = np.empty(len(words)), np.zeros((len(words), len(model.first)))
    _forward(model, words, before, scales)
    _backward(model, words, scales, after)
    for i in range(len(words)):
        begin = model.starts[words[i]]
        for k in range(model.starts[words[i] + 1] - begin):
            probability = before[i, k] * model.gives[begin + k] * after[i, k] / scales[i]
            found[i, model.states[begin + k]] = probability
    return found
