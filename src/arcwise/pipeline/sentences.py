"""From words as numbers to labelled trees: prune, score, search, label, for many sentences in one call of a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, arc_features, label_features, most_arc_features
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import (
    Neighbours,
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.part_scores import PartWeights
from arcwise.features.templates import Templates
from arcwise.features.tensor import Tensor, add_tensor
from arcwise.features.tokens import Tokens, hash_tokens, longest_sentence, make_tokens
from arcwise.features.whole_tree import Far
from arcwise.kernels import kernel
from arcwise.parts.arcs import Arcs, keep_heads, make_arcs, prune
from arcwise.parts.tables import Kind
from arcwise.search.spanning_tree import Room, make_room, spanning_tree
from arcwise.search.status import FOUND
from arcwise.trees.shapes import Shape

# In place of a label that is not given, and of one that is given but has no weights.
ANY_LABEL, UNKNOWN_LABEL = -1, -2
# Added to the score of a label that an arc may not have. `check_label_templates` admits 85 rows at most, so a sum of label weights
# is within 85 * 128 = 10880: with this penalty it stays below any without, and within int16.
FORBIDDEN = -21800


class Weights(NamedTuple):
    """The trained weights, int8, and what is needed to use them; kernels read it.

    coarse: 2^coarse_bits weights of the pruner. arcs: 2^arc_bits. labels, final: (2^label_bits, labels), for choosing the tree and
    for labelling it, the latter by its context if `in_context`, else by the arc alone. penalties: int16 (2, labels), FORBIDDEN for
    the labels that an arc from the root (row 0) or from a word (row 1) may not have, else 0. projective: whether trees are found by
    a chart, and of which kind, with which weights of higher parts, among the arcs kept by which marginals (`arcwise.sums.pruning`).
    unit: of the pruner's weights. loopy: whether trees are found by belief propagation; dual: whether by dual decomposition, with
    automata of that kind; score_unit: of the scores of arcs and parts. shape: the class of the trees that are found. far: the
    features of far parts and whole trees and their weights, if there are any; climb: whether trees are found by hill climbing.
    tensor: added to the scores of arcs, int8, if there is one.
    """

    templates: Templates
    coarse: NDArray[np.int8]
    coarse_bits: int
    most_heads: int
    threshold: float
    arcs: NDArray[np.int8]
    arc_bits: int
    labels: NDArray[np.int8]
    final: NDArray[np.int8]
    label_bits: int
    in_context: bool
    penalties: NDArray[np.int16]
    single_root: bool
    projective: bool
    kind: Kind
    unit: float
    loopy: bool
    dual: bool
    score_unit: float
    pruning: int
    parts: PartWeights
    shape: Shape
    far: tuple[Far, NDArray[np.float32]] | None
    climb: bool
    tensor: Tensor | None = None


@kernel
def _sum_rows(
    weights: NDArray[np.int8],
    rows: Indices,
    count: int,
    penalties: NDArray[np.int16],
    scores: NDArray[np.int16],
) -> None:
    """The sum of some rows of label weights and the penalties."""
    for label in range(len(scores)):
        scores[label] = penalties[label]
    for k in range(count):
        row = weights[rows[k]]
        for label in range(len(scores)):
            scores[label] += row[label]


@kernel
def _greatest(scores: NDArray[np.int16]) -> int:
    best = scores[0]
    for label in range(len(scores)):
        best = max(best, scores[label])
    return int(best)


@kernel
def score_arcs(
    weights: Weights,
    tokens: Tokens,
    heads: NDArray[np.int32],
    modifiers: NDArray[np.int32],
    labels: NDArray[np.int32],
    indices: Indices,
    rows: Indices,
    scores: NDArray[np.float64],
) -> None:
    """The scores of arcs, each with its best label or the one that is given; whole numbers. labels: of all words of the sentence.
    indices, rows: room for their features.
    """
    templates = weights.templates
    label_scores = np.empty(weights.labels.shape[1], np.int16)
    for a in range(len(heads)):
        h, m = heads[a], modifiers[a]
        total = 0
        for k in range(arc_features(tokens, templates, weights.arc_bits, h, m, indices)):
            total += weights.arcs[indices[k]]
        count = label_features(tokens, templates, weights.label_bits, h, m, rows)
        penalties = weights.penalties[min(h, 1)]
        _sum_rows(weights.labels, rows, count, penalties, label_scores)
        if labels[m] == ANY_LABEL:
            total += _greatest(label_scores)
        elif labels[m] != UNKNOWN_LABEL:
            total += label_scores[labels[m]] - penalties[labels[m]]
        scores[a] = total
    add_tensor(weights.tensor, tokens.numbers[: len(labels)], heads, modifiers, scores)


@kernel
def label_tree(
    weights: Weights,
    tokens: Tokens,
    heads: NDArray[np.int32],
    tree: Neighbours,
    rows: Indices,
    labels: NDArray[np.int32],
) -> None:
    """Fill in the labels of a tree that are not given. tree, rows: room for its neighbours and its features."""
    templates = weights.templates
    label_scores = np.empty(weights.labels.shape[1], np.int16)
    find_neighbours(heads, tokens, tree)
    labels[0] = -1
    for m in range(1, len(heads)):
        if labels[m] != ANY_LABEL:
            continue
        if weights.in_context:
            count = context_features(tokens, templates, weights.label_bits, heads, tree, m, rows)
        else:
            count = label_features(tokens, templates, weights.label_bits, heads[m], m, rows)
        _sum_rows(weights.final, rows, count, weights.penalties[min(heads[m], 1)], label_scores)
        labels[m] = np.argmax(label_scores)


@kernel
def keep_arcs(
    weights: Weights, tokens: Tokens, S: NDArray[np.float64], room: Room, heads: NDArray[np.int32], arcs: Arcs
) -> bool:
    """Prune; `heads` holds what is given, and then a tree whose arcs are all kept. False if there is none."""
    coarse_scores(tokens, weights.templates, weights.coarse, weights.coarse_bits, S)
    keep_heads(S, heads)
    if spanning_tree(S, weights.single_root, room, heads) != FOUND:
        return False
    prune(S, heads, weights.most_heads, weights.threshold, arcs)
    return True


@kernel
def parse_sentences(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    matrices: NDArray[np.float64],
) -> int:
    """The best labelled tree of every sentence among the arcs that the pruner keeps; returns how many arcs it kept.

    Time a sentence: O(n^2) with a small constant, and the rich features of the arcs kept. numbers: int32, the words of all
    sentences as numbers, the root's row before each sentence's. starts: where sentence i begins there, and the end. heads,
    labels: by row of `numbers`, on entry what the tree must have, or ANY_HEAD, ANY_WORD, ANY_LABEL, UNKNOWN_LABEL; what was not
    given is filled in. The arcs given are never pruned, and a label given is scored even where the model does not allow it. scores:
    filled, one a sentence, in units of the weights; -inf where no tree has what is given. matrices: empty, or room for the arc
    scores of all sentences, -inf for those pruned, one matrix after another.
    """
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens = make_tokens(longest, templates.end)
    room, arcs, tree = make_room(longest), make_arcs(longest, weights.most_heads), make_neighbours(longest)
    matrix = matrices if len(matrices) else np.empty((longest + 1) ** 2)
    at = 0
    indices = np.empty(most_arc_features(longest, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    arc_scores = np.empty(len(arcs.heads))
    kept = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        size = end - begin
        S = matrix[at : at + size * size].reshape((size, size))
        if len(matrices):
            at += size * size
        tree_heads = heads[begin:end]
        hash_tokens(numbers[begin:end], templates, tokens)
        if not keep_arcs(weights, tokens, S, room, tree_heads, arcs):
            scores[s] = -np.inf
            continue
        count = arcs.first[size]
        kept += count
        score_arcs(
            weights, tokens, arcs.heads[:count], arcs.modifiers[:count], labels[begin:end], indices, rows, arc_scores
        )  # fmt: skip
        S[:] = -np.inf
        for a in range(count):
            S[arcs.heads[a], arcs.modifiers[a]] = arc_scores[a]
        spanning_tree(S, weights.single_root, room, tree_heads)
        scores[s] = 0.0
        for m in range(1, size):
            scores[s] += S[tree_heads[m], m]
        label_tree(weights, tokens, tree_heads, tree, rows, labels[begin:end])
    return kept
