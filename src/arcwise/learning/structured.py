"""Averaged perceptron and MIRA for higher-order projective models: arcs, labels and higher parts learned together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import most_arc_features
from arcwise.features.part_scores import PartWeights, part_scores
from arcwise.features.part_templates import PartTemplates
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.features.templates import Templates
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.features.tree_parts import most_tree_features, tree_features
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.online import Learner, Training, count_arcs, count_features, move_weights, score_arc
from arcwise.learning.pruned import PrunedCorpus
from arcwise.parts.graph import Graph, make_graph
from arcwise.parts.tables import Kind
from arcwise.search.chart import make_levels
from arcwise.search.derivations import chart_tree


def make_structured_training(arc_bits: int, label_bits: int, labels: int, part_bits: int) -> Training:
    """All weights zero: a `Training` with the table of the higher parts after the label rows."""
    size = (1 << arc_bits) + (labels << label_bits) + (1 << part_bits)
    return Training(
        np.zeros(size, np.float32), np.zeros(size), np.zeros(size, np.int16), arc_bits, label_bits, labels
    )


@kernel
def kept_graph(words: int, first: NDArray[np.int32], heads: NDArray[np.int32]) -> Graph:
    """The graph of the arcs that the pruner kept of a sentence. first, heads: as in `Arcs`."""
    arcs = first[words + 1]
    modifiers = np.empty(arcs, np.int32)
    for m in range(1, words + 1):
        modifiers[first[m] : first[m + 1]] = m
    return make_graph(np.arange(words + 1).astype(np.int32), heads[:arcs], modifiers)


@kernel
def structured_epoch(
    corpus: Corpus,
    pruned: PrunedCorpus,
    order: NDArray[np.int64],
    kind: Kind,
    templates: Templates,
    part_templates: PartTemplates,
    part_bits: int,
    allowed: NDArray[np.bool_],
    single_root: bool,
    learner: Learner,
    step: int,
    training: Training,
) -> tuple[int, int]:
    """One pass over the sentences in `order`, in place; `step` counts on from there. Returns how many heads and how many labels
    of right heads were wrong (in the search with costs).

    As `online_epoch`, with a chart of the given kind for the search: its time and the features of all parts of the arcs kept are what
    a sentence costs. The right trees must be projective, and the arcs kept must hold them.
    """
    longest = longest_sentence(corpus.starts)
    tokens, part_tokens = make_tokens(longest, templates.end), make_part_tokens(longest, part_templates)
    most, most_parts = most_arc_features(longest, templates), most_tree_features(longest, part_templates)
    indices, rows = np.empty(max(most, most_parts), np.uint32), np.empty(templates.end, np.uint32)
    changed = np.empty(2 * longest * (most + templates.end) + 2 * most_parts, np.uint32)
    scores = np.empty(training.labels, np.float32)
    tree, heads = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32)
    part_base = len(training.weights) - (1 << part_bits)
    part_weights = PartWeights(part_templates, training.weights[part_base:], part_bits)
    label_cost = learner.cost if templates.end > templates.labels else 0.0
    wrong_heads, wrong_labels = 0, 0
    for s in order:
        step += 1
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        hash_part_tokens(corpus.numbers[begin:end], part_templates, part_tokens)
        gold_heads, gold_labels = corpus.heads[begin:end], corpus.labels[begin:end]
        graph = kept_graph(size - 1, pruned.first[begin + s :], pruned.heads[pruned.arc_starts[s] :])
        arcs, found = np.zeros(len(graph.head)), np.zeros(len(graph.head), np.int32)
        for b in range(1, len(graph.head)):
            h, m = graph.head[b], graph.modifier[b]
            total, best = score_arc(
                training, templates, tokens, allowed, h, m, gold_labels[m], np.float32(label_cost), indices, rows, scores
            )  # fmt: skip
            arcs[b] = total + scores[best] + (learner.cost if h != gold_heads[m] else 0.0)
            found[b] = best
        levels = make_levels(graph, kind)
        tables = part_scores(kind, graph, levels, arcs, part_tokens, part_weights)
        chart_tree(graph, levels, kind, tables, single_root, tree[:size])

        cost, changes = 0.0, 0
        heads[0] = -1
        for m in range(1, size):
            h, label, g, right = graph.head[tree[m]], found[tree[m]], gold_heads[m], gold_labels[m]
            heads[m] = h
            if h == g and label == right:
                continue
            if h != g:
                wrong_heads += 1
                cost += learner.cost
            else:
                wrong_labels += 1
            if label != right:
                cost += label_cost
            changes = count_arcs(
                training, templates, tokens, m, (g, right), (h, label), indices, rows, changed, changes
            )
        if changes == 0:
            continue
        if not np.array_equal(heads[:size], gold_heads):
            count = tree_features(kind, gold_heads, part_tokens, part_templates, part_bits, indices)
            changes = count_features(training, indices, count, part_base, 1, 1, changed, changes)
            count = tree_features(kind, heads[:size], part_tokens, part_templates, part_bits, indices)
            changes = count_features(training, indices, count, part_base, 1, -1, changed, changes)
        move_weights(training, changed, changes, learner, cost, step - 1)
    return wrong_heads, wrong_labels
