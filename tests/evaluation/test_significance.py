"""Intervals and tests, against closed forms and against scipy where it is installed."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.evaluation.significance import binomial_p, bootstrap_intervals, paired_bootstrap, sign_test


def counts(correct: list[int] | NDArray[np.int64], length: int = 10) -> NDArray[np.int64]:
    column = np.asarray(correct, dtype=np.int64)
    return np.stack([column, np.full_like(column, length), np.full_like(column, length)], axis=1)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 5), (9, 1), (30, 41), (448, 343), (0, 60)])
def test_binomial_against_the_closed_form(better: int, worse: int) -> None:
    n = better + worse
    tail = sum(comb(n, k) for k in range(min(better, worse) + 1))
    assert binomial_p(better, worse) == pytest.approx(min(1.0, 2 * tail / 2**n), rel=1e-10)
    assert binomial_p(worse, better) == binomial_p(better, worse)


def test_binomial_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(0)
    for n in [1, 2, 3, 10, 101, 1000, 50_000]:
        for better in random.integers(n + 1, size=20).tolist():
            expected = stats.binomtest(better, n).pvalue
            assert binomial_p(better, n - better) == pytest.approx(expected, rel=1e-8, abs=1e-290)


def test_sign_test_drops_ties() -> None:
    test = sign_test(counts([5, 6, 7, 8, 9]), counts([5, 5, 5, 9, 9]))
    assert (test.better, test.worse, test.p) == (2, 1, 1.0)


def test_the_sign_test_of_koo_2010() -> None:
    # Section 4.6: of 2,472 sentences 448 are parsed better and 343 worse, which is called p <= 0.001.
    first = np.repeat([6, 4, 5], [448, 343, 2472 - 448 - 343])
    test = sign_test(counts(first), counts(np.full(2472, 5)))
    assert (test.better, test.worse) == (448, 343)
    assert 0.0001 < test.p < 0.001


def test_bootstrap_is_the_same_for_the_same_seed() -> None:
    table = {"UAS": counts(np.random.default_rng(1).integers(11, size=300))}
    assert bootstrap_intervals(table, seed=3) == bootstrap_intervals(table, seed=3)
    assert bootstrap_intervals(table, seed=3) != bootstrap_intervals(table, seed=4)
    # Other scores drawn beside it change nothing.
    both = bootstrap_intervals(table | {"LAS": counts([0] * 300)}, seed=3)
    assert both["UAS"] == bootstrap_intervals(table, seed=3)["UAS"]
    assert both["LAS"] == (0, 0)


def test_bootstrap_interval_has_the_width_of_a_normal_one() -> None:
    correct = np.random.default_rng(1).binomial(10, 0.8, size=2000)
    low, high = bootstrap_intervals({"UAS": counts(correct)}, samples=4000)["UAS"]
    error = correct.std() / 10 / np.sqrt(2000)
    mean = correct.mean() / 10
    assert (low, high) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.1 * error)


def test_paired_bootstrap_agrees_with_a_paired_t_test() -> None:
    random = np.random.default_rng(2)
    first = random.binomial(10, 0.8, size=1000)
    second = np.clip(first + random.choice([-1, 0, 1], p=[0.18, 0.67, 0.15], size=1000), 0, 10)
    result = paired_bootstrap({"UAS": counts(first)}, {"UAS": counts(second)}, samples=4000)["UAS"]
    difference = (first - second) / 10
    assert result.difference == pytest.approx(difference.mean())
    assert result.low < result.difference < result.high
    stats = pytest.importorskip("scipy.stats")
    assert result.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.03)


def test_equal_systems_do_not_differ() -> None:
    table = {"UAS": counts(np.arange(10))}
    assert paired_bootstrap(table, table)["UAS"].p == 1
    assert sign_test(table["UAS"], table["UAS"]).p == 1


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="the same sentences"):
        sign_test(counts([1]), counts([1, 2]))
    with pytest.raises(InputError, match="at least one of each"):
        bootstrap_intervals({"UAS": counts([])})
    with pytest.raises(InputError, match="at least one of each"):
        bootstrap_intervals({"UAS": counts([1])}, samples=0)
