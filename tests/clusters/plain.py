"""Brown clustering as one would write it down: everything from the counts, anew at every step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations

from arcwise.clusters.pairs import PairCounts

Log = Callable[[int], float]


def objective(counts: PairCounts, names: dict[int, int], log: Log = math.log) -> float:
    """The sum of n(s, t) (log n(s, t) - log L(s) - log R(t)) over clusters s, t of the words in `names`."""
    joint, left, right = Counter[tuple[int, int]](), Counter[int](), Counter[int]()
    for w, x, n in zip(counts.first.tolist(), counts.second.tolist(), counts.numbers.tolist(), strict=True):
        if w in names:
            left[names[w]] += n
        if x in names:
            right[names[x]] += n
        if w in names and x in names:
            joint[names[w], names[x]] += n
    return sum(n * (log(n) - log(left[s]) - log(right[t])) for (s, t), n in joint.items())


def plain_merges(counts: PairCounts, clusters: int, log: Log = math.log) -> list[list[int]]:
    """All merges, in order: of equal objectives, the first pair."""
    words = len(counts.words)
    names = {w: w for w in range(min(clusters, words))}
    merges = []
    for step in range(words - 1):
        if clusters + step < words:
            names[clusters + step] = clusters + step
        best, chosen = -math.inf, (0, 0)
        for low, high in combinations(sorted(set(names.values())), 2):
            merged = {w: low if name == high else name for w, name in names.items()}
            if (value := objective(counts, merged, log)) > best:
                best, chosen = value, (low, high)
        names = {w: chosen[0] if name == chosen[1] else name for w, name in names.items()}
        merges.append(list(chosen))
    return merges
