"""The rows of a program that tie its parts to its arcs: three relaxations of what a tree's parts may be.

"pairs": every part alone is one if and only if its arcs are (ArcGP and GPArc of Martins et al. 2009, and the same for siblings).
"sums": parts that exclude each other add up to what they share (OneGP and NoGP of Riedel et al. 2012, 3.2; siblings are a path).
"all": both, without the rows that others imply. "all-rows": the same with all rows about grandparents, as the paper has it.

With whole arcs each of them is exact, whatever the parts are; a part that scores -inf is a column from 0 to 0, so no tree has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.parts.graph import Graph
from arcwise.parts.tables import Floats
from arcwise.search.program import Program
from arcwise.search.second_order import SecondOrder, consecutive_arcs, grand_steps

ALL, PAIRS, SUMS, ALL_ROWS = RELAXATIONS = "all", "pairs", "sums", "all-rows"

Numbers = NDArray[np.int64]


def add_parts(program: Program, parts: SecondOrder, relaxation: str) -> None:
    """The columns and rows of all parts that are scored."""
    if len(parts.grand) > 0:
        grandparents(program, parts, relaxation)
    if parts.siblings and relaxation == PAIRS:
        sibling_pairs(program, parts)
    elif parts.siblings:
        sibling_paths(program, parts, relaxation)


def grandparents(program: Program, parts: SecondOrder, relaxation: str) -> None:
    """z_ab of an arc a and an arc b from its modifier; O(steps) columns, and rows but for "sums".

    ArcGP   z_a + z_b - z_ab <= 1                   GPArc   z_ab <= z_a, z_ab <= z_b
    OneGP   sum over a of z_ab = z_b                NoGP    sum over b of z_ab <= n z_a

    OneGP and the left half of GPArc are all: they imply the right half; NoGP, by summing over b; and ArcGP, as z_b - z_ab is the sum
    of z_a'b over the other arcs a' into the same word, at most the sum of their z, 1 - z_a.
    """
    number, a, b = grand_steps(parts)
    part, row = _add_columns(program, parts.grand[number]), np.arange(len(number))
    if relaxation in (PAIRS, ALL_ROWS):
        _add_rows(program, len(part), -np.inf, 1.0, (row, a - 1, 1.0), (row, b - 1, 1.0), (row, part, -1.0))
        _at_most(program, part, b)
    if relaxation != SUMS:
        _at_most(program, part, a)
    if relaxation != PAIRS:
        inside = np.arange(parts.graph.out[1], len(parts.graph.head))  # those from the root come first
        of_arc = (inside - parts.graph.out[1], inside - 1, -1.0)
        _add_rows(program, len(inside), 0.0, 0.0, (b - parts.graph.out[1], part, 1.0), of_arc)
    if relaxation == SUMS:
        arcs = np.arange(1, len(parts.graph.head))
        n = len(parts.graph.position) - 1
        _add_rows(program, len(arcs), -np.inf, 0.0, (a - 1, part, 1.0), (arcs - 1, arcs - 1, -float(n)))


def sibling_paths(program: Program, parts: SecondOrder, relaxation: str) -> None:
    """A path from START over the modifiers on a side, the nearest first, to END, for both sides of every word; O(pairs) columns,
    O(arcs) rows. These are the convex hull of such paths, so they imply what "pairs" says of siblings.

    Before   what comes to b from START and from nearer arcs = z_b
    After    what goes from b to farther arcs and to END = z_b
    Chain    what goes out from START = 1; from the root nothing goes to END, as it has modifiers in every tree

    none[a, side] is a grandparent part of START -> END, and tied to it as such: OneGP, and NoGP or GPArc.
    """
    graph = parts.graph
    arcs, vertices = np.arange(1, len(graph.head)), len(graph.position)
    inner, outer = consecutive_arcs(graph)
    first = _add_columns(program, _of(parts.first, len(graph.head))[1:])
    pair = _add_columns(program, _of(parts.pair, len(inner)))
    last = _add_columns(program, _of(parts.last, len(graph.head))[1:])
    nothing = program.width + np.arange(2 * vertices)  # START -> END of 2 v + side
    program.add_columns(np.zeros(2 * vertices), np.arange(2 * vertices) != 1)
    row, minus = arcs - 1, (arcs - 1, arcs - 1, -1.0)
    _add_rows(program, len(arcs), 0.0, 0.0, (row, first, 1.0), (outer - 1, pair, 1.0), minus)
    _add_rows(program, len(arcs), 0.0, 0.0, (row, last, 1.0), (inner - 1, pair, 1.0), minus)
    side = _side(graph)[1:]
    _add_rows(program, 2 * vertices, 1.0, 1.0, (side, first, 1.0), (nothing - nothing[0], nothing, 1.0))
    if len(parts.none) == 0:
        return
    none = _add_columns(program, parts.none[2:])
    above, on = np.divmod(np.arange(2, len(parts.none)), 2)
    ends = 2 * graph.modifier[above] + on
    inside = np.arange(2, 2 * vertices)
    _add_rows(program, 2 * vertices - 2, 0.0, 0.0, (ends - 2, none, 1.0), (inside - 2, nothing[inside], -1.0))
    if relaxation != SUMS:
        _at_most(program, none, above)
    else:
        _add_rows(program, len(arcs), -np.inf, 0.0, (above - 1, none, 1.0), (row, row, -2.0))


def sibling_pairs(program: Program, parts: SecondOrder) -> None:
    """Each part alone; O(pairs) columns and rows, O(triples) entries.

    A pair (b', b) is at most z_b' and z_b, and at least z_b' + z_b - 1 less what z is between; a first b is at most z_b and at least
    z_b less what is nearer, a last b, and none over a, likewise. And no part passes over an arc that is chosen: the arcs to a word on
    a side of its head, and what passes over it there, are 1 at most, as no two parts of a tree pass over the same word.
    """
    graph = parts.graph
    arcs, inner, outer = np.arange(1, len(graph.head)), *consecutive_arcs(graph)
    begin, end = (
        np.stack(ends, axis=1).ravel()
        for ends in ((graph.out[:-1], graph.right), (graph.right, graph.out[1:]))
    )
    side = _side(graph)
    word = begin[side] + graph.inner  # the first arc from the same head to the same word
    word[0] = 0
    beyond = np.searchsorted(word, word, side="right")  # the first to a farther word, or where the side ends
    above, on = np.divmod(np.arange(2, len(parts.none)), 2)
    below = 2 * graph.modifier[above] + on
    words, number = np.unique(word, return_inverse=True)
    over: list[tuple[Any, Any, Any]] = [(number[1:], arcs - 1, 1.0)]
    for scores, of, low, high in (
        (parts.first[1:], (arcs,), begin[side[1:]], word[1:]),
        (parts.pair, (inner, outer), beyond[inner], word[outer]),
        (parts.last[1:], (arcs,), beyond[1:], end[side[1:]]),
        (parts.none[2:], (above,), begin[below], end[below]),
    ):
        if len(scores) == 0:
            continue
        part = _add_columns(program, scores)
        for arc in of:
            _at_most(program, part, arc)
        row, (passing, passed) = np.arange(len(part)), _ranges(low, high)
        of_part = [(row, arc - 1, 1.0) for arc in of] + [(row, part, -1.0), (passing, passed - 1, -1.0)]
        _add_rows(program, len(part), -np.inf, len(of) - 1.0, *of_part)
        once = word[passed] == passed
        over.append((number[passed[once]], part[passing[once]], 1.0))
    _add_rows(program, len(words), -np.inf, 1.0, *over)


def nonzeros(relaxation: str, grand: bool, siblings: bool, steps: int, pairs: int, triples: int) -> int:
    """How many numbers the columns and rows of parts are, at most."""
    size = {ALL: 3, PAIRS: 7, SUMS: 2, ALL_ROWS: 8}[relaxation] * steps if grand else 0
    if siblings:
        size += 7 * pairs + 2 * triples if relaxation == PAIRS else 2 * pairs
    return size


def _add_columns(program: Program, scores: Floats) -> Numbers:
    """Columns of parts, which are none of a tree if they score -inf; their numbers."""
    allowed = scores > -np.inf
    first = program.width
    program.add_columns(np.where(allowed, scores, 0.0), allowed)
    return np.arange(first, program.width)


def _add_rows(
    program: Program, number: int, lower: float, upper: float, *entries: tuple[Any, Any, Any]
) -> None:
    """Rows whose entries (row, column, value) are given in several lists, the value as one for all."""
    rows, columns = (np.concatenate([entry[k] for entry in entries]) for k in range(2))
    values = np.concatenate([np.broadcast_to(value, len(row)) for row, _, value in entries])
    program.add_entries(number, lower, upper, rows, columns, values)


def _at_most(program: Program, part: Numbers, arc: Any) -> None:
    """Parts are at most what an arc of each is."""
    row = np.arange(len(part))
    _add_rows(program, len(part), -np.inf, 0.0, (row, part, 1.0), (row, arc - 1, -1.0))


def _of(scores: Floats, number: int) -> Floats:
    """Scores of parts, zeros if they are not scored."""
    return scores if len(scores) > 0 else np.zeros(number)


def _side(graph: Graph) -> Numbers:
    """Of each arc, 2 h + 1 if it leads from h to the right, else 2 h."""
    arcs: Numbers = np.arange(len(graph.head))
    return 2 * graph.head.astype(np.int64) + (arcs >= graph.right[graph.head])


def _ranges(low: Any, high: Any) -> tuple[Numbers, Numbers]:
    """The numbers low[i] .. high[i] - 1 of all i, and which i each belongs to."""
    length = np.maximum(high - low, 0)
    of = np.repeat(np.arange(len(length)), length)
    return of, np.arange(len(of)) - (np.cumsum(length) - length)[of] + np.asarray(low)[of]
