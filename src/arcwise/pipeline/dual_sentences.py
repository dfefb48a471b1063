"""From words as numbers to labelled trees, for models of higher parts over all trees: prune, score, dual decomposition, label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.parts import make_part_tokens
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import keep_heads, make_arcs, prune
from arcwise.parts.reach import WHOLE_DIFFERENCE
from arcwise.pipeline.chart_sentences import part_tables
from arcwise.pipeline.sentences import Weights, label_tree
from arcwise.search.dual import UNLIMITED, begin, search
from arcwise.search.eisner import eisner_tree, make_chart
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.status import FOUND
from arcwise.search.tree_search import (
    ShapedSearch,
    TreeSearch,
    best_heads,
    is_allowed,
)

# The columns of a report: steps of dual decomposition, times the automata there are, those computed anew, and how it ended; what the
# finish took.
STEPS, AUTOMATA, RECOMPUTED, ENDED, FINISH, ROUNDS, FIXED, IMPROVED, BRANCHES = range(9)
REPORT = 9


# The work for each word, unless told otherwise: less than a millisecond, some twenty times what a word takes on average.
BUDGET = 300_000


class Effort(NamedTuple):
    """How far to go: steps of dual decomposition, whether they are those of the paper, and the work for each word before an exact
    search gives up (`arcwise.search.dual`), 0 if those steps are all.
    """

    steps: int
    paper: bool
    budget: int


@kernel
def parse_with_automata(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    effort: Effort,
    trees: TreeSearch | ShapedSearch,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    bounds: NDArray[np.float64],
    report: NDArray[np.int64],
    trace: NDArray[np.float64],
) -> int:
    """The best labelled tree of every sentence among the arcs that the pruner keeps; returns how many arcs it kept.

    Arguments as of `arcwise.pipeline.sentences.parse_sentences`. trees: of which class they must be.
    bounds: filled with a proven upper bound on the score of every tree of a sentence, that of the tree itself if it is proved
    best. report: (sentences, REPORT), filled. trace: (steps, 3) filled with bound, score and automata computed anew of every step
    of the last sentence, or (0, 3).
    """
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens, part_tokens = (
        make_tokens(longest, templates.end),
        make_part_tokens(longest, weights.parts.templates),
    )
    arcs, tree = make_arcs(longest, weights.most_heads), make_neighbours(longest)
    matrix = np.empty((longest + 1) ** 2)
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    kept = 0
    for s in range(len(starts) - 1):
        first, end = starts[s], starts[s + 1]
        size = end - first
        S = matrix[: size * size].reshape((size, size))
        tree_heads = heads[first:end]
        hash_tokens(numbers[first:end], templates, tokens)
        coarse_scores(tokens, templates, weights.coarse, weights.coarse_bits, S)
        keep_heads(S, tree_heads)
        if best_heads(S, trees, tree_heads) == -np.inf:
            scores[s] = bounds[s] = -np.inf
            continue
        if not is_allowed(trees, tree_heads):  # projective trees belong to every class
            projective = np.empty_like(tree_heads)
            if eisner_tree(S, weights.single_root, make_chart(size - 1), projective) == FOUND:
                tree_heads[:] = projective
        prune(S, tree_heads, weights.most_heads, weights.threshold, arcs)
        kept += arcs.first[size]
        graph, levels, of_arcs, tables = part_tables(
            numbers[first:end], weights, True, tokens, part_tokens, arcs, labels[first:end], indices, rows
        )
        automata = sibling_automata(weights.kind, graph, levels[0], tables, weights.single_root)
        exact = effort.budget > 0
        budget = effort.budget * size if exact else UNLIMITED
        problem, state = begin(
            graph, automata, weights.kind.complete > 0, trees, of_arcs, WHOLE_DIFFERENCE, budget
        )
        outcome, finished = search(problem, state, effort.steps, effort.paper, exact, trace)
        scores[s], bounds[s] = state.incumbent[0], state.least[0]
        if bounds[s] <= scores[s] + WHOLE_DIFFERENCE:
            bounds[s] = scores[s]
        report[s, STEPS], report[s, AUTOMATA] = outcome.steps, outcome.steps * size
        report[s, RECOMPUTED], report[s, ENDED] = outcome.recomputed, outcome.code
        report[s, FINISH], report[s, ROUNDS] = finished.steps, finished.rounds
        report[s, FIXED], report[s, IMPROVED], report[s, BRANCHES] = finished[2:]
        if scores[s] == -np.inf:
            continue
        for m in range(1, size):
            tree_heads[m] = graph.head[state.best_tree[m]]
        label_tree(weights, tokens, tree_heads, tree, rows, labels[first:end])
    return kept
