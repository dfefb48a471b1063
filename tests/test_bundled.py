"""The models that come with arcwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import arcwise
from arcwise.errors import ModelError
from arcwise.pipeline.parser import bundled_models, load
from arcwise.text.writing import original_text

MODELS = Path(arcwise.__file__).parent / "models"

pytestmark = pytest.mark.skipif(
    not (MODELS / "en.arcwise").exists(), reason="needs the bundled model, which was not built"
)

TEXT = "Mary didn't see the three old men with her telescope. Where are they?"


def test_english() -> None:
    document = load("en")(TEXT)
    assert [sentence.text for sentence in document] == [TEXT[:53], TEXT[54:]]
    assert original_text(str(document).encode()) == TEXT
    for sentence in document:
        assert sentence.heads.tolist().count(0) == 1
        assert sentence.labels.count("root") == 1
        assert sentence.certified
        assert all(0 <= word.confidence <= 1 + 1e-9 for word in sentence if word.confidence is not None)
    first = document[0]
    assert first.forms[1:5] == ["Mary", "did", "n't", "see"]
    assert first.lemmas[1:5] == ["Mary", "do", "not", "see"]
    assert first.upos[1:5] == ["PROPN", "AUX", "PART", "VERB"]
    assert first.xpos[1:5] == ["NNP", "VBD", "RB", "VB"]
    (men,) = (word for word in first if word.form == "men")
    assert (men.lemma, men.upos, men.label) == ("man", "NOUN", "obj")
    assert men.feats == "Number=Plur"
    assert men.head == first[4]
    assert [word.form for word in men.children][:3] == ["the", "three", "old"]


def test_the_models_are_small() -> None:
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) <= 20e6


def test_a_model_tells_of_itself() -> None:
    model = load("en").model
    assert model.tokeniser is not None
    assert model.tagger is not None
    assert model.single_root
    assert model.facts["tags"]["upos"] > 90


def test_an_unknown_name_lists_what_there_is() -> None:
    assert "en" in bundled_models()
    with pytest.raises(ModelError, match=r"klingon: no such model;.*\ben\b"):
        load("klingon")


def test_a_small_word_before_a_full_stop_is_no_abbreviation() -> None:
    doc = load("en")("The cat sat. Dogs ran on Sat. and on Sunday.")
    assert [sentence.forms[1:] for sentence in doc] == [
        ["The", "cat", "sat", "."],
        ["Dogs", "ran", "on", "Sat.", "and", "on", "Sunday", "."],
    ]
