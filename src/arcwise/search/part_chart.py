"""From tables of part scores to the chart, or the automata, that understand them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError, InputError
from arcwise.parts.arc_graph import PartScores
from arcwise.parts.folding import RULES, Levels, fold, needs, room_for_parts, unfold
from arcwise.parts.graph import Graph, Ints, make_graph
from arcwise.parts.head_automata import HeadAutomata
from arcwise.parts.matrices import as_batch
from arcwise.parts.matrices import place as place_of
from arcwise.parts.scores import Scores, refuse
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.search.arborescence import CUTS, MULTI_FLOW
from arcwise.search.best_heads import LIMIT
from arcwise.search.chart import CHARTS, Chart, make_chart, make_levels
from arcwise.search.constraints import Arc, constrain, each_of
from arcwise.search.explain import explain
from arcwise.search.part_polytopes import ALL, nonzeros
from arcwise.search.pieces import check_jobs
from arcwise.search.result import Parse
from arcwise.search.second_order import TABLES
from arcwise.search.sibling_automata import AUTOMATA
from arcwise.search.status import NO_TREE
from arcwise.threads import in_threads, interruptible

Parts = Scores | PartScores | HeadAutomata
T = TypeVar("T")

_SUMMANDS = 16  # more tables than this never go to one array
MOST_BYTES = 2 << 30  # that a chart may take
# Bytes of a cell, with its item, its score and what is found of it, and of a pair of arcs from one head.
_CELL, _PAIR = 56, 24
_COUNT = 8  # of a pair in the graph alone
# A chart of so few arcs is searched so soon that nobody would interrupt it.
_FEW_ARCS = 1000
_EDGE, _NODE = 24, 56  # of an edge of an automaton, with the table it is made from, and of a node
_ENTRY = 800  # of a number in a program, at most, when it is solved
DUAL, CLIMB = "dual", "climb"
LP, ILP, PRICE = PROGRAMS = "lp", "ilp", "price"
_SIBLINGS = ("siblings", "first", "none")
_STATES = Kind(0, 0, 0)  # of automata with states: they remember no words


class PartChart(NamedTuple):
    """A chart that is ready to be filled, or tables ready for automata, and what is needed to read the result.

    method: the chart, DUAL, CLIMB, or one of PROGRAMS. kind: what it remembers. given: the tables as they were given, after
    constraints. tables: the same, folded; of `HeadAutomata` the arcs alone. difference: of methods that prove trees best by bounds,
    how near a bound must come to a score (`arcwise.search.within_reach`).
    """

    method: str
    kind: Kind
    projective: bool
    scores: Parts
    graph: Graph
    levels: Levels
    tables: Tables
    single_root: bool
    place: str  # which of several this is, for errors
    offset: float  # what was taken from the score of every tree
    given: dict[str, Floats]
    difference: float = 0.0

    @property
    def arcs(self) -> Floats:
        """The scores of the arcs, after constraints."""
        return self.given["arcs"]

    def chart(self) -> Chart:
        """An empty chart."""
        return make_chart(self.graph, self.levels, self.kind, self.tables, self.single_root)

    def no_tree(self) -> ArcwiseError:
        """The error to raise if there is no tree."""
        S = self.arcs
        if S.ndim == 1:
            h, m = self.graph.position[self.graph.head[1:]], self.graph.position[self.graph.modifier[1:]]
            S = np.full((self.graph.position[-1] + 1,) * 2, -np.inf)
            np.maximum.at(S, (h, m), self.arcs)
        return explain(S, NO_TREE, self.projective, self.single_root, self.place)

    def heads(self, arcs: Ints) -> NDArray[np.int32]:
        """The heads of a tree, given the arc into each word."""
        heads = self.graph.position[self.graph.head[arcs]]
        heads[0] = -1
        return heads

    def parse(self, arcs: Ints, score: float, bound: float, **stats: Any) -> Parse:
        """The result of a search that found these arcs."""
        parse = Parse(self.heads(arcs), score, bound, None, {"method": self.method, **stats})
        if isinstance(self.scores, PartScores):
            graph = self.scores.graph
            chosen = graph.names[arcs[1:]]
            if graph.labels is not None:
                parse.labels = [graph.labels[arc] for arc in chosen]
            parse.senses = graph.senses[chosen, 1].tolist()
        return parse


def is_parts(scores: Any, dual: bool = False) -> bool:
    """Whether scores are tables of parts, one or several, and not arc matrices. InputError for `HeadAutomata`, unless `dual`."""
    if type(scores) is np.ndarray:  # the usual case, and the shortest
        return False
    if isinstance(scores, Sequence) and len(scores) > 0:
        scores = scores[0]
    if isinstance(scores, HeadAutomata) and not dual:
        raise _only_decode()
    return isinstance(scores, Parts)


def _only_decode(place: str = "") -> InputError:
    return InputError(f"{place}HeadAutomata", expected="Scores or PartScores: only `decode` takes automata")


def at_hand(scores: Any) -> Any:
    """Scores as they are, but as a list if they can be gone through only once."""
    return list(scores) if type(scores) is not np.ndarray and isinstance(scores, Iterator) else scores


def as_tables(scores: Any) -> Any:
    """One matrix, or each of several, as a table of arcs."""
    batch = as_batch(scores)
    return Scores(scores) if batch is None else [Scores(S) for S in batch]


def pick_chart(tables: Iterable[str], decoder: str | None) -> str:
    """The cheapest chart that understands the tables, or the one named, if it does.

    >>> pick_chart(["arcs", "grandchildren"], None), pick_chart(["arcs", "siblings"], "model1")
    ('model0', 'model1')
    """
    if decoder is not None and decoder not in CHARTS:
        raise InputError(
            f"decoder is {decoder!r}",
            expected=f"for tables of parts one of {', '.join([*CHARTS, DUAL, CLIMB, *PROGRAMS])}",
        )
    for name, kind in CHARTS.items():
        if decoder in (None, name) and all(_understands(kind, table) for table in tables):
            return name
    if decoder is None:
        raise InputError(f"{', '.join(tables)} together", expected="tables that one chart understands")
    raise _not_of(tables, CHARTS[decoder], decoder)


def pick_automata(tables: Iterable[str]) -> str:
    """The cheapest head automata that understand the tables.

    >>> pick_automata(["arcs", "siblings"]), pick_automata(["arcs", "grandchildren"])
    ('sibling', 'grand-sibling')
    """
    for name, kind in AUTOMATA.items():
        if all(_understands(kind, table) for table in tables):
            return name
    raise _not_of(tables, AUTOMATA["grand-tri-sibling"], DUAL)


def _not_of(tables: Iterable[str], kind: Kind, decoder: str) -> InputError:
    strange = [table for table in tables if not _understands(kind, table)]
    return _strange(strange, [table for table in RULES if _understands(kind, table)], decoder)


def _strange(strange: Iterable[str], known: Iterable[str], decoder: str) -> InputError:
    return InputError(
        f"{', '.join(strange)} for decoder {decoder!r}", expected=f"no tables but {', '.join(known)}"
    )


def _understands(kind: Kind, table: str) -> bool:
    return all(has >= needed for has, needed in zip(kind, needs(table), strict=True))


def part_chart(
    scores: Parts,
    *,
    projective: bool,
    single_root: bool,
    decoder: str | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    dual: bool = False,
    shifted: bool = False,
    place: str = "",
    relaxation: str = ALL,
    connected: str = CUTS,
) -> PartChart:
    """Everything up to the search itself. InputError for what cannot be searched, and for what would take too much memory.

    dual: whether there is an answer by automata, too, which are for trees that need not be projective, or for decoder DUAL; and by
    programs of this relaxation, connected in this way.
    shifted: take the best arc's score from all arcs into a word, so that sums of exponentials lose no digits to it.
    """
    tables = scores.tables()
    program = (relaxation, connected, "grandchildren" in tables, not tables.keys().isdisjoint(_SIBLINGS))
    if isinstance(scores, HeadAutomata):
        if not dual:
            raise _only_decode(place)
        if decoder not in (None, DUAL):
            raise InputError(f"{place}HeadAutomata for decoder {decoder!r}", expected=f"decoder {DUAL!r}")
        method, kind = DUAL, _STATES
    elif dual and (decoder == DUAL or (decoder is None and not projective)):
        method, kind = (
            DUAL,
            AUTOMATA[pick_automata([*tables, "grandchildren"] if _senses(scores) else tables)],
        )
    elif dual and decoder == CLIMB:
        if projective or _senses(scores):
            found = "projective=True" if projective else "words with several senses"
            raise InputError(f"{place}decoder {decoder!r} with {found}", expected=f"decoder {DUAL!r}")
        method, kind = decoder, Kind(*(max(needed) for needed in zip(*map(needs, tables), strict=True)))
        if any(kind) and understood_by_automata(scores):  # so that these can give a bound
            kind = AUTOMATA[pick_automata(tables)]
    elif dual and decoder in PROGRAMS:
        strange = [table for table in tables if table not in TABLES]
        if strange:
            raise _strange(strange, TABLES, decoder)
        if projective or _senses(scores):
            found = "projective=True" if projective else "words with several senses"
            expected = "projective=False for it" if projective else f"decoder {DUAL!r}"
            raise InputError(f"{place}decoder {decoder!r} with {found}", expected=expected)
        method, kind = decoder, AUTOMATA[pick_automata(tables)]
    else:
        method = pick_chart(tables, decoder)
        kind = CHARTS[method]
        if not projective:
            raise InputError(
                f"{place}tables of parts with projective=False"
                + (f" and decoder {decoder!r}" if decoder else ""),
                expected="projective=True" + (f", or decoder {DUAL!r}" if dual else ""),
            )
    if isinstance(scores, PartScores):
        graph = scores.graph.graph
        tables["arcs"] = _constrain_graph(graph, tables["arcs"], required, forbidden, place, projective)
    else:
        tables["arcs"] = constrain(tables["arcs"], required, forbidden, place, projective=projective)
    offset = 0.0
    if shifted:
        tables["arcs"], offset = _shifted(tables["arcs"], scores)
    head = (method, kind, bool(projective), scores)
    graph, levels, arrays = _assemble(method, kind, scores, tables, place, program)
    return PartChart(*head, graph, levels, arrays, bool(single_root), place, offset, tables)


def forbid(chart: PartChart, gone: dict[str, NDArray[np.bool_]]) -> PartChart:
    """The same with some entries of its tables forbidden, as if they had been given as -inf. gone: flags of entries, by table."""
    given = chart.given | {name: np.where(flags, -np.inf, chart.given[name]) for name, flags in gone.items()}
    graph, levels, arrays = _assemble(chart.method, chart.kind, chart.scores, given, chart.place, None)
    return chart._replace(graph=graph, levels=levels, tables=arrays, given=given)


def only_one(chart: PartChart) -> bool:
    """Whether every word has one arc only."""
    allowed = len(chart.graph.head) - 1 if chart.arcs.ndim == 2 else np.count_nonzero(chart.arcs > -np.inf)
    return int(allowed) == int(chart.graph.position[-1])


def _assemble(
    method: str, kind: Kind, scores: Parts, tables: dict[str, Floats], place: str, program: tuple[str, str, bool, bool] | None
) -> tuple[Graph, Levels, Tables]:  # fmt: skip
    """The graph of the arcs that are allowed, its levels, and the tables as a search reads them. program: None if the memory that a
    search takes was looked at before.
    """
    states = scores.states if isinstance(scores, HeadAutomata) else 0
    if not isinstance(scores, PartScores):
        S = tables["arcs"]
        allowed = ~np.isneginf(S)
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        head, modifier = (arcs.astype(np.int32) for arcs in np.nonzero(allowed))
        position = np.arange(len(S), dtype=np.int32)
        advice = "forbid unlikely ones with -inf"
        if program is not None:
            _check_memory(method, kind, position, head, modifier, advice, place, states, program)
        graph = make_graph(position, head, modifier)
    else:
        graph = scores.graph.graph
        advice = "leave unlikely ones out of the graph"
        if program is not None:
            _check_memory(
                method, kind, graph.position, graph.head[1:], graph.modifier[1:], advice, place, program=program
            )  # fmt: skip
    levels = make_levels(graph, kind)
    if isinstance(scores, HeadAutomata):
        scores.check(allowed, LIMIT)
        tables = {"arcs": tables["arcs"]}
    arrays = fold(tables, graph, levels, kind)
    for array in arrays:
        if len(array) > 0 and not ((np.abs(array) <= _SUMMANDS * LIMIT) | np.isneginf(array)).all():
            everything = room_for_parts(arrays, 1.0)
            shapes = {name: table.shape for name, table in tables.items()}
            read = unfold(everything, shapes, graph, levels, kind, True)
            if isinstance(scores, PartScores):  # as the caller numbers the arcs
                for of_arcs in (tables, read):
                    of_arcs["arcs"] = scores.graph.as_given(of_arcs["arcs"])
            raise refuse(tables, read, LIMIT)
    return graph, levels, arrays


def understood_by_automata(scores: Parts) -> bool:
    """Whether head automata know all that the tables score."""
    return all(_understands(AUTOMATA["grand-tri-sibling"], table) for table in scores.tables())


def _senses(scores: Parts) -> bool:
    """Whether words have several senses."""
    return isinstance(scores, PartScores) and len(scores.graph.graph.position) > scores.graph.n + 1


def _constrain_graph(
    graph: Graph, arcs: Floats, required: Iterable[Arc], forbidden: Iterable[Arc], place: str, projective: bool
) -> Floats:  # fmt: skip
    """The scores of the graph's arcs, -inf for those that a constraint rules out."""
    nothing = np.zeros((graph.position[-1] + 1,) * 2)
    allowed = constrain(nothing, required, forbidden, place, projective=projective)
    return arcs + allowed[graph.position[graph.head[1:]], graph.position[graph.modifier[1:]]]


def _shifted(arcs: Floats, scores: Parts) -> tuple[Floats, float]:
    """The scores of arcs less that of the best arc into the same word, and what this takes from every tree."""
    if isinstance(scores, PartScores):
        graph = scores.graph.graph
        m = graph.position[graph.modifier[1:]]
        best = np.full(int(graph.position[-1]) + 1, -np.inf)
        np.maximum.at(best, m, arcs)
    else:
        m = np.arange(len(arcs), dtype=np.int32)
        best = np.where(np.eye(len(arcs), dtype=np.bool_), -np.inf, arcs).max(axis=0)
        best[0] = -np.inf
    best[~(np.abs(best) <= LIMIT)] = 0.0
    return arcs - best[m], float(best.sum())


def _check_memory(
    method: str,
    kind: Kind,
    position: Ints,
    head: Ints,
    modifier: Ints,
    advice: str,
    place: str,
    states: int = 0,
    program: tuple[str, str, bool, bool] = (ALL, CUTS, False, False),
) -> None:
    """InputError if the search would take more than MOST_BYTES: found from the numbers of arcs, before anything is built.

    program: relaxation, connected, and whether grandparents and siblings are scored.
    """
    vertices, n = len(position), int(position[-1])
    out = np.bincount(head, minlength=vertices)
    left = np.bincount(head[modifier < head], minlength=vertices)
    pairs = (left * (left - 1) + (out - left) * (out - left - 1)) // 2
    above = [np.ones(vertices, np.int64), np.bincount(modifier, minlength=vertices)]  # spines of each vertex
    above[1][0] = 1
    above.append(np.bincount(modifier, above[1][head], vertices).astype(np.int64))
    above[2][0] = 1
    upper, lower, below = above[kind.complete], above[kind.incomplete], above[max(kind.complete - 1, 0)]
    cells = int(upper.sum()) * (n + 2) + int((lower * out).sum())
    if kind.siblings > 0:
        cells += int((upper * out).sum())
        cells += vertices * vertices if kind.complete == 0 else int((below * pairs).sum())
    if kind.siblings == 2:
        cells += int((lower * pairs).sum())
    size = cells * _CELL + int(pairs.sum()) * _PAIR
    if method in (DUAL, CLIMB):
        nodes, edges = out + pairs * (kind.siblings - 1), 2 * out + pairs
        if kind.siblings == 2:
            edges = edges + pairs + pairs * np.maximum(np.maximum(left, out - left) - 2, 0) // 3
        size = int((upper * (nodes * _NODE + edges * _EDGE)).sum())
        if kind.siblings == 0:  # arcs alone have no automata
            size = len(head) * _NODE + int(pairs.sum()) * _COUNT
    if states > 0:
        size = int(pairs.sum()) * _PAIR + len(head) * states * (2 * _NODE + (states + 2) * _EDGE)
    if method in PROGRAMS:
        relaxation, connected, grand, siblings = program
        steps = int((above[1] * out)[1:].sum())
        sides = np.concatenate([left, out - left])
        triples = int((sides * (sides - 1) * (sides - 2) // 6).sum())
        entries = nonzeros(relaxation, grand, siblings, steps, int(pairs.sum()), triples)
        entries += len(head) * (5 * n if connected == MULTI_FLOW else 5)
        size = entries * (_ENTRY if method != PRICE else _EDGE)  # of which few are built
    if size > MOST_BYTES:
        what = {
            DUAL: "automata take",
            CLIMB: "the tables take",
            **dict.fromkeys(PROGRAMS, "the program takes"),
        }.get(method, f"the chart {method!r} takes")
        raise InputError(
            f"{place}{len(head)} arcs between {n} words, for which {what} {size / 2**30:.1f} GiB",
            expected=f"fewer arcs, so that it takes {MOST_BYTES / 2**30:.0f} GiB at most: {advice}",
        )


def for_each(
    scores: Any,
    jobs: int,
    work: Callable[[PartChart, int], T],
    *,
    required: Any = (),
    forbidden: Any = (),
    **options: Any,
) -> Any:
    """What `work` makes of the chart of one table, or of each of several, shared among threads; it is told the number of each."""
    check_jobs(jobs)
    if isinstance(scores, Parts):
        chart = part_chart(scores, required=required, forbidden=forbidden, **options)
        few = len(chart.graph.head) <= _FEW_ARCS and chart.method in CHARTS
        return interruptible(work, chart, 0, long=not few)
    constraints = [
        each_of(arcs, name, len(scores)) for name, arcs in (("required", required), ("forbidden", forbidden))
    ]

    def work_on(number: int) -> T:
        where = place_of(number)
        if not isinstance(scores[number], Parts):
            raise InputError(
                f"{where}{type(scores[number]).__name__}", expected="tables of parts, as the first"
            )
        must, must_not = (arcs[number] for arcs in constraints)
        return work(
            part_chart(scores[number], required=must, forbidden=must_not, place=where, **options), number
        )

    return in_threads(work_on, range(len(scores)), jobs)
