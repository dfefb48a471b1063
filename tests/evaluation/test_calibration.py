"""Calibration: counted by hand, and against a plain implementation."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import InputError
from arcwise.evaluation.attachment import attachment_scores
from arcwise.evaluation.calibration import (
    attachment_calibrations,
    calibration,
    compare_trees,
    read_confidences,
    read_tree_probabilities,
)
from arcwise.evaluation.columns import Strings, read_columns
from arcwise.evaluation.report import calibration_tables
from arcwise.treebank.reading import read_string

EVENTS = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda k: k / 20)), st.booleans()), min_size=1
)


def slow_gaps(events: list[tuple[float, bool]], bins: int) -> list[tuple[int, float]]:
    """The words of each bin that has any, and how far confidence and accuracy are apart."""
    found = []
    for k in range(bins):
        low, high = k / bins, (k + 1) / bins
        inside = [(p, y) for p, y in events if low <= p < high or (k == bins - 1 and p == 1)]
        if inside:
            words = len(inside)
            gap = abs(sum(p for p, _ in inside) / words - sum(y for _, y in inside) / words)
            found.append((words, gap))
    return found


@given(EVENTS, st.integers(1, 20))
@settings(deadline=None, max_examples=200)
def test_errors_are_those_of_a_plain_implementation(events: list[tuple[float, bool]], bins: int) -> None:
    found = calibration(*zip(*events, strict=True), bins=bins)
    gaps = slow_gaps(events, bins)
    assert found.words == len(events) == sum(words for words, _ in gaps)
    assert found.ece == pytest.approx(sum(words * gap for words, gap in gaps) / len(events))
    assert found.mce == pytest.approx(max(gap for _, gap in gaps))
    assert abs(found.confidence - found.accuracy) <= found.ece + 1e-12 <= found.mce + 2e-12
    assert found.brier == pytest.approx(sum((p - y) ** 2 for p, y in events) / len(events))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_calibrated_has_hardly_an_error(seed: int) -> None:
    random = np.random.default_rng(seed)
    p = random.uniform(size=100_000)
    right = random.uniform(size=len(p)) < p
    found = calibration(p, right)
    assert found.ece < 0.01
    assert found.mce < 0.02
    assert found.brier == pytest.approx(1 / 6, abs=0.01)  # the mean of p (1 - p)
    too_sure = calibration(p ** (1 / 3), right)
    assert too_sure.ece == pytest.approx(too_sure.confidence - too_sure.accuracy)
    assert too_sure.ece == pytest.approx(0.25, abs=0.01)
    assert too_sure.log_loss > found.log_loss


def test_by_hand() -> None:
    found = calibration([0.95, 0.95, 0.95, 0.95, 0.2, 0.0], [True, True, False, False, True, False])
    assert found.bin_words.tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0, 4]
    np.testing.assert_allclose(found.bin_confidence, [0, np.nan, 0.2, *[np.nan] * 6, 0.95])
    np.testing.assert_allclose(found.bin_accuracy, [0, np.nan, 1, *[np.nan] * 6, 0.5])
    assert found.ece == pytest.approx((4 * 0.45 + 0.8) / 6)
    assert found.mce == pytest.approx(0.8)
    assert (found.confidence, found.accuracy) == pytest.approx((4 / 6, 0.5))
    assert found.brier == pytest.approx((2 * 0.05**2 + 2 * 0.95**2 + 0.8**2) / 6)
    losses = 2 * log(0.95) + 2 * log(0.05) + log(0.2) + log(1 - 5e-5)
    assert found.log_loss == pytest.approx(-losses / 6)


def test_what_is_certain_and_wrong_costs_no_more_than_its_digits_say() -> None:
    assert calibration([1.0], [False]).log_loss == pytest.approx(-log(5e-5))


def test_no_words() -> None:
    found = calibration([], [])
    assert found.words == 0
    assert np.isnan(
        [found.ece, found.mce, found.confidence, found.accuracy, found.brier, found.log_loss]
    ).all()


@pytest.mark.parametrize(
    ("p", "right", "bins", "message"),
    [
        ([0.5], [True, False], 10, r"shapes \(1,\) and \(2,\)"),
        ([[0.5]], [[True]], 10, "one for each word"),
        ([0.5], [True], 0, "1 or more bins"),
        ([0.5, 1.5], [True, True], 10, "probability 1.5, expected a number from 0 to 1"),
        ([np.nan], [True], 10, "probability nan"),
    ],
)
def test_refused(p: list[float], right: list[bool], bins: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibration(p, right, bins=bins)


def conllu(*sentences: list[tuple[str, int, str, str]]) -> bytes:
    """Sentences of words: form, head, label, MISC."""
    text = ""
    for words in sentences:
        text += "# 1\tis a comment|ArcProb=7\n"
        for number, (form, head, label, misc) in enumerate(words, 1):
            text += f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t{misc}\n"
        text += "\n"
    return text.encode()


def confidences(data: bytes) -> np.ndarray:
    treebank = read_string(data)
    return read_confidences(treebank, read_columns(treebank, Strings()))


def test_probabilities_are_read_from_among_other_entries() -> None:
    words = [
        ("a", 2, "x", "SpaceAfter=No|ArcProb=0.25|LabelProb=1.0000"),
        ("b", 0, "root", "LabelProb=0|Prob=a=b|ArcProb=1e-3|Gloss"),
    ]
    np.testing.assert_array_equal(confidences(conllu(words)), [[0.25, 1e-3], [1, 0]])
    # A range and an empty node have no probabilities of their own.
    more = (
        conllu(words)
        .replace(b"1\ta", b"1-2\tab" + b"\t_" * 7 + b"\tArcProb=9\n1\ta")
        .replace(b"Gloss\n", b"Gloss\n2.1" + b"\t_" * 9 + b"\n")
    )
    np.testing.assert_array_equal(confidences(more), [[0.25, 1e-3], [1, 0]])


def test_sentences_that_were_parsed_in_pieces_have_none() -> None:
    whole, pieces = [("a", 0, "root", "ArcProb=0.5|LabelProb=0.75")], [("b", 0, "root", "_")]
    np.testing.assert_array_equal(confidences(conllu(pieces, whole)), [[np.nan, 0.5], [np.nan, 0.75]])


GOOD = ("a", 2, "x", "ArcProb=0.5|LabelProb=0.5")


@pytest.mark.parametrize(
    ("misc", "found"),
    [
        ("_", "no ArcProb"),
        ("ArcProb=0.5", "no LabelProb"),
        ("LabelProb=0.5", "no ArcProb"),
        ("ArcProb=|LabelProb=0.5", "ArcProb is ''"),
        ("ArcProb=high|LabelProb=0.5", "ArcProb is 'high'"),
        ("ArcProb=0.5|LabelProb=1.01", "LabelProb is '1.01'"),
        ("ArcProb=-0.1|LabelProb=1", "ArcProb is '-0.1'"),
        ("ArcProb=nan|LabelProb=1", "ArcProb is 'nan'"),
    ],
)
def test_malformed_probabilities_are_refused(misc: str, found: str) -> None:
    with pytest.raises(InputError) as caught:
        confidences(
            conllu([GOOD, ("b", 0, "root", "_")], [GOOD, ("b", 0, "root", misc)]).replace(
                b"_\n\n", b"ArcProb=1|LabelProb=1\n\n", 1
            )
        )
    assert found in str(caught.value)
    assert "token 2" in str(caught.value)
    assert "in sentence 2, expected a probability from 0 to 1" in str(caught.value)


def test_a_file_without_probabilities_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"token 1: no ArcProb in sentence 1, expected .*arcwise parse --confidence"
    ):
        confidences(conllu([("a", 2, "x", "_"), ("b", 0, "root", "_")]))


def test_heads_labels_and_both_by_hand() -> None:
    gold = conllu(
        [("a", 2, "x", "_"), ("b", 0, "root", "_"), ("c", 2, "x:y", "_"), ("de", 2, "x", "_")],
        [("f", 0, "root", "_")],
    )
    system = conllu(
        [
            ("a", 2, "x", "ArcProb=0.75|LabelProb=0.5"),  # right
            ("b", 0, "root", "ArcProb=1|LabelProb=1"),
            ("c", 2, "x", "ArcProb=0.5|LabelProb=0.25"),  # wrong label
            ("d", 1, "x", "ArcProb=0.1|LabelProb=0.1"),  # not aligned
            ("e", 1, "x", "ArcProb=0.1|LabelProb=0.1"),
        ],
        [("f", 0, "root", "_")],  # without probability
    )
    strings, treebank = Strings(), read_string(system)
    comparison = attachment_scores(
        read_columns(read_string(gold), strings), read_columns(treebank, strings)
    ).comparison
    known = read_confidences(treebank, comparison.system)
    found = attachment_calibrations(comparison, known)
    assert {name: one.words for name, one in found.items()} == {"heads": 3, "labels": 3, "both": 3}
    assert found["heads"].accuracy == 1
    assert found["heads"].confidence == pytest.approx(2.25 / 3)
    assert found["labels"].accuracy == pytest.approx(2 / 3)
    assert found["labels"].confidence == pytest.approx(1.75 / 3)
    assert found["both"].confidence == pytest.approx((0.375 + 1 + 0.125) / 3)
    assert found["both"].brier == pytest.approx((0.625**2 + 0.125**2) / 3)
    for row in calibration_tables(comparison, known)["calibration"]:
        assert (row["words"], row["not_aligned"], row["unknown"]) == (3, 2, 1)


def test_labels_count_only_where_the_head_is_right() -> None:
    gold = conllu([("a", 2, "x", "_"), ("b", 0, "root", "_")])
    system = conllu(
        [("a", 0, "root", "ArcProb=0.5|LabelProb=0.5"), ("b", 1, "x", "ArcProb=0.5|LabelProb=0.5")]
    )
    strings, treebank = Strings(), read_string(system)
    comparison = attachment_scores(
        read_columns(read_string(gold), strings), read_columns(treebank, strings)
    ).comparison
    heads, labels, both = calibration_tables(comparison, read_confidences(treebank, comparison.system))[
        "calibration"
    ]
    assert (heads["accuracy"], labels["accuracy"], both["accuracy"]) == (0, None, 0)
    assert (labels["words"], labels["ece"], labels["log_loss"]) == (0, None, None)


def test_trees_by_hand() -> None:
    """Of five sentences one is right, one has a wrong label, one a wrong head, one other words, one no probability."""
    right = [("a", 2, "x", "_"), ("b", 0, "root", "_")]
    gold = conllu(right, right, right, right, right)
    known = [(*word[:3], "ArcProb=1|LabelProb=1") for word in right]
    label, head = (
        [("a", 2, "y", known[0][3]), known[1]],
        [("a", 0, "root", known[0][3]), ("b", 1, "x", known[0][3])],
    )
    other = [("ab", 0, "root", known[0][3])]
    parts = [conllu(known), conllu(label), conllu(head), conllu(other), conllu(known)]
    told = [
        b"# tree_prob = 0.75\n",
        b"#tree_prob=1e-3\n",
        b"# tree_prob = 0.5\n# tree_prob_error = 7\n",
        b"# tree_prob = 1\n",
        b"",
    ]
    system = b"".join(comment + part for comment, part in zip(told, parts, strict=True))
    strings, treebank = Strings(), read_string(system)
    comparison = attachment_scores(
        read_columns(read_string(gold), strings), read_columns(treebank, strings)
    ).comparison
    trees = read_tree_probabilities(treebank, comparison.system)
    np.testing.assert_array_equal(trees, [0.75, 1e-3, 0.5, 1, np.nan])
    aligned, is_right = compare_trees(comparison)
    assert aligned.tolist() == [True, True, True, False, True]
    assert is_right.tolist() == [True, False, False, False, True]
    words = read_confidences(treebank, comparison.system)
    found = attachment_calibrations(comparison, words, trees)["trees"]
    assert found.words == 3
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.confidence == pytest.approx((0.75 + 1e-3 + 0.5) / 3)
    row = calibration_tables(comparison, words, trees)["calibration"][-1]
    assert (row["probability"], row["words"], row["not_aligned"], row["unknown"]) == ("trees", 3, 1, 1)


@pytest.mark.parametrize("value", ["", "2", "-0.1", "nan", "likely"])
def test_malformed_probabilities_of_trees_are_refused(value: str) -> None:
    sentence = conllu([("a", 0, "root", GOOD[3])])
    treebank = read_string(sentence + f"# tree_prob = {value}\n".encode() + sentence)
    with pytest.raises(InputError, match=r"tree_prob is .* in sentence 2, expected a probability"):
        read_tree_probabilities(treebank, read_columns(treebank, Strings()))
