"""From words as numbers to labelled trees, for models of second order, by linear and integer programs: score, solve, label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.part_bounds import BestDistances, grand_bounds, pair_bounds
from arcwise.features.part_scores import crossing_scores
from arcwise.features.parts import PartTokens, hash_part_tokens, make_part_tokens
from arcwise.features.single_parts import score_grand_parts, score_null_parts, score_pairs
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import keep_heads, make_arcs, prune
from arcwise.parts.graph import Graph, Level, first_level, make_graph, next_level
from arcwise.pipeline.sentences import Weights, label_tree, score_arcs
from arcwise.search.branch_and_price import price_tree
from arcwise.search.linear_program import ProgramOptions, program_tree
from arcwise.search.part_chart import ILP, PRICE
from arcwise.search.priced_tables import TableSource
from arcwise.search.pricing import Known
from arcwise.search.program import OPTIMAL
from arcwise.search.restricted_program import Numbers, arcs_of_pairs, arcs_of_steps
from arcwise.search.second_order import SecondOrder, count_steps
from arcwise.search.spanning_tree import make_room, spanning_tree
from arcwise.search.status import FOUND
from arcwise.threads import heed

# The columns of a report: whether the solver did not come to an end, fractional arcs of the linear program, programs solved, arcs
# built, parts scored and built, parts that there are, sets of words cut, branches.
UNFINISHED, FRACTIONAL, ROUNDS, ARCS, SCORED, ADDED, PARTS, CUTS, BRANCHES = range(9)
# Scores are whole numbers: a tree within this of a bound is the best one, and solvers are right to more than what is left of 1.
_SLACK = 0.5
_NOTHING = np.empty(0)


class Programs(NamedTuple):
    """decoder: LP, ILP or PRICE. pruned: whether only the arcs that the pruner keeps are looked at. best: for PRICE without it."""

    decoder: str
    options: ProgramOptions
    pruned: bool
    best: BestDistances | None


@kernel
def _score_arcs(
    numbers: NDArray[np.int32],
    weights: Weights,
    pruned: bool,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> tuple[bool, Tokens, Graph, NDArray[np.float64]]:
    """Whether a sentence has a tree, its words hashed, its arcs or those kept, and their scores. heads, labels: as given."""
    templates, size = weights.templates, len(numbers)
    tokens = make_tokens(size - 1, templates.end)
    hash_tokens(numbers, templates, tokens)
    S, tree = np.empty((size, size)), heads.copy()
    coarse_scores(tokens, templates, weights.coarse, weights.coarse_bits, S)
    keep_heads(S, tree)
    found = spanning_tree(S, weights.single_root, make_room(size - 1), tree) == FOUND
    most, threshold = (weights.most_heads, weights.threshold) if pruned else (size + 1, np.inf)
    arcs = make_arcs(size - 1, most)
    if found:
        prune(S, tree, most, threshold, arcs)
    count = arcs.first[size]
    graph = make_graph(np.arange(size).astype(np.int32), arcs.heads[:count], arcs.modifiers[:count])
    scores = np.zeros(count + 1)
    indices = np.empty(most_arc_features(size - 1, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    score_arcs(weights, tokens, graph.head[1:], graph.modifier[1:], labels, indices, rows, scores[1:])
    return found, tokens, graph, scores


@kernel
def _label(weights: Weights, tokens: Tokens, heads: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
    rows = np.empty(most_context_features(weights.templates), np.uint32)
    label_tree(weights, tokens, heads, make_neighbours(len(heads) - 1), rows, labels)


@kernel
def _hash_parts(numbers: NDArray[np.int32], weights: Weights) -> PartTokens:
    tokens = make_part_tokens(len(numbers) - 1, weights.parts.templates)
    hash_part_tokens(numbers, weights.parts.templates, tokens)
    return tokens


class ModelSource:
    """Scores of a model's parts, as they are asked for (`arcwise.search.price_and_cut.Source`)."""

    def __init__(
        self, graph: Graph, level: Level, arcs: NDArray[np.float64], tokens: PartTokens, weights: Weights, best: BestDistances
    ) -> None:  # fmt: skip
        self.graph, self.level, self.arcs, self.single_root = graph, level, arcs, weights.single_root
        self._tokens, self._weights = tokens, weights.parts
        templates, number = weights.parts.templates, np.arange(len(arcs))
        below = above = nearer = farther = first = last = pair = grand = none = _NOTHING
        if templates.coordination > templates.grandchildren:
            grand = np.full(int(level.steps[-1]), np.nan)
            below, above = grand_bounds(graph, tokens, weights.parts, best)
            none = score_null_parts(graph, tokens, weights.parts) if templates.nulls else none
        if templates.grandchildren > 0:
            pair, first, last = (
                np.full(int(graph.pairs[-1]), np.nan),
                np.zeros(len(arcs)),
                np.zeros(len(arcs)),
            )
            nearer, farther = pair_bounds(graph, tokens, weights.parts, best)
            nobody = np.zeros(len(arcs) - 1, np.int64)
            score_pairs(graph, tokens, weights.parts, nobody, number[1:], first[1:])
            score_pairs(graph, tokens, weights.parts, number[1:], nobody, last[1:])
        self.known = Known(grand, pair, first, last, none, below, above, nearer, farther)

    def score_steps(self, steps: Numbers) -> None:
        """Grand parts."""
        scores = np.empty(len(steps))
        score_grand_parts(
            self.graph, self._tokens, self._weights, *arcs_of_steps(self.graph, self.level, steps), scores
        )
        self.known.grand[steps] = scores

    def score_pairs(self, pairs: Numbers) -> None:
        """Consecutive siblings."""
        scores = np.empty(len(pairs))
        score_pairs(self.graph, self._tokens, self._weights, *arcs_of_pairs(self.graph, pairs), scores)
        self.known.pair[pairs] = scores


def score_second_order(
    graph: Graph, level: Level, arcs: NDArray[np.float64], tokens: PartTokens, weights: Weights
) -> SecondOrder:
    """All parts of a model, scored."""
    templates = weights.parts.templates
    tables = crossing_scores(graph, level, arcs, tokens, weights.parts)
    first, pair, last = (
        (tables.first, tables.pair, tables.last) if templates.grandchildren else [_NOTHING] * 3
    )
    grand = templates.coordination > templates.grandchildren
    none = score_null_parts(graph, tokens, weights.parts) if grand and templates.nulls else _NOTHING
    return SecondOrder(
        graph, level, weights.single_root, arcs, first, pair, last, tables.run if grand else _NOTHING, none
    )


def parse_with_programs(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    programs: Programs,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    bounds: NDArray[np.float64],
    report: NDArray[np.int64],
) -> None:
    """The best labelled tree of every sentence; arguments as of `arcwise.pipeline.dual_sentences.parse_with_automata`."""
    for s in range(len(starts) - 1):
        heed()
        words = slice(starts[s], starts[s + 1])
        found, tokens, graph, arcs = _score_arcs(
            numbers[words], weights, programs.pruned, heads[words], labels[words]
        )
        if not found:
            scores[s] = bounds[s] = -np.inf
            continue
        level = next_level(graph, first_level(graph), 1)
        part_tokens = _hash_parts(numbers[words], weights)
        tree, scores[s], bounds[s] = _search(graph, level, arcs, part_tokens, weights, programs, report[s])
        if bounds[s] <= scores[s] + _SLACK:
            bounds[s] = scores[s]
        heads[words][1:] = graph.head[tree[1:]]
        _label(weights, tokens, heads[words], labels[words])


def _search(
    graph: Graph, level: Level, arcs: NDArray[np.float64], tokens: PartTokens, weights: Weights, programs: Programs,
    report: NDArray[np.int64],
) -> tuple[NDArray[np.int32], float, float]:  # fmt: skip
    """The tree of one sentence, its score and a bound."""
    options = programs.options
    if programs.decoder == PRICE:
        source: ModelSource | TableSource
        if programs.best is None:
            source = TableSource(score_second_order(graph, level, arcs, tokens, weights))
        else:
            source = ModelSource(graph, level, arcs, tokens, weights, programs.best)
        priced = price_tree(source, exact=options.exact, slack=_SLACK, seconds=options.seconds)
        grand, pair = source.known.grand, source.known.pair
        number = (count_steps(graph) if len(grand) else 0) + len(pair)
        report[:] = (
            priced.status != OPTIMAL, priced.fractional, priced.rounds, priced.arcs, min(priced.scored, number), priced.added,
            number, priced.cuts, priced.branches,
        )  # fmt: skip
        return priced.tree, priced.score, priced.bound
    parts = score_second_order(graph, level, arcs, tokens, weights)
    tree, score, bound, outcome, fractional = program_tree(parts, options, programs.decoder == ILP)
    number = (count_steps(graph) if len(parts.grand) else 0) + len(parts.pair)
    report[:] = (
        outcome.status != OPTIMAL, fractional, 1, len(arcs) - 1, number, number, number, outcome.cuts, 0
    )  # fmt: skip
    return tree, score, bound
