"""Hashes of characters and of features, 32 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel

EMPTY = np.uint32(0x811C9DC5)
_GOLDEN, _MURMUR = np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)
_13, _15 = np.uint32(13), np.uint32(15)


@kernel
def mix(x: np.uint32, y: int) -> np.uint32:
    """The hash `x` of a sequence, with `y` added to the sequence."""
    z = np.uint32((x ^ np.uint32(y)) * _GOLDEN)
    z = np.uint32((z ^ (z >> _15)) * _MURMUR)
    return np.uint32(z ^ (z >> _13))


@kernel
def hash_codes(codes: NDArray[np.int32], start: int, stop: int) -> np.uint32:
    """The hash of codes[start:stop]."""
    x = EMPTY
    for i in range(start, stop):
        x = mix(x, codes[i])
    return x
