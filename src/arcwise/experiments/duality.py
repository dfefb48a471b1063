"""What Koo's appendix A proves, on real sentences: the gap between the log-linear primal and dual closes geometrically.

First order over all trees, without labels, with the treebank's own tags, on the first sentences of its training file. Online
exponentiated gradient with a fixed rate; the probabilities of all parts are counted at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arcwise.experiments.learners import treebank_files
from arcwise.features.moves import Move
from arcwise.learning.corpus import select_sentences, whole_trees
from arcwise.learning.exponentiated import (
    BETA,
    LOG_LINEAR,
    Duals,
    begin_duals,
    dual_sizes,
    exponentiated_epoch,
)
from arcwise.learning.gradients import gradient_epoch
from arcwise.learning.space import space_size
from arcwise.pipeline.options import Options, Watcher
from arcwise.pipeline.training_data import read_training_data
from arcwise.pipeline.training_run import TrainingRun

_TINY = 1e-12  # rounding may leave no gap at all
SENTENCES, EPOCHS, RATE, PENALTY = 500, 60, 0.1, 100.0


class Gap(NamedTuple):
    """After some epochs: the primal objective, and the dual one as a lower bound of it."""

    epoch: int
    primal: float
    dual: float


def gaps(
    treebank: Path, sentences: int = SENTENCES, epochs: int = EPOCHS, rate: float = RATE, penalty: float = PENALTY
) -> Iterator[Gap]:  # fmt: skip
    """The gap after every epoch, from 0 on."""
    options = Options(gold_tags=True, labels="after")
    data = read_training_data(treebank_files(treebank)[0], None, options, Watcher())
    whole = whole_trees(data.train)
    first = whole & (np.cumsum(whole) <= sentences)
    run = TrainingRun(data._replace(train=select_sentences(data.train, first)), options, Watcher())
    corpus, pruned, search, space, single_root, _, _ = run.problem(run.begin())
    starts = dual_sizes(corpus, pruned, search, space)
    duals = Duals(starts, np.zeros(starts[-1]), np.zeros(starts[-1]))
    begin_duals(corpus, pruned, search, space, BETA, duals)
    weights, nothing = np.zeros(space_size(space)), np.empty(0, np.float32)
    order, rng = np.arange(len(corpus.starts) - 1), np.random.default_rng(0)
    for epoch in range(epochs + 1):
        share, _ = exponentiated_epoch(
            corpus, pruned, order, search, space, single_root, LOG_LINEAR, duals, rate if epoch else 0.0, weights,
            Move(weights, nothing, 1 / penalty, 0.0),
        )  # fmt: skip
        loss, _ = gradient_epoch(
            corpus, pruned, order, search, None, space, single_root, None, weights,
            Move(weights[:0], nothing, 0.0, np.inf),
        )  # fmt: skip
        norm = penalty / 2 * float(weights @ weights)
        yield Gap(epoch, norm + loss, -norm - share)
        order = rng.permutation(len(order))


def table(name: str, found: list[Gap]) -> Iterator[str]:
    """The lines of a table, in Markdown, and the line that fits the logarithms of the gaps."""
    yield f"| {name}: epochs | primal | dual | gap |"
    yield "|---:|---:|---:|---:|"
    for gap in found:
        if gap.epoch % 10 == 0 or gap.epoch in (1, 2, 5):
            yield f"| {gap.epoch} | {gap.primal:.4f} | {gap.dual:.4f} | {gap.primal - gap.dual:.3g} |"
    x = np.array([gap.epoch for gap in found[len(found) // 4 :]])
    logs = np.log([max(gap.primal - gap.dual, _TINY) for gap in found[len(found) // 4 :]])
    slope, cut = np.polyfit(x, logs, 1)
    explained = 1 - float((logs - slope * x - cut).var() / logs.var())
    yield ""
    yield (
        f"From epoch {x[0]} on the gap shrinks by {100 * (1 - np.exp(slope)):.1f}% an epoch; "
        f"a straight line explains {100 * explained:.1f}% of the variance of its logarithm."
    )
