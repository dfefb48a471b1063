"""Constraints as people write them in Python."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.constraints import (
    Arc,
    AtMostOne,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
    parse_constraint,
)
from tests.constraints.naive import constraint_of

LINES = {
    Arc(3, 5): "arc 3 5",
    NoArc(0, 5): "no-arc 0 5",
    Root(2): "root 2",
    Leaf(4): "leaf 4",
    Subtree(3, 7): "subtree 3-7",
    Subtree(3, 3): "subtree 3",
    Together(3, 7): "together 3-7",
    HeadInside(5, 3, 7): "head-inside 5 3-7",
    HeadOutside((4, 6), 1, 1): "head-outside 4-6 1",
    AtMostOne(["nsubj", "csubj"]): "at-most-one nsubj,csubj",
    AtMostOne("obj", head=3): "at-most-one obj head=3",
    Labels(("det", "case")): "labels det,case",
    Labels("det", word=2, head=0, tag="X", head_tag="Y"): "labels det word=2 head=0 tag=X head-tag=Y",
    Labels("det", allowed=False, tag="XPOS=,"): "no-labels det tag=XPOS=,",
}


@pytest.mark.parametrize(("constraint", "line"), LINES.items(), ids=LINES.values())
def test_a_constraint_reads_as_its_line(constraint, line):
    assert str(constraint) == line
    assert parse_constraint(line) == constraint
    assert parse_constraint(line.replace(" ", "\t")) == constraint


@settings(deadline=None, max_examples=300)
@given(st.integers(2, 120).flatmap(constraint_of))
def test_round_trip(constraint):
    assert parse_constraint(str(constraint)) == constraint
    assert hash(parse_constraint(str(constraint))) == hash(constraint)


def test_numbers_and_labels_are_made_plain():
    three: Any = np.int32(3)
    assert str(Arc(three, 5)) == "arc 3 5"
    assert repr(Arc(three, 5)) == "Arc(head=3, word=5)"
    assert AtMostOne(["obj"]) == AtMostOne("obj") == AtMostOne(name for name in ["obj"])
    assert HeadInside((4, 4), 1, 2) == HeadInside(4, 1, 2)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Arc, [-1, 2], "head=-1 in Arc, expected 0 or a word"),
        (Arc, [3, 0], "word=0 in Arc, expected a word, 1 or more"),
        (Arc, [3, 3], "word 3 is its own head in 'arc 3 3'"),
        (NoArc, ["a", 1], "head='a' in NoArc"),
        (Root, [None], "word=None in Root"),
        (Arc, [None, 1], "head=None in Arc"),
        (Leaf, [1.5], "word=1.5 in Leaf"),
        (Leaf, [(1, 2)], "word=(1, 2) in Leaf"),
        (Subtree, [4, 3], "ends before it begins in 'subtree 4-3'"),
        (HeadInside, [(3, 2), 1, 2], "word=(3, 2) in HeadInside"),
        (HeadInside, [(1, 2, 3), 1, 2], "word=(1, 2, 3) in HeadInside"),
        (AtMostOne, [[]], "labels=[] in AtMostOne, expected one or more labels"),
        (AtMostOne, ["a,b"], "labels='a,b'"),
        (AtMostOne, ["obj", -2], "head=-2 in AtMostOne"),
        (Labels, [[3]], "labels=[3] in Labels"),
        (Labels, [3], "labels=3 in Labels"),
        (Labels, ["det", True, None, None, ""], "tag='' in Labels"),
        (Labels, ["det", True, None, None, "XPOS="], "tag='XPOS=' in Labels"),
        (Labels, ["det", True, (1, 2)], "word=(1, 2) in Labels"),
    ],
)
def test_nonsense_is_refused(kind, fields, message):
    with pytest.raises(InputError) as error:
        kind(*fields)
    assert message in str(error.value)


def test_importing_is_light():
    code = "import sys, arcwise.constraints; print({'numba', 'scipy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
