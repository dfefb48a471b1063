"""Which arc is drawn how high."""

from __future__ import annotations

from collections.abc import Sequence


def pack_levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """The level of every arc, from 1: arcs that overlap are on different levels, an arc is above those within it.

    spans: (left, right) of each arc, left < right; those that only touch do not overlap; of equals the earlier is within the later.
    The shortest come first, each on the lowest level that is free above those within it. If no two arcs cross, no packing has fewer
    levels: each arc is one above the highest within it. O(arcs^2) time, O(arcs) memory.

    >>> pack_levels([(1, 2), (2, 3), (1, 4), (3, 5)])
    [1, 1, 2, 1]
    """
    levels = [0] * len(spans)
    placed: list[tuple[int, int, int]] = []
    for arc in sorted(range(len(spans)), key=lambda arc: spans[arc][1] - spans[arc][0]):
        left, right = spans[arc]
        taken: set[int] = set()
        level = 1
        for other_left, other_right, other in placed:
            if other_left < right and left < other_right:
                taken.add(other)
                if other >= level and left <= other_left and other_right <= right:
                    level = other + 1
        while level in taken:
            level += 1
        levels[arc] = level
        placed.append((left, right, level))
    return levels
