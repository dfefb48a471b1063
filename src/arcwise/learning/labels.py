"""Labels of a known tree: a multiclass MIRA or perceptron on the right trees, with the tree's context as features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.context import context_features, find_neighbours, make_neighbours, most_context_features
from arcwise.features.templates import Templates
from arcwise.features.tokens import hash_tokens, longest_sentence, make_tokens
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.online import Learner

LABEL_LEARNERS = {"mira": Learner(cost=1.0, limit=0.02), "perceptron": Learner(cost=0.0, limit=0.0)}


@kernel
def label_epoch(
    corpus: Corpus,
    order: NDArray[np.int64],
    templates: Templates,
    bits: int,
    learner: Learner,
    step: int,
    weights: NDArray[np.float32],
    moves: NDArray[np.float32],
) -> int:
    """One pass over the sentences in `order`, in place; `step` words have been seen before. Returns how many labels were wrong.

    Trees must be whole; words whose label is not known are passed by.

    weights, moves: float32 (2^bits, labels), averaged as in `arcwise.learning.online`. MIRA takes a word's rows for distinct, which
    they are but for rare collisions.
    """
    longest = longest_sentence(corpus.starts)
    tokens, tree = make_tokens(longest, templates.end), make_neighbours(longest)
    rows = np.empty(most_context_features(templates), np.uint32)
    labels = weights.shape[1]
    scores = np.empty(labels, np.float32)
    wrong = 0
    for s in order:
        begin, end = corpus.starts[s], corpus.starts[s + 1]
        heads = corpus.heads[begin:end]
        hash_tokens(corpus.numbers[begin:end], templates, tokens)
        find_neighbours(heads, tokens, tree)
        for m in range(1, end - begin):
            count = context_features(tokens, templates, bits, heads, tree, m, rows)
            scores[:] = 0.0
            for k in range(count):
                row = weights[rows[k]]
                for label in range(labels):
                    scores[label] += row[label]
            right = corpus.labels[begin + m]
            if right < 0:
                continue
            rival = -1
            for label in range(labels):
                if label != right and (rival < 0 or scores[label] > scores[rival]):
                    rival = label
            step += 1
            if rival < 0:  # there is only one label
                continue
            if scores[rival] >= scores[right]:
                wrong += 1
            loss = learner.cost - (scores[right] - scores[rival])
            if loss < 0.0:  # on a tie the perceptron moves, too
                continue
            length = min(learner.limit, loss / (2 * count)) if learner.limit > 0.0 else 1.0
            move, late = np.float32(length), np.float32(length * (step - 1))
            for k in range(count):
                weights[rows[k], right] += move
                weights[rows[k], rival] -= move
                moves[rows[k], right] += late
                moves[rows[k], rival] -= late
    return wrong
