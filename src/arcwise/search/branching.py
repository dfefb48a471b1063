"""Branch and bound on violated constraints, around any search for trees.

Two kinds of constraints cannot be had by leaving arcs out: that a head has at most one dependent of a group of labels, and that only
one arc enters a span of words. Both are sets of arcs of which a tree may have one at most. A search that knows nothing of them, the
oracle, finds the best tree of the arcs that are alive. If it has several arcs of a set, all trees fall into two parts, by what they
make of a word w that takes one of them:

    w is not the one: it takes no arc of the set;
    w is the one: it takes an arc of the set, and no other word does.

In both parts arcs die and nothing else changes, so that the oracle answers for them, too.

Exact: every tree that satisfies the constraints is in one of the two parts, and in one only: none is lost, none is met twice. A part
is given up only if its bound is no better than a tree that satisfies them all. It ends: an arc of the violating tree dies in either
part (that of w in the first, that of another word in the second), so that no path of parts is longer than the number of arcs.

Where many sets are violated at once, such bounds say too little, and prices say more (Lagrangian relaxation). Each set has one, not
below 0, that its arcs cost and that every tree is given back once: trees that satisfy the constraints score as much as before, or
more. If a few parts were not enough, prices are sought by subgradient steps as long as the gap to the best tree so far asks for
(Polyak's), and hold for all parts from then on. A tree that satisfies the constraints but does not pay all it was given back proves
nothing: its part is searched once more without prices.
"""

from __future__ import annotations

import heapq
from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.threads import heed

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

_PATIENCE = 8  # searches before prices are sought
_STEPS = 60  # and how many are spent on them
_SHRINK, _SHORTEST = 0.8, 0.1  # steps that do not lower the bound are too long; when too short, they end
_ROUNDING = 2.0**-48  # of the size of scores and prices: what their sums may be off by


_Set = tuple[int, int]
_NO_TREE = np.empty(0, np.intp)


class Relaxed(NamedTuple):
    """A tree of the arcs alive, whether it satisfies the constraints or not.

    tree: (n+1,), the arc into every word; entry 0 is not read. bound: no tree of these arcs scores more; the score itself, if the
    oracle is exact.
    """

    tree: Ints
    score: float
    bound: float


class Oracle(Protocol):
    """A search among the trees whose arcs are all alive, (arcs,). None if there is no such tree."""

    def __call__(self, alive: Flags) -> Relaxed | None: ...


class PricedOracle(Protocol):
    """The same search where every arc costs a price, (arcs,): score and bound are those of trees that pay."""

    def __call__(self, alive: Flags, prices: Floats) -> Relaxed | None: ...


class Branched(NamedTuple):
    """The best tree found that satisfies the constraints: the arc into every word. No other scores more than `bound`.

    nodes: how often the oracle was called.
    """

    tree: Ints
    score: float
    bound: float
    nodes: int


class _Node(NamedTuple):
    """A part that is not done with; the first in this order is looked into first."""

    cost: float  # minus the bound
    depth: int  # minus it: of equal bounds the deepest, which is nearest to an end
    serial: int
    alive: NDArray[np.uint8]  # bits: many nodes may wait
    tree: Ints  # a tree that violates constraints; or none, if the part is to be searched without prices


class _Constraints(NamedTuple):
    """Sets of arcs of which a tree may have one: (group, head), and (-1, span)."""

    head: Ints
    modifier: Ints
    members: Flags  # (arcs, groups)
    spans: Ints  # (spans, 2)

    def arcs(self, one: _Set) -> Flags:
        """The arcs of a set, (arcs,)."""
        kind, number = one
        if kind >= 0:
            found: Flags = self.members[:, kind] & (self.head == number)
            return found
        return self._enters(slice(None), number)

    def counts(self, tree: Ints) -> dict[_Set, int]:
        """How many arcs of each set a tree has, of those of which it has any."""
        arcs, found = tree[1:], {}
        for group in range(self.members.shape[1]):
            heads, counts = np.unique(self.head[arcs[self.members[arcs, group]]], return_counts=True)
            for head, count in zip(heads.tolist(), counts.tolist(), strict=True):
                found[group, head] = count
        for span in range(len(self.spans)):
            found[-1, span] = int(np.count_nonzero(self._enters(arcs, span)))
        return found

    def _enters(self, arcs: Ints | slice, span: int) -> Flags:
        head, modifier = self.head[arcs], self.modifier[arcs]
        first, last = self.spans[span]
        found: Flags = (first <= modifier) & (modifier <= last) & ((head < first) | (head > last))
        return found

    def split(self, alive: Flags, tree: Ints) -> list[Flags]:
        """The two parts that the other trees fall into.

        The set is one that the fewest words may still take an arc of; w is a word with the fewest arcs besides: it is soon settled.
        """
        sets = [self.arcs(one) for one, count in self.counts(tree).items() if count > 1]
        one = min(sets, key=lambda arcs: len(np.unique(self.modifier[arcs & alive])))
        others = np.bincount(self.modifier[alive & ~one], minlength=len(tree))
        words = self.modifier[tree[1:][one[tree[1:]]]]
        into_word = self.modifier == words[np.argmin(others[words])]
        return [alive & ~(one & into_word), alive & (one == into_word)]


class _Search:
    """What asks the oracle, and remembers the best tree that satisfies the constraints."""

    def __init__(
        self, oracle: Oracle, priced: PricedOracle | None, constraints: _Constraints, slack: float
    ) -> None:
        self.oracle, self.priced, self.constraints, self.slack = oracle, priced, constraints, slack
        self.best: Relaxed | None = None
        self.nodes = 0
        self.prices: Floats | None = None  # of arcs
        self.given_back = 0.0

    def enough(self) -> float:
        """A bound that is no higher proves the best tree best."""
        if self.best is None:
            return -np.inf
        rounding = 0.0 if self.prices is None else 4.0 * _ROUNDING * abs(self.best.score)
        return self.best.score + max(self.slack, rounding)

    def may_price(self) -> bool:
        """Whether it is time to find prices."""
        patient = self.best is None or self.nodes < _PATIENCE
        return self.priced is not None and self.prices is None and not patient

    def ask(self, alive: Flags, *, plain: bool) -> tuple[Relaxed, dict[_Set, int]] | None:
        """A tree of these arcs, with its own score and a bound on those that satisfy the constraints; and its counts.

        plain: without prices.
        """
        self.nodes += 1
        prices = None if plain else self.prices
        if self.priced is None or prices is None:
            relaxed = self.oracle(alive)
        elif (relaxed := self.priced(alive, prices)) is not None:
            paid = float(prices[relaxed.tree[1:]].sum())
            off = _ROUNDING * (abs(relaxed.score) + abs(paid) + self.given_back)
            relaxed = Relaxed(relaxed.tree, relaxed.score + paid, relaxed.bound + self.given_back + off)
        if relaxed is None:
            return None
        counts = self.constraints.counts(relaxed.tree)
        if max(counts.values(), default=0) <= 1 and (self.best is None or relaxed.bound > self.best.score):
            # Prices may have cost the score its digits.
            own = relaxed if prices is None else self._alone(relaxed.tree, len(alive))
            if own is not None and (self.best is None or own.score > self.best.score):
                self.best = own
        return relaxed, counts

    def _alone(self, tree: Ints, arcs: int) -> Relaxed | None:
        """The tree with its own score, found among its arcs."""
        alive = np.zeros(arcs, np.bool_)
        alive[tree[1:]] = True
        return self.oracle(alive)

    def find_prices(self, alive: Flags, steps: int) -> None:
        """The prices with the lowest bound that so many steps come by."""
        price_of: dict[_Set, float] = {}
        least, cheapest, share = np.inf, (np.zeros(len(alive)), 0.0), 1.0
        for _ in range(steps):
            self.prices, self.given_back = np.zeros(len(alive)), sum(price_of.values())
            for one, price in price_of.items():
                self.prices[self.constraints.arcs(one)] += price
            asked = self.ask(alive, plain=False)
            if asked is None or self.best is None:
                break
            relaxed, counts = asked
            if relaxed.bound < least:
                least, cheapest = relaxed.bound, (self.prices, self.given_back)
            else:
                share *= _SHRINK
            slopes = {one: counts.get(one, 0) - 1 for one in {*counts, *price_of}}
            slopes = {one: slope for one, slope in slopes.items() if slope > 0 or one in price_of}
            norm = sum(slope * slope for slope in slopes.values())
            if norm == 0 or least <= self.enough() or share < _SHORTEST:
                break
            length = share * (relaxed.bound - self.best.score) / norm
            price_of |= {one: price_of.get(one, 0.0) + length * slope for one, slope in slopes.items()}
            price_of = {one: price for one, price in price_of.items() if price > 0.0}
        self.prices, self.given_back = cheapest


def branch(
    oracle: Oracle,
    head: Ints,
    modifier: Ints,
    members: Flags,
    group_heads: Ints,
    spans: Ints,
    alive: Flags,
    *,
    budget: int = 100_000,
    seconds: float | None = None,
    priced: PricedOracle | None = None,
    slack: float = 0.0,
) -> Branched | None:
    """The best tree under the constraints, best first, exactly if the oracle is exact; None if there is no tree that satisfies them.

    Every part costs one call of the oracle and O(arcs) besides, and a bit for each arc while it waits. How many there are cannot be
    said beforehand: if a head has at most one dependent of any label, this is the travelling salesman's problem. After `budget` calls
    or `seconds` the best tree so far comes with the bound of what is left; InputError if there is none yet. If the oracle's bounds
    are above its scores, the bound may be, too.

    head, modifier: (arcs,); labelled variants of an arc are arcs of their own. members: (arcs, groups); group_heads: (groups,), the
    head that has at most one dependent of the group, -1 for every head. spans: (s, 2), first and last words; one arc enters each.
    alive: (arcs,), those that a tree may have at all. priced: the same oracle, if it can take prices off the scores of arcs: fewer
    parts where many constraints are violated. slack: how much higher than a tree's score a bound may be and still prove it best:
    something below 1 if scores are whole numbers.

    >>> head, modifier, scores = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5.0, 4.0, 3.0])
    >>> def every_best_head(alive):  # of these arcs it makes a tree
    ...     alive_scores = np.where(alive, scores, -np.inf)
    ...     tree = np.array([0, 0, 1 + np.argmax(alive_scores[1:])])
    ...     score = float(alive_scores[tree[1:]].sum())
    ...     return Relaxed(tree, score, score) if score > -np.inf else None
    >>> no_group = np.zeros((3, 0), bool), np.zeros(0, int)
    >>> branch(every_best_head, head, modifier, *no_group, np.array([[1, 2]]), np.ones(3, bool))
    Branched(tree=array([0, 0, 2]), score=8.0, bound=8.0, nodes=3)
    """
    about = (group_heads == -1) | (group_heads == head[:, np.newaxis])
    constraints = _Constraints(head, modifier, members & about, spans)
    search = _Search(oracle, priced, constraints, slack)
    deadline = np.inf if seconds is None else perf_counter() + seconds
    settled = -np.inf  # the bound of parts that are done with
    waiting: list[_Node] = []  # a stack until there is a tree to compare with, then a heap
    parts, plain, bound, depth = [alive], False, np.inf, 0
    while True:
        heed()
        diving, children = search.best is None, []
        for part in parts:
            asked = search.ask(part, plain=plain)
            if asked is None:
                continue
            relaxed, counts = asked
            least = min(bound, relaxed.bound)
            node = _Node(-least, -depth, search.nodes, np.packbits(part), relaxed.tree)
            if max(counts.values(), default=0) > 1:
                children.append(node)
            elif search.prices is not None and not plain and least > search.enough():
                children.append(node._replace(tree=_NO_TREE))
            else:
                settled = max(settled, least)
        if diving and search.best is not None:
            heapq.heapify(waiting)
        for child in sorted(children, reverse=True):
            if search.best is None:
                waiting.append(child)
            else:
                heapq.heappush(waiting, child)
        if not waiting or -waiting[0].cost <= search.enough():
            break
        if search.nodes + 2 > budget or perf_counter() > deadline:
            settled = max(settled, -waiting[0].cost)
            break
        if search.may_price():
            search.find_prices(alive, min(_STEPS, budget - search.nodes - 1))
            waiting, settled = [], -np.inf
            parts, plain, bound, depth = [alive], False, np.inf, 0
            continue
        node = heapq.heappop(waiting) if search.best is not None else waiting.pop()
        here = np.unpackbits(node.alive, count=len(head)).view(np.bool_)
        plain = len(node.tree) == 0
        parts = [here] if plain else constraints.split(here, node.tree)
        bound, depth = -node.cost, 1 - node.depth
    best = search.best
    if best is not None:
        return Branched(
            best.tree, best.score, settled if settled > search.enough() else best.score, search.nodes
        )
    if waiting:
        found = f"no tree that satisfies the constraints after {search.nodes} searches"
        raise InputError(found, expected="fewer constraints, or a larger budget")
    return None
