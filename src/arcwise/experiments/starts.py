"""Table 5 of Zhang et al. 2014: where the full model begins to climb, and where it ends.

On the test treebanks: from the first-order best tree alone, in one run (MAP-1st in the paper), from trees drawn uniformly, and from
trees drawn from the first-order distribution (Rnd-1st). The UAS of initial trees that are drawn is the mean over all that can be: the
probability of the right arcs, by the matrix-tree theorem.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.experiments.climbing_models import EPOCHS, FULL, files_of, read_test, trained
from arcwise.experiments.climbing_runs import (
    Sentences,
    climb,
    first_order_scores,
    number_sentences,
)
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing_rows
from arcwise.pipeline.forest import Forest
from arcwise.pipeline.sentences import Weights
from arcwise.search.climbing import RESTARTS, Climbing
from arcwise.search.start_trees import STARTS, sharpen

NAMES = ("best", "uniform", "first-order")
_RESULT, _INITIAL = "result, ", "initial trees, "
_BARE = ", without punctuation"
_TRAINING = 0.8  # the share of a task, for the progress bar

COLUMNS = [
    f"{kind}{name}{convention}"
    for convention in ("", _BARE)
    for kind in (_RESULT, _INITIAL)
    for name in NAMES
]


def initial_uas(sentences: Sentences, weights: Weights, start: str) -> tuple[float, float]:
    """The UAS of trees to begin with in percent, of all words and without punctuation; of those drawn, the expectation."""
    corpus = sentences.corpus
    rows, matrices = first_order_scores(corpus, weights)
    if start == "best":
        return sentences.uas(rows.heads)
    forest = Forest(matrices, sentences.lengths, 1.0, weights.single_root)
    for S in forest.squares(matrices):
        if start == "uniform":
            S[:] = np.where(-np.inf < S, 0.0, -np.inf)
        else:
            sharpen(S)
    marginals, _ = forest.sums()
    right: NDArray[np.float64] = np.zeros(len(corpus.heads))
    for begin, P in zip(corpus.starts.tolist(), forest.squares(marginals), strict=False):
        heads = corpus.heads[begin : begin + len(P)]
        known = np.flatnonzero(heads >= 0)
        right[begin + known] = P[heads[known], known]
    return 100 * float(right[sentences.counted].mean()), 100 * float(right[sentences.scored].mean())


def measure_model(
    treebank: Path, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None, restarts: int = RESTARTS
) -> dict[str, float]:  # fmt: skip
    """COLUMNS, of a model that is trained if need be."""
    parser = trained(treebank, FULL, models, epochs, lambda share: tell(_TRAINING * share))
    sentences, weights = (
        number_sentences(parser, read_test(files_of(treebank).test)),
        parser.model.weights(),
    )
    row = {}
    for done, name in enumerate(NAMES):

        def tell_start(share: float, done: int = done) -> None:
            tell(_TRAINING + (1 - _TRAINING) * (done + share) / len(NAMES))

        climbing = Climbing(restarts, STARTS.index(name), bounded=False)
        result = sentences.uas(climb(sentences.corpus, weights, climbing, tell_start).rows.heads)
        initial = initial_uas(sentences, weights, name)
        for at, convention in enumerate(("", _BARE)):
            row[f"{_RESULT}{name}{convention}"] = result[at]
            row[f"{_INITIAL}{name}{convention}"] = initial[at]
    return {column: row[column] for column in COLUMNS}


def table_5(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None,
    restarts: int = RESTARTS,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, models, epochs, tell, restarts)

    return growing_rows(treebanks, [FULL], COLUMNS, task, jobs, tell)


def tables(rows: Rows) -> Iterator[str]:
    """The columns as two tables in Markdown: of all words, and without punctuation."""
    for title, bare in (("UAS, all words", False), ("UAS without punctuation", True)):
        chosen = {
            bank: {
                column.removesuffix(_BARE): value
                for column, value in row.items()
                if column.endswith(_BARE) == bare
            }
            for bank, row in rows.items()
        }
        yield from markdown(title, chosen)
        yield ""
