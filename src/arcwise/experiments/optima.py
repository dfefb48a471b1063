"""Table 2 of Zhang et al. 2014: the local optima of first-order models that were trained by climbing, and how often climbing from
trees drawn uniformly finds the best tree, which a spanning tree tells.

On the test treebanks, among the arcs that the pruner keeps. Where trees must have one root, local optima are counted both among trees
with any number of roots, as the paper does, and among those of one root by changes of one head, none of which replaces the root;
climbing can do that, in one move.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.local_optima import PERCENTILES, SHORT, LocalOptima
from arcwise.experiments.climbing_models import (
    EPOCHS,
    FIRST,
    SLACK,
    files_of,
    percent,
    read_test,
    trained,
)
from arcwise.experiments.climbing_runs import climb, fixed_runs, number_sentences
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import Tell, growing_rows
from arcwise.learning.corpus import Corpus
from arcwise.pipeline.sentences import Weights
from arcwise.search.local_optima import MOST

RESTARTS = 300
_ANY, _ONE = "any roots", "one root"
_FOUND_SHORT, _FOUND_LONG = f"found up to {SHORT} words, %", f"found over {SHORT} words, %"
_TRAINING = 0.8  # the share of a task, for the progress bar

COUNTS = [f"{roots}, {percentile}%" for roots in (_ANY, _ONE) for percentile in PERCENTILES]
COLUMNS = ["sentences", "mean words", *COUNTS, _FOUND_SHORT, _FOUND_LONG]


def found_best(
    corpus: Corpus, weights: Weights, restarts: int = RESTARTS, seed: int = 0, tell: Tell = lambda share: None
) -> NDArray[np.bool_]:
    """By sentence, whether one of so many runs from trees drawn uniformly ends in a tree as good as the best, the spanning tree."""
    climbed = climb(corpus, weights, fixed_runs(restarts, "uniform", seed), tell).rows
    best = climb(corpus, weights, None).rows
    found: NDArray[np.bool_] = climbed.scores >= best.scores - SLACK
    return found


def measure_model(
    treebank: Path, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> dict[str, float]:
    """COLUMNS, of a model that is trained if need be."""
    parser = trained(treebank, FIRST, models, epochs, lambda share: tell(_TRAINING * share))
    blocks, optima = read_test(files_of(treebank).test), LocalOptima(MOST)
    spanning = parser.searching("spanning-tree")
    for block in blocks:
        optima.count(spanning.arc_scores(block), parser.single_root)
        tell(_TRAINING)
    sentences = number_sentences(parser, blocks)
    found = found_best(
        sentences.corpus, parser.model.weights(), tell=lambda share: tell(_TRAINING + (1 - _TRAINING) * share)
    )
    short = sentences.lengths <= SHORT
    any_roots = optima.summary(optima.any_roots)
    one_root: tuple[float, ...] = (float("nan"),) * len(PERCENTILES)
    if parser.single_root:
        one_root = optima.summary(optima.one_root).percentiles
    values = [
        any_roots.sentences, any_roots.mean_length, *any_roots.percentiles, *one_root,
        percent(found, short), percent(found, ~short),
    ]  # fmt: skip
    return dict(zip(COLUMNS, map(float, values), strict=True))


def table_2(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, models, epochs, tell)

    return growing_rows(treebanks, [FIRST], COLUMNS, task, jobs, tell)


def table(rows: Rows) -> Iterator[str]:
    """The lines of the table in Markdown; of optima that were not all counted it says so."""
    yield f"| test, first order by climbing | {' | '.join(COLUMNS)} |"
    yield "|---|" + "---:|" * len(COLUMNS)
    for bank, row in rows.items():
        yield f"| {bank} | " + " | ".join(_shown(column, row[column]) for column in COLUMNS) + " |"


def _shown(column: str, value: float) -> str:
    if np.isnan(value):
        return "–"
    if column in COUNTS and value > MOST:
        return f">{MOST}"
    return f"{value:.0f}" if column in COUNTS or column == "sentences" else f"{value:.2f}"
