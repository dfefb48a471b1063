"""Table 3 of Koo et al. 2010: the same automata with trees of any kind and with projective trees, found by Eisner's chart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from arcwise.experiments.learners import treebank_files
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import EPOCHS, MODELS, Tell, growing_rows, parse, trained
from arcwise.pipeline.parser import DUAL_PROJECTIVE
from arcwise.search.part_chart import DUAL

_TRAINING = 0.9  # the share of a task, for the progress bar
COLUMNS = ("Sib", "P-Sib", "G+S", "P-G+S")


def measure(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> dict[str, float]:
    """UAS on the development treebank of a model, trained if need be, in both ways; trees are proved best."""
    parser = trained(treebank, MODELS[name], models, epochs, lambda share: tell(_TRAINING * share))
    dev = treebank_files(treebank)[1]
    return {
        column: parse(parser.searching(decoder), dev, partial(tell, _TRAINING)).uas
        for column, decoder in ((name, DUAL), (f"P-{name}", DUAL_PROJECTIVE))
    }


def table_3(
    treebanks: list[Path], models: Path, epochs: int = EPOCHS, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is."""

    def task(treebank: Path, name: str, tell: Tell) -> dict[str, float]:
        return measure(treebank, name, models, epochs, tell)

    return growing_rows(treebanks, ("Sib", "G+S"), COLUMNS, task, jobs, tell)
