"""The gradient of the log-linear and of the max-margin objective, sentence by sentence.

Koo (2010), 2.4 and 4.4: both objectives are C/2 |w|^2 plus a loss for every sentence,

    log-linear    log sum over y of exp(w . f(y))  -  w . f(right tree)
    max-margin    max over y of (w . f(y) + errors of y)  -  w . f(right tree)

and the gradient of a loss is the features to expect, or those of the tree found, less those of the right tree. So both ask an
oracle (`arcwise.learning.oracles`) what each part is worth, and move the weights of the part's features. Where only some heads are
known, the right tree gives way to all trees that have them: to what to expect of these, or to the best of these.
"""

from __future__ import annotations

from typing import Any

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
    best_tree,
    expected_parts,
    max_labels,
    of_arcs,
    right_arcs,
    room_like,
    sum_labels,
    tree_score,
)
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import (
    Levels,
    Search,
    Space,
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
from arcwise.parts.tables import Floats, Tables


@kernel
def _ask(
    cost: float | None, search: Search | None, loopy: bool | None, graph: Graph, levels: Levels, tables: Tables,
    single_root: bool, found: Tables,
) -> float:  # fmt: skip
    """What all trees together score, or the best one, and how much each part counts in that."""
    if cost is None:
        return expected_parts(search, loopy, graph, levels, tables, single_root, found)
    tree = np.empty(len(graph.position), np.int32)
    score = best_tree(search, graph, levels, tables, single_root, tree)
    if score > -np.inf:
        add_known_tree(search, graph, levels, tree, 1.0, found)
    return score


@kernel
def sentence_loss(
    cost: float | None, search: Search | None, loopy: bool | None, graph: Graph, levels: Levels, tables: Tables,
    labels: Floats, heads: Ints, right_labels: Ints, single_root: bool, gradient: Tables, by_arc: Floats,
) -> float:  # fmt: skip
    """The loss of one sentence and its gradient, downwards: of the tables, of arcs, and of labels in place of their scores.

    tables, labels: the scores without and of the labels. heads, right_labels: -1 where they are not known. The loss is NaN if the
    scores are too great or not finite.
    """
    words, arcs, number = len(heads), len(graph.head), labels.shape[1]
    # What each arc adds as one of the right tree: the score of its right label, or -inf if there is another head.
    right = np.zeros(arcs)
    known = np.full(arcs, -1, np.int32)
    costs, each = np.zeros(arcs), 0.0 if cost is None else cost
    for b in range(1, arcs):
        m = graph.modifier[b]
        if heads[m] >= 0 and heads[m] != graph.head[b]:
            right[b], costs[b] = -np.inf, each
        if number > 0 and right_labels[m] >= 0:
            if right[b] == 0.0:
                known[b], right[b] = right_labels[m], labels[b, right_labels[m]]
            for label in range(number):
                if label != right_labels[m]:
                    labels[b, label] += each
    rivals = sum_labels(labels) if cost is None else max_labels(labels)
    for b in range(1, arcs):
        if right[b] == 0.0 and known[b] < 0:
            right[b] = rivals[b]
    rivals += costs
    plain = tables.step.copy()
    add_to_arcs(search, graph, levels, rivals, tables.step)
    if not are_finite(tables):
        return np.nan
    found = room_like(tables)
    loss = _ask(cost, search, loopy, graph, levels, tables, single_root, found)
    tables.step[:] = plain
    tree = np.empty(words, np.int32)
    if right_arcs(graph, heads, tree):
        loss -= tree_score(search, graph, levels, tree, tables)
        for m in range(1, words):
            loss -= right[tree[m]]
        add_known_tree(search, graph, levels, tree, 1.0, gradient)
    else:
        add_to_arcs(search, graph, levels, right, tables.step)
        loss -= _ask(cost, search, loopy, graph, levels, tables, single_root, gradient)
        tables.step[:] = plain

    by_right = of_arcs(search, graph, levels, gradient.step)
    by_rivals = of_arcs(search, graph, levels, found.step)
    for b in range(1, arcs):
        by_arc[b] = by_right[b] - by_rivals[b]
        for label in range(number):
            share = labels[b, label]
            labels[b, label] = -by_rivals[b] * share
            if known[b] < 0:
                labels[b, label] += by_right[b] * share
        if known[b] >= 0:
            labels[b, known[b]] += by_right[b]
    for table, rest in zip(gradient, found):  # noqa: B905
        for i in range(len(table)):
            table[i] -= rest[i]
    return loss


@kernel
def gradient_epoch(
    corpus: Corpus,
    pruned: PrunedCorpus,
    order: NDArray[np.int64],
    search: Search | None,
    loopy: bool | None,
    space: Space,
    single_root: bool,
    cost: float | None,
    weights: NDArray[Any],
    move: Move,
) -> tuple[float, int]:
    """One pass over the sentences in `order`: their losses, and how many words had a gradient of more than a half.

    cost: what a wrong head or a wrong label adds to a rival in max-margin learning; None for log-linear learning. loopy: True if the
    search is, else None.

    After each sentence `move` goes along the gradient of its loss: with the weights as its target these are steps of stochastic
    gradient descent, with another vector it is filled with the gradient of the sum. The loss is NaN, and the pass ends, if scores
    are not finite. A sentence costs the features of the arcs kept and of their parts, once to score them and once to move those that
    are not negligible, and the oracle.
    """
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    number, total, wrong = labels_learned(space), 0.0, 0
    for s in order:
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        graph = kept_graph(corpus, pruned, s)
        levels = levels_of(search, graph)
        arcs, labels = np.empty(len(graph.head)), np.empty((len(graph.head), number))
        hash_sentence(space, corpus.numbers[begin:end], scratch)
        score_arcs(space, weights, graph, scratch, arcs, labels)
        tables = score_parts(search, space, weights, graph, levels, arcs, scratch)
        gradient, by_arc = room_like(tables), np.zeros(len(arcs))
        loss = sentence_loss(
            cost, search, loopy, graph, levels, tables, labels, corpus.heads[begin:end], corpus.labels[begin:end],
            single_root, gradient, by_arc,
        )  # fmt: skip
        total += loss
        if not abs(loss) < np.inf:
            return np.nan, wrong
        for b in range(1, len(by_arc)):
            wrong += by_arc[b] > 0.5 or (number > 0 and labels[b].max() > 0.5)
        move_arcs(space, graph, by_arc, labels, scratch, move)
        if search is not None:
            move_higher(search, space, graph, levels, gradient, scratch, move)
    return total, wrong
