"""What a tree scores by head automata, told in plain words: all sequences of states are tried. Shares no code with what it tests."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from tests.parts import naive


def scores(tables: dict[str, Any], trees: Any) -> Any:
    """The scores of trees. tables: arcs, left and right, and left_end and right_end if they are there."""

    @cache
    def side_score(h: int, side: str, chain: tuple[int, ...]) -> float:
        steps, states = tables[side], tables[side].shape[1]
        ends = tables.get(f"{side}_end", np.zeros((len(steps), states)))
        best = -np.inf
        for path in product(range(states), repeat=len(chain)):
            taken = zip(pairwise((0, *path)), chain, strict=True)
            total = sum(steps[h, s, t, m] + tables["arcs"][h, m] for (s, t), m in taken)
            best = max(best, total + ends[h, path[-1] if path else 0])
        return float(best)

    found = []
    for heads in trees.tolist():
        sides = [(h, side) for h in range(len(heads)) for side in ("left", "right")][
            1:
        ]  # the root has no left
        found.append(
            sum(side_score(h, side, tuple(naive.modifiers(heads, h, side == "right"))) for h, side in sides)
        )
    return np.array(found)
