"""Arcs that a tree must have or must not have, written into the scores."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError, NoTreeError

Arc = tuple[int, int]


def constrain(
    S: NDArray[np.float64],
    required: Iterable[Arc],
    forbidden: Iterable[Arc],
    place: str = "",
    *,
    projective: bool = False,
) -> NDArray[np.float64]:
    """A copy of S whose trees all have the required arcs (h, m), and none of the forbidden ones.

    InputError if a word is given two heads, NoTreeError if trees are projective and two of the required arcs cross.

    >>> constrain(np.zeros((3, 3)), required=[(2, 1)], forbidden=[(1, 2)])
    array([[  0., -inf,   0.],
           [  0., -inf, -inf],
           [  0.,   0.,   0.]])
    """
    n = len(S) - 1
    heads: dict[int, int] = {}
    for h, m in arc_pairs(required, "required", n, place):
        if heads.setdefault(m, h) != h:
            raise InputError(f"{place}required arcs give word {m} two heads, {heads[m]} and {h}")
    if projective:
        _refuse_crossing(heads, place)
    masked = S.copy()
    for h, m in arc_pairs(forbidden, "forbidden", n, place):
        if heads.get(m) == h:
            raise InputError(f"{place}the arc from {h} to {m} is both required and forbidden")
        masked[h, m] = -np.inf
    for m, h in heads.items():
        score = masked[h, m]
        masked[:, m] = -np.inf
        masked[h, m] = score
    return masked


def _refuse_crossing(heads: dict[int, int], place: str) -> None:
    ends = sorted((min(h, m), -max(h, m), h, m) for m, h in heads.items())
    around: list[
        tuple[int, int, int, int]
    ] = []  # the arcs that the present one may cross: each within the one before
    for arc in ends:
        while around and -around[-1][1] <= arc[0]:
            around.pop()
        if around and arc[1] < around[-1][1]:
            (_, _, g, k), (_, _, h, m) = around[-1], arc
            raise NoTreeError(
                f"{place}the required arcs from {g} to {k} and from {h} to {m} cross: no projective tree has both"
            )
        around.append(arc)


def each_of(arcs: Any, name: str, number: int) -> list[Any]:
    """For each of several sentences its own required or forbidden arcs; none for all if there are none at all."""
    try:
        each = list(arcs)
    except TypeError:
        raise InputError(f"{name} is {arcs!r}", expected="a collection of arcs for every matrix") from None
    if isinstance(arcs, tuple) and not arcs:
        return [()] * number
    if len(each) != number:
        raise InputError(
            f"{name} has {len(each)} collections of arcs", expected=f"one for each of the {number} matrices"
        )
    return each


def arc_pairs(pairs: Iterable[Any], kind: str, n: int, place: str = "") -> list[Arc]:
    """Required or forbidden arcs, if they are usable."""
    try:
        pairs = list(pairs)
    except TypeError:
        raise InputError(f"{place}{kind} is {pairs!r}", expected="a collection of pairs (h, m)") from None
    arcs = []
    for pair in pairs:
        try:
            h, m = (index(i) for i in pair)
        except (TypeError, ValueError):
            raise InputError(
                f"{place}{kind} arc {pair!r}", expected="a pair (h, m) of whole numbers"
            ) from None
        if not (0 <= h <= n and 1 <= m <= n and h != m):
            raise InputError(
                f"{place}{kind} arc from {h} to {m}", expected=f"a head in 0..{n} and another word in 1..{n}"
            )
        arcs.append((h, m))
    return arcs
