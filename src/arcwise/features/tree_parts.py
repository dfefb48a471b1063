"""The features of all higher parts of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.features.part_templates import PartTemplates
from arcwise.features.parts import (
    PartTokens,
    grand_sibling_features,
    grandchild_features,
    nobody,
    sibling_features,
    tri_sibling_features,
)
from arcwise.kernels import kernel
from arcwise.parts.tables import Kind


@kernel
def most_tree_features(longest: int, templates: PartTemplates) -> int:
    """How many features the higher parts of a tree of up to `longest` words can have."""
    grandchildren = templates.grand_siblings - templates.grandchildren
    # Each modifier closes at most one side, and has no modifiers on two sides at most.
    return 2 * (longest + 1) * (2 * templates.end + grandchildren)


@kernel
def tree_features(
    kind: Kind, heads: NDArray[np.int32], tokens: PartTokens, templates: PartTemplates, bits: int, indices: Indices
) -> int:  # fmt: skip
    """Fill `indices` with the features of all parts that a chart of this kind scores in a tree; returns how many. O(n) parts.

    The parts are those of `arcwise.features.part_scores`.
    """
    size, none = len(heads), nobody(tokens)
    nearest, farther = (
        np.full((2, size), -1, np.int32),
        np.full(size, -1, np.int32),
    )  # of a head; than a modifier
    for m in range(1, size):
        if m < heads[m]:
            farther[m], nearest[0, heads[m]] = nearest[0, heads[m]], m
    for m in range(size - 1, 0, -1):
        if heads[m] < m:
            farther[m], nearest[1, heads[m]] = nearest[1, heads[m]], m
    k = 0
    for h in range(size):
        g = int(heads[h])
        grand = kind.complete > 0 and h > 0
        for side in range(2):
            right = side == 1
            t = s = none
            m = int(nearest[side, h])
            if m < 0 and grand:
                k += grandchild_features(tokens, templates, bits, right, g, h, none, indices[k:])
            while m >= 0:
                if kind.siblings > 0:
                    k += sibling_features(tokens, templates, bits, right, h, s, m, indices[k:])
                if kind.siblings > 1 and s != none:
                    k += tri_sibling_features(tokens, templates, bits, right, h, t, s, m, indices[k:])
                if grand and (kind.incomplete > 0 or farther[m] < 0):
                    k += grandchild_features(tokens, templates, bits, right, g, h, m, indices[k:])
                    if kind.incomplete == 0 and kind.siblings > 1 and s != none:
                        k += grandchild_features(tokens, templates, bits, right, g, h, s, indices[k:])
                    if kind.siblings + kind.incomplete > 1:
                        k += grand_sibling_features(tokens, templates, bits, right, g, h, s, m, indices[k:])
                t, s, m = s, m, int(farther[m])
            if kind.siblings > 0 and s != none:
                k += sibling_features(tokens, templates, bits, right, h, s, none, indices[k:])
                if grand and kind.incomplete > 0:
                    k += grand_sibling_features(tokens, templates, bits, right, g, h, s, none, indices[k:])
    return k
