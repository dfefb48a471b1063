"""The tagger's templates, as data.

A template is a conjunction of attributes of the word itself or of a neighbour: W form, L lower case, S1 to S5 and P1 to P5 suffix
and prefix, H shape, A the tags the word had in training, C how often it was capitalised there, Y the style of the sentence; and of
words to the left, already tagged, U coarse tag, T fine tag, M all of the tag. `T-1` is the fine tag of the word before. With clusters
also B bit string, B4 and B6 its first four and six bits.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.lookup import ALL_BITS, FEW_BITS, MORE_BITS
from arcwise.tagging.spelling import (
    CASE,
    CLASS,
    CLUSTER,
    FORM,
    LONGEST_AFFIX,
    LOWER,
    PREFIX,
    SHAPE,
    STYLE,
    SUFFIX,
    TAGS,
)

# What is known of a word once it has its tag.
COARSE, FINE, WHOLE = range(TAGS, CLUSTER)

_NAMES = {
    "W": FORM,
    "L": LOWER,
    "H": SHAPE,
    "A": CLASS,
    "C": CASE,
    "Y": STYLE,
    "U": COARSE,
    "T": FINE,
    "M": WHOLE,
}
_OF_CLUSTERS = {"B4": CLUSTER + FEW_BITS, "B6": CLUSTER + MORE_BITS, "B": CLUSTER + ALL_BITS}
_NAMES |= _OF_CLUSTERS
_NAMES |= {f"S{i + 1}": SUFFIX + i for i in range(LONGEST_AFFIX)}
_NAMES |= {f"P{i + 1}": PREFIX + i for i in range(LONGEST_AFFIX)}
_MOST_ATOMS, _FARTHEST = 4, 3

TEMPLATES = """
W     L     S1     S2     S3     S4     S5     P1     P2     P3     P4     P5     H     A     C     C H     H S3
W-1     W+1     L-1     L+1     L-2     L+2     L-1 L     L L+1     L-1 L+1
A-1     A+1     A+2     A A+1     A+1 A+2     S3 A+1     S2-1     S2+1     S3-1     S3+1     S3-1 S3     S3 S3+1
H-1 H     H H+1     C H Y     Y H     Y H A     S3 P2
T-1     T-2     T-2 T-1     U-2 U-1     M-1     T-1 L     T-1 A     T-1 A+1     T-1 A A+1     T-1 S3     T-1 H
T-1 L+1     T-1 L-1     T-2 T-1 L     T-2 T-1 A A+1     Y T-1
"""
# Also, where words have clusters.
CLUSTER_TEMPLATES = """
B     B6     B4     B-1     B+1     B-2     B+2     B-1 B     B B+1     B6-1 B6     B6 B6+1     B-1 B+1     B6-1 B6 B6+1
B H     B C     B S2     T-1 B     T-1 B6     T-1 B B+1     T-1 B+1     B6 A+1     T-2 T-1 B
"""


def asks_for_clusters(text: str) -> bool:
    """Whether some of these templates see clusters."""
    return not {re.split("[+-]", atom)[0] for atom in text.split()}.isdisjoint(_OF_CLUSTERS)


def compile_templates(text: str = TEMPLATES) -> NDArray[np.int32]:
    """The templates as int32 (templates, 4, 2): (attribute, offset) pairs, attribute -1 beyond the last.

    >>> compile_templates("W-1 L")[0].tolist()
    [[0, -1], [1, 0], [-1, -1], [-1, -1]]
    """
    cells = [cell for line in text.splitlines() for cell in re.split(r"\s{2,}", line.strip()) if cell]
    templates = np.full((len(cells), _MOST_ATOMS, 2), -1, np.int32)
    for row, cell in zip(templates, cells, strict=True):
        atoms = [re.fullmatch(r"([A-Z]\d?)([+-]\d)?", atom) for atom in cell.split()]
        for place, atom in enumerate(atoms):
            if (
                atom is None
                or atom[1] not in _NAMES
                or place >= _MOST_ATOMS
                or abs(int(atom[2] or 0)) > _FARTHEST
            ):
                raise ValueError(
                    f"template {cell!r}, expected at most {_MOST_ATOMS} of {' '.join(_NAMES)} with an offset"
                )
            if TAGS <= _NAMES[atom[1]] < CLUSTER and int(atom[2] or 0) >= 0:
                raise ValueError(f"template {cell!r}: only words to the left have their tags")
            row[place] = _NAMES[atom[1]], int(atom[2] or 0)
    return templates
