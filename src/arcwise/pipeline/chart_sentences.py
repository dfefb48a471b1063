"""From words as numbers to labelled projective trees, for models of higher parts: prune, score, search a chart, label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, most_arc_features
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.part_scores import part_scores
from arcwise.features.parts import PartTokens, hash_part_tokens, make_part_tokens
from arcwise.features.tokens import Tokens, hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import Arcs, keep_heads, make_arcs, prune
from arcwise.parts.graph import Graph, Level, make_graph
from arcwise.parts.tables import Tables
from arcwise.pipeline.sentences import Weights, label_tree, score_arcs
from arcwise.search import eisner
from arcwise.search.chart import make_levels
from arcwise.search.derivations import chart_tree
from arcwise.search.status import FOUND
from arcwise.sums import pruning


@kernel
def part_tables(
    numbers: NDArray[np.int32],
    weights: Weights,
    crossing: bool,
    tokens: Tokens,
    part_tokens: PartTokens,
    arcs: Arcs,
    labels: NDArray[np.int32],
    indices: Indices,
    rows: Indices,
) -> tuple[Graph, tuple[Level, Level, Level], NDArray[np.float64], Tables]:
    """The graph of the arcs kept of a sentence, and the scores of the arcs alone and of all parts. crossing: as of `part_scores`."""
    size = len(numbers)
    count = arcs.first[size]
    graph = make_graph(np.arange(size).astype(np.int32), arcs.heads[:count], arcs.modifiers[:count])
    scores = np.zeros(count + 1)
    score_arcs(weights, tokens, graph.head[1:], graph.modifier[1:], labels, indices, rows, scores[1:])
    levels = make_levels(graph, weights.kind)
    hash_part_tokens(numbers, weights.parts.templates, part_tokens)
    tables = part_scores(weights.kind, crossing, graph, levels, scores, part_tokens, weights.parts)
    return graph, levels, scores, tables


@kernel
def _keep_arcs(
    weights: Weights,
    tokens: Tokens,
    S: NDArray[np.float64],
    spans: eisner.Chart,
    room: pruning.Room,
    heads: NDArray[np.int32],
    arcs: Arcs,
) -> bool:
    """Prune; `heads` holds what is given, and then a projective tree whose arcs are all kept. False if there is none."""
    coarse_scores(tokens, weights.templates, weights.coarse, weights.coarse_bits, S)
    S *= weights.unit
    keep_heads(S, heads)
    if eisner.eisner_tree(S, weights.single_root, spans, heads) != FOUND:
        return False
    pruning.log_marginals(S, weights.pruning, weights.single_root, room)
    prune(S, heads, weights.most_heads, weights.threshold * weights.unit, arcs)
    return True


@kernel
def parse_with_charts(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> int:
    """The best labelled projective tree of every sentence among the arcs that the pruner keeps; returns how many arcs it kept.

    Time a sentence: O(n^3) with a small constant for the pruner, the rich features of the parts of the arcs kept, and the chart's.
    Arguments as of `arcwise.pipeline.sentences.parse_sentences`.
    """
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    spans, room = eisner.make_chart(longest), pruning.make_room(longest)
    arcs, tree = make_arcs(longest, weights.most_heads), make_neighbours(longest)
    matrix = np.empty((longest + 1) ** 2)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    into = np.empty(longest + 1, np.int32)
    kept = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        size = end - begin
        S = matrix[: size * size].reshape((size, size))
        tree_heads = heads[begin:end]
        hash_tokens(numbers[begin:end], templates, tokens)
        if not _keep_arcs(weights, tokens, S, spans, room, tree_heads, arcs):
            scores[s] = -np.inf
            continue
        kept += arcs.first[size]
        graph, levels, _, tables = part_tables(
            numbers[begin:end], weights, False, tokens, part_tokens, arcs, labels[begin:end], indices, rows
        )
        scores[s] = chart_tree(graph, levels, weights.kind, tables, weights.single_root, into[:size])
        for m in range(1, size):
            tree_heads[m] = graph.head[into[m]]
        label_tree(weights, tokens, tree_heads, tree, rows, labels[begin:end])
    return kept


@kernel
def sentence_parts(
    numbers: NDArray[np.int32], weights: Weights, heads: NDArray[np.int32], labels: NDArray[np.int32]
) -> tuple[bool, Graph, tuple[Level, Level, Level], Tables]:
    """Whether one sentence has a tree, and then the graph and the scores of its parts, for those who want more than the best tree.

    heads, labels: what is given, as in `parse_with_charts`; heads is filled.
    """
    templates = weights.templates
    longest = len(numbers) - 1
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    arcs = make_arcs(longest, weights.most_heads)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    S = np.empty((longest + 1, longest + 1))
    hash_tokens(numbers, templates, tokens)
    found = _keep_arcs(
        weights, tokens, S, eisner.make_chart(longest), pruning.make_room(longest), heads, arcs
    )
    if not found:
        arcs.first[:] = 0
    graph, levels, _, tables = part_tables(
        numbers, weights, False, tokens, part_tokens, arcs, labels, indices, rows
    )
    return found, graph, levels, tables
