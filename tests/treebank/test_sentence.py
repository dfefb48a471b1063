from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from arcwise import InputError, Sentence
from arcwise.treebank.formats import FORMATS
from arcwise.treebank.reading import read_string
from tests.treebank import examples


def test_everything_a_sentence_knows():
    first, second = read_string(examples.CONLLU)
    assert len(first) == 7
    assert first.forms == ["", "Do", "n't", "wake", "it", ",", "she said", "."]
    assert first.lemmas == ["", "do", "not", "wake", "it", ",", "say", "."]
    assert first.upos == ["", "AUX", "PART", "VERB", "PRON", "PUNCT", "VERB", "PUNCT"]
    assert first.xpos == ["", "VB", "RB", "VB", "PRP", ",", "VBD", "."]
    assert first.feats == ["", "Mood=Imp", "_", "Mood=Imp", "_", "_", "_", "_"]
    assert first.labels == ["", "aux", "advmod", "ccomp", "obj", "punct", "root", "punct"]
    assert first.heads.dtype == np.int32
    assert first.heads.tolist() == [-1, 3, 3, 6, 3, 6, 0, 6]
    assert first.misc[4] == "SpaceAfter=No|Gloss=a b"
    assert first.comments == [
        "# newdoc id = tales",
        "# sent_id = tales-1",
        "# text = Don't wake it, she said.",
    ]
    assert first.sent_id == "tales-1"
    assert first.text == "Don't wake it, she said."
    assert first.ranges == [(1, 2, "Don't", "_"), (6, 7, "she said", "SpaceAfter=No")]
    assert [(node.word, node.number, node.columns[1]) for node in first.empty_nodes] == [(4, 1, "there")]
    assert (first.line, second.line) == (1, 15)
    assert str(first) + str(second) == examples.CONLLU
    assert (first.score, first.certified) == (None, False)
    assert repr(first) == "<Sentence of 7 words, line 1 of <file>>"
    assert second.sent_id is None
    assert second.text == "Čas letí!"
    assert second.misc == ["", "_", "SpaceAfter=No", "_"]


def test_text_without_its_comment_is_put_together():
    (sentence,) = read_string(
        "".join(line for line in examples.CONLLU.split("\n\n")[0].splitlines(True) if "text" not in line)
        + "\n\n"
    )
    assert sentence.text == "Don't wake it, she said"


def test_the_heads_are_a_copy():
    sentence = read_string(examples.CONLLU)[0]
    sentence.heads[1] = 5
    assert sentence.heads[1] == 3


OLDER = {
    "conllx": ("They sing", "they sing", "P V", "PRP VB", "_ pl", "SBJ ROOT"),
    "conll2008": ("They re read", "they re read", "PRP VBD VBD", "PRP VBD VBD", "_ _ _", "SBJ ROOT HYPH"),
    "conll2009": ("They sing", "they sing", "PRP VBP", "PRP VBP", "pl _", "SBJ ROOT"),
}


@pytest.mark.parametrize("name", list(OLDER))
def test_older_formats(name):
    sentence = read_string(examples.ALL[name])[0]
    columns = (sentence.forms, sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats, sentence.labels)
    assert tuple(" ".join(column[1:]) for column in columns) == OLDER[name]
    assert sentence.heads.tolist()[:3] == [-1, 2, 0]
    assert sentence.misc[1:] == ["_"] * len(sentence)
    assert (sentence.comments, sentence.ranges, sentence.empty_nodes, sentence.sent_id) == ([], [], [], None)
    assert sentence.text == OLDER[name][0]


@pytest.mark.parametrize("name", list(FORMATS))
def test_replace(name):
    for sentence in read_string(examples.ALL[name]):
        assert str(sentence.replace()) == str(sentence)
        assert str(sentence.replace(heads=sentence.heads, labels=sentence.labels)) == str(sentence)
        heads = [0] * len(sentence)
        changed = sentence.replace(heads=heads, labels=["x"] * len(sentence), score=1.5, certified=True)
        assert changed.heads.tolist() == [-1, *heads]
        assert set(changed.labels[1:]) == {"x"}
        assert changed.forms == sentence.forms
        assert (changed.score, changed.certified, changed.line) == (1.5, True, sentence.line)


def test_replace_refuses_what_is_no_tree():
    sentence = read_string(examples.CONLLX)[0]
    with pytest.raises(InputError, match="no word has HEAD 0"):
        sentence.replace(heads=[2, 1])
    with pytest.raises(InputError, match="head 3"):
        sentence.replace(heads=[3, 0])
    with pytest.raises(InputError, match="2 integers, or 3"):
        sentence.replace(heads=[0])
    with pytest.raises(InputError, match="2 integers, or 3"):
        sentence.replace(heads=[0.5, 1.5])
    with pytest.raises(InputError, match="1 values for labels"):
        sentence.replace(labels=["x"])


@pytest.mark.parametrize("name", list(FORMATS))
def test_from_words(name):
    sentence = Sentence.from_words(
        ["New York", "sleeps"],
        lemmas=[None, "sleep"],
        upos=["N", "V"],
        heads=np.array([-1, 2, -1]),
        labels=["", "subj", "top"],
        comments=["text = New York sleeps"] if name == "conllu" else (),
        format=name,
    )
    assert sentence.forms == ["", "New York", "sleeps"]
    assert sentence.lemmas == ["", "_", "sleep"]
    assert sentence.upos == ["", "N", "V"]
    assert sentence.heads.tolist() == [-1, 2, -1]
    assert sentence.labels == ["", "subj", "top"]
    assert sentence.text == "New York sleeps"
    assert sentence.format.name == name
    assert str(read_string(str(sentence), format=name)[0]) == str(sentence)


@pytest.mark.parametrize("form", ["", "a\tb", "a\nb", "a\rb", "a\0b"])
def test_unfit_words_are_refused(form):
    with pytest.raises(InputError, match="token 2: FORM is"):
        Sentence.from_words(["fine", form])


def test_from_words_refuses():
    with pytest.raises(InputError, match="not UTF-8"):
        Sentence.from_words(["\ud800"])
    with pytest.raises(InputError, match="without words"):
        Sentence.from_words([], comments=["x"])
    with pytest.raises(InputError, match="0 sentences"):
        Sentence.from_words([])
    with pytest.raises(InputError, match="cycle"):
        Sentence.from_words(["a", "b", "c"], heads=[0, 3, 2])
    with pytest.raises(InputError, match="one line"):
        Sentence.from_words(["a"], comments=["b\nc"])
    with pytest.raises(InputError, match="3 values for LEMMA"):
        Sentence.from_words(["a"], lemmas=["a", "b", "c"])


def test_pictures():
    sentence = read_string(examples.CONLLU)[0]
    beginnings = {"svg": "<svg ", "latex": "% needs ", "dot": "digraph {"}
    for format, beginning in beginnings.items():
        assert sentence.draw(format).startswith(beginning)
    assert "╭" in sentence.draw()
    assert "\x1b[" in sentence.draw(colour=True)
    assert len(sentence.draw(width=40).split("\n")) > len(sentence.draw().split("\n"))
    assert sentence._repr_svg_() == sentence.draw("svg")
    with pytest.raises(InputError, match="'png', expected tree, svg, latex or dot"):
        sentence.draw("png")


def test_drawing_costs_nothing_until_it_is_used():
    code = (
        "import sys, arcwise.treebank.sentence; print([m for m in sys.modules if 'draw' in m or 'rich' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
