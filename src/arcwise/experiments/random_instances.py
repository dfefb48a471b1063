"""The last column of Table 2 of Koo et al. 2010: how often dual decomposition proves its tree best where scores are random.

Every transition of every automaton scores a standard normal number, START and END included; arcs alone score nothing, and none is
pruned. G+S: a number for every pair of siblings and one for every grandchild, as the linear programs have them that the paper
compares itself with; joint: a number for every pair of siblings with their grandparent, as its automata could have.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from arcwise.experiments.trained_models import Tell
from arcwise.parts.scores import Scores
from arcwise.search.decode import decode
from arcwise.search.result import Parse

MODELS = ("Sib", "G+S", "G+S, joint")
# Iterations of dual decomposition alone; None: with the finish.
_RULES = {"K = 250": 250, "K = 5000": 5000, "exact": None}
_ROOTS = {"several roots": False, "one root": True}
_TOGETHER = 50  # instances in memory at once


def instance(model: str, words: int, seed: int, number: int) -> Scores:
    """A random problem; the same numbers always give the same.

    >>> instance("Sib", 3, 0, 1).siblings.shape, instance("G+S, joint", 3, 0, 1).grand_siblings.shape
    ((4, 4, 4), (4, 4, 4, 4))
    """
    rng, size = np.random.default_rng([seed, number]), words + 1
    arcs, siblings = np.zeros((size, size)), rng.standard_normal((size, size, size))
    if model == "Sib":
        return Scores(arcs=arcs, siblings=siblings)
    if model == "G+S":
        return Scores(arcs=arcs, siblings=siblings, grandchildren=rng.standard_normal((size,) * 3))
    siblings[1:] = 0.0  # only the root has no grandparent
    return Scores(arcs=arcs, siblings=siblings, grand_siblings=rng.standard_normal((size,) * 4))


def table_2(
    instances: int, words: int, seed: int = 0, jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[tuple[str, dict[str, float]]]:
    """A row for every model, kind of root and rule: trees proved best, in percent, and by instance the mean steps, branches of the
    finish and milliseconds of CPU time.
    """
    cases = list(product(MODELS, _ROOTS, _RULES))
    for done, (model, roots, rule) in enumerate(cases):
        iterations = _RULES[rule]
        options: dict[str, Any] = {"single_root": _ROOTS[roots], "jobs": jobs}
        if iterations is not None:
            options |= {"exact": False, "rule": "paper", "iterations": iterations}
        decode([instance(model, words, seed, 0)], **options)  # compiles
        parses: list[Parse] = []
        seconds = 0.0
        for first in range(0, instances, _TOGETHER):
            numbers = range(first, min(first + _TOGETHER, instances))
            problems = [instance(model, words, seed, number) for number in numbers]
            started = process_time()
            parses += decode(problems, **options)
            seconds += process_time() - started
            tell((done + len(parses) / instances) / len(cases))
        stats = [parse.stats for parse in parses]
        yield (
            f"{model}, {roots}, {rule}",
            {
                "certified, %": 100 * float(np.mean([parse.certified for parse in parses])),
                "steps": float(np.mean([one["iterations"] + one.get("finish_steps", 0) for one in stats])),
                "branches": float(np.mean([one.get("finish_branches", 0) for one in stats])),
                "milliseconds": 1000 * seconds / instances,
            },
        )
