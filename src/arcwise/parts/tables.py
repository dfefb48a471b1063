"""The scores of all parts of a sentence as a chart reads them: flat arrays over the numbers of `arcwise.parts.graph`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Kind(NamedTuple):
    """A chart of the family: how many ancestors a complete and an incomplete span know, and how many siblings."""

    complete: int
    incomplete: int
    siblings: int


class Tables(NamedTuple):
    """What a tree scores, by what its arcs meet. An empty array counts as zeros; only `step` must be there.

    Arcs b from one head to one side follow each other from the nearest to the farthest; p is the spine of their head. An incomplete
    span may know less of the spine than a complete one (`arcwise.search.chart`): some arrays are over the spines of its level.

    | array     | over                       | scored for                                                      |
    |-----------|----------------------------|-----------------------------------------------------------------|
    | step      | steps, incomplete level    | every arc b                                                     |
    | first     | steps, incomplete level    | b if it is the nearest                                          |
    | pair      | pairs                      | b' and b that follow each other                                 |
    | slot      | slots, incomplete level    | the same, with the spine                                        |
    | second    | slots, incomplete level    | the same if b' is the nearest                                   |
    | triple    | triples                    | b'', b' and b that follow each other                            |
    | run       | runs, incomplete level     | the same, with the spine                                        |
    | last      | steps, complete level      | b if it is the farthest                                         |
    | only      | steps, complete level      | b if it is the only one                                         |
    | last_pair | slots, complete level      | b' and b if they are the two farthest                           |
    | none      | 2 arc + side (0: left)     | the arc's modifier if it has no modifiers of its own on the side |
    """

    step: Floats
    first: Floats
    pair: Floats
    slot: Floats
    second: Floats
    triple: Floats
    run: Floats
    last: Floats
    only: Floats
    last_pair: Floats
    none: Floats
