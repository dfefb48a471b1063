"""The templates, as data.

A template is `head side | modifier side`. A side names attributes of the word itself or of a neighbour: F form, L lemma, C coarse
tag (UPOS), P fine tag (XPOS), X all morphological features, S suffix; `P-1` is the fine tag of the word before. With clusters also
B bit string, B4 and B6 its first four and six bits, W form, if it is a frequent one. An empty side is written `.`. Two templates
that share a side share its hash, so a template costs one addition a pair of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.lookup import ALL_BITS, FEW_BITS, MORE_BITS
from arcwise.features.attributes import CLUSTER, FEATS, FORM, FREQUENT, LEMMA, SUFFIX, UPOS, XPOS

_NAMES = {"F": FORM, "L": LEMMA, "C": UPOS, "P": XPOS, "X": FEATS, "S": SUFFIX}
_OF_CLUSTERS = {"W": FREQUENT, "B4": CLUSTER + FEW_BITS, "B6": CLUSTER + MORE_BITS, "B": CLUSTER + ALL_BITS}
_NAMES |= _OF_CLUSTERS
_TAGS = ("C", "P", "X")
_LONGEST_SIDE, _FARTHEST = 3, 9

# For the pruner: few, on all pairs of words.
COARSE = """
P | P         C | C         F | P         P | F         L | C         C | L
P-1 P | P     P P+1 | P     P | P-1 P     P | P P+1     P-1 P | P P+1     P P+1 | P-1 P
C-1 C C+1 | C     C | C-1 C C+1     C-2 C-1 C | C     C | C-2 C-1 C     C C+1 C+2 | C     C | C C+1 C+2
X | X         C X | C       C | C X       S | C         C | S
"""

# For the arcs that survive; each fires bare and again with the signed distance.
ARCS = """
F | .     L | .     P | .     C | .     F P | .     L C | .     X | .     F-1 | .     F+1 | .     L-1 | .     L+1 | .
. | F     . | L     . | P     . | C     . | F P     . | L C     . | X     . | F-1     . | F+1     . | L-1     . | L+1

F | F     L | L     P | P     C | C     X | X     C X | C X     C X | C     C | C X     S C | S C     L | S     S | L
F P | F P     P | F P     F P | P     P | F     F | P     F | F P     F P | F
L C | L C     C | L C     L C | C     C | L     L | C     L | L C     L C | L

P-1 P | P P+1     P P+1 | P-1 P     P-1 P | P-1 P     P P+1 | P P+1
P-1 P | P         P P+1 | P         P | P-1 P         P | P P+1
P-1 | P P+1       P P+1 | P-1       P-1 | P-1 P       P+1 | P P+1
P-1 P P+1 | P     P | P-1 P P+1     P-1 P P+1 | P-1 P P+1

C-1 C | C C+1     C C+1 | C-1 C     C-1 C | C-1 C     C C+1 | C C+1
C-1 C | C         C C+1 | C         C | C-1 C         C | C C+1
C-1 | C C+1       C C+1 | C-1       C-1 | C-1 C       C+1 | C C+1
C-1 C C+1 | C     C | C-1 C C+1     C-1 C C+1 | C-1 C C+1

C-2 C-1 C | C     C | C-2 C-1 C     C C+1 C+2 | C     C | C C+1 C+2
L-1 C | C         C L+1 | C         C | L-1 C         C | C L+1
L | L-1           L-1 | L           L | L+1           L+1 | L
"""

# For labels, with the direction; the first few again with the signed distance once the tree is known.
LABELS = """
C | C     P | P     L | L     L C | C     C | L C     F P | P     P | F P     . | L     . | F     L | .

X | X     C X | C X     C | C X     C X | C     . | X     . | S C     C | S     F | F     L C | L C     L | C X     L | P
P | P-1 P     P | P P+1     P-1 P | P     P P+1 | P     C | C-1 C C+1     C-1 C C+1 | C     L | C-1 C C+1
. | L-1     . | L+1     . | C-2 C-1 C     . | C C+1 C+2     C | L-1 C     C | C L+1
"""


class Templates(NamedTuple):
    """All templates as arrays for the kernels: the groups COARSE, ARCS and LABELS one after another.

    sides: int32 (sides, 3, 2), the (attribute, offset) pairs of every distinct side, attribute -1 beyond the last. head, modifier:
    int32, the sides of each template. arcs, labels, end: where the groups begin and end; COARSE begins at 0.
    """

    sides: NDArray[np.int32]
    head: NDArray[np.int32]
    modifier: NDArray[np.int32]
    arcs: int
    labels: int
    end: int


def parse_side(text: str) -> tuple[tuple[int, int], ...]:
    """The (attribute, offset) pairs of one word's side of a template; ValueError if it is none.

    >>> parse_side("P-1 P")
    ((3, -1), (3, 0))
    """
    if text == ".":
        return ()
    found = [(atom, re.fullmatch(r"([A-Z]\d?)([+-]\d+)?", atom)) for atom in text.split()]
    for atom, parts in found:
        if parts is None or parts[1] not in _NAMES:
            raise ValueError(f"{atom!r}, expected one of {' '.join(_NAMES)} and an offset")
    atoms = tuple((_NAMES[parts[1]], int(parts[2] or 0)) for _, parts in found if parts is not None)
    if any(abs(offset) > _FARTHEST for _, offset in atoms):
        raise ValueError(f"{text!r} looks farther than {_FARTHEST} words")
    if len(atoms) > _LONGEST_SIDE:
        raise ValueError(f"{text!r} has more than {_LONGEST_SIDE} atoms")
    return atoms


def asks_for_clusters(templates: Iterable[str]) -> bool:
    """Whether some of these templates see clusters.

    >>> asks_for_clusters(["P | P     C | B4-1"]), asks_for_clusters(["P | P"])
    (True, False)
    """
    names = {re.split("[+-]", atom)[0] for text in templates for atom in text.split()}
    return not names.isdisjoint(_OF_CLUSTERS)


def asks_for_tags(templates: Iterable[str]) -> bool:
    """Whether some of these templates see parts of speech or morphological features."""
    return any(atom.startswith(_TAGS) for text in templates for atom in text.split())


def without_tags(templates: str) -> str:
    """What is left of templates where there are no tags, each once; of parts of three words or more only what sees two of them.

    What sees fewer is counted in every part of a tree: it would take nearly all of a learner's steps, and says next to nothing.

    >>> without_tags("C | C     L C | C-1 C     L | .     S | B4 C+1")
    '. | .     L | .     S | B4'
    >>> without_tags("C | C | C     C | L | C     . | L | L C     L | C | L")
    '. | L | L     L | . | L'
    """
    cells = [
        cell.split("|") for line in templates.splitlines() for cell in line.split("    ") if cell.strip()
    ]
    left = [[_tagless(side) for side in cell] for cell in cells]
    told = [cell for cell in left if len(cell) < 3 or len(cell) - cell.count(".") > 1]
    return "     ".join(dict.fromkeys(map(" | ".join, told)))


def _tagless(side: str) -> str:
    return " ".join(atom for atom in side.split() if not atom.startswith(_TAGS)) or "."


def compile_sides(sides: Iterable[str]) -> NDArray[np.int32]:
    """Sides as `Templates` has them; ValueError if one is none."""
    return _side_table([parse_side(side) for side in sides])


def _side_table(sides: list[tuple[tuple[int, int], ...]]) -> NDArray[np.int32]:
    table = np.full((len(sides), _LONGEST_SIDE, 2), -1, np.int32)
    for number, side in enumerate(sides):
        for place, atom in enumerate(side):
            table[number, place] = atom
    return table


def _parse_group(text: str) -> list[tuple[tuple[tuple[int, int], ...], ...]]:
    """
    >>> _parse_group("P-1 P | P     . | F")
    [(((3, -1), (3, 0)), ((3, 0),)), ((), ((0, 0),))]
    """
    cells = [cell.strip() for line in text.splitlines() for cell in line.split("    ") if cell.strip()]
    for cell in cells:
        if cell.count("|") != 1:
            raise ValueError(f"{cell!r}, expected head side | modifier side")
    return [tuple(parse_side(side.strip()) for side in cell.split("|")) for cell in cells]


def compile_templates(coarse: str = COARSE, arcs: str = ARCS, labels: str = LABELS) -> Templates:
    """The tables above as arrays.

    >>> templates = compile_templates("P | P", "P | F     . | F", "C | C")
    >>> templates.head.tolist(), templates.modifier.tolist(), templates.arcs, templates.labels, templates.end
    ([0, 0, 2, 3], [0, 1, 1, 3], 1, 3, 4)
    """
    groups = [_parse_group(text) for text in (coarse, arcs, labels)]
    pairs = [pair for group in groups for pair in group]
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    for pair in pairs:
        for side in pair:
            numbers.setdefault(side, len(numbers))
    return Templates(
        sides=_side_table(list(numbers)),
        head=np.array([numbers[pair[0]] for pair in pairs], np.int32),
        modifier=np.array([numbers[pair[1]] for pair in pairs], np.int32),
        arcs=len(groups[0]),
        labels=len(groups[0]) + len(groups[1]),
        end=len(pairs),
    )
