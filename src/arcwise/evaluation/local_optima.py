"""In how many trees a climber can get stuck, over the sentences of a treebank (Zhang et al. 2014, table 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.search.local_optima import count_local_optima

PERCENTILES = (50, 70, 90)
SHORT = 15  # words; the paper looks at sentences of so many at most, and at longer ones


class Summary(NamedTuple):
    """Of some sentences: how many there are and how long, and how many local optima they have.

    percentiles: so many optima, at most, have 50, 70 and 90 percent of them. one: how many have a single one. more: how many have
    more than were counted.
    """

    sentences: int
    mean_length: float
    percentiles: tuple[int, ...]
    one: int
    more: int


@dataclass(slots=True)
class LocalOptima:
    """The local optima of sentences, in order. Those of two treebanks add up with `+`.

    most: how many were counted of a sentence, most + 1 stands for more. lengths: words of each. any_roots: its optima among trees
    with any number of roots; one_root: and among those of one, empty if the model finds others, too. skipped: sentences left out.

    >>> found = LocalOptima(most=100, lengths=[3, 20, 9], any_roots=[1, 101, 2])
    >>> found.summary(found.any_roots)
    Summary(sentences=3, mean_length=10.666666666666666, percentiles=(2, 101, 101), one=1, more=1)
    >>> found.summary(found.any_roots, longest=15).percentiles
    (1, 2, 2)
    """

    most: int
    lengths: list[int] = field(default_factory=list)
    any_roots: list[int] = field(default_factory=list)
    one_root: list[int] = field(default_factory=list)
    skipped: int = 0

    def __add__(self, other: LocalOptima) -> LocalOptima:
        return LocalOptima(
            self.most,
            self.lengths + other.lengths,
            self.any_roots + other.any_roots,
            self.one_root + other.one_root,
            self.skipped + other.skipped,
        )

    def count(self, matrices: Iterable[NDArray[np.float64]], single_root: bool) -> None:
        """Add sentences by the scores of their arcs. single_root: whether to count among trees of one root, too."""
        for S in matrices:
            self.lengths.append(len(S) - 1)
            self.any_roots.append(count_local_optima(S, single_root=False, most=self.most))
            if single_root:
                self.one_root.append(count_local_optima(S, most=self.most))

    def summary(self, counts: list[int], shortest: int = 1, longest: int | None = None) -> Summary:
        """Of the sentences of so many words; counts: one of the lists."""
        lengths = np.array(self.lengths, np.int64)
        among = lengths >= shortest
        if longest is not None:
            among &= lengths <= longest
        chosen = np.sort(np.array(counts, np.int64)[among])
        number = len(chosen)
        if number == 0:
            return Summary(0, 0.0, (), 0, 0)
        # The least number that so many sentences do not exceed.
        percentiles = tuple(int(chosen[(number * percent + 99) // 100 - 1]) for percent in PERCENTILES)
        one, more = int((chosen == 1).sum()), int((chosen > self.most).sum())
        return Summary(number, float(lengths[among].mean()), percentiles, one, more)
