"""The one place that names Numba.

A kernel is a plain function over arrays and scalars. It trusts its arguments: the function around it validates. Kernels run
without the interpreter's lock and are compiled once per machine. Setting `NUMBA_BOUNDSCHECK=1` before the first import turns
bounds checks on; the tests do (in a cache of their own).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# A maximum over floats vectorises only if no NaN can occur and the order of comparisons is free. Infinities stay exact.
_MAXIMUM = {"nnan", "nsz", "reassoc"}


def kernel(function: F) -> F:
    """Compile `function` on first call and cache the machine code on disk."""
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy")(function))


def inline_kernel(function: F) -> F:
    """A small kernel that is copied into its callers."""
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")(function))


def maximum_kernel(function: F) -> F:
    """A kernel whose hot loop is a maximum of sums of scores; its arrays must hold no NaN (they may hold -inf)."""
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=_MAXIMUM)(function))
