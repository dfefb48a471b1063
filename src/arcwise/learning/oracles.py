"""What learners ask: the best tree, or what all trees together say, among the arcs kept of a sentence."""

from __future__ import annotations

import numpy as np

from arcwise.features.part_scores import add_by_steps, sum_by_arcs
from arcwise.kernels import kernel
from arcwise.learning.space import Levels, Search
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.parts.tree_tables import add_tree
from arcwise.search.automata import Flags
from arcwise.search.chart import CHARTS, make_chart
from arcwise.search.derivations import chart_tree
from arcwise.search.dual import UNLIMITED, approach, begin
from arcwise.search.dual_decomposition import find_modifiers
from arcwise.search.passes import backward, forward
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.spanning_tree import make_room as make_search_room
from arcwise.search.spanning_tree import spanning_tree
from arcwise.search.status import FOUND
from arcwise.search.tree_search import make_tree_search
from arcwise.sums.belief_propagation import belief_propagation
from arcwise.sums.factors import Parts
from arcwise.sums.matrix_tree import make_room as make_sum_room
from arcwise.sums.matrix_tree import matrix_tree
from arcwise.sums.weights import exp_of_negative

# Of belief propagation: beliefs need not be better than the steps made by them.
_SWEEPS, _TOLERANCE = 20, 1e-4
_SLACK = 1e-9  # of dual decomposition
_SIBLINGS = CHARTS["sibling"]


@kernel
def _matrix(graph: Graph, arcs: Floats) -> Floats:
    size = len(graph.position)
    S = np.full((size, size), -np.inf)
    for b in range(1, len(graph.head)):
        S[graph.head[b], graph.modifier[b]] = arcs[b]
    return S


@kernel
def right_arcs(graph: Graph, heads: Ints, tree: Ints) -> bool:
    """Fill `tree` with the arc from the right head into each word, -1 where the head is not known; whether all are."""
    tree[0] = 0
    tree[1:] = -1
    for b in range(1, len(graph.head)):
        if heads[graph.modifier[b]] == graph.head[b]:
            tree[graph.modifier[b]] = b
    return bool(tree.min() >= 0)


@kernel
def best_tree(
    search: Search | None, graph: Graph, levels: Levels, tables: Tables, single_root: bool, tree: Ints
) -> float:
    """The argmax oracle: fills `tree` with the arc into each word, 0 for the root; returns the score, -inf if there is no tree.

    search: None for spanning trees of arcs alone, which need not be projective and have no higher parts, in O(n^2).
    """
    if search is None:
        S, score = _matrix(graph, tables.step), 0.0
        heads = np.empty(len(S), np.int32)
        if spanning_tree(S, single_root, make_search_room(len(S) - 1), heads) != FOUND:
            return -np.inf
        tree[0] = 0
        for b in range(1, len(graph.head)):
            if heads[graph.modifier[b]] == graph.head[b]:
                tree[graph.modifier[b]] = b
                score += tables.step[b]
        return score
    return chart_tree(graph, levels, search.kind, tables, single_root, tree)


@kernel
def best_arcs(
    kind: Kind, graph: Graph, level: Level, tables: Tables, own: Floats, single_root: bool, steps: int, taken: Flags, up: Ints
) -> None:  # fmt: skip
    """The best tree that so many steps of dual decomposition see: flags of its arcs in `taken`, and in `up` the arc into each word.

    Without steps what each automaton takes on its own, which need not be a tree; `up` is then what each supposes, those of siblings
    nothing. own: the scores of the arcs alone. If there is no tree, or nothing that an automaton may take, nothing is taken.
    """
    automata = sibling_automata(kind, graph, level, tables, single_root)
    trees = make_tree_search(len(up) - 1, single_root, False)
    problem, state = begin(graph, automata, kind.complete > 0, trees, own, _SLACK, UNLIMITED)
    taken[:], up[:] = False, 0
    if steps == 0:
        state.u[:] = 0.0
        find_modifiers(problem, state)
        taken[:] = state.z
        for i in range(1, len(up)):
            up[i] = automata.up[max(state.option[i], 0)]
        return
    approach(problem, state, steps, False, np.empty((0, 3)))
    if state.incumbent[0] > -np.inf:
        up[:] = state.best_tree
        taken[up[1:]] = True


@kernel
def expected_parts(
    search: Search | None, loopy: bool | None, graph: Graph, levels: Levels, tables: Tables, single_root: bool,
    found: Tables,
) -> float:  # fmt: skip
    """The oracle of sums: fills `found`, zeros of the lengths of `tables`, with the probability of every part; returns the log
    partition function, -inf if there is no tree. O(n^3) for spanning trees, twice the chart's time for charts, both exact;
    approximate, O(n^3) a sweep, if it is loopy. loopy: None if it is never, so that kernels without it are compiled faster.
    """
    if search is None:
        S = _matrix(graph, tables.step)
        P = np.empty_like(S)
        log_partition = matrix_tree(S, single_root, make_sum_room(len(S) - 1), P)
        if log_partition > -np.inf:
            for b in range(1, len(graph.head)):
                found.step[b] += P[graph.head[b], graph.modifier[b]]
        return log_partition
    if loopy is not None:
        scores = Parts(tables.step, tables.first, tables.pair, tables.last, tables.run)
        beliefs = Parts(found.step, found.first, found.pair, found.last, found.run)
        log_partition, _, _ = belief_propagation(
            graph, levels[0], scores, False, single_root, _SWEEPS, _TOLERANCE, beliefs, np.empty(0)
        )
        return log_partition
    chart = make_chart(graph, levels, search.kind, tables, single_root)
    log_partition = forward(chart, np.bool_(True))
    if log_partition > -np.inf:
        backward(chart, True, found, np.zeros(1))
    return log_partition


@kernel
def add_known_tree(
    search: Search | None, graph: Graph, levels: Levels, tree: Ints, amount: float, found: Tables
) -> None:
    """Add an amount to the entries of a tree's parts. tree: the arc into each word, 0 for the root."""
    if search is None:
        for m in range(1, len(tree)):
            found.step[tree[m]] += amount
    elif search.loopy:
        siblings = Tables(
            found.step, found.first, found.pair, found.slot, found.second, found.triple, found.slot, found.last,
            found.only, found.last_pair, found.none,
        )  # fmt: skip
        add_tree(_SIBLINGS, graph, (levels[1], levels[1], levels[1]), tree, amount, siblings)
        for m in range(1, len(tree)):
            h = graph.head[tree[m]]
            if h > 0:
                found.run[levels[0].steps[tree[h]] + tree[m] - graph.out[h]] += amount
    else:
        add_tree(search.kind, graph, levels, tree, amount, found)


@kernel
def tree_score(search: Search | None, graph: Graph, levels: Levels, tree: Ints, tables: Tables) -> float:
    """The score of a tree."""
    entries = room_like(tables)
    add_known_tree(search, graph, levels, tree, 1.0, entries)
    score = 0.0
    for scores, counts in zip(tables, entries):  # noqa: B905
        for i in range(len(scores)):
            if counts[i] != 0.0:
                score += counts[i] * scores[i]
    return score


@kernel
def room_like(tables: Tables) -> Tables:
    """Tables of zeros."""
    return Tables(
        np.zeros(len(tables.step)), np.zeros(len(tables.first)), np.zeros(len(tables.pair)), np.zeros(len(tables.slot)),
        np.zeros(len(tables.second)), np.zeros(len(tables.triple)), np.zeros(len(tables.run)),
        np.zeros(len(tables.last)), np.zeros(len(tables.only)), np.zeros(len(tables.last_pair)),
        np.zeros(len(tables.none)),
    )  # fmt: skip


@kernel
def of_arcs(search: Search | None, graph: Graph, levels: Levels, by_step: Floats) -> Floats:
    """By arc, what `step` of some tables holds for the steps over it."""
    if search is None:
        return by_step
    return sum_by_arcs(graph, levels[1], by_step)


@kernel
def add_to_arcs(search: Search | None, graph: Graph, levels: Levels, by_arc: Floats, by_step: Floats) -> None:
    """Add to the scores of arcs in `step` of some tables."""
    if search is None:
        by_step += by_arc
    else:
        add_by_steps(graph, levels[1], by_arc, by_step)


@kernel
def sum_labels(scores: Floats) -> Floats:
    """The log of the sum over the labels of every arc; `scores`, (arcs, labels), become their probabilities. 0 if there are none."""
    arcs, labels = scores.shape
    sums = np.zeros(arcs)
    for b in range(1, arcs if labels > 0 else 0):
        row = scores[b]
        top = row[0]
        for label in range(1, labels):
            top = max(top, row[label])
        total = 0.0
        for label in range(labels):
            row[label] = exp_of_negative(row[label] - top)
            total += row[label]
        share = 1.0 / total
        for label in range(labels):
            row[label] *= share
        sums[b] = top + np.log(total)
    return sums


@kernel
def max_labels(scores: Floats) -> Floats:
    """The score of the best label of every arc; `scores` become 1 for it, 0 for all others."""
    arcs, labels = scores.shape
    best = np.zeros(arcs)
    for b in range(1, arcs if labels > 0 else 0):
        label = np.argmax(scores[b])
        best[b] = scores[b, label]
        scores[b] = 0.0
        scores[b, label] = 1.0
    return best


@kernel
def are_finite(tables: Tables) -> bool:
    """Whether all scores can be searched: numbers of moderate size."""
    greatest = 0.0
    for table in tables:
        for i in range(len(table)):
            greatest = max(greatest, abs(table[i])) if table[i] == table[i] else np.inf
    return greatest < 1e100
