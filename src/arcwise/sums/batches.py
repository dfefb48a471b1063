"""One matrix or several, with labels or without: how every sum takes them, and shares them among threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError, InputError
from arcwise.search.explain import explain
from arcwise.search.matrices import Batch, as_batch, as_matrix, place

T = TypeVar("T")

_PIECE = 1 << 17  # a batch goes to the kernel in pieces of about so many scores: 1 MB


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


def in_pieces(batch: Batch, jobs: int, work: Callable[[Batch, int], list[T]]) -> list[T]:
    """What `work` makes of every matrix. It gets pieces of the batch, and the number of a piece's first matrix."""
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs is {jobs!r}", expected="a number of threads, 1 or more")
    pieces = list(_pieces(batch))

    def work_on(piece: slice) -> list[T]:
        return work(batch[piece], piece.start)

    if jobs == 1 or len(pieces) == 1:
        return [result for piece in pieces for result in work_on(piece)]
    with ThreadPoolExecutor(jobs) as pool:
        return [result for results in pool.map(work_on, pieces) for result in results]


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


def _pieces(batch: Batch) -> Iterator[slice]:
    """Cut a batch where about _PIECE scores are together."""
    start = entries = 0
    for b, S in enumerate(batch):
        entries += S.size
        if entries >= _PIECE:
            yield slice(start, b + 1)
            start, entries = b + 1, 0
    if start < len(batch):
        yield slice(start, len(batch))
