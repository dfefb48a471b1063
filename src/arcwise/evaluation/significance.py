"""How far scores can be trusted: bootstrap intervals, and tests of the difference between two systems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError

_DRAWN_AT_ONCE = 1 << 20  # sentences: bounds the memory

Name = TypeVar("Name", bound=Hashable)

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SignTest:
    """On how many sentences the first system has more, or fewer, words right; two-sided p."""

    better: int
    worse: int
    p: float


@dataclass(frozen=True, slots=True)
class PairedBootstrap:
    """The difference of the F1 of two systems (first minus second), its interval and its two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def f1(counts: NDArray[np.float64] | Counts) -> NDArray[np.float64]:
    """F1 of correct, gold and system counts along the last axis, as of a `Score`; 0 where nothing is counted.

    >>> f1(np.array([[3, 4, 6], [0, 0, 0]]))
    array([0.6, 0. ])
    """
    return 2 * counts[..., 0] / np.maximum(1, counts[..., 1] + counts[..., 2])


def bootstrap_intervals(
    counts: Mapping[Name, Counts], *, seed: int = 0, samples: int = 1000, confidence: float = 0.95
) -> dict[Name, tuple[float, float]]:
    """The percentile interval of each F1 when sentences are drawn with replacement; one seed, one result.

    counts: for each score int64 (S, 3), the correct, gold and system counts of every sentence
    (`Scores.sentence_counts`). Time O(samples * S); memory does not grow with `samples` * S.

    Efron and Tibshirani, 1993: An Introduction to the Bootstrap, chapter 13.

    >>> bootstrap_intervals({"UAS": np.array([[9, 10, 10]] * 5 + [[5, 10, 10]] * 5)})
    {'UAS': (0.58, 0.82)}
    """
    drawn = f1(_resampled(np.stack(list(counts.values()), axis=1), seed, samples))
    limits = _limits(drawn, confidence)
    return {name: (low, high) for name, (low, high) in zip(counts, limits, strict=True)}


def paired_bootstrap(
    first: Mapping[Name, Counts],
    second: Mapping[Name, Counts],
    *,
    seed: int = 0,
    samples: int = 1000,
    confidence: float = 0.95,
) -> dict[Name, PairedBootstrap]:
    """The difference of each F1 of two systems on the same gold sentences, drawn together with replacement.

    p is the chance that systems of equal quality differ by as much as these do, either way: how often a drawn
    difference is as far from the observed one as that is from 0. It is never below 1 / (samples + 1).

    first, second: as `bootstrap_intervals` takes them, over the same sentences. Time O(samples * S).

    Berg-Kirkpatrick, Burkett and Klein, 2012: An Empirical Investigation of Statistical Significance in NLP.

    >>> better, worse = np.array([[9, 10, 10]] * 20), np.array([[8, 10, 10]] * 19 + [[10, 10, 10]])
    >>> paired_bootstrap({"UAS": better}, {"UAS": worse})["UAS"].p < 0.01
    True
    """
    pair = [np.stack([system[name] for name in first], axis=1) for system in (first, second)]
    _check_paired(*pair)
    sums = _resampled(np.stack(pair, axis=1), seed, samples)
    drawn = f1(sums[:, 0]) - f1(sums[:, 1])
    observed = f1(pair[0].sum(axis=0)) - f1(pair[1].sum(axis=0))
    # Differences that are equal in exact arithmetic must compare as equal.
    as_far = (np.abs(drawn - observed) >= np.abs(observed) - 1e-12).sum(axis=0)
    p = (1 + as_far) / (1 + samples)
    rows = zip(first, observed.tolist(), _limits(drawn, confidence), p.tolist(), strict=True)
    return {name: PairedBootstrap(difference, low, high, p) for name, difference, (low, high), p in rows}


def sign_test(first: Counts, second: Counts) -> SignTest:
    """The sign test at the level of sentences: on which system is a sentence more often the better one?

    A sentence is better parsed by the system that has more of its words right; ties are dropped. p is exact:
    the binomial chance of a split at least as uneven, either way, if both were equally likely to be better.

    first, second: int64 (S, 3) over the same sentences. Time O(S).

    Koo, 2010: Advances in Discriminative Dependency Parsing, sections 3.4 and 4.6.

    >>> sign_test(np.array([[3, 5, 5], [4, 5, 5], [5, 5, 5]]), np.array([[2, 5, 5], [3, 5, 5], [5, 5, 5]]))
    SignTest(better=2, worse=0, p=0.5)
    """
    _check_paired(first, second)
    better = int((first[:, 0] > second[:, 0]).sum())
    worse = int((first[:, 0] < second[:, 0]).sum())
    return SignTest(better, worse, binomial_p(better, worse))


def binomial_p(better: int, worse: int) -> float:
    """The chance that a fair coin falls at least as unevenly as `better` to `worse`.

    >>> round(binomial_p(9, 1), 12), binomial_p(1, 1), binomial_p(0, 0)
    (0.021484375, 1.0, 1.0)
    """
    n, fewer = better + worse, min(better, worse)
    if 2 * fewer == n:
        return 1.0
    # C(n, k - 1) = C(n, k) * k / (n - k + 1): the tail, as multiples of its largest term.
    k = np.arange(fewer, 0, -1, dtype=np.float64)
    tail = 1 + float(np.cumprod(k / (n - k + 1)).sum())
    largest = exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2))
    return min(1.0, 2 * tail * largest)


def _check_paired(first: Counts, second: Counts) -> None:
    if first.shape != second.shape:
        raise InputError(
            f"counts of {len(first)} and of {len(second)} sentences", expected="the same sentences"
        )


def _resampled(counts: Counts, seed: int, samples: int) -> NDArray[np.float64]:
    """Sums of `counts` (S, ...) over S sentences drawn with replacement, again and again: (samples, ...)."""
    size = len(counts)
    if size == 0 or samples < 1:
        raise InputError(f"{samples} samples of {size} sentences", expected="at least one of each")
    random = np.random.default_rng(seed)
    table = counts.reshape(size, -1).astype(np.float64)
    sums = np.empty((samples, table.shape[1]))
    for start in range(0, samples, chunk := max(1, _DRAWN_AT_ONCE // size)):
        rows = min(chunk, samples - start)
        drawn = random.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        sums[start : start + rows] = times.astype(np.float64) @ table  # whole numbers: exact in any order
    return sums.reshape(samples, *counts.shape[1:])


def _limits(drawn: NDArray[np.float64], confidence: float) -> list[tuple[float, float]]:
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))
