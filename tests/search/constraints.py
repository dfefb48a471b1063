"""Arcs that trees must have or must not have, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray


def draw_constraints(data: Any, trees: NDArray[np.int32]) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """The options `required` and `forbidden` of a search, or none; and which of the trees (rows of heads) obey them."""
    allowed = np.ones(len(trees), np.bool_)
    if not data.draw(st.booleans()):
        return {}, allowed
    n = trees.shape[1] - 1
    arcs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    [required, *forbidden] = data.draw(st.lists(st.sampled_from(arcs), min_size=1, max_size=3))
    forbidden = [arc for arc in forbidden if arc != required]
    allowed &= trees[:, required[1]] == required[0]
    for h, m in forbidden:
        allowed &= trees[:, m] != h
    return {"required": [required], "forbidden": forbidden}, allowed
