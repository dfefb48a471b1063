"""One matrix or several, with labels or without: how every sum takes them, and shares them among threads."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.parts.matrices import Batch, as_batch, as_matrix, place
from arcwise.search.explain import explain

T = TypeVar("T")


def read(scores: Any) -> tuple[Batch, bool]:
    """The matrices, and whether there is but one, which was not given as one of several."""
    batch = as_batch(scores)
    return ([as_matrix(scores)], True) if batch is None else (batch, False)


def unwrap(results: list[T], alone: bool) -> T | list[T]:
    """The one result, if there was but one matrix."""
    return results[0] if alone else results


def flatten(batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The matrices one after another, as kernels take them, and their lengths n."""
    flat = np.concatenate([S.reshape(-1) for S in batch]) if len(batch) > 1 else batch[0].reshape(-1)
    return flat, np.array([len(S) - 1 for S in batch], np.int64)


def why(
    bad: NDArray[np.bool_],
    codes: NDArray[np.int64],
    piece: Batch,
    first: int,
    alone: bool,
    projective: bool,
    single_root: bool,
) -> ArcwiseError:
    """The error to raise for the first bad matrix of a piece."""
    b = int(bad.argmax())
    return explain(piece[b], int(codes[b]), projective, single_root, "" if alone else place(first + b))
