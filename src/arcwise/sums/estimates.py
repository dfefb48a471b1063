"""The front door of importance sampling: tables of any parts in, what all trees say out, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arcwise.errors import InputError
from arcwise.parts.tables import Floats
from arcwise.search.decode import decode
from arcwise.search.part_chart import PartChart, at_hand, for_each, is_parts
from arcwise.search.result import Parse
from arcwise.sums.batches import check_whole
from arcwise.sums.importance import sum_by_samples
from arcwise.sums.part_beliefs import check_words


@dataclass(frozen=True, eq=False)
class Estimate:
    """What all trees say, when a tree is as likely as exp(score); each with its standard error, 0 where nothing had to be estimated.

    log_partition: the logarithm of the sum over all trees of exp(score). entropy: in nats. marginals: (n+1, n+1), the probability
    of every arc; columns 1..n sum to 1. best: the best tree that a search found; probability: its own, never more than that of any
    of its arcs.
    """

    log_partition: float
    log_partition_error: float
    entropy: float
    entropy_error: float
    marginals: Floats
    marginal_errors: Floats
    best: Parse
    probability: float
    probability_error: float


def estimate(
    scores: Any, *, samples: int = 1000, seed: int = 0, single_root: bool = True, jobs: int = 1
) -> Any:
    """The sum over all trees, projective or not, that are scored by tables of parts of any order: an `Estimate`.

    That sum is intractable. Projective trees are summed exactly, in the time and memory of the chart that the tables need, and the
    others estimated from samples (`arcwise.sums.importance`): the partition function without bias, and probabilities that come from
    it. `marginals` with `approximate` is faster and has no noise, but nothing says how wrong it is.

    scores: `Scores` or `PartScores`, or a list of them, of which a list comes back.
    samples: draws, each O(n^2). Errors fall with their square root; where n^n trees are no more, or so many heads are allowed, all
    are gone through. seed: the same one gives the same result, whatever else is estimated and by however many threads.
    single_root, jobs: as in `arcwise.log_partition`.

    Raises InputError for unusable scores, for labels and senses, and NoTreeError if no tree is allowed.

    >>> import numpy as np
    >>> from arcwise import Scores
    >>> found = estimate(Scores([[0, 0, 0], [0, 0, 1], [0, 1, 0]], grandchildren=np.zeros((3, 3, 3))))
    >>> round(found.log_partition, 6), found.log_partition_error, round(found.probability, 3)
    (1.693147, 0.0, 0.5)
    """
    draws, start = check_whole(samples, "samples", 31), check_whole(seed, "seed", 63)
    if draws == 0:
        raise InputError("samples is 0", expected="1 or more")
    scores = at_hand(scores)
    if not is_parts(scores):
        raise InputError(
            "scores of arcs alone", expected="tables of parts: of arcs, marginals and log_partition are exact"
        )
    best = decode(scores, single_root=single_root, jobs=jobs)

    def find(chart: PartChart, number: int) -> Estimate:
        check_words(chart, "estimate")
        return _estimate(chart, best[number] if isinstance(best, list) else best, draws, start)

    return for_each(scores, jobs, find, projective=True, single_root=single_root, shifted=True)


def _estimate(chart: PartChart, best: Parse, samples: int, seed: int) -> Estimate:
    size = len(chart.graph.position)
    marginals, errors = np.empty((size, size)), np.empty((size, size))
    found = sum_by_samples(
        chart.kind, chart.graph, chart.levels, chart.tables, None, 1.0, chart.single_root, best.heads[np.newaxis],
        samples, seed, 0, marginals, errors,
    )  # fmt: skip
    log_partition = found.log_partition + chart.offset
    least = marginals[best.heads[1:], np.arange(1, size)].min(initial=1.0)
    probability = min(float(np.exp(best.score - log_partition)), float(least))
    return Estimate(
        log_partition, found.error, found.entropy, found.entropy_error, marginals, errors, best, probability,
        probability * found.error,
    )  # fmt: skip
