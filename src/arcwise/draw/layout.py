"""Where words, arcs and labels go, in whole units of any medium: cells of a terminal, pixels of a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from arcwise.draw.levels import pack_levels

_MOST_SPACES = 16  # as many lines have their full distance at a word; more move together


class Medium(NamedTuple):
    """What a medium needs: the thickness of a vertical line; the distance of two lines at a word; whether all arcs that leave a word
    on the same side share one line; the least gap between words, and that beside a label.
    """

    stroke: int
    spacing: int
    shared: bool
    gap: int
    pad: int


class Sizes(NamedTuple):
    """Widths by word, entry 0 for the root: of the word with all below it, of its label, and of the mark that names it elsewhere."""

    words: Sequence[int]
    labels: Sequence[int]
    marks: Sequence[int]


@dataclass(slots=True)
class Arc:
    """An arc of a row, or what the row shows of it. x is the left edge of anything.

    head_x, dependent_x: of the vertical lines at its ends, None for an end in another row; then `mark` is the word there (else 0),
    and mark_x where its mark goes. left, right: what the arc covers on its level, between the lines or up to the mark. An arc from
    the root has no head_x: it is one vertical line below its label.
    """

    dependent: int
    head: int
    level: int
    head_x: int | None = None
    dependent_x: int | None = None
    label_x: int = 0
    mark: int = 0
    mark_x: int = 0
    left: int = 0
    right: int = 0


@dataclass(slots=True)
class Row:
    """Words first..last. x[i], box[i]: left edge and width of word first + i. Labels of roots are on the highest level."""

    first: int
    last: int
    arcs: list[Arc]
    levels: int
    x: list[int]
    box: list[int]
    width: int


def lay_out(heads: Sequence[int], sizes: Sizes, medium: Medium, width: int | None) -> list[Row]:
    """A tree in rows no wider than `width`, if one word with its arcs is not wider.

    heads: n + 1 numbers, -1 where unknown: such a word has no arc. A projective tree is laid out without crossings; a label is never
    crossed by a line. A row ends where it cuts the fewest arcs, as long as it stays two thirds full. Time O(n) in rows of bounded
    width, if they hold a bounded number of arcs.
    """
    words = len(heads) - 1
    children: dict[int, list[int]] = defaultdict(list)
    cuts = [0] * (words + 2)  # cuts[i]: arcs that a break after word i cuts
    for dependent, head in enumerate(heads):
        if head > 0:
            children[head].append(dependent)
            cuts[min(head, dependent)] += 1
            cuts[max(head, dependent)] -= 1
    for i in range(1, words + 1):
        cuts[i] += cuts[i - 1]

    def row(first: int, last: int) -> Row:
        return _Builder(heads, children, sizes, medium, first, last).build()

    if width is None:
        return [row(1, words)]
    rows: list[Row] = []
    first = 1
    while first <= words:
        last, taken = first, sizes.words[first]
        while last < words and taken + medium.gap + sizes.words[last + 1] <= width:
            last += 1
            taken += medium.gap + sizes.words[last]
        while last > first and row(first, last).width > width:
            last -= 1
        for candidate in sorted(
            range(first + (last - first) * 2 // 3, last + 1), key=lambda i: (cuts[i], -i)
        ):
            best = row(first, candidate)
            if best.width <= width or candidate == last:
                break
        rows.append(best)
        first = best.last + 1
    return rows


Port = tuple[int, int]  # a word, and the number of a line that goes up from it, from left to right


class _Builder:
    """One row: its arcs get levels, then lines (ports) at their words, then every word its place."""

    def __init__(
        self,
        heads: Sequence[int],
        children: dict[int, list[int]],
        sizes: Sizes,
        medium: Medium,
        first: int,
        last: int,
    ) -> None:
        self.sizes, self.medium, self.first, self.last = sizes, medium, first, last
        self.before, self.after = (first - 1, 0), (last + 1, 0)  # the row's edges, as ports
        self.words = range(first, last + 1)
        found = {m for m in self.words if heads[m] > 0}.union(*(children.get(h, ()) for h in self.words))
        dependents = sorted(found, key=lambda m: (abs(heads[m] - m), m))
        spans = [(max(min(m, heads[m]), first - 1), min(max(m, heads[m]), last + 1)) for m in dependents]
        levels = pack_levels(spans)
        self.roots = [m for m in self.words if heads[m] == 0]
        self.levels = max(levels, default=0) + bool(self.roots)
        self.arcs = [Arc(m, heads[m], level) for m, level in zip(dependents, levels, strict=True)]
        for arc in self.arcs:
            arc.mark = next((word for word in (arc.head, arc.dependent) if word not in self.words), 0)
        self.arcs += [Arc(m, 0, self.levels) for m in self.roots]
        self._make_ports()
        self.needs: dict[int, list[tuple[Port, int]]] = defaultdict(list)  # by the right port's word

    def _make_ports(self) -> None:
        """The lines at each word: those of arcs to the left, the lowest first, then those to the right, the highest first, so that
        only arcs that cross anyway cross. Shared lines: left, own, right; own at the outside if all on its side are above it.
        """
        ends: dict[int, list[tuple[int, Arc]]] = {
            word: [] for word in self.words
        }  # with the word at the other end
        for arc in self.arcs:
            for word, other in ((arc.dependent, arc.head), (arc.head, arc.dependent)):
                if word in ends:
                    ends[word].append((other, arc))
        self.head_port: dict[int, Port] = {}
        self.own_port: dict[int, Port] = {}
        self.tops: dict[Port, int] = defaultdict(int)
        self.offsets: dict[Port, int] = {self.before: 0, self.after: 0}
        self.box: list[int] = []
        for word, arcs in ends.items():
            orders = [self._order(word, other, arc, arcs) for other, arc in arcs]
            places = sorted(set(orders))
            gaps = max(0, len(places) - 1)
            spacing = min(self.medium.spacing, _MOST_SPACES * self.medium.spacing // max(1, gaps))
            wide = gaps * spacing + self.medium.stroke
            self.box.append(max(self.sizes.words[word], wide))
            for order, (_, arc) in zip(orders, arcs, strict=True):
                port = word, places.index(order)
                (self.own_port if word == arc.dependent else self.head_port)[arc.dependent] = port
                self.tops[port] = max(self.tops[port], arc.level)
                self.offsets[port] = (self.box[-1] - wide) // 2 + port[1] * spacing

    def _order(self, word: int, other: int, arc: Arc, arcs: list[tuple[int, Arc]]) -> tuple[int, int]:
        """What the lines at a word are sorted by: the side, and the level there."""
        if other == 0:
            return 0, 0
        side = -1 if other < word else 1
        if not self.medium.shared:
            return side, -side * arc.level
        if word == arc.head:
            return side, 0
        same_side = [a.level for o, a in arcs if o > 0 and o != other and (o < word) == (other < word)]
        return (2 * side if min(same_side, default=0) > arc.level else 0), 0

    def build(self) -> Row:
        """All of it in its place: the words once for labels that nothing crosses, then moved apart for the others."""
        arcs = [arc for arc in self.arcs if arc.head]
        for arc in arcs:
            self._need(*self._ends(arc), self._label_space(arc) + self._mark_space(arc))
        self._need_root_labels()
        self._place()
        stretches = [self._stretch(arc) for arc in arcs]
        self._place()
        for arc, stretch in zip(arcs, stretches, strict=True):
            self._draw(arc, stretch)
        for arc in self.arcs[len(arcs) :]:
            arc.dependent_x = self._line(self.own_port[arc.dependent])
            arc.label_x = arc.dependent_x - self._root_halves(arc.dependent)[0]
        x = [self.x[word] for word in self.words]
        return Row(self.first, self.last, self.arcs, self.levels, x, self.box, self.x[self.last + 1])

    def _need(self, left: Port, right: Port, space: int) -> None:
        """There must be so much free space between two lines."""
        self.needs[right[0]].append((left, space + self.medium.stroke - self.offsets[right]))

    def _place(self) -> None:
        """The leftmost places of the words, and of the right edge, that give all the space needed."""
        self.x = {self.first - 1: -self.medium.stroke}
        edge = 0
        for word, box in zip(self.words, self.box, strict=True):
            self.x[word] = self._leftmost(word, edge)
            edge = self.x[word] + box + self.medium.gap
        self.x[self.last + 1] = self._leftmost(self.last + 1, edge - self.medium.gap)

    def _leftmost(self, word: int, edge: int) -> int:
        return max([edge, *(self._line(left) + space for left, space in self.needs[word])])

    def _line(self, port: Port) -> int:
        return self.x[port[0]] + self.offsets[port]

    def _ends(self, arc: Arc) -> tuple[Port, Port]:
        """Its left and right port; the row's edge for an end elsewhere."""
        edge = self.before if arc.mark < self.first else self.after
        head, own = self.head_port.get(arc.dependent, edge), self.own_port.get(arc.dependent, edge)
        return (head, own) if head < own else (own, head)

    def _label_space(self, arc: Arc) -> int:
        return self.sizes.labels[arc.dependent] + 2 * self.medium.pad

    def _mark_space(self, arc: Arc) -> int:
        """What the name of a word in another row takes, with a gap and the end of the line."""
        return self.sizes.marks[arc.mark] + 3 * self.medium.pad if arc.mark else 0

    def _root_halves(self, root: int) -> tuple[int, int]:
        """What a root's label needs on either side of its line."""
        space = max(0, self.sizes.labels[root] - self.medium.stroke)
        return space // 2, space - space // 2

    def _need_root_labels(self) -> None:
        previous, space = self.before, 0
        for root in self.roots:
            left, right = self._root_halves(root)
            self._need(previous, self.own_port[root], space + left)
            previous, space = self.own_port[root], right + self.medium.gap
        self._need(previous, self.after, max(0, space - self.medium.gap))

    def _stretch(self, arc: Arc) -> tuple[Port, Port]:
        """The longest stretch of the arc that no line crosses: it will have room for the label, that at an edge for the mark."""
        left, right = self._ends(arc)
        crossing = sorted(port for port, top in self.tops.items() if left < port < right and top > arc.level)
        stretches = [pair for pair in pairwise([left, *crossing, right]) if pair[0][0] < pair[1][0]]
        best = max(stretches, key=lambda pair: self._line(pair[1]) - self._line(pair[0]))
        for stretch in stretches if crossing else ():
            at_edge = self.before in stretch or self.after in stretch
            space = self._mark_space(arc) * at_edge + self._label_space(arc) * (stretch == best)
            self._need(*stretch, space)
        return best

    def _draw(self, arc: Arc, stretch: tuple[Port, Port]) -> None:
        left, right = self._ends(arc)
        arc.left, arc.right = self._line(left) + self.medium.stroke, self._line(right)
        if arc.mark != arc.head:
            arc.head_x = self._line(self.head_port[arc.dependent])
        if arc.mark != arc.dependent:
            arc.dependent_x = self._line(self.own_port[arc.dependent])
        space = self.sizes.marks[arc.mark] + self.medium.pad
        if left == self.before:
            arc.mark_x, arc.left = arc.left, arc.left + space
        elif right == self.after:
            arc.mark_x, arc.right = arc.right - self.sizes.marks[arc.mark], arc.right - space
        label_left = max(self._line(stretch[0]) + self.medium.stroke, arc.left)
        label_right = min(self._line(stretch[1]), arc.right)
        arc.label_x = (label_left + label_right - self.sizes.labels[arc.dependent]) // 2
