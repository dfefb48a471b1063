"""Tables 1 and 2 of Riedel et al. 2012: parse, price and cut against the full program, and three relaxations of grandparents.

Grandparent models on test treebanks, no arcs pruned. All searches of a table see the same sentences; times are of CPU, on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from arcwise.experiments.learners import treebank_files
from arcwise.experiments.programs import Found, side_by_side
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import EPOCHS, Tell, growing_rows, trained
from arcwise.pipeline.program_sentences import ADDED, PARTS, SCORED
from arcwise.treebank.reading import read_blocks

_SEARCH = "dual-grandparent"
_PAPER: dict[str, Any] = {"decoder": "lp", "connected": "single-flow"}
_PRICE: dict[str, Any] = {"decoder": "price", "exact": False}
_BF, _LEAN, _PAIRS = "BF", "BF, lean", "GPArc+ArcGP"
# Options of `Parser.searching`, by table.
SEARCHES: dict[str, dict[str, dict[str, Any]]] = {
    "Table 1": {
        _BF: {**_PAPER, "relaxation": "all-rows"},
        _LEAN: {"decoder": "lp"},
        "PPC": _PRICE,
        "PPC, lazy": {**_PRICE, "lazy": True},
    },
    "Table 2": {
        _PAIRS: {**_PAPER, "relaxation": "pairs"},
        "OneGP+NoGP": {**_PAPER, "relaxation": "sums"},
        "all": {**_PAPER, "relaxation": "all-rows"},
    },
}
# What is measured, by table, in the order of its columns.
MEASURES = {
    "Table 1": [
        "sentences a second", f"times {_BF}", f"times {_LEAN}", "scored, %", "added, %", "objective, %", "integral, %", "UAS",
        "out of time",
    ],
    "Table 2": ["sentences a second", f"times {_PAIRS}", "integral, %", "UAS", "out of time"],
}  # fmt: skip
COLUMNS = [
    *(f"{kind} {table}" for table in SEARCHES for kind in ("sentences", "left out")),
    *(
        f"{table}, {name}, {measure}"
        for table, searches in SEARCHES.items()
        for name in searches
        for measure in MEASURES[table]
    ),
]
LONGEST_FULL, LONGEST, SECONDS = 80, 20, 60.0
_TRAINING = 0.5  # the share of a task, for the progress bar


def measure(
    treebank: Path, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None, *,
    longest_full: int = LONGEST_FULL, longest: int = LONGEST, seconds: float = SECONDS,
) -> dict[str, float]:  # fmt: skip
    """COLUMNS of a treebank, its model trained if need be.

    longest_full, longest: the most words of a sentence in Table 1 and in Table 2. seconds: after which a program gives up on one; it
    then counts as fractional, with the tree found so far.
    """
    parser = trained(treebank, _SEARCH, models, epochs, lambda share: tell(_TRAINING * share))
    test = treebank_files(treebank)[2]
    with read_blocks(test) as blocks:
        sentences = sum(map(len, blocks))
    row: dict[str, float] = {}
    for number, (table, most) in enumerate(zip(SEARCHES, (longest_full, longest), strict=True)):

        def tell_table(share: float, number: int = number) -> None:
            tell(_TRAINING + (1 - _TRAINING) * (number + share) / len(SEARCHES))

        searches = {
            name: parser.searching(**options, seconds=seconds, pruned=False)
            for name, options in SEARCHES[table].items()
        }
        found = side_by_side(searches, test, most, tell_table)
        for name, one in found.items():
            measures = _measures(one, found)
            row |= {f"{table}, {name}, {key}": measures[key] for key in MEASURES[table]}
        parsed = len(next(iter(found.values())).scores)
        row |= {f"sentences {table}": parsed, f"left out {table}": sentences - parsed}
    return {column: row[column] for column in COLUMNS}


def pricing(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None,
    **limits: float,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is. limits: as of `measure`."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure(treebank, models, epochs, tell, **limits)  # type: ignore[arg-type]

    return growing_rows(treebanks, [_SEARCH], COLUMNS, task, jobs, tell)


def tables(rows: Rows, longest_full: int = LONGEST_FULL, longest: int = LONGEST) -> Iterator[str]:
    """Both tables in Markdown, and how many sentences they are about."""
    for (table, searches), most in zip(SEARCHES.items(), (longest_full, longest), strict=True):
        lines = {
            f"{bank}, {name}": {key: row[f"{table}, {name}, {key}"] for key in MEASURES[table]}
            for bank, row in rows.items()
            for name in searches
        }
        yield from markdown(f"{table}, up to {most} words", lines)
        yield ""
        counts = (
            f"{bank} {row[f'sentences {table}']:.0f} ({row[f'left out {table}']:.0f} longer ones left out)"
            for bank, row in rows.items()
            if bank != "mean"
        )
        yield f"Sentences: {', '.join(counts)}."
        yield ""


def _measures(one: Found, found: dict[str, Found]) -> dict[str, float]:
    """All that can be said of one search, among those of its table. The objective is that of sentences that no search gave up."""
    seconds, parts = float(one.seconds.sum()), max(1, one.report[:, PARTS].sum())
    ended = np.logical_and.reduce([other.finished for other in found.values()])
    objective = found.get(_LEAN, one).bounds[ended].sum()
    return {
        "sentences a second": len(one.scores) / seconds,
        **{f"times {name}": float(other.seconds.sum()) / seconds for name, other in found.items()},
        "scored, %": 100 * float(one.report[:, SCORED].sum() / parts),
        "added, %": 100 * float(one.report[:, ADDED].sum() / parts),
        "objective, %": 100 * float(one.bounds[ended].sum() / objective),
        "integral, %": one.integral,
        "UAS": one.uas,
        "out of time": float((~one.finished).sum()),
    }
