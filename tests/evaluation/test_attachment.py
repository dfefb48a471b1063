"""Scores counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.errors import InputError
from arcwise.evaluation.attachment import accuracy, evaluate, is_punctuation
from arcwise.evaluation.breakdown import by_arc_length, by_label, by_sentence_length
from arcwise.evaluation.score import Score
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence

FORMS = ["The", "cats", "are", "seen", ",", "€", "!"]
UPOS = ["DET", "NOUN", "AUX", "VERB", "PUNCT", "SYM", "PUNCT"]
FEATS = ["Definite=Def", "Number=Plur", "_", "Voice=Pass|Typo=Yes", "_", "_", "_"]
LEMMAS = ["the", "cat", "be", "see", ",", "_", "!"]
LABELS = ["det", "nsubj:pass", "aux:pass", "root", "punct", "obj", "punct"]
HEADS = [2, 4, 4, 0, 4, 4, 4]


def sentence(**changes: list[object]) -> Sentence:
    columns = {"lemmas": LEMMAS, "upos": UPOS, "feats": FEATS, "heads": HEADS, "labels": LABELS} | changes
    return Sentence.from_words(FORMS, **columns)  # type: ignore[arg-type]


def metrics(system: Sentence) -> dict[str, dict[str, Score]]:
    return evaluate([sentence()], [system]).metrics


def test_everything_right() -> None:
    for table in metrics(sentence()).values():
        for score in table.values():
            assert score.f1 == score.precision == score.recall == 1
            assert score.aligned_accuracy in (None, 1)


def test_conventions() -> None:
    # Wrong: the head of a punctuation mark, the head of a symbol, the subtype of one label.
    system = sentence(heads=[2, 4, 4, 0, 4, 2, 2], labels=["det", "nsubj", *LABELS[2:]])
    scores = metrics(system)
    assert scores["UD"]["UAS"] == Score(5, 7, 7, 7)
    assert scores["UD"]["LAS"] == Score(5, 7, 7, 7)
    assert scores["UD"]["LA"] == Score(7, 7, 7, 7)
    assert scores["subtypes"]["UAS"] == Score(5, 7, 7, 7)
    assert scores["subtypes"]["LAS"] == Score(4, 7, 7, 7)
    assert scores["subtypes"]["LA"] == Score(6, 7, 7, 7)
    assert scores["CoNLL-X"]["UAS"] == Score(4, 5, 5, 5)
    assert scores["CoNLL-X"]["LAS"] == Score(3, 5, 5, 5)
    assert scores["CoNLL-X"]["LA"] == Score(4, 5, 5, 5)
    assert scores["subtypes"]["UEM"] == Score(0, 1, 1)


def test_content_words_their_function_words_and_lemmas() -> None:
    # Content words are cats, seen and €. The tag of a function word counts for its head, and only in MLAS.
    scores = metrics(sentence(upos=["PRON", *UPOS[1:]]))
    assert scores["UD"]["UPOS"] == Score(6, 7, 7, 7)
    assert scores["UD"]["CLAS"] == Score(3, 3, 3, 3)
    assert scores["UD"]["MLAS"] == Score(2, 3, 3, 3)
    assert scores["UD"]["BLEX"] == Score(3, 3, 3, 3)
    # So does a function word that is missing, or one too many.
    assert metrics(sentence(heads=[4, *HEADS[1:]]))["UD"]["MLAS"] == Score(1, 3, 3, 3)
    # Only universal features count, in any order.
    scores = metrics(sentence(feats=[*FEATS[:3], "Voice=Pass", "_", "_", "_"]))
    assert scores["UD"]["UFeats"] == Score(7, 7, 7, 7)
    assert scores["UD"]["MLAS"] == Score(3, 3, 3, 3)
    # A lemma that gold does not give cannot be wrong.
    scores = metrics(sentence(lemmas=["the", "cats", "be", "see", ",", "euro", "!"]))
    assert scores["UD"]["Lemmas"] == Score(6, 7, 7, 7)
    assert scores["UD"]["BLEX"] == Score(2, 3, 3, 3)
    assert scores["UD"]["MLAS"] == Score(3, 3, 3, 3)


def test_roots_and_whole_trees() -> None:
    other_root = sentence(heads=[2, 0, 4, 2, 4, 4, 4])
    scores = evaluate([sentence(), sentence()], [sentence(), other_root]).metrics
    assert scores["subtypes"]["Root"] == Score(1, 2, 2)
    assert scores["subtypes"]["UEM"] == scores["subtypes"]["LEM"] == Score(1, 2, 2)
    relabelled = sentence(labels=["dep", *LABELS[1:]])
    scores = evaluate([sentence(), sentence()], [relabelled, sentence()]).metrics
    assert scores["subtypes"]["UEM"] == Score(2, 2, 2)
    assert scores["subtypes"]["LEM"] == Score(1, 2, 2)


def test_a_whole_tree_is_a_sentence_of_the_system() -> None:
    line = "{}\t{}\t_\t_\t_\t_\t{}\tx\t_\t_\n"
    gold = read_string(line.format(1, "a", 0) + "\n" + line.format(1, "b", 0) + "\n")
    joined = read_string(line.format(1, "a", 0) + line.format(2, "b", 0) + "\n")
    scores = evaluate(gold, joined).metrics
    assert scores["UD"]["UAS"] == Score(2, 2, 2, 2)
    assert scores["UD"]["Sentences"] == Score(0, 2, 1)
    assert scores["subtypes"]["UEM"] == Score(0, 2, 1)


def test_missing_heads() -> None:
    system = sentence(heads=[-1, 4, 4, 0, 4, 4, 4])
    assert metrics(system)["UD"]["UAS"] == Score(6, 7, 7, 7)
    with pytest.raises(InputError, match=r"^token 1: HEAD is '_' in sentence 2, expected a head"):
        evaluate([sentence(), system], [sentence(), sentence()])


def test_a_single_word_without_a_head() -> None:
    gold = Sentence.from_words(["Go"], heads=[0], labels=["root"])
    assert evaluate([gold], [gold.replace(heads=[-1])]).metrics["UD"]["UAS"] == Score(0, 1, 1, 1)


def test_by_label() -> None:
    system = sentence(heads=[4, 4, 4, 0, 4, 4, 4], labels=["det", "obj", *LABELS[2:]])
    table = by_label(evaluate([sentence()], [system]).comparison)
    assert list(table) == ["punct", "aux:pass", "det", "nsubj:pass", "obj", "root"]
    assert table["obj"].label == Score(1, 1, 2, 1)
    assert table["nsubj:pass"].label == Score(0, 1, 0, 1)
    assert (table["nsubj:pass"].uas, table["nsubj:pass"].las) == (1, 0)
    assert (table["det"].uas, table["det"].label.f1) == (0, 1)


def test_by_length() -> None:
    system = sentence(heads=[4, 4, 4, 0, 4, 4, 6])
    words = [f"w{k}" for k in range(12)]
    long = Sentence.from_words(words, heads=list(range(12)), labels=["x"] * 12)
    scores = evaluate([sentence(), long], [system, long])
    lengths = by_sentence_length(scores)
    assert {name: (row.sentences, row.uas.correct, row.uas.gold) for name, row in lengths.items()} == {
        "1-10": (1, 5, 7),
        "11-20": (1, 12, 12),
    }
    assert by_arc_length(evaluate([sentence()], [system]).comparison) == {
        "root": Score(1, 1, 1),
        "1": Score(2, 3, 3),
        "2": Score(2, 2, 2),
        "3-6": Score(0, 1, 1),
    }


def test_arc_lengths_leave_out_missing_heads() -> None:
    system = sentence(heads=[-1, 4, 4, 0, 4, 4, 4])
    assert by_arc_length(evaluate([sentence()], [system]).comparison)["1"] == Score(2, 3, 2)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("...", True),
        ("«", True),
        ("、", True),
        ("-", True),
        ("_", True),
        ("$", False),
        ("+", False),
        ("a.", False),
    ],
)
def test_punctuation(form: str, expected: bool) -> None:
    assert is_punctuation(form) is expected


def test_accuracy() -> None:
    heads, labels = np.array([-1, 2, 0, -1, 0]), ["", "det", "root", "", "root"]
    assert accuracy(heads, labels, heads, labels) == (1, 1)
    assert accuracy(heads, labels, [-1, 2, 1, -1, 0], ["", "x", "root", "", "root"]) == (2 / 3, 1 / 3)
    assert accuracy([], [], [], []) == (0, 0)
    with pytest.raises(InputError, match="one shape"):
        accuracy(heads, labels, heads[1:], labels)


def test_texts_that_differ_are_refused(tmp_path: Path) -> None:
    line = "{}\t{}\t_\t_\t_\t_\t{}\tx\t_\t_\n"
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    first = "# a comment\n" + line.format(1, "same", 0) + "\n"
    gold.write_text(first + "# text\n" + line.format(1, "one", 0) + line.format(2, "two", 1) + "\n")
    system.write_text(first + line.format(1, "onet", 0) + line.format(2, "oo", 1) + "\n")
    with pytest.raises(InputError) as caught:
        evaluate(gold, system)
    assert str(caught.value) == (
        f"{system}:5: token 2: the text goes on with 'oo' in sentence 2, expected 'two' as in sentence 2"
        f" of {gold}, line 6: both files must hold the same characters"
    )
    system.write_text(first)
    with pytest.raises(InputError, match=r"system.conllu:2: token 1: .* expected 'one"):
        evaluate(gold, system)


def test_spaces_in_words_do_not_matter() -> None:
    gold = Sentence.from_words(["10 000", "km"], heads=[2, 0], labels=["nummod", "root"])
    system = Sentence.from_words(["10", "000\u00a0km"], heads=[2, 0], labels=["nummod", "root"])
    assert evaluate([gold], [system]).metrics["UD"]["Words"] == Score(0, 2, 2)
    system = Sentence.from_words(["10000", "km"], heads=[2, 0], labels=["nummod", "root"])
    assert evaluate([gold], [system]).metrics["UD"]["LAS"] == Score(2, 2, 2, 2)


@pytest.mark.parametrize("form", ["conllx", "conll2008", "conll2009"])
def test_other_formats(form: str) -> None:
    gold = Sentence.from_words(FORMS, upos=UPOS, heads=HEADS, labels=LABELS, format=form)
    system = Sentence.from_words(FORMS, upos=UPOS, heads=[4, *HEADS[1:]], labels=LABELS, format=form)
    assert evaluate([gold], [system]).metrics["CoNLL-X"]["UAS"] == Score(4, 5, 5, 5)
    # Another format holds the same tree.
    assert evaluate([sentence()], [system]).metrics["CoNLL-X"]["UAS"] == Score(4, 5, 5, 5)


def test_no_sentences() -> None:
    with pytest.raises(InputError, match="no sentences"):
        evaluate([], [])


def test_blocks_of_a_file_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "many.conllu"
    path.write_bytes(sentence().to_bytes() * 5000)
    scores = evaluate(path, (sentence() for _ in range(5000)))
    assert path.stat().st_size > 1 << 19
    assert scores.metrics["UD"]["MLAS"] == Score(15000, 15000, 15000, 15000)
    assert scores.comparison.gold.lines[[0, -1]].tolist() == [1, 39999]
