from __future__ import annotations

import numpy as np
import pytest

from arcwise import Sentence
from arcwise.treebank.reading import read_string
from arcwise.treebank.word import Word
from tests.treebank import examples


@pytest.fixture
def sentence():
    return read_string(examples.CONLLU)[0]


def test_what_a_word_knows(sentence):
    word = sentence[3]
    assert (word.id, word.form, word.lemma, word.upos, word.xpos) == (3, "wake", "wake", "VERB", "VB")
    assert (word.feats, word.morph, sentence[2].morph) == ("Mood=Imp", {"Mood": "Imp"}, {})
    assert sentence[4].misc == "SpaceAfter=No|Gloss=a b"
    assert (word.label, word.sentence, str(word)) == ("ccomp", sentence, "wake")
    assert repr(word) == "<Word 3 'wake' VERB, ccomp of 6 'she said'>"
    assert repr(sentence[6]) == "<Word 6 'she said' VERB, root>"
    assert repr(Sentence.from_words(["a"])[1]) == "<Word 1 'a'>"


def test_its_place_in_the_tree(sentence):
    word = sentence[3]
    assert (word.head, sentence[6].head) == (sentence[6], None)
    assert word.children == [sentence[1], sentence[2], sentence[4]]
    assert sentence[4].children == []
    assert [below.id for below in word.subtree] == [1, 2, 3, 4]
    assert sentence[6].subtree == sentence.words
    assert Sentence.from_words(["a"])[1].head is None


def test_subtrees_with_gaps():
    sentence = Sentence.from_words(list("abcde"), heads=[3, 0, 2, 1, 3])
    assert [word.id for word in sentence[3].subtree] == [1, 3, 4, 5]
    assert [word.id for word in sentence[1].subtree] == [1, 4]


def test_a_cycle_does_not_hang():
    (sentence,) = read_string(
        "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n", check_trees=False
    )
    assert [word.id for word in sentence[1].subtree] == [1, 2]


def test_words_are_numbered_from_one(sentence):
    assert len(sentence.words) == len(sentence) == 7
    assert list(sentence) == sentence.words == [sentence[i] for i in range(1, 8)]
    assert sentence[np.int32(2)].id == 2
    for number in (0, -1, 8):
        with pytest.raises(IndexError, match=f"word {number} of a sentence with words 1 to 7"):
            sentence[number]


def test_equality_and_hash(sentence):
    other = read_string(examples.CONLLU)[0]
    assert sentence[2] == Word(sentence, 2)
    assert sentence[2] not in (sentence[3], other[2], "n't")
    assert len({sentence[2], Word(sentence, 2), other[2]}) == 2


def test_where_words_stand_in_the_text(sentence):
    assert sentence.text == "Don't wake it, she said."
    assert sentence.spans == [None, (0, 2), (2, 5), (6, 10), (11, 13), (13, 14), (15, 23), (15, 23)]
    assert (sentence[2].start, sentence[2].end) == (2, 5)
    contracted = read_string(
        "# text = Vai  al mare\n1\tVai\t_\t_\t_\t_\t_\t_\t_\t_\n2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n3\til\t_\t_\t_\t_\t_\t_\t_\t_\n4\tmare\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )[0]
    assert contracted.spans == [None, (0, 3), (5, 7), (5, 7), (8, 12)]
    other = Sentence.from_words(["a", "b", "c"], comments=["text = a B c"])
    assert other.spans == [None, (0, 1), None, None]
    assert other[2].start is other[3].end is None
    contracted.spans.clear()
    assert len(contracted.spans) == 5


def test_confidences_are_computed_once_and_when_needed(sentence):
    calls = []

    def confidences():
        calls.append(1)
        return [7.0, *np.linspace(0.25, 1, 7)]

    parsed = Sentence(sentence._block, 0, score=1.0, confidences=confidences)
    assert calls == []
    assert parsed[1].confidence == 0.25
    assert parsed[7].confidence == 1.0
    found = parsed.confidences
    assert found is not None
    assert found.dtype == np.float64
    assert np.isnan(found[0])
    assert calls == [1]
    assert sentence.confidences is sentence[1].confidence is None
    assert parsed.replace(labels=["x"] * 7).confidences is None
