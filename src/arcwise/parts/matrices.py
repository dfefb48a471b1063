"""Whatever a person calls arc scores, as float64 matrices that kernels can take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError

Matrix = NDArray[np.float64]
Batch = list[Matrix] | Matrix  # matrices of any sizes, or of one size as a (b, n+1, n+1) array

_FLOAT64 = np.dtype(np.float64)


def place(number: int) -> str:
    """How an error names one matrix of a batch."""
    return f"matrix {number}: "


def as_batch(scores: Any) -> Batch | None:
    """The matrices of a batch, or None if `scores` is not several matrices but one.

    Several are a 3-d array, or a collection whose first item is two-dimensional.

    >>> as_batch([[0, 1], [0, 0]]) is None, len(as_batch([np.zeros((2, 2)), np.zeros((3, 3))]))
    (True, 2)
    """
    if isinstance(scores, np.ndarray) or hasattr(scores, "__array__"):
        if _ndim(scores) != 3:
            return None
        floats = as_floats(scores, "")
        if floats.ndim != 3 or floats.shape[1] != floats.shape[2] or floats.shape[1] == 0:
            raise InputError(f"scores of shape {floats.shape}", expected="(b, n+1, n+1)")
        return floats
    if isinstance(scores, str | bytes) or not isinstance(scores, Iterable):
        return None
    items = scores if isinstance(scores, list | tuple) else list(scores)
    if len(items) > 0 and _ndim(items[0]) < 2:
        return None
    return [as_matrix(item, place(b)) for b, item in enumerate(items)]


def as_matrix(scores: Any, where: str = "") -> Matrix:
    """One score matrix, copied only if no kernel takes it as it is; `where` begins an error's message."""
    floats = as_floats(scores, where)
    if floats.ndim != 2 or floats.shape[0] != floats.shape[1] or floats.shape[0] == 0:
        raise InputError(f"{where}scores of shape {floats.shape}", expected="a square matrix (n+1, n+1)")
    return floats


def as_floats(scores: Any, where: str) -> Matrix:
    if type(scores) is np.ndarray and scores.dtype is _FLOAT64 and scores.flags.carray:
        return scores
    if isinstance(scores, np.ma.MaskedArray):
        raise InputError(f"{where}a masked array", expected="a plain array; fill what is masked with -inf")
    try:
        array = np.asarray(scores)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}scores that make no array ({error})", expected="a matrix of numbers"
        ) from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{where}scores of type {array.dtype}", expected="real numbers")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, and is refused as such
        return np.require(array, _FLOAT64, ["C", "A", "W"])


def _ndim(item: Any) -> int:
    try:
        return np.ndim(item)
    except (TypeError, ValueError):
        return 0
