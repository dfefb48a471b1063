from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from arcwise.clusters.hidden_markov import (
    Expected,
    HiddenMarkov,
    estimate,
    expect,
    merge_losses,
    no_counts,
    posteriors,
)

TOKENS = np.array([0, 1, 2, 1, 3, 2, 2, 0, 3], np.int32)
SENTENCES = np.array([0, 4, 5, 9], np.int64)


def random_model(seed: int, states: int = 4, words: int = 4) -> HiddenMarkov:
    """Every word has some of the states."""
    rng = np.random.default_rng(seed)
    can = rng.random((words, states)) < 0.6
    can[np.arange(words), rng.integers(0, states, words)] = True
    starts = np.concatenate([[0], np.cumsum(can.sum(axis=1))])
    gives = can * rng.random((words, states))
    gives /= np.maximum(gives.sum(axis=0), 1e-300)
    first, moves = rng.random(states), rng.random((states, states))
    return HiddenMarkov(
        first / first.sum(),
        moves / moves.sum(axis=1, keepdims=True),
        starts.astype(np.int64),
        np.nonzero(can)[1].astype(np.int32),
        gives[can],
    )


def full(model: HiddenMarkov) -> np.ndarray:
    """gives[w, s], 0 for what cannot be."""
    table = np.zeros((len(model.starts) - 1, len(model.first)))
    table[np.repeat(np.arange(len(table)), np.diff(model.starts)), model.states] = model.gives
    return table


def all_ways(model: HiddenMarkov, words: np.ndarray):
    """All sequences of states, and their probabilities with the words."""
    gives = full(model)
    for states in product(range(len(model.first)), repeat=len(words)):
        probability = model.first[states[0]] * gives[words[0], states[0]]
        for s, t, w in zip(states, states[1:], words[1:], strict=False):
            probability *= model.moves[s, t] * gives[w, t]
        yield states, probability


def sentences():
    return [TOKENS[a:b] for a, b in pairwise(SENTENCES)]


@pytest.mark.parametrize("seed", range(5))
def test_expected_counts(seed):
    model = random_model(seed)
    counts, expected = no_counts(model), no_counts(model)
    table = np.zeros_like(full(model))
    for words in sentences():
        ways = list(all_ways(model, words))
        total = sum(probability for _, probability in ways)
        expected.likelihood[0] += np.log(total)
        found = np.zeros((len(words), len(model.first)))
        for states, probability in ways:
            expected.first[states[0]] += probability / total
            for s, t in pairwise(states):
                expected.moves[s, t] += probability / total
            for i, (s, w) in enumerate(zip(states, words, strict=True)):
                table[w, s] += probability / total
                found[i, s] += probability / total
        assert posteriors(model, words) == pytest.approx(found)
    expect(model, TOKENS, SENTENCES, counts)
    expected.given[:] = table[np.repeat(np.arange(len(table)), np.diff(model.starts)), model.states]
    for name in Expected._fields:
        assert getattr(counts, name) == pytest.approx(getattr(expected, name)), name


@pytest.mark.parametrize("seed", range(5))
def test_merge_losses(seed):
    """Against the sum over all ways, with the two states as one at a single place."""
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    shares = np.repeat(rng.random(2), 2)
    shares[1::2] = 1 - shares[::2]
    losses, gives = np.zeros(2), full(model)
    merge_losses(model, TOKENS, SENTENCES, shares, losses)
    expected = np.zeros(2)
    for words in sentences():
        total = sum(probability for _, probability in all_ways(model, words))
        for place, pair in product(range(len(words)), range(2)):
            two = (2 * pair, 2 * pair + 1)
            if not gives[words[place], two].any():
                continue
            merged = 0.0
            for states in product(range(4), repeat=len(words)):
                probability = 1.0
                for i, (s, w) in enumerate(zip(states, words, strict=True)):
                    into = two if i == place and s in two else (s,)
                    if i == 0:
                        probability *= sum(model.first[t] for t in into)
                    else:
                        probability *= sum(model.moves[states[i - 1], t] for t in into)
                    probability *= gives[w, s] * (shares[s] if len(into) == 2 else 1.0)
                merged += probability
            expected[pair] += np.log(total) - np.log(merged)
    assert losses == pytest.approx(expected)


def test_likelihood_grows():
    model, likelihoods = random_model(7), []
    for _ in range(10):
        counts = no_counts(model)
        expect(model, TOKENS, SENTENCES, counts)
        likelihoods.append(counts.likelihood[0])
        model = estimate(counts, model.starts, model.states)
        assert model.moves.sum(axis=1) == pytest.approx(np.ones(4))
        assert full(model).sum(axis=0) == pytest.approx(np.ones(4))
    assert np.all(np.diff(likelihoods) > -1e-2)
    assert likelihoods[-1] > likelihoods[0]


def test_states_that_hardly_give_a_word_are_dropped():
    counts = Expected(np.ones(2), np.ones((2, 2)), np.array([1.0, 1e-9, 0.5, 0.5]), np.zeros(1))
    model = estimate(counts, np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32))
    assert model.states.tolist() == [0, 0, 1]
    assert model.starts.tolist() == [0, 1, 3]
    assert model.gives == pytest.approx([2 / 3, 1 / 3, 1.0])
