"""How sure is the labeller? The probability of each label, given the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import label_features
from arcwise.features.context import (
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.pipeline.forest import Floats, Rows
from arcwise.pipeline.sentences import Weights


def label_probabilities(rows: Rows, weights: Weights, temperature: float) -> Floats:
    """The probability of every label given its tree, if it is proportional to exp(score / temperature) among those the arc may have.

    The scores are those by which `parse_sentences` labels the tree it found. O(L) a word. rows: with known heads and labels.
    temperature: in units of the weights. The result is by row, NaN for the roots and for labels that the arc may not have.
    """
    found = np.full(len(rows.numbers), np.nan)
    _fill(rows.numbers, rows.starts, weights, rows.heads, rows.labels, temperature, found)
    return found


@kernel
def _fill(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    temperature: float,
    probabilities: NDArray[np.float64],
) -> None:
    templates = weights.templates
    longest = longest_sentence(starts)
    tokens, tree = make_tokens(longest, templates.end), make_neighbours(longest)
    rows = np.empty(most_context_features(templates), np.uint32)
    scores = np.empty(weights.final.shape[1], np.int32)
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        tree_heads = heads[begin:end]
        hash_tokens(numbers[begin:end], templates, tokens)
        find_neighbours(tree_heads, tokens, tree)
        for m in range(1, end - begin):
            label = labels[begin + m]
            forbidden = weights.penalties[min(tree_heads[m], 1)]
            if label < 0 or forbidden[label] != 0:
                continue
            if weights.in_context:
                count = context_features(tokens, templates, weights.label_bits, tree_heads, tree, m, rows)
            else:
                count = label_features(tokens, templates, weights.label_bits, tree_heads[m], m, rows)
            scores[:] = 0
            for k in range(count):
                row = weights.final[rows[k]]
                for other in range(len(scores)):
                    scores[other] += row[other]
            total = 0.0  # of exp(score - score of the label); inf, if the label is hopeless
            for other in range(len(scores)):
                if forbidden[other] == 0:
                    total += np.exp((scores[other] - scores[label]) / temperature)
            probabilities[begin + m] = 1.0 / total
