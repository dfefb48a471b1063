"""One matrix or several, with labels or without: how every sum takes them, and shares them among threads."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError, InputError
from arcwise.parts.matrices import Batch, Matrix, as_batch, as_matrix, place
from arcwise.search.explain import explain

T = TypeVar("T")


def read(scores: Any) -> tuple[Batch, bool]:
    """The matrices, and whether there is but one, which was not given as one of several."""
    if type(scores) is np.ndarray and scores.ndim == 2:  # the usual case, and the shortest
        return [as_matrix(scores)], True
    batch = as_batch(scores)
    return ([as_matrix(scores)], True) if batch is None else (batch, False)


def unwrap(results: list[T], alone: bool) -> T | list[T]:
    """The one result, if there was but one matrix."""
    return results[0] if alone else results


def flatten(batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The matrices one after another, as kernels take them, and their lengths n."""
    if isinstance(batch, np.ndarray):
        return batch.reshape(-1), np.full(len(batch), batch.shape[1] - 1)
    flat = np.concatenate([S.reshape(-1) for S in batch]) if len(batch) > 1 else batch[0].reshape(-1)
    return flat, np.array([len(S) - 1 for S in batch], np.int64)


def unflatten(flat: Matrix, batch: Batch) -> list[Matrix]:
    """What a kernel filled, one matrix after another, as matrices of the same sizes as those of the batch."""
    if isinstance(batch, np.ndarray):
        return list(flat.reshape(batch.shape))
    ends = np.cumsum([S.size for S in batch])
    return [part.reshape(S.shape) for part, S in zip(np.split(flat, ends[:-1]), batch, strict=True)]


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


def check_whole(number: Any, name: str, bits: int) -> int:
    """A whole number of so many bits, if it is one."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or not 0 <= number < 1 << bits:
        raise InputError(f"{name} is {number!r}", expected=f"a whole number from 0 to 2^{bits} - 1")
    return int(number)
