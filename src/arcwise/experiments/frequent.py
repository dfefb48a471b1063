"""Table 3.7 of Koo's thesis: how many frequent forms a parser should see beside clusters.

Here rare forms are left out of the features with clusters only. On all sentences, tagged by a tagger that learns from all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arcwise.experiments.cluster_models import ALL, EVERY, METRICS, ORDERS, Case, Parsers
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import Tell, growing

WORDS = (100, 200, 400, 800)
_NO_LIMIT = "every form"
COLUMNS = [f"{metric}, {order}" for metric in METRICS for order in ORDERS]


def frequent(
    parsers: Parsers, words: Collection[int] = WORDS, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows that are ready, one for each number of forms and one without a limit, whenever one more is."""
    limits = {**{str(number): number for number in words}, _NO_LIMIT: EVERY}

    def task(name: str, order: str, tell: Tell) -> dict[str, float]:
        reached = parsers.accuracy(Case(parsers.sentences, ALL, order, limits[name]), tell)
        return {f"{metric}, {order}": value for metric, value in reached.items()}

    return growing(dict.fromkeys(limits, 1.0), ORDERS, COLUMNS, task, jobs, tell)
