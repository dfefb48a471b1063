"""The arcs that the pruner keeps of a training corpus: found once, used in every epoch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.coarse import coarse_scores
from arcwise.features.templates import Templates
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.parts.arcs import ANY_HEAD, keep_heads, make_arcs, prune
from arcwise.search import eisner, spanning_tree
from arcwise.sums.pruning import log_marginals, make_room


class PrunedCorpus(NamedTuple):
    """The arcs kept of all sentences. Those of sentence s are an `Arcs` whose `first` begins at starts[s] + s of `first` here and
    whose `heads` begin at arc_starts[s] of `heads` here.
    """

    first: NDArray[np.int32]
    heads: NDArray[np.int32]
    arc_starts: NDArray[np.int64]


@kernel
def prune_corpus(
    corpus: Corpus,
    templates: Templates,
    weights: NDArray[np.int8],
    bits: int,
    unit: float,
    pruning: int,
    single_root: bool,
    most: int,
    threshold: float,
    projective: bool = False,
) -> PrunedCorpus:
    """Prune every sentence; the arcs of its right tree are always kept. O(n^2 * templates) a sentence, O(n^3) by trees.

    Where heads are unknown, the right tree is the pruner's best one with the known heads, projective if asked; there must be one.
    unit: of the weights, so that scores are logarithms. pruning: by what, as in `arcwise.sums.pruning`.
    """
    sentences = len(corpus.starts) - 1
    longest = longest_sentence(corpus.starts)
    tokens, arcs = make_tokens(longest, templates.end), make_arcs(longest, most)
    matrix, room = np.empty((longest + 1) * (longest + 1)), make_room(longest)
    chart, cycles = eisner.make_chart(longest), spanning_tree.make_room(longest)
    first = np.empty(corpus.starts[sentences] + sentences, np.int32)
    heads = np.empty(corpus.starts[sentences] * most, np.int32)
    arc_starts = np.zeros(sentences + 1, np.int64)
    for s in range(sentences):
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        S = matrix[: size * size].reshape((size, size))
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        coarse_scores(tokens, templates, weights, bits, S)
        S *= unit
        tree = corpus.heads[begin:end]
        if ANY_HEAD in tree[1:]:
            known, tree = S.copy(), tree.copy()
            keep_heads(known, tree)
            if projective:
                eisner.eisner_tree(known, single_root, chart, tree)
            else:
                spanning_tree.spanning_tree(known, single_root, cycles, tree)
        log_marginals(S, pruning, single_root, room)
        prune(S, tree, most, threshold, arcs)
        first[begin + s : end + s + 1] = arcs.first[: size + 1]
        arc_starts[s + 1] = arc_starts[s] + arcs.first[size]
        heads[arc_starts[s] : arc_starts[s + 1]] = arcs.heads[: arcs.first[size]]
    return PrunedCorpus(first, heads[: arc_starts[sentences]].copy(), arc_starts)
