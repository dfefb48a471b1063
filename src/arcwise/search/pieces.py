"""Several matrices, cut into pieces that threads share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from arcwise.errors import InputError
from arcwise.parts.matrices import Batch
from arcwise.threads import in_threads

T = TypeVar("T")

_PIECE = 1 << 17  # a batch goes to the kernel in pieces of about so many scores: 1 MB


def check_jobs(jobs: Any) -> int:
    """A number of threads, if it is one."""
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs is {jobs!r}", expected="a number of threads, 1 or more")
    return jobs


def in_pieces(batch: Batch, jobs: int, work: Callable[[Batch, int], list[T]], rounds: int = 1) -> list[T]:
    """What `work` makes of every matrix, in order. It gets pieces of the batch, and the number of a piece's first matrix.

    rounds: how often `work` goes through every matrix.
    """
    check_jobs(jobs)
    pieces = list(_pieces(batch))

    def work_on(piece: slice) -> list[T]:
        return work(batch[piece], piece.start)

    if len(pieces) <= 1 and sum(S.size for S in batch) * rounds <= _PIECE:  # nobody will interrupt this
        return [result for piece in pieces for result in work_on(piece)]
    return [result for results in in_threads(work_on, pieces, jobs) for result in results]


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
