"""Table 3 of Zhang et al. 2014: hill climbing against dual decomposition, with models of siblings and grandchildren.

On the test treebanks, of models that were trained by climbing and of models trained by dual decomposition. Dual decomposition takes
5000 iterations at most, with the paper's steps (Koo et al. 2010) and with ours, and no finish; the finish then says which trees are
the best. Climbing is alone: it asks no other search for a bound or a tree to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.experiments.climbing_models import (
    BY_CLIMBING,
    BY_DUAL,
    EPOCHS,
    SLACK,
    Measured,
    files_of,
    measure,
    percent,
    trained,
)
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing_rows
from arcwise.search.climbing import RESTARTS

ITERATIONS = 5000
UNIFORM_RUNS = (
    300  # without a better tree, from trees drawn uniformly: what the paper calls a restart in table 2
)
NAMES = {BY_CLIMBING: "HC", BY_DUAL: "DD"}  # what a model was trained by
_PAPER, _OURS = "paper's steps", "our steps"
_RULES = {_PAPER: "paper", _OURS: "gap"}
_KINDS = (
    *(f"certified, {rule}" for rule in _RULES),
    "certified, finish",
    *(f"DD {sign} HC, {rule}" for rule in _RULES for sign in (">", "=", "<")),
    "certified optima that HC finds",
    f"certified optima that HC finds, {UNIFORM_RUNS} uniform",
)
_TRAINING = 0.8  # the share of a task, for the progress bar

COLUMNS = [f"{trained_by}: {kind}" for trained_by in NAMES.values() for kind in _KINDS]


def compare(dual: NDArray[np.float64], climbing: NDArray[np.float64]) -> tuple[float, float, float]:
    """How often dual decomposition scores higher, the same and lower, in percent: 100 in all.

    >>> compare(np.array([7.0, 5.0, 5.0, 3.0]), np.array([7.0, 5.0, 4.0, 5.0]))
    (25.0, 50.0, 25.0)
    """
    above, below = dual > climbing + SLACK, dual < climbing - SLACK
    return percent(above), percent(~above & ~below), percent(below)


def share_found(best: Measured, climbing: Measured) -> float:
    """How many of the trees that are proved best climbing finds, or others that score the same; in percent, NaN if none is proved."""
    return percent(climbing.scores >= best.scores - SLACK, best.certified)


def measure_model(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None,
    restarts: int = RESTARTS,
) -> dict[str, float]:  # fmt: skip
    """Those of COLUMNS that are about one model, trained if need be."""
    parser = trained(treebank, name, models, epochs, lambda share: tell(_TRAINING * share))
    searches = {
        rule: parser.searching("dual", exact=False, iterations=ITERATIONS, rule=steps)
        for rule, steps in _RULES.items()
    }
    searches["finish"] = parser.searching("dual")
    searches["HC"] = parser.searching("climb", exact=False, restarts=restarts)
    searches["uniform"] = parser.searching("climb", exact=False, restarts=UNIFORM_RUNS, start="uniform")
    found: dict[str, Measured] = {}
    for done, (search, searching) in enumerate(searches.items()):

        def tell_search(share: float, done: int = done) -> None:
            tell(_TRAINING + (1 - _TRAINING) * (done + share) / len(searches))

        found[search] = measure(searching, files_of(treebank).test, tell_search)
    climbing, uniform = found.pop("HC"), found.pop("uniform")
    values = [
        *(percent(found[search].certified) for search in (*_RULES, "finish")),
        *(share for rule in _RULES for share in compare(found[rule].scores, climbing.scores)),
        share_found(found["finish"], climbing),
        share_found(found["finish"], uniform),
    ]
    return {f"{NAMES[name]}: {kind}": value for kind, value in zip(_KINDS, values, strict=True)}


def table_3(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None,
    restarts: int = RESTARTS,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, name, models, epochs, tell, restarts)

    return growing_rows(treebanks, NAMES, COLUMNS, task, jobs, tell)


def tables(rows: Rows) -> Iterator[str]:
    """The columns as two tables in Markdown, one for what models were trained by."""
    for name, title in (("HC", "trained by climbing"), ("DD", "trained by dual decomposition")):
        yield from markdown(f"% of test sentences, {title}", rows, f"{name}: ")
        yield ""
