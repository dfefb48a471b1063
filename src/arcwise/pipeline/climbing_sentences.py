"""From words as numbers to labelled trees by hill climbing: prune, score, climb, label; for any parts, and for whole trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.parts import make_part_tokens
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.features.whole_tree import make_whole_tree
from arcwise.features.word_classes import WordClasses
from arcwise.kernels import kernel
from arcwise.parts.arcs import make_arcs
from arcwise.pipeline.chart_sentences import part_tables
from arcwise.pipeline.sentences import Weights, keep_arcs, label_tree
from arcwise.search.climbing import BEST_FIRST, Climbing, arc_matrix, climb_often, make_draws
from arcwise.search.hill import Hill
from arcwise.search.spanning_tree import make_room

# The columns of a report: runs, the one that found the tree, different trees they ended in, heads changed.
RUNS, BEST_RUN, TOPS, CHANGES = range(4)
_LEAST = 0.5  # scores are whole numbers: a better tree is better by 1 at least
_PRIME = np.uint64(0x100000001B3)


@kernel
def _sentence_number(numbers: NDArray[np.int32]) -> int:
    """A number that the words of a sentence determine, so that what is drawn for it does not depend on its neighbours."""
    key = np.uint64(len(numbers))
    for word in range(1, len(numbers)):
        key = (key ^ np.uint64(numbers[word, 0])) * _PRIME
    return int(key >> np.uint64(1))


@kernel
def parse_by_climbing(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    classes: WordClasses | None,
    climbing: Climbing,
    begin_at: NDArray[np.int32],
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    bounds: NDArray[np.float64],
    report: NDArray[np.int64],
) -> int:
    """A labelled tree of every sentence among the arcs that the pruner keeps, that no change of one head betters and the best of many
    runs; returns how many arcs were kept.

    Arguments as of `arcwise.pipeline.sentences.parse_sentences`. classes: weights.whole, if trees score as wholes. begin_at: by row,
    the heads of the trees that the first runs begin with, if climbing.starts is BEST_FIRST, or empty: the first-order best trees
    then. bounds: on entry what no tree of a sentence exceeds, or inf; where a tree meets it, it is proved best. report: filled.
    """
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    room, arcs, tree = make_room(longest), make_arcs(longest, weights.most_heads), make_neighbours(longest)
    matrix = np.empty((longest + 1) ** 2)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    kept = 0
    for s in range(len(starts) - 1):
        first, end = starts[s], starts[s + 1]
        size = end - first
        words, tree_heads = numbers[first:end], heads[first:end]
        hash_tokens(words, templates, tokens)
        S = matrix[: size * size].reshape((size, size))
        if not keep_arcs(weights, tokens, S, room, tree_heads, arcs):
            scores[s] = -np.inf
            continue
        kept += arcs.first[size]
        graph, levels, own, tables = part_tables(
            words, weights, True, tokens, part_tokens, arcs, labels[first:end], indices, rows
        )
        draws, _ = make_draws(
            arc_matrix(graph, own * weights.score_unit), climbing.starts, weights.single_root, np.uint64(climbing.seed),
            _sentence_number(words),
        )  # fmt: skip
        if len(begin_at) > 0 and climbing.starts == BEST_FIRST:
            draws.heads[:] = begin_at[first:end]
        whole = None
        if classes is not None:
            whole = make_whole_tree(words, tokens, classes, weights.parts.table, weights.parts.bits)
        hill = Hill(weights.kind, graph, levels, tables, weights.single_root, _LEAST)
        up = np.zeros(size, np.int32)
        climbed = climb_often(
            hill, whole, draws, climbing.restarts, climbing.most, bounds[s], classes is not None, up
        )
        scores[s] = climbed.score
        report[s, RUNS], report[s, BEST_RUN] = climbed.runs, climbed.best
        report[s, TOPS], report[s, CHANGES] = climbed.tops, climbed.changes
        for m in range(1, size):
            tree_heads[m] = graph.head[up[m]]
        label_tree(weights, tokens, tree_heads, tree, rows, labels[first:end])
    return kept
