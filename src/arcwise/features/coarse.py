"""The pruner's scores: few templates on all pairs of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import distance_code
from arcwise.features.hashing import spread
from arcwise.features.templates import Templates
from arcwise.features.tokens import Tokens
from arcwise.kernels import kernel


@kernel
def coarse_features(
    tokens: Tokens, templates: Templates, bits: int, h: int, m: int, indices: NDArray[np.uint32]
) -> None:
    """Fill `indices` with the bare features of the arc from h to m, one a template; with the distance: `^ distance_code(h, m)`."""
    shift = np.uint32(32 - bits)
    heads, modifiers = tokens.as_head[h], tokens.as_modifier[m]
    for t in range(templates.arcs):
        indices[t] = spread(np.uint32(heads[t] + modifiers[t])) >> shift


@kernel
def coarse_scores(
    tokens: Tokens,
    templates: Templates,
    weights: NDArray[np.int8] | NDArray[np.float32],
    bits: int,
    S: NDArray[np.float64],
) -> None:
    """Score all arcs with the few templates of the pruner, by the weights of a model or those in training."""
    indices = np.empty(templates.arcs, np.uint32)
    for m in range(1, S.shape[0]):
        for h in range(S.shape[0]):
            coarse_features(tokens, templates, bits, h, m, indices)
            code = distance_code(h, m)
            total = 0
            for t in range(templates.arcs):
                total += weights[indices[t]]
                total += weights[indices[t] ^ code]
            S[h, m] = total
