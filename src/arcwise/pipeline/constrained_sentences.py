"""The best labelled tree of one sentence under people's constraints, for every exact search that models have.

Two maximisations, as without constraints (`arcwise.pipeline.sentences`): the tree is the best by the model's own score, which is
that of its arcs, each with a label, and of its higher parts; its labels are then the best by their context. Both are exact: among
the labelled trees that satisfy all constraints, and then among the labellings of the tree that do.

All that arcs ask of each other's labels is that no two of them are of one group. So of an arc's labels the best of each set of
groups suffices: an arc becomes a few parallel variants, and branch and bound on these (`arcwise.search.branching`) asks the
model's own search for the best tree of the arcs that have a variant left. Parts are scored once; a branch costs one search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints.compiled import Compiled
from arcwise.errors import InputError
from arcwise.features.arcs import Indices, arc_features, label_features, most_arc_features
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import (
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.part_scores import part_scores
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.features.tensor import add_tensor
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import make_arcs, prune
from arcwise.parts.graph import Graph, make_graph
from arcwise.parts.reach import WHOLE_DIFFERENCE
from arcwise.pipeline.dual_sentences import Effort
from arcwise.pipeline.sentences import Weights
from arcwise.pipeline.shaped_sentences import shaped_effort
from arcwise.search.branching import Branched, Relaxed, branch
from arcwise.search.chart import make_levels
from arcwise.search.derivations import chart_tree
from arcwise.search.dual import UNLIMITED, begin, search
from arcwise.search.eisner import eisner_trees
from arcwise.search.shaped_tree import shaped_trees
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND
from arcwise.search.tree_search import (
    ShapedSearch,
    TreeSearch,
    make_shaped_search,
    make_tree_search,
)
from arcwise.sums import pruning
from arcwise.trees.shapes import ANY

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

# From the scores of arcs, -inf for those that are left out, to the arcs of the best tree; None without one.
Search = Callable[[Floats], Relaxed | None]
# From S[h, m] to the heads of the best tree, which it fills in, its score, and a bound on that of any; None without one.
TreeFinder = Callable[[Floats, Ints], tuple[float, float] | None]

_NO_SPANS = np.empty((0, 2), np.int32)
_NO_TRACE = np.empty((0, 3))


class Given(NamedTuple):
    """What the tree of a sentence must be like. compiled: the constraints, on labels of which some may be unknown to the model.

    heads, labels: int32 (n+1,), what HEAD and DEPREL say, negative if nothing. allowed: bool (2, labels), those that the model
    knows from the root and from a word. A label given need not be among them.
    """

    compiled: Compiled
    heads: Ints
    labels: Ints
    allowed: Flags

    def permitted(self, head: Ints, modifier: Ints) -> Flags:
        """The labels that arcs may have: (arcs, labels)."""
        found = self.allowed[np.minimum(head, 1)]
        given = self.labels[modifier]
        rows = np.flatnonzero(given >= 0)
        label, free = given[rows], self.heads[modifier[rows]] >= 0
        known = self.allowed[np.minimum(head[rows], 1), label]
        found[rows] = False
        found[rows, label] = known | free | ~self.allowed[:, label].any(axis=0)
        if self.compiled.barred_labels is not None:
            found &= ~self.compiled.barred_labels[head, modifier]
        return found

    def barred(self) -> Flags:
        """The arcs that no tree may have, or not with any label: (n+1, n+1)."""
        barred = self.compiled.barred.copy()
        size = len(barred)
        words = np.flatnonzero(self.heads >= 0)
        others = np.ones((size, len(words)), np.bool_)
        others[self.heads[words], np.arange(len(words))] = False
        barred[:, words] |= others
        if self.compiled.barred_labels is not None or (self.labels >= 0).any():
            head, modifier = (arcs.astype(np.int32) for arcs in np.nonzero(~barred))
            barred[head, modifier] = ~self.permitted(head, modifier).any(axis=1)
        barred[:, 0] = True
        np.fill_diagonal(barred, True)
        return barred

    def bars_nothing(self) -> bool:
        """Whether constraints leave every arc and every label possible."""
        compiled = self.compiled
        return compiled.barred_labels is None and np.count_nonzero(compiled.barred) == 2 * len(self.heads) - 1


class Found(NamedTuple):
    """A tree: heads and labels, (n+1,); its score and a bound on that of every tree that satisfies the constraints."""

    heads: Ints
    labels: Ints
    score: float
    bound: float


class _Variants(NamedTuple):
    """Labelled arcs, those of arc 1 first, the best of each arc first. arc, label, score; members: bool (variants, groups)."""

    arc: NDArray[np.int64]
    label: NDArray[np.int64]
    score: Floats
    members: Flags


def _find_variants(
    scores: Floats, by_label: NDArray[np.generic], permitted: Flags, groups: Flags
) -> _Variants:
    """Of every arc the best permitted label of each set of groups. scores: of arcs, from arc 1 on; by_label: (arcs, labels)."""
    patterns, of_label = _patterns(groups)
    best = np.full((len(scores), len(patterns)), -np.inf)
    label = np.zeros(best.shape, np.int64)
    every = np.arange(len(scores))
    for p in range(len(patterns)):
        labels = np.flatnonzero(of_label == p)
        among = np.where(permitted[:, labels], by_label[:, labels], -np.inf)
        chosen = among.argmax(axis=1)
        best[:, p], label[:, p] = among[every, chosen], labels[chosen]
    if not patterns[0].any():  # what is no better than a label without groups is of no use
        best[:, 1:][best[:, 1:] <= best[:, :1]] = -np.inf
    order = np.argsort(-best, axis=1, kind="stable")
    arc, place = np.nonzero(np.take_along_axis(best, order, 1) > -np.inf)
    pattern = order[arc, place]
    return _Variants(arc + 1, label[arc, pattern], scores[arc] + best[arc, pattern], patterns[pattern])


def _patterns(groups: Flags) -> tuple[Flags, NDArray[np.int64]]:
    """The sets of groups that labels are of, that of no group first, and which of them each label is of. groups: (groups, labels).

    >>> _patterns(np.array([[True, False, True]]))
    (array([[False],
           [ True]]), array([1, 0, 1]))
    """
    numbers: dict[bytes, int] = {bytes(len(groups)): 0}
    of_label = [numbers.setdefault(row.tobytes(), len(numbers)) for row in groups.T]
    patterns = np.frombuffer(b"".join(numbers), np.bool_).reshape(len(numbers), len(groups))
    return patterns, np.array(of_label)


def _branch(
    search: Search,
    variants: _Variants,
    head: Ints,
    modifier: Ints,
    group_heads: Ints,
    spans: Ints,
    known: Relaxed | None = None,
) -> Branched | None:
    """The best tree of variants that satisfies the constraints. head, modifier: by arc, from arc 0 on, which is none.

    known: the heads of the best tree of all, with its score and bound, if that has been found already.
    """
    arcs = len(head)

    def oracle(alive: Flags) -> Relaxed | None:
        left = np.flatnonzero(alive)
        arc = variants.arc[left]
        new = np.ones(len(arc), np.bool_)
        np.not_equal(arc[1:], arc[:-1], out=new[1:])
        best = left[new]
        scores, number = np.full(arcs, -np.inf), np.zeros(arcs, np.int64)
        scores[variants.arc[best]], number[variants.arc[best]] = variants.score[best], best
        found = known if alive.all() else None
        if found is not None:
            tree = np.zeros(len(found.tree), np.int64)
            chosen = np.flatnonzero(found.tree[modifier] == head)
            tree[modifier[chosen]] = chosen
            found = found._replace(tree=tree) if tree[1:].all() else None
        found = found or search(scores)
        return None if found is None else found._replace(tree=number[found.tree])

    return branch(
        oracle, head[variants.arc], modifier[variants.arc], variants.members, group_heads, spans,
        np.ones(len(variants.arc), np.bool_),
    )  # fmt: skip


def tree_finder(weights: Weights, effort: Effort, projective: bool) -> TreeFinder:
    """What finds the best tree of arcs alone that the model may have: of its shape, or projective if asked for."""
    single_root, shape = weights.single_root, weights.shape
    projective |= weights.projective

    def find(S: Floats, heads: Ints) -> tuple[float, float] | None:
        lengths = np.array([len(S) - 1])
        if not projective and shape != ANY:
            outcome = np.empty((1, 5))
            shaped_trees(S.reshape(-1), lengths, single_root, shape, shaped_effort(effort), heads, outcome)
            return (float(outcome[0, 1]), float(outcome[0, 2])) if outcome[0, 0] == FOUND else None
        trees = eisner_trees if projective else spanning_trees
        if trees(S.reshape(-1), lengths, single_root, heads)[0] != FOUND:
            return None
        score = float(S[heads[1:], np.arange(1, len(S))].sum())
        return score, score

    return find


def _matrix_search(head: Ints, modifier: Ints, n: int, find_tree: TreeFinder) -> Search:
    """The best tree of arcs alone."""
    number = np.zeros((n + 1, n + 1), np.int32)
    number[head, modifier] = np.arange(len(head))

    def find(scores: Floats) -> Relaxed | None:
        S, heads = np.full((n + 1, n + 1), -np.inf), np.empty(n + 1, np.int32)
        S[head[1:], modifier[1:]] = scores[1:]
        found = find_tree(S, heads)
        return None if found is None else Relaxed(number[heads, np.arange(n + 1)], *found)

    return find


def _part_search(numbers: Ints, weights: Weights, graph: Graph, effort: Effort, projective: bool) -> Search:
    """The best tree of a model's higher parts: by its chart, or by dual decomposition."""
    n, kind = len(numbers) - 1, weights.kind
    tokens = make_part_tokens(n, weights.parts.templates)
    hash_part_tokens(numbers, weights.parts.templates, tokens)
    levels = make_levels(graph, kind)
    nothing = np.zeros(len(graph.head))
    parts = part_scores(kind, weights.dual, graph, levels, nothing, tokens, weights.parts)
    # A step over an arc also has the score of the arc, which changes from branch to branch.
    lower = levels[1]
    spine = np.repeat(np.arange(len(lower.head)), np.diff(lower.steps))
    arc = np.zeros(len(parts.step), np.int64)
    arc[1:] = np.arange(1, len(arc)) - lower.steps[spine] + graph.out[lower.head[spine]]
    trees: TreeSearch | ShapedSearch = make_tree_search(n, weights.single_root, projective)
    if weights.shape != ANY and not projective:
        trees = make_shaped_search(n, weights.single_root, weights.shape)

    def find(scores: Floats) -> Relaxed | None:
        scores[0] = 0.0
        tables = parts._replace(step=parts.step + scores[arc])
        tree = np.zeros(n + 1, np.int32)
        if not weights.dual:
            score = chart_tree(graph, levels, kind, tables, weights.single_root, tree)
            return Relaxed(tree, score, score) if score > -np.inf else None
        automata = sibling_automata(kind, graph, levels[0], tables, weights.single_root)
        exact = effort.budget > 0
        budget = effort.budget * (n + 1) if exact else UNLIMITED
        problem, state = begin(graph, automata, kind.complete > 0, trees, scores, WHOLE_DIFFERENCE, budget)
        search(problem, state, effort.steps, effort.paper, exact, _NO_TRACE)
        score, bound = float(state.incumbent[0]), float(state.least[0])
        if score == -np.inf:
            if bound == -np.inf:
                return None
            raise InputError(
                "no tree found in the steps given", expected="more iterations, or an exact search"
            )
        return Relaxed(state.best_tree, score, score if bound <= score + WHOLE_DIFFERENCE else bound)

    return find


def tree_of_matrix(S: Floats, given: Given, find_tree: TreeFinder) -> Ints | None:
    """The heads of the best tree of all arcs by these scores that, with some labels, satisfies the constraints; None without one.

    S: float64 (n+1, n+1), finite. Exact if `find_tree` is; O(n^2 labels) memory, and one search a branch.
    """
    arcs = np.concatenate([[[0, 0]], np.argwhere(~given.barred())]).astype(np.int32)
    head, modifier = arcs.T.copy()
    permitted = given.permitted(head[1:], modifier[1:])
    nothing = np.broadcast_to(np.float64(0.0), permitted.shape)
    variants = _find_variants(S[head[1:], modifier[1:]], nothing, permitted, given.compiled.groups)
    search = _matrix_search(head, modifier, len(S) - 1, find_tree)
    found = _branch(search, variants, head, modifier, given.compiled.group_heads, given.compiled.spans)
    return None if found is None else _heads(head[variants.arc[found.tree]])


def _heads(heads: Ints) -> Ints:
    heads[0] = -1
    return heads


class _Sentence(NamedTuple):
    """What does not change while its tree is searched for. known: of `constrained_tree`, if constraints leave all arcs and labels."""

    numbers: Ints
    weights: Weights
    given: Given
    effort: Effort
    projective: bool
    tokens: Tokens
    find_tree: TreeFinder
    known: Relaxed | None


def constrained_tree(
    numbers: Ints, weights: Weights, given: Given, known: Relaxed, effort: Effort, projective: bool
) -> Found | None:
    """The best labelled tree of a sentence that satisfies the constraints, among the arcs that the pruner keeps; None without one.

    The pruner chooses from the arcs that constraints leave, and keeps those of the coarse model's best tree; if no tree of these
    satisfies the constraints, those of its best tree that does. So there is a tree if any tree at all would do.
    numbers: the words as `arcwise.pipeline.sentences.parse_sentences` takes them, the root's row first. known: the heads of the best
    tree without constraints, with what is given, and its score and bound. effort: of dual decomposition; projective: whether trees
    must be. Time: the model's own, and one more search a branch.
    """
    n = len(numbers) - 1
    tokens, S = make_tokens(n, weights.templates.end), np.empty((n + 1, n + 1))
    hash_tokens(numbers, weights.templates, tokens)
    coarse_scores(tokens, weights.templates, weights.coarse, weights.coarse_bits, S)
    masked, heads = np.where(given.barred(), -np.inf, S), np.empty(n + 1, np.int32)
    find_tree = tree_finder(weights, effort, projective)
    sentence = _Sentence(
        numbers,
        weights,
        given,
        effort,
        projective,
        tokens,
        find_tree,
        known if given.bars_nothing() else None,
    )
    found = _tree_of_kept(sentence, masked, heads) if find_tree(masked, heads) is not None else None
    if found is None:
        feasible = tree_of_matrix(S, given, find_tree)
        found = None if feasible is None else _tree_of_kept(sentence, masked, feasible)
    if found is None:
        return None
    heads = found.tree.astype(np.int32)
    return Found(heads, _label(weights, given, tokens, heads), found.score, found.bound)


def _tree_of_kept(sentence: _Sentence, masked: Floats, tree: Ints) -> Relaxed | None:
    """The heads of the best tree of the arcs that the pruner keeps, those of `tree` among them.

    masked: coarse scores, -inf for the arcs that are barred.
    """
    numbers, weights, given, effort, projective, tokens, find_tree, known = sentence
    n, S, threshold = len(numbers) - 1, masked, weights.threshold
    if weights.projective:
        S, threshold = masked * weights.unit, weights.threshold * weights.unit
        pruning.log_marginals(S, weights.pruning, weights.single_root, pruning.make_room(n))
    arcs = make_arcs(n, weights.most_heads)
    prune(S, tree, weights.most_heads, threshold, arcs)
    count = int(arcs.first[n + 1])
    graph = make_graph(np.arange(n + 1, dtype=np.int32), arcs.heads[:count], arcs.modifiers[:count])
    head, modifier = graph.head, graph.modifier
    scores, by_label = score_labels(weights, tokens, head[1:], modifier[1:])
    permitted = given.permitted(head[1:], modifier[1:])
    variants = _find_variants(scores, _padded(by_label, permitted), permitted, given.compiled.groups)
    if weights.dual or weights.projective:
        search = _part_search(numbers, weights, graph, effort, projective)
    else:
        search = _matrix_search(head, modifier, n, find_tree)
    found = _branch(search, variants, head, modifier, given.compiled.group_heads, given.compiled.spans, known)
    if found is None:
        return None
    return Relaxed(_heads(head[variants.arc[found.tree]]), found.score, found.bound)


def _label(weights: Weights, given: Given, tokens: Tokens, heads: Ints) -> Ints:
    """The best labels of a tree by their context that satisfy the constraints. There are some: those of the search."""
    words = np.arange(len(heads), dtype=np.int32)
    permitted = given.permitted(heads[1:], words[1:])
    by_label = _padded(_score_context(weights, tokens, heads)[1:], permitted)
    variants = _find_variants(np.zeros(len(heads) - 1), by_label, permitted, given.compiled.groups)

    def find(scores: Floats) -> Relaxed | None:
        score = float(scores[1:].sum())
        return Relaxed(words, score, score) if score > -np.inf else None

    found = _branch(find, variants, heads, words, given.compiled.group_heads, _NO_SPANS)
    assert found is not None
    labels = np.full(len(heads), -1, np.int32)
    labels[1:] = variants.label[found.tree[1:]]
    return labels


def _padded(by_label: NDArray[np.int16], permitted: Flags) -> NDArray[np.int16]:
    """Scores of the labels that are permitted somewhere, of which those that the model does not know score nothing."""
    rows, labels = permitted.shape
    padded, known = np.zeros((rows, labels), np.int16), min(labels, by_label.shape[1])
    padded[:, :known] = by_label[:, :known]
    return padded


@kernel
def _add_rows(weights: NDArray[np.int8], rows: Indices, count: int, scores: NDArray[np.int16]) -> None:
    for k in range(count):
        row = weights[rows[k]]
        for label in range(len(scores)):
            scores[label] += row[label]


@kernel
def score_labels(
    weights: Weights, tokens: Tokens, heads: Ints, modifiers: Ints
) -> tuple[Floats, NDArray[np.int16]]:
    """The scores of arcs without their labels, and those of all labels, allowed or not: (arcs, labels). tokens: of a sentence as
    long as there is room for.
    """
    templates = weights.templates
    indices = np.empty(most_arc_features(len(tokens.atoms) - 1, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    scores = np.zeros(len(heads))
    by_label = np.zeros((len(heads), weights.labels.shape[1]), np.int16)
    for a in range(len(heads)):
        h, m = heads[a], modifiers[a]
        for k in range(arc_features(tokens, templates, weights.arc_bits, h, m, indices)):
            scores[a] += weights.arcs[indices[k]]
        count = label_features(tokens, templates, weights.label_bits, h, m, rows)
        _add_rows(weights.labels, rows, count, by_label[a])
    add_tensor(weights.tensor, tokens.numbers, heads, modifiers, scores)
    return scores, by_label


@kernel
def _score_context(weights: Weights, tokens: Tokens, heads: Ints) -> NDArray[np.int16]:
    """The scores of all labels of a tree, allowed or not: (n+1, labels), nothing for the root."""
    templates = weights.templates
    rows = np.empty(most_context_features(templates), np.uint32)
    tree = make_neighbours(len(heads) - 1)
    find_neighbours(heads, tokens, tree)
    scores = np.zeros((len(heads), weights.final.shape[1]), np.int16)
    for m in range(1, len(heads)):
        if weights.in_context:
            count = context_features(tokens, templates, weights.label_bits, heads, tree, m, rows)
        else:
            count = label_features(tokens, templates, weights.label_bits, heads[m], m, rows)
        _add_rows(weights.final, rows, count, scores[m])
    return scores
