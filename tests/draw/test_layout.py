from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.draw.layout import Medium, Sizes, lay_out
from tests.draw.strategies import projective_trees, trees

CELLS = Medium(stroke=1, spacing=2, shared=True, gap=2, pad=1)
PIXELS = Medium(stroke=0, spacing=9, shared=False, gap=16, pad=7)


def sizes_of(heads: list[int], unit: int) -> Sizes:
    numbers = range(len(heads) + 1)
    return Sizes(*([unit * (1 + i * factor % 9) for i in numbers] for factor in (5, 7, 4)))


def vertical_lines(row):
    """Column and height of every vertical line."""
    for arc in row.arcs:
        for x in (arc.head_x, arc.dependent_x):
            if x is not None:
                yield x, arc.level


@settings(deadline=None, max_examples=150)
@given(trees(), st.sampled_from([(CELLS, 1), (PIXELS, 7)]), st.sampled_from([None, 45, 80]))
def test_everything_has_its_own_place(heads, medium_and_unit, width):
    medium, unit = medium_and_unit
    sizes = sizes_of(heads, unit)
    rows = lay_out([-1, *heads], sizes, medium, width and width * unit)
    assert [row.first for row in rows] == [1, *(row.last + 1 for row in rows[:-1])]
    assert rows[-1].last == len(heads)
    for row in rows:
        inside = range(row.first, row.last + 1)
        assert width is None or row.width <= width * unit or len(inside) == 1
        ends = [x + box + medium.gap for x, box in zip(row.x, row.box, strict=True)]
        assert row.x[0] >= 0
        assert all(end <= x for end, x in zip(ends, [*row.x[1:], row.width + medium.gap], strict=True))
        for i, box in zip(inside, row.box, strict=True):
            assert box >= sizes.words[i]
        spans = [(arc.level, arc.left, arc.right) for arc in row.arcs if arc.head]
        for (_, _, end), (_, begin, _) in (
            pair for pair in pairwise(sorted(spans)) if pair[0][0] == pair[1][0]
        ):
            assert end <= begin
        for arc in row.arcs:
            label = range(arc.label_x, arc.label_x + sizes.labels[arc.dependent])
            assert arc.mark not in inside
            if arc.head:
                assert arc.left <= label.start
                assert label.stop <= arc.right
                assert not any(x in label for x, level in vertical_lines(row) if level > arc.level)
            else:
                assert label.start >= 0
                assert label.stop <= row.width
            if arc.mark:
                mark = range(arc.mark_x, arc.mark_x + sizes.marks[arc.mark])
                assert mark.start == 0 or mark.stop == row.width
                assert not any(x in mark for x, level in vertical_lines(row) if level > arc.level)


@settings(deadline=None, max_examples=100)
@given(trees(), st.sampled_from([None, 45]))
def test_every_arc_is_there(heads, width):
    rows = lay_out([-1, *heads], sizes_of(heads, 1), CELLS, width)
    row_of = {word: i for i, row in enumerate(rows) for word in range(row.first, row.last + 1)}
    expected = {
        (i, m, h) for m, h in enumerate(heads, 1) if h >= 0 for i in {row_of[m], row_of.get(h, row_of[m])}
    }
    found = [(i, arc.dependent, arc.head) for i, row in enumerate(rows) for arc in row.arcs]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("medium", [CELLS, PIXELS])
@settings(deadline=None, max_examples=60)
@given(projective_trees(), st.sampled_from([None, 45, 500]))
def test_projective_trees_have_no_crossings(medium, heads, width):
    for row in lay_out([-1, *heads], sizes_of(heads, 1), medium, width):
        for arc in row.arcs:
            if arc.head:
                assert not any(
                    arc.left <= x < arc.right for x, level in vertical_lines(row) if level > arc.level
                )


def test_a_row_ends_where_few_arcs_are_cut():
    heads = [2, 0, 2, 5, 2, 2, 8, 2, 8, 8]
    sizes = Sizes([4] * 11, [3] * 11, [3] * 11)
    first, second = lay_out([-1, *heads], sizes, CELLS, 60)
    assert (first.last, second.first) == (6, 7)
    assert sum(bool(arc.mark) for arc in first.arcs) == 1


def test_many_lines_at_a_word_move_together():
    heads = [0, *[1] * 300]
    sizes = Sizes([5] * 302, [3] * 302, [3] * 302)
    (row,) = lay_out([-1, *heads], sizes, PIXELS, None)
    assert row.box[0] <= 16 * 9
