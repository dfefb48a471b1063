"""Labelled arcs: a sum over labels before the sum over trees, and after it every arc's marginal shared among its labels.

Koo (2010), section 4.3.4: O(L n^2) on top of the sum over trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.matrices import place

Floats = NDArray[np.float64]


def read_labelled(scores: Any) -> tuple[list[Floats], bool]:
    """The arrays S[h, m, l], each (n+1, n+1, L), and whether there is but one, which was not given as one of several."""
    if isinstance(scores, np.ndarray) and scores.ndim == 3:
        return [_as_labelled(scores, "")], True
    if isinstance(scores, str | bytes) or not hasattr(scores, "__iter__"):
        raise InputError(f"scores are {scores!r}", expected="an array (n+1, n+1, L), or several")
    items = list(scores)
    if items and np.ndim(items[0]) == 2:
        return [_as_labelled(items, "")], True
    return [_as_labelled(item, place(b)) for b, item in enumerate(items)], False


def _as_labelled(scores: Any, where: str) -> Floats:
    try:
        array = np.asarray(scores)
    except ValueError as error:
        raise InputError(f"{where}scores that make no array ({error})", expected="(n+1, n+1, L)") from None
    if array.dtype.kind not in "fiub" or isinstance(scores, np.ma.MaskedArray):
        raise InputError(f"{where}scores of type {array.dtype}", expected="real numbers in a plain array")
    if array.ndim != 3 or array.shape[0] != array.shape[1] or 0 in array.shape:
        raise InputError(f"{where}scores of shape {array.shape}", expected="(n+1, n+1, L)")
    return array.astype(np.float64)


def sum_labels(labelled: Floats) -> Floats:
    """Scores of unlabelled arcs, (n+1, n+1): the logarithm of the sum of exp(S[h, m, l]) over l.

    A NaN or an infinite score stays one, so that whoever checks the matrix finds it.

    >>> sum_labels(np.log([[[1.0, 3.0], [2.0, 4.0]], [[0.25, 0.5], [1.0, 7.0]]])).round(4).tolist()
    [[1.3863, 1.7918], [-0.2877, 2.0794]]
    """
    top = labelled.max(axis=2)
    finite = np.isfinite(top)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.exp(labelled - np.where(finite, top, 0.0)[:, :, np.newaxis]).sum(axis=2)
    summed: Floats = np.where(finite, top + np.log(np.where(finite, total, 1.0)), top)
    return summed


def label_marginals(arcs: Floats, summed: Floats, labelled: Floats) -> Floats:
    """Every arc's marginal, shared among its labels: (n+1, n+1, L).

    arcs: marginals, (n+1, n+1), 0 where nothing is read. summed: what `sum_labels` made of `labelled`.
    """
    read = arcs[:, :, np.newaxis] > 0
    shares = np.zeros_like(labelled)
    np.subtract(labelled, summed[:, :, np.newaxis], out=shares, where=read)
    np.exp(shares, out=shares, where=read)
    return shares * arcs[:, :, np.newaxis]
