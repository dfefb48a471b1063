"""From words as numbers to labelled trees by hill climbing: prune, score, climb, label; for any parts, and for whole trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.parts import make_part_tokens
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.features.whole_tree import make_whole_tree
from arcwise.kernels import kernel
from arcwise.parts.arcs import make_arcs
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Tables
from arcwise.pipeline.chart_sentences import part_tables
from arcwise.pipeline.sentences import Weights, keep_arcs, label_tree
from arcwise.search.climbing import Climbing, climb_sentence
from arcwise.search.hill import Levels, make_hill
from arcwise.search.spanning_tree import make_room
from arcwise.search.start_trees import BEST_FIRST, arc_matrix

# The columns of a report: runs, the one that found the tree, different trees they ended in, heads changed.
RUNS, BEST_RUN, TOPS, CHANGES = range(4)
_LEAST, _LEAST_WHOLE = 0.5, 1e-3  # scores of tables are whole numbers: a better tree is better by 1 at least
_NO_HEADS = np.empty(0, np.int32)
_PRIME = np.uint64(0x100000001B3)


@kernel
def sentence_number(numbers: NDArray[np.int32]) -> int:
    """A number that the words of a sentence determine, so that what is drawn for it does not depend on its neighbours."""
    key = np.uint64(len(numbers))
    for word in range(1, len(numbers)):
        key = (key ^ np.uint64(numbers[word, 0])) * _PRIME
    return int(key >> np.uint64(1))


@kernel
def _score_sentence(
    numbers: NDArray[np.int32], weights: Weights, heads: NDArray[np.int32], labels: NDArray[np.int32]
) -> tuple[bool, Tokens, Graph, Levels, NDArray[np.float64], Tables]:
    """Whether a sentence has a tree, its words, and the graph and the scores of the arcs and parts kept; heads is filled."""
    templates, longest = weights.templates, len(numbers) - 1
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    arcs = make_arcs(longest, weights.most_heads)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    hash_tokens(numbers, templates, tokens)
    found = keep_arcs(weights, tokens, np.empty((longest + 1, longest + 1)), make_room(longest), heads, arcs)
    if not found:
        arcs.first[:] = 0
    graph, levels, own, tables = part_tables(
        numbers, weights, True, tokens, part_tokens, arcs, labels, indices, rows
    )
    return found, tokens, graph, levels, own * weights.score_unit, tables


@kernel
def _label(weights: Weights, tokens: Tokens, heads: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
    rows = np.empty(most_context_features(weights.templates), np.uint32)
    label_tree(weights, tokens, heads, make_neighbours(len(heads) - 1), rows, labels)


def parse_by_climbing(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    climbing: Climbing,
    begin_at: NDArray[np.int32],
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    bounds: NDArray[np.float64],
    report: NDArray[np.int64],
) -> None:
    """A labelled tree of every sentence among the arcs that the pruner keeps, that no change of one head betters and the best of many
    runs.

    Arguments as of `arcwise.pipeline.sentences.parse_sentences`. begin_at: by row, the heads of the trees that the first runs begin
    with, if climbing.starts is BEST_FIRST, or empty: the first-order best trees then. bounds: on entry what no tree of a sentence
    exceeds, or inf; where a tree meets it, it is proved best. report: filled.

    Not one kernel, as for other searches: with climbing in it, as learning has it too, that would take a minute to compile.
    """
    plain = weights._replace(far=None)  # the kernels here are the same with and without
    for s, (first, end) in enumerate(pairwise(starts.tolist())):
        words, tree_heads, tree_labels = numbers[first:end], heads[first:end], labels[first:end]
        found, tokens, graph, levels, own, tables = _score_sentence(words, plain, tree_heads, tree_labels)
        scores[s] = -np.inf
        if not found:
            continue
        whole = None if weights.far is None else make_whole_tree(words, tokens, *weights.far)
        hill = make_hill(
            weights.kind,
            graph,
            levels,
            tables,
            weights.single_root,
            _LEAST if whole is None else _LEAST_WHOLE,
        )
        up = np.zeros(end - first, np.int32)
        start = begin_at[first:end] if climbing.starts == BEST_FIRST else _NO_HEADS
        climbed, _ = climb_sentence(
            hill, whole, arc_matrix(graph, own), climbing, sentence_number(words), start, float(bounds[s]), whole is not None, up
        )  # fmt: skip
        scores[s] = climbed.score
        report[s, [RUNS, BEST_RUN, TOPS, CHANGES]] = climbed[1:]
        tree_heads[1:] = graph.head[up[1:]]
        _label(plain, tokens, tree_heads, tree_labels)
