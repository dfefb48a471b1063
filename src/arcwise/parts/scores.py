"""Scores that people bring: tables of parts, dense over the words of a sentence."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from arcwise.errors import InputError
from arcwise.parts.matrices import as_floats, as_matrix
from arcwise.parts.tables import Floats

# Every table, and what its axes stand for.
TABLES = {
    "arcs": "h m",
    "siblings": "h s m",
    "grandchildren": "g h m",
    "grand_siblings": "g h s m",
    "tri_siblings": "h t s m",
    "great_grandchildren": "f g h m",
    "great_grand_siblings": "f g h s m",
    "grand_tri_siblings": "g h t s m",
    "outermost_grandchildren": "g h m",
    "outermost_grand_siblings": "g h s m",
    "first": "h m",
    "second": "h m",
    "first_grandchildren": "g h m",
    "none": "g h side",
}


@dataclass(frozen=True, eq=False)
class Scores:
    """Tables of part scores: a tree scores the sum over all its parts. Absent tables count as zero.

    float64, each axis of length n+1; -inf forbids a part, an arc of -inf all parts with it. s and m are consecutive modifiers of h on
    the same side, s nearer to h; t comes before s; g is the head of h, f the head of g. Entries that no tree has are never read.

    | table                                | scored once for every                                                                |
    |--------------------------------------|--------------------------------------------------------------------------------------|
    | arcs[h, m]                           | arc from h to m                                                                      |
    | siblings[h, s, m]                    | s and m; s = h: m is the first on its side; m = h: s is the last                     |
    | grandchildren[g, h, m]               | arcs from g to h and from h to m; inner or outer: their positions tell               |
    | grand_siblings[g, h, s, m]           | the same as siblings, with g; not for h = 0                                          |
    | tri_siblings[h, t, s, m]             | t, s and m; t = h: s is the first                                                    |
    | great_grandchildren[f, g, h, m]      | arcs from f to g to h to m                                                           |
    | great_grand_siblings[f, g, h, s, m]  | the same as grand_siblings, with f                                                   |
    | grand_tri_siblings[g, h, t, s, m]    | the same as tri_siblings, with g; not for h = 0                                      |
    | outermost_grandchildren[g, h, m]     | the last m on each side of h                                                         |
    | outermost_grand_siblings[g, h, s, m] | the last s and m on each side of h; s = h: m is the only one                         |
    | first[h, m], second[h, m]            | the first, the second m on each side of h                                            |
    | first_grandchildren[g, h, m]         | the first m on each side of h                                                        |
    | none[g, h, side]                     | side (0: left, 1: right) of h that has no modifiers; (n+1, n+1, 2)                   |

    The scoring functions of Koo (2010, B.1.4) are DEP1 = first, DEP2 = second, SIB1 = tri_siblings[h, h, s, m], GCI1 and GCO1 =
    first_grandchildren in Models 0 and 1 and outermost_grandchildren in Model 2, GCI2 and GCO2 of Model 2 =
    outermost_grand_siblings[g, h, s, m], those of NIL = none and outermost_grand_siblings[g, h, h, m], and those of later
    positions are arcs, siblings and grandchildren themselves. What is not given is not told apart.

    >>> Scores(arcs=np.zeros((3, 3)), siblings=np.zeros((3, 3, 3))).tables().keys()
    dict_keys(['arcs', 'siblings'])
    """

    arcs: Any
    siblings: Any = None
    grandchildren: Any = None
    grand_siblings: Any = None
    tri_siblings: Any = None
    great_grandchildren: Any = None
    great_grand_siblings: Any = None
    grand_tri_siblings: Any = None
    outermost_grandchildren: Any = None
    outermost_grand_siblings: Any = None
    first: Any = None
    second: Any = None
    first_grandchildren: Any = None
    none: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arcs", as_matrix(self.arcs))
        size = len(self.arcs)
        for name, axes in TABLES.items():
            if name == "arcs" or getattr(self, name) is None:
                continue
            table = as_floats(getattr(self, name), f"{name}: ")
            shape = tuple(2 if axis == "side" else size for axis in axes.split())
            if table.shape != shape:
                raise InputError(
                    f"{name} of shape {table.shape}",
                    expected=f"{shape}, as arcs are of shape {self.arcs.shape}",
                )
            object.__setattr__(self, name, table)

    @property
    def size(self) -> int:
        """How many scores there are in all tables."""
        return sum(table.size for table in self.tables().values())

    def tables(self) -> dict[str, Floats]:
        """The tables that are there, by name."""
        return {
            field.name: table for field in fields(self) if (table := getattr(self, field.name)) is not None
        }


def refuse(tables: dict[str, Floats], read: dict[str, Floats], limit: float) -> InputError:
    """The error for the first entry that is read and is no number a search can use."""
    for name, table in tables.items():
        bad = ~((np.abs(table) <= limit) | np.isneginf(table)) & (read[name] > 0)
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            return InputError(
                f"{name}[{', '.join(map(str, index))}] is {table[index]}",
                expected=f"a number between -{limit:g} and {limit:g}, or -inf to forbid the part",
            )
    raise AssertionError("all entries are good")
