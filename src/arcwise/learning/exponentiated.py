"""Exponentiated gradient on the dual of the log-linear and of the max-margin objective.

Koo (2010), figure 4-2 and appendix A; Collins et al. (2008). The dual variables are a distribution over the trees of every
sentence, kept as a number theta for each of its parts, and the weights follow from them:

    p(y) ~ exp(sum of theta over the parts of y),    w = 1/C sum over sentences of (f(right tree) - features to expect under p).

A sentence's step moves its theta towards the scores of its parts under w, and w along with it:

    log-linear    theta <- (1 - rate) theta + rate w . f(part)
    max-margin    theta <- theta + rate (w . f(part) + 1 if the part is wrong)

Online, w moves after every sentence; in a batch, after all of them. (The thesis states chapter 4 with its C where 1/C stands here.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.moves import Move
from arcwise.features.tokens import longest_sentence
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.oracles import (
    add_known_tree,
    add_to_arcs,
    are_finite,
    expected_parts,
    of_arcs,
    right_arcs,
    room_like,
    sum_labels,
)
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import (
    Search,
    Space,
    empty_tables,
    hash_sentence,
    kept_graph,
    labels_learned,
    levels_of,
    make_scratch,
    move_arcs,
    move_higher,
    score_arcs,
    score_parts,
)
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Floats


class Objective(NamedTuple):
    """Which dual: the log-linear one, with entropy, or that of the margin. cost: of a wrong head or label, for the
    latter: Hamming loss."""

    entropy: bool
    cost: float


LOG_LINEAR, MAX_MARGIN = Objective(True, 0.0), Objective(False, 1.0)
BETA = 9.0  # the theta of right arcs at the start


class Duals(NamedTuple):
    """The dual variables of all sentences: those of sentence s from starts[s] on, all tables of its parts, then labels by arc.

    theta: of every part. counted: the probabilities of the parts that the weights are made of.
    """

    starts: NDArray[np.int64]
    theta: NDArray[Any]
    counted: NDArray[Any]


@kernel
def dual_sizes(
    corpus: Corpus, pruned: PrunedCorpus, search: Search | None, space: Space
) -> NDArray[np.int64]:
    """Where the dual variables of each sentence begin, and the end."""
    sentences = len(corpus.starts) - 1
    starts = np.zeros(sentences + 1, np.int64)
    for s in range(sentences):
        graph = kept_graph(corpus, pruned, s)
        size = len(graph.head) * labels_learned(space)
        for table in empty_tables(search, graph, levels_of(search, graph), space.parts.end > 0):
            size += len(table)
        starts[s + 1] = starts[s] + size
    return starts


@kernel
def begin_duals(
    corpus: Corpus, pruned: PrunedCorpus, search: Search | None, space: Space, beta: float, duals: Duals
) -> None:
    """Fill the dual variables: theta is beta for right arcs and labels, 0 for all others; the weights are made of right trees only,
    that is, they are 0. The first epoch should have a rate of 0, which makes the weights fit theta.
    """
    for s in range(len(corpus.starts) - 1):
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        graph = kept_graph(corpus, pruned, s)
        levels = levels_of(search, graph)
        theta = empty_tables(search, graph, levels, space.parts.end > 0)
        counted = room_like(theta)
        tree, right = np.empty(end - begin, np.int32), np.zeros(len(graph.head))
        right_arcs(graph, corpus.heads[begin:end], tree)
        for m in range(1, len(tree)):
            right[tree[m]] = beta
        add_to_arcs(search, graph, levels, right, theta.step)
        add_known_tree(search, graph, levels, tree, 1.0, counted)
        at, number = duals.starts[s], labels_learned(space)
        for table, counts in zip(theta, counted):  # noqa: B905
            for i in range(len(table)):
                duals.theta[at + i], duals.counted[at + i] = table[i], counts[i]
            at += len(table)
        if number > 0:
            for b in range(1, len(graph.head)):
                label = corpus.labels[begin + graph.modifier[b]]
                duals.theta[at + b * number + label] = beta
            for m in range(1, len(tree)):
                duals.counted[at + tree[m] * number + corpus.labels[begin + m]] = 1.0


@kernel
def exponentiated_epoch(
    corpus: Corpus,
    pruned: PrunedCorpus,
    order: NDArray[np.int64],
    search: Search | None,
    space: Space,
    single_root: bool,
    objective: Objective,
    duals: Duals,
    rate: float,
    weights: NDArray[Any],
    move: Move,
) -> tuple[float, int]:
    """One pass over the sentences in `order`; returns their share of the dual objective, and how many words have another
    arc or label of a higher score than the right one.

    The dual objective, to be minimised, is C/2 |w|^2 plus the shares: log-linear, minus the entropy; max-margin, minus the errors to
    expect. Its minimum is minus that of the primal objective, and the sum of both is the gap, which is never negative.

    move: its rate is 1/C and its target the weights (online) or a copy of them (batch); parts whose probability has changed by no
    more than `negligible` since their features were last moved wait, so that nothing is lost. All heads and labels must be known.
    A sentence costs what it does in `gradient_epoch`. The share is NaN, and the pass ends, if scores are not finite.
    """
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    number, total, wrong = labels_learned(space), 0.0, 0
    keep = 1.0 - rate if objective.entropy else 1.0
    at_once = Move(move.target, move.squares, move.rate, 0.0)
    for s in order:
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        graph = kept_graph(corpus, pruned, s)
        levels = levels_of(search, graph)
        arcs, labels = np.empty(len(graph.head)), np.empty((len(graph.head), number))
        hash_sentence(space, corpus.numbers[begin:end], scratch)
        score_arcs(space, weights, graph, scratch, arcs, labels)
        wrong += _wrong_words(graph, arcs, labels, corpus.heads[begin:end], corpus.labels[begin:end])
        tables = score_parts(search, space, weights, graph, levels, arcs, scratch)
        costs = np.zeros(len(arcs))
        for b in range(1, len(arcs)):
            m = graph.modifier[b]
            costs[b] = objective.cost if graph.head[b] != corpus.heads[begin + m] else 0.0
            if number > 0:
                labels[b] += objective.cost
                labels[b, corpus.labels[begin + m]] -= objective.cost
        add_to_arcs(search, graph, levels, costs, tables.step)

        at = duals.starts[s]
        for table in tables:
            _step(keep, rate, duals.theta[at : at + len(table)], table)
            at += len(table)
        theta = duals.theta[at : duals.starts[s + 1]].reshape(len(arcs), number)
        for b in range(1, len(arcs)):
            _step(keep, rate, theta[b], labels[b])
        together = sum_labels(labels)
        add_to_arcs(search, graph, levels, together, tables.step)
        if not are_finite(tables):
            return np.nan, wrong
        found = room_like(tables)
        log_partition = expected_parts(search, None, graph, levels, tables, single_root, found)

        if objective.entropy:
            total -= log_partition
            for table, shares in zip(tables, found):  # noqa: B905
                for i in range(len(table)):
                    if shares[i] > 0.0:
                        total += shares[i] * table[i]
        by_arc = of_arcs(search, graph, levels, found.step)
        for b in range(1, len(arcs)):
            m, share = graph.modifier[b], by_arc[b]
            total -= costs[b] * share
            if number > 0:
                total -= objective.cost * share * (1.0 - labels[b, corpus.labels[begin + m]])
            for label in range(number):
                if objective.entropy and labels[b, label] > 0.0:
                    total += share * labels[b, label] * np.log(labels[b, label])
                labels[b, label] *= share

        at = duals.starts[s]
        for shares in found:
            _count(move.negligible, duals.counted[at : at + len(shares)], shares)
            at += len(shares)
        counted = duals.counted[at : duals.starts[s + 1]].reshape(len(arcs), number)
        for b in range(1, len(arcs)):
            _count(move.negligible, counted[b], labels[b])
        move_arcs(space, graph, of_arcs(search, graph, levels, found.step), labels, scratch, at_once)
        if search is not None:
            move_higher(search, space, graph, levels, found, scratch, at_once)
    return total, wrong


@kernel
def _wrong_words(graph: Graph, arcs: Floats, labels: Floats, heads: Ints, right_labels: Ints) -> int:
    """How many words another arc into them suits better, or another label, by the weights."""
    best, right = np.full(len(heads), -np.inf), np.zeros(len(heads), np.bool_)
    for b in range(1, len(arcs)):
        m, label, score = graph.modifier[b], -1, arcs[b]
        if labels.shape[1] > 0:
            label = int(np.argmax(labels[b]))
            score += labels[b, label]
        if score > best[m]:
            best[m], right[m] = score, graph.head[b] == heads[m] and (label < 0 or label == right_labels[m])
    return len(heads) - 1 - int(np.count_nonzero(right))


@kernel
def _step(keep: float, rate: float, theta: NDArray[Any], scores: Floats) -> None:
    """Move theta towards the scores, which become the new theta."""
    for i in range(len(scores)):
        if scores[i] > -np.inf:
            theta[i] = keep * theta[i] + rate * scores[i]
            scores[i] = theta[i]


@kernel
def _count(negligible: float, counted: NDArray[Any], shares: Floats) -> None:
    """Count with new probabilities, which become what was counted less what is now: 0 if negligible, and then nothing changes."""
    for i in range(len(shares)):
        change = counted[i] - shares[i]
        if abs(change) > negligible:
            counted[i] = shares[i]
            shares[i] = change
        else:
            shares[i] = 0.0
