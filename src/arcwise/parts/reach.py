"""What keeps certificates true whatever the size of scores: numbers out of reach leave the problem, and the rest is put in a unit.

People forbid what they do not want by scores of -1e9 or -1e30, and bring scores of any scale. A search that adds, subtracts and
compares such numbers loses the digits of the small ones, and a tolerance that is a share of the largest one allows anything. So
before anything is scaled, each number that no tree as good as one already known can have becomes -inf (`beyond_reach`). The rest is
multiplied by a power of two, which changes no digit, so that the largest is near 1 (`unit_of`). And the least difference that
two trees can have, or what rounding may cost, is known (`least_difference`): a proof needs to come no nearer than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, inf, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Owners = NDArray[np.integer]

_DIGITS = 53  # of a float64
_SMALLEST = -1074  # the smallest float64 is 2 to this
_SPARE = 2.0**-10  # what of a whole multiple is left to rounding
# Where scores are whole numbers, a better tree is better by 1: a bound that comes as near as this to a score proves it best.
WHOLE_DIFFERENCE = 1.0 - _SPARE


class Group(NamedTuple):
    """Numbers of which a tree takes at most one of each owner, and if `must` exactly one; -inf are out already.

    Owners count from 0.
    """

    values: Floats
    owner: Owners
    must: bool = False


class Unit(NamedTuple):
    """shift: numbers times 2^shift are below `size`, and one of them is half of that or more. whole: the largest power of two of
    which all numbers, so multiplied, are whole multiples; 0 if there are no numbers but 0. size: 1; more only where the smallest
    numbers would lose digits otherwise.
    """

    shift: int
    whole: float
    size: float = 1.0


def beyond_reach(groups: Sequence[Group], least: float, times: float = 1.0) -> list[NDArray[np.bool_]]:
    """For every number of every group, whether each tree with it scores less than `least`. Linear time.

    A tree scores no more than the sum over groups and owners of their largest number. With a given number in place of the largest
    of its owner it scores no more than that much less. least: may be rounded, as the sum of a tree's numbers is. times: 1 or more,
    only numbers that are so many times as far away.
    """
    most = [_largest(group) for group in groups]
    numbers = [x for largest in most for x in largest.tolist()]
    top = fsum(numbers)
    if not -inf < top < inf or least == -inf:
        return [np.isneginf(group.values) for group in groups]
    # No number of a tree is above the largest of its owner, so they come to no more than twice that and the score in size.
    size = 2.0 * fsum(map(abs, numbers)) + abs(least)
    spare = times * (top - least + len(numbers) * 2.0 ** (1 - _DIGITS) * size)  # what a tree may lack at most
    with np.errstate(over="ignore"):
        return [
            largest[group.owner] - group.values > spare for group, largest in zip(groups, most, strict=True)
        ]


def _largest(group: Group) -> Floats:
    """Of each owner, the largest number that a tree may take of it: at least 0 if it need not take any."""
    owners = int(group.owner.max(initial=-1)) + 1
    largest = np.full(owners, -np.inf if group.must else 0.0)
    np.maximum.at(largest, group.owner, group.values)
    largest[np.isneginf(largest)] = (
        0.0  # an owner without numbers: there is no tree, which others will find out
    )
    return largest


def unit_of(arrays: Iterable[Floats]) -> Unit:
    """The unit of all finite numbers of some arrays. Linear time."""
    top, bottom = -(1 << 30), 1 << 30
    for array in arrays:
        finite = array[np.isfinite(array) & (array != 0.0)]
        if len(finite) == 0:
            continue
        mantissa, exponent = np.frexp(np.abs(finite))
        digits = np.ldexp(mantissa, _DIGITS).astype(np.int64)
        zeros = np.frexp((digits & -digits).astype(np.float64))[1] - 1
        top = max(top, int(exponent.max()))
        bottom = min(bottom, int((exponent - _DIGITS + zeros).min()))
    if top < bottom:
        return Unit(0, 0.0)
    shift = max(-top, _SMALLEST - bottom)
    return Unit(shift, float(np.ldexp(1.0, bottom + shift)), float(np.ldexp(1.0, top + shift)))


def least_difference(unit: Unit, terms: int) -> tuple[float, bool]:
    """By how much, in this unit, a bound must come down to a tree's score to prove it best, and whether that proof is exact.

    terms: how many numbers are added up at most, in any order, with multipliers of up to some units among them. If all numbers are
    whole multiples of something that such sums resolve, trees differ by that or not at all: a little less will do, and nothing is
    lost. Otherwise the sums are only known up to rounding, and that is the difference.
    """
    rounding = terms * unit.size * 2.0 ** (4 - _DIGITS)
    if unit.whole == 0.0:
        return 0.25, True
    if unit.whole * _SPARE > 2.0 * rounding:
        return unit.whole * WHOLE_DIFFERENCE, True
    return rounding, False


def scaled(array: Floats, shift: int) -> Floats:
    """The numbers times 2^shift; -inf stays."""
    return np.ldexp(array, shift)


def unscaled_bound(bound: float, shift: int) -> float:
    """A bound in a unit, as a bound on unscaled scores: rounded upwards where digits are lost."""
    with np.errstate(over="ignore", under="ignore"):
        given = float(np.ldexp(bound, -shift))
        return given if float(np.ldexp(given, shift)) >= bound else nextafter(given, inf)
