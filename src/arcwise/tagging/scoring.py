"""Tags for spelled words, from left to right: hashed features, and the sum of a tag's parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import scramble
from arcwise.kernels import kernel
from arcwise.tagging.spelling import TAGS

_GOLDEN = np.uint32(0x9E3779B1)
_START, _END = 1, 2


class TagWeights(NamedTuple):
    """What the kernel reads. table: int8, 2^bits weights and one more for each part: the weight of part p with a feature of hash h
    is table[h + p], so that a feature's weights lie side by side while any two features share at most a few. parts, history: of the
    `Tagset`. first, tags: the lists of tags of the `Lexicon`.
    """

    templates: NDArray[np.int32]
    table: NDArray[np.int8]
    bits: int
    parts: NDArray[np.int32]
    history: NDArray[np.uint32]
    first: NDArray[np.int32]
    tags: NDArray[np.int32]


@kernel
def tag_features(
    spelled: NDArray[np.uint32],
    begin: int,
    end: int,
    word: int,
    templates: NDArray[np.int32],
    bits: int,
    features: NDArray[np.uint32],
) -> None:
    """The hashes of a word's features, below 2^bits. The words before it in its sentence have their tags in `spelled`."""
    shift = np.uint32(32 - bits)
    for template in range(len(templates)):
        x = np.uint32(template)
        for place in range(templates.shape[1]):
            attribute = templates[template, place, 0]
            if attribute < 0:
                break
            at = word + templates[template, place, 1]
            if at < begin:
                value = np.uint32(_START)
            elif at >= end:
                value = np.uint32(_END)
            else:
                value = spelled[at, attribute]
            x = scramble(np.uint32(x + value * _GOLDEN + np.uint32(8 * attribute + place)))
        features[template] = x >> shift


@kernel
def tag_sentences(
    spelled: NDArray[np.uint32],
    lists: NDArray[np.uint16],
    boundaries: NDArray[np.int32],
    weights: TagWeights,
    tags: NDArray[np.int32],
) -> None:
    """The best tag of every word, given those to its left, noted in `spelled`, too. About 5 microseconds a word."""
    features = np.empty(len(weights.templates), np.uint32)
    parts = weights.parts
    scores = np.empty(len(weights.table) - (1 << weights.bits), np.int16)
    for s in range(len(boundaries) - 1):
        begin, end = boundaries[s], boundaries[s + 1]
        for word in range(begin, end):
            tag_features(spelled, begin, end, word, weights.templates, weights.bits, features)
            scores[:] = 0
            for k in range(len(features)):
                row = weights.table[features[k] : features[k] + len(scores)]
                for part in range(len(scores)):
                    scores[part] += row[part]
            best, best_score = -1, 0
            for k in range(weights.first[lists[word]], weights.first[lists[word] + 1]):
                tag = weights.tags[k]
                score = 0
                for place in range(parts.shape[1]):
                    if parts[tag, place] < 0:
                        break
                    score += scores[parts[tag, place]]
                if best < 0 or score > best_score:
                    best, best_score = tag, score
            tags[word] = best
            for k in range(weights.history.shape[1]):  # copying a slice would take seconds to compile
                spelled[word, TAGS + k] = weights.history[best, k]
