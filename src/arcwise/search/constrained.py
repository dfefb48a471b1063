"""People's constraints on scores of their own: whatever `decode` can search, under what `arcwise.constraints` can say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arcwise.constraints.compiled import Compiled, Flags, compile_constraints
from arcwise.constraints.conflict import explain_conflict, smallest_conflict
from arcwise.constraints.kinds import Arc, Constraint, NoArc
from arcwise.constraints.reading import as_constraints
from arcwise.errors import InputError, NoTreeError
from arcwise.parts.arc_graph import PartScores
from arcwise.parts.matrices import as_batch, as_matrix
from arcwise.parts.matrices import place as place_of
from arcwise.parts.reach import least_difference, unit_of
from arcwise.parts.scores import Scores
from arcwise.search.best_heads import LIMIT
from arcwise.search.branching import Floats, Ints, Relaxed, branch
from arcwise.search.constraints import arc_pairs, each_of
from arcwise.search.part_chart import Parts, is_parts
from arcwise.search.pieces import check_jobs
from arcwise.search.result import Parse
from arcwise.threads import in_threads

Search = Callable[[Any], Parse]  # of scores of the same kind as those given
_LARGE = 1e290  # beyond this, scores less prices might be no numbers


class Arcs(NamedTuple):
    """The arcs that scores speak of: head, modifier, own score and label's number, and how to give them other scores. higher: the
    scores of parts of several arcs.
    """

    n: int
    head: Ints
    modifier: Ints
    score: Floats
    label: Ints
    names: list[str] | None
    rescored: Callable[[Floats], Any]
    higher: tuple[Floats, ...] = ()

    def members(self, compiled: Compiled) -> Flags:
        """(arcs, groups): which of them are of a group."""
        if self.names is None:
            return np.zeros((len(self.head), 0), np.bool_)
        return compiled.groups[:, self.label].T

    def alive(self, compiled: Compiled) -> Flags:
        """Those that are not barred, nor their labels."""
        found: Flags = ~compiled.barred[self.head, self.modifier] & (self.score > -np.inf)
        if compiled.barred_labels is not None:
            found &= ~compiled.barred_labels[self.head, self.modifier, self.label]
        return found

    def tree(self, parse: Parse, scores: Floats) -> Ints:
        """The arcs of a tree, of those that agree with its labels the best."""
        tree = np.zeros(self.n + 1, np.intp)
        labels = parse.labels
        for a in np.argsort(scores, kind="stable"):
            m = self.modifier[a]
            named = self.names is None or (labels is not None and labels[m - 1] == self.names[self.label[a]])
            if scores[a] > -np.inf and parse.heads[m] == self.head[a] and named:
                tree[m] = a
        return tree


def constrained_parse(
    scores: Any, wishes: Any, search: Search, *, required: Any = (), forbidden: Any = (), place: str = "",
    seconds: float | None = None,
) -> Parse:  # fmt: skip
    """The best tree that satisfies all constraints, by a search for the best tree of scores like these, called once if the best tree
    of the arcs that are not barred satisfies them, else as often as `branch` needs. Exact if the search is.

    NoTreeError, if there is no such tree: it names a smallest set of constraints that conflict, required and forbidden arcs
    among them.
    """
    arcs = _arcs(scores)
    _check_scores(arcs, place)
    constraints = list(dict.fromkeys(as_constraints(wishes)))
    constraints += [Arc(h, m) for h, m in arc_pairs(required, "required", arcs.n, place)]
    constraints += [NoArc(h, m) for h, m in arc_pairs(forbidden, "forbidden", arcs.n, place)]
    found = _solve(arcs, constraints, search, arcs.score, seconds)
    if found is None:
        flat = np.where(arcs.score > -np.inf, 0.0, -np.inf)

        def feasible(chosen: Sequence[Constraint]) -> bool:
            return _solve(arcs, chosen, search, flat, seconds) is not None

        raise explain_conflict(smallest_conflict(constraints, feasible), place)
    return found


def constrained_parses(
    scores: Any, wishes: Any, search: Search, *, required: Any, forbidden: Any, seconds: float | None, jobs: int
) -> Parse | list[Parse]:  # fmt: skip
    """The same for one or several scores; several have a collection of constraints each."""
    batch = scores if is_parts(scores) else as_batch(scores)
    if batch is None or isinstance(batch, Parts):
        return constrained_parse(
            scores, wishes, search, required=required, forbidden=forbidden, seconds=seconds
        )
    each = [
        each_of(given, name, len(batch))
        for name, given in (("constraints", wishes), ("required", required), ("forbidden", forbidden))
    ]

    def work_on(number: int) -> Parse:
        wishes, required, forbidden = (given[number] for given in each)
        return constrained_parse(
            batch[number], wishes, search, required=required, forbidden=forbidden, place=place_of(number), seconds=seconds
        )  # fmt: skip

    return in_threads(work_on, range(len(batch)), check_jobs(jobs))


def _solve(
    arcs: Arcs, constraints: Sequence[Constraint], search: Search, scores: Floats, seconds: float | None
) -> Parse | None:
    """The best tree of these scores of the arcs, or None."""
    compiled = compile_constraints(constraints, arcs.n, labels=arcs.names)
    members, alive = arcs.members(compiled), arcs.alive(compiled)
    parses: dict[bytes, Parse] = {}

    def priced(alive: Flags, prices: Floats) -> Relaxed | None:
        these = np.where(alive, scores - prices, -np.inf)
        try:
            parse = search(arcs.rescored(these))
        except NoTreeError:
            return None
        tree = arcs.tree(parse, these)
        parses[tree.tobytes()] = parse
        return Relaxed(tree, parse.score, parse.score if parse.certified else _bound(parse))

    free = np.zeros(len(scores))
    found = branch(
        lambda alive: priced(alive, free), arcs.head, arcs.modifier, members, compiled.group_heads, compiled.spans, alive,
        seconds=seconds, priced=priced if np.abs(scores[alive]).max(initial=0.0) < _LARGE else None,
        slack=_least_difference(arcs, scores[alive]),
    )  # fmt: skip
    if found is None:
        return None
    parse = parses[found.tree.tobytes()]
    stats = {**parse.stats, "searches": found.nodes}
    return Parse(parse.heads, found.score, max(found.score, found.bound), parse.labels, stats, parse.senses)


def _least_difference(arcs: Arcs, scores: Floats) -> float:
    """What two trees differ by at least, or a little less, if they differ; 0 if that is not known."""
    unit = unit_of([scores, *arcs.higher])
    difference, exact = least_difference(unit, (arcs.n + 1) ** 2)
    return float(np.ldexp(difference, -unit.shift)) if exact else 0.0


def _bound(parse: Parse) -> float:
    return np.inf if parse.bound is None else parse.bound


def _check_scores(arcs: Arcs, place: str) -> None:
    """InputError for scores that no search would take, of arcs that constraints may hide from it."""
    refused = ~((np.abs(arcs.score) <= LIMIT) | np.isneginf(arcs.score))
    if refused.any():
        a = int(refused.argmax())
        raise InputError(
            f"{place}the score of the arc from {arcs.head[a]} to {arcs.modifier[a]} is {arcs.score[a]}",
            expected=f"a number between -{LIMIT:g} and {LIMIT:g}, or -inf to forbid the arc",
        )


def _arcs(scores: Any) -> Arcs:
    """The arcs of one matrix, of tables, or of a graph."""
    if isinstance(scores, PartScores):
        graph = scores.graph
        tables = scores.tables()
        given = graph.as_given(tables.pop("arcs"))
        names = None if graph.labels is None else sorted({str(label) for label in graph.labels})
        number = {name: i for i, name in enumerate(names or ())}
        label = np.array([number[str(one)] for one in graph.labels or ()], np.intp)
        return Arcs(
            graph.n, graph.arcs[:, 0], graph.arcs[:, 1], given, label, names,
            lambda arcs: PartScores(graph, arcs, **tables), tuple(tables.values()),
        )  # fmt: skip
    if not isinstance(scores, Scores):
        S = as_matrix(scores)
    else:
        S = scores.arcs
    n = len(S) - 1
    inside = ~np.eye(n + 1, dtype=np.bool_)
    inside[:, 0] = False
    head, modifier = np.nonzero(inside)

    def rescored(arcs: Floats) -> Any:
        other = np.zeros_like(S)
        other[head, modifier] = arcs
        return other if not isinstance(scores, Scores) else Scores(**{**scores.tables(), "arcs": other})

    tables = scores.tables() if isinstance(scores, Scores) else {}
    higher = tuple(table for name, table in tables.items() if name != "arcs")
    return Arcs(n, head, modifier, S[head, modifier], np.zeros(len(head), np.intp), None, rescored, higher)
