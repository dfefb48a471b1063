"""What no part scores more than, of which one arc is known: bounds without a look at every part (Riedel et al. 2012, 4.3.2).

A bound is the sum of a bound for each template: the most that its weights allow over all values that the free word can have, and over
all that its place and distance can be. The values are those of the words of the sentence, each taken once, if one of the words
stands where the free word may; the best distance is looked up in tables made once for a model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import spread
from arcwise.features.part_scores import PartWeights
from arcwise.features.parts import CODES, PartTokens, bucket, is_coordination, shape_salt
from arcwise.features.tokens import Hashes
from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats

_LEAST = -(1 << 20)  # less than any template brings: no word can be there


class BestDistances(NamedTuple):
    """For every weight, the greatest of those with another code beside it: of the distance that a code has first (upper), or last."""

    upper: NDArray[Any]
    lower: NDArray[Any]


class _Values(NamedTuple):
    """The values that a place of a part has in a sentence, each once, for every template (rows): in the order in which they come
    first, and backwards in the order in which they come last. left, right: how many of these come before and after each word.
    """

    forward: Hashes
    backward: Hashes
    left: NDArray[np.int32]
    right: NDArray[np.int32]


@kernel
def best_distances(weights: PartWeights) -> BestDistances:
    """Once for a model: two tables of the size of its own."""
    table = weights.table
    upper, lower = np.empty_like(table), np.empty_like(table)
    for i in range(len(table)):
        far, near = table[i ^ CODES], table[i ^ 1]
        for k in range(2, CODES):
            far, near = max(far, table[i ^ (CODES * k)]), max(near, table[i ^ k])
        upper[i], lower[i] = far, near
    return BestDistances(upper, lower)


@kernel
def _values(tokens: PartTokens, place: int, words: int, begin: int, end: int) -> _Values:
    """The values of the words 0..words - 1 in a place, for the templates from `begin` to `end`."""
    forward, backward = np.empty((end - begin, words), np.uint32), np.empty((end - begin, words), np.uint32)
    left, right = np.zeros((end - begin, words), np.int32), np.zeros((end - begin, words), np.int32)
    for t in range(begin, end):
        count = 0
        for w in range(words):
            left[t - begin, w] = count
            count = _add(forward[t - begin], count, tokens.sides[place, w, t])
        count = 0
        for w in range(words - 1, -1, -1):
            right[t - begin, w] = count
            count = _add(backward[t - begin], count, tokens.sides[place, w, t])
    return _Values(forward, backward, left, right)


@inline_kernel
def _add(values: Hashes, count: int, value: np.uint32) -> int:
    """Add a value if it is not there."""
    for k in range(count):
        if values[k] == value:
            return count
    values[count] = value
    return count + 1


@kernel
def _most(
    known: np.uint32, values: Hashes, code: np.uint32, table: NDArray[Any], best: NDArray[Any], shift: np.uint32,
    indices: Hashes, most: int,
) -> int:  # fmt: skip
    """The most that one template brings over these values, and over all distances; at least `most`."""
    for k in range(len(values)):
        indices[k] = spread(np.uint32(known + values[k])) >> shift
    for k in range(len(values)):
        most = max(most, table[indices[k]] + best[indices[k] ^ code])
    return most


@kernel
def _possible(bounds: Floats) -> Floats:
    """-inf where some template found no word: there is no such part."""
    for a in range(len(bounds)):
        if bounds[a] < 0.5 * _LEAST:
            bounds[a] = -np.inf
    return bounds


@kernel
def grand_bounds(
    graph: Graph, tokens: PartTokens, weights: PartWeights, best: BestDistances
) -> tuple[Floats, Floats]:
    """By arcs: what no grand part below it scores more than, and what none above it does. O(arcs times values)."""
    templates, table, shift = weights.templates, weights.table, np.uint32(32 - weights.bits)
    begin, middle, end = templates.grandchildren, templates.coordination, templates.grand_siblings
    words = len(graph.position)
    uppers, lowers = _values(tokens, 0, words, begin, end), _values(tokens, 2, words, begin, end)
    below, above = np.zeros(len(graph.head)), np.zeros(len(graph.head))
    indices, last = np.empty(words, np.uint32), tokens.conjunctions[words - 1]
    for t in range(begin, end):
        sides, k = tokens.sides[:, :, t], t - begin
        for a in range(1, len(graph.head)):
            g, h = int(graph.head[a]), int(graph.modifier[a])
            # Something below h: on its left, or on its right, or after a conjunction, where it need not be.
            known, shape = np.uint32(sides[0, g] + sides[1, h]), 2 * (g < h)
            code = np.uint32(CODES * bucket(g, h))
            if t < middle or tokens.conjunctions[h] < last:
                values = lowers.backward[k, : lowers.right[k, h]]
                salted = np.uint32(known + shape_salt(shape + 1))
                most = _most(
                    salted, values, code, table, best.lower, shift, indices, _LEAST if t < middle else 0
                )
                if t < middle:
                    values = lowers.forward[k, : lowers.left[k, h]]
                    salted = np.uint32(known + shape_salt(shape))
                    most = _most(salted, values, code, table, best.lower, shift, indices, most)
                below[a] += most
            # Something above g, if the arc from g to h is the lower one.
            if g == 0 or (t >= middle and not is_coordination(tokens, g, h)):
                continue
            known, code = np.uint32(sides[1, g] + sides[2, h]), np.uint32(bucket(g, h))
            values, salted = (
                uppers.forward[k, : uppers.left[k, g]],
                np.uint32(known + shape_salt(2 + (g < h))),
            )
            most = _most(salted, values, code, table, best.upper, shift, indices, _LEAST)
            values, salted = (
                uppers.backward[k, : uppers.right[k, g]],
                np.uint32(known + shape_salt(int(g < h))),
            )
            above[a] += _most(salted, values, code, table, best.upper, shift, indices, most)
    return _possible(below), _possible(above)


@kernel
def pair_bounds(
    graph: Graph, tokens: PartTokens, weights: PartWeights, best: BestDistances
) -> tuple[Floats, Floats]:
    """By arcs: what no pair scores more than in which it is the nearer one, and in which it is the farther one; -inf where there is
    no such pair in any graph.
    """
    table, shift, code = weights.table, np.uint32(32 - weights.bits), np.uint32(CODES)
    end, words = weights.templates.grandchildren, len(graph.position)
    within, beyond = _values(tokens, 1, words, 0, end), _values(tokens, 2, words, 0, end)
    nearer, farther = np.zeros(len(graph.head)), np.zeros(len(graph.head))
    indices = np.empty(words, np.uint32)
    for t in range(end):
        sides = tokens.sides[:, :, t]
        for b in range(1, len(graph.head)):
            h, m = int(graph.head[b]), int(graph.modifier[b])
            head = np.uint32(sides[0, h] + shape_salt(int(h < m)))
            # Beyond m, and between h and m: there are no more than beyond h, or than before m as one goes to h.
            known, forward = np.uint32(head + sides[1, m]), beyond.forward[t, : beyond.left[t, m]]
            values = beyond.backward[t, : beyond.right[t, m]] if h < m else forward
            nearer[b] += _most(known, values, code, table, best.lower, shift, indices, _LEAST)
            low, high = min(h, m), max(h, m)
            values = within.forward[t, : within.left[t, high]]
            if within.right[t, low] < within.left[t, high]:
                values = within.backward[t, : within.right[t, low]]
            known = np.uint32(head + sides[2, m])
            farther[b] += _most(known, values, code, table, best.lower, shift, indices, _LEAST)
    return _possible(nearer), _possible(farther)
