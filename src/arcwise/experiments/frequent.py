"""Table 3.7 of Koo's thesis: how many words a parser should know, and how many it should see beside clusters.

On all sentences, tagged by a tagger that learns from all and knows every word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arcwise.experiments.cluster_models import ALL, METRICS, ORDERS, WITH, Case, Parsers
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import Tell, growing, part_of
from arcwise.features.attributes import EVERY

_NO_LIMIT = "every word"
# Where only the N most frequent words are seen: everywhere, without and with clusters, as in the thesis; or only beside clusters, as
# `arcwise train` has it.
_BESIDE = f"{WITH}, every word"
_LIMITED = ("", WITH, _BESIDE)
COLUMNS = [f"{metric}, {order}{limited}" for metric in METRICS for order in ORDERS for limited in _LIMITED]


def frequent(
    parsers: Parsers, words: Collection[int], jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows that are ready, one for each number of words and one without a limit, whenever one more is."""
    limits = {**{str(number): number for number in words}, _NO_LIMIT: EVERY}

    def task(row: str, order: str, tell: Tell) -> dict[str, float]:
        number = limits[row]
        found: dict[str, float] = {}
        for at, limited in enumerate(_LIMITED):
            beside, known = (number if limited else None), (EVERY if limited == _BESIDE else number)
            case = Case(parsers.sentences, ALL, order, beside, known)
            reached = parsers.accuracy(case, part_of(tell, at, len(_LIMITED)))
            found |= {f"{metric}, {order}{limited}": value for metric, value in reached.items()}
        return found

    return growing(dict.fromkeys(limits, 1.0), ORDERS, COLUMNS, task, jobs, tell)
