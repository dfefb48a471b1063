"""Table 6 and figures 5 and 6 of Zhang et al. 2014: what more runs bring to the full model, and what they cost.

On test sentences, from trees drawn from the first-order distribution, in fixed numbers of runs. The score of a tree is in percent of
the best that any of these numbers found; sentences whose best score is not positive are left out of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.draw.climbing import restart_picture
from arcwise.evaluation.local_optima import SHORT
from arcwise.experiments.climbing_models import EPOCHS, FULL, SLACK, files_of, percent, read_test, trained
from arcwise.experiments.climbing_runs import climb, fixed_runs, number_sentences
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing_rows

FEW, MANY = 300, 3000  # runs, of table 6
CURVE = (1, 2, 5, 10, 20, 50, 100, 200, FEW, 500, 1000)
RUNS = (*CURVE, MANY)
_GROUPS = (f"up to {SHORT} words", f"over {SHORT} words")
_FOUND = f"best of {MANY} found in {FEW}, "
_SCORE, _UAS, _SECONDS = "score, ", "UAS, ", "seconds a token, "
_TRAINING = 0.5  # the share of a task, for the progress bar

COLUMNS = [
    "sentences",
    *(_FOUND + group for group in _GROUPS),
    *(f"{_SCORE}{group}, {runs}" for group in _GROUPS for runs in RUNS),
    *(f"{_UAS}{runs}" for runs in RUNS),
    *(f"{_SECONDS}{runs}" for runs in RUNS),
]


def normalised(scores: NDArray[np.float64], best: NDArray[np.float64], among: NDArray[np.bool_]) -> float:
    """The mean of scores in percent of the best ones, of some sentences, where these are positive; NaN of none.

    >>> normalised(np.array([9.0, 5.0, 1.0]), np.array([10.0, 5.0, -1.0]), np.array([True, True, True]))
    95.0
    """
    chosen = among & (best > 0)
    return 100 * float((scores[chosen] / best[chosen]).mean()) if chosen.any() else float("nan")


def measure_model(
    treebank: Path, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None, most: int | None = None,
) -> dict[str, float]:  # fmt: skip
    """COLUMNS, of a model that is trained if need be. most: sentences, from all over the test treebank."""
    parser = trained(treebank, FULL, models, epochs, lambda share: tell(_TRAINING * share))
    sentences = number_sentences(parser, read_test(files_of(treebank).test), most)
    weights, words = parser.model.weights(), int(sentences.lengths.sum())
    scores, row, done = {}, {"sentences": float(len(sentences.lengths))}, 0
    for runs in RUNS:

        def tell_runs(share: float, done: int = done, runs: int = runs) -> None:
            tell(_TRAINING + (1 - _TRAINING) * (done + share * runs) / sum(RUNS))

        found = climb(sentences.corpus, weights, fixed_runs(runs, "first-order"), tell_runs)
        scores[runs] = found.rows.scores
        row[f"{_UAS}{runs}"] = sentences.uas(found.rows.heads)[0]
        row[f"{_SECONDS}{runs}"] = found.seconds / words
        done += runs
    best = np.maximum.reduce(list(scores.values()))
    short = sentences.lengths <= SHORT
    for group, among in zip(_GROUPS, (short, ~short), strict=True):
        row[_FOUND + group] = percent(scores[FEW] >= best - SLACK, among)
        for runs in RUNS:
            row[f"{_SCORE}{group}, {runs}"] = normalised(scores[runs], best, among)
    return {column: row[column] for column in COLUMNS}


def table_6(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None,
    most: int | None = None,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, models, epochs, tell, most)

    return growing_rows(treebanks, [FULL], COLUMNS, task, jobs, tell)


def tables(rows: Rows) -> Iterator[str]:
    """The columns as tables in Markdown."""
    found = {
        bank: {
            column: value
            for column, value in row.items()
            if column == "sentences" or column.startswith(_FOUND)
        }
        for bank, row in rows.items()
    }
    yield from markdown(f"% of sentences whose best tree of {MANY} runs is found in the first {FEW}", found)
    titles = {f"{_SCORE}{group}, ": f"score, % of the best, sentences of {group}" for group in _GROUPS}
    for prefix, title in {**titles, _UAS: "UAS", _SECONDS: "CPU seconds a token"}.items():
        yield ""
        yield from markdown(f"{title}, by runs", rows, prefix)


def figures_5_and_6(rows: Rows, form: str) -> bytes:
    """Scores in percent of the best against the number of runs, and UAS against seconds a token, as a picture of two panels."""
    curves = {
        f"{bank}, {group}": [row[f"{_SCORE}{group}, {runs}"] for runs in CURVE]
        for bank, row in rows.items()
        for group in _GROUPS
    }
    trade = {
        bank: ([row[f"{_SECONDS}{runs}"] for runs in CURVE], [row[f"{_UAS}{runs}"] for runs in CURVE])
        for bank, row in rows.items()
    }
    return restart_picture(CURVE, curves, trade, form)
