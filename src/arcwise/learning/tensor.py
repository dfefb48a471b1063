"""Passive-aggressive learning of a low-rank tensor together with the weights of all other features (Lei et al., 2014, section 4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array
from arcwise.features.arcs import distance_code
from arcwise.features.tensor import DISTANCES, Floats, Rows, most_rows, project, tensor_score, word_rows
from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.search.automata import Flags

RANK, BITS = 50, 16
PARTS = ("heads", "modifiers", "distances")
_GREATEST = 1e12  # of what a checkpoint says
STARTS = ("svd", "random")


class TensorChoices(NamedTuple):
    """What is chosen about a tensor. bits, words: as in `Tensor` and `WORDS`. gamma: the scores are gamma times those of the other
    features and (1 - gamma) times the tensor's. start: one of STARTS.
    """

    rank: int
    bits: int
    words: str
    gamma: float
    start: str

    @property
    def share(self) -> float:
        """Of the tensor, beside other features whose weights are in units of gamma."""
        return (1.0 - self.gamma) / self.gamma


class Gradient(NamedTuple):
    """Room for the gradient of a table whose rows are shared by words.

    words: (words, rank), by what words are as heads or as modifiers; active: the words that have one. slots: int32 (2^bits), all -1
    between sentences, the place of a row in `touched` and in `rows`.
    """

    words: Floats
    active: Flags
    slots: NDArray[np.int32]
    touched: Rows
    rows: Floats


class TensorTraining(NamedTuple):
    """A tensor in training, laid out as `Tensor` has it, and room for a sentence.

    share: what T is multiplied by, when the other scores are as they are. heads, modifiers, distances: U, V and W, W_r0 first.
    moved: of each the sum over all moves of the move times the number of steps made before, as in `Training`. rows, counts: the
    features of the words. as_head, as_modifier: what words are; both: W_r0 + W_r,d. of_heads, of_modifiers, of_distances: the
    gradient of the difference of two trees.
    """

    sides: NDArray[np.int32]
    bits: int
    share: float
    heads: Floats
    modifiers: Floats
    distances: Floats
    moved_heads: Floats
    moved_modifiers: Floats
    moved_distances: Floats
    rows: Rows
    counts: NDArray[np.int32]
    as_head: Floats
    as_modifier: Floats
    both: Floats
    of_heads: Gradient
    of_modifiers: Gradient
    of_distances: Floats


def tensor_format(bits: int, rank: int) -> dict[str, Array]:
    """What U, V and W and the sums of their moves must be."""
    shapes = ((1 << bits, rank), (1 << bits, rank), (DISTANCES, rank))
    names = (*PARTS, *(f"moved_{name}" for name in PARTS))
    return {
        f"tensor_{name}": Array(np.float32, shape, least=-_GREATEST, most=_GREATEST)
        for name, shape in zip(names, 2 * shapes, strict=True)
    }


def make_tensor_training(
    sides: NDArray[np.int32], share: float, state: dict[str, NDArray[Any]], longest: int
) -> TensorTraining:
    """With room for sentences of up to `longest` words. state: U, V, W and the sums of their moves, changed in place."""
    heads, modifiers, distances = (state[f"tensor_{name}"] for name in PARTS)
    moved = [state[f"tensor_moved_{name}"] for name in PARTS]
    count, rank = heads.shape
    most, words = most_rows(sides), (longest + 1, rank)

    def gradient() -> Gradient:
        touched = min((longest + 1) * most, count)
        return Gradient(
            np.zeros(words, np.float32), np.zeros(longest + 1, np.bool_), np.full(count, -1, np.int32),
            np.zeros(touched, np.uint32), np.zeros((touched, rank), np.float32),
        )  # fmt: skip

    return TensorTraining(
        sides, count.bit_length() - 1, share, heads, modifiers, distances, moved[0], moved[1], moved[2],
        np.zeros((longest + 1, most), np.uint32), np.zeros(longest + 1, np.int32),
        np.zeros(words, np.float32), np.zeros(words, np.float32), np.zeros((DISTANCES, rank), np.float32),
        gradient(), gradient(), np.zeros((DISTANCES, rank), np.float32),
    )  # fmt: skip


@kernel
def begin_tensor(
    tensor: TensorTraining | None, numbers: NDArray[np.int32], graph: Graph, arcs: NDArray[np.float64]
) -> None:
    """Add the tensor's scores to those of the arcs of a sentence; everything below is then about it. O(n |phi| rank) and O(rank) an
    arc. Nothing, if there is no tensor.
    """
    if tensor is None:
        return
    for word in range(len(numbers)):
        count = word_rows(numbers, word, tensor.sides, tensor.bits, tensor.rows[word])
        tensor.counts[word] = count
        project(tensor.heads, tensor.rows[word, :count], tensor.as_head[word])
        project(tensor.modifiers, tensor.rows[word, :count], tensor.as_modifier[word])
    for d in range(1, DISTANCES):
        for r in range(tensor.both.shape[1]):
            tensor.both[d, r] = tensor.distances[0, r] + tensor.distances[d, r]
    for b in range(1, len(graph.head)):
        score = tensor_score(
            tensor.as_head, tensor.as_modifier, tensor.both, graph.head[b], graph.modifier[b]
        )
        arcs[b] += tensor.share * score


@kernel
def _collect_rows(tensor: TensorTraining, gradient: Gradient, words: int) -> float:
    """Bring the gradients of words to the rows of their features; returns its squared norm."""
    number, rank, square = 0, gradient.rows.shape[1], 0.0
    for word in range(words):
        if not gradient.active[word]:
            continue
        for k in range(tensor.counts[word]):
            row = tensor.rows[word, k]
            if gradient.slots[row] < 0:
                gradient.slots[row] = number
                gradient.touched[number] = row
                gradient.rows[number] = 0
                number += 1
            target, source = gradient.rows[gradient.slots[row]], gradient.words[word]
            for r in range(rank):
                target[r] += source[r]
    for k in range(number):
        for r in range(rank):
            square += np.float64(gradient.rows[k, r]) ** 2
    return square


@kernel
def tensor_difference(
    tensor: TensorTraining | None, graph: Graph, found: Flags, right: Flags
) -> tuple[float, float]:
    """How much higher the tensor scores the right tree than the one found, and the squared norm of that difference's gradient."""
    if tensor is None:
        return 0.0, 0.0
    of_heads, of_modifiers, of_distances = tensor.of_heads, tensor.of_modifiers, tensor.of_distances
    words, rank, margin = len(graph.position), of_distances.shape[1], 0.0
    of_heads.active[:words], of_modifiers.active[:words] = False, False
    of_heads.words[:words], of_modifiers.words[:words], of_distances[:] = 0, 0, 0
    for b in range(1, len(graph.head)):
        if found[b] == right[b]:
            continue
        h, m, sign = graph.head[b], graph.modifier[b], np.float32(1.0 if right[b] else -1.0)
        d = distance_code(h, m)
        of_heads.active[h], of_modifiers.active[m] = True, True
        head, modifier, both = tensor.as_head[h], tensor.as_modifier[m], tensor.both[d]
        of_head, of_modifier, of_distance = of_heads.words[h], of_modifiers.words[m], of_distances[d]
        for r in range(rank):
            of_head[r] += sign * modifier[r] * both[r]
            of_modifier[r] += sign * head[r] * both[r]
            of_distance[r] += sign * head[r] * modifier[r]
        margin += float(sign) * tensor_score(tensor.as_head, tensor.as_modifier, tensor.both, h, m)
    square = 0.0
    for r in range(rank):
        for code in range(1, DISTANCES):
            of_distances[0, r] += of_distances[code, r]
        for code in range(DISTANCES):
            square += np.float64(of_distances[code, r]) ** 2
    square += _collect_rows(tensor, of_heads, words) + _collect_rows(tensor, of_modifiers, words)
    return tensor.share * margin, tensor.share**2 * square


@kernel
def _move_rows(
    gradient: Gradient, words: int, tensor: TensorTraining, by: np.float32, step: np.float32, table: Floats, moved: Floats
) -> None:  # fmt: skip
    """Move the rows that have a gradient, each once, and clear it."""
    for word in range(words):
        if not gradient.active[word]:
            continue
        for k in range(tensor.counts[word]):
            row = tensor.rows[word, k]
            slot = gradient.slots[row]
            if slot < 0:
                continue
            gradient.slots[row] = -1
            source, target, sums = gradient.rows[slot], table[row], moved[row]
            for r in range(len(source)):
                move = by * source[r]
                target[r] += move
                sums[r] += move * step


@kernel
def move_tensor(tensor: TensorTraining | None, words: int, length: float, step: int) -> None:
    """Move U, V and W, all together, along the gradient of `tensor_difference`, and clear it. step: how many were made before."""
    if tensor is None:
        return
    by, before = np.float32(length * tensor.share), np.float32(step)
    _move_rows(tensor.of_heads, words, tensor, by, before, tensor.heads, tensor.moved_heads)
    _move_rows(tensor.of_modifiers, words, tensor, by, before, tensor.modifiers, tensor.moved_modifiers)
    for d in range(DISTANCES):
        for r in range(tensor.of_distances.shape[1]):
            move = by * tensor.of_distances[d, r]
            tensor.distances[d, r] += move
            tensor.moved_distances[d, r] += move * before


def mean_tensor(tensor: TensorTraining, steps: int) -> dict[str, Floats]:
    """The means of U, V and W after each of the steps made, W times `share`, as they are scored with."""
    means = {
        name: getattr(tensor, name) - getattr(tensor, f"moved_{name}") / np.float32(max(steps, 1))
        for name in PARTS
    }
    return means | {"distances": means["distances"] * np.float32(tensor.share)}
