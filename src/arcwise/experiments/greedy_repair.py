"""At most one dependent of a label group per head by greedy repair, as Stanza has it since 2026 (`head_constraints.py` there).

One violation after another: each of the dependents in conflict is tried as the one that keeps its label, the others may then have no
label of the group at this head, the best tree is found again, and the choice with the best score stays. Without a guarantee: choices
are never undone, and after five repairs what is violated stays so.

Stanza's parser finds its tree by the scores of arcs and labels it afterwards; a repair adds those of labels to the rows of the
dependents that are pushed away. Models here find the tree by both from the outset, and so does the repair, also with what earlier
repairs ruled out: it is the same one on better terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.coarse import coarse_scores
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.parts.arcs import make_arcs, prune
from arcwise.pipeline.constrained_sentences import score_labels
from arcwise.pipeline.sentences import Weights
from arcwise.search.spanning_tree import spanning_trees

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

REPAIRS = 5  # Stanza's


class Labelled(NamedTuple):
    """A labelled tree: heads and labels (n+1,), its score, and whether a head has two dependents of a group."""

    heads: Ints
    labels: NDArray[np.intp]
    score: float
    violates: bool


def score_labelled_arcs(numbers: Ints, weights: Weights, labels: int) -> Floats:
    """The scores of all arcs with all labels as a model of arcs has them: (n+1, n+1, labels), -inf for what it prunes or forbids.

    numbers: as `arcwise.pipeline.sentences.parse_sentences` takes them, of one sentence.
    """
    n = len(numbers) - 1
    tokens, S = make_tokens(n, weights.templates.end), np.empty((n + 1, n + 1))
    hash_tokens(numbers, weights.templates, tokens)
    coarse_scores(tokens, weights.templates, weights.coarse, weights.coarse_bits, S)
    arcs = make_arcs(n, weights.most_heads)
    prune(S, _best_tree(S, weights.single_root), weights.most_heads, weights.threshold, arcs)
    count = int(arcs.first[n + 1])
    head, modifier = arcs.heads[:count].copy(), arcs.modifiers[:count].copy()
    own, by_label = score_labels(weights, tokens, head, modifier)
    allowed = weights.penalties[np.minimum(head, 1), :labels] == 0
    scores = np.full((n + 1, n + 1, labels), -np.inf)
    scores[head, modifier] = np.where(allowed, own[:, None] + by_label[:, :labels], -np.inf)
    return scores


def repair_greedily(scores: Floats, groups: Flags, single_root: bool = True) -> Labelled:
    """A labelled tree of a high score in which no head has two dependents of a group, if five repairs suffice. Not exact.

    Time: O(n^2 labels) and a spanning tree for each dependent of a repair. scores: (n+1, n+1, labels), of arcs with labels, -inf for
    what may not be. groups: (groups, labels).

    >>> scores = np.full((4, 4, 3), -np.inf)  # a root, and two words with a label of a group each
    >>> scores[0, 2] = [9, -np.inf, -np.inf]
    >>> scores[2, 1], scores[2, 3] = [0, 6, 5], [0, 2, 8]
    >>> tree = repair_greedily(scores, np.array([[False, True, True]]))
    >>> tree.heads.tolist(), tree.labels[1:].tolist(), tree.score, tree.violates
    ([-1, 2, 0, 2], [0, 0, 2], 17.0, False)
    """
    scores = scores.copy()
    found = _best_labelled(scores, single_root)
    for _ in range(REPAIRS):
        violation = _violation(found, groups)
        if violation is None:
            return found
        head, group, words = violation
        tried = [_without(scores, head, [word for word in words if word != kept], group) for kept in words]
        trees = [_best_labelled(trial, single_root) for trial in tried]
        best = int(np.argmax([tree.score for tree in trees]))
        scores, found = tried[best], trees[best]
    return found._replace(violates=_violation(found, groups) is not None)


def _best_tree(S: Floats, single_root: bool) -> Ints:
    heads = np.empty(len(S), np.int32)
    spanning_trees(S.reshape(-1), np.array([len(S) - 1]), single_root, heads)
    return heads


def _best_labelled(scores: Floats, single_root: bool) -> Labelled:
    """The best tree, whatever it violates."""
    heads = _best_tree(scores.max(axis=2), single_root)
    words = np.arange(1, len(heads))
    labels = np.zeros(len(heads), np.intp)
    labels[1:] = scores[heads[1:], words].argmax(axis=1)
    return Labelled(heads, labels, float(scores[heads[1:], words, labels[1:]].sum()), False)


def _violation(tree: Labelled, groups: Flags) -> tuple[int, Flags, list[int]] | None:
    """The first head that has several dependents of a group, the group and these; None without one."""
    dependents: dict[tuple[int, int], list[int]] = {}
    for word in range(1, len(tree.heads)):
        for group in np.flatnonzero(groups[:, tree.labels[word]]).tolist():
            dependents.setdefault((int(tree.heads[word]), group), []).append(word)
    for (head, group), words in dependents.items():
        if len(words) > 1:
            return head, groups[group], words
    return None


def _without(scores: Floats, head: int, words: list[int], group: Flags) -> Floats:
    """The scores where words may not have the labels of a group at a head."""
    left = scores.copy()
    left[head, np.array(words)[:, None], np.flatnonzero(group)] = -np.inf
    return left
