from __future__ import annotations

from collections import Counter

import pytest

from arcwise.evaluation.structure import Structure, measure_structure
from arcwise.treebank.block import index_block
from arcwise.treebank.formats import CONLLU
from tests.synthetic import LABELS, synthetic_treebank


def measured(text: str) -> Structure:
    block, errors = index_block(text.encode(), CONLLU)
    assert not errors
    return measure_structure([block])


@pytest.mark.parametrize("nonprojective", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("several_roots", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("mean_length", [8.0, 25.0])
def test_shares_come_out_as_asked(nonprojective: float, several_roots: float, mean_length: float) -> None:
    text = synthetic_treebank(
        200, mean_length=mean_length, nonprojective=nonprojective, several_roots=several_roots, seed=3
    )
    structure = measured(text)
    assert structure.sentences == 200
    assert structure.nonprojective_sentences == 200 * nonprojective
    assert structure.several_roots == 200 * several_roots
    assert structure.mean_length == pytest.approx(mean_length, rel=0.15)


def test_the_same_seed_gives_the_same_bytes() -> None:
    text = synthetic_treebank(30, seed=1)
    assert synthetic_treebank(30, seed=1) == text
    assert synthetic_treebank(30, seed=2) != text


def test_the_labels_of_the_grammar() -> None:
    structure = measured(synthetic_treebank(500))
    assert set(structure.labels) == {*LABELS, "root"}


@pytest.mark.parametrize("number", [1, 7, 150])
def test_a_label_set_of_any_size(number: int) -> None:
    labels = [f"label{k}" for k in range(number)]
    structure = measured(synthetic_treebank(3000, labels=labels))
    assert set(structure.labels) == {*labels, "root"}


def test_long_sentences() -> None:
    structure = measured(synthetic_treebank(3, mean_length=3000.0, nonprojective=1.0))
    assert structure.longest > 2000
    assert structure.nonprojective_sentences == 3


def test_all_seeds_speak_the_same_language() -> None:
    """Most running words of one treebank occur in another, with the same tag; a form has one tag."""
    tags: list[dict[str, str]] = [{}, {}]
    running: Counter[str] = Counter()
    for seed in (0, 1):
        for line in synthetic_treebank(500, seed=seed).splitlines():
            if line and not line.startswith("#"):
                _, form, _, tag, *_ = line.split("\t")
                assert tags[seed].setdefault(form, tag) == tag
                running[form] += seed
    known = [form for form in tags[1] if form in tags[0]]
    assert all(tags[0][form] == tags[1][form] for form in known)
    assert 0.7 < sum(running[form] for form in known) / running.total() < 1.0


def test_tags_decide_most_attachments() -> None:
    """Hung from the nearest word of the tag that governs theirs most often, most words are hung right."""
    text = synthetic_treebank(400, nonprojective=0.0)
    sentences = [
        [line.split("\t") for line in part.splitlines() if not line.startswith("#")]
        for part in text.strip().split("\n\n")
    ]
    governs: dict[str, Counter[tuple[str, bool]]] = {}
    for rows in sentences:
        for row in rows:
            head = int(row[6])
            if head:
                governs.setdefault(row[3], Counter())[rows[head - 1][3], head > int(row[0])] += 1
    right = total = 0
    for rows in sentences:
        for row in rows:
            if row[6] == "0":
                continue
            tag, after = governs[row[3]].most_common(1)[0][0]
            at = int(row[0])
            places = range(at + 1, len(rows) + 1) if after else range(at - 1, 0, -1)
            guess = next((place for place in places if rows[place - 1][3] == tag), 0)
            right += guess == int(row[6])
            total += 1
    assert right / total > 0.5
