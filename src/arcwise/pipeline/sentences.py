"""From words as numbers to labelled trees: prune, score, search, label, for many sentences in one call of a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import (
    Indices,
    arc_features,
    distance_code,
    label_features,
    most_arc_features,
)
from arcwise.features.context import (
    Neighbours,
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.hashing import spread
from arcwise.features.templates import Templates
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import Arcs, make_arcs, prune
from arcwise.search.spanning_tree import _NODE, _spanning_tree

Matrix = NDArray[np.float64]


class Weights(NamedTuple):
    """The trained weights, int8, and what is needed to use them; kernels read it.

    coarse: 2^coarse_bits weights of the pruner. arcs: 2^arc_bits. labels, final: (2^label_bits, labels), for choosing the tree and
    for labelling it. allowed: bool (2, labels), the labels that an arc from the root (row 0) or from a word (row 1) may have.
    """

    templates: Templates
    coarse: NDArray[np.int8]
    coarse_bits: int
    most_heads: int
    threshold: float
    arcs: NDArray[np.int8]
    arc_bits: int
    labels: NDArray[np.int8]
    final: NDArray[np.int8]
    label_bits: int
    allowed: NDArray[np.bool_]
    single_root: bool


class Search(NamedTuple):
    """Room for the search for a spanning tree."""

    scores: Matrix  # flat
    rows: Matrix
    nodes: NDArray[Any]
    roots: NDArray[np.int64]


@kernel
def make_search(longest: int) -> Search:
    """Room for sentences of up to `longest` words: 16 bytes a pair of words."""
    size = longest + 1
    return Search(
        np.empty(size * size), np.empty((size, size)), np.empty(2 * size, _NODE), np.empty(size, np.int64)
    )


@kernel
def spanning_tree(S: Matrix, single_root: bool, search: Search, heads: NDArray[np.int32]) -> None:
    """The best tree of S, which has one."""
    _spanning_tree(S, single_root, search.rows, search.nodes, search.roots, heads)


@kernel
def coarse_scores(
    tokens: Tokens, templates: Templates, weights: NDArray[np.int8], bits: int, S: Matrix
) -> None:
    """Score all arcs with the few templates of the pruner."""
    shift = np.uint32(32 - bits)
    number = templates.arcs
    indices = np.empty(number, np.uint32)
    for m in range(1, S.shape[0]):
        modifiers = tokens.as_modifier[m]
        for h in range(S.shape[0]):
            heads = tokens.as_head[h]
            code = distance_code(h, m)
            for t in range(number):
                indices[t] = spread(np.uint32(heads[t] + modifiers[t])) >> shift
            total = 0
            for t in range(number):
                total += weights[indices[t]]
                total += weights[indices[t] ^ code]
            S[h, m] = total


@kernel
def _sum_rows(weights: NDArray[np.int8], rows: Indices, count: int, scores: NDArray[np.int16]) -> None:
    """The sum of some rows of label weights."""
    scores[:] = 0
    for k in range(count):
        row = weights[rows[k]]
        for label in range(len(scores)):
            scores[label] += row[label]


@kernel
def _best_label(scores: NDArray[np.int16], allowed: NDArray[np.bool_]) -> int:
    best = -1
    for label in range(len(scores)):
        if allowed[label] and (best < 0 or scores[label] > scores[best]):
            best = label
    return best


@kernel
def parse_sentences(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> int:
    """The best labelled tree of every sentence among the arcs that the pruner keeps; returns how many arcs it kept.

    Time a sentence: O(n^2) with a small constant, and the rich features of the arcs kept. numbers: int32, the words of all
    sentences as numbers, the root's row before each sentence's. starts: where sentence i begins there, and the end. heads,
    labels: filled, by row of `numbers`. scores: filled, one a sentence, in units of the weights.
    """
    templates = weights.templates
    longest = 0
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s] - 1)
    tokens = make_tokens(longest, templates.end)
    search, arcs, tree = make_search(longest), make_arcs(longest, weights.most_heads), make_neighbours(longest)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    label_scores = np.empty(weights.labels.shape[1], np.int16)
    kept = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        size = end - begin
        S = search.scores[: size * size].reshape((size, size))
        tree_heads = heads[begin:end]
        hash_tokens(numbers[begin:end], templates, tokens)
        coarse_scores(tokens, templates, weights.coarse, weights.coarse_bits, S)
        spanning_tree(S, weights.single_root, search, tree_heads)
        prune(S, tree_heads, weights.most_heads, weights.threshold, arcs)
        kept += arcs.first[size]

        S[:] = -np.inf
        for m in range(1, size):
            for a in range(arcs.first[m], arcs.first[m + 1]):
                h = arcs.heads[a]
                total = 0
                for k in range(arc_features(tokens, templates, weights.arc_bits, h, m, indices)):
                    total += weights.arcs[indices[k]]
                count = label_features(tokens, templates, weights.label_bits, h, m, rows)
                _sum_rows(weights.labels, rows, count, label_scores)
                label = _best_label(label_scores, weights.allowed[min(h, 1)])
                S[h, m] = total + label_scores[label]
        spanning_tree(S, weights.single_root, search, tree_heads)

        find_neighbours(tree_heads, tokens, tree)
        scores[s] = 0.0
        labels[begin] = -1
        for m in range(1, size):
            h = tree_heads[m]
            scores[s] += S[h, m]
            count = context_features(tokens, templates, weights.label_bits, tree_heads, tree, m, rows)
            _sum_rows(weights.final, rows, count, label_scores)
            labels[begin + m] = _best_label(label_scores, weights.allowed[min(h, 1)])
    return kept
