"""Which of a sentence's trees are asked for: the best, the k best, or the one with the most right arcs to expect."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.pipeline.forest import Floats, Heads, Mixture, Rows, find_forests, sum_mixture
from arcwise.pipeline.sampled_forest import SampledForest
from arcwise.pipeline.sentences import Weights
from arcwise.treebank.block import Block, index_block

_NOTHING = np.empty(0)


class Best(NamedTuple):
    """Trees of a sentence: their heads by word, (trees, n); the probabilities of the arcs likewise, empty if not asked for, and
    their standard errors, empty where sums are exact; the logarithms of the partition functions, by temperature, with their
    standard errors; and the score that goes with these, NaN if it is the one that the search finds.
    """

    heads: Heads
    arcs: Floats
    arc_errors: Floats
    log_partitions: Floats
    errors: Floats
    score: float = np.nan


def no_probabilities(heads: Heads, temperatures: int) -> Best:
    """One tree, of which nothing else is known."""
    nothing = np.full(temperatures, np.nan)
    return Best(
        heads[np.newaxis],
        np.full((1, len(heads)), np.nan),
        np.full((1, len(heads)), np.nan),
        nothing,
        nothing,
    )


def best_trees(
    rows: Rows, whole: NDArray[np.bool_], weights: Weights, mixture: Mixture,
    *, k: int = 1, min_risk: bool = False, confidence: bool = False,
) -> list[Best | None]:  # fmt: skip
    """The k best trees, or all if there are fewer, or the one of least risk, of the sentences marked in `whole`; None for the others.

    Among the arcs that the pruner keeps and the trees with what is given; None, too, if there is none. The first of the best is
    the one that the search finds, and `rows` is filled with it. Exact, but of forests that are sampled: these have no k best trees,
    and least risk by the estimated probabilities of arcs. O(n^3) a sentence, O(k n^3) if k > 1. confidence: with the
    probabilities of arcs.
    """
    found: list[Best | None] = [None] * len(whole)
    for first, last, forest in find_forests(rows, whole, weights):
        part = rows.part(first, last)
        sums = sum_mixture(forest, mixture, confidence or min_risk)
        if k > 1:
            assert not isinstance(forest, SampledForest)
            trees = forest.k_best(k)
        else:
            heads = forest.min_risk(sums.arcs) if min_risk else part.heads
            if min_risk and isinstance(
                forest, SampledForest
            ):  # so that these trees, too, count whatever is drawn
                sums = sum_mixture(forest._replace(trees=np.stack([part.heads, heads])), mixture)
            trees = [tree[np.newaxis, 1:] for tree in np.split(heads, part.starts[1:-1])]
        arcs = errors = [_NOTHING] * len(trees)
        if confidence:
            arcs = _of_trees(forest.squares(sums.arcs), trees)
        if confidence and len(sums.arc_errors):
            errors = _of_trees(forest.squares(sums.arc_errors), trees)
        scores = sums.scores if len(sums.scores) else np.full(len(trees), np.nan)
        found[first:last] = map(
            Best, trees, arcs, errors, sums.log_partitions.T, sums.errors.T, scores.tolist()
        )
    return found


def _of_trees(squares: list[Floats], trees: list[Heads]) -> list[Floats]:
    """What matrices hold of the arcs of trees."""
    return [P[heads, np.arange(1, len(P))] for P, heads in zip(squares, trees, strict=True)]


def repeat(bounds: NDArray[np.integer], sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of the sentences `sources`, one after another; bounds: where each sentence begins, and the end.

    >>> repeat(np.array([0, 2, 5]), np.array([1, 0, 0]))
    array([2, 3, 4, 0, 1, 0, 1])
    """
    sizes = np.diff(bounds)[sources]
    begins = np.cumsum(sizes) - sizes
    rows: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(bounds[sources] - begins, sizes)
    return rows


def repeated(block: Block, sources: NDArray[np.int64]) -> Block:
    """The block of its sentences `sources`, one after another, each said to begin where it does in the file."""
    text, bounds = block.data.tobytes(), block.sentence_bytes.tolist()
    sentences = [text[begin:end] for begin, end in pairwise(bounds)]
    if not sentences[-1].endswith(b"\n\n"):  # some formats do not ask for it after the last
        sentences[-1] = sentences[-1].rstrip(b"\n") + b"\n\n"
    data = b"".join([sentences[source] for source in sources])
    copies, _ = index_block(data, block.format, file=block.file, check_trees=False)
    copies.lines = block.lines[sources]
    return copies
