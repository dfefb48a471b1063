"""What the trees of a treebank look like: their shapes, lengths, arcs, labels and roots, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.kernels import kernel
from arcwise.treebank.block import DEPREL, Block
from arcwise.trees.blocks import count_blocks
from arcwise.trees.edges import count_edge_degrees
from arcwise.trees.nesting import one_inherit, well_nested
from arcwise.trees.preorder import preorder
from arcwise.trees.shapes import ANY, ONE_INHERIT, PROJECTIVE, Shape


@dataclass(slots=True)
class Structure:
    """Counts of a treebank. Those of two treebanks add up with `+`.

    lengths: sentences of so many words. block_degrees: trees of this block degree, and well-nested or not.
    edge_degrees: trees of this edge degree. roots: trees with so many roots. arc_lengths: arcs of this length
    between words, negative if the modifier stands to the left of its head. labels: arcs with this label.
    one_inherit: 1-inherit trees. nonprojective_arcs: arcs that jump over a word that is no descendant of the
    head. skipped: sentences left out.
    """

    lengths: Counter[int] = field(default_factory=Counter)
    block_degrees: Counter[tuple[int, bool]] = field(default_factory=Counter)
    edge_degrees: Counter[int] = field(default_factory=Counter)
    roots: Counter[int] = field(default_factory=Counter)
    arc_lengths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    one_inherit: int = 0
    nonprojective_arcs: int = 0
    skipped: int = 0

    def __add__(self, other: Structure) -> Structure:
        return Structure(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    @property
    def sentences(self) -> int:
        return self.lengths.total()

    @property
    def words(self) -> int:
        return sum(length * sentences for length, sentences in self.lengths.items())

    @property
    def nonprojective_sentences(self) -> int:
        return self.sentences - self.block_degrees[1, True]

    @property
    def ill_nested(self) -> int:
        return sum(sentences for (_, nested), sentences in self.block_degrees.items() if not nested)

    @property
    def classes(self) -> dict[Shape, int]:
        """How many trees belong to each class, the smallest first: block degrees up to the greatest there is, but 2 at least."""
        found = {PROJECTIVE: self.block_degrees[1, True], ONE_INHERIT: self.one_inherit}
        for degree in range(2, max([2, *(degree for degree, _ in self.block_degrees)]) + 1):
            for nested in (True, False):
                found[Shape(degree, nested)] = sum(
                    trees
                    for (blocks, well), trees in self.block_degrees.items()
                    if blocks <= degree and well >= nested
                )
        return found | {Shape(well_nested=True): self.sentences - self.ill_nested, ANY: self.sentences}

    @property
    def several_roots(self) -> int:
        return self.sentences - self.roots[1]

    @property
    def mean_length(self) -> float:
        """The mean number of words of a sentence; 0 if there is none."""
        return self.words / max(1, self.sentences)

    @property
    def median_length(self) -> float:
        """The median number of words of a sentence; 0 if there is none."""
        lengths = sorted(self.lengths)
        shorter = np.cumsum([self.lengths[length] for length in lengths])
        middle = np.searchsorted(shorter, [(self.sentences - 1) // 2, self.sentences // 2], side="right")
        return float(np.take(lengths, middle).mean()) if lengths else 0.0

    @property
    def longest(self) -> int:
        return max(self.lengths, default=0)

    @property
    def mean_arc_length(self) -> float:
        """The mean distance of head and modifier, arcs from the root left out; 0 if there are none."""
        total = sum(abs(length) * arcs for length, arcs in self.arc_lengths.items())
        return total / max(1, self.arc_lengths.total())

    @property
    def left_arcs(self) -> int:
        """Arcs whose modifier stands to the left of its head."""
        return sum(arcs for length, arcs in self.arc_lengths.items() if length < 0)


def measure_structure(
    blocks: Iterable[Block], *, skip_bad: bool = False, on_block: Callable[[Block], None] | None = None
) -> Structure:
    r"""Count the shapes, lengths, arcs, labels and roots of all trees in the blocks of a treebank.

    One kernel call a block. Time linear in the words for projective trees, O(n^2) a sentence at most; memory
    of one block. A sentence that is no tree (a missing head or a cycle) is an InputError; with `skip_bad` it
    is left out and counted. `on_block` is called after each block.

    >>> from arcwise.treebank.block import index_block
    >>> from arcwise.treebank.formats import CONLLX
    >>> rows = ["1\tgo\t_\tV\tV\t_\t0\troot\t_\t_", "2\ton\t_\tR\tR\t_\t1\tadvmod\t_\t_", "", ""]
    >>> structure = measure_structure([index_block("\n".join(rows).encode(), CONLLX)[0]])
    >>> structure.sentences, structure.words, structure.labels["advmod"]
    (1, 2, 1)
    """
    structure = Structure()
    for block in blocks:
        structure += _measure_block(block, skip_bad)
        if on_block is not None:
            on_block(block)
    return structure


def smallest_class(structure: Structure, share: float = 0.99) -> Shape:
    """The first of the `classes` that at least this share of the trees belongs to; ANY if there are no trees.

    Corro et al. (2016), Section 7.1, choose so among bounded block degrees with and without well-nestedness.

    >>> degrees = Counter({(1, True): 190, (2, True): 9, (2, False): 1})
    >>> structure = Structure(lengths=Counter({9: 200}), block_degrees=degrees, one_inherit=195)
    >>> str(smallest_class(structure)), str(smallest_class(structure, 0.95)), str(smallest_class(structure, 1.0))
    ('2-well-nested', 'projective', '2')
    """
    sentences = max(1, structure.sentences)
    return next((shape for shape, trees in structure.classes.items() if trees / sentences >= share), ANY)


def _measure_block(block: Block, skip_bad: bool) -> Structure:
    shapes = np.empty((len(block), 6), np.int32)
    _measure_shapes(block.words, block.heads, shapes)
    whole = shapes[:, 0] > 0
    if not skip_bad and not whole.all():
        raise _no_tree(block, int(whole.argmin()))
    lengths = np.diff(block.words)
    modifiers = np.arange(len(block.heads)) - np.repeat(block.words[:-1], lengths) + 1
    counted = np.repeat(whole, lengths)
    between_words = counted & (block.heads > 0)
    labels = block.column(DEPREL)
    block_degrees, nested, inherit, edge_degrees, nonprojective, roots = shapes[whole].T
    return Structure(
        lengths=_tally(lengths[whole]),
        block_degrees=Counter(zip(block_degrees.tolist(), (nested == 1).tolist(), strict=True)),
        edge_degrees=_tally(edge_degrees),
        roots=_tally(roots),
        arc_lengths=_tally((modifiers - block.heads)[between_words]),
        labels=Counter(compress(labels, counted.tolist())),
        one_inherit=int(inherit.sum()),
        nonprojective_arcs=int(nonprojective.sum()),
        skipped=len(block) - int(whole.sum()),
    )


def _no_tree(block: Block, sentence: int) -> InputError:
    heads = block.heads[block.words[sentence] : block.words[sentence + 1]]
    found = "a word without a head" if (heads < 0).any() else "a cycle"
    line = int(block.lines[sentence])
    return InputError(f"a sentence with {found}", expected="a tree", file=block.file, line=line)


def _tally(values: NDArray[np.integer]) -> Counter[int]:
    found, counts = np.unique(values, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


@kernel
def _measure_shapes(words: NDArray[np.int32], heads: NDArray[np.int32], shapes: NDArray[np.int32]) -> None:
    """A row per sentence: block degree, well-nested, 1-inherit, edge degree, non-projective arcs, roots.

    A sentence that is no tree has block degree 0.
    """
    for sentence in range(len(shapes)):
        row = shapes[sentence]
        row[:] = 0
        start, stop = words[sentence], words[sentence + 1]
        tree = np.empty(stop - start + 1, np.int32)
        tree[0] = -1
        tree[1:] = heads[start:stop]
        if tree[1:].min() < 0:
            continue
        order, position, size = preorder(tree)
        if size[0] < len(tree):
            continue
        blocks = count_blocks(tree, position, size)
        row[0] = blocks.max()
        row[1] = row[2] = 1
        row[5] = (tree == 0).sum()
        if row[0] > 1:
            row[1] = well_nested(order, position, size, blocks)
            row[2] = row[1] and one_inherit(order, position, size, blocks)
            degrees = count_edge_degrees(tree, position, size)
            row[3] = degrees.max()
            row[4] = (degrees > 0).sum()
