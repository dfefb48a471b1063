"""The definitions of the shapes of trees, word for word as in the papers, with no thought of speed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product

import numpy as np


def random_tree(rng: np.random.Generator, n: int, reach: int) -> np.ndarray:
    """A tree of n words, hung in random order, each from one of the last `reach` vertices hung before it."""
    heads = np.full(n + 1, -1, np.int32)
    hung = [0]
    for word in rng.permutation(np.arange(1, n + 1)):
        heads[word] = rng.choice(hung[-reach:])
        hung.append(int(word))
    return heads


def yields(heads: Sequence[int]) -> list[set[int]]:
    """The vertices reachable from every vertex, itself included."""
    found: list[set[int]] = [{v} for v in range(len(heads))]
    for v in range(len(heads)):
        above = heads[v]
        while above != -1:
            found[above].add(v)
            above = heads[above]
    return found


def block_degrees(heads: Sequence[int]) -> list[int]:
    return [sum(v - 1 not in vertices for v in vertices) for vertices in yields(heads)]


def nonprojective_arcs(heads: Sequence[int]) -> list[bool]:
    below = yields(heads)
    return [False] + [
        any(v not in below[heads[m]] for v in range(min(m, heads[m]) + 1, max(m, heads[m])))
        for m in range(1, len(heads))
    ]


def edge_degrees(heads: Sequence[int]) -> list[int]:
    """Components are found by joining each word with its head, and their roots by looking at all words."""
    below = yields(heads)
    degrees = [0]
    for m in range(1, len(heads)):
        inside = range(min(m, heads[m]) + 1, max(m, heads[m]))
        components = [{v} for v in inside]
        for v in inside:
            if heads[v] in inside:
                one = next(c for c in components if v in c)
                two = next(c for c in components if heads[v] in c)
                components = [c for c in components if c is not one and c is not two] + [one | two]
        component_roots = [next(v for v in c if heads[v] not in c) for c in components]
        degrees.append(sum(root not in below[heads[m]] for root in component_roots))
    return degrees


def interleave(one: Iterable[int], two: Iterable[int]) -> bool:
    one, two = sorted(one), sorted(two)
    return any(
        i < k < j < m or k < i < m < j
        for (i, j), (k, m) in product(combinations(one, 2), combinations(two, 2))
    )


def is_well_nested(heads: Sequence[int]) -> bool:
    return not any(
        one.isdisjoint(two) and interleave(one, two) for one, two in combinations(yields(heads), 2)
    )


def is_one_inherit(heads: Sequence[int]) -> bool:
    if max(block_degrees(heads)) > 2 or not is_well_nested(heads):
        return False
    below = yields(heads)
    for v in range(1, len(heads)):
        gap = set(range(min(below[v]), max(below[v]))) - below[v]
        children = [c for c in range(1, len(heads)) if heads[c] == v]
        inheriting = [c for c in children if gap and min(below[c]) < min(gap) and max(below[c]) > max(gap)]
        if len(inheriting) > 1:
            return False
    return True
