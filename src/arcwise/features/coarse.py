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
def coarse_scores(
    tokens: Tokens, templates: Templates, weights: NDArray[np.int8], bits: int, S: NDArray[np.float64]
) -> None:
    """Score all arcs with the few templates of the pruner."""
    shift = np.uint32(32 - bits)
    number = templates.arcs
    indices = np.empty(number, np.uint32)
    for m in range(1, S.shape[0]):
        modifiers = tokens.as_modifier[m]
        for h in range(S.shape[0]):
            heads = tokens.as_head[h]
            code = distance_code(h, m)
            for t in range(number):
                indices[t] = spread(np.uint32(heads[t] + modifiers[t])) >> shift
            total = 0
            for t in range(number):
                total += weights[indices[t]]
                total += weights[indices[t] ^ code]
            S[h, m] = total
