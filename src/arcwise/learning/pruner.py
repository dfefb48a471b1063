"""The pruner: a log-linear model of each word's head on its own, by stochastic gradient (AdaGrad)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import distance_code
from arcwise.features.coarse import coarse_features
from arcwise.features.templates import Templates
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus

RATE = 0.05
_EPSILON = 1e-6
_NEGLIGIBLE = 0.01  # a smaller gradient of an arc is not worth its cost


@kernel
def pruner_epoch(
    corpus: Corpus,
    order: NDArray[np.int64],
    templates: Templates,
    bits: int,
    rate: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
) -> float:
    """One pass over the sentences in `order`, in place; returns the negative log-likelihood, each word's before its step.

    p(h | m) is proportional to exp(score of the arc from h to m). O(n^2 * templates) a sentence. squares: the sums of squared
    gradients, begun at zero.
    """
    longest = longest_sentence(corpus.starts)
    tokens = make_tokens(longest, templates.end)
    number = templates.arcs
    indices = np.empty((longest + 1, number), np.uint32)
    p = np.empty(longest + 1)
    loss = 0.0
    for s in order:
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        size = end - begin
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        for m in range(1, size):
            gold = corpus.heads[begin + m]
            best = -np.inf
            for h in range(size):
                code = distance_code(h, m)
                coarse_features(tokens, templates, bits, h, m, indices[h])
                total = 0.0
                for t in range(number):
                    total += weights[indices[h, t]] + weights[indices[h, t] ^ code]
                p[h] = total if h != m else -np.inf
                best = max(best, p[h])
            z = 0.0
            for h in range(size):
                z += math.exp(p[h] - best)
            loss += math.log(z) - (p[gold] - best)
            for h in range(size):
                gradient = (1.0 if h == gold else 0.0) - math.exp(p[h] - best) / z
                if abs(gradient) < _NEGLIGIBLE:
                    continue
                code = distance_code(h, m)
                for t in range(number):
                    for i in (indices[h, t], np.uint32(indices[h, t] ^ code)):
                        squares[i] += gradient * gradient
                        weights[i] += rate * gradient / math.sqrt(squares[i] + _EPSILON)
    return loss
