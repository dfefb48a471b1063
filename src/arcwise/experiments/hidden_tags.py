"""Parsers that see no parts of speech: treebanks without them, and the templates that are left.

Where all tags are `_`, templates of tags say nothing, and many would say the same: dozens of features of the same places in the tree,
which drown all others in training. What is left of templates without tags is thus taken once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arcwise.pipeline.model import Settings
from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence

_TAGS = ("C", "P", "X")  # the atoms that see UPOS, XPOS and FEATS
_TEMPLATES = (
    "coarse",
    "arcs",
    "labels",
    "siblings",
    "grandchildren",
    "coordination",
    "grand_siblings",
    "tri_siblings",
)


def without_tags(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with `_` for UPOS, XPOS and FEATS, and for LEMMA, which taggers find by the tags."""
    format = sentences[0].format
    hidden = {format.roles[role] for role in (UPOS, XPOS, FEATS, LEMMA)}

    def blank(line: str) -> str:
        if not line or (format.comments and line.startswith("#")):
            return line
        return "\t".join("_" if at in hidden else cell for at, cell in enumerate(line.split("\t")))

    text = "".join("\n".join(map(blank, str(sentence).split("\n"))) for sentence in sentences)
    return list(read_string(text, format=format))


def blind_settings(settings: Settings) -> Settings:
    """The same with templates that see no tags."""
    left: dict[str, Any] = {name: blind_templates(getattr(settings, name)) for name in _TEMPLATES}
    return replace(settings, **left)


def blind_templates(templates: str) -> str:
    """What is left of templates without tags, each once.

    >>> blind_templates("C | C     L C | C-1 C     L | .     S | B4 C+1")
    '. | .     L | .     S | B4'
    """
    cells = [cell for line in templates.splitlines() for cell in line.split("    ") if cell.strip()]
    left = (" | ".join(_blind_side(side) for side in cell.split("|")) for cell in cells)
    return "     ".join(dict.fromkeys(left))


def _blind_side(side: str) -> str:
    return " ".join(atom for atom in side.split() if not atom.startswith(_TAGS)) or "."
