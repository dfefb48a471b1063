"""Treebanks of any size in an invented language, for tests of scale and of learning.

A sentence grows from its verb: words are hung one by one from others, as the grammar allows, until
it is long enough. Tags decide who hangs from whom, on which side, how near, with what label. Every word has
one tag, shown by its ending: a parser can learn it. In non-projective sentences one phrase moves to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from arcwise.trees import is_projective


class Relation(NamedTuple):
    """A word tagged `head` may take one tagged `modifier` on `side`, outside those of lower `distance`."""

    head: str
    label: str
    side: str
    modifier: str
    distance: int
    weight: float
    once: bool


GRAMMAR = [
    Relation("VERB", "nsubj", "left", "NOUN", 5, 4.0, True),
    Relation("VERB", "nsubj", "left", "PRON", 5, 2.0, True),
    Relation("VERB", "obj", "right", "NOUN", 2, 4.0, True),
    Relation("VERB", "iobj", "right", "PRON", 1, 1.0, True),
    Relation("VERB", "obl", "right", "NOUN", 4, 2.0, False),
    Relation("VERB", "advmod", "left", "ADV", 2, 1.0, False),
    Relation("VERB", "aux", "left", "AUX", 3, 2.0, True),
    Relation("VERB", "mark", "left", "SCONJ", 8, 1.0, True),
    Relation("VERB", "advcl", "left", "VERB", 7, 0.5, True),
    Relation("VERB", "ccomp", "right", "VERB", 6, 0.7, True),
    Relation("VERB", "conj", "right", "VERB", 7, 0.7, False),
    Relation("NOUN", "det", "left", "DET", 3, 4.0, True),
    Relation("NOUN", "nummod", "left", "NUM", 2, 0.7, True),
    Relation("NOUN", "amod", "left", "ADJ", 1, 2.0, False),
    Relation("NOUN", "case", "left", "ADP", 4, 2.0, True),
    Relation("NOUN", "nmod", "right", "NOUN", 1, 1.5, True),
    Relation("NOUN", "acl", "right", "VERB", 3, 1.0, True),
    Relation("NOUN", "conj", "right", "NOUN", 2, 0.7, False),
    Relation("ADJ", "advmod", "left", "ADV", 1, 0.5, True),
    Relation("ADJ", "conj", "right", "ADJ", 1, 0.3, False),
]  # fmt: skip
PUNCT = Relation("VERB", "punct", "right", "PUNCT", 9, 1.0, True)
RELATIONS = [*GRAMMAR, PUNCT]
LABELS = sorted({relation.label for relation in RELATIONS})

# Of every tag: the ending of its words, how many there are, and its features with the endings that show them.
TAGS: dict[str, tuple[str, int, list[tuple[str, str]]]] = {
    "NOUN": ("o", 1200, [("Number=Sing", ""), ("Number=Plur", "n")]),
    "VERB": ("ar", 600, [("Tense=Pres", ""), ("Tense=Past", "it")]),
    "ADJ": ("ik", 400, [("Degree=Pos", ""), ("Degree=Cmp", "er")]),
    "ADV": ("em", 150, [("_", "")]),
    "PRON": ("u", 12, [("Number=Sing", ""), ("Number=Plur", "n")]),
    "DET": ("a", 6, [("_", "")]),
    "ADP": ("ys", 20, [("_", "")]),
    "AUX": ("ag", 6, [("Tense=Pres", ""), ("Tense=Past", "it")]),
    "SCONJ": ("esh", 8, [("_", "")]),
    "NUM": ("iv", 15, [("_", "")]),
    "PUNCT": (".", 1, [("_", "")]),
}
_OPEN = {relation.head for relation in GRAMMAR}
_SHORTEST_NONPROJECTIVE = 4


@dataclass(eq=False)
class Node:
    tag: str
    relation: Relation | None
    head: Node | None = None
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)

    def ordered(self) -> list[Node]:
        """The words of this node's phrase as they are spoken (a stack, for phrases nest deep)."""
        spoken: list[Node] = []
        stack: list[tuple[Node, bool]] = [(self, False)]
        while stack:
            node, opened = stack.pop()
            if opened:
                spoken.append(node)
                continue
            right = sorted(node.right, key=Node.distance)
            left = sorted(node.left, key=Node.distance)
            stack += [(child, False) for child in reversed(right)]
            stack.append((node, True))
            stack += [(child, False) for child in left]
        return spoken

    def distance(self) -> int:
        return self.relation.distance if self.relation else 0


def synthetic_treebank(
    sentences: int,
    *,
    mean_length: float = 15.0,
    nonprojective: float = 0.1,
    labels: Sequence[str] = (),
    several_roots: float = 0.0,
    seed: int = 0,
) -> str:
    """A treebank in CoNLL-U; the same arguments give the same text, and all seeds speak the same language.

    nonprojective, several_roots: the share of such sentences, exact to rounding. labels: those beside `root`,
    in place of the grammar's own; if they are more than its relations, the modifier's fine tag decides too.
    """
    random = Random(seed)
    crossing = set(random.sample(range(sentences), round(nonprojective * sentences)))
    split = set(random.sample(range(sentences), round(several_roots * sentences)))
    written = []
    for number in range(sentences):
        length = max(1, round(random.gammavariate(4.0, mean_length / 4.0)))
        first = -(-length // 2) if number in split else length
        if number in crossing:
            first = max(first, _SHORTEST_NONPROJECTIVE)
        words = _clause(random, first, number in crossing)
        if number in split:
            words += _clause(random, max(1, length - first), False)
        written.append(_written(random, words, labels, f"synthetic-{seed}-{number + 1}"))
    return "".join(written)


def _clause(random: Random, length: int, crossing: bool) -> list[Node]:
    if not crossing:
        return _grow(random, length).ordered()
    while True:
        words = _extrapose(random, _grow(random, length).ordered())
        if not is_projective(_heads(words)):
            return words


def _grow(random: Random, length: int) -> Node:
    """A projective tree of so many words."""
    root = Node("VERB", None)
    growing = [root]
    if length > 2:
        _hang(root, PUNCT)
    words = 1 + len(root.right)
    while words < length:
        head = random.choice(growing)
        relations, weights = _choices(head.tag)
        relation = random.choices(relations, cum_weights=weights)[0]
        taken = head.left if relation.side == "left" else head.right
        if relation.once and any(node.relation and node.relation.label == relation.label for node in taken):
            continue
        modifier = _hang(head, relation)
        words += 1
        if modifier.tag in _OPEN:
            growing.append(modifier)
    return root


def _hang(head: Node, relation: Relation) -> Node:
    modifier = Node(relation.modifier, relation, head)
    (head.left if relation.side == "left" else head.right).append(modifier)
    return modifier


@cache
def _choices(tag: str) -> tuple[list[Relation], list[float]]:
    relations = [relation for relation in GRAMMAR if relation.head == tag]
    return relations, list(accumulate(relation.weight for relation in relations))


def _extrapose(random: Random, words: list[Node]) -> list[Node]:
    """Move a phrase, often one that modifies a noun, to the end of the sentence, before its full stop."""
    movable = [node for node in words if node.head is not None and node.head.head is not None]
    late = [node for node in movable if node.relation and node.relation.label in ("acl", "nmod")]
    candidates = late or movable
    if not candidates:
        return words
    phrase = random.choice(candidates).ordered()
    moved = set(map(id, phrase))
    return [node for node in words[:-1] if id(node) not in moved] + phrase + words[-1:]


def _heads(words: list[Node]) -> list[int]:
    place = {id(node): at for at, node in enumerate(words, 1)}
    return [-1, *(place[id(node.head)] if node.head else 0 for node in words)]


def _written(random: Random, words: list[Node], labels: Sequence[str], name: str) -> str:
    rows, text = [], []
    names = _names(tuple(labels))
    fine_tags = len(names) // len(RELATIONS)
    heads = _heads(words)
    for at, node in enumerate(words, 1):
        ending, number, features = TAGS[node.tag]
        word = min(number - 1, int(random.paretovariate(0.7)) - 1)  # few words are frequent, many are rare
        feature, suffix = random.choice(features)
        lemma = _stem(node.tag, word) + ending
        fine = word % fine_tags
        label = "root" if node.relation is None else names[node.relation, fine]
        joined = at < len(words) and words[at].tag == "PUNCT"
        misc = "SpaceAfter=No" if joined else "_"
        text.append(lemma + suffix + ("" if joined else " "))
        rows.append(
            f"{at}\t{lemma}{suffix}\t{lemma}\t{node.tag}\t{node.tag}{fine}\t{feature}\t{heads[at]}\t{label}\t_\t{misc}\n"
        )
    return f"# sent_id = {name}\n# text = {''.join(text).rstrip()}\n{''.join(rows)}\n"


@cache
def _names(labels: tuple[str, ...]) -> dict[tuple[Relation, int], str]:
    """The label of every relation and fine tag: the relation's own, or the given ones in turn."""
    names: dict[tuple[Relation, int], str] = {}
    used = fine = 0
    while fine < 3 or used < len(labels):
        for relation in RELATIONS:
            names[relation, fine] = labels[used % len(labels)] if labels else relation.label
            used += fine < TAGS[relation.modifier][1]
        fine += 1
    return names


@cache
def _stem(tag: str, word: int) -> str:
    """Another one for every word of a tag: two or three syllables; the full stop has none."""
    if tag == "PUNCT":
        return ""
    onsets, vowels = "ptkbdgmnlrsv", "aeiou"
    syllables = 2 if TAGS[tag][1] < len(onsets) ** 2 else 3
    number = (577 * word + 101) % len(
        onsets
    ) ** syllables  # 577 shares no factor with 12: no two words collide
    stem = ""
    for _ in range(syllables):
        number, onset = divmod(number, len(onsets))
        stem += onsets[onset] + vowels[(onset + number) % len(vowels)]
    return stem
