"""All trees of some sentences, when a model scores higher parts and trees need not be projective: as `Forest`, by samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.features.arcs import most_arc_features
from arcwise.features.context import most_context_features
from arcwise.features.part_scores import add_by_steps, crossing_scores
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.features.tokens import Tokens, hash_tokens, make_tokens
from arcwise.features.whole_tree import make_whole_tree
from arcwise.kernels import by_type, kernel
from arcwise.parts.arcs import Arcs, make_arcs, prune
from arcwise.parts.folding import Levels
from arcwise.parts.graph import Graph, first_level, make_graph, next_level
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.pipeline.chart_sentences import part_tables
from arcwise.pipeline.climbing_sentences import sentence_number
from arcwise.pipeline.sentences import Weights, keep_arcs, score_arcs
from arcwise.search.chart import make_levels
from arcwise.search.spanning_tree import make_room, spanning_trees
from arcwise.sums.importance import score_of_tree, sum_by_samples

SAMPLES_A_WORD, MOST_SAMPLES = 12, 1000  # draws of each kind, at each temperature
_BILLION = 2.0**30
_SIBLINGS_AND_GRANDCHILDREN = Kind(1, 1, 1)


class SampledForest(NamedTuple):
    """All trees of some sentences among the arcs that the pruner keeps, each as likely as exp(score / temperature): of projective
    trees exactly, of the others by samples (`arcwise.sums.importance`).

    numbers, starts: the sentences, as in `Rows`. heads, labels: what is given of their trees. trees: int32 (trees, rows), heads of
    trees that are to count whatever is drawn: the best ones.
    """

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    weights: Weights
    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    trees: NDArray[np.int32]
    temperature: float

    def sums_at(self, temperatures: NDArray[np.float64]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """For every temperature, one a row: the probabilities of all arcs, their standard errors, the log partition functions of
        all sentences and theirs. And the score of the last of `trees` of each sentence, by all parts. Runs without the lock. What
        is drawn depends on the words of a sentence and the place of the temperature alone.
        """
        sizes, sentences = np.diff(self.starts), len(self.starts) - 1
        arcs = np.empty((len(temperatures), int(np.sum(sizes * sizes))))
        arc_errors, logs = np.empty_like(arcs), np.empty((len(temperatures), sentences))
        errors, scores = np.empty_like(logs), np.empty(sentences)
        with np.errstate(over="ignore", divide="ignore"):  # then they are refused
            colds = 1.0 / temperatures
        sum_sentences(
            self.numbers, self.starts, self.weights._replace(far=None), self.weights.far, self.heads, self.labels, self.trees, colds,
            arcs, arc_errors, logs, errors, scores,
        )  # fmt: skip
        if not np.isfinite(logs).all():
            raise ArcwiseError(
                f"no probabilities: the scores are too great for temperature {temperatures.min()}"
            )
        return arcs, arc_errors, logs, errors, scores

    def min_risk(self, marginals: Floats) -> NDArray[np.int32]:
        """The tree of every sentence with the most right arcs to expect, one after another. O(n^2) a sentence."""
        heads = np.empty(len(self.numbers), np.int32)
        gains = np.where(marginals > 0, np.rint(marginals * _BILLION), -np.inf)
        spanning_trees(gains, np.diff(self.starts) - 1, self.weights.single_root, heads)
        return heads

    def squares(self, flat: Floats) -> list[Floats]:
        """Numbers for all pairs of words as a matrix for each sentence."""
        sizes = np.diff(self.starts).tolist()
        ends = np.cumsum(np.square(sizes)).tolist()
        return [
            flat[end - size * size : end].reshape(size, size) for size, end in zip(sizes, ends, strict=True)
        ]


@kernel
def sum_sentences(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    far: Any,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    trees: NDArray[np.int32],
    colds: Floats,
    marginals: Floats,
    errors: Floats,
    logs: Floats,
    log_errors: Floats,
    scores: Floats,
) -> None:
    """Sums over the trees of every sentence at several temperatures: `sum_by_samples`, with the arcs that the pruner keeps, and
    those of the first of `trees`. Arguments as of `SampledForest.sums_at`; far: `weights.far`. colds: 1 / temperature.
    """
    at = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        size = end - begin
        words, of_words = numbers[begin:end], labels[begin:end]
        atoms = _different(trees[:, begin:end])
        tokens, arcs = _keep_arcs(words, weights, heads[begin:end], atoms[0])
        graph, levels, kind, tables = _score_parts(words, weights, tokens, arcs, of_words)
        whole = _whole_tree(words, tokens, far)
        scores[s] = score_of_tree(kind, graph, levels, tables, whole, trees[-1, begin:end])
        samples = min(SAMPLES_A_WORD * size, MOST_SAMPLES)
        for k in range(len(colds)):
            P = marginals[k, at : at + size * size].reshape((size, size))
            E = errors[k, at : at + size * size].reshape((size, size))
            found = sum_by_samples(
                kind, graph, levels, tables, whole, colds[k], weights.single_root, atoms, samples, k,
                sentence_number(words), P, E,
            )  # fmt: skip
            logs[k, s], log_errors[k, s] = found.log_partition, found.error
        at += size * size


@kernel
def _different(trees: NDArray[np.int32]) -> NDArray[np.int32]:
    """Trees without repetitions; the root's own head is made -1."""
    found, count = np.empty(trees.shape, np.int32), 0
    for tree in trees:
        new = True
        for k in range(count):
            new = new and not np.array_equal(found[k, 1:], tree[1:])
        if new:
            found[count] = tree
            found[count, 0] = -1
            count += 1
    return found[:count]


@kernel
def _keep_arcs(
    numbers: NDArray[np.int32], weights: Weights, given: NDArray[np.int32], tree: NDArray[np.int32]
) -> tuple[Tokens, Arcs]:
    """Prune as the searches do, but keep the arcs of `tree` in any case."""
    longest = len(numbers) - 1
    tokens, arcs = make_tokens(longest, weights.templates.end), make_arcs(longest, weights.most_heads)
    S, heads = np.empty((longest + 1, longest + 1)), given.copy()
    hash_tokens(numbers, weights.templates, tokens)
    keep_arcs(weights, tokens, S, make_room(longest), heads, arcs)
    for m in range(1, len(tree)):
        if tree[m] not in arcs.heads[arcs.first[m] : arcs.first[m + 1]]:
            prune(S, tree, weights.most_heads, weights.threshold, arcs)
            break
    return tokens, arcs


@kernel
def _score_parts(
    numbers: NDArray[np.int32], weights: Weights, tokens: Tokens, arcs: Arcs, labels: NDArray[np.int32]
) -> tuple[Graph, Levels, Kind, Tables]:
    """The graph of the arcs kept, and the scores of all parts that the model scores; of belief propagation: siblings and
    grandchildren.
    """
    part_tokens = make_part_tokens(len(numbers) - 1, weights.parts.templates)
    indices = np.empty(most_arc_features(len(numbers) - 1, weights.templates), np.uint32)
    rows = np.empty(most_context_features(weights.templates), np.uint32)
    if not weights.loopy:
        graph, levels, _, tables = part_tables(
            numbers, weights, True, tokens, part_tokens, arcs, labels, indices, rows
        )
        return graph, levels, weights.kind, tables
    count = arcs.first[len(numbers)]
    graph = make_graph(np.arange(len(numbers)).astype(np.int32), arcs.heads[:count], arcs.modifiers[:count])
    of_arcs, level = np.zeros(count + 1), next_level(graph, first_level(graph), 1)
    score_arcs(weights, tokens, graph.head[1:], graph.modifier[1:], labels, indices, rows, of_arcs[1:])
    hash_part_tokens(numbers, weights.parts.templates, part_tokens)
    found = crossing_scores(graph, level, of_arcs, part_tokens, weights.parts)
    step, first, last = found.run, np.zeros(len(found.run)), np.zeros(len(found.run))
    add_by_steps(graph, level, of_arcs, step)
    add_by_steps(graph, level, found.first, first)
    add_by_steps(graph, level, found.last, last)
    empty = np.empty(0)
    tables = Tables(step, first, found.pair, empty, empty, empty, empty, last, empty, empty, empty)
    return graph, make_levels(graph, _SIBLINGS_AND_GRANDCHILDREN), _SIBLINGS_AND_GRANDCHILDREN, tables


@by_type
def _whole_tree(numbers: NDArray[np.int32], tokens: Tokens, far: Any) -> Any:
    """What scores whole trees of a sentence, if the model has features of them."""
    if not hasattr(far, "types"):
        return lambda numbers, tokens, far: None

    def of_sentence(numbers: NDArray[np.int32], tokens: Tokens, far: Any) -> Any:
        return make_whole_tree(numbers, tokens, far[0], far[1])

    return of_sentence
