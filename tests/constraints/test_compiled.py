"""What constraints mean for a sentence, against what they mean for all of its trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError
from arcwise.constraints import (
    Arc,
    AtMostOne,
    HeadInside,
    Labels,
    Leaf,
    Subtree,
    Together,
    compile_constraints,
)
from tests.constraints.naive import NAMES, TAGS, constraint_of, labelled_trees, satisfying


def obeys(compiled, heads, labels):
    """Whether a tree is one of those that the arrays describe."""
    words = range(1, len(heads))
    if any(compiled.barred[heads[m], m] for m in words):
        return False
    if compiled.barred_labels is not None and any(
        compiled.barred_labels[heads[m], m, labels[m]] for m in words
    ):
        return False
    for first, last in compiled.spans:
        if sum(not first <= heads[m] <= last for m in range(first, last + 1)) != 1:
            return False
    for group, head in zip(compiled.groups, compiled.group_heads, strict=True):
        taken = [heads[m] for m in words if group[labels[m]] and head in (-1, heads[m])]
        if len(taken) != len(set(taken)):
            return False
    return True


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 3), st.booleans())
def test_the_same_trees(data, n, single_root):
    constraints = data.draw(st.lists(constraint_of(n), max_size=3))
    tags = [data.draw(st.lists(st.sampled_from(TAGS), min_size=n, max_size=n)) for _ in range(2)]
    compiled = compile_constraints(constraints, n, labels=NAMES, upos=tags[0], xpos=tags[1])
    heads, labels = labelled_trees(n, len(NAMES), single_root, False)
    expected = satisfying(constraints, heads, labels, NAMES, *tags)
    found = [
        obeys(compiled, tree, numbers) for tree, numbers in zip(heads.tolist(), labels.tolist(), strict=True)
    ]
    assert found == expected.tolist()


def test_shapes():
    nothing = compile_constraints([], 2)
    assert nothing.barred.tolist() == [[True, False, False], [True, True, False], [True, False, True]]
    assert nothing.spans.shape == (0, 2)
    assert nothing.spans.dtype == np.int32
    assert nothing.barred_labels is None
    assert nothing.groups.shape == (0, 0)
    assert nothing.group_heads.shape == (0,)
    assert compile_constraints([], 2, labels=NAMES).groups.shape == (0, 3)
    some = [AtMostOne("obj", head=2), Labels("det", word=1), Subtree(1, 2), Together(1, 2), Subtree(2, 2)]
    compiled = compile_constraints(some, 2, labels=NAMES)
    assert compiled.spans.tolist() == [[1, 2]]
    assert compiled.groups.tolist() == [[True, True, False]]
    assert compiled.group_heads.tolist() == [2]
    assert compiled.barred_labels is not None
    assert compiled.barred_labels.shape == (3, 3, 3)


def test_an_arc_without_a_label_is_barred():
    constraints = [Labels("det", head=0), Labels("det", allowed=False, word=1)]
    compiled = compile_constraints(constraints, 2, labels=NAMES)
    assert compiled.barred[0].tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (Arc(1, 4), "'arc 1 4' in a sentence of 3 words, expected words up to 3"),
        (Arc(4, 1), "'arc 4 1' in a sentence of 3 words"),
        (Leaf(9), "'leaf 9' in a sentence of 3 words"),
        (Subtree(2, 4), "'subtree 2-4' in a sentence of 3 words"),
        (HeadInside((2, 4), 1, 1), "'head-inside 2-4 1' in a sentence of 3 words"),
        (AtMostOne("obj", head=4), "'at-most-one obj head=4' in a sentence of 3 words"),
        (AtMostOne(["det", "ob"]), "unknown label ob in 'at-most-one det,ob', expected labels of the model, such as obj"),
        (AtMostOne("obj:y"), "unknown label obj:y in 'at-most-one obj:y', expected labels of the model, such as obj:x"),
        (Labels("zzz"), "such as det, obj, obj:x"),
        (Labels("det", tag="NOUN"), "'labels det tag=NOUN' for a sentence without tags"),
        (Labels("det", head_tag="XPOS=NN"), "'labels det head-tag=XPOS=NN' for a sentence without tags"),
        ("arc 1 2", "'arc 1 2', expected a constraint of arcwise.constraints"),
    ],
)  # fmt: skip
def test_unusable_constraints(constraint, message):
    with pytest.raises(InputError) as error:
        compile_constraints([Leaf(1), constraint], 3, labels=NAMES)
    assert message in str(error.value)


@pytest.mark.parametrize("constraint", [AtMostOne("obj"), Labels("obj")])
def test_labels_need_labels(constraint):
    with pytest.raises(InputError, match=f"'{constraint}' for trees without labels"):
        compile_constraints([constraint], 3)
