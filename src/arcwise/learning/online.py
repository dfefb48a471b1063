"""Averaged perceptron and MIRA: after each sentence, move the weights from the tree found towards the right one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, arc_features, label_features
from arcwise.features.tokens import longest_sentence
from arcwise.features.tree_parts import most_tree_features, tree_features
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.oracles import add_to_arcs, best_tree, right_arcs
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import (
    Scratch,
    Search,
    Space,
    hash_sentence,
    kept_graph,
    labels_learned,
    levels_of,
    make_scratch,
    score_arcs,
    score_parts,
)
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Floats


class Learner(NamedTuple):
    """How far to move. cost: what a wrong head or a wrong label adds to a tree's score in training. limit: the longest step of
    MIRA, min(limit, loss / |difference|^2); 0 for the perceptron, whose steps are 1.
    """

    cost: float
    limit: float


LEARNERS = {"mira": Learner(cost=1.0, limit=0.01), "perceptron": Learner(cost=0.0, limit=0.0)}


class Training(NamedTuple):
    """The weights in training, laid out as `Space` has them.

    weights: float32. moves: float64, the sum over all moves of the move times the number of steps made before: the average of the
    weights after each of T steps is weights - moves / T. difference: int16, scratch, all zero between sentences.
    """

    weights: NDArray[np.float32]
    moves: NDArray[np.float64]
    difference: NDArray[np.int16]


@kernel
def average(weights: NDArray[np.float32], moves: NDArray[np.float64], steps: int) -> NDArray[np.float32]:
    """The mean of the weights after each of the steps made."""
    mean = np.empty(len(weights), np.float32)
    for i in range(len(weights)):
        mean[i] = np.float32(weights[i] - moves[i] / steps)
    return mean


@kernel
def _count_features(
    training: Training, features: Indices, base: int, stride: int, sign: int, changed: Indices, at: int
) -> int:  # fmt: skip
    """Add `sign` to the difference at base + stride * feature for every feature, and list the places."""
    for k in range(len(features)):
        i = base + stride * np.int64(features[k])
        training.difference[i] += sign
        changed[at + k] = i
    return at + len(features)


@kernel
def _count_arc(
    training: Training, space: Space, scratch: Scratch, h: int, m: int, sign: int, changed: Indices, at: int
) -> int:
    """The same for the features of an arc."""
    count = arc_features(scratch.tokens, space.templates, space.arc_bits, h, m, scratch.indices)
    return _count_features(training, scratch.indices[:count], 0, 1, sign, changed, at)


@kernel
def _count_label(
    training: Training, space: Space, scratch: Scratch, h: int, m: int, label: int, sign: int, changed: Indices, at: int
) -> int:  # fmt: skip
    """The same for the features of an arc with a label."""
    count = label_features(scratch.tokens, space.templates, space.label_bits, h, m, scratch.rows)
    base = (1 << space.arc_bits) + label
    return _count_features(training, scratch.rows[:count], base, space.allowed.shape[1], sign, changed, at)


@kernel
def _move_weights(
    training: Training, changed: Indices, count: int, learner: Learner, cost: float, step: int
) -> None:
    """Move the weights along the difference of the right tree and the one found, whose places `changed` lists (some twice), and clear
    it. cost: of the tree found; its score with the cost less that of the right tree is the loss.
    """
    values = np.empty(count, np.int16)
    distinct, norm, loss = 0, 0.0, cost
    for k in range(count):
        i = changed[k]
        d = training.difference[i]
        if d != 0:
            changed[distinct], values[distinct] = i, d
            distinct += 1
            norm += np.float64(d) * d
            loss -= np.float64(d) * training.weights[i]
            training.difference[i] = 0
    if distinct == 0:
        return
    length = min(learner.limit, max(loss, 0.0) / norm) if learner.limit > 0.0 else 1.0
    for k in range(distinct):
        by = length * values[k]
        training.weights[changed[k]] += np.float32(by)
        training.moves[changed[k]] += by * step


@kernel
def _best_labels(
    graph: Graph, labels: NDArray[np.float32], right: Ints, cost: float, best: Ints, scores: Floats
) -> None:
    """The best label of every arc and its score, when other labels than the right one of a word have a cost; no cost if it is -1."""
    for b in range(1, len(graph.head) if labels.shape[1] > 0 else 0):
        row, own = labels[b], right[graph.modifier[b]]
        label, top = -1, -np.inf
        for other in range(len(row)):
            score = row[other] + (cost if own >= 0 and other != own else 0.0)
            if score > top:
                label, top = other, score
        best[b], scores[b] = label, top


@kernel
def online_epoch(
    corpus: Corpus,
    pruned: PrunedCorpus,
    order: NDArray[np.int64],
    search: Search | None,
    space: Space,
    single_root: bool,
    learner: Learner,
    step: int,
    training: Training,
) -> tuple[int, int]:
    """One pass over the sentences in `order`, in place; `step` counts on from there. Returns how many heads and how many labels
    of right heads were wrong (in the search with costs).

    A sentence costs the features of the arcs kept and of their parts, and the search; right trees must be projective for a chart.
    The arcs kept must hold the right tree. Where heads or labels are not known (-1), it is the best tree by the weights as they are
    that has the known ones, and errors in unknown heads and labels have no cost.
    """
    longest = longest_sentence(corpus.starts)
    scratch, number = make_scratch(space, longest), labels_learned(space)
    most_parts = most_tree_features(longest, space.parts)
    changed = np.empty(2 * longest * (len(scratch.indices) + len(scratch.rows)) + 2 * most_parts, np.uint32)
    parts, part_base = np.empty(most_parts, np.uint32), len(training.weights) - (1 << space.part_bits)
    wrong_heads, wrong_labels = 0, 0
    for s in order:
        step += 1
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        graph = kept_graph(corpus, pruned, s)
        levels = levels_of(search, graph)
        arcs, labels = np.empty(len(graph.head)), np.empty((len(graph.head), number), np.float32)
        hash_sentence(space, corpus.numbers[begin:end], scratch)
        score_arcs(space, training.weights, graph, scratch, arcs, labels)
        tables = score_parts(search, space, training.weights, graph, levels, arcs, scratch)
        known_heads, known_labels = corpus.heads[begin:end], corpus.labels[begin:end]

        found, right = np.empty(size, np.int32), np.empty(size, np.int32)
        best, scores = np.full(len(arcs), -1, np.int32), np.zeros(len(arcs))
        right_labels = known_labels
        whole = right_arcs(graph, known_heads, right)
        if not whole or (number > 0 and known_labels[1:].min() < 0):
            plain = tables.step.copy()
            _best_labels(graph, labels, known_labels, -np.inf, best, scores)
            for b in range(1, len(arcs)):
                if known_heads[graph.modifier[b]] >= 0 and known_heads[graph.modifier[b]] != graph.head[b]:
                    scores[b] = -np.inf
            add_to_arcs(search, graph, levels, scores, tables.step)
            best_tree(search, graph, levels, tables, single_root, right)
            tables.step[:] = plain
            right_labels = np.empty(size, np.int32)
            for m in range(1, size):
                right_labels[m] = best[right[m]]
            scores[:] = 0.0
        _best_labels(graph, labels, known_labels, learner.cost, best, scores)
        for b in range(1, len(arcs)):
            if known_heads[graph.modifier[b]] >= 0 and known_heads[graph.modifier[b]] != graph.head[b]:
                scores[b] += learner.cost
        add_to_arcs(search, graph, levels, scores, tables.step)
        best_tree(search, graph, levels, tables, single_root, found)

        cost, changes, other_tree = 0.0, 0, False
        for m in range(1, size):
            g, h, label = graph.head[right[m]], graph.head[found[m]], best[found[m]]
            if h == g and (number == 0 or label == right_labels[m]):
                continue
            if number > 0 and known_labels[m] >= 0 and label != known_labels[m]:
                cost += learner.cost
            if h != g:
                wrong_heads += 1
                other_tree = True
                if known_heads[m] >= 0:
                    cost += learner.cost
                changes = _count_arc(training, space, scratch, g, m, 1, changed, changes)
                changes = _count_arc(training, space, scratch, h, m, -1, changed, changes)
            else:
                wrong_labels += 1
            if number > 0:
                changes = _count_label(training, space, scratch, g, m, right_labels[m], 1, changed, changes)
                changes = _count_label(training, space, scratch, h, m, label, -1, changed, changes)
        if search is not None and space.parts.end > 0 and other_tree:
            for tree, sign in ((right, 1), (found, -1)):
                heads = graph.head[tree]
                count = tree_features(
                    search.kind, heads, scratch.part_tokens, space.parts, space.part_bits, parts
                )
                changes = _count_features(training, parts[:count], part_base, 1, sign, changed, changes)
        if changes > 0:
            _move_weights(training, changed, changes, learner, cost, step - 1)
    return wrong_heads, wrong_labels
