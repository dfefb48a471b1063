"""What constraints mean, said again and slowly on whole trees; and constraints drawn at random."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from hypothesis import strategies as st

from arcwise.constraints import (
    Arc,
    AtMostOne,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
)
from arcwise.trees import all_trees

NAMES = ("obj", "obj:x", "det")
TAGS = ("A", "B")


@lru_cache
def labelled_trees(n, labels, single_root, projective):
    """All trees with all labels: heads and labels, both (k, n+1)."""
    trees = all_trees(n, single_root, projective)
    choices = np.array(list(product([0], *[range(labels)] * n)))
    heads, numbers = np.repeat(trees, len(choices), axis=0), np.tile(choices, (len(trees), 1))
    return heads, numbers


def words_of(word):
    return range(word[0], word[1] + 1) if isinstance(word, tuple) else [word]


def tag_is(tag, v, upos, xpos):
    if v == 0:
        return False
    return xpos[v - 1] == tag[5:] if tag.startswith("XPOS=") else upos[v - 1] == tag


def of_group(labels, names):
    return [
        i
        for i, name in enumerate(names)
        if any(name == a.rstrip(":") or name.split(":")[0] == a for a in labels)
    ]


def descendants(word, heads):
    found = {word}
    while True:
        more = {m for m in range(1, len(heads)) if heads[m] in found} | found
        if more == found:
            return found
        found = more


def top_within(word, span, heads):
    while heads[word] in span:
        word = heads[word]
    return word


def satisfies(constraint, heads, labels, names=NAMES, upos=None, xpos=None):
    """Whether one tree has what a constraint asks for."""
    words = range(1, len(heads))
    match constraint:
        case Arc(head, word):
            return heads[word] == head
        case NoArc(head, word):
            return heads[word] != head
        case Root(word):
            return heads[word] == 0
        case Leaf(word):
            return descendants(word, heads) == {word}
        case Subtree(first, last):
            return any(
                descendants(top, heads) == set(range(first, last + 1)) for top in range(first, last + 1)
            )
        case Together(first, last):
            span = range(first, last + 1)
            return len({top_within(word, span, heads) for word in span}) == 1
        case HeadInside(word, first, last):
            return all(first <= heads[m] <= last for m in words_of(word))
        case HeadOutside(word, first, last):
            return not any(first <= heads[m] <= last for m in words_of(word))
        case AtMostOne(group, head):
            chosen = of_group(group, names)
            taken = [heads[m] for m in words if labels[m] in chosen and head in (None, heads[m])]
            return len(taken) == len(set(taken))
        case Labels(group, allowed, word, head, tag, head_tag):
            chosen = of_group(group, names)
            return all(
                (labels[m] in chosen) == allowed
                for m in words
                if word in (None, m)
                and head in (None, heads[m])
                and (tag is None or tag_is(tag, m, upos, xpos))
                and (head_tag is None or tag_is(head_tag, heads[m], upos, xpos))
            )
    raise AssertionError(constraint)


def satisfying(constraints, heads, labels, names=NAMES, upos=None, xpos=None):
    """Which of many trees satisfy all constraints."""
    on_labels = [c for c in constraints if isinstance(c, AtMostOne | Labels)]
    trees, rows = np.unique(heads, axis=0, return_inverse=True)
    on_heads = [
        all(satisfies(c, tree, None) for c in constraints if c not in on_labels) for tree in trees.tolist()
    ]
    found = np.array(on_heads, bool)[rows.reshape(-1)]
    for row in np.flatnonzero(found):
        tree, numbers = heads[row].tolist(), labels[row].tolist()
        found[row] = all(satisfies(c, tree, numbers, names, upos, xpos) for c in on_labels)
    return found


@st.composite
def constraint_of(draw, n, labels=3, tags=True):
    """A constraint of any kind for a sentence of n words; those on labels only if there are labels."""
    word = draw(st.integers(1, n))
    head = draw(st.integers(0, n).filter(lambda h: h != word))
    first, last = sorted((draw(st.integers(1, n)), draw(st.integers(1, n))))
    words = draw(st.sampled_from([word, (min(word, first), max(word, first))]))
    kinds = [Arc, NoArc, Root, Leaf, Subtree, Subtree, Together, Together, HeadInside, HeadOutside]
    kind = draw(st.sampled_from([*kinds, *[AtMostOne, AtMostOne, AtMostOne, Labels, Labels] * bool(labels)]))
    if kind in (Arc, NoArc):
        return kind(head, word)
    if kind in (Root, Leaf):
        return kind(word)
    if kind in (Subtree, Together):
        return kind(first, last)
    if kind in (HeadInside, HeadOutside):
        return kind(words, first, last)
    group = draw(st.lists(st.sampled_from([*NAMES[:labels], "obj:"]), min_size=1, max_size=2))
    maybe_head = draw(st.sampled_from([None, None, head]))
    if kind is AtMostOne:
        return AtMostOne(group, maybe_head)
    tag = st.sampled_from([None, None, "A", "XPOS=B"] if tags else [None])
    maybe_word = draw(st.sampled_from([None, word]))
    return Labels(group, draw(st.booleans()), maybe_word, maybe_head, draw(tag), draw(tag))
