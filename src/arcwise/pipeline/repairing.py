"""Trees that violate people's constraints, and the best ones that do not in their place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints import Constraint
from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.best_trees import repeat
from arcwise.pipeline.constrained_sentences import Given, constrained_tree, tree_finder
from arcwise.pipeline.constraining import compile_for, conflict, only_groups, violating
from arcwise.pipeline.dual_sentences import Effort
from arcwise.pipeline.forest import Floats, Rows
from arcwise.pipeline.group_sentences import repair_groups
from arcwise.pipeline.keeping import Kept
from arcwise.pipeline.parsed import Numbered, Trees
from arcwise.pipeline.sentences import Weights
from arcwise.search.branching import Relaxed
from arcwise.treebank.block import Block
from arcwise.trees.shapes import ANY

_MOST_SCORES = 1 << 22  # of arcs of a block that are held until its trees satisfy constraints
Each = list[tuple[Constraint, ...]]  # the constraints on each sentence


def room_for_scores(rows: Rows, each: Each, keep: bool, weights: Weights) -> Floats:
    """Room for the scores of all arcs, if `repair_groups` is to have them."""
    squares = int((np.diff(rows.starts) ** 2).sum())
    quick = only_groups(each) and squares <= _MOST_SCORES and weights.shape == ANY
    return np.empty(squares if quick and not (keep or weights.dual or weights.projective) else 0)


class Repairing(NamedTuple):
    """How a parser finds trees. labels, allowed: the model's. longest: words of a sentence. scale: of scores."""

    weights: Weights
    effort: Effort
    projective: bool
    labels: tuple[str, ...]
    allowed: NDArray[np.bool_]
    longest: int
    scale: float

    def repair(
        self, block: Block, kept: Kept, numbered: Numbered, trees: Trees, each: Each, arc_scores: Floats
    ) -> Trees:
        """The trees of a block, with others in place of those that violate constraints. arc_scores: `room_for_scores`, filled."""
        repaired = np.zeros(len(block), np.bool_)
        repaired[violating(block, each, kept.names, trees.heads, trees.labels)] = True
        for long in np.flatnonzero(repaired & ~trees.whole):
            raise InputError(
                f"the tree of a sentence of {np.diff(block.words)[long]} words, parsed in pieces, violates constraints",
                expected=f"{self.longest} words at most where there are constraints",
                file=block.file or None, line=int(block.lines[long]),
            )  # fmt: skip
        left = np.flatnonzero(repaired)
        if len(arc_scores) and len(left):
            left = self._repair_groups(block, numbered, trees, each[0], arc_scores, left)
        for i in left.tolist():
            self._repair_one(block, i, kept, numbered, trees, each[i])
        return trees._replace(repaired=repaired)

    def _repair_groups(
        self, block: Block, numbered: Numbered, trees: Trees, groups: tuple[Constraint, ...], arc_scores: Floats,
        left: NDArray[np.intp],
    ) -> NDArray[np.intp]:  # fmt: skip
        """Repair sentences in one call of a kernel, and give those that it left."""
        rows, pieces = numbered.rows, numbered.firsts[left]
        bits = np.zeros(self.weights.labels.shape[1], np.int64)
        for bit, group in enumerate(compile_for(block, 0, groups, self.labels).groups):
            bits[: len(group)] |= group.astype(np.int64) << bit
        scores = rows.scores.copy()
        repair_groups(
            rows.numbers, rows.starts, self.weights, pieces, bits, arc_scores, rows.heads, rows.labels, scores
        )
        done = scores[pieces] > -np.inf
        words = repeat(block.words, left[done])
        trees.heads[words] = rows.heads[numbered.words[words]]
        trees.labels[words] = rows.labels[numbered.words[words]]
        trees.scores[left[done]] = trees.bounds[left[done]] = scores[pieces[done]] * self.scale
        return left[~done]

    def _repair_one(
        self, block: Block, i: int, kept: Kept, numbered: Numbered, trees: Trees, constraints: tuple[Constraint, ...]
    ) -> None:  # fmt: skip
        """Repair a sentence; InputError if no tree satisfies its constraints."""
        rows, piece = numbered.rows, numbered.firsts[i]
        begin, end = block.words[i : i + 2].tolist()
        allowed = np.zeros((2, len(kept.names)), np.bool_)
        allowed[:, : len(self.labels)] = self.allowed
        in_file = kept.heads[begin:end] == block.heads[begin:end]  # not implied by a label
        given = Given(
            compile_for(block, i, constraints, kept.names),
            _with_root(np.where(in_file, kept.heads[begin:end], ANY_HEAD)),
            _with_root(kept.labels[begin:end]),
            allowed,
        )
        numbers = rows.numbers[rows.starts[piece] : rows.starts[piece + 1]]
        known = Relaxed(_with_root(trees.heads[begin:end]), rows.scores[piece], rows.bounds[piece])
        found = constrained_tree(numbers, self.weights, given, known, self.effort, self.projective)
        if found is None:
            find_tree = tree_finder(self.weights, self.effort, self.projective)
            raise conflict(block, i, constraints, kept.names, given, find_tree)
        trees.heads[begin:end], trees.labels[begin:end] = found.heads[1:], found.labels[1:]
        trees.scores[i], trees.bounds[i] = found.score * self.scale, found.bound * self.scale


def _with_root(column: NDArray[np.int32]) -> NDArray[np.int32]:
    """A column of the words 1..n with an entry for the root before it."""
    return np.concatenate([np.full(1, -1, np.int32), column])
