"""What solvers of programs claim, proved: they are right up to tolerances, which is not enough for a certificate.

A tree that a program calls the best is taken for a good one, and the bound of dual decomposition tells which arcs a better tree may
have. Mostly there is none, and the tree is proved best. Else the problem that these arcs make is searched exactly.
"""

from __future__ import annotations

from collections.abc import Callable

from arcwise.errors import NoTreeError
from arcwise.search.dual import DualOptions, arcs_of_rivals, dual_parse
from arcwise.search.part_chart import PartChart, forbid, only_one
from arcwise.search.result import Parse

# Of bounds that are not proved, where scores are below 1 and a solution has up to n^2 columns: solvers keep to 1e-7 in each.
_TOLERANCE = 1e-6


def proved(chart: PartChart, search: Callable[[PartChart], Parse]) -> Parse:
    """What `search` finds among scores below 1 in size, or a better tree that the proof came upon.

    The bound is the score if the tree is proved best; else it is one that holds, whatever the tolerances of the solver. NoTreeError
    only if there is no tree.
    """
    try:
        parse = search(chart)
    except NoTreeError:
        return dual_parse(chart, DualOptions())
    if parse.bound is None:
        return parse
    if not parse.certified:
        parse.bound += _TOLERANCE * len(parse.heads) ** 2
        return parse
    rest = forbid(chart, {"arcs": ~arcs_of_rivals(chart, parse)})
    if only_one(rest):
        return parse
    other = dual_parse(rest, DualOptions())
    if other.score > parse.score:
        parse.heads, parse.labels, parse.score = other.heads, other.labels, other.score
    parse.bound = parse.score if other.certified else other.bound
    return parse
