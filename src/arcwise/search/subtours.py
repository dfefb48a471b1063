"""Cutting planes instead of flow: the sets of words into which a fractional tree does not bring one arc."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats


@kernel
def separate(n: int, head: Ints, modifier: Ints, z: Floats, slack: float) -> NDArray[np.bool_]:
    """Sets C of words into which arcs from outside bring less than 1 - slack; none if and only if there is no such set.

    One head a word and the rows `sum of z inside C <= |C| - 1` for all sets C describe the arborescence polytope exactly (Edmonds
    1967), so they are as tight as multi-commodity flow, and tighter than single-commodity flow.

    The smallest minimum cut between 0 and each word, by shortest augmenting paths (Edmonds and Karp 1972): O(paths arcs) a word, of
    arcs with z > 0, which are few. Words of cycles come first, and words in a set that was found are skipped; a set
    is left out if it holds another.

    head, modifier: words of the arcs, of which several may join the same words. z: their values, 0 or more, 1 in sum into each word.
    Returns (sets, n + 1), whether each word is in the set; 0 never is.

    >>> arcs = np.array([0, 0, 1, 2], np.int32), np.array([1, 2, 2, 1], np.int32)
    >>> separate(2, *arcs, np.array([0.2, 0.4, 0.6, 0.8]), 1e-6)  # 0.2 + 0.4 from outside
    array([[False,  True,  True]])
    """
    into_first, into = _by_end(n, modifier, z)
    out_first, out = _by_end(n, head, z)
    targets = _cycles_first(n, head, z, into_first, into)
    sets, found = np.zeros((n, n + 1), np.bool_), 0
    seen = np.zeros(n + 1, np.bool_)  # in a set that was found
    room, flow = np.empty(len(z)), np.empty(len(z))
    queue, path = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for target in targets:
        if seen[target]:
            continue
        room[:], flow[:] = z, 0.0
        total = 0.0
        inside = sets[found]
        while total < 1.0 - slack:
            # Back from the target over arcs with room and, against their direction, over arcs with flow.
            inside[:] = False
            inside[target] = True
            queue[0], first, last = target, 0, 1
            while first < last and not inside[0]:
                v = queue[first]
                first += 1
                for k in range(into_first[v], into_first[v + 1]):
                    a = into[k]
                    if room[a] > 0.0 and not inside[head[a]]:
                        inside[head[a]] = True
                        path[head[a]], queue[last] = a, head[a]
                        last += 1
                for k in range(out_first[v], out_first[v + 1]):
                    a = out[k]
                    if flow[a] > 0.0 and not inside[modifier[a]]:
                        inside[modifier[a]] = True
                        path[modifier[a]], queue[last] = a, modifier[a]
                        last += 1
            if not inside[0]:
                break
            more, v = 1.0, 0
            while v != target:
                a = path[v]
                forward = head[a] == v
                more = min(more, room[a] if forward else flow[a])
                v = modifier[a] if forward else head[a]
            v = 0
            while v != target:
                a = path[v]
                forward = head[a] == v
                room[a] -= more if forward else -more
                flow[a] += more if forward else -more
                v = modifier[a] if forward else head[a]
            total += more
        if inside[0] or total >= 1.0 - slack:
            inside[:] = False
            continue
        holds_another = False
        for earlier in range(found):
            within = True
            for v in range(1, n + 1):
                if sets[earlier, v] and not inside[v]:
                    within = False
            holds_another |= within
        if holds_another:
            inside[:] = False
        else:
            seen |= inside
            found += 1
    return sets[:found]


@kernel
def _by_end(n: int, end: Ints, z: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The arcs with z > 0 in order of one of their ends; those of word v are arcs[first[v] : first[v + 1]]."""
    first = np.zeros(n + 2, np.int64)
    for a in range(len(z)):
        if z[a] > 0.0:
            first[end[a] + 1] += 1
    for v in range(n + 1):
        first[v + 1] += first[v]
    arcs, free = np.empty(first[n + 1], np.int64), first.copy()
    for a in range(len(z)):
        if z[a] > 0.0:
            arcs[free[end[a]]] = a
            free[end[a]] += 1
    return first, arcs


@kernel
def _cycles_first(
    n: int, head: Ints, z: Floats, into_first: NDArray[np.int64], into: NDArray[np.int64]
) -> NDArray[np.int64]:
    """A word of each cycle of the strongest arcs, then all words."""
    words, cycles = np.empty(2 * n, np.int64), 0
    strongest, walk = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for v in range(1, n + 1):
        most = 0.0
        for k in range(into_first[v], into_first[v + 1]):
            if z[into[k]] > most:
                most, strongest[v] = z[into[k]], head[into[k]]
    for v in range(1, n + 1):
        u = v
        while u != 0 and walk[u] == 0:
            walk[u] = v
            u = strongest[u]
        if u != 0 and walk[u] == v:
            words[cycles] = u
            cycles += 1
    for v in range(1, n + 1):
        words[cycles + v - 1] = v
    return words[: cycles + n]
