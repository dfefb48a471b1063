"""Figure 4 of Koo et al. 2010: what dual decomposition gives on a development treebank when it stops after K iterations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arcwise.evaluation.traces import Stopping
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.trained_models import EPOCHS, Tell, parse, trained

ITERATIONS = (1, 2, 5, 10, 20, 50, 100, 200, 250, 500, 1000, 2000, 5000)
_TRAINING = 0.9  # the share of it all, for the progress bar


def stopping(
    treebank: Path, parts: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> Stopping:
    """The three curves of a model of "sibling", "grandchild" or "grand-sibling" parts, trained if need be."""
    parser = trained(treebank, f"dual-{parts}", models, epochs, lambda share: tell(_TRAINING * share))
    dev = treebank_files(treebank)[1]
    found = []
    for iterations in ITERATIONS:
        found.append(parse(parser.searching(exact=False, rule="paper", iterations=iterations), dev))
        tell(_TRAINING + (1 - _TRAINING) * len(found) / len(ITERATIONS))
    last = found[-1]
    same = [np.logical_and.reduceat(one.heads == last.heads, last.starts) for one in found]
    return Stopping(
        f"dual-{parts}",
        treebank.resolve().name,
        ITERATIONS,
        [one.uas for one in found],
        [one.certified for one in found],
        [100 * float(one.mean()) for one in same],
    )
