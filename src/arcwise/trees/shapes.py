"""Classes of trees: of bounded block degree, well-nested, 1-inherit; and the yields that keep a tree out of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from arcwise.errors import InputError, NoTreeError
from arcwise.kernels import kernel
from arcwise.trees.blocks import count_blocks
from arcwise.trees.nesting import one_inherit, well_nested
from arcwise.trees.preorder import Ints, preorder


class Shape(NamedTuple):
    """A class of trees. block_degree: the greatest, 0 if any will do. 1-inherit trees are well-nested and of block degree 2 as well.

    >>> str(Shape(3, True)), str(Shape(1)), str(Shape())
    ('3-well-nested', 'projective', 'any')
    """

    block_degree: int = 0
    well_nested: bool = False
    one_inherit: bool = False

    def __str__(self) -> str:
        if self.block_degree == 1:
            return "projective"
        if self.one_inherit:
            return "1-inherit"
        nested = "well-nested" if self.well_nested else ""
        return "-".join(filter(None, [str(self.block_degree or ""), nested])) or "any"


ANY = Shape()
PROJECTIVE = Shape(1, True, False)
ONE_INHERIT = Shape(2, True, True)
EXPECTED = "any, projective, 1-inherit, well-nested, a block degree like 2, or both like 2-well-nested"


def read_shape(name: str) -> Shape:
    """The class of a name; InputError if there is none.

    >>> read_shape("2-well-nested"), read_shape("3") == Shape(3)
    (Shape(block_degree=2, well_nested=True, one_inherit=False), True)
    """
    named = {str(shape): shape for shape in (ANY, PROJECTIVE, ONE_INHERIT)}
    if name in named:
        return named[name]
    match = re.fullmatch(r"([1-9][0-9]{0,3})?(-?)(well-nested)?", name)
    if not match or not name or bool(match[2]) != bool(match[1] and match[3]):
        raise InputError(f"shape {name!r}", expected=EXPECTED)
    degree = int(match[1] or 0)
    return PROJECTIVE if degree == 1 else Shape(degree, bool(match[3]))


def no_shape(shape: Shape, place: str = "") -> NoTreeError:
    """The error to raise if there is no tree of a class."""
    return NoTreeError(f"{place}the allowed arcs form no tree of shape {shape}")


@kernel
def has_shape(heads: Ints, shape: Shape) -> bool:
    """Whether a tree belongs to a class: time as `arcwise.trees.is_well_nested`.

    >>> from arcwise.trees.checking import check_tree
    >>> tree = check_tree([-1, 0, 1, 1, 2])
    >>> has_shape(tree, Shape(1)), has_shape(tree, ONE_INHERIT)
    (False, True)
    """
    if shape.block_degree == 0 and not shape.well_nested:
        return True
    order, position, size = preorder(heads)
    blocks = count_blocks(heads, position, size)
    widest = blocks.max()
    if widest == 1:
        return True
    if shape.block_degree > 0 and widest > shape.block_degree:
        return False
    if shape.well_nested and not well_nested(order, position, size, blocks):
        return False
    return bool(not shape.one_inherit or one_inherit(order, position, size, blocks))
