"""What is in Y(x)? Shapes of trees, ways from one to another, and all trees of a short sentence."""

from arcwise.trees.blocks import block_degree, block_degrees, gap_degree, is_projective
from arcwise.trees.checking import check_tree, is_tree, roots
from arcwise.trees.edges import edge_degree, edge_degrees, nonprojective_arcs
from arcwise.trees.enumerate import all_trees, count_trees
from arcwise.trees.nesting import is_one_inherit, is_well_nested
from arcwise.trees.paths import path_between

__all__ = [
    "all_trees",
    "block_degree",
    "block_degrees",
    "check_tree",
    "count_trees",
    "edge_degree",
    "edge_degrees",
    "gap_degree",
    "is_one_inherit",
    "is_projective",
    "is_tree",
    "is_well_nested",
    "nonprojective_arcs",
    "path_between",
    "roots",
]
