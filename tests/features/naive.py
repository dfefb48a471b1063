"""Attributes and features as their definitions say, slowly and without any hash.

A feature is named here by a tuple of what it means. The kernels give it a number: it must be the same for the same features and
only for them. Two of many features may share 32 bits by chance, but not again when all words are numbered anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from arcwise.features.attributes import COLUMNS, FREQUENT, LEMMA, MORPHOLOGY, MOST_FEATURES, UPOS, XPOS
from arcwise.features.hash_table import END, START
from arcwise.features.hashing import scramble
from arcwise.features.templates import Templates
from arcwise.treebank.block import Block
from arcwise.treebank.sentence import Sentence

Name = tuple[Hashable, ...]


def word_attributes(sentence: Sentence, word: int) -> list[Name | None]:
    """The attributes of a word, then its morphological features; None beyond the last."""
    form, lemma, upos = sentence.forms[word], sentence.lemmas[word], sentence.upos[word]
    xpos, feats = sentence.xpos[word], sentence.feats[word]
    names: list[Name | None] = [
        ("form", form),
        ("lemma", form[:5] if lemma == "_" else lemma),
        ("upos", upos),
        ("xpos", "as upos and feats", upos, feats) if xpos == "_" else ("xpos", xpos),
        ("feats", feats),
        ("suffix", form[-3:]),
    ]
    features = [] if feats == "_" else feats.split("|")[:MOST_FEATURES]
    names += [("feature", feature) for feature in features]
    return names + [None] * (COLUMNS - len(names))


def block_attributes(block: Block) -> list[list[Name | None]]:
    """Those of all words of a block."""
    return [word_attributes(sentence, word) for sentence in block for word in range(1, len(sentence) + 1)]


def assert_one_to_one(names: Iterable[Any], numbers: Iterable[Any]) -> None:
    """Each name has one number, and each number one name."""
    pairs = set(zip(names, numbers, strict=True))
    number_of, name_of = dict(pairs), {number: name for name, number in pairs}
    for name, number in pairs:
        assert number_of[name] == number, f"{name} is {number} and {number_of[name]}"
        assert name_of[number] == name, f"{number} is {name} and {name_of[number]}"


def distance_name(h: int, m: int) -> Name:
    """The signed distance of an arc."""
    length = abs(h - m)
    bucket = str(length) if length <= 5 else "6-10" if length <= 10 else "longer"
    return ("right" if h < m else "left", bucket)


def side_name(numbers: np.ndarray, templates: Templates, side: int, word: int) -> Name:
    """What a side of a template sees at a word."""
    seen = []
    for attribute, offset in templates.sides[side].tolist():
        if attribute < 0:
            break
        at = word + offset
        if offset != 0 and at < 1:
            number = START
        elif at >= len(numbers):
            number = END
        else:
            number = int(numbers[at, attribute])
        seen.append((attribute, offset, number))
    return tuple(seen)


def template_name(numbers: np.ndarray, templates: Templates, template: int, h: int, m: int) -> Name:
    """What a template sees of an arc."""
    head = side_name(numbers, templates, templates.head[template], h)
    return (template, head, side_name(numbers, templates, templates.modifier[template], m))


def morphology(numbers: np.ndarray, word: int) -> list[int]:
    """The known morphological features of a word; the root has none."""
    return [] if word == 0 else [int(number) for number in numbers[word, MORPHOLOGY:FREQUENT] if number != 0]


def coarse_feature_names(numbers: np.ndarray, templates: Templates, h: int, m: int) -> list[Name]:
    """The features of an arc for the pruner."""
    bare = [template_name(numbers, templates, t, h, m) for t in range(templates.arcs)]
    return bare + [(*name, distance_name(h, m)) for name in bare]


def arc_feature_names(numbers: np.ndarray, templates: Templates, h: int, m: int) -> list[Name]:
    """The features of an arc, in the kernel's order."""
    distance = distance_name(h, m)
    bare = [template_name(numbers, templates, t, h, m) for t in range(templates.arcs, templates.labels)]
    names = bare + [(*name, distance) for name in bare]

    seen: set[tuple[int, int]] = set()
    tags_of_both = {attribute: (numbers[h, attribute], numbers[m, attribute]) for attribute in (UPOS, XPOS)}
    for between in range(min(h, m) + 1, max(h, m)):
        for attribute in (UPOS, XPOS):
            tag = int(numbers[between, attribute])
            if (attribute, tag) not in seen:
                seen.add((attribute, tag))
                names.append(("between", attribute, h > m, tag, *tags_of_both[attribute]))

    pairs: list[Name] = []
    for of_head in morphology(numbers, h):
        pairs.append(("of head", of_head, numbers[m, UPOS]))
        pairs += [("of both", of_head, other, *tags_of_both[UPOS]) for other in morphology(numbers, m)]
    pairs += [("of modifier", of_modifier, numbers[h, UPOS]) for of_modifier in morphology(numbers, m)]
    return names + pairs + [(*pair, distance) for pair in pairs]


def label_feature_names(numbers: np.ndarray, templates: Templates, h: int, m: int) -> list[Name]:
    """The label features of an arc, in the kernel's order."""
    direction = "right" if h < m else "left"
    return [
        ("label", *template_name(numbers, templates, t, h, m), direction)
        for t in range(templates.labels, templates.end)
    ]


def children(heads: list[int], head: int) -> list[int]:
    """The modifiers of a word."""
    return [m for m in range(1, len(heads)) if heads[m] == head]


def neighbours(heads: list[int], word: int) -> dict[str, int]:
    """The neighbours of a word in a tree, -1 if there is none, and the counts of its modifiers."""
    left = [m for m in children(heads, word) if m < word]
    right = [m for m in children(heads, word) if m > word]
    siblings = children(heads, heads[word]) if word > 0 else []
    place = siblings.index(word) if word > 0 else 0
    return {
        "first": (left + right)[0] if left + right else -1,
        "inner_left": left[-1] if left else -1,
        "inner_right": right[0] if right else -1,
        "last": (left + right)[-1] if left + right else -1,
        "before": siblings[place - 1] if place > 0 else -1,
        "after": siblings[place + 1] if word > 0 and place + 1 < len(siblings) else -1,
        "left": len(left),
        "right": len(right),
    }


def tag_bits(numbers: np.ndarray, words: list[int]) -> list[int]:
    """The tags of words in 64 classes."""
    return [int(scramble(np.uint32(numbers[word, UPOS]))) % 64 for word in words]


def context_feature_names(
    numbers: np.ndarray, templates: Templates, heads: list[int], m: int, with_distance: int
) -> list[Name]:
    """The label features of the arc into m once the tree is known, in the kernel's order."""
    h = heads[m]
    right, distance = h < m, distance_name(h, m)
    names = label_feature_names(numbers, templates, h, m)
    for t in range(templates.labels, templates.labels + with_distance):
        names.append(("label", *template_name(numbers, templates, t, h, m), distance))

    tag_h, tag_m = numbers[h, UPOS], numbers[m, UPOS]
    of_modifier, of_head = neighbours(heads, m), children(heads, h)
    around = {
        "leftmost": of_modifier["first"] if of_modifier["left"] else -1,
        "rightmost": of_modifier["last"] if of_modifier["right"] else -1,
        "before": of_modifier["before"],
        "after": of_modifier["after"],
        "grandparent": heads[h],
        "inner left": of_modifier["inner_left"],
        "inner right": of_modifier["inner_right"],
    }
    for kind, word in around.items():
        tag = "nobody" if word < 0 else numbers[word, UPOS]
        lemma = "nobody" if word < 0 else numbers[word, LEMMA]
        names += [
            ("tags", kind, right, tag_h, tag_m, tag),
            ("lemma and tag", kind, right, numbers[m, LEMMA], tag),
            ("tags and lemma", kind, right, tag_h, tag_m, lemma),
            ("head's lemma", kind, right, numbers[h, LEMMA], tag_m, tag),
            ("fine tag and lemma", kind, right, numbers[m, XPOS], lemma),
        ]
    once = frozenset(tag_bits(numbers, children(heads, m)))
    others = frozenset(tag_bits(numbers, [word for word in of_head if word != m]))
    alone = (of_modifier["before"] >= 0, of_modifier["after"] >= 0)
    return [
        *names,
        ("valency", tag_h, tag_m, min(of_modifier["left"], 3), min(of_modifier["right"], 3)),
        ("siblings", numbers[h, LEMMA], tag_m, alone, right),
        ("children", tag_h, tag_m, once),
        ("others", tag_h, tag_m, others, right),
    ]
