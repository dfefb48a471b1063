"""Claims of every method, held against all trees of random problems: few of each here, a million by `tests.search.certificates`."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import Parse
from tests.search.certificates import METHODS, faults, make_problem, run, search

NAMES = {method.name: method for method in METHODS}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_untrue_is_claimed(name):
    method = NAMES[name]
    tally = run(120 // method.rarely + 5, 3, [method], 4)
    assert not tally.faults
    assert tally.certified[name] > 0


@pytest.mark.parametrize(
    ("seed", "number", "name"),
    [
        (1, 113, "dual"),  # numbers out of reach that are read elsewhere, too
        (
            7,
            19,
            "constraints on dual decomposition",
        ),  # one tree, whose score is a little above the sum of its numbers
        (5, 1347, "dual"),  # digits that a unit of the largest number would lose
        (7, 621, "ilp"),  # a solver that sees no tree
        (100, 12086, "climb"),  # grandparents, which are folded into the scores of arcs
        (100, 50450, "dual, second order"),  # losses without end, which made great multipliers
        (200, 117594, "dual, 5 steps"),  # a search that gives up when it begins anew without masks
        (200, 32923, "constraints on trees of arcs"),  # prices as great as masks
        (7, 176, "price"),  # trees nearer to each other than a solver's tolerance
    ],
)
def test_problems_that_were_hard(seed, number, name):
    problem = make_problem(np.random.default_rng([seed, number]), NAMES[name])
    assert faults(problem, search(problem, NAMES[name])) == []


def test_what_is_untrue_is_seen():
    method = NAMES["spanning-tree"]
    problem = make_problem(np.random.default_rng([0, 4]), method)
    best, worst = int(problem.of_trees.argmax()), int(problem.of_trees.argmin())
    scores = [float(score) for score in problem.of_trees]
    assert scores[best] > scores[worst] > -np.inf
    false = Parse(problem.trees[worst], scores[worst], scores[worst])
    assert faults(problem, false) == ["bound below the best score", "certified, though not the best"]
    assert faults(problem, Parse(problem.trees[worst], scores[best], scores[best])) == [
        "score",
        "certified, though not the best",
    ]
    assert faults(problem, None) == ["says that there is no tree"]
    assert faults(problem, Parse(problem.trees[best], scores[best], scores[best])) == []
