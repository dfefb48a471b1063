"""The space of features that a model learns in, and the scores of one sentence in it: of its arcs, their labels and their parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices, arc_features, label_features, most_arc_features
from arcwise.features.moves import Move, move_rows, move_weights
from arcwise.features.part_scores import (
    PartWeights,
    crossing_scores,
    move_crossing_parts,
    move_parts,
    part_scores,
)
from arcwise.features.part_templates import PartTemplates
from arcwise.features.parts import PartTokens, hash_part_tokens, make_part_tokens
from arcwise.features.templates import Templates
from arcwise.features.tokens import Tokens, hash_tokens, longest_sentence, make_tokens
from arcwise.features.whole_tree import NO_FAR, Far
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.pruned import PrunedCorpus
from arcwise.parts.graph import Graph, Level, make_graph
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.search.chart import CHARTS, make_levels

Levels = tuple[Level, Level, Level]

_ALONE = CHARTS["eisner"]


class Search(NamedTuple):
    """How trees of higher parts are found: by a chart of a kind; if crossing, among all trees, projective or not, by head automata of
    a kind; or if loopy among all trees, where there are only sums, approximate ones (`arcwise.sums.belief_propagation`), of
    siblings and grandchildren; kind is then that of `LOOPY`.
    """

    kind: Kind
    loopy: bool
    crossing: bool


LOOPY = Search(CHARTS["carreras"], True, True)


class Space(NamedTuple):
    """Which features there are, and where their weights lie in one vector: those of the arcs, a row of labels for every label
    feature, those of the higher parts, those of far parts and whole trees. Without label templates labels are not learned, and
    without part templates no parts.

    allowed: bool (2, labels), the labels that an arc from the root and one from a word may have. far: the features of far parts and
    whole trees, of which there may be no groups.
    """

    templates: Templates
    parts: PartTemplates
    arc_bits: int
    label_bits: int
    part_bits: int
    allowed: NDArray[np.bool_]
    far: Far = NO_FAR


@kernel
def space_size(space: Space) -> int:
    """How many weights there are."""
    size = (1 << space.arc_bits) + (space.allowed.shape[1] << space.label_bits)
    size += 1 << space.part_bits if space.parts.end > 0 else 0
    return int(size + far_size(space))


@kernel
def far_size(space: Space) -> int:
    """How many of them are of far parts and whole trees: the last ones."""
    return 1 << space.far.bits if space.far.groups > 0 else 0


@kernel
def labels_learned(space: Space) -> int:
    """How many labels are learned with the arcs."""
    return int(space.allowed.shape[1] if space.templates.end > space.templates.labels else 0)


class Scratch(NamedTuple):
    """Room for the hashes of one sentence and the features of one arc, used again for the next."""

    tokens: Tokens
    part_tokens: PartTokens
    indices: Indices
    rows: Indices


@kernel
def make_scratch(space: Space, longest: int) -> Scratch:
    """Room for sentences of up to `longest` words."""
    return Scratch(
        make_tokens(longest, space.templates.end), make_part_tokens(longest, space.parts),
        np.empty(most_arc_features(longest, space.templates), np.uint32), np.empty(space.templates.end, np.uint32),
    )  # fmt: skip


@kernel
def hash_sentence(space: Space, numbers: NDArray[np.int32], scratch: Scratch) -> None:
    """Hash the words of a sentence; everything below is then about it."""
    hash_tokens(numbers, space.templates, scratch.tokens)
    if space.parts.end > 0:
        hash_part_tokens(numbers, space.parts, scratch.part_tokens)


@kernel
def kept_graph(corpus: Corpus, pruned: PrunedCorpus, s: int) -> Graph:
    """The graph of the arcs that the pruner kept of sentence s."""
    words = corpus.starts[s + 1] - corpus.starts[s] - 1
    first, heads = pruned.first[corpus.starts[s] + s :], pruned.heads[pruned.arc_starts[s] :]
    arcs = first[words + 1]
    modifiers = np.empty(arcs, np.int32)
    for m in range(1, words + 1):
        modifiers[first[m] : first[m + 1]] = m
    return make_graph(np.arange(words + 1).astype(np.int32), heads[:arcs], modifiers)


@kernel
def levels_of(search: Search | None, graph: Graph) -> Levels:
    """The levels of spines that a search needs; without higher parts, those of a chart that knows nothing."""
    if search is None:
        return make_levels(graph, _ALONE)
    return make_levels(graph, search.kind)


@kernel
def score_arcs(
    space: Space, weights: NDArray[Any], graph: Graph, scratch: Scratch, arcs: Floats, labels: NDArray[Any]
) -> None:  # fmt: skip
    """The scores of all arcs without labels, and of their labels: (arcs, labels), -inf for those not allowed."""
    number, base = labels.shape[1], 1 << space.arc_bits
    arcs[0] = 0.0
    for b in range(1, len(graph.head)):
        h, m = graph.head[b], graph.modifier[b]
        total = weights[0] - weights[0]  # a zero of the right type
        for k in range(arc_features(scratch.tokens, space.templates, space.arc_bits, h, m, scratch.indices)):
            total += weights[scratch.indices[k]]
        arcs[b] = total
        if number == 0:
            continue
        scores, allowed = labels[b], space.allowed[min(h, 1)]
        scores[:] = 0.0
        for k in range(label_features(scratch.tokens, space.templates, space.label_bits, h, m, scratch.rows)):
            begin = base + np.int64(scratch.rows[k]) * number
            row = weights[begin : begin + number]
            for label in range(number):
                scores[label] += row[label]
        for label in range(number):
            if not allowed[label]:
                scores[label] = -np.inf


@kernel
def score_parts(
    search: Search | None, space: Space, weights: NDArray[Any], graph: Graph, levels: Levels, arcs: Floats, scratch: Scratch
) -> Tables:  # fmt: skip
    """The tables of a sentence: with the scores of the arcs alone, if there is no chart."""
    if search is None:
        nothing = np.empty(0)
        return Tables(
            arcs, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
        )
    if search.loopy:
        return crossing_scores(graph, levels[0], arcs, scratch.part_tokens, _part_weights(space, weights))
    return part_scores(
        search.kind, search.crossing, graph, levels, arcs, scratch.part_tokens, _part_weights(space, weights)
    )


@kernel
def empty_tables(search: Search | None, graph: Graph, levels: Levels, higher: bool) -> Tables:
    """Tables of zeros, as `score_parts` gives them."""
    arcs = len(graph.head)
    complete = incomplete = siblings = grand = 0
    if search is not None and higher and search.loopy:
        siblings, grand = 1, 1
    elif search is not None and higher:
        complete, incomplete, siblings = search.kind
    steps, slots = levels[0].steps, levels[0].slots
    steps, slots = steps[len(steps) - 1], slots[len(slots) - 1]
    pairs = graph.pairs[arcs]
    beside, twice = siblings > 0, siblings > 1
    return Tables(
        np.zeros(steps if incomplete else arcs),
        np.zeros((steps if incomplete else arcs) * beside),
        np.zeros(pairs * beside),
        np.zeros(slots * (beside and incomplete > 0)),
        np.zeros(pairs * twice),
        np.zeros(graph.triples[pairs] * twice),
        np.zeros(steps * grand),
        np.zeros((steps if complete else arcs) * beside),
        np.zeros(steps * (twice and complete > 0)),
        np.zeros(slots * (twice and complete > 0)),
        np.zeros(2 * arcs * (complete > 0)),
    )


@kernel
def _part_weights(space: Space, weights: NDArray[Any]) -> PartWeights:
    base = (1 << space.arc_bits) + (space.allowed.shape[1] << space.label_bits)
    return PartWeights(space.parts, weights[base:], space.part_bits)


@kernel
def move_arcs(space: Space, graph: Graph, arcs: Floats, labels: Floats, scratch: Scratch, move: Move) -> None:
    """Move the weights of all arcs and their labels along a gradient."""
    number = labels.shape[1]
    for b in range(1, len(graph.head)):
        h, m = graph.head[b], graph.modifier[b]
        if abs(arcs[b]) > move.negligible:
            count = arc_features(scratch.tokens, space.templates, space.arc_bits, h, m, scratch.indices)
            move_weights(move, scratch.indices[:count], arcs[b])
        greatest = 0.0
        for label in range(number):
            greatest = max(greatest, abs(labels[b, label]))
        if greatest > move.negligible:
            count = label_features(scratch.tokens, space.templates, space.label_bits, h, m, scratch.rows)
            move_rows(move, 1 << space.arc_bits, number, scratch.rows[:count], labels[b])


@kernel
def move_higher(
    search: Search, space: Space, graph: Graph, levels: Levels, tables: Tables, scratch: Scratch, move: Move
) -> None:
    """Move the weights of all higher parts along a gradient."""
    if space.parts.end > 0:
        base = (1 << space.arc_bits) + (space.allowed.shape[1] << space.label_bits)
        squares = move.squares[base:] if len(move.squares) > 0 else move.squares
        target = move.target[base:]
        parts = Move(target, squares, move.rate, move.negligible)
        weights = PartWeights(space.parts, target, space.part_bits)
        if search.loopy:
            move_crossing_parts(graph, levels[0], tables, scratch.part_tokens, weights, parts)
        else:
            move_parts(
                search.kind, search.crossing, graph, levels, tables, scratch.part_tokens, weights, parts
            )


@kernel
def mark_features(
    corpus: Corpus, pruned: PrunedCorpus, search: Search | None, space: Space, seen: NDArray[np.float32]
) -> None:
    """Set `seen` to other than 0 for all weights that a part of the arcs kept has."""
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    for s in range(len(corpus.starts) - 1):
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        graph = kept_graph(corpus, pruned, s)
        hash_sentence(space, corpus.numbers[begin:end], scratch)
        move = Move(seen, seen[:0], 1.0, 0.0)
        arcs, labels = np.ones(len(graph.head)), np.ones((len(graph.head), labels_learned(space)))
        for b in range(1, len(arcs)):
            for label in range(labels.shape[1]):
                labels[b, label] = 1.0 if space.allowed[min(graph.head[b], 1), label] else 0.0
        move_arcs(space, graph, arcs, labels, scratch, move)
        if search is not None:
            levels = levels_of(search, graph)
            tables = empty_tables(search, graph, levels, space.parts.end > 0)
            for table in tables:
                table[:] = 1.0
            move_higher(search, space, graph, levels, tables, scratch, move)
