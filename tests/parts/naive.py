"""What a tree scores by its parts, told in plain words: the oracle for charts. Shares no code with what it tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

# Every table, and how many words each of its entries names; `none` has a side last.
WORDS = {
    "arcs": 2,
    "siblings": 3,
    "grandchildren": 3,
    "grand_siblings": 4,
    "tri_siblings": 4,
    "great_grandchildren": 4,
    "great_grand_siblings": 5,
    "grand_tri_siblings": 5,
    "outermost_grandchildren": 3,
    "outermost_grand_siblings": 4,
    "first": 2,
    "second": 2,
    "first_grandchildren": 3,
    "none": 3,
}


def shape(table: str, n: int) -> tuple[int, ...]:
    return (n + 1, n + 1, 2) if table == "none" else (n + 1,) * WORDS[table]


def modifiers(heads: Any, h: int, side: int) -> list[int]:
    """The modifiers of h on one side, the nearest first."""
    found = [m for m in range(1, len(heads)) if heads[m] == h and (m > h) == bool(side)]
    return sorted(found, key=lambda m: abs(m - h))


def parts(heads: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All parts of a tree, as (table, index)."""
    for h in range(len(heads)):
        g = int(heads[h]) if h > 0 else None
        f = int(heads[g]) if g else None
        for side in (0, 1):
            chain = modifiers(heads, h, side)
            if g is not None and not chain:
                yield "none", (g, h, side)
            for k, m in enumerate(chain):
                before = chain[k - 1] if k > 0 else h
                yield "arcs", (h, m)
                yield "siblings", (h, before, m)
                if k == 0:
                    yield "first", (h, m)
                if k == 1:
                    yield "second", (h, m)
                if k > 0:
                    yield "tri_siblings", (h, chain[k - 2] if k > 1 else h, before, m)
                if g is None:
                    continue
                yield "grandchildren", (g, h, m)
                yield "grand_siblings", (g, h, before, m)
                if k == 0:
                    yield "first_grandchildren", (g, h, m)
                if k > 0:
                    yield "grand_tri_siblings", (g, h, chain[k - 2] if k > 1 else h, before, m)
                if f is not None:
                    yield "great_grandchildren", (f, g, h, m)
                    yield "great_grand_siblings", (f, g, h, before, m)
            if not chain:
                continue
            yield "siblings", (h, chain[-1], h)
            if g is None:
                continue
            yield "grand_siblings", (g, h, chain[-1], h)
            yield "outermost_grandchildren", (g, h, chain[-1])
            yield "outermost_grand_siblings", (g, h, chain[-2] if len(chain) > 1 else h, chain[-1])
            if f is not None:
                yield "great_grand_siblings", (f, g, h, chain[-1], h)


def score(tables: dict[str, Any], heads: Any) -> float:
    """The sum over all parts of a tree."""
    return float(sum(tables[table][index] for table, index in parts(heads) if table in tables))


def marginals(tables: dict[str, Any], trees: Any, probabilities: Any) -> dict[str, Any]:
    """The probability of every part."""
    n = trees.shape[1] - 1
    found = {table: np.zeros(shape(table, n)) for table in tables}
    for heads, p in zip(trees, probabilities, strict=True):
        for table, index in parts(heads):
            if table in found:
                found[table][index] += p
    return found
