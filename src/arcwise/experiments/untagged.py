"""Table 3.8 of Koo's thesis: how far clusters replace parts of speech.

Without tags UPOS, XPOS and FEATS are hidden, and LEMMA, which is found by them, in training and on dev, and templates see the rest
only, as with every treebank that has none: beside forms and clusters the first and the last letters of words. On all sentences,
tagged, if they are, by a tagger that learns from all.
"""

from __future__ import annotations

from collections.abc import Iterator

from arcwise.experiments.cluster_models import ALL, METRICS, MODELS, NONE, Case, Parsers, with_gains
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import Tell, growing

TAGGERS = {"tags": ALL, "no tags": NONE}
COLUMNS = [f"{metric}, {model}" for metric in METRICS for model in MODELS]


def untagged(parsers: Parsers, jobs: int = 1, tell: Tell = lambda share: None) -> Iterator[Rows]:
    """The rows that are ready, with tags and without, whenever one more is."""

    def task(name: str, model: str, tell: Tell) -> dict[str, float]:
        reached = parsers.accuracy(Case(parsers.sentences, TAGGERS[name], *MODELS[model]), tell)
        return {f"{metric}, {model}": value for metric, value in reached.items()}

    return map(with_gains, growing(dict.fromkeys(TAGGERS, 1.0), MODELS, COLUMNS, task, jobs, tell))
