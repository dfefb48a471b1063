"""How a first-order search on one matrix ended: the codes that kernels return."""

from __future__ import annotations

FOUND = 0
REFUSED = 1  # a score is NaN or +inf
NO_HEAD = 2  # some word has no allowed head
NO_TREE = 3  # every word has one, but no choice of them is a tree
NO_SINGLE_ROOT = 4  # there are trees, but none with exactly one root
NO_SHAPE = 5  # there are trees, but none of the class asked for
