"""Treebanks without parts of speech, for parsers that see none."""

from __future__ import annotations

from collections.abc import Sequence

from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence


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
