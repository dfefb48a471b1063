"""Averaged perceptron and MIRA: after each sentence, move the weights from the tree found towards the right one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, arc_features, label_features, most_arc_features
from arcwise.features.templates import Templates
from arcwise.features.tokens import Tokens, hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.pruned import PrunedCorpus
from arcwise.search.spanning_tree import make_room, spanning_tree


class Learner(NamedTuple):
    """How far to move. cost: what a wrong head or a wrong label adds to a tree's score in training. limit: the longest step of
    MIRA, min(limit, loss / |difference|^2); 0 for the perceptron, whose steps are 1.
    """

    cost: float
    limit: float


LEARNERS = {"mira": Learner(cost=1.0, limit=0.01), "perceptron": Learner(cost=0.0, limit=0.0)}


class Training(NamedTuple):
    """The weights in training: the arcs' table, then the label rows, in one vector.

    weights: float32. moves: float64, the sum over all moves of the move times the number of steps made before: the average of the
    weights after each of T steps is weights - moves / T. difference: int16, scratch, all zero between sentences.
    """

    weights: NDArray[np.float32]
    moves: NDArray[np.float64]
    difference: NDArray[np.int16]
    arc_bits: int
    label_bits: int
    labels: int


def make_training(arc_bits: int, label_bits: int, labels: int) -> Training:
    """All weights zero."""
    size = (1 << arc_bits) + (labels << label_bits)
    return Training(
        np.zeros(size, np.float32), np.zeros(size), np.zeros(size, np.int16), arc_bits, label_bits, labels
    )


@kernel
def average(weights: NDArray[np.float32], moves: NDArray[np.float64], steps: int) -> NDArray[np.float32]:
    """The mean of the weights after each of the steps made."""
    mean = np.empty(len(weights), np.float32)
    for i in range(len(weights)):
        mean[i] = np.float32(weights[i] - moves[i] / steps)
    return mean


@kernel
def _label_scores(training: Training, rows: Indices, count: int, scores: NDArray[np.float32]) -> None:
    labels = training.labels
    table = training.weights[1 << training.arc_bits :]
    scores[:] = 0.0
    for k in range(count):
        begin = rows[k] * labels
        row = table[begin : begin + labels]
        for label in range(labels):
            scores[label] += row[label]


@kernel
def count_features(
    training: Training,
    features: Indices,
    count: int,
    base: int,
    stride: int,
    sign: int,
    changed: Indices,
    at: int,
) -> int:
    """Add `sign` to the difference at base + stride * feature for every feature, and list the places."""
    for k in range(count):
        i = base + stride * np.int64(features[k])
        training.difference[i] += sign
        changed[at + k] = i
    return at + count


@kernel
def score_arc(
    training: Training,
    templates: Templates,
    tokens: Tokens,
    allowed: NDArray[np.bool_],
    h: int,
    m: int,
    right: int,
    label_cost: np.float32,
    indices: Indices,
    rows: Indices,
    scores: NDArray[np.float32],
) -> tuple[np.float32, int]:
    """The score of an arc without its label, and its best label; `scores` holds those of the labels, wrong ones with their cost."""
    total = np.float32(0.0)
    for k in range(arc_features(tokens, templates, training.arc_bits, h, m, indices)):
        total += training.weights[indices[k]]
    count = label_features(tokens, templates, training.label_bits, h, m, rows)
    _label_scores(training, rows, count, scores)
    best = -1
    for label in range(training.labels):
        if label != right:
            scores[label] += label_cost
        if allowed[min(h, 1), label] and (best < 0 or scores[label] > scores[best]):
            best = label
    return total, best


@kernel
def count_arcs(
    training: Training,
    templates: Templates,
    tokens: Tokens,
    m: int,
    right_arc: tuple[int, int],
    found_arc: tuple[int, int],
    indices: Indices,
    rows: Indices,
    changed: Indices,
    at: int,
) -> int:
    """Add to the difference what tells the right head and label of m from those found, and list the places; where the list ends."""
    (g, right), (h, label) = right_arc, found_arc
    base = 1 << training.arc_bits
    if h != g:
        count = arc_features(tokens, templates, training.arc_bits, g, m, indices)
        at = count_features(training, indices, count, 0, 1, 1, changed, at)
        count = arc_features(tokens, templates, training.arc_bits, h, m, indices)
        at = count_features(training, indices, count, 0, 1, -1, changed, at)
    count = label_features(tokens, templates, training.label_bits, g, m, rows)
    at = count_features(training, rows, count, base + right, training.labels, 1, changed, at)
    count = label_features(tokens, templates, training.label_bits, h, m, rows)
    return count_features(training, rows, count, base + label, training.labels, -1, changed, at)


@kernel
def move_weights(
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
def online_epoch(
    corpus: Corpus,
    pruned: PrunedCorpus,
    order: NDArray[np.int64],
    templates: Templates,
    allowed: NDArray[np.bool_],
    single_root: bool,
    learner: Learner,
    step: int,
    training: Training,
) -> tuple[int, int]:
    """One pass over the sentences in `order`, in place; `step` counts on from there. Returns how many heads and how many labels
    of right heads were wrong (in the search with costs).

    A sentence costs the features of its kept arcs and an O(n^2) search. The arcs kept must hold the right tree. Without label
    templates only heads are learned.
    """
    longest = longest_sentence(corpus.starts)
    tokens, room = make_tokens(longest, templates.end), make_room(longest)
    matrix = np.empty((longest + 1) ** 2)
    most = most_arc_features(longest, templates)
    indices, rows = np.empty(most, np.uint32), np.empty(templates.end, np.uint32)
    changed = np.empty(2 * longest * (most + templates.end), np.uint32)
    scores = np.empty(training.labels, np.float32)
    heads = np.empty(longest + 1, np.int32)
    found = np.empty((longest + 1, longest + 1), np.int32)  # the best label of each arc
    label_cost = np.float32(learner.cost if templates.end > templates.labels else 0.0)
    wrong_heads, wrong_labels = 0, 0
    for s in order:
        step += 1
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        S = matrix[: size * size].reshape((size, size))
        S[:] = -np.inf
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        gold_heads, gold_labels = corpus.heads[begin:end], corpus.labels[begin:end]
        first, arc_heads = pruned.first[begin + s :], pruned.heads[pruned.arc_starts[s] :]
        for m in range(1, size):
            for a in range(first[m], first[m + 1]):
                h = arc_heads[a]
                total, best = score_arc(
                    training,
                    templates,
                    tokens,
                    allowed,
                    h,
                    m,
                    gold_labels[m],
                    label_cost,
                    indices,
                    rows,
                    scores,
                )
                if h != gold_heads[m]:
                    total += np.float32(learner.cost)
                S[h, m] = total + scores[best]
                found[h, m] = best
        spanning_tree(S, single_root, room, heads[:size])

        cost, changes = 0.0, 0
        for m in range(1, size):
            h, label, g, right = heads[m], found[heads[m], m], gold_heads[m], gold_labels[m]
            if h == g and label == right:
                continue
            if label != right:
                cost += float(label_cost)
            if h != g:
                wrong_heads += 1
                cost += learner.cost
            else:
                wrong_labels += 1
            changes = count_arcs(
                training, templates, tokens, m, (g, right), (h, label), indices, rows, changed, changes
            )
        if changes > 0:
            move_weights(training, changed, changes, learner, cost, step - 1)
    return wrong_heads, wrong_labels
