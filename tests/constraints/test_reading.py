"""Files of constraints, and the column MISC."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcwise import InputError
from arcwise.constraints import (
    Arc,
    AtMostOne,
    ConstraintFile,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    from_misc,
    parse_constraint,
    read_constraints,
)

TEXT = """\ufeff# all sentences
at-most-one nsubj,csubj   # one subject
labels punct tag=XPOS=#

@news-1 arc 2 1
@2\tleaf 3\r
@news-1 Root 2
@17 root 1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.constraints"
    path.write_text(TEXT, "utf-8")
    return path


def test_a_file(file):
    constraints = read_constraints(file)
    everywhere = [AtMostOne(["nsubj", "csubj"]), Labels("punct", tag="XPOS=#")]
    assert constraints.unmatched() == ["@news-1 (line 5)", "@2 (line 6)", "@17 (line 8)"]
    assert constraints.of(1, None) == everywhere
    assert constraints.of(2, None) == [*everywhere, Leaf(3)]
    assert constraints.unmatched() == ["@news-1 (line 5)", "@17 (line 8)"]
    assert constraints.of(5, "news-1") == [*everywhere, Arc(2, 1), Root(2)]
    assert constraints.of(2, "news-1") == [*everywhere, Arc(2, 1), Root(2), Leaf(3)]
    assert constraints.unmatched() == ["@17 (line 8)"]


def test_a_sentence_whose_id_is_a_number_goes_by_it_alone():
    constraints = ConstraintFile(["@7 root 1"])
    assert constraints.of(7, "12") == []
    assert constraints.unmatched() == ["@7 (line 1)"]
    assert constraints.of(12, "7") == [Root(1)]
    assert constraints.of(7, "s7") == [Root(1)]
    assert constraints.unmatched() == []


def test_what_comes_out_may_be_changed():
    constraints = ConstraintFile(["leaf 1"])
    constraints.of(1, None).append(Root(2))
    assert constraints.of(1, None) == [Leaf(1)]


def test_an_empty_file(tmp_path):
    (tmp_path / "empty").write_text("\n  # nothing\n")
    constraints = read_constraints(tmp_path / "empty")
    assert constraints.of(1, "a") == []
    assert constraints.unmatched() == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("arc 3", "'arc 3', expected 'arc HEAD WORD'"),
        ("arc 3 x", "'arc 3 x', expected 'arc HEAD WORD'"),
        ("arc 3 -1", "expected 'arc HEAD WORD'"),
        ("arc 3 ²", "expected 'arc HEAD WORD'"),
        ("arc 3 99999999999999999999", "expected 'arc HEAD WORD'"),
        ("arc 3 0", "expected a word, 1 or more"),
        ("arc 3 3", "word 3 is its own head in 'arc 3 3', expected another head"),
        ("arcs 3 4", "'arcs 3 4', expected a constraint: arc, no-arc, root,"),
        ("subtree 3:4", "expected 'subtree FIRST-LAST'"),
        ("subtree 3-", "expected 'subtree FIRST-LAST'"),
        ("subtree 5-4", "ends before it begins"),
        ("at-most-one", "expected 'at-most-one LABEL,... [head=HEAD]'"),
        ("at-most-one a,,b", "expected one or more labels"),
        ("at-most-one obj word=3", "expected 'at-most-one LABEL,... [head=HEAD]'"),
        ("labels obj head=a", "expected 'labels LABEL,... [word=WORD]"),
        ("labels obj head=1 head=2", "expected 'labels LABEL,... [word=WORD]"),
        ("labels head=1", "expected one or more labels"),
        ("labels obj, det", "expected one or more labels"),
        ("labels obj tag=", "expected a tag"),
        ("@", "'@', expected '@SENTENCE CONSTRAINT'"),
        ("@3", "'@3', expected '@SENTENCE CONSTRAINT'"),
        ("@ 3 arc 1 2", "expected '@SENTENCE CONSTRAINT'"),
        ("@3 arc 1", "'arc 1', expected 'arc HEAD WORD'"),
    ],
)
def test_bad_lines(tmp_path, line, message):
    path = tmp_path / "bad"
    path.write_text(f"# first\n{line}\n", "utf-8")
    with pytest.raises(InputError) as error:
        read_constraints(path)
    assert str(error.value).startswith(f"{path}:2: ")
    assert message in str(error.value)


def test_labels_may_stand_apart():
    assert parse_constraint("at-most-one nsubj csubj head=3") == AtMostOne(["nsubj", "csubj"], head=3)
    assert parse_constraint("Labels tag=X a,b c") == Labels(["a", "b", "c"], tag="X")


def test_nothing_is_no_constraint():
    with pytest.raises(InputError, match="expected a constraint"):
        parse_constraint("  ")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="absent: cannot read it: no such file"):
        read_constraints(tmp_path / "absent")
    with pytest.raises(InputError, match="cannot read it"):
        read_constraints(tmp_path)
    with pytest.raises(InputError, match="cannot read it"):
        read_constraints("a\0b")
    (tmp_path / "latin").write_bytes(b"labels caf\xe9\n")
    with pytest.raises(InputError, match="byte 10 is not UTF-8"):
        read_constraints(tmp_path / "latin")


def test_misc():
    assert from_misc(5, "_") == []
    assert from_misc(5, "SpaceAfter=No|Gloss=root|Leafy=Yes|root=Yes") == []
    assert from_misc(5, "Root=Yes|Leaf=Yes") == [Root(5), Leaf(5)]
    assert from_misc(5, "Root=ktb|Leaf=No") == []
    assert from_misc(5, "Subtree=3-7") == [Subtree(3, 7), HeadOutside(5, 3, 7)]
    assert from_misc(5, "HeadInside=3-7|HeadOutside=6") == [HeadInside(5, 3, 7), HeadOutside(5, 6, 6)]
    assert from_misc(5, "NoHead=0,2") == [NoArc(0, 5), NoArc(2, 5)]
    assert from_misc(5, "Labels=nsubj,obj|NoLabels=det") == [
        Labels(["nsubj", "obj"], word=5),
        Labels("det", allowed=False, word=5),
    ]
    assert from_misc(5, "AtMostOne=nsubj,csubj") == [AtMostOne(["nsubj", "csubj"], head=5)]


@pytest.mark.parametrize(
    "misc",
    ["Subtree=7", "Subtree=a-b", "Subtree=8-9", "HeadInside=", "HeadOutside=7-3", "NoHead=5", "NoHead=2,", "Labels=", "Labels"],
)  # fmt: skip
def test_malformed_misc(misc):
    with pytest.raises(InputError, match=f"token 5: {misc} in MISC, expected {misc.partition('=')[0]}="):
        from_misc(5, f"SpaceAfter=No|{misc}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems(tmp_path: Path, end: str) -> None:
    path = tmp_path / "rules"
    path.write_bytes(f"\ufeffleaf 2{end}{end}root 1{end}oops{end}".encode())
    with pytest.raises(InputError, match="rules:4: 'oops'"):
        read_constraints(path)
    path.write_bytes(f"leaf 2{end}root 1".encode())
    assert [str(constraint) for constraint in read_constraints(path).of(1, None)] == ["leaf 2", "root 1"]
