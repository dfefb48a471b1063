"""The templates of higher parts, as data, in the notation of `arcwise.features.templates`: one side for each word of the part.

In a sibling (h, s, m) the words s and m are consecutive modifiers of h on one side, s the nearer; in a grandchild (g, h, m) h is the
head of m and g that of h; a grand-sibling (g, h, s, m) is both; in a tri-sibling (h, t, s, m) three modifiers follow each other.
The groups are those of Koo (2010), 5.7.1: tags and words of all, tags around them, pairs that no lower part has, coordination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.attributes import UPOS, Vocabulary
from arcwise.features.hash_table import find_key
from arcwise.features.hashing import hash_bytes
from arcwise.features.templates import parse_side

# The coarse tags of coordinating conjunctions in the tag sets of Universal Dependencies and of CoNLL-X.
_CONJUNCTIONS = ("CCONJ", "CONJ", "CC", "C", "Conj", "conj")  # not all of CONJUNCTIONS: models know these
_LONGEST_SIDE = 3
MOST_WORDS = 4  # of a part

Template = tuple[tuple[tuple[int, int], ...], ...]  # of every word, (attribute, offset) pairs

SIBLINGS = """
C | C | C         P | P | P         . | C | C         . | P | P
. | L | L         . | L | C         . | C | L         . | F | P         . | P | F
L | C | C         C | L | C         C | C | L         L | L | C         L | C | L         C | L | L         L | L | L
P | P P+1 | P     P | P-1 P | P     P | P | P P+1     P | P | P-1 P     P P+1 | P | P     P-1 P | P | P
C | C C+1 | C-1 C         C | C-1 C | C C+1         C C+1 | C | C C+1         C-1 C C+1 | C | C         C | C-1 C C+1 | C-1 C C+1
C X | C | C X     . | C X | C X
"""

GRANDCHILDREN = """
C | C | C         P | P | P         C | . | C         P | . | P
L | . | L         L | . | C         C | . | L         F | . | P         P | . | F
L | C | C         C | L | C         C | C | L         L | L | C         L | C | L         C | L | L         L | L | L
P | P P+1 | P     P | P-1 P | P     P | P | P P+1     P | P | P-1 P     P P+1 | P | P     P-1 P | P | P
C | C C+1 | C-1 C         C | C-1 C | C C+1         C C+1 | C | C C+1         C-1 C C+1 | C | C         C | C | C-1 C C+1
C X | C | C X     C X | C X | C
"""

# Only for grandchildren (g, h, m) with a conjunction between h and m: then g may be the head of both conjuncts.
COORDINATION = """
C | . | C         P | . | P         L | . | L         L | . | C         C | . | L         C | P | P
. | L | L         . | C X | C X     . | C-1 C C+1 | C-1 C C+1
"""

# The last two are for coordination too, where s is the conjunction.
GRAND_SIBLINGS = """
C | C | C | C     P | P | P | P     L | C | C | C     C | L | C | C     C | C | L | C     C | C | C | L
C C+1 | C C+1 | C | C C+1           C | . | C | C     L | . | C | L
"""

TRI_SIBLINGS = """
C | C | C | C     P | P | P | P     L | C | C | C     C | L | C | C     C | C | L | C     C | C | C | L
. | C | C | C     . | P | P | P     . | C | . | C     . | L | . | L     C | C | . | C     L | C | . | C
. | L | . | C     . | C | . | L
"""


class PartTemplates(NamedTuple):
    """The templates of all groups, one group after another.

    sides: as in `Templates`. words: int32 (MOST_WORDS, templates), the side of each word of the part. grandchildren, coordination,
    grand_siblings, tri_siblings, end: where the groups begin and end; siblings begin at 0. conjunctions: the numbers of their tags.
    nulls: whether a word without modifiers on one side is a part, too.
    """

    sides: NDArray[np.int32]
    words: NDArray[np.int32]
    grandchildren: int
    coordination: int
    grand_siblings: int
    tri_siblings: int
    end: int
    conjunctions: NDArray[np.int32]
    nulls: bool


def _parse_group(text: str, words: int) -> list[Template]:
    """
    >>> _parse_group("P-1 P | P | .", 3)
    [(((3, -1), (3, 0)), ((3, 0),), ())]
    """
    cells = [cell.strip() for line in text.splitlines() for cell in line.split("    ") if cell.strip()]
    for cell in cells:
        if cell.count("|") != words - 1:
            raise ValueError(f"{cell!r}, expected {words} sides")
    return [tuple(parse_side(side.strip()) for side in cell.split("|")) for cell in cells]


def _conjunctions(vocabulary: Vocabulary) -> NDArray[np.int32]:
    tags = [np.array(list(tag.encode()), np.uint8) for tag in _CONJUNCTIONS]
    numbers = [find_key(vocabulary.values, np.uint64(hash_bytes(tag, 0, len(tag), UPOS))) for tag in tags]
    return np.array([number for number in numbers if number > 0], np.int32)


def parse_part_templates(
    siblings: str, grandchildren: str, coordination: str, grand_siblings: str, tri_siblings: str
) -> list[list[Template]]:
    """The templates of each group; ValueError for what is none."""
    groups = [_parse_group(text, 3) for text in (siblings, grandchildren, coordination)]
    return groups + [_parse_group(text, 4) for text in (grand_siblings, tri_siblings)]


def no_part_templates() -> PartTemplates:
    """For models that score no higher parts."""
    return PartTemplates(
        np.empty((0, _LONGEST_SIDE, 2), np.int32), np.empty((MOST_WORDS, 0), np.int32), 0, 0, 0, 0, 0, np.empty(0, np.int32), True
    )  # fmt: skip


def compile_part_templates(
    vocabulary: Vocabulary,
    siblings: str = SIBLINGS,
    grandchildren: str = GRANDCHILDREN,
    coordination: str = COORDINATION,
    grand_siblings: str = GRAND_SIBLINGS,
    tri_siblings: str = TRI_SIBLINGS,
) -> PartTemplates:
    """The tables above as arrays.

    >>> from arcwise.features.attributes import vocabulary
    >>> nothing = vocabulary(np.empty(0, np.uint64))
    >>> templates = compile_part_templates(nothing, "P | P | P", "P | . | F", "", "", "")
    >>> templates.words[:3].tolist(), templates.grandchildren, templates.end
    ([[1, 1], [1, 0], [1, 2]], 1, 2)
    """
    groups = parse_part_templates(siblings, grandchildren, coordination, grand_siblings, tri_siblings)
    templates = [template for group in groups for template in group]
    numbers: dict[tuple[tuple[int, int], ...], int] = {(): 0}
    words = np.zeros((MOST_WORDS, len(templates)), np.int32)
    for t, template in enumerate(templates):
        for word, side in enumerate(template):
            words[word, t] = numbers.setdefault(side, len(numbers))
    sides = np.full((len(numbers), _LONGEST_SIDE, 2), -1, np.int32)
    for side, number in numbers.items():
        for place, atom in enumerate(side):
            sides[number, place] = atom
    ends = np.cumsum([len(group) for group in groups]).tolist()
    conjunctions = _conjunctions(vocabulary)
    return PartTemplates(sides, words, ends[0], ends[1], ends[2], ends[3], ends[4], conjunctions, True)
