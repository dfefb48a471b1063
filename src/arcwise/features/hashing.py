"""Two hash functions: bytes to 64 bits for vocabularies, 32 bits to 32 for features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import inline_kernel, kernel

# Fowler, Noll and Vo's FNV-1a, 64 bits.
_FNV_BASIS, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
# Odd constants with well-mixed bits: the golden ratio, and the two of MurmurHash3's finaliser.
_GOLDEN, _MURMUR_1, _MURMUR_2 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_13, _15, _16 = np.uint32(13), np.uint32(15), np.uint32(16)


@kernel
def hash_bytes(data: NDArray[np.uint8], start: int, stop: int, seed: int) -> np.uint64:
    """FNV-1a of `seed` (another hash, or a small number), then of data[start:stop]."""
    x = (_FNV_BASIS ^ np.uint64(seed)) * _FNV_PRIME
    for i in range(start, stop):
        x = (x ^ np.uint64(data[i])) * _FNV_PRIME
    return x


@inline_kernel
def scramble(x: np.uint32) -> np.uint32:
    """Every bit of `x` moves every bit of the result (MurmurHash3's finaliser)."""
    y = np.uint32(x)
    y = np.uint32((y ^ (y >> _16)) * _MURMUR_1)
    y = np.uint32((y ^ (y >> _13)) * _MURMUR_2)
    return np.uint32(y ^ (y >> _16))


@inline_kernel
def spread(x: np.uint32) -> np.uint32:
    """Spread a sum of scrambled numbers: cheaper than `scramble`, the high bits are the good ones."""
    y = np.uint32(np.uint32(x) * _GOLDEN)
    return np.uint32((y ^ (y >> _15)) * _MURMUR_1)
