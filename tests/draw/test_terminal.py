from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from arcwise import Sentence
from arcwise.draw.terminal import tree_text
from tests.draw.strategies import sentence_of, trees


def nearest(middles: list[float], column: int) -> int:
    return min(range(len(middles)), key=lambda i: abs(middles[i] - column))


def read_tree(drawing: str) -> tuple[dict[int, int], dict[int, str]]:
    """Heads and labels as an eye would follow the lines, from every arrow up, along, and to the head."""
    heads: dict[int, int] = {}
    labels: dict[int, str] = {}
    for picture in drawing.split("\n\n"):
        lines = picture.split("\n")
        ground = next(i for i, line in enumerate(lines) if re.fullmatch(r"\s*w\d+(\s+w\d+)*", line))
        middles = [(m.start() + m.end() - 1) / 2 for m in re.finditer(r"w\d+", lines[ground])]
        first = int(re.findall(r"w(\d+)", lines[ground])[0])
        arrows = [match.start() for match in re.finditer("▼", lines[ground - 1])]
        for column in arrows:
            line = ground - 2
            while lines[line][column] == "│":
                line -= 1
            word, corner = first + nearest(middles, column), lines[line][column]
            assert word not in heads
            if corner not in "╭╮":  # the label of a root
                heads[word] = 0
                above = re.finditer(r"\S+", lines[line])
                labels[word] = next(match[0] for match in above if match.start() <= column < match.end())
                continue
            step = 1 if corner == "╭" else -1
            end = column + step
            while lines[line][end] not in (" ", *("╮┤" if step == 1 else "╭├")):
                end += step
            passed = lines[line][min(column, end) + 1 : max(column, end)]
            labels[word] = re.sub("[─│]", "", passed)
            if lines[line][end] == " ":
                mark = (
                    re.match(r" (\d+)", lines[line][end:])
                    if step == 1
                    else re.search(r"(\d+)( w\d+)?$", lines[line][:end])
                )
                assert mark is not None
                heads[word] = int(mark[1])
            else:
                heads[word] = first + nearest(middles, end)
    return heads, labels


@settings(deadline=None, max_examples=200)
@given(trees(), st.sampled_from([None, 40, 60, 100]))
def test_the_tree_can_be_read_from_the_drawing(heads, width):
    drawing = tree_text(sentence_of(heads), width=width)
    known = {word: head for word, head in enumerate(heads, 1) if head >= 0}
    assert read_tree(drawing) == (known, {word: f"r{word}" for word in known})
    assert width is None or max(map(len, drawing.split("\n"))) <= width
    assert not any(
        line.endswith(" ") or not line for row in drawing.split("\n\n") for line in row.split("\n")
    )


@settings(deadline=None, max_examples=60)
@given(trees(unknown=False))
def test_arcs_that_leave_a_row_say_where_to(heads):
    drawing = tree_text(sentence_of(heads), width=40)
    rows = drawing.split("\n\n")
    words = [re.findall(r"(?<!\d )w(\d+)", row) for row in rows]
    place = {int(word): i for i, row in enumerate(words) for word in row}
    leaving = [word for word, head in enumerate(heads, 1) if head and place[head] != place[word]]
    found = re.findall(r"▸ (\d+)", drawing) + re.findall(r"(\d+)(?: w\d+)? ◂", drawing)
    assert sorted(map(int, found)) == leaving


texts = st.text(
    st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=30
)


@settings(deadline=None, max_examples=100)
@given(trees(most=12), st.data(), st.sampled_from([40, 60]))
def test_no_line_is_too_wide_and_nothing_moves_the_cursor(heads, data, width):
    forms, tags, labels = (
        data.draw(st.lists(texts, min_size=len(heads), max_size=len(heads))) for _ in range(3)
    )
    drawing = tree_text(sentence_of(heads, forms=forms, upos=tags, labels=labels), width=width)
    for line in drawing.split("\n"):
        assert cell_len(re.sub("[\u2068\u2069]", "", line)) <= width
        assert (
            line.isprintable()
            or set(line) & set("\u2068\u2069\u200c\u200d\u00a0\u3000")
            or not line.isascii()
        )
        assert "\x1b" not in line


def test_wide_words_keep_their_columns():
    sentence = sentence_of(
        [2, 0, 2],
        forms=["漢字", "e\u0301te\u0301", "👩‍👩‍👧"],
        labels=["a", "root", "b"],
        upos=["X", "Y", "Z"],
    )
    lines = tree_text(sentence).split("\n")
    arrows, words, tags = lines[-3:]
    starts = [cell_len(words[: words.index(form)]) for form in sentence.forms[1:]]
    centres = [start + (size - 1) / 2 for start, size in zip(starts, (4, 3, 2), strict=True)]
    columns = [match.start() for match in re.finditer("▼", arrows)]
    assert all(abs(centre - column) <= 1 for centre, column in zip(centres, columns, strict=True))
    assert [cell_len(line) for line in (words, tags)] == [starts[2] + 2, starts[2] + 1]
    assert tags.split() == ["X", "Y", "Z"]


def test_right_to_left_words_come_from_the_right_in_isolates():
    words = ["ראשון", "שני", "third"]
    lines = tree_text(sentence_of([2, 0, 2], forms=words, labels=["a", "root", "b"])).split("\n")
    assert lines[-1].split() == ["third", "\u2068שני\u2069", "\u2068ראשון\u2069"]
    assert lines[-3].split() == ["╭──b─╮", "│", "╭──a─╮"]
    folded = tree_text(sentence_of([20, *[1] * 18, 0], forms=["שלום"] * 20), width=40)
    assert folded.split("\n\n")[0].split("\n")[0].startswith("\u206820 שלום\u2069 ─")
    assert folded.split("\n\n")[0].split("\n")[-1].split()[-1] == "1"


def test_long_words_and_labels_are_cut():
    drawing = tree_text(sentence_of([2, 0], forms=["x" * 500, "y"], labels=["l" * 300, "root"]), width=50)
    assert "x" * 49 + "…" in drawing
    assert max(map(len, drawing.split("\n"))) <= 50


def test_nothing_known():
    assert tree_text(Sentence.from_words(["Hello", "world"])) == "Hello  world"
    assert tree_text(Sentence.from_words(["Hello"], upos=["INTJ"])) == "Hello\nINTJ"


@pytest.mark.parametrize("width", [None, 40])
def test_colours_are_all_that_differs(width):
    sentence = sentence_of(
        [2, 0, 2, 3, 1], labels=["nsubj", "root", "obj:x", "SBJ", "strange"], upos=["A"] * 5
    )
    plain, coloured = (tree_text(sentence, width=width, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    for line in coloured.split("\n"):
        assert "\x1b" not in line or line.endswith("\x1b[0m")
    assert "\x1b[38;5;33m▼" in coloured  # subjects are blue
