"""The features of a tree that is given by its heads."""

from __future__ import annotations

import numpy as np

from arcwise.features.part_templates import PartTemplates
from arcwise.features.parts import PartTokens
from arcwise.features.tree_parts import most_tree_features, tree_features
from arcwise.parts.graph import make_graph
from arcwise.parts.tables import Kind


def features_of(
    kind: Kind, heads: np.ndarray, tokens: PartTokens, templates: PartTemplates, bits: int
) -> np.ndarray:
    """Where the weights of all higher parts of the tree lie, one after another."""
    n = len(heads) - 1
    graph = make_graph(
        np.arange(n + 1, dtype=np.int32), heads[1:].astype(np.int32), np.arange(1, n + 1, dtype=np.int32)
    )
    up = np.zeros(n + 1, np.int32)
    up[graph.modifier[1:]] = np.arange(1, n + 1)
    indices = np.empty(most_tree_features(n, n, templates), np.uint32)
    count = tree_features(kind, graph, np.ones(n + 1, np.bool_), up, tokens, templates, bits, indices)
    return indices[:count]
