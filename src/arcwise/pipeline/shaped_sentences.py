"""From words as numbers to labelled trees of a class (`arcwise.trees.shapes`), for models of arcs: prune, score, search, label.

The kernels are those that have no class, and those that `arcwise.decode` has for one; the latter are compiled only when a tree is met
that does not belong to its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from arcwise.features.context import make_neighbours, most_context_features
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.reach import WHOLE_DIFFERENCE
from arcwise.pipeline.dual_sentences import BRANCHES, BUDGET, STEPS, Effort
from arcwise.pipeline.sentences import Weights, label_tree, parse_sentences
from arcwise.search import shaped_tree
from arcwise.search.eisner import eisner_trees
from arcwise.search.shaped import ShapeOptions, search_until
from arcwise.search.shaped_tree import Outcome, shaped_trees
from arcwise.search.status import FOUND
from arcwise.trees.shapes import ANY, Shape, has_shape

Floats = NDArray[np.float64]
Heads = NDArray[np.int32]

# Of a sentence, unless told otherwise: nodes, and nodes left open times arcs. Some hundredths of a second.
NODES, MOST_OPEN = 500, 1 << 20
_WIDER = (2.0, 4.0, np.inf)  # factors by which the pruner's bars are lowered
_NOTHING = np.empty(0)


def shaped_effort(effort: Effort) -> shaped_tree.Effort:
    """As far as dual decomposition would go: nodes of branch and bound in place of steps of the finish."""
    nodes = NODES if effort.budget == BUDGET else effort.budget
    options = ShapeOptions(ANY, nodes > 0, None, nodes, None, effort.paper)
    searching = options.effort._replace(slack=WHOLE_DIFFERENCE)
    return searching._replace(most_open=MOST_OPEN) if effort.budget == BUDGET else searching


def parse_with_shapes(
    weights: Weights,
    effort: Effort,
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    heads: Heads,
    labels: NDArray[np.int32],
    scores: Floats,
    bounds: Floats,
    report: NDArray[np.int64],
    matrices: Floats,
    seconds: float | None = None,
) -> None:
    """The best labelled tree of `weights.shape` of every sentence among the arcs that the pruner keeps.

    Arguments as of `arcwise.pipeline.sentences.parse_sentences`, which it agrees with where that finds a tree of the class. Elsewhere
    the pruner keeps more arcs, if there is no projective tree among those it keeps: so there is a tree of the class. bounds: filled
    with a proven upper bound on the score of every tree of the class of a sentence, that of the tree itself if it is proved best.
    report: (sentences, REPORT), steps and branches are filled in (`arcwise.pipeline.dual_sentences`). Memory O(n^2) a sentence.
    seconds: after which branch and bound gives up on a sentence, with the best tree so far. Kernels run without the lock.
    """
    sizes = np.diff(starts)
    ends = np.cumsum(sizes * sizes)
    if len(matrices) == 0:
        matrices = np.empty(int(np.sum(sizes * sizes)))
    given_heads, given_labels = heads.copy(), labels.copy()
    parse_sentences(numbers, starts, weights, heads, labels, scores, matrices)
    bounds[:] = scores
    others = scores > -np.inf
    find_others(heads, starts, weights.shape, others)
    for s in np.flatnonzero(others).tolist():
        words, size = slice(starts[s], starts[s + 1]), sizes[s]
        S = matrices[ends[s] - size * size : ends[s]]
        tree, bounds[s], report[s, BRANCHES], report[s, STEPS] = _search(
            numbers[words], weights, effort, given_heads[words], given_labels[words], S, seconds
        )
        if tree is None:
            scores[s] = -np.inf
        else:
            heads[words], labels[words] = tree, given_labels[words]
            scores[s] = S[tree[1:] * size + np.arange(1, size)].sum()
            _label(numbers[words], weights, heads[words], labels[words])


def wider(weights: Weights, size: int) -> Iterator[Weights]:
    """The same with pruners that keep ever more arcs of a sentence of `size` words, that of the root included; the last keeps all."""
    for factor in _WIDER:
        threshold, most_heads = max(weights.threshold, 1.0) * factor, min(weights.most_heads * factor, size)
        yield weights._replace(threshold=threshold, most_heads=int(most_heads))


def _search(
    numbers: NDArray[np.int32], weights: Weights, effort: Effort, heads: Heads, labels: NDArray[np.int32], S: Floats,
    seconds: float | None,
) -> tuple[Heads | None, float, int, int]:  # fmt: skip
    """The best tree of the class of one sentence, None if there is none; a bound; nodes and steps that it took.

    Projective trees belong to every class. So if there is none, the pruner's bars are lowered until there is, and the arcs of the
    best one are kept, too; if all arcs admit none, all are kept. S: the scores of the arcs kept at first, and then of all that are
    kept.
    """
    lengths, single_root, tree = np.array([len(heads) - 1]), weights.single_root, np.empty_like(heads)
    kept, wide = np.isfinite(S), wider(weights, len(heads))
    while eisner_trees(S, lengths, single_root, tree)[0] != FOUND:
        following = next(wide, None)
        if following is None:
            break
        _parse_one(numbers, following, heads.copy(), labels.copy(), np.empty(1), S)
    else:
        kept[tree[1:] * len(tree) + np.arange(1, len(tree))] = True
        S[~kept] = -np.inf
    if seconds is None:
        found = Outcome(*search_class(S, lengths, single_root, weights.shape, effort, tree)[0].tolist())
    else:
        nodes = shaped_effort(effort).nodes
        options = ShapeOptions(weights.shape, nodes > 0, None, nodes, seconds, effort.paper)
        found, tree[:] = search_until(
            S.reshape(len(tree), -1), WHOLE_DIFFERENCE, options, single_root, monotonic() + seconds
        )
    # Where none was met within the budget, there may be a projective one all the same.
    if found.code != FOUND and eisner_trees(S, lengths, single_root, tree)[0] != FOUND:
        return None, found.bound, int(found.nodes), int(found.steps)
    return tree, found.bound, int(found.nodes), int(found.steps)


@kernel
def _label(numbers: NDArray[np.int32], weights: Weights, heads: Heads, labels: NDArray[np.int32]) -> None:
    """Fill in the labels of a tree that are not given."""
    tokens = make_tokens(len(heads) - 1, weights.templates.end)
    hash_tokens(numbers, weights.templates, tokens)
    rows = np.empty(most_context_features(weights.templates), np.uint32)
    label_tree(weights, tokens, heads, make_neighbours(len(heads) - 1), rows, labels)


def _parse_one(
    numbers: NDArray[np.int32], weights: Weights, heads: Heads, labels: NDArray[np.int32], score: Floats, S: Floats = _NOTHING
) -> None:  # fmt: skip
    parse_sentences(numbers, np.array([0, len(heads)]), weights, heads, labels, score, S)


def search_class(
    scores: Floats, lengths: NDArray[np.int64], single_root: bool, shape: Shape, effort: Effort, heads: Heads
) -> Floats:
    """The best tree of a class of every matrix of whole numbers; arguments as of `arcwise.search.spanning_tree.spanning_trees`.

    Returns a row a matrix, with the fields of `arcwise.search.shaped_tree.Outcome`.
    """
    outcomes = np.empty((len(lengths), len(Outcome._fields)))
    shaped_trees(scores, lengths, single_root, shape, shaped_effort(effort), heads, outcomes)
    return outcomes


@kernel
def find_others(heads: Heads, starts: NDArray[np.int64], shape: Shape, others: NDArray[np.bool_]) -> None:
    """Of the sentences marked, leave those marked whose trees do not belong to a class."""
    for s in range(len(others)):
        others[s] = others[s] and not has_shape(heads[starts[s] : starts[s + 1]], shape)
