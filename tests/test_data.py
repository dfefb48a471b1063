"""The treebank of our own in tests/data: that it is what its README says, valid, and nobody else's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import arcwise
from arcwise import Sentence

DATA = Path(__file__).parent / "data"
CONLLU = ("train.conllu", "dev.conllu")
OLDER = {"conllx.conll": "conllx", "conll2008.conll": "conll2008", "conll2009.conll": "conll2009"}
EVERY_FILE = (*CONLLU, *OLDER)


def sentences(*files: str) -> list[Sentence]:
    return [sentence for file in files for sentence in arcwise.read_conllu(DATA / file)]


def words(sentence: Sentence) -> str:
    """The words alone, to compare sentences whatever their case and punctuation."""
    return " ".join(re.findall(r"[^\W_]+", " ".join(sentence.forms).lower()))


def ancestors(heads: np.ndarray, word: int) -> list[int]:
    """The word, its head, and so on up to the root 0."""
    path = [word]
    while path[-1] != 0:
        path.append(int(heads[path[-1]]))
        assert len(path) <= len(heads), "a cycle"
    return path


def is_projective(heads: np.ndarray) -> bool:
    """Whether every word between the two ends of an arc is below the arc's head."""
    return all(
        int(heads[m]) in ancestors(heads, between)
        for m in range(1, len(heads))
        for between in range(min(m, heads[m]) + 1, max(m, heads[m]))
    )


def surface(sentence: Sentence) -> str:
    """The text as tokens and SpaceAfter=No spell it."""
    ranges = {token.first: token for token in sentence.ranges}
    text, word = "", 1
    while word <= len(sentence):
        token = ranges.get(word)
        form, misc = (token.form, token.misc) if token else (sentence.forms[word], sentence.misc[word])
        text += form if "SpaceAfter=No" in misc.split("|") else form + " "
        word = token.last + 1 if token else word + 1
    return text.rstrip()


def counts(file: str) -> tuple[int, ...]:
    """Sentences, words, non-projective sentences, sentences of several roots, ranges and empty nodes."""
    treebank = sentences(file)
    return (
        len(treebank),
        sum(map(len, treebank)),
        sum(not is_projective(sentence.heads) for sentence in treebank),
        sum(int(np.count_nonzero(sentence.heads == 0)) > 1 for sentence in treebank),
        sum(len(sentence.ranges) for sentence in treebank),
        sum(len(sentence.empty_nodes) for sentence in treebank),
    )


def test_it_is_large_and_varied_enough():
    in_all = np.sum([counts(file) for file in CONLLU], axis=0)
    assert (in_all >= (150, 1500, 15, 0, 30, 5)).all()
    lengths = [len(sentence) for sentence in sentences(*CONLLU)]
    assert min(lengths) <= 3
    assert max(lengths) >= 25
    labels = {label for sentence in sentences(*CONLLU) for label in sentence.labels[1:]}
    assert {"orphan", "vocative", "appos", "acl:relcl", "nsubj:pass", "parataxis", "csubj", "fixed"} <= labels


@pytest.mark.parametrize("file", EVERY_FILE)
def test_readme_counts(file: str):
    row = " | ".join(map(str, counts(file)))
    assert f"| `{file}` | {row} |" in (DATA / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", EVERY_FILE)
def test_every_sentence_is_a_tree(file: str):
    for sentence in sentences(file):
        heads = sentence.heads
        assert all(ancestors(heads, word)[-1] == 0 for word in range(1, len(heads)))


@pytest.mark.parametrize("file", CONLLU)
def test_one_root_and_its_label(file: str):
    for sentence in sentences(file):
        assert np.count_nonzero(sentence.heads == 0) == 1
        for head, label in zip(sentence.heads[1:], sentence.labels[1:], strict=True):
            assert (head == 0) == (label == "root")


@pytest.mark.parametrize("file", CONLLU)
def test_columns_are_filled(file: str):
    for sentence in sentences(file):
        for column in (sentence.lemmas, sentence.upos, sentence.xpos):
            assert "_" not in column


@pytest.mark.parametrize("file", CONLLU)
def test_text_is_recovered(file: str):
    for sentence in sentences(file):
        assert f"# text = {surface(sentence)}" in sentence.comments


def test_non_projective_sentences_say_so():
    for sentence in sentences(*CONLLU):
        said = any("(non-projective)" in comment for comment in sentence.comments)
        assert said != is_projective(sentence.heads), sentence.text


def test_sentences_and_their_ids_are_unique():
    treebank = sentences(*CONLLU)
    assert len({sentence.sent_id for sentence in treebank}) == len(treebank)
    assert len({sentence.text for sentence in treebank}) == len(treebank)


@pytest.mark.parametrize(("file", "format"), OLDER.items())
def test_older_formats_are_recognised(file: str, format: str):
    assert arcwise.read_conllu(DATA / file).format.name == format


def test_columns_of_the_older_formats():
    split = sentences("conll2008.conll")[1]
    assert split.forms[2:5] == ["Lima", "-", "based"]  # the split forms, not the words they come from
    gold = sentences("conll2009.conll")[0]
    assert (gold.heads[6], gold.labels[6]) == (3, "MNR")  # HEAD and DEPREL, not PHEAD and PDEPREL


def test_udvalidate_finds_no_error():
    validator = pytest.importorskip("udtools.validator").Validator(lang="en", level=5, output=None)
    for file in CONLLU:
        state = validator.validate_files([str(DATA / file)])
        assert state.passed(), str(state)


def test_no_sentence_is_from_a_treebank(treebanks: Path):
    ours = {words(sentence) for sentence in sentences(*EVERY_FILE) if len(sentence) >= 5}
    for file in sorted(treebanks.glob("en_*/*.conll*")):
        theirs = {words(sentence) for sentence in arcwise.read_conllu(file, check_trees=False)}
        assert not ours & theirs
