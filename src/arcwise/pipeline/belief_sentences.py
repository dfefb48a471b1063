"""From words as numbers to labelled trees, for models of siblings and grandchildren over all trees: by belief propagation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.part_scores import crossing_scores
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import make_arcs
from arcwise.parts.graph import first_level, make_graph, next_level
from arcwise.pipeline.sentences import Weights, keep_arcs, label_tree, score_arcs
from arcwise.search.spanning_tree import make_room, spanning_tree
from arcwise.sums.belief_propagation import belief_propagation
from arcwise.sums.factors import Parts

_SWEEPS, _TOLERANCE = 50, 1e-3


@kernel
def parse_with_beliefs(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    matrices: NDArray[np.float64],
) -> int:
    """A good labelled tree of every sentence among the arcs that the pruner keeps; returns how many arcs it kept.

    Not proved best: the best by arc scores that have the probabilities of arcs of belief propagation in them, which then make up
    `matrices`. Arguments as of `arcwise.pipeline.sentences.parse_sentences`; O(n^3) a sweep, of which there are 50 at most.
    """
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    room, arcs, tree = make_room(longest), make_arcs(longest, weights.most_heads), make_neighbours(longest)
    matrix = matrices if len(matrices) else np.empty((longest + 1) ** 2)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    at = kept = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        size = end - begin
        S = matrix[at : at + size * size].reshape((size, size))
        if len(matrices):
            at += size * size
        tree_heads = heads[begin:end]
        hash_tokens(numbers[begin:end], templates, tokens)
        if not keep_arcs(weights, tokens, S, room, tree_heads, arcs):
            scores[s] = -np.inf
            continue
        count = arcs.first[size]
        kept += count
        graph = make_graph(np.arange(size).astype(np.int32), arcs.heads[:count], arcs.modifiers[:count])
        level = next_level(graph, first_level(graph), 1)
        of_arcs, weighed = np.zeros(count + 1), np.empty(count + 1)
        score_arcs(
            weights, tokens, graph.head[1:], graph.modifier[1:], labels[begin:end], indices, rows, of_arcs[1:]
        )
        hash_part_tokens(numbers[begin:end], weights.parts.templates, part_tokens)
        tables = crossing_scores(graph, level, of_arcs, part_tokens, weights.parts)
        unit = weights.score_unit
        parts = Parts(
            tables.step * unit, tables.first * unit, tables.pair * unit, tables.last * unit, tables.run * unit
        )
        found = Parts(
            np.empty(len(parts.arcs)), np.empty(len(parts.first)), np.empty(len(parts.pair)),
            np.empty(len(parts.last)), np.empty(len(parts.grand)),
        )  # fmt: skip
        belief_propagation(
            graph, level, parts, False, weights.single_root, _SWEEPS, _TOLERANCE, found, weighed
        )
        S[:] = -np.inf
        for b in range(1, count + 1):
            S[graph.head[b], graph.modifier[b]] = weighed[b] / unit
        spanning_tree(S, weights.single_root, room, tree_heads)
        scores[s] = 0.0
        for m in range(1, size):
            scores[s] += S[tree_heads[m], m]
        label_tree(weights, tokens, tree_heads, tree, rows, labels[begin:end])
    return kept
