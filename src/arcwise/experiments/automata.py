"""Table 1 of Koo et al. 2010: arcs alone (MST), head automata of siblings (Sib) and of grandparents and siblings (G+S).

UAS of all words, of the trees that are proved best; the percentage of proofs by dual decomposition alone, in 5000 iterations with
the paper's steps and with ours, and with the finish; and the CPU time a sentence takes, on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from arcwise.experiments.learners import treebank_files
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import (
    EPOCHS,
    MODELS,
    Tell,
    growing_rows,
    parse,
    trained,
    training_seconds,
)

ITERATIONS = 5000
_TRAINING = 0.8  # the share of a task, for the progress bar
_AUTOMATA = [name for name in MODELS if name != "MST"]
_EXACT = "exact"
# Whether to be exact, and the rule of steps.
_RULES = {"paper": (False, "paper"), "alone": (False, "gap"), _EXACT: (True, "gap")}

COLUMNS = [
    *(f"UAS {part} {name}" for part in ("dev", "test") for name in MODELS),
    *(f"certified {part} {name} {rule}" for part in ("dev", "test") for name in _AUTOMATA for rule in _RULES),
    "seconds test MST",
    *(f"seconds test {name} {rule}" for name in _AUTOMATA for rule in _RULES),
    *(f"seconds training {name}" for name in MODELS),
]


def measure(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> dict[str, float]:
    """Those of COLUMNS that are about one model, trained if need be."""
    parser = trained(treebank, MODELS[name], models, epochs, lambda share: tell(_TRAINING * share))
    row = {f"seconds training {name}": training_seconds(parser)}
    # The development file comes first: what is to be compiled is compiled when the test file is timed.
    for part, file in zip(("dev", "test"), treebank_files(treebank)[1:], strict=True):
        for rule in _RULES if name in _AUTOMATA else [""]:
            exact, steps = _RULES.get(rule, (True, "gap"))
            searching = parser
            if name in _AUTOMATA:
                searching = parser.searching(exact=exact, iterations=ITERATIONS, rule=steps)
            found = parse(searching, file, partial(tell, _TRAINING))
            if exact:
                row[f"UAS {part} {name}"] = found.uas
            row[f"certified {part} {name} {rule}"] = found.certified
            row[f"seconds {part} {name} {rule}".rstrip()] = found.seconds
    return {column: row[column] for column in COLUMNS if column in row}


def table_1(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure(treebank, name, models, epochs, tell)

    return growing_rows(treebanks, MODELS, COLUMNS, task, jobs, tell)


def tables(rows: Rows) -> Iterator[str]:
    """The columns as three tables in Markdown."""
    for title, prefix in (
        ("UAS", "UAS "),
        ("certified, %", "certified "),
        ("seconds a sentence", "seconds "),
    ):
        yield from markdown(title, rows, prefix)
        yield ""
