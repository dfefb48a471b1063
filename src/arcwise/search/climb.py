"""From tables of parts, and functions of whole trees, to a high-scoring tree by hill climbing: decoder "climb"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError, InputError, NoTreeError
from arcwise.parts.tables import Floats
from arcwise.search.climbing import MOST, RESTARTS, climb_often, make_runs
from arcwise.search.dual import STALL, DualOptions, dual_parse
from arcwise.search.hill import Hill, Tree, is_below, make_hill, make_tree, stand, total_score
from arcwise.search.part_chart import CLIMB, DUAL, PartChart, understood_by_automata
from arcwise.search.result import Parse
from arcwise.search.spanning_tree import make_room as make_search_room
from arcwise.search.spanning_tree import spanning_tree
from arcwise.search.start_trees import (
    BEST,
    BEST_FIRST,
    STARTS,
    UNIFORM,
    Draws,
    arc_matrix,
    make_draws,
    start_tree,
)
from arcwise.search.status import FOUND
from arcwise.search.uphill import order_bottom_up, place
from arcwise.threads import heed, in_threads

_RESTARTS_WITHOUT_KICKS = 100  # by a function of whole trees
_WAVE = 16  # runs that a thread makes before the threads look at what they found

Heads = NDArray[np.int32]
WholeTree = Callable[[Heads], float]


class ClimbOptions(NamedTuple):
    """How to climb. restarts: runs in a row without a better tree before it ends. start: one of STARTS, or the heads of a tree, from
    which a single run is made; by default the first of STARTS, or uniform if there is a whole_tree: what a tree scores as a whole,
    beside the tables. bounded: whether to look for a bound, where a search can prove one, and to stop when a tree meets it. jobs:
    threads for the runs, which does not change what is found.
    """

    restarts: int = RESTARTS
    start: Any = STARTS[0]
    seed: int = 0
    whole_tree: WholeTree | None = None
    bounded: bool = True
    jobs: int = 1


def check_climbing(
    restarts: Any, start: Any, seed: Any, whole_tree: Any, bounded: bool, jobs: int
) -> ClimbOptions:
    """The options, if they are usable."""
    if restarts is None:
        restarts = RESTARTS if whole_tree is None else _RESTARTS_WITHOUT_KICKS
    seed = 0 if seed is None else seed
    if not isinstance(restarts, int | np.integer) or not 1 <= restarts <= MOST:
        raise InputError(f"restarts is {restarts!r}", expected=f"a number of runs, 1 to {MOST}")
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed is {seed!r}", expected="a whole number from 0 to 2^64 - 1")
    if start is None:  # what a tree scores as a whole need not go with the scores of its arcs
        start = STARTS[BEST_FIRST if whole_tree is None else UNIFORM]
    if isinstance(start, str) and start not in STARTS:
        raise InputError(
            f"start is {start!r}", expected=f"{', '.join(map(repr, STARTS))}, or heads of a tree"
        )
    if whole_tree is not None and not callable(whole_tree):
        raise InputError(f"whole_tree is {whole_tree!r:.60}", expected="a function from heads to a score")
    return ClimbOptions(int(restarts), start, int(seed), whole_tree, bounded, jobs)


def climb_parse(parts: PartChart, options: ClimbOptions, number: int) -> Parse:
    """A tree that no change of one head betters, nor a kick, the best of many runs; NoTreeError if there is none.

    Its bound is that of dual decomposition, for arcs alone the best score itself, or None if no search knows all tables, or a whole
    tree has a score. number: of the table among several; the start trees depend on it.
    """
    graph, own = parts.graph, _own_scores(parts)
    n = int(graph.position[-1])
    if n == 0:
        return parts.parse(np.zeros(1, np.int32), 0.0, 0.0, runs=0)
    S = arc_matrix(graph, own)
    given = None if isinstance(options.start, str) else _given_tree(parts, S, options.start)
    starts = BEST if given is not None else STARTS.index(options.start)
    draws, found = make_draws(S, starts, parts.single_root, np.uint64(options.seed), number)
    if not found:
        raise parts.no_tree()
    bound, proved = np.inf, None
    if options.bounded and options.whole_tree is None and understood_by_automata(parts.scores):
        proved = _proved(parts, S)
    if proved is not None and proved.bound is not None:
        bound = proved.bound
        if given is None:  # the tree that comes with it is as good a start as any
            draws.heads[:] = proved.heads
    if given is not None:
        draws.heads[:] = given
    least = parts.difference
    hill = make_hill(parts.kind, graph, parts.levels, parts.tables, parts.single_root, least)
    best = np.zeros(n + 1, np.int32)
    if options.whole_tree is not None:
        runs, at = _climb_by(hill, _Judge(options.whole_tree), draws, options.restarts, best)
    elif options.jobs > 1:
        runs, at = _climb_together(hill, S, draws, options, number, bound, best)
    else:
        climbed = climb_often(hill, None, draws, options.restarts, MOST, bound, False, best)
        runs, at = climbed.runs, climbed.best
    tree = make_tree(n + 1, len(graph.head))
    tree.up[:] = best
    score = stand(hill, tree)
    if score <= hill.forbidden / 2:
        raise InputError(
            f"{parts.place}no tree found in {runs} runs that has no forbidden part, nor proved that there is none",
            expected=f"more restarts, or decoder {DUAL!r}",
        )
    stats: dict[str, Any] = {"method": CLIMB, "runs": runs, "best_run": at}
    if options.whole_tree is not None:
        score += _Judge(options.whole_tree)(tree.heads)
        parse = parts.parse(best, score, score, **stats)
        parse.bound = None
        return parse
    parse = parts.parse(best, score, score if bound <= score + least else bound, **stats)
    if proved is None:
        parse.bound = None
    return parse


def _own_scores(parts: PartChart) -> Floats:
    """The scores of the arcs alone, by the graph's numbers."""
    own = parts.arcs
    if own.ndim == 2:
        own = own[parts.graph.head[1:], parts.graph.modifier[1:]]
    return np.concatenate([[0.0], own])


def _proved(parts: PartChart, S: Floats) -> Parse | None:
    """A tree with a bound on all trees: of arcs alone the best, else what dual decomposition finds soon, if it finds any."""
    if parts.given.keys() == {"arcs"}:
        heads = np.empty(len(S), np.int32)
        if spanning_tree(S, parts.single_root, make_search_room(len(S) - 1), heads) != FOUND:
            raise parts.no_tree()
        score = float(S[heads[1:], np.arange(1, len(S))].sum())
        return Parse(heads, score, score)
    try:
        return dual_parse(parts, DualOptions(exact=False, iterations=STALL))
    except NoTreeError:
        raise
    except InputError:
        return None


def _given_tree(parts: PartChart, S: Floats, start: Any) -> Heads:
    """The heads that a run is to begin with, if they are those of a tree of these arcs."""
    heads = np.asarray(start)
    n = len(S) - 1
    if heads.shape != (n + 1,) or heads.dtype.kind not in "iu":
        raise InputError(
            f"{parts.place}start of shape {heads.shape} and type {heads.dtype}", expected=f"{n + 1} whole numbers, heads of a tree"
        )  # fmt: skip
    heads = heads.astype(np.int32)
    for m in range(1, n + 1):
        if not 0 <= heads[m] <= n or S[heads[m], m] == -np.inf or heads[m] == m:
            raise InputError(
                f"{parts.place}start has the arc from {heads[m]} to {m}", expected="allowed arcs"
            )
        word, steps = m, 0
        while word > 0 and steps <= n:
            word, steps = int(heads[word]) if 0 <= heads[word] <= n else -1, steps + 1
        if word != 0:
            raise InputError(f"{parts.place}start has a cycle through word {m}", expected="a tree")
    if parts.single_root and np.count_nonzero(heads[1:] == 0) != 1:
        raise InputError(
            f"{parts.place}start with {np.count_nonzero(heads[1:] == 0)} roots", expected="exactly one"
        )
    return heads


def _climb_together(
    hill: Hill, S: Floats, draws: Draws, options: ClimbOptions, number: int, bound: float, best: Heads
) -> tuple[int, int]:
    """As `climb_often`, with the runs shared among threads: each is judged in its turn, so the result is the same."""
    n, jobs = len(best) - 1, options.jobs
    score, at, runs = -np.inf, 0, 0
    most = 1 if draws.starts == BEST else MOST

    def wave(first: int) -> list[tuple[float, Heads]]:
        own, _ = make_draws(S, draws.starts, draws.single_root, draws.seed, number)
        own.heads[:] = draws.heads
        size = min(_WAVE, most - first)
        scores, ups = np.empty(size), np.empty((size, n + 1), np.int32)
        make_runs(hill, own, first, first + size, scores, ups)
        return list(zip(scores.tolist(), ups, strict=True))

    while True:
        waves = in_threads(wave, range(runs, min(runs + jobs * _WAVE, most), _WAVE), jobs)
        for value, up in (run for runs_made in waves for run in runs_made):
            runs += 1
            if value > score + (hill.least if runs > 1 else 0.0):
                score, at, best[:] = value, runs, up
            if runs >= most or runs - at >= options.restarts or score >= bound - hill.least:
                return runs, at - 1


class _Judge:
    """A user's function of whole trees, whose faults are told as such. The same tree is asked about once."""

    def __init__(self, function: WholeTree) -> None:
        self.function, self.known = function, dict[bytes, float]()

    def __call__(self, heads: Heads) -> float:
        key = heads.tobytes()
        if key not in self.known:
            try:
                score = float(self.function(heads.copy()))
            except Exception as error:
                raise ArcwiseError(
                    f"whole_tree raised {type(error).__name__}: {error} (for the tree {heads.tolist()})"
                ) from error
            if not abs(score) < 1e300:
                raise InputError(
                    f"whole_tree gave {score} for the tree {heads.tolist()}", expected="a finite number"
                )
            self.known[key] = score
        return self.known[key]


def _climb_by(hill: Hill, judge: _Judge, draws: Draws, restarts: int, best: Heads) -> tuple[int, int]:
    """As `climb_often`, with a function of whole trees in Python: every run climbs by tables and function from where it begins, and
    none is kicked.
    """
    n = len(best) - 1
    tree, heads, seen = make_tree(n + 1, len(hill.head)), np.empty(n + 1, np.int32), set[bytes]()
    score, at, runs = -np.inf, 0, 0
    most = 1 if draws.starts == BEST else MOST
    while runs < most and (runs == 0 or runs - at < restarts):
        heed()
        start_tree(draws, runs, heads)
        runs += 1
        if heads.tobytes() in seen:
            continue
        seen.add(heads.tobytes())
        place(hill, tree, heads)
        found = _climb_on(hill, tree, judge)
        if found > score + (hill.least if runs > 1 else 0.0):
            score, at, best[:] = found, runs, tree.up
    return runs, at - 1


def _climb_on(hill: Hill, tree: Tree, judge: _Judge) -> float:
    """Climb by tables and function to a tree that no change of one head betters; returns what it scores by both."""
    least = hill.least
    score, before = total_score(tree) + judge(tree.heads), -np.inf
    while score > before:
        before = score
        order_bottom_up(tree)
        for m in tree.order[: len(tree.up) - 1].tolist():
            now = tree.up.copy()
            top = now
            for changed in _neighbours(hill, tree, m):
                tree.up[:] = now
                tree.up[m] = changed[0]
                if changed[1] > 0:
                    tree.up[hill.modifier[changed[1]]] = changed[1]
                value = stand(hill, tree) + judge(tree.heads)
                if value > score + least:
                    score, top = value, tree.up.copy()
            tree.up[:] = top
            stand(hill, tree)
    return score


def _neighbours(hill: Hill, tree: Tree, m: int) -> list[tuple[int, int]]:
    """The arcs that m may have instead of its own, each with the arc that the old root then has, or 0."""
    h = int(tree.heads[m])
    found = []
    for a in hill.into[hill.into_first[m] : hill.into_first[m + 1]].tolist():
        g = int(hill.head[a])
        if a == tree.up[m] or (g != h and is_below(tree, g, m)):
            continue
        if not hill.single_root or (g == 0) == (h == 0):
            found.append((a, 0))
        elif g == 0:
            [root] = np.flatnonzero(tree.heads == 0).tolist()
            for b in hill.into[hill.into_first[root] : hill.into_first[root + 1]].tolist():
                if hill.head[b] != 0 and is_below(tree, int(hill.head[b]), m):
                    found.append((a, b))
    return found
