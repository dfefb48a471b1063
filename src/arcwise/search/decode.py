"""The front door of the searches: scores in, the best tree out, proved best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.parts.head_automata import HeadAutomata
from arcwise.parts.matrices import Batch, Matrix, as_batch, as_matrix, place
from arcwise.search.arborescence import CUTS
from arcwise.search.chart import CHARTS
from arcwise.search.chart_trees import best_parse, k_best_parses
from arcwise.search.climb import check_climbing, climb_parse
from arcwise.search.constraints import Arc, constrain, each_of
from arcwise.search.dual import BUDGET, ITERATIONS, check_options, dual_parse
from arcwise.search.eisner import eisner_trees
from arcwise.search.explain import explain
from arcwise.search.k_best import Search, k_best_trees
from arcwise.search.linear_program import check_program_options, lp_parse
from arcwise.search.options import EISNER, SPANNING_TREE, has_option, refuse_others
from arcwise.search.part_chart import (
    CLIMB,
    DUAL,
    PRICE,
    PROGRAMS,
    PartChart,
    Parts,
    as_tables,
    at_hand,
    for_each,
    is_parts,
    part_chart,
)
from arcwise.search.part_polytopes import ALL
from arcwise.search.pieces import check_jobs, in_pieces
from arcwise.search.proof import proved
from arcwise.search.result import Parse
from arcwise.search.shaped import (
    BRANCH_AND_BOUND,
    SHAPED,
    check_shape,
    pick_shaped,
    search_one_shaped,
    search_shaped,
)
from arcwise.search.spanning_tree import spanning_trees
from arcwise.search.status import FOUND
from arcwise.search.tree_scores import tree_scores
from arcwise.search.within_reach import plainly, search_within_reach
from arcwise.threads import interruptible
from arcwise.trees.shapes import ANY, Shape

Arcs = Iterable[Arc]

# Every method: its kernel, and whether its trees are projective.
_METHODS: dict[str, tuple[Search, bool]] = {
    SPANNING_TREE: (spanning_trees, False),
    EISNER: (eisner_trees, True),
}
# Cubic time for more words than so many is worth a thread, so that it can be interrupted.
LONG = 200
_OF_TABLES = {DUAL, CLIMB, *PROGRAMS, *CHARTS} - _METHODS.keys()
_NONE: tuple[()] = ()


@overload
def decode(
    scores: Sequence[NDArray[Any]],
    *,
    projective: bool = ...,
    single_root: bool = ...,
    block_degree: int | None = ...,
    well_nested: bool = ...,
    one_inherit: bool = ...,
    required: Arcs | Iterable[Arcs] = ...,
    forbidden: Arcs | Iterable[Arcs] = ...,
    constraints: Any = ...,
    decoder: str | None = ...,
    exact: bool = ...,
    iterations: int | None = ...,
    budget: int | None = ...,
    rule: str = ...,
    trace: bool = ...,
    relaxation: str = ...,
    connected: str = ...,
    seconds: float | None = ...,
    restarts: int | None = ...,
    start: Any = ...,
    whole_tree: Callable[[NDArray[np.int32]], float] | None = ...,
    seed: int | None = ...,
    jobs: int = ...,
) -> list[Parse]: ...
@overload
def decode(
    scores: ArrayLike | Parts | Sequence[Parts],
    *,
    projective: bool = ...,
    single_root: bool = ...,
    block_degree: int | None = ...,
    well_nested: bool = ...,
    one_inherit: bool = ...,
    required: Arcs | Iterable[Arcs] = ...,
    forbidden: Arcs | Iterable[Arcs] = ...,
    constraints: Any = ...,
    decoder: str | None = ...,
    exact: bool = ...,
    iterations: int | None = ...,
    budget: int | None = ...,
    rule: str = ...,
    trace: bool = ...,
    relaxation: str = ...,
    connected: str = ...,
    seconds: float | None = ...,
    restarts: int | None = ...,
    start: Any = ...,
    whole_tree: Callable[[NDArray[np.int32]], float] | None = ...,
    seed: int | None = ...,
    jobs: int = ...,
) -> Any: ...
def decode(
    scores: Any,
    *,
    projective: bool = False,
    single_root: bool = True,
    block_degree: int | None = None,
    well_nested: bool = False,
    one_inherit: bool = False,
    required: Any = _NONE,
    forbidden: Any = _NONE,
    constraints: Any = _NONE,
    decoder: str | None = None,
    exact: bool = True,
    iterations: int | None = None,
    budget: int | None = None,
    rule: str = "gap",
    trace: bool = False,
    relaxation: str = ALL,
    connected: str = CUTS,
    seconds: float | None = None,
    restarts: int | None = None,
    start: Any = None,
    whole_tree: Callable[[NDArray[np.int32]], float] | None = None,
    seed: int | None = None,
    jobs: int = 1,
) -> Parse | list[Parse]:
    """The best tree under the scores of its parts, exactly: a `Parse`, whose bound is its score.

    O(n^2) time for all trees (spanning tree), O(n^3) for projective ones (Eisner); O(n^2) memory. Tables of higher parts are
    searched by the cheapest chart that understands them if trees must be projective: time and memory in `arcwise.search.chart`,
    2 GiB at most. If not, by dual decomposition over head automata and its finish (`arcwise.search.dual_decomposition`).

    scores: S[h, m], (n+1, n+1), real numbers up to 1e300 in size; -inf forbids an arc; column 0 and the
        diagonal are never read. Or several matrices of any sizes, as a list or a (b, n+1, n+1) array: they
        are searched together, and a list of parses comes back. Or `Scores`, tables of higher parts, or `PartScores`,
        the same with labels and senses, or `HeadAutomata`, or a list of them.
    projective: only trees whose arcs do not cross.
    block_degree, well_nested, one_inherit: only trees no yield of which has more blocks than this; in which no two yields interleave;
        in which, besides, block degrees are 2 at most and no gap is inherited twice (`arcwise.trees`). Found by branch and bound
        (`arcwise.search.shaped_tree`), with tables of parts by dual decomposition whose trees are found so.
    single_root: only trees with exactly one word headed by 0.
    required, forbidden: arcs (h, m) that the tree must have and must not have; for several matrices, one
        collection each.
    constraints: of `arcwise.constraints`, or lines of a file that say them; for several matrices, one collection each. Those on
        labels need `PartScores` of a graph with labels. Exact, whatever the method, if that is.
    decoder: the method, "spanning-tree" or "eisner", for a class of trees "branch-and-bound", or "lagrangian", whose tree may fall
        short of its bound; for tables "eisner", "sibling", "tri-sibling", "carreras", "model0",
        "model1", "model2", "grand-tri-sibling" or "great-grandparent", or "dual", for trees of either kind; None picks one that
        fits. Or a program over tables of second order, for trees that need not be projective: "lp", a linear program, whose tree may
        fall short of its bound, "ilp", an integer program, or "price", which builds of either only what matters
        (`arcwise.search.linear_program`, `arcwise.search.price_and_cut`). Or "climb", randomized hill climbing
        (`arcwise.search.climbing`), for all tables and for scores of whole trees: its tree is proved best only if it meets a bound
        that dual decomposition has, or for arcs alone the spanning tree, and with exact=False none is looked for. All of these take a
        matrix, too.
    exact: in dual decomposition, for "price" and for classes of trees, whether to go on until the tree is proved best. If not, so
        many `iterations` are made, or the linear program is all, and the best tree seen comes with the gap that is left. budget:
        work for each word, in edges of automata and pairs of words that are looked at, or nodes of branch and bound, after which an
        exact search gives up, too; its gap says so.
    rule: how long its steps are: "gap", after the gap that is left, or "paper", as Koo et al. (2010) have them, which is slower. Of
        branch and bound, "paper": rows, steps and branches as Corro et al. (2016) have them, likewise.
    trace: keep (bound, score of the tree, automata computed anew) of every iteration of dual decomposition in stats["trace"].
    relaxation: in programs, how parts are tied to arcs: "pairs", "sums" or "all" (`arcwise.search.part_polytopes`).
    connected: and how arcs are tied to trees: "cuts", "single-flow" or "multi-flow" (`arcwise.search.arborescence`).
    seconds: after which a program, branch and bound, or a search with constraints gives up on a matrix; the best tree so far comes
        with the gap that is left.
    restarts: climbing ends when so many runs in a row found no better tree; if not given 20, with a whole_tree 100. start: where runs
        begin, "best-first" (at the first-order best tree, then at trees drawn uniformly), "first-order" (at trees drawn from the
        first-order distribution), "uniform" (at trees drawn uniformly), or for a single run "best", or the heads of a tree.
        whole_tree: a function that takes the heads of a tree and gives what it scores beside its tables. seed: of all that is drawn.
    jobs: threads to share several matrices, or the runs of climbing one, among. The result does not depend on it.

    An option that the search does not have is refused (`arcwise.search.options`).

    Raises InputError for unusable scores or constraints, and NoTreeError if no tree is allowed. The same
    input always gives the same tree; among equally good heads the spanning tree prefers the smallest.

    >>> parse = decode([[0, 5, 4], [0, 0, 3], [0, 9, 0]])
    >>> parse.heads, parse.score, parse.certified
    (array([-1,  2,  0], dtype=int32), 13.0, True)
    >>> decode([[0, 5, 4], [0, 0, 3], [0, 9, 0]], required=[(0, 1)]).heads
    array([-1,  0,  1], dtype=int32)
    """
    shape = check_shape(block_degree, well_nested, one_inherit)
    scores = at_hand(scores)
    check_jobs(jobs)
    options = check_options(
        exact,
        ITERATIONS if iterations is None else iterations,
        BUDGET if budget is None else budget,
        rule,
        trace,
    )
    program_options = check_program_options(relaxation, connected, exact, seconds)
    climbing = check_climbing(restarts, start, seed, whole_tree, options.exact, jobs)
    of_parts = is_parts(scores, dual=True)
    search_name = _name_of_search(scores, of_parts, decoder, projective, shape)
    constrained = constraints is not _NONE and (not isinstance(constraints, list) or len(constraints) > 0)
    refuse_others(
        search_name, options.exact, iterations=iterations, budget=budget, rule=rule, trace=trace, relaxation=relaxation,
        connected=connected, seconds=None if constrained else seconds, restarts=restarts, start=start, whole_tree=whole_tree,
        seed=seed,
    )  # fmt: skip
    if constrained:
        from arcwise.search.constrained import constrained_parses

        oracle: Any = partial(
            decode, projective=projective, single_root=single_root, block_degree=block_degree, well_nested=well_nested,
            one_inherit=one_inherit, decoder=decoder, exact=exact, iterations=iterations, budget=budget, rule=rule, trace=trace,
            relaxation=relaxation, connected=connected, seconds=seconds if has_option(search_name, "seconds") else None,
            restarts=restarts, start=start, whole_tree=whole_tree, seed=seed,
        )  # fmt: skip
        return constrained_parses(
            scores, constraints, oracle, required=required, forbidden=forbidden, seconds=seconds, jobs=jobs
        )
    if not of_parts and decoder in _OF_TABLES:
        scores, of_parts = as_tables(scores), True
    if of_parts:

        def search_parts(chart: PartChart, number: int) -> Parse:
            if shape != ANY and not projective and chart.method != DUAL:
                raise InputError(f"decoder {decoder!r} for trees of shape {shape}", expected=f"{DUAL!r}")
            if chart.method in CHARTS:
                return best_parse(chart)
            if whole_tree is not None:
                return climb_parse(plainly(chart), climbing, number)
            return search_within_reach(chart, partial(search_by_bounds, number=number))

        def search_by_bounds(chart: PartChart, known: Parse | None, number: int) -> Parse:
            if chart.method == DUAL:
                return dual_parse(chart, options, ANY if projective else shape)
            if chart.method == CLIMB:
                jobs_here = jobs if isinstance(scores, Parts) else 1
                start = climbing.start if known is None or isinstance(climbing.start, str) else known.heads
                return climb_parse(chart, climbing._replace(jobs=jobs_here, start=start), number)
            if chart.method == PRICE:
                from arcwise.search.priced_tables import price_parse

                return proved(chart, partial(price_parse, options=program_options))
            return proved(chart, partial(lp_parse, options=program_options))

        parses: Parse | list[Parse] = for_each(
            scores, jobs, search_parts, projective=projective, single_root=single_root, decoder=decoder, dual=True,
            relaxation=relaxation, connected=connected, required=required, forbidden=forbidden,
        )  # fmt: skip
        return parses
    shaped = pick_shaped(decoder, shape, projective, options, iterations, budget, seconds)
    method, search = _pick(None if shaped else decoder, projective)
    single_root = bool(single_root)
    batch = as_batch(scores)
    if batch is None:
        S = as_matrix(scores)
        if required is not _NONE or forbidden is not _NONE:
            S = constrain(S, required, forbidden, projective=projective)
        return (
            search_one_shaped(S, shaped, single_root)
            if shaped
            else _search_one(S, method, search, single_root)
        )
    if required is not _NONE or forbidden is not _NONE:
        batch = _constrain_each(batch, required, forbidden, projective)
    if shaped is not None:
        return in_pieces(batch, jobs, lambda piece, first: search_shaped(piece, first, shaped, single_root))

    return in_pieces(
        batch, jobs, lambda piece, first: _search_many(piece, first, method, search, single_root)
    )


def _name_of_search(scores: Any, of_parts: bool, decoder: str | None, projective: bool, shape: Shape) -> str:
    """The search that `decode` takes; of the charts that understand a table, any."""
    if decoder is not None:
        return decoder
    first = scores[0] if of_parts and isinstance(scores, Sequence) else scores
    if projective and not isinstance(first, HeadAutomata):
        return EISNER
    if of_parts:
        return DUAL
    return SPANNING_TREE if shape == ANY else BRANCH_AND_BOUND


def k_best(
    scores: Any,
    k: int,
    *,
    projective: bool = False,
    single_root: bool = True,
    required: Arcs = _NONE,
    forbidden: Arcs = _NONE,
    decoder: str | None = None,
) -> list[Parse]:
    """The k best trees of one matrix or table of parts, exactly: distinct, best first, all of them if there are fewer than k.

    O(k n^3) time, O(k n^4) for projective trees; O(k n^2) memory; from the chart of a table O(k n^2) more. Options and errors
    as in `decode`; the bound of every parse is the score of the best one.

    >>> [(parse.heads.tolist(), parse.score) for parse in k_best([[0, 5, 4], [0, 0, 3], [0, 9, 0]], 3)]
    [([-1, 2, 0], 13.0), ([-1, 0, 1], 8.0)]
    """
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is {k!r}", expected="a number of trees, 1 or more")
    if decoder in CHARTS and decoder not in _METHODS and not is_parts(scores):
        scores = as_tables(scores)
    if is_parts(scores):
        if not isinstance(scores, Parts):
            raise InputError("several tables of parts", expected="one")
        chart = part_chart(
            scores, projective=projective, single_root=single_root, decoder=decoder, required=required, forbidden=forbidden
        )  # fmt: skip
        return interruptible(k_best_parses, chart, int(k))
    method, search = _pick(decoder, projective)
    S = constrain(as_matrix(scores), required, forbidden, projective=projective)
    best = _search_one(S, method, search, bool(single_root))
    trees = interruptible(k_best_trees, S, int(k), search, bool(single_root), long=len(S) > LONG)
    return [
        Parse(heads, score, max(best.score, score), None, {"method": method, "rank": rank})
        for rank, (score, heads) in enumerate(trees, start=1)
    ]


def _pick(decoder: str | None, projective: bool) -> tuple[str, Search]:
    name = decoder or (EISNER if projective else SPANNING_TREE)
    if name not in _METHODS:
        raise InputError(
            f"decoder is {decoder!r}",
            expected=", ".join(
                map(repr, dict.fromkeys([*_METHODS, *SHAPED, *CHARTS, DUAL, CLIMB, *PROGRAMS]))
            ),
        )
    search, finds_projective = _METHODS[name]
    if finds_projective != bool(projective):
        raise InputError(
            f"decoder {name!r} with projective={projective}", expected=f"projective={finds_projective} for it"
        )
    return name, search


def _search_one(S: Matrix, method: str, search: Search, single_root: bool) -> Parse:
    size = len(S)
    flat = S.reshape(-1)
    lengths = np.array((size - 1,), np.int64)
    heads = np.empty(size, np.int32)
    long = size > (LONG if _METHODS[method][1] else 5 * LONG)
    code = interruptible(search, flat, lengths, single_root, heads, long=long)[0]
    if code != FOUND:
        raise explain(S, code, _METHODS[method][1], single_root)
    score = float(tree_scores(flat, lengths, heads)[0])
    return Parse(heads, score, score, None, {"method": method})


def _search_many(batch: Batch, first: int, method: str, search: Search, single_root: bool) -> list[Parse]:
    """Search the matrices of a piece in one kernel call; they are numbered from `first`."""
    flat = np.concatenate([S.reshape(-1) for S in batch]) if isinstance(batch, list) else batch.reshape(-1)
    sizes = [len(S) for S in batch]
    lengths = np.array(sizes, np.int64) - 1
    heads = np.empty(sum(sizes), np.int32)
    codes = search(flat, lengths, single_root, heads)
    if codes.any():
        b = int(np.flatnonzero(codes)[0])
        raise explain(batch[b], codes[b], _METHODS[method][1], single_root, place(first + b))
    parses, end = [], 0
    for size, score in zip(sizes, tree_scores(flat, lengths, heads).tolist(), strict=True):
        start, end = end, end + size
        parses.append(Parse(heads[start:end], score, score, None, {"method": method}))
    return parses


def _constrain_each(batch: Batch, required: Any, forbidden: Any, projective: bool) -> list[Matrix]:
    """Every matrix with its own required and forbidden arcs."""
    must = each_of(required, "required", len(batch))
    must_not = each_of(forbidden, "forbidden", len(batch))
    return [
        constrain(S, required, forbidden, place(b), projective=projective)
        for b, (S, required, forbidden) in enumerate(zip(batch, must, must_not, strict=True))
    ]
