"""A linear program, alive: HiGHS behind a small face. Rows and columns may be added between solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ArcwiseError
from arcwise.parts.tables import Floats

if TYPE_CHECKING:
    from highspy import Highs

Ints = NDArray[np.int32]

# How a solution ended.
OPTIMAL, INFEASIBLE, TIME, FAILED = "optimal", "infeasible", "time limit", "solver failure"


class Solution(NamedTuple):
    """columns: their values, empty if there are none. rows: the dual values of the rows, what a unit of each is worth; none of an
    integer program. value: what the columns score, -inf without them. bound: what no solution scores more than, inf if unknown.
    """

    status: str
    columns: Floats
    rows: Floats
    value: float
    bound: float


class Program:
    """A program that is maximised, over columns and rows in the order in which they were added. It is solved from where the last
    solution ended, by the simplex method on one thread, so that the same calls give the same solutions.

    >>> program = Program()
    >>> program.add_columns([3.0, 2.0])
    >>> program.add_rows(-np.inf, 1.0, [0, 2], [0, 1], [1.0, 1.0])  # x + y <= 1
    >>> program.solve()
    Solution(status='optimal', columns=array([1., 0.]), rows=array([3.]), value=3.0, bound=3.0)
    """

    def __init__(self) -> None:
        self._highs = _highs()
        self._integer = False
        self.width = self.height = 0  # columns and rows so far
        options: dict[str, bool | int | float | str] = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
        }
        for option, value in options.items():
            self._highs.setOptionValue(option, value)

    def add_columns(
        self, scores: Any, upper: Any = np.inf, starts: Any = None, rows: Any = (), values: Any = ()
    ) -> None:
        """Columns from 0 to `upper`. Column i has values[starts[i] : starts[i + 1]] in the rows of the same places; without `starts`
        they are in no row so far.
        """
        scores = np.asarray(scores, np.float64)
        number = len(scores)
        if number == 0:
            return
        starts, rows, values = _sparse(number, starts, rows, values)
        bounds = np.zeros(number), _each(upper, number)
        self._highs.addCols(number, -scores, *bounds, len(rows), starts[:-1], rows, values)
        self.width += number

    def add_rows(self, lower: Any, upper: Any, starts: Any, columns: Any, values: Any) -> None:
        """Rows whose sums lie from `lower` to `upper`; sparse like columns."""
        number = len(starts) - 1
        if number == 0:
            return
        starts, columns, values = _sparse(number, starts, columns, values)
        least, most = _each(lower, number), _each(upper, number)
        self._highs.addRows(number, least, most, len(columns), starts[:-1], columns, values)
        self.height += number

    def add_entries(self, number: int, lower: Any, upper: Any, rows: Any, columns: Any, values: Any) -> None:
        """The same for entries in any order: rows[i] of the new ones, 0 .. number - 1, has values[i], or `values`, in columns[i]."""
        order = np.argsort(rows, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=number))])
        values = np.broadcast_to(np.asarray(values, np.float64), len(order))
        self.add_rows(lower, upper, starts, np.asarray(columns)[order], values[order])

    def set_upper(self, columns: Any, upper: Any) -> None:
        """Other upper bounds of some columns."""
        columns = np.asarray(columns, np.int32)
        bounds = np.zeros(len(columns)), _each(upper, len(columns))
        self._highs.changeColsBounds(len(columns), columns, *bounds)

    def set_scores(self, columns: Any, scores: Any) -> None:
        """Other scores of some columns."""
        columns = np.asarray(columns, np.int32)
        scores = np.broadcast_to(np.asarray(scores, np.float64), len(columns)).copy()
        self._highs.changeColsCost(len(columns), columns, -scores)

    def make_whole(self, columns: Any) -> None:
        """Only whole numbers in some columns from now on: an integer program."""
        columns = np.asarray(columns, np.int32)
        self._highs.changeColsIntegrality(len(columns), columns, np.ones(len(columns), np.uint8))
        self._highs.setOptionValue("presolve", "choose")
        self._integer = True

    def solve(self, seconds: float = np.inf) -> Solution:
        """The best solution, or what is known after so many seconds."""
        import highspy

        nothing = np.empty(0)
        if seconds <= 0:
            return Solution(TIME, nothing, nothing, -np.inf, np.inf)
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        known = highspy.HighsModelStatus
        self._highs.run()
        if self._highs.getModelStatus() not in (known.kOptimal, known.kInfeasible, known.kTimeLimit):
            self._highs.clearSolver()  # where the last solution ended was no good place to begin
            self._highs.run()
        status, info = self._highs.getModelStatus(), self._highs.getInfo()
        if status == known.kOptimal:
            ended = OPTIMAL
        elif status in (
            known.kInfeasible,
            known.kUnboundedOrInfeasible,
        ):  # scores are finite: never unbounded
            return Solution(INFEASIBLE, nothing, nothing, -np.inf, -np.inf)
        else:
            ended = TIME if status == known.kTimeLimit else FAILED
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            bound = -info.mip_dual_bound if self._integer else np.inf
            return Solution(ended, nothing, nothing, -np.inf, bound)
        found = self._highs.getSolution()
        value = -info.objective_function_value
        bound = np.inf
        if ended == OPTIMAL:
            bound = value
        elif self._integer:
            bound = -info.mip_dual_bound
        duals = nothing if self._integer else -np.array(found.row_dual)
        return Solution(ended, np.array(found.col_value) + 0.0, duals + 0.0, value, bound)


def _each(value: Any, number: int) -> Floats:
    """A number for each of so many: those given, or the same for all."""
    values = np.asarray(value, np.float64)
    return np.full(number, values) if values.ndim == 0 else values


def _sparse(number: int, starts: Any, where: Any, values: Any) -> tuple[Ints, Ints, Floats]:
    if starts is None:
        starts = np.zeros(number + 1, np.int32)
    return np.asarray(starts, np.int32), np.asarray(where, np.int32), np.asarray(values, np.float64)


def _highs() -> Highs:
    try:
        import highspy
    except ImportError:
        raise ArcwiseError('linear programs need HiGHS: pip install "arcwise[lp]"') from None
    return highspy.Highs()  # type: ignore[no-untyped-call]
