"""Scores that people bring as head automata: states that each word goes through as it takes its modifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.matrices import as_floats, as_matrix
from arcwise.parts.scores import refuse
from arcwise.parts.tables import Floats


@dataclass(frozen=True, eq=False)
class HeadAutomata:
    """An automaton for each side of every word, over S states: arbitrary regular preferences for sequences of modifiers.

    On each side a word begins in state 0, START, takes its modifiers from the nearest to the farthest, each with a change of state,
    and stops (Koo et al. 2010, example 2). A tree scores the sum of its arcs and, for each side of every word, of the best sequence
    of states. The root has no left side. All is float64; -inf forbids.

    | table                  | shape          | scored for                                                            |
    |------------------------|----------------|-----------------------------------------------------------------------|
    | arcs[h, m]             | n+1, n+1       | the arc from h to m, as everywhere                                    |
    | left[h, s, t, m]       | n+1, S, S, n+1 | m < h as the next modifier of h to its left, from state s to state t  |
    | right[h, s, t, m]      | n+1, S, S, n+1 | m > h as the next to its right                                        |
    | left_end[h, s]         | n+1, S         | stopping in state s, 0 if absent; also without any modifier, in START |
    | right_end[h, s]        | n+1, S         | the same on the right                                                 |

    Where only one state may stop, it is the paper's END. Entries of an arc that is forbidden in `arcs` are never read.

    At most one modifier on each side, though the arcs ask for more:

    >>> import arcwise
    >>> once = np.full((4, 2, 2, 4), -np.inf)
    >>> once[:, 0, 1] = 0.0
    >>> arcs = [[0, 9, 0, 0], [0, 0, 5, 5], [0, 0, 0, 1], [0, 0, 0, 0]]
    >>> parse = arcwise.decode(HeadAutomata(arcs, left=once, right=once))
    >>> parse.heads, parse.score, parse.certified
    (array([-1,  0,  1,  2], dtype=int32), 15.0, True)
    """

    arcs: Any
    left: Any
    right: Any
    left_end: Any = None
    right_end: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arcs", as_matrix(self.arcs))
        object.__setattr__(self, "left", as_floats(self.left, "left: "))
        size, states = len(self.arcs), self.left.shape[1] if self.left.ndim == 4 else 0
        steps, ends = (size, states, states, size), (size, states)
        if states == 0 or self.left.shape != steps:
            raise InputError(
                f"left of shape {self.left.shape}",
                expected=f"({size}, S, S, {size}) with S states, as arcs are of shape {self.arcs.shape}",
            )
        for name, shape in (("right", steps), ("left_end", ends), ("right_end", ends)):
            given = getattr(self, name)
            table = np.zeros(ends) if given is None and shape is ends else as_floats(given, f"{name}: ")
            if table.shape != shape:
                raise InputError(
                    f"{name} of shape {table.shape}",
                    expected=f"{shape}, as left is of shape {self.left.shape}",
                )
            object.__setattr__(self, name, table)

    @property
    def states(self) -> int:
        """How many states there are."""
        return int(self.left.shape[1])

    def tables(self) -> dict[str, Floats]:
        """The tables by name."""
        return dict(vars(self))

    def check(self, allowed: NDArray[np.bool_], limit: float) -> None:
        """InputError if an entry that a search reads is not a number below the limit; allowed: (n+1, n+1), the arcs there are."""
        words = np.arange(len(allowed)) > 0
        read: dict[str, Any] = {
            "arcs": allowed,
            "left": np.tril(allowed)[:, None, None],
            "right": np.triu(allowed)[:, None, None],
            "left_end": words[:, None],
            "right_end": np.True_,
        }
        tables = self.tables()
        for name, table in tables.items():
            if not ((np.abs(table) <= limit) | np.isneginf(table) | ~read[name]).all():
                raise refuse(tables, read, limit)
