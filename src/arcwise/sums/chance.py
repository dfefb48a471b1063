"""Random numbers for kernels: SplitMix64 (Steele, Lea and Flood, 2014), a stream of its own for every sample.

So the same seed gives the same samples, whatever else is drawn, and by however many threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

State = NDArray[np.uint64]  # one number

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@kernel
def next_bits(state: State) -> Any:
    """The next 64 random bits."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@kernel
def next_uniform(state: State) -> float:
    """The next number in [0, 1).

    >>> state = np.zeros(1, np.uint64)
    >>> start_stream(state, np.uint64(7), 0, 0)
    >>> 0 <= next_uniform(state) < 1
    True
    """
    return float(next_bits(state) >> _11) * 2.0**-53


@kernel
def start_stream(state: State, seed: np.uint64, matrix: int, sample: int) -> None:
    """Go to the stream of one sample of one matrix."""
    state[0] = seed
    state[0] = next_bits(state) ^ np.uint64(matrix)
    state[0] = next_bits(state) ^ np.uint64(sample)


@kernel
def draw(weight: NDArray[np.float64], top: float, logs: bool, state: State) -> int:
    """An index, as likely as its weight, or as the weight whose logarithm is given; `top` is the greatest."""
    total = 0.0
    for i in range(len(weight)):
        if logs:
            weight[i] = np.exp(weight[i] - top)
        total += weight[i]
    left = next_uniform(state) * total
    last = 0
    for i in range(len(weight)):
        if weight[i] > 0.0:
            last = i
            left -= weight[i]
            if left < 0.0:
                break
    return last
