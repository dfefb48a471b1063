"""Relations in groups, for colours that mean something."""

from __future__ import annotations

_GROUPS = {
    "root": "root",
    "subject": "nsubj csubj subj sbj",
    "object": "obj iobj dobj ccomp xcomp comp oprd prd",
    "adverbial": "obl advmod advcl adv tmp loc dir mnr vocative discourse dislocated expl",
    "attribute": "nmod amod nummod acl appos rcmod partmod poss att",
    "function": "case det aux cop mark clf p pmod im prep auxpass vc vmod sub",
    "coordination": "conj cc coord parataxis list",
    "expression": "compound fixed flat goeswith orphan reparandum dep nn mwe name prt",
    "punctuation": "punct punc",
}
_GROUP_OF = {relation: group for group, relations in _GROUPS.items() for relation in relations.split()}

# Colours of middle lightness, legible on black and on white: as the terminal's number and in hexadecimal digits.
COLOURS = {
    "root": (161, "#c2185b"),
    "subject": (33, "#1a73d8"),
    "object": (28, "#1e8a3c"),
    "adverbial": (166, "#c8590a"),
    "attribute": (133, "#9a4fb0"),
    "function": (30, "#0b8185"),
    "coordination": (160, "#d0362b"),
    "expression": (130, "#96691a"),
    "punctuation": (244, "#7b828c"),
    "other": (67, "#5a76a0"),
}


def group_of(label: str) -> str:
    """The group of a relation, its subtype and case aside; "other" if it is in none.

    >>> group_of("nsubj:pass"), group_of("SBJ"), group_of("brotherhood")
    ('subject', 'subject', 'other')
    """
    return _GROUP_OF.get(label.partition(":")[0].lower(), "other")
