"""Kernels that write: a block's bytes with new trees, and one column of all its words side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.treebank.formats import DEPREL, HEAD

_LF, _ZERO, _UNDERSCORE = b"\n0_"


@kernel
def _digits(number: int) -> int:
    """How many bytes a head takes; `_` stands for an unknown one."""
    length = 1
    while number >= 10:
        number //= 10
        length += 1
    return length


@kernel
def _copy(source: NDArray[np.uint8], start: int, stop: int, target: NDArray[np.uint8], at: int) -> int:
    for k in range(start, stop):
        target[at + k - start] = source[k]
    return at + stop - start


@kernel
def spliced_size(
    size: int,
    words: NDArray[np.int32],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    offsets: NDArray[np.int32],
) -> tuple[int, int]:
    """The block's size with these trees, and the first word whose head or label does not exist, or -1."""
    for sentence in range(len(words) - 1):
        first, last = words[sentence], words[sentence + 1]
        for word in range(first, last):
            head, label = heads[word], labels[word]
            if head < -1 or head > last - first or label < -1 or label >= len(offsets) - 1:
                return 0, word
            size += _digits(head) - (stops[word, HEAD] - starts[word, HEAD])
            size += (1 if label < 0 else offsets[label + 1] - offsets[label]) - (
                stops[word, DEPREL] - starts[word, DEPREL]
            )
    return size, -1


@kernel
def splice_trees(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    names: NDArray[np.uint8],
    offsets: NDArray[np.int32],
    output: NDArray[np.uint8],
) -> None:
    """Copy `data` to `output`, of `spliced_size`, with HEAD and DEPREL of every word written anew."""
    done = at = 0
    for word in range(len(heads)):
        at = _copy(data, done, starts[word, HEAD], output, at)
        head = heads[word]
        if head < 0:
            output[at] = _UNDERSCORE
            at += 1
        else:
            length = _digits(head)
            for k in range(length):
                output[at + length - 1 - k] = _ZERO + head % 10
                head //= 10
            at += length
        at = _copy(data, stops[word, HEAD], starts[word, DEPREL], output, at)
        label = labels[word]
        if label < 0:
            output[at] = _UNDERSCORE
            at += 1
        else:
            at = _copy(names, offsets[label], offsets[label + 1], output, at)
        done = stops[word, DEPREL]
    _copy(data, done, len(data), output, at)


@kernel
def gather_column(
    data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32], role: int
) -> NDArray[np.uint8]:
    """The bytes of one role of all words, each followed by a line feed."""
    size = 0
    for word in range(len(starts)):
        size += stops[word, role] - starts[word, role] + 1
    output = np.empty(size, np.uint8)
    at = 0
    for word in range(len(starts)):
        at = _copy(data, starts[word, role], stops[word, role], output, at)
        output[at] = _LF
        at += 1
    return output
