"""Why a search found no tree, in words. Slow and only for those who need to know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError, InputError, NoTreeError
from arcwise.search.best_heads import LIMIT
from arcwise.search.status import REFUSED


def explain(
    S: NDArray[np.float64], code: int, projective: bool, single_root: bool, place: str = ""
) -> ArcwiseError:
    """The error to raise for a matrix on which a search ended with `code`; `place` says which matrix.

    >>> S = np.array([[0, -np.inf, 1], [0, 0, 1], [0, -np.inf, 0]])
    >>> print(explain(S, 2, projective=False, single_root=True))
    word 1 has no allowed head
    """
    if code == REFUSED:
        return _refusal(S, place)
    allowed = ~np.isneginf(S)
    np.fill_diagonal(allowed, False)
    headless = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if len(headless):
        return NoTreeError(f"{place}word {headless[0]} has no allowed head")
    if not allowed[0, 1:].any():
        return NoTreeError(f"{place}no word may be headed by the root 0")
    unreached = _unreached(allowed)
    if len(unreached):
        words = ", ".join(map(str, unreached[:5])) + (", ..." if len(unreached) > 5 else "")
        return NoTreeError(
            f"{place}no allowed arc leads into the words {words} from outside: only into each other"
        )
    kind = "projective tree" if projective else "tree"
    roots = " with exactly one root" if single_root else ""
    return NoTreeError(f"{place}the allowed arcs form no {kind}{roots}")


def _refusal(S: NDArray[np.float64], place: str) -> InputError:
    refused = ~((np.abs(S) <= LIMIT) | np.isneginf(S))
    refused[:, 0] = False
    np.fill_diagonal(refused, False)
    h, m = (int(i) for i in np.argwhere(refused)[0])
    return InputError(
        f"{place}the score of the arc from {h} to {m} is {S[h, m]}",
        expected=f"a number between -{LIMIT:g} and {LIMIT:g}, or -inf to forbid the arc",
    )


def _unreached(allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The words that cannot be reached from the root."""
    reached = np.zeros(len(allowed), np.bool_)
    frontier = np.array([0])
    while len(frontier):
        reached[frontier] = True
        frontier = np.flatnonzero(allowed[frontier].any(axis=0) & ~reached)
        frontier = frontier[frontier > 0]
    reached[0] = True
    return np.flatnonzero(~reached)
