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
from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats


class BestDistances(NamedTuple):
    """For every weight, the greatest of those with another code beside it: of the distance that a code has first (upper), or last."""

    upper: NDArray[Any]
    lower: NDArray[Any]


class _Values(NamedTuple):
    """The values that a place of a part has in a sentence, for every template: those from first[t] on. word: the first word that has
    it, last: the last one.
    """

    first: NDArray[np.int32]
    word: NDArray[np.int32]
    last: NDArray[np.int32]


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
    first = np.zeros(end - begin + 1, np.int32)
    word, last = np.empty((end - begin) * words, np.int32), np.empty((end - begin) * words, np.int32)
    count = 0
    for t in range(begin, end):
        start = count
        for w in range(words):
            value = tokens.sides[place, w, t]
            k = start
            while k < count and tokens.sides[place, word[k], t] != value:
                k += 1
            if k == count:
                word[k] = w
                count += 1
            last[k] = w
        first[t - begin + 1] = count
    return _Values(first, word, last)


@kernel
def grand_bounds(
    graph: Graph, tokens: PartTokens, weights: PartWeights, best: BestDistances
) -> tuple[Floats, Floats]:
    """By arcs: what no grand part below it scores more than, and what none above it does. O(arcs times values)."""
    templates, table, shift = weights.templates, weights.table, np.uint32(32 - weights.bits)
    begin, middle, end = templates.grandchildren, templates.coordination, templates.grand_siblings
    words = len(graph.position)
    grandparents, children = _values(tokens, 0, words, begin, end), _values(tokens, 2, words, begin, end)
    below, above = np.zeros(len(graph.head)), np.zeros(len(graph.head))
    conjunctions = tokens.conjunctions[words - 1]
    for a in range(1, len(graph.head)):
        g, h = int(graph.head[a]), int(graph.modifier[a])
        shape, code = 2 * (g < h), np.uint32(CODES * bucket(g, h))
        total = 0
        for t in range(begin, end):
            if t >= middle and tokens.conjunctions[h] == conjunctions:
                break
            known = np.uint32(tokens.sides[0, g, t] + tokens.sides[1, h, t])
            most = -(1 << 20) if t < middle else 0  # not every child is a conjunct
            for k in range(children.first[t - begin], children.first[t - begin + 1]):
                side = tokens.sides[2, children.word[k], t]
                if children.last[k] > h:
                    i = spread(np.uint32(known + side + shape_salt(shape + 1))) >> shift
                    most = max(most, table[i] + best.lower[i ^ code])
                if children.word[k] < h and t < middle:
                    i = spread(np.uint32(known + side + shape_salt(shape))) >> shift
                    most = max(most, table[i] + best.lower[i ^ code])
            total += most
        below[a] = total
        # The same arc as the lower one, from h to m.
        h, m = g, h
        if h == 0:
            continue
        right, code = h < m, np.uint32(bucket(h, m))
        total = 0
        for t in range(begin, end if is_coordination(tokens, h, m) else middle):
            known = np.uint32(tokens.sides[1, h, t] + tokens.sides[2, m, t])
            most = -(1 << 20)
            for k in range(grandparents.first[t - begin], grandparents.first[t - begin + 1]):
                side = tokens.sides[0, grandparents.word[k], t]
                if grandparents.word[k] < h:
                    i = spread(np.uint32(known + side + shape_salt(2 + right))) >> shift
                    most = max(most, table[i] + best.upper[i ^ code])
                if grandparents.last[k] > h:
                    i = spread(np.uint32(known + side + shape_salt(int(right)))) >> shift
                    most = max(most, table[i] + best.upper[i ^ code])
            total += most
        above[a] = total
    return below, above


@kernel
def pair_bounds(
    graph: Graph, tokens: PartTokens, weights: PartWeights, best: BestDistances
) -> tuple[Floats, Floats]:
    """By arcs: what no pair scores more than in which it is the nearer one, and in which it is the farther one; -inf where there is
    no such pair in any graph.
    """
    templates, table, shift = weights.templates, weights.table, np.uint32(32 - weights.bits)
    end, words, code = templates.grandchildren, len(graph.position), np.uint32(CODES)
    within, beyond = _values(tokens, 1, words, 0, end), _values(tokens, 2, words, 0, end)
    nearer, farther = np.zeros(len(graph.head)), np.zeros(len(graph.head))
    for b in range(1, len(graph.head)):
        h, m = int(graph.head[b]), int(graph.modifier[b])
        right = h < m
        salt = shape_salt(int(right))
        as_nearer = as_farther = 0
        for t in range(end):
            head = np.uint32(tokens.sides[0, h, t] + salt)
            known, most = np.uint32(head + tokens.sides[1, m, t]), -(1 << 20)
            for k in range(beyond.first[t], beyond.first[t + 1]):
                if beyond.last[k] > m if right else beyond.word[k] < m:
                    i = spread(np.uint32(known + tokens.sides[2, beyond.word[k], t])) >> shift
                    most = max(most, table[i] + best.lower[i ^ code])
            as_nearer += most
            known, most = np.uint32(head + tokens.sides[2, m, t]), -(1 << 20)
            for k in range(within.first[t], within.first[t + 1]):
                if within.word[k] < max(h, m) and within.last[k] > min(h, m):
                    i = spread(np.uint32(known + tokens.sides[1, within.word[k], t])) >> shift
                    most = max(most, table[i] + best.lower[i ^ code])
            as_farther += most
        # There is no word beyond the outermost, and none between neighbours.
        nearer[b] = -np.inf if m == (words - 1 if right else 1) else as_nearer
        farther[b] = -np.inf if abs(h - m) == 1 else as_farther
    return nearer, farther
