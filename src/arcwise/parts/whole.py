"""What a tree scores as a whole, beyond any tables: where features that look at all of it meet a search that knows no features.

A class of named tuples says how by `scores_trees`; kernels call `whole_score` with one of these, or with None, which scores nothing
and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arcwise.kernels import by_type
from arcwise.parts.graph import Ints

_SCORERS: dict[type, Callable[[Any, Ints, bool], float]] = {}


def scores_trees(kind: type, score: Callable[[Any, Ints, bool], float]) -> None:
    """Let the kernel `score` tell what trees score by objects of this class; its arguments are those of `whole_score`."""
    _SCORERS[kind] = score


@by_type
def whole_score(whole: Any, heads: Ints, keep: bool) -> Any:
    """What a tree scores as a whole. keep: whether the trees of the next calls will differ little from this one."""
    if not hasattr(whole, "instance_class"):
        return lambda whole, heads, keep: 0.0
    score = _SCORERS[whole.instance_class]

    def of_tree(whole: Any, heads: Ints, keep: bool) -> float:
        return score(whole, heads, keep)

    return of_tree
