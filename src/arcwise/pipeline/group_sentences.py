"""At most one dependent of a group of labels at each head, for models of arcs alone: many trees in one call of a kernel.

The same two maximisations as in `arcwise.pipeline.constrained_sentences`, by the same branches, for the one constraint that people
put on whole corpora. It does without what takes the time there: the scores of arcs are those of the search that found the tree, and
labels are scored again only for the arcs in dispute.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, label_features
from arcwise.features.context import (
    Neighbours,
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.pipeline.sentences import Weights
from arcwise.search.spanning_tree import Room, make_room, spanning_tree
from arcwise.search.status import FOUND

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bits = NDArray[np.int64]

MOST_GROUPS = 62  # that fit the bits of a number
_BUDGET = 1000  # searches for trees; more of them are left to `constrained_sentences`


class _Labeller(NamedTuple):
    """What scores the labels of arcs: for the search, or in the context of a tree. own: the scores of arcs with the best labels.
    groups: by label, a bit for each group. rows, scores: room.
    """

    weights: Weights
    tokens: Tokens
    in_tree: bool
    heads: Ints
    tree: Neighbours
    own: Floats
    groups: Bits
    rows: Indices
    scores: NDArray[np.int16]


class _Node(NamedTuple):
    """A part of the trees: by arc its score, its label (-1 if that is the best one, and not yet known), and the groups that its label
    may not be of; by word the groups that its label must be of.
    """

    S: Floats
    label: Ints
    barred: Bits
    needed: Bits


@kernel
def _choose_label(by: _Labeller, node: _Node, h: int, m: int) -> None:
    """The best label of an arc that it may have, and the arc's score with it."""
    weights, templates, scores = by.weights, by.weights.templates, by.scores
    if by.in_tree and weights.in_context:
        count = context_features(by.tokens, templates, weights.label_bits, by.heads, by.tree, m, by.rows)
    else:
        count = label_features(by.tokens, templates, weights.label_bits, h, m, by.rows)
    table = weights.final if by.in_tree else weights.labels
    scores[:] = 0
    for k in range(count):
        row = table[by.rows[k]]
        for label in range(len(scores)):
            scores[label] += row[label]
    penalties, best, chosen = weights.penalties[min(h, 1)], -(1 << 20), -1
    for label in range(len(scores)):
        if penalties[label] == 0:
            groups = by.groups[label]
            best = max(best, scores[label])
            if groups & node.barred[h, m] or node.needed[m] & ~groups:
                continue
            if chosen < 0 or scores[label] > scores[chosen]:
                chosen = label
    node.label[h, m] = chosen
    node.S[h, m] = by.own[h, m] + (scores[chosen] - best) if chosen >= 0 else -np.inf


@kernel
def _crowd(by: _Labeller, node: _Node, tree: Ints, first: Ints) -> tuple[int, int]:
    """A word whose label is of a group that its head has another dependent of, and the group; 0 without one.

    first: room, (n+1, groups).
    """
    first[:] = 0
    for m in range(1, len(tree)):
        h = tree[m]
        if node.label[h, m] < 0:
            _choose_label(by, node, h, m)
        groups = by.groups[node.label[h, m]]
        for g in range(first.shape[1] if groups else 0):
            if groups >> g & 1:
                if first[h, g]:
                    return m, g
                first[h, g] = m
    return 0, 0


@kernel
def _branch(by: _Labeller, node: _Node, groups: int, room: Room, heads: Ints, labels: Ints) -> float:
    """Fill in the best tree of the node under the constraints, and its labels; its score, -inf without one, nan if the budget ends.

    Depth first. A word in dispute either does not take the group at this head, or it does and no other word there: as in
    `arcwise.search.branching`.
    """
    size, best = len(heads), -np.inf
    S, label = np.empty((4, size, size)), np.empty((4, size, size), np.int32)
    barred, needed = np.empty((4, size, size), np.int64), np.empty((4, size), np.int64)
    S[0], label[0], barred[0], needed[0] = node.S, node.label, node.barred, node.needed
    tree, first = np.empty(size, np.int32), np.empty((size, groups), np.int32)
    count, searches = 1, 0
    while count > 0:
        top = count - 1
        here = _Node(S[top], label[top], barred[top], needed[top])
        count -= 1
        searches += 1
        if searches > _BUDGET:
            return np.nan
        if spanning_tree(here.S, by.weights.single_root, room, tree) != FOUND:
            continue
        score = 0.0
        for m in range(1, size):
            score += here.S[tree[m], m]
        if score <= best:
            continue
        word, group = _crowd(by, here, tree, first)
        if word == 0:
            best = score
            heads[:] = tree
            for m in range(1, size):
                labels[m] = here.label[tree[m], m]
            continue
        if top + 2 > len(S):
            S, label = np.concatenate((S, np.empty_like(S))), np.concatenate((label, np.empty_like(label)))
            barred = np.concatenate((barred, np.empty_like(barred)))
            needed = np.concatenate((needed, np.empty_like(needed)))
        S[top + 1], label[top + 1], barred[top + 1], needed[top + 1] = (
            S[top],
            label[top],
            barred[top],
            needed[top],
        )
        count = top + 2
        h, bit = tree[word], np.int64(1) << group
        without, with_ = (
            _Node(S[top], label[top], barred[top], needed[top]),
            _Node(S[top + 1], label[top + 1], barred[top + 1], needed[top + 1]),
        )
        without.barred[h, word] |= bit
        _choose_label(by, without, h, word)
        with_.needed[word] |= bit
        for g in range(size):
            if g != h:
                with_.S[g, word] = -np.inf
        _choose_label(by, with_, h, word)
        for m in range(1, size):
            if m != word and with_.S[h, m] > -np.inf:
                with_.barred[h, m] |= bit
                if with_.label[h, m] < 0 or by.groups[with_.label[h, m]] & bit:
                    _choose_label(by, with_, h, m)
    return best


@kernel
def repair_groups(
    numbers: Ints,
    starts: NDArray[np.int64],
    weights: Weights,
    sentences: NDArray[np.int64],
    groups: Bits,
    matrices: Floats,
    heads: Ints,
    labels: Ints,
    scores: Floats,
) -> None:
    """The best trees of some sentences in which no head has two dependents with labels of one group, and their best labels. Exact.

    Time a branch: O(n^2), and the labels of the arcs from a head. numbers, starts, heads, labels, scores: as of
    `arcwise.pipeline.sentences.parse_sentences`, nothing being given; those of `sentences` are filled. scores: -inf where there is no
    tree, nan where more than 1000 searches would be needed. groups: by label, a bit for each group. matrices: as that function
    leaves them.
    """
    size = 0
    for bits in groups:
        while bits >> size:
            size += 1
    rows = np.empty(most_context_features(weights.templates), np.uint32)
    label_scores = np.empty(weights.labels.shape[1], np.int16)
    for s in sentences:
        begin, end = starts[s], starts[s + 1]
        n, at = end - begin - 1, np.int64(0)
        for before in range(s):
            at += (starts[before + 1] - starts[before]) ** 2
        square = (n + 1, n + 1)
        S = matrices[at : at + square[0] ** 2].reshape(square)
        tokens, tree, room = make_tokens(n, weights.templates.end), make_neighbours(n), make_room(n)
        hash_tokens(numbers[begin:end], weights.templates, tokens)
        tree_heads, tree_labels = heads[begin:end], labels[begin:end]
        by = _Labeller(weights, tokens, False, tree_heads, tree, S, groups, rows, label_scores)
        node = _Node(
            S.copy(), np.full(square, -1, np.int32), np.zeros(square, np.int64), np.zeros(n + 1, np.int64)
        )
        scores[s] = _branch(by, node, size, room, tree_heads, tree_labels)
        if not scores[s] > -np.inf:
            continue
        find_neighbours(tree_heads, tokens, tree)
        own = np.full(square, -np.inf)
        by = _Labeller(weights, tokens, True, tree_heads, tree, own, groups, rows, label_scores)
        node.label[:], node.barred[:], node.needed[:] = -1, 0, 0
        for m in range(1, n + 1):
            h = tree_heads[m]
            own[h, m] = 0.0
            _choose_label(by, node, h, m)
            own[h, m] = label_scores[node.label[h, m]]
        node.S[:] = own
        if np.isnan(_branch(by, node, size, room, tree_heads, tree_labels)):
            scores[s] = np.nan
