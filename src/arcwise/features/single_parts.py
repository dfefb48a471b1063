"""The scores of single parts, when someone asks for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.features.part_scores import PartWeights
from arcwise.features.parts import PartTokens, grandchild_features, nobody, sibling_features
from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats

Numbers = NDArray[np.int64]


@kernel
def _sum(weights: PartWeights, indices: Indices, count: int) -> float:
    total = 0
    for k in range(count):
        total += weights.table[indices[k]]
    return float(total)


@kernel
def score_grand_parts(
    graph: Graph, tokens: PartTokens, weights: PartWeights, uppers: Numbers, lowers: Numbers, scores: Floats
) -> None:
    """Fill in the scores of the grand parts of these arcs."""
    indices = np.empty(2 * weights.templates.end, np.uint32)
    for k in range(len(uppers)):
        g, h = int(graph.head[uppers[k]]), int(graph.modifier[uppers[k]])
        m = int(graph.modifier[lowers[k]])
        count = grandchild_features(tokens, weights.templates, weights.bits, h < m, g, h, m, indices)
        scores[k] = _sum(weights, indices, count)


@kernel
def score_pairs(
    graph: Graph, tokens: PartTokens, weights: PartWeights, nearer: Numbers, farther: Numbers, scores: Floats
) -> None:
    """Fill in the scores of consecutive siblings, given their arcs; one of the two may be 0, for nobody."""
    indices = np.empty(2 * weights.templates.end, np.uint32)
    for k in range(len(nearer)):
        s = int(graph.modifier[nearer[k]]) if nearer[k] > 0 else nobody(tokens)
        m = int(graph.modifier[farther[k]]) if farther[k] > 0 else nobody(tokens)
        arc = max(nearer[k], farther[k])  # both are on one side of one head
        h, right = int(graph.head[arc]), graph.head[arc] < graph.modifier[arc]
        count = sibling_features(tokens, weights.templates, weights.bits, right, h, s, m, indices)
        scores[k] = _sum(weights, indices, count)


@kernel
def score_null_parts(graph: Graph, tokens: PartTokens, weights: PartWeights) -> Floats:
    """By 2 arc + side: of an arc whose modifier has no modifiers on the side."""
    scores = np.zeros(2 * len(graph.head))
    indices = np.empty(2 * weights.templates.end, np.uint32)
    for a in range(1, len(graph.head)):
        g, h = int(graph.head[a]), int(graph.modifier[a])
        for side in range(2):
            count = grandchild_features(
                tokens, weights.templates, weights.bits, side == 1, g, h, nobody(tokens), indices
            )
            scores[2 * a + side] = _sum(weights, indices, count)
    return scores
