"""Averaged perceptron and MIRA: after each sentence, move the weights from the tree found towards the right one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, arc_features, label_features
from arcwise.features.far_features import most_whole_features
from arcwise.features.tokens import longest_sentence
from arcwise.features.tree_parts import most_tree_features, tree_features
from arcwise.features.whole_tree import WholeTree, whole_tree_features
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.oracles import add_to_arcs, best_arcs, best_tree, right_arcs
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import (
    Levels,
    Scratch,
    Search,
    Space,
    far_size,
    hash_sentence,
    kept_graph,
    labels_learned,
    levels_of,
    make_scratch,
    score_arcs,
    score_parts,
)
from arcwise.learning.tensor import TensorTraining, begin_tensor, move_tensor, tensor_difference
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Floats, Tables
from arcwise.search.automata import Flags


class Learner(NamedTuple):
    """How far to move. cost: what a wrong head or a wrong label adds to a tree's score in training. limit: the longest step of
    MIRA, min(limit, loss / |difference|^2); 0 for the perceptron, whose steps are 1. far: the value of features of far parts and
    whole trees, which are many and seldom met: if it were 1 as for all others, steps would go to them and not to what is common.
    """

    cost: float
    limit: float
    far: float = 0.3


LEARNERS = {"mira": Learner(cost=1.0, limit=0.01), "perceptron": Learner(cost=0.0, limit=0.0)}


class Training(NamedTuple):
    """The weights in training, laid out as `Space` has them.

    weights: float32. moves: float64, the sum over all moves of the move times the number of steps made before: the average of the
    weights after each of T steps is weights - moves / T. difference: int16, scratch, all zero between sentences. tensor: if there
    is one; kernels without do not compile any of it.
    """

    weights: NDArray[np.float32]
    moves: NDArray[np.float64]
    difference: NDArray[np.int16]
    tensor: TensorTraining | None = None


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
    training: Training, changed: Indices, count: int, learner: Learner, cost: float, square: float, far: int, step: int
) -> float:  # fmt: skip
    """Move the weights along the difference of the right tree and the one found, whose places `changed` lists (some twice), and clear
    it. cost: of the tree found; its score with the cost less that of the right tree is the loss. square: what other features, whose
    scores are in the cost, add to the difference's squared norm. far: where the weights of far parts and whole trees begin; their
    features have the value `learner.far` instead of 1, which is in the weights already. Returns the length of the step.
    """
    values = np.empty(count, np.int16)
    distinct, norm, loss = 0, square, cost
    for k in range(count):
        i = changed[k]
        d = training.difference[i]
        if d != 0:
            changed[distinct], values[distinct] = i, d
            distinct += 1
            norm += np.float64(d) * d * (learner.far**2 if i >= far else 1.0)
            loss -= np.float64(d) * training.weights[i]
            training.difference[i] = 0
    if norm == 0.0:
        return 0.0
    length = min(learner.limit, max(loss, 0.0) / norm) if learner.limit > 0.0 else 1.0
    for k in range(distinct):
        by = length * values[k] * (learner.far**2 if changed[k] >= far else 1.0)
        training.weights[changed[k]] += np.float32(by)
        training.moves[changed[k]] += by * step
    return float(length)


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


class Lesson(NamedTuple):
    """A sentence as it is learned from.

    own: the scores of the arcs alone, labels: (arcs, labels) those of their labels, tables: those of all parts, and plain: of `step`
    there; all by the weights as they are, but that `step` also has what the search is to go by. best, scores: of every arc the best
    label and what that and costs add. found, up: the arcs that the search took, and the one that it supposes into each word. right,
    right_up: the same of the right tree, and right_labels its labels.
    """

    graph: Graph
    levels: Levels
    tables: Tables
    plain: Floats
    own: Floats
    labels: NDArray[np.float32]
    best: Ints
    scores: Floats
    found: Flags
    up: Ints
    right: Flags
    right_up: Ints
    right_labels: Ints


@kernel
def begin_lesson(
    corpus: Corpus, pruned: PrunedCorpus, s: int, search: Search | None, space: Space, training: Training, scratch: Scratch
) -> tuple[Lesson, bool]:  # fmt: skip
    """Score sentence s; and whether its right tree is known, with its labels, if they are learned."""
    first, end = corpus.starts[s], corpus.starts[s + 1]
    size, number = end - first, labels_learned(space)
    graph = kept_graph(corpus, pruned, s)
    levels, arcs = levels_of(search, graph), len(graph.head)
    own, labels = np.empty(arcs), np.empty((arcs, number), np.float32)
    hash_sentence(space, corpus.numbers[first:end], scratch)
    score_arcs(space, training.weights, graph, scratch, own, labels)
    begin_tensor(training.tensor, corpus.numbers[first:end], graph, own)
    tables = score_parts(search, space, training.weights, graph, levels, own.copy(), scratch)
    right_up, right_labels = np.empty(size, np.int32), corpus.labels[first:end].copy()
    whole = right_arcs(graph, corpus.heads[first:end], right_up)
    if number > 0 and right_labels[1:].min() < 0:
        whole = False
    lesson = Lesson(
        graph, levels, tables, tables.step.copy(), own, labels, np.full(arcs, -1, np.int32), np.zeros(arcs),
        np.empty(arcs, np.bool_), np.empty(size, np.int32), np.zeros(arcs, np.bool_), right_up, right_labels,
    )  # fmt: skip
    return lesson, whole


@kernel
def add_costs(
    corpus: Corpus, s: int, search: Search | None, learner: Learner, completing: bool, lesson: Lesson
) -> None:
    """Make the scores of arcs those that the search goes by: with their best labels, and the costs of these and of the arcs.

    An arc too many and an arc too few cost one half each, so that a wrong head costs one. completing: what is known must be, and
    nothing costs anything.
    """
    graph, scores, cost = lesson.graph, lesson.scores, learner.cost
    heads, labels = corpus.heads[corpus.starts[s] :], corpus.labels[corpus.starts[s] :]
    scores[:] = 0.0
    _best_labels(graph, lesson.labels, labels, -np.inf if completing else cost, lesson.best, scores)
    for b in range(1, len(scores)):
        head = heads[graph.modifier[b]]
        if head >= 0 and head != graph.head[b]:
            scores[b] += -np.inf if completing else 0.5 * cost
        elif head >= 0 and not completing:
            scores[b] -= 0.5 * cost
    lesson.tables.step[:] = lesson.plain
    add_to_arcs(search, graph, lesson.levels, scores, lesson.tables.step)


@kernel
def heads_of(graph: Graph, up: Ints) -> Ints:
    """The heads of a tree, given the arc into each word."""
    heads = np.full(len(up), -1, np.int32)
    for m in range(1, len(up)):
        heads[m] = graph.head[up[m]]
    return heads


@kernel
def complete(lesson: Lesson) -> None:
    """What was found is the right tree, and its best labels are right."""
    lesson.right_up[:] = lesson.up
    for m in range(1, len(lesson.up)):
        lesson.right_labels[m] = lesson.best[lesson.up[m]]


@kernel
def end_lesson(
    corpus: Corpus, s: int, search: Search | None, space: Space, learner: Learner, step: int, training: Training,
    scratch: Scratch, lesson: Lesson, whole: WholeTree | None,
) -> tuple[int, int]:  # fmt: skip
    """Move the weights from what was found to the right tree; step: how many were made before. Returns how many heads, and how many
    labels of right heads, were wrong. whole: if trees are scored as wholes, too.
    """
    first, number = corpus.starts[s], labels_learned(space)
    known_heads, known_labels = corpus.heads[first:], corpus.labels[first:]
    graph, found, right, best = lesson.graph, lesson.found, lesson.right, lesson.best
    words, arcs = len(lesson.up) - 1, len(graph.head)
    right[lesson.right_up[1:]] = True
    taken = found.sum() + words
    most_parts = most_tree_features(words, arcs, space.parts)
    if whole is not None:
        most_parts += most_whole_features(words)
    changed = np.empty(taken * (len(scratch.indices) + len(scratch.rows)) + 2 * most_parts, np.uint32)
    cost, changes, wrong_heads, wrong_labels, other = 0.0, 0, 0, 0, False
    for b in range(1, arcs):
        h, m = graph.head[b], graph.modifier[b]
        if found[b] and number > 0 and known_labels[m] >= 0 and best[b] != known_labels[m]:
            cost += learner.cost
        if found[b] != right[b]:
            other = True
            wrong_heads += 1 if right[b] else 0
            cost += 0.5 * learner.cost if known_heads[m] >= 0 else 0.0
            sign = 1 if right[b] else -1
            changes = _count_arc(training, space, scratch, h, m, sign, changed, changes)
        elif not found[b] or number == 0 or best[b] == lesson.right_labels[m]:
            continue
        else:
            wrong_labels += 1
        if number > 0 and right[b]:
            changes = _count_label(
                training, space, scratch, h, m, lesson.right_labels[m], 1, changed, changes
            )
        if number > 0 and found[b]:
            changes = _count_label(training, space, scratch, h, m, best[b], -1, changed, changes)
    if search is not None and space.parts.end > 0:
        for m in range(1, words + 1):
            other = other or (search.kind.complete > 0 and lesson.up[m] != lesson.right_up[m])
        parts = np.empty(most_parts if other else 0, np.uint32)
        end = len(training.weights) - far_size(space)
        base = end - (1 << space.part_bits)
        for sign in (1, -1) if other else (0, 0):
            if sign != 0:
                flags, up = (right, lesson.right_up) if sign > 0 else (found, lesson.up)
                count = tree_features(
                    search.kind, graph, flags, up, scratch.part_tokens, space.parts, space.part_bits, parts
                )
                changes = _count_features(training, parts[:count], base, 1, sign, changed, changes)
                if whole is not None:
                    count = whole_tree_features(whole, heads_of(graph, up), parts)
                    changes = _count_features(training, parts[:count], end, 1, sign, changed, changes)
    if changes > 0:
        margin, square = tensor_difference(training.tensor, graph, found, right)
        far = len(training.weights) - far_size(space)
        length = _move_weights(training, changed, changes, learner, cost - margin, square, far, step)
        move_tensor(training.tensor, words + 1, length, step)
    return wrong_heads, wrong_labels


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
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    wrong_heads, wrong_labels = 0, 0
    for s in order:
        lesson, whole = begin_lesson(corpus, pruned, s, search, space, training, scratch)
        for completing in (True, False):
            if completing and whole:
                continue
            add_costs(corpus, s, search, learner, completing, lesson)
            lesson.found[:] = False
            score = best_tree(search, lesson.graph, lesson.levels, lesson.tables, single_root, lesson.up)
            if score == -np.inf:
                lesson.up[:] = 0
            elif not completing:
                lesson.found[lesson.up[1:]] = True
            if completing:
                complete(lesson)
        heads, labels = end_lesson(corpus, s, search, space, learner, step, training, scratch, lesson, None)
        wrong_heads, wrong_labels, step = wrong_heads + heads, wrong_labels + labels, step + 1
    return wrong_heads, wrong_labels


def automata_epoch(
    corpus: Corpus, pruned: PrunedCorpus, order: NDArray[np.int64], search: Search, steps: int, space: Space, single_root: bool,
    learner: Learner, step: int, training: Training,
) -> tuple[int, int]:  # fmt: skip
    """The same with head automata: from the best tree that so many steps of dual decomposition see or, if there are none, from what
    each word takes on its own, be it a tree or not (Koo et al. 2010, section 6).

    Not one kernel: with the search in it that would take minutes to compile. The calls cost some tenth of a millisecond a sentence.
    """
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    wrong = np.zeros(2, np.int64)
    for s in order.tolist():
        lesson, whole = begin_lesson(corpus, pruned, s, search, space, training, scratch)
        for completing in (True, False):
            if completing and whole:
                continue
            add_costs(corpus, s, search, learner, completing, lesson)
            best_arcs(
                search.kind, lesson.graph, lesson.levels[0], lesson.tables, lesson.own + lesson.scores, single_root,
                max(steps, int(completing)), lesson.found, lesson.up,
            )  # fmt: skip
            if completing:
                complete(lesson)
        wrong += end_lesson(corpus, s, search, space, learner, step, training, scratch, lesson, None)
        step += 1
    return int(wrong[0]), int(wrong[1])
