"""What people ask of trees: arcs, spans, roots and leaves, labels. The kinds, their files, and what they mean for a sentence."""

from arcwise.constraints.compiled import Compiled, compile_constraints
from arcwise.constraints.kinds import (
    Arc,
    AtMostOne,
    Constraint,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
)
from arcwise.constraints.reading import ConstraintFile, from_misc, parse_constraint, read_constraints

__all__ = [
    "Arc",
    "AtMostOne",
    "Compiled",
    "Constraint",
    "ConstraintFile",
    "HeadInside",
    "HeadOutside",
    "Labels",
    "Leaf",
    "NoArc",
    "Root",
    "Subtree",
    "Together",
    "compile_constraints",
    "from_misc",
    "parse_constraint",
    "read_constraints",
]
