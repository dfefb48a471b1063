"""Which search has which option. An option that a search does not have is refused: nobody is to believe that it did something.

`exact` is of every search: to allow a gap is no demand for one. So is `seconds` where people's constraints are searched for.
"""

from __future__ import annotations

from typing import Any

from arcwise.errors import InputError
from arcwise.search.arborescence import CUTS
from arcwise.search.chart import CHARTS
from arcwise.search.part_chart import CLIMB, DUAL, ILP, LP, PRICE
from arcwise.search.part_polytopes import ALL
from arcwise.search.shaped import BRANCH_AND_BOUND, LAGRANGIAN

SPANNING_TREE, EISNER, BELIEFS = "spanning-tree", "eisner", "belief-propagation"

_PROGRAM = frozenset({"relaxation", "connected", "seconds", "pruned"})
OPTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys((SPANNING_TREE, *CHARTS, BELIEFS), frozenset[str]()),
    BRANCH_AND_BOUND: frozenset({"iterations", "budget", "rule", "seconds"}),
    LAGRANGIAN: frozenset({"iterations", "rule"}),
    DUAL: frozenset({"iterations", "budget", "rule", "trace"}),
    CLIMB: frozenset({"restarts", "start", "whole_tree", "seed"}),
    LP: _PROGRAM,
    ILP: _PROGRAM,
    PRICE: frozenset({"seconds", "pruned", "lazy"}),
}
# What stands for an option that was not given, where that is not None.
_NOT_GIVEN: dict[str, Any] = {
    "rule": "gap",
    "trace": False,
    "relaxation": ALL,
    "connected": CUTS,
    "pruned": True,
    "lazy": False,
}
_SAID = {"pruned": "no pruning", "lazy": "parts scored on demand"}


def has_option(search: str, name: str) -> bool:
    """Whether a search has an option; one that is not known has none."""
    return name in OPTIONS.get(search, ())


def refuse_others(search: str, exact: bool, **options: Any) -> None:
    """InputError for the first option that is given, and that the search does not have; nothing for a search that is not known.

    >>> refuse_others("dual", True, rule="paper", budget=7, seconds=None)
    >>> refuse_others("dual", True, seconds=3.0)
    Traceback (most recent call last):
    arcwise.errors.InputError: seconds with decoder 'dual', expected one of the decoders branch-and-bound, lp, ilp, price for it
    >>> refuse_others("dual", False, budget=7)
    Traceback (most recent call last):
    arcwise.errors.InputError: budget with exact=False, expected exact=True for it
    """
    known = OPTIONS.get(search)
    if known is None:
        return
    for name, value in options.items():
        if value is None or (name in _NOT_GIVEN and value == _NOT_GIVEN[name]):
            continue
        if name not in known:
            others = [other for other, has in OPTIONS.items() if name in has]
            expected = (
                f"decoder {others[0]!r}" if len(others) == 1 else f"one of the decoders {', '.join(others)}"
            )
            raise InputError(
                f"{_SAID.get(name, name)} with decoder {search!r}", expected=f"{expected} for it"
            )
        if name == "budget" and not exact:
            raise InputError("budget with exact=False", expected="exact=True for it")
