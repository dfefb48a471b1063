"""Random problems of every kind of scores, for every method: is what it claims of its tree true of all trees?

Scores are whole numbers with ties, real numbers, numbers of mixed magnitudes in one table, numbers of any scale, and any of these
with -inf or with masks, large negative numbers on arcs and parts that are not wanted. `python -m tests.search.certificates` runs
as many as it is told and says what it found:

    NUMBA_BOUNDSCHECK=0 python -m tests.search.certificates --instances 1000000
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import arcwise
from arcwise import HeadAutomata, InputError, NoTreeError, Scores, decode
from arcwise.constraints.reading import as_constraints
from arcwise.trees.enumerate import all_trees
from arcwise.trees.shapes import ANY, Shape, has_shape
from tests.constraints.naive import satisfies
from tests.parts import naive, naive_automata

LONG: Any = np.longdouble
MASKS = (-1e5, -1e7, -1e9, -1e10, -1e12, -1e15, -1e30, -3.4e38, -1e100, -1e300)
# By magnitudes: the tables of second order that programs know, and those that automata and charts know.
PROGRAM_TABLES = ("siblings", "grandchildren")
AUTOMATA_TABLES = ("siblings", "grandchildren", "grand_siblings", "tri_siblings")


class Method(NamedTuple):
    """How a problem is searched. tables: which it may have beside arcs; None: matrices only. rarely: how much rarer it is tried than
    others. states: whether the scores are those of head automata. spans: whether there are constraints that keep spans together.
    """

    name: str
    options: dict[str, Any]
    tables: tuple[str, ...] | None = None
    rarely: int = 1
    states: bool = False
    spans: bool = False

    @property
    def shape(self) -> Shape:
        of_shape = (self.options.get(name) for name in ("block_degree", "well_nested", "one_inherit"))
        degree, nested, inherit = of_shape
        return Shape(2, True, True) if inherit else Shape(degree or 0, bool(nested), False)

    @property
    def projective(self) -> bool:
        return bool(self.options.get("projective"))


_SHAPES: dict[str, dict[str, Any]] = {
    "2-well-nested": {"block_degree": 2, "well_nested": True},
    "well-nested": {"well_nested": True},
    "2": {"block_degree": 2},
    "1": {"block_degree": 1},
    "1-inherit": {"one_inherit": True},
}
METHODS = [
    Method("spanning-tree", {}),
    Method("eisner", {"projective": True}),
    *(Method(f"branch-and-bound {name}", options) for name, options in _SHAPES.items()),
    Method("branch-and-bound paper", {**_SHAPES["2-well-nested"], "rule": "paper"}),
    Method("lagrangian", {**_SHAPES["2-well-nested"], "decoder": "lagrangian"}),
    Method("charts", {"projective": True}, AUTOMATA_TABLES[:2], 2),
    Method("charts of grand-siblings", {"projective": True}, AUTOMATA_TABLES[:3], 4),
    Method("dual", {"decoder": "dual"}, AUTOMATA_TABLES, 2),
    Method("dual, second order", {"decoder": "dual"}, PROGRAM_TABLES, 1),
    Method("dual, 5 steps", {"decoder": "dual", "exact": False, "iterations": 5}, AUTOMATA_TABLES, 4),
    Method("dual, rule of the paper", {"decoder": "dual", "rule": "paper"}, AUTOMATA_TABLES[:3], 4),
    Method("dual, small budget", {"decoder": "dual", "budget": 300, "iterations": 3}, AUTOMATA_TABLES[:3], 4),
    Method("dual projective", {"decoder": "dual", "projective": True}, AUTOMATA_TABLES, 4),
    Method("dual 2-well-nested", {"decoder": "dual", **_SHAPES["2-well-nested"]}, AUTOMATA_TABLES[:3], 4),
    Method("head automata", {}, (), 6, states=True),
    Method("climb", {"decoder": "climb", "restarts": 3}, AUTOMATA_TABLES, 8),
    Method("lp", {"decoder": "lp"}, PROGRAM_TABLES, 24),
    Method("ilp", {"decoder": "ilp"}, PROGRAM_TABLES, 32),
    Method("price", {"decoder": "price"}, PROGRAM_TABLES, 48),
    Method("price, the linear program", {"decoder": "price", "exact": False}, PROGRAM_TABLES, 48),
    Method("constraints on trees of arcs", {}, None, 16, spans=True),
    Method("constraints on projective trees", {"projective": True}, None, 16, spans=True),
    Method("constraints on dual decomposition", {"decoder": "dual"}, PROGRAM_TABLES, 48, spans=True),
]


class Problem(NamedTuple):
    """tables: by name. constraints: as lines. trees: all that are asked for. of_trees: their scores, nearly, and what their numbers
    come to in size.
    """

    tables: dict[str, Any]
    states: bool
    constraints: tuple[str, ...]
    single_root: bool
    trees: Any
    of_trees: Any
    sizes: Any

    @property
    def scores(self) -> Any:
        if self.states:
            return HeadAutomata(**self.tables)
        return Scores(**self.tables) if len(self.tables) > 1 else self.tables["arcs"]


@cache
def _trees(n: int, single_root: bool, projective: bool, shape: Shape) -> Any:
    trees = all_trees(n, single_root, projective)
    return trees if shape == ANY else trees[[has_shape(heads, shape) for heads in trees]]


@cache
def _parts(
    n: int, single_root: bool, projective: bool, shape: Shape
) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """By table: where the parts of each tree begin among all parts of all trees, and the parts."""
    trees = _trees(n, single_root, projective, shape)
    wanted = {"arcs", *AUTOMATA_TABLES}
    found: dict[str, list[tuple[int, ...]]] = {name: [] for name in wanted}
    starts: dict[str, list[int]] = {name: [] for name in wanted}
    for heads in trees.tolist():
        for name in wanted:
            starts[name].append(len(found[name]))
        for table, index in naive.parts(heads):
            if table in wanted:
                found[table].append(index)
    return {
        name: (
            np.array(starts[name]),
            tuple(np.array(found[name], np.int64).reshape(-1, naive.WORDS[name]).T),
        )
        for name in wanted
    }


def _sums(values: Any, starts: Any) -> Any:
    """Sums from each start to the next."""
    total = np.concatenate([np.add.reduceat(np.append(values, LONG(0)), starts)])
    total[np.append(starts[1:], len(values)) == starts] = 0
    return total


def score_all(
    tables: dict[str, Any], states: bool, single_root: bool, method: Method
) -> tuple[Any, Any, Any]:
    """All trees that are asked for, with their scores nearly, and what the numbers of each come to in size."""
    n = len(tables["arcs"]) - 1
    key = (n, single_root, method.projective, method.shape)
    trees = _trees(*key)
    if states:
        plain = naive_automata.scores({name: table.astype(LONG) for name, table in tables.items()}, trees)
        largest = max(float(np.abs(t[np.isfinite(t)]).max(initial=0.0)) for t in tables.values())
        return trees, plain, np.full(len(trees), n * largest)
    scores, sizes = np.zeros(len(trees), LONG), np.zeros(len(trees), LONG)
    for name, table in tables.items():
        starts, index = _parts(*key)[name]
        values = table[index].astype(LONG)
        scores += _sums(values, starts)
        sizes += _sums(np.abs(values), starts)
    return trees, scores, sizes


def exact_score(tables: dict[str, Any], heads: Any) -> Fraction | None:
    """What a tree scores, to the last digit; None for -inf."""
    values = [float(tables[table][index]) for table, index in naive.parts(heads) if table in tables]
    return None if -np.inf in values else sum(map(Fraction, values), Fraction(0))


def _numbers(rng: Any, shape: tuple[int, ...], kind: str) -> Any:
    if kind == "ties":
        return rng.integers(-2, 3, shape).astype(float)
    if kind == "whole":
        return rng.integers(-1000, 1001, shape).astype(float)
    if kind == "real":
        return rng.normal(size=shape)
    if kind == "large":
        return 1e9 + rng.integers(-5, 6, shape)
    if kind == "near ties":
        return rng.integers(-2, 3, shape) / 7 + 2.0 ** -int(rng.integers(10, 60)) * rng.integers(-2, 3, shape)
    reach = float(kind.removeprefix("mixed "))
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-reach, reach, shape)


KINDS = ("ties", "whole", "real", "large", "near ties", "mixed 2", "mixed 5", "mixed 9", "mixed 40")


def make_tables(rng: Any, method: Method, n: int) -> dict[str, Any]:
    """Tables of one kind of numbers, of any scale, with some forbidden or masked."""
    kind = KINDS[rng.choice(len(KINDS), p=[0.18, 0.18, 0.18, 0.08, 0.08, 0.06, 0.08, 0.08, 0.08])]
    shapes: dict[str, tuple[int, ...]] = {"arcs": (n + 1, n + 1)}
    if method.states:
        shapes |= {"left": (n + 1, 2, 2, n + 1), "right": (n + 1, 2, 2, n + 1)}
        shapes |= {"left_end": (n + 1, 2)} if rng.random() < 0.5 else {}
    for table in method.tables or ():
        if rng.random() < 0.6:
            shapes[table] = naive.shape(table, n)
    tables = {name: _numbers(rng, shape, kind) for name, shape in shapes.items()}
    if rng.random() < 0.4:
        shift = int(rng.integers(-900, 900))
        with np.errstate(over="ignore"):
            tables = {name: np.ldexp(table, shift) for name, table in tables.items()}
    dice = rng.random()
    if dice < 0.5:
        mask = -np.inf if dice < 0.1 else MASKS[rng.integers(len(MASKS))]
        share = 0.3 * rng.random()
        for name, table in tables.items():
            if name == "arcs" or rng.random() < 0.3:
                table[rng.random(table.shape) < share] = mask
    for name, table in tables.items():
        with np.errstate(over="ignore"):
            tables[name] = np.where(np.abs(table) > 1e299, np.where(np.isneginf(table), table, 1e299), table)
    return tables


def make_problem(rng: Any, method: Method, longest: int = 5) -> Problem:
    """A random problem for a method."""
    n = int(rng.integers(2, longest + 1))
    if method.states:
        n = min(n, 3)
    single_root = bool(rng.random() < 0.7)
    tables = make_tables(rng, method, n)
    trees, scores, sizes = score_all(tables, method.states, single_root, method)
    lines: list[str] = []
    if method.spans:
        ends = rng.integers(1, n + 1, (int(rng.integers(1, 4)), 2))
        lines = [f"together {min(pair)}-{max(pair)}" for pair in ends.tolist() if pair[0] != pair[1]]
        wanted = as_constraints(lines)
        kept = [all(satisfies(one, heads, None) for one in wanted) for heads in trees.tolist()]
        trees, scores, sizes = trees[kept], scores[kept], sizes[kept]
    return Problem(tables, method.states, tuple(lines), single_root, trees, scores, sizes)


def search(problem: Problem, method: Method) -> Any:
    """What the method finds; None if it says that there is no tree, "gave up" if it neither finds one nor says so."""
    try:
        wishes: dict[str, Any] = {"constraints": problem.constraints} if method.spans else {}
        return decode(problem.scores, single_root=problem.single_root, **{**wishes, **method.options})
    except NoTreeError:
        return None
    except InputError as error:
        if "nor proved" in str(error):
            return "gave up"
        raise


def rounding(problem: Problem, size: float) -> float:
    """What adding up numbers that come to so much in size may cost, with room for the order in which a search does it."""
    words = problem.trees.shape[1]
    return float(words**3 * 2.0**-46 * size) + 1e-320


def faults(problem: Problem, parse: Any) -> list[str]:
    """What is untrue of a parse."""
    if parse == "gave up":
        return []
    allowed = problem.of_trees > -np.inf
    if parse is None:
        return ["says that there is no tree"] if allowed.any() else []
    number = np.flatnonzero((problem.trees == parse.heads).all(axis=1))
    if len(number) != 1:
        return ["not one of the trees"]
    mine = int(number[0])
    if not allowed[mine]:
        return ["a forbidden tree"]
    found, own, size = [], problem.of_trees[mine], float(problem.sizes[mine])
    if abs(LONG(parse.score) - own) > rounding(problem, size):
        found.append("score")
    best = int(np.argmax(problem.of_trees))
    cost = rounding(problem, max(size, float(problem.sizes[best])))
    if parse.bound is not None and problem.of_trees[best] - LONG(parse.bound) > cost:
        found.append("bound below the best score")
    if parse.certified and problem.of_trees[best] - own > cost:
        found.append("certified, though not the best")
    return found


def unlike(problem: Problem, method: Method, parse: Any, rng: Any) -> list[str]:
    """Whether another scale, or another size of masks, changes what is found."""
    if parse in (None, "gave up") or problem.states:
        return []
    found = []
    tables = problem.tables
    # Where a search ends before it is done, it is chance what it has found.
    whole = method.options.get("exact", True) and "budget" not in method.options
    finite = [np.abs(t[np.isfinite(t) & (t != 0)]) for t in tables.values()]
    top = max((int(np.frexp(f.max())[1]) for f in finite if len(f)), default=0)
    low = min((int(np.frexp(f.min())[1]) for f in finite if len(f)), default=0)
    shift = int(rng.integers(max(-900, -900 - low), max(min(900, 900 - top), max(-900, -900 - low)) + 1))
    if top + shift < 980 and low + shift > -950:
        scaled = {name: np.ldexp(table, shift) for name, table in tables.items()}
        other = search(problem._replace(tables=scaled), method)
        if other in (None, "gave up") or not np.array_equal(other.heads, parse.heads):
            found.append("another scale, another tree")
        elif whole and other.certified != parse.certified:
            found.append("another scale, another certificate")
    masked = [name for name, table in tables.items() if np.isin(table, MASKS).any()]
    if masked:
        other_mask = -np.inf if rng.random() < 0.5 else MASKS[rng.integers(len(MASKS))]
        least = max(
            float(np.abs(t[~np.isin(t, MASKS) & np.isfinite(t)]).max(initial=0.0)) for t in tables.values()
        )
        here = {name: np.where(np.isin(t, MASKS), other_mask, t) for name, t in tables.items()}
        mine = exact_score(here, parse.heads)
        lacks = not any(
            table in masked and tables[table][index] in MASKS for table, index in naive.parts(parse.heads) if table in tables
        )  # fmt: skip
        used = np.unique(np.concatenate([t[np.isin(t, MASKS)] for t in tables.values()]))
        enough = all(-mask > 1e4 * least for mask in (other_mask, *used))
        if lacks and mine is not None and enough:
            other = search(problem._replace(tables=here), method)
            if whole and (other in (None, "gave up") or other.certified != parse.certified):
                found.append("another mask, another certificate")
            elif (
                other not in (None, "gave up")
                and other.certified
                and not np.array_equal(other.heads, parse.heads)
            ):
                found.append("another mask, another tree")
    return found


class Tally(NamedTuple):
    """What a run found: instances, certified ones and faults by method."""

    instances: Counter[str]
    certified: Counter[str]
    faults: Counter[tuple[str, str]]


def run(
    instances: int, seed: int, methods: list[Method] = METHODS, longest: int = 5, tell: Callable[[str], None] | None = None
) -> Tally:  # fmt: skip
    """Try so many problems, and count what is untrue. tell: is given a line for the first faults of each kind."""
    tally = Tally(Counter(), Counter(), Counter())
    weights = np.array([1.0 / method.rarely for method in methods])
    order = np.random.default_rng(seed)
    for number in range(instances):
        method = methods[int(order.choice(len(methods), p=weights / weights.sum()))]
        rng = np.random.default_rng([seed, number])
        problem = make_problem(rng, method, longest)
        parse = search(problem, method)
        untrue = faults(problem, parse)
        if rng.random() < 0.25:
            untrue += unlike(problem, method, parse, rng)
        tally.instances[method.name] += 1
        tally.certified[method.name] += parse not in (None, "gave up") and parse.certified
        for fault in untrue:
            tally.faults[method.name, fault] += 1
            if tell is not None and tally.faults[method.name, fault] <= 3:
                tell(f"{method.name}: {fault} (seed {seed}, instance {number})")
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=5)
    parser.add_argument("--method", action="append", help="names that begin so")
    given = parser.parse_args()
    methods = [
        method
        for method in METHODS
        if not given.method or any(method.name.startswith(x) for x in given.method)
    ]
    tally = run(given.instances, given.seed, methods, given.longest, lambda line: print(line, flush=True))
    print(
        f"arcwise {arcwise.__version__}: {sum(tally.instances.values())} instances, {sum(tally.faults.values())} faults"
    )
    for name, count in tally.instances.items():
        own = {fault: n for (method, fault), n in tally.faults.items() if method == name}
        print(f"  {name}: {count} instances, {tally.certified[name]} certified, {own or 'no fault'}")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
