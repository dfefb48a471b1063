"""From tables of parts to the best tree of all, projective or not: dual decomposition, and its finish for an exact answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arcwise.errors import InputError
from arcwise.kernels import kernel
from arcwise.parts.graph import Graph
from arcwise.parts.head_automata import HeadAutomata
from arcwise.parts.tables import Floats
from arcwise.search.automata import Automata, Flags
from arcwise.search.dual_decomposition import (
    AGREED,
    CLOSED,
    NOTHING,
    STOPPED,
    Outcome,
    Problem,
    State,
    Steps,
    descend,
    find_live,
    make_state,
    make_vertices,
)
from arcwise.search.finish import Finished, Rounds, finish, fix_arcs, spread_scores
from arcwise.search.part_chart import DUAL, PartChart
from arcwise.search.result import Parse
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.state_automata import state_automata
from arcwise.search.tree_search import (
    ShapedSearch,
    TreeSearch,
    for_words,
    make_shaped_search,
    make_tree_search,
)
from arcwise.trees.shapes import ANY, Shape, no_shape

BETA = 0.001  # the share of arcs' scores that stays with the tree at first (appendix A.2)
# Of an exact search: the steps before the finish takes over, and the work for each word before it gives up, in edges of automata and
# pairs of words that are looked at: about as many nanoseconds.
STALL, BUDGET = 120, 100_000_000
UNLIMITED = 1 << 62
ITERATIONS = 5000  # of one that is not, unless told otherwise
# How much of what the automata know the tree is told at first, and how long steps are; found on development treebanks.
_SPREAD, _POLYAK, _PATIENCE = 0.8, 1.5, 15
_ROUNDS = Rounds(60, 1.5, 10, 0.1)
RULES = ("gap", "paper")
NOT_FINISHED = Finished(0, 0, 0, 0, 0)


class DualOptions(NamedTuple):
    """How far to go. exact: whether the finish follows, after STALL steps; else `iterations` steps are made, and the best tree seen
    is the answer. budget: of an exact search, work for each word. rule: one of RULES, how long steps are. trace: whether to keep the
    bound and the score of every step.
    """

    exact: bool = True
    iterations: int = ITERATIONS
    budget: int = BUDGET
    rule: str = "gap"
    trace: bool = False

    @property
    def steps(self) -> int:
        """Steps of dual decomposition at most."""
        return min(STALL, self.iterations) if self.exact else self.iterations

    @property
    def paper(self) -> bool:
        """Whether these are as the paper has them."""
        return self.rule == "paper"


@kernel
def begin(
    graph: Graph,
    automata: Automata,
    grand: bool,
    trees: TreeSearch | ShapedSearch,
    own: Floats,
    slack: float,
    budget: int,
) -> tuple[Problem, State]:
    """The problem of a sentence, and the state before the first step. own: the scores of the arcs alone. budget: of work in all."""
    arcs = len(graph.head)
    alive = np.ones(arcs, np.bool_)
    u = np.zeros(arcs)
    for b in range(1, arcs):
        alive[b] = own[b] > -np.inf
        u[b] = BETA * own[b] if alive[b] else 0.0
    vertices = make_vertices(graph)
    own_trees = for_words(trees, len(vertices) - 2)
    problem = Problem(
        graph, automata, grand, own_trees, alive, slack, vertices, budget, find_live(graph, alive)
    )
    nothing = np.zeros(len(problem.vertices) - 1, np.int32)
    return problem, make_state(problem, u, np.zeros(arcs), -np.inf, nothing, np.zeros(1, np.int64))


@kernel
def approach(problem: Problem, state: State, steps: int, paper: bool, trace: Floats) -> Outcome:
    """So many steps of dual decomposition: as the paper has them, or from where the automata have told the tree what they know, and
    as long as the gap asks for. On trained models that takes a tenth of the steps.
    """
    if not paper:
        spread_scores(problem, state, _SPREAD)
    how = Steps(steps, 0.0 if paper else _POLYAK, _PATIENCE)
    return descend(problem, state, how, np.empty(0, np.int32), trace)


@kernel
def search(
    problem: Problem, state: State, steps: int, paper: bool, exact: bool, trace: Floats
) -> tuple[Outcome, Finished]:
    """The state comes back with the best tree and a bound. exact: whether the finish follows."""
    outcome, finished = approach(problem, state, steps, paper, trace), NOT_FINISHED
    if outcome.code == STOPPED and exact:
        finished = finish(problem, state, _ROUNDS)
    return outcome, finished


def how_it_ended(code: int, finished: bool, certified: bool) -> str:
    """How a search ended, in a word. finished: whether the finish was needed; certified: whether the tree is proved best.

    >>> how_it_ended(AGREED, False, True), how_it_ended(STOPPED, True, False)
    ('agreement', 'budget')
    """
    if finished:
        return "finish" if certified else "budget"
    return {AGREED: "agreement", CLOSED: "bound", STOPPED: "iterations", NOTHING: "no tree"}[code]


def dual_parse(parts: PartChart, options: DualOptions, shape: Shape = ANY) -> Parse:
    """The best tree of the shape; NoTreeError if there is none, InputError if the budget ended before any was found."""
    return search_automata(parts, *_automata(parts), options, shape)


def arcs_of_rivals(parts: PartChart, parse: Parse) -> Flags:
    """The arcs that a tree as good as this one may have, as far as the bound of dual decomposition tells, in the shape of the scores
    of arcs. What rounding may cost is allowed for: no other arc is in a better tree.
    """
    automata, own = _automata(parts)
    graph, longest = parts.graph, int(parts.graph.position[-1])
    trees = make_tree_search(longest, parts.single_root, parts.projective)
    problem, state = begin(
        graph, automata, parts.kind.complete > 0, trees, own, -parts.difference, BUDGET * (longest + 1)
    )
    approach(problem, state, STALL, False, np.empty((0, 3)))
    alive = problem.alive.copy()
    state.incumbent[0] = parse.score
    none_better = fix_arcs(problem, state, alive) < 0
    here = graph.position[graph.head[1:]], graph.position[graph.modifier[1:]]
    alive = (alive[1:] & (not none_better)) | (parse.heads[here[1]] == here[0])
    if parts.arcs.ndim == 1:
        among: Flags = alive & (parts.arcs > -np.inf)
        return among
    flags = np.zeros(parts.arcs.shape, np.bool_)
    flags[here] = alive
    return flags


def _automata(parts: PartChart) -> tuple[Automata, Floats]:
    """The automata of a problem, and the scores of the arcs alone, by the graph's numbers."""
    own, graph, given = parts.arcs, parts.graph, parts.given
    if isinstance(parts.scores, HeadAutomata):
        automata = state_automata(
            graph,
            own,
            given["left"],
            given["right"],
            given["left_end"],
            given["right_end"],
            parts.single_root,
        )
    else:
        automata = sibling_automata(parts.kind, graph, parts.levels[0], parts.tables, parts.single_root)
    if own.ndim == 2:
        own = own[graph.head[1:], graph.modifier[1:]]
    return automata, np.concatenate([[0.0], own])


def search_automata(
    parts: PartChart, automata: Automata, own: Floats, options: DualOptions, shape: Shape = ANY
) -> Parse:
    """The same for automata of any kind."""
    graph, longest = parts.graph, int(parts.graph.position[-1])
    trees: TreeSearch | ShapedSearch = make_tree_search(longest, parts.single_root, parts.projective)
    if shape != ANY:
        trees = make_shaped_search(longest, parts.single_root, shape)
    slack, words = parts.difference, longest + 1
    trace = np.full((options.steps if options.trace else 0, 3), np.nan)
    budget = min(options.budget * words, UNLIMITED) if options.exact else UNLIMITED
    problem, state = begin(graph, automata, parts.kind.complete > 0, trees, own, slack, budget)
    # As in `search`, which this does without for the sake of the time to compile it.
    outcome = approach(problem, state, options.steps, options.paper, trace)
    finished, went_on = NOT_FINISHED, options.exact and outcome.code == STOPPED
    if went_on:
        finished = finish(problem, state, _ROUNDS)
    score, bound = float(state.incumbent[0]), float(state.least[0])
    if score == -np.inf:
        if bound == -np.inf:
            raise parts.no_tree() if shape == ANY else no_shape(shape, parts.place)
        raise InputError(
            f"{parts.place}no tree found in {outcome.steps + finished.steps} steps, nor proved that there is none",
            expected="more iterations, or exact=True with a larger budget",
        )
    bound = score if bound <= score + slack else bound
    if longest == 0:
        bound = score
    stats = {
        "method": DUAL,
        "ended": how_it_ended(outcome.code, went_on, bound == score),
        "iterations": outcome.steps,
        "recomputed": outcome.recomputed / (outcome.steps * words),
        **({f"finish_{name}": number for name, number in finished._asdict().items()} if went_on else {}),
        **({"trace": trace[: outcome.steps]} if options.trace else {}),
    }
    return parts.parse(state.best_tree, score, bound, **stats)


def check_options(
    exact: Any, iterations: Any, budget: Any, rule: Any = "gap", trace: Any = False
) -> DualOptions:
    """The options, if they are usable."""
    for name, number, what in (
        ("iterations", iterations, "number of steps"),
        ("budget", budget, "budget of work"),
    ):
        if not isinstance(number, int | np.integer) or not 1 <= number < 1 << 62:
            raise InputError(f"{name} is {number!r}", expected=f"a {what}, 1 or more and less than 2^62")
    if rule not in RULES:
        raise InputError(f"rule is {rule!r}", expected=" or ".join(map(repr, RULES)))
    return DualOptions(bool(exact), int(iterations), int(budget), rule, bool(trace))
