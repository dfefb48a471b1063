"""The features of all higher parts of a tree, or of whatever modifiers words take."""

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
from arcwise.parts.graph import Graph, Ints
from arcwise.parts.tables import Kind


@kernel
def most_tree_features(words: int, arcs: int, templates: PartTemplates) -> int:
    """How many features the higher parts of so many arcs between so many words can have."""
    grandchildren = templates.grand_siblings - templates.grandchildren
    # Each modifier closes at most one side, and a word has no modifiers on two sides at most.
    return 2 * arcs * (2 * templates.end + grandchildren) + 4 * (words + 1) * grandchildren


@kernel
def tree_features(
    kind: Kind, graph: Graph, taken: NDArray[np.bool_], up: Ints, tokens: PartTokens, templates: PartTemplates, bits: int,
    indices: Indices,
) -> int:  # fmt: skip
    """Fill `indices` with the features of all parts that a search of this kind scores; returns how many. O(arcs) and the parts.

    taken: the arcs of a tree, or those that head automata take. up: the arc into each word that grandchildren go by, 0 for the
    root. The parts are those of `arcwise.features.part_scores`.
    """
    none, k = nobody(tokens), 0
    for h in range(len(graph.position)):
        g = int(graph.head[up[h]])
        grand = kind.complete > 0 and h > 0
        for side in range(2):
            right = side == 1
            begin, end = (graph.right[h], graph.out[h + 1]) if right else (graph.out[h], graph.right[h])
            last = begin - 1  # the last arc taken
            for b in range(begin, end):
                last = b if taken[b] else last
            t = s = none
            if last < begin and grand and templates.nulls:
                k += grandchild_features(tokens, templates, bits, right, g, h, none, indices[k:])
            for b in range(begin, last + 1):
                if not taken[b]:
                    continue
                m = int(graph.modifier[b])
                if kind.siblings > 0:
                    k += sibling_features(tokens, templates, bits, right, h, s, m, indices[k:])
                if kind.siblings > 1 and s != none:
                    k += tri_sibling_features(tokens, templates, bits, right, h, t, s, m, indices[k:])
                if grand and (kind.incomplete > 0 or b == last):
                    k += grandchild_features(tokens, templates, bits, right, g, h, m, indices[k:])
                    if kind.incomplete == 0 and kind.siblings > 1 and s != none:
                        k += grandchild_features(tokens, templates, bits, right, g, h, s, indices[k:])
                    if kind.siblings + kind.incomplete > 1:
                        k += grand_sibling_features(tokens, templates, bits, right, g, h, s, m, indices[k:])
                t, s = s, m
            if kind.siblings > 0 and s != none:
                k += sibling_features(tokens, templates, bits, right, h, s, none, indices[k:])
                if grand and kind.incomplete > 0:
                    k += grand_sibling_features(tokens, templates, bits, right, g, h, s, none, indices[k:])
    return k
