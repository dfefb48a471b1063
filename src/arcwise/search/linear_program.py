"""Trees by linear and by integer programs, with all columns there are: parts tied to arcs, and arcs to trees, as one chooses."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search.arborescence import (
    CONNECTED,
    CUTS,
    MULTI_FLOW,
    SINGLE_FLOW,
    cut,
    multi_flow,
    one_head,
    one_root,
    single_flow,
)
from arcwise.search.part_chart import ILP, PartChart
from arcwise.search.part_polytopes import ALL, RELAXATIONS, add_parts
from arcwise.search.program import INFEASIBLE, OPTIMAL, Program
from arcwise.search.result import Parse
from arcwise.search.second_order import SecondOrder, easy_bound, heaviest_tree, second_order, value
from arcwise.search.subtours import separate

WHOLE = (
    1e-6  # how far from 0 or 1 an arc may be, and how much may be missing from 1 where arcs come from outside
)
_SIZE = 10  # the greatest score of a program is near 2 to this
_ARRAYS = "arcs", "first", "pair", "last", "grand", "none"
_NOTHING = np.empty(0)


class ProgramOptions(NamedTuple):
    """relaxation: one of RELAXATIONS, how parts are tied to arcs. connected: one of CONNECTED, how arcs are tied to trees. exact: of
    column generation, whether to go on until the tree is proved best. seconds: after which to give up.
    """

    relaxation: str = ALL
    connected: str = CUTS
    exact: bool = True
    seconds: float = np.inf


class Outcome(NamedTuple):
    """status: as of `Solution`. z: the values of the arcs from arc 1 on, empty if there are none. value: of the program, -inf without
    a solution. bound: what no tree scores more than. cuts: rows that were added to keep words connected.
    """

    status: str
    z: Floats
    value: float
    bound: float
    columns: int = 0
    rows: int = 0
    cuts: int = 0


def check_program_options(relaxation: Any, connected: Any, exact: Any, seconds: Any) -> ProgramOptions:
    """The options, if they are usable. seconds: None for no limit."""
    for name, found, known in (("relaxation", relaxation, RELAXATIONS), ("connected", connected, CONNECTED)):
        if found not in known:
            raise InputError(f"{name} is {found!r}", expected=" or ".join(map(repr, known)))
    limit = np.inf if seconds is None else seconds
    if not isinstance(limit, int | float | np.integer | np.floating) or not limit >= 0:
        raise InputError(f"seconds is {seconds!r}", expected="a number, 0 or more")
    return ProgramOptions(relaxation, connected, bool(exact), float(limit))


def solve_program(parts: SecondOrder, options: ProgramOptions, integer: bool) -> Outcome:
    """The linear program, solved; and then the integer one, if it is asked for and the linear one is fractional.

    O(arcs + parts) columns, and O(n arcs) more for "multi-flow". The bound holds, whatever the status.

    >>> from arcwise.parts.graph import make_graph
    >>> graph = make_graph(*(np.array(x, np.int32) for x in ([0, 1, 2], [0, 0, 1, 2], [1, 2, 2, 1])))
    >>> parts = second_order(graph, {"arcs": np.array([5.0, 4.0, 3.0, 9.0])}, single_root=True)
    >>> solve_program(parts, ProgramOptions(), integer=False)
    Outcome(status='optimal', z=array([0., 1., 0., 1.]), value=13.0, bound=13.0, columns=4, rows=3, cuts=0)
    """
    end = perf_counter() + options.seconds
    graph, arcs, n = parts.graph, len(parts.arcs) - 1, len(parts.graph.position) - 1
    if n == 0:
        return Outcome(OPTIMAL, _NOTHING, 0.0, 0.0)
    scaled, unscaled = scaled_parts(parts)
    program = _build(scaled, options)
    z, best, bound, whole = _NOTHING, -np.inf, easy_bound(parts), False
    known: set[bytes] = (
        set()
    )  # the sets of words that are cut: none is to be cut again, whatever the solver's tolerance
    while True:
        solution = program.solve(end - perf_counter())
        bound = min(bound, unscaled(solution.bound))
        if len(solution.columns) > 0:
            best = unscaled(solution.value)
            z = np.clip(solution.columns[:arcs], 0.0, 1.0)
            z = np.rint(z) if whole else z
        if solution.status == INFEASIBLE:
            best = -np.inf
        if solution.status != OPTIMAL:
            break
        sets = separate(n, graph.head[1:], graph.modifier[1:], z, WHOLE)
        sets = sets[[words.tobytes() not in known for words in sets]]
        if len(sets) > 0 and options.connected == CUTS:
            cut(program, graph, sets)
            known.update(words.tobytes() for words in sets)
        elif integer and not whole and is_fractional(z).any():
            program.make_whole(np.arange(arcs))
            whole = True
        else:
            break
    return Outcome(solution.status, z, best, bound, program.width, program.height, len(known))


def is_fractional(z: Floats) -> NDArray[np.bool_]:
    """Whether each arc is neither 0 nor 1."""
    return np.abs(z - np.rint(z)) > WHOLE


def project(parts: SecondOrder, z: Floats) -> Ints | None:
    """The tree whose arcs have the greatest sum of values, of several the one with the better arcs: the arc into each word. None if
    there is no tree. O(n^2). z: of the arcs from arc 1 on; without any, arcs count as they score.
    """
    graph, scores = parts.graph, parts.arcs[1:]
    weights = scores
    if len(z) > 0:
        least, most = scores.min(where=scores > -np.inf, initial=np.inf), scores.max()
        weights = z + 1e-7 * (scores - least) / ((most - least) or 1.0)
    tree = heaviest_tree(graph, np.append(-np.inf, weights), parts.single_root)
    return tree if len(tree) else None


class Found(NamedTuple):
    """The arcs of a tree, its score, and what no tree scores more than; the program that was solved, and its fractional arcs."""

    tree: Ints
    score: float
    bound: float
    outcome: Outcome
    fractional: int


def program_tree(parts: SecondOrder, options: ProgramOptions, integer: bool) -> Found:
    """The tree of a linear or an integer program, and a bound: if they meet, the tree is proved best. The arcs must have a tree.

    A fractional solution is projected to a tree, which may fall short of the bound. So may the best tree known when the time is up or
    the solver fails. Without a tree that has no forbidden part the score is -inf; the bound too, if there is none.
    """
    end = perf_counter() + options.seconds
    outcome = solve_program(parts, options, integer)
    tree, score = _best_tree(parts, outcome.z)
    if score == -np.inf and outcome.status != INFEASIBLE and not integer:
        # There may be a tree without the parts that are forbidden: a whole solution would be one.
        whole = solve_program(parts, options._replace(seconds=end - perf_counter()), integer=True)
        tree, score = _best_tree(parts, whole.z)
        outcome = whole if whole.status == INFEASIBLE else outcome
    bound = -np.inf if outcome.status == INFEASIBLE else max(outcome.bound, score)
    if bound <= score + WHOLE * max(1.0, size_of_scores(parts)):
        bound = score
    return Found(tree, score, bound, outcome, int(np.count_nonzero(is_fractional(outcome.z))))


def lp_parse(chart: PartChart, options: ProgramOptions) -> Parse:
    """What `program_tree` finds, of an integer program if the method is "ilp". NoTreeError if there is no tree, InputError if none
    was found.
    """
    parts = second_order(chart.graph, chart.given, chart.single_root)
    if project(parts, _NOTHING) is None:
        raise chart.no_tree()
    tree, score, bound, outcome, fractional = program_tree(parts, options, chart.method == ILP)
    if bound == -np.inf:
        raise chart.no_tree()
    if score == -np.inf:
        raise no_tree_found(chart.place, outcome.status)
    return chart.parse(
        tree, score, bound,
        status=outcome.status, value=outcome.value, integral=outcome.value > -np.inf and fractional == 0, fractional=fractional,
        columns=outcome.columns, rows=outcome.rows, cuts=outcome.cuts,
        relaxation=options.relaxation, connected=options.connected,
    )  # fmt: skip


def no_tree_found(place: str, status: str) -> InputError:
    """The error to raise if a search ended before it knew anything."""
    return InputError(
        f"{place}{status}: no tree found, nor proved that there is none",
        expected="more seconds, or fewer forbidden parts",
    )


def _best_tree(parts: SecondOrder, z: Floats) -> tuple[Ints, float]:
    """The tree nearest to a solution or, if that has a forbidden part, the one of the best arcs; and its score."""
    for weights in (z, _NOTHING):
        tree: Any = project(parts, weights)
        score = value(parts, tree)
        if score > -np.inf:
            break
    return tree, score


def _build(parts: SecondOrder, options: ProgramOptions) -> Program:
    program = Program()
    allowed = parts.arcs[1:] > -np.inf
    program.add_columns(np.where(allowed, parts.arcs[1:], 0.0), allowed)
    one_head(program, parts.graph)
    if parts.single_root:
        one_root(program, parts.graph)
    if options.connected == SINGLE_FLOW:
        single_flow(program, parts.graph)
    elif options.connected == MULTI_FLOW:
        multi_flow(program, parts.graph)
    add_parts(program, parts, options.relaxation)
    return program


def scaled_parts(parts: SecondOrder) -> tuple[SecondOrder, Callable[[float], float]]:
    """Scores less those of the best arc into each word, times a power of two such that they are neither large nor small, since
    solvers' tolerances are absolute; and what gives the score of a tree back.
    """
    modifier = parts.graph.modifier
    best = np.full(len(parts.graph.position), -np.inf)
    np.maximum.at(best, modifier[1:], parts.arcs[1:])
    best[np.isneginf(best)] = 0.0
    parts = parts._replace(arcs=parts.arcs - best[modifier])
    shift = _SIZE - int(np.frexp(size_of_scores(parts))[1])
    arrays = {name: np.ldexp(getattr(parts, name), shift) for name in _ARRAYS}

    def unscaled(score: float) -> float:
        with np.errstate(over="ignore"):  # a bound may be infinite
            return float(np.ldexp(score, -shift) + best.sum())

    return parts._replace(**arrays), unscaled


def size_of_scores(parts: SecondOrder) -> float:
    """The greatest score in size."""
    arrays = (getattr(parts, name) for name in _ARRAYS)
    return max(float(np.abs(array[array > -np.inf]).max(initial=0.0)) for array in arrays)
