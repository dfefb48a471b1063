"""Where a low-rank tensor begins: the best approximation of what one pass of the sparse first-order model learns (Lei et al., 2014,
section 4.2). From there, learning begins anew with other weights of zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import distance_code
from arcwise.features.part_templates import no_part_templates
from arcwise.features.tensor import DISTANCES, Rows, compile_words, most_rows, project, word_rows
from arcwise.features.tokens import longest_sentence
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.oracles import best_tree
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import Space, make_scratch, space_size
from arcwise.learning.tensor import PARTS, TensorChoices

Matrix = NDArray[np.float32]

_SPARE, _ITERATIONS, _SEED = 10, 6, 0
_NEGLIGIBLE = 1e-12  # of the greatest: a square that is nothing but rounding
_TOGETHER = 10  # ranks whose right singular vectors are held at a time
_MOST_ARCS = 200_000  # mistakes that the start is made of
_MARGIN = 0.3  # of the tensor at the start: how much higher it scores a right arc than one found instead, on average
_NOISE = 0.1  # of a random start: what a word is, on average


class Mistakes(NamedTuple):
    """Arcs of right trees and arcs found instead: the rows of `numbers` of their heads and modifiers, their distance codes, and +1 or
    -1. In order of the codes: those of code d are from first[d] to first[d + 1].
    """

    heads: NDArray[np.int64]
    modifiers: NDArray[np.int64]
    signs: NDArray[np.float32]
    first: NDArray[np.int64]


class Words(NamedTuple):
    """The features of all words of a corpus: rows[i, :counts[i]] of its row i."""

    rows: Rows
    counts: NDArray[np.int32]


@kernel
def _all_words(
    numbers: NDArray[np.int32], starts: NDArray[np.int64], sides: NDArray[np.int32], bits: int
) -> Words:
    rows = np.empty((len(numbers), most_rows(sides)), np.uint32)
    counts = np.empty(len(numbers), np.int32)
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            counts[i] = word_rows(numbers[starts[s] : starts[s + 1]], i - starts[s], sides, bits, rows[i])
    return Words(rows, counts)


@kernel
def _codes(heads: NDArray[np.int64], modifiers: NDArray[np.int64]) -> NDArray[np.int64]:
    codes = np.empty(len(heads), np.int64)
    for k in range(len(heads)):
        codes[k] = distance_code(heads[k], modifiers[k])
    return codes


@kernel
def _gather(words: Words, at: NDArray[np.int64], table: Matrix) -> Matrix:
    """Of some words, the sums of the rows of a table."""
    sums = np.empty((len(at), table.shape[1]), np.float32)
    for k in range(len(at)):
        project(table, words.rows[at[k], : words.counts[at[k]]], sums[k])
    return sums


@kernel
def _scatter(words: Words, at: NDArray[np.int64], values: Matrix, table: Matrix) -> None:
    """Add values to the rows of a table, for each word to those of its features."""
    for k in range(len(at)):
        for j in range(words.counts[at[k]]):
            row, value = table[words.rows[at[k], j]], values[k]
            for r in range(len(row)):
                row[r] += value[r]


@kernel
def _products(left: Matrix, right: Matrix) -> NDArray[np.float64]:
    """The products of the columns of two tall matrices. Not BLAS, whose sums may depend on the number of threads."""
    sums = np.zeros((left.shape[1], right.shape[1]))
    for i in range(len(left)):
        for r in range(left.shape[1]):
            value, row, target = np.float64(left[i, r]), right[i], sums[r]
            for k in range(len(row)):
                target[k] += value * row[k]
    return sums


@kernel
def _turned(tall: Matrix, turn: NDArray[np.float64]) -> Matrix:
    """A tall matrix times a small one."""
    product, small, total = (
        np.empty((len(tall), turn.shape[1]), np.float32),
        turn.copy(),
        np.empty(turn.shape[1]),
    )
    for i in range(len(tall)):
        total[:] = 0.0
        for r in range(tall.shape[1]):
            value, row = np.float64(tall[i, r]), small[r]
            for k in range(len(row)):
                total[k] += value * row[k]
        product[i] = total
    return product


def _orthonormal(basis: Matrix) -> Matrix:
    """A basis of the same space; columns of zeros, where it has fewer dimensions. Much faster than a QR decomposition."""
    for _ in range(2):  # once more for what the first time lost in rounding
        squares, turn = np.linalg.eigh(_products(basis, basis))
        kept = squares > _NEGLIGIBLE * squares[-1]
        basis = _turned(basis, turn * np.where(kept, 1 / np.sqrt(np.where(kept, squares, 1.0)), 0.0))
    return basis


def find_mistakes(
    corpus: Corpus, pruned: PrunedCorpus, space: Space, single_root: bool, order: NDArray[np.int64]
) -> Mistakes:
    """What one pass of MIRA gets wrong, with arcs alone."""
    from arcwise.learning.online import LEARNERS, Training, add_costs, begin_lesson, complete, end_lesson

    learner = LEARNERS["mira"]
    templates = space.templates._replace(end=space.templates.labels)
    space = space._replace(templates=templates, parts=no_part_templates(), allowed=space.allowed[:, :0])
    size = space_size(space)
    training = Training(np.zeros(size, np.float32), np.zeros(size), np.zeros(size, np.int16))
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    found: list[NDArray[np.int64]] = []
    for step, s in enumerate(order.tolist()):
        lesson, whole = begin_lesson(corpus, pruned, s, None, space, training, scratch)
        for completing in (True, False):
            if completing and whole:
                continue
            add_costs(corpus, s, None, learner, completing, lesson)
            best_tree(None, lesson.graph, lesson.levels, lesson.tables, single_root, lesson.up)
            if completing:
                complete(lesson)
        lesson.found[:] = False
        lesson.found[lesson.up[1:]] = True
        end_lesson(corpus, s, None, space, learner, step, training, scratch, lesson, None)
        wrong = np.flatnonzero(lesson.found != lesson.right)
        begin = np.full(len(wrong), corpus.starts[s])
        heads, modifiers = lesson.graph.head[wrong] + begin, lesson.graph.modifier[wrong] + begin
        found.append(np.stack([heads, modifiers, 2 * lesson.right[wrong].astype(np.int64) - 1]))
    heads, modifiers, signs = np.concatenate(found, axis=1)[:, -_MOST_ARCS:]
    codes = _codes(heads, modifiers)
    sort = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[sort], np.arange(DISTANCES + 1))
    return Mistakes(heads[sort], modifiers[sort], signs[sort].astype(np.float32), first)


def _by_distance(mistakes: Mistakes) -> list[slice]:
    """All mistakes, and those of each distance code."""
    first = mistakes.first.tolist()
    return [slice(None), *(slice(first[d], first[d + 1]) for d in range(1, DISTANCES))]


def decompose(mistakes: Mistakes, words: Words, size: int, rank: int) -> tuple[Matrix, Matrix, Matrix]:
    """U, V and W, whose ranks are orthogonal in U: the singular vectors of the matrix of head features by modifier features and
    distances, sum over mistakes of sign * phi(head) x (phi(modifier) x (e_0 + e_d)), the right ones each split by the best
    approximation of rank one.

    Randomized subspace iteration (Halko, Martinsson and Tropp, 2011), which only multiplies by the matrix: O(mistakes |phi| rank) an
    iteration, and O(size rank) memory.
    """
    width = min(rank + _SPARE, size)
    groups, signs = _by_distance(mistakes), mistakes.signs[:, None]

    def transposed(values: Matrix, group: slice) -> Matrix:
        """Of the right side, the rows of one distance, times values of the mistakes."""
        table = np.zeros((size, values.shape[1]), np.float32)
        _scatter(words, mistakes.modifiers[group], values[group], table)
        return table

    def squared(values: Matrix) -> Matrix:
        """The right side times its transpose, both of the mistakes."""
        total = np.zeros_like(values)
        for group in groups:
            total[group] += _gather(words, mistakes.modifiers[group], transposed(values, group))
        return total

    basis = np.random.default_rng(_SEED).standard_normal((size, width)).astype(np.float32)
    for _ in range(_ITERATIONS):
        basis = _orthonormal(basis)
        values = squared(signs * _gather(words, mistakes.heads, basis))
        basis = np.zeros_like(basis)
        _scatter(words, mistakes.heads, signs * values, basis)
    basis = _orthonormal(basis)
    values = signs * _gather(words, mistakes.heads, basis)
    squares, turn = np.linalg.eigh(_products(values, squared(values)))
    largest = np.argsort(-squares, kind="stable")[:rank]
    heads, values = _turned(basis, turn[:, largest]), _turned(values, turn[:, largest])
    modifiers, distances = np.empty_like(heads), np.empty((DISTANCES, len(largest)), np.float32)
    for begin in range(0, len(largest), _TOGETHER):
        some = np.ascontiguousarray(values[:, begin : begin + _TOGETHER])
        right = np.stack([transposed(some, group) for group in groups], axis=1)  # times the singular values
        for r in range(some.shape[1]):
            both = np.ascontiguousarray(right[:, :, r])
            distances[:, begin + r] = np.linalg.eigh(both.T @ both)[1][:, -1]
            modifiers[:, begin + r] = both @ distances[:, begin + r]
    return heads, modifiers, distances


def begin_state(
    choices: TensorChoices, corpus: Corpus, pruned: PrunedCorpus, space: Space, single_root: bool
) -> dict[str, NDArray[Any]]:
    """U, V and W before the first step, and no moves, as `make_tensor_training` takes them. O(one epoch of arcs alone)."""
    size, sides, rank = 1 << choices.bits, compile_words(choices.words), choices.rank
    random = np.random.default_rng(_SEED)
    order = random.permutation(len(corpus.starts) - 1)
    mistakes = find_mistakes(corpus, pruned, space, single_root, order)
    words = _all_words(corpus.numbers, corpus.starts, sides, choices.bits)
    if choices.start == "random":
        scale = _NOISE / np.sqrt(words.counts.mean())
        shapes = ((size, rank), (size, rank), (DISTANCES, rank))
        tables = [scale * random.standard_normal(shape) for shape in shapes]
        tables[2] *= _NOISE / scale
    else:
        tables = balanced(mistakes, words, *decompose(mistakes, words, size, rank), choices.share)
    state = {}
    for name, table in zip(PARTS, tables, strict=True):
        state[f"tensor_{name}"] = np.ascontiguousarray(table, np.float32)
        state[f"tensor_moved_{name}"] = np.zeros(table.shape, np.float32)
    return state


def balanced(
    mistakes: Mistakes, words: Words, heads: Matrix, modifiers: Matrix, distances: Matrix, share: float
) -> list[NDArray[Any]]:
    """The same tensor but for a factor, such that it scores right arcs by _MARGIN higher than those found instead, on average, and
    that in each rank words as heads, words as modifiers and distances are equally large, on average over the mistakes.
    """
    values = [
        _gather(words, at, table) for at, table in ((mistakes.heads, heads), (mistakes.modifiers, modifiers))
    ]
    both = np.empty_like(values[0])
    for d, group in enumerate(_by_distance(mistakes)):
        both[group] = distances[0] + (distances[d] if d else 0)
    values.append(both)
    sizes = np.stack([np.sqrt(np.mean(np.square(value, dtype=np.float64), axis=0)) for value in values])
    sizes[sizes == 0] = 1
    margin = np.einsum("kr,kr,kr,k->", *values, mistakes.signs, dtype=np.float64) / max(len(both) / 2, 1)
    factor = np.cbrt(_MARGIN / (share * margin) if margin > 0 else 1.0)
    equal = factor * np.cbrt(sizes.prod(axis=0))
    return [table * (equal / size) for table, size in zip((heads, modifiers, distances), sizes, strict=True)]
