"""The pruner: a log-linear first-order model, by stochastic gradient (AdaGrad) of the likelihood of trees.

Koo (2010), 4.4.1 and 5.7.3: the probability of a tree is proportional to exp(score of its arcs), and the gradient by the score of
an arc is whether the right tree has it, less its marginal. The trees are those whose marginals the pruner goes by
(`arcwise.sums.pruning`): projective, or all; or every word chooses its head on its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import distance_code
from arcwise.features.coarse import coarse_features, coarse_scores
from arcwise.features.moves import Move, move_weight
from arcwise.features.templates import Templates
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.parts.arcs import ANY_HEAD, keep_heads
from arcwise.sums.pruning import Room, make_room, sum_trees

RATE = 0.05
_NEGLIGIBLE = 0.01  # a smaller gradient of an arc is not worth its cost


@kernel
def _sum_known(
    S: NDArray[np.float64],
    heads: NDArray[np.int32],
    pruning: int,
    single_root: bool,
    room: Room,
    marginals: NDArray[np.float64],
) -> float:
    """As `sum_trees`, over the trees that have the known heads: one tree if all are known. Spoils S."""
    if ANY_HEAD in heads[1:]:
        keep_heads(S, heads)
        return sum_trees(S, pruning, single_root, room, marginals)
    marginals[:] = 0.0
    score = 0.0
    for m in range(1, len(heads)):
        marginals[heads[m], m] = 1.0
        score += S[heads[m], m]
    return score


@kernel
def pruner_epoch(
    corpus: Corpus,
    order: NDArray[np.int64],
    templates: Templates,
    bits: int,
    pruning: int,
    single_root: bool,
    rate: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
) -> float:
    """One pass over the sentences in `order`, in place; returns the negative log-likelihood, each sentence's before its step.

    Of a sentence with unknown heads it is that of all trees with the known ones, of which there must be one. pruning: which trees
    there are, as in `arcwise.sums.pruning`. squares: the sums of squared gradients, begun at zero. O(n^2 * templates + n^3) a
    sentence, by heads without n^3; O(n^2) memory.
    """
    longest = longest_sentence(corpus.starts)
    tokens, room = make_tokens(longest, templates.end), make_room(longest)
    indices = np.empty(templates.arcs, np.uint32)
    matrices = np.empty(3 * (longest + 1) ** 2)
    move, loss = Move(weights, squares, rate, _NEGLIGIBLE), 0.0
    for s in order:
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        of_sentence = matrices[: 3 * size * size].reshape((3, size, size))
        S, expected, known = of_sentence[0], of_sentence[1], of_sentence[2]
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        coarse_scores(tokens, templates, weights, bits, S)
        loss += sum_trees(S, pruning, single_root, room, expected)
        loss -= _sum_known(S, corpus.heads[begin:end], pruning, single_root, room, known)
        for m in range(1, size):
            for h in range(size):
                gradient = known[h, m] - expected[h, m]
                if abs(gradient) < move.negligible:
                    continue
                coarse_features(tokens, templates, bits, h, m, indices)
                code = distance_code(h, m)
                for bare in indices:
                    move_weight(move, int(bare), gradient)
                    move_weight(move, int(bare ^ code), gradient)
    return loss
