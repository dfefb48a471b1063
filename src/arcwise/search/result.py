"""The one result type of every search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True, eq=False)
class Parse:
    """A tree, its score, and how good it is proved to be.

    heads: int32, length n+1, `heads[0] == -1`. labels, senses: one per word, or None. score: the sum over the tree's parts.
    bound: a proven upper bound on the score of any allowed tree, the score itself if the tree is proved best, or None. stats: what
    the search did (method, iterations, ...).
    """

    heads: NDArray[np.int32]
    score: float
    bound: float | None = None
    labels: list[Any] | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    senses: list[int] | None = None

    @property
    def gap(self) -> float | None:
        """bound - score: no tree can be better by more than this."""
        return None if self.bound is None else max(0.0, self.bound - self.score)

    @property
    def certified(self) -> bool:
        """Whether it is proved that no allowed tree scores higher, but for the rounding of the tree's own sum.

        Where all scores are whole multiples of something that sums resolve, such as whole numbers, nothing is rounded: then the
        proof is exact. The size of scores that the tree does not have makes no difference.
        """
        return self.gap == 0.0
