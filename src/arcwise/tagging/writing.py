"""A block with new tags and lemmas in the place of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS

_UNDERSCORE = ord("_")


@kernel
def untagged(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    boundaries: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """The words of sentences in which no word has a tag."""
    marks = np.ones(len(starts), np.bool_)
    for s in range(len(boundaries) - 1):
        begin, end = boundaries[s], boundaries[s + 1]
        for word in range(begin, end):
            for role in (UPOS, XPOS):
                start, stop = starts[word, role], stops[word, role]
                if stop - start > 1 or (stop - start == 1 and data[start] != _UNDERSCORE):
                    marks[begin:end] = False
    return marks


@kernel
def write_tags(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    chosen: NDArray[np.bool_],
    tags: NDArray[np.int32],
    names: NDArray[np.uint8],
    first_name: NDArray[np.int32],
    lemmas: NDArray[np.uint8],
    first_lemma: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """The bytes of a block with tags and lemmas written to the `chosen` words. O(bytes).

    names, first_name: UPOS, XPOS and FEATS of tag 0, of tag 1 and so on, end to end. lemmas, first_lemma: in the same way, those of
    the words; empty where LEMMA stays as it is.
    """
    room = len(data) + len(lemmas)
    for word in range(len(tags)):
        room += first_name[3 * tags[word] + 3] - first_name[3 * tags[word]]
    output = np.empty(room, np.uint8)
    at = done = 0
    for word in range(len(tags)):
        if not chosen[word]:
            continue
        for role in (LEMMA, UPOS, XPOS, FEATS):
            start, stop = starts[word, role], stops[word, role]
            if stop <= start or start < done:  # the format has no such column, or one for two roles
                continue
            if role == LEMMA:
                source, begin, end = lemmas, first_lemma[word], first_lemma[word + 1]
                if begin == end:
                    continue
            else:
                name = 3 * tags[word] + role - UPOS
                source, begin, end = names, np.int64(first_name[name]), np.int64(first_name[name + 1])
            for k in range(done, start):
                output[at] = data[k]
                at += 1
            for k in range(begin, end):
                output[at] = source[k]
                at += 1
            done = stop
    for k in range(done, len(data)):
        output[at] = data[k]
        at += 1
    return output[:at].copy()
