"""A live linear program: what it finds as rows and columns are added."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.search.program import Program


def test_rows_and_columns_are_added_to_a_live_program():
    program = Program()
    program.add_columns([3.0, 2.0], 1.0)
    assert program.solve().value == 5.0
    program.add_rows(-np.inf, 1.0, [0, 2], [0, 1], [1.0, 1.0])
    solution = program.solve()
    assert solution.columns.tolist() == [1.0, 0.0]
    assert solution.rows.tolist() == [2.0]
    program.add_columns([5.0], np.inf, [0, 1], [0], [1.0])
    solution = program.solve()
    assert solution.columns.tolist() == [0.0, 0.0, 1.0]
    assert (solution.status, solution.value, solution.bound) == ("optimal", 5.0, 5.0)
    program.set_upper([2], 0.25)
    assert program.solve().value == pytest.approx(5 / 4 + 3 * 3 / 4)
    program.add_columns([])
    program.add_rows(0.0, 0.0, [0], [], [])
    assert (program.width, program.height) == (3, 1)


def test_entries_come_in_any_order():
    program = Program()
    program.add_columns([1.0, 1.0, 1.0], 9.0)
    rows, columns = [2, 0, 0, 2], [1, 2, 0, 2]
    program.add_entries(3, -np.inf, [4.0, 0.0, 3.0], rows, columns, [1.0, 2.0, 1.0, 1.0])
    # x + 2 z <= 4, y + z <= 3
    assert program.solve().columns.tolist() == [4.0, 3.0, 0.0]
    program.add_entries(1, 2.0, 2.0, [0], [2], 1.0)
    assert program.solve().columns.tolist() == [0.0, 1.0, 2.0]


def test_whole_numbers():
    program = Program()
    program.add_columns([1.0, 1.0], 1.0)
    program.add_rows(-np.inf, 3.0, [0, 2], [0, 1], [2.0, 2.0])
    assert program.solve().value == 1.5
    program.make_whole([0, 1])
    solution = program.solve()
    assert (solution.value, solution.bound, len(solution.rows)) == (1.0, 1.0, 0)
    program.add_rows(-np.inf, 1.0, [0, 1], [0], [2.0])
    assert program.solve().columns.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("whole", [False, True])
def test_no_solution_and_no_time(whole):
    program = Program()
    program.add_columns([1.0], 1.0)
    if whole:
        program.make_whole([0])
    solution = program.solve(0.0)
    assert (solution.status, len(solution.columns), solution.value, solution.bound) == (
        "time limit", 0, -np.inf, np.inf,
    )  # fmt: skip
    program.add_rows(2.0, 2.0, [0, 1], [0], [1.0])
    assert program.solve()[:1] + program.solve()[3:] == ("infeasible", -np.inf, -np.inf)
