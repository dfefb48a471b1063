"""Table 4 and figure 4 of Zhang et al. 2014: first order, third order and the full model by hill climbing, and first order exactly.

On the test treebanks, with the treebanks' own tags. Climbing is alone here: it asks no other search for a bound. UAS and LAS count
all words, and labels with their subtypes; UAS also without punctuation, as the paper has it (the rule of eval.pl).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arcwise.draw.climbing import gain_picture
from arcwise.evaluation.local_optima import SHORT
from arcwise.experiments.climbing_models import (
    EPOCHS,
    EXACT,
    FIRST,
    FULL,
    PLAIN,
    THIRD,
    files_of,
    measure,
    percent,
    trained,
)
from arcwise.experiments.kept_models import training_seconds
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing_rows
from arcwise.pipeline.parser import Parser
from arcwise.search.climbing import RESTARTS

NAMES = (FIRST, THIRD, PLAIN, FULL, EXACT)
_UAS, _SHORT, _LONG = "UAS, ", f"UAS up to {SHORT} words, ", f"UAS over {SHORT} words, "
_TITLES = {
    _UAS: "UAS",
    "LAS, ": "LAS",
    "UAS without punctuation, ": "UAS without punctuation",
    _SHORT: f"UAS, sentences of up to {SHORT} words",
    _LONG: f"UAS, sentences of over {SHORT} words",
    "training, ": "training, CPU seconds",
    "speed, ": "parsing, words a CPU second",
}
_GAIN = "gain, "
_GAINS = {"all": _UAS, f"up to {SHORT} words": _SHORT, f"over {SHORT} words": _LONG}
_TRAINING = 0.9  # the share of a task, for the progress bar

COLUMNS = [f"{kind}{name}" for kind in _TITLES for name in NAMES]


def climbing_alone(parser: Parser, restarts: int = RESTARTS) -> Parser:
    """The parser as it is if it does not climb; else so that it asks no other search for a bound."""
    if not parser.model.settings.climb:
        return parser
    return parser.searching("climb", exact=False, restarts=restarts)


def measure_model(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None,
    restarts: int = RESTARTS,
) -> dict[str, float]:  # fmt: skip
    """Those of COLUMNS that are about one model, trained if need be."""
    parser = trained(treebank, name, models, epochs, lambda share: tell(_TRAINING * share))
    found = measure(
        climbing_alone(parser, restarts),
        files_of(treebank).test,
        lambda share: tell(_TRAINING + (1 - _TRAINING) * share),
    )
    values = (
        percent(found.right, found.counted),
        percent(found.labelled, found.counted),
        percent(found.right, found.scored),
        percent(found.right, found.counted & found.short),
        percent(found.right, found.counted & ~found.short),
        training_seconds(parser),
        found.speed,
    )
    return {f"{kind}{name}": value for kind, value in zip(_TITLES, values, strict=True)}


def table_4(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None,
    restarts: int = RESTARTS,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure_model(treebank, name, models, epochs, tell, restarts)

    for rows in growing_rows(treebanks, NAMES, COLUMNS, task, jobs, tell):
        yield {
            bank: {
                **row,
                **{f"{_GAIN}{group}": row[kind + FULL] - row[kind + FIRST] for group, kind in _GAINS.items()},
            }
            for bank, row in rows.items()
        }


def tables(rows: Rows) -> Iterator[str]:
    """The columns as tables in Markdown."""
    for prefix, title in {**_TITLES, _GAIN: f"UAS, {FULL} over {FIRST}"}.items():
        yield from markdown(title, rows, prefix)
        yield ""


def figure_4(rows: Rows, form: str) -> bytes:
    """What the full model gains over the first order, by treebank and length of sentences, as a picture."""
    groups = list(_GAINS)[1:]
    return gain_picture(
        {bank: {group: row[_GAIN + group] for group in groups} for bank, row in rows.items()}, form
    )
