"""The parser on raw text, streams of texts, and the documents it gives."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest

from arcwise.draw.svg import svg_document
from arcwise.errors import InputError
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.parser import Document, Parser, Text
from arcwise.text.writing import original_text
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence
from tests.pipeline.models import is_tree, quick, random_model, synthetic_block, trained

TEXT = "A man arrived yesterday. Who knows him?\n\nMy uncle doesn't."


def test_a_text() -> None:
    document = trained()(TEXT)
    assert isinstance(document, Document)
    assert [sentence.text for sentence in document] == [
        "A man arrived yesterday.",
        "Who knows him?",
        "My uncle doesn't.",
    ]
    for sentence in document:
        assert is_tree(sentence.heads.tolist())
        assert sentence.heads.tolist().count(0) == 1
        assert sentence.certified
        assert np.isfinite(sentence.score or np.nan)
        assert "_" not in [*sentence.upos, *sentence.xpos, *sentence.lemmas, *sentence.labels]
    assert document[0].upos[1:] == ["DET", "NOUN", "VERB", "NOUN", "PUNCT"]
    assert document[0].lemmas[1:] == ["a", "man", "arrive", "yesterday", "."]
    assert original_text(str(document).encode()) == TEXT
    assert [word.form for word in document[0][2].subtree] == ["A", "man"]
    again = read_string(str(document))
    assert [str(sentence) for sentence in again] == [str(sentence) for sentence in document]


def test_words_and_text_give_the_same_trees() -> None:
    (from_text,) = trained()("My uncle arrived .")
    (from_words,) = trained()(["My", "uncle", "arrived", "."])
    assert from_text.heads.tolist() == from_words.heads.tolist()
    for column in ("forms", "lemmas", "upos", "xpos", "feats", "labels"):
        assert getattr(from_text, column) == getattr(from_words, column)


def test_tags_that_are_there_stay() -> None:
    odd = Sentence.from_words(["My", "uncle"], upos=["X", "INTJ"])
    (parsed,) = trained()(odd)
    assert parsed.upos == ["", "X", "INTJ"]
    assert parsed.lemmas == ["", "_", "_"]
    (tagged,) = trained()(Sentence.from_words(["My", "uncle"]))
    assert tagged.upos == ["", "PRON", "NOUN"]


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n"])
def test_no_text(text: str) -> None:
    assert trained()(text) == []
    assert str(trained()(text)) == ""


@pytest.mark.parametrize(
    "text",
    ["🙂", "ok", "ALL CAPITALS HERE", "def f(x): return x", "أهلا بالعالم", "我爱你。", "a\x0bb", "_ # _"],
)
def test_odd_texts(text: str) -> None:
    document = trained()(text)
    assert original_text(str(document).encode()) == text
    assert all(is_tree(sentence.heads.tolist()) for sentence in document)


def test_a_long_text_comes_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained()(TEXT * 20)
    monkeypatch.setattr(parser_module, "_BLOCK_BYTES", 1000)
    assert str(trained()(TEXT * 20)) == str(whole)
    blocks = list(trained().read_text([TEXT.encode()] * 20))
    assert len(blocks) > 5
    assert sum(map(len, blocks)) == len(whole)
    assert {tag for block in blocks for tag in block.column(3)} == {"_"}


def test_a_model_without_tagger_parses_text_all_the_same() -> None:
    parser = Parser(random_model(0, [synthetic_block(5, 5.0)]))
    for sentence in parser(TEXT):
        assert is_tree(sentence.heads.tolist())
        assert set(sentence.upos[1:]) == {"_"}
    block = next(parser.read_text([b"Some text"]))
    assert parser.tag_block(block, anew=True) is block


def test_gold_tags_give_a_parser_without_tagger() -> None:
    parser = quick(read_string(str(trained()(TEXT))), epochs=1, label_epochs=1)
    assert parser.tagger is None
    assert trained().tagger is not None


# Streams


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_stream_of_texts(jobs: int) -> None:
    texts = [f"Number {i} arrived. It left." for i in range(30)]
    documents = list(trained().pipe(texts, jobs=jobs))
    assert [str(document) for document in documents] == [str(trained()(text)) for text in texts]
    mixed: list[Text] = [
        "My uncle.",
        ["My", "uncle"],
        Sentence.from_words(["My", "uncle"]),
        [["My"], ["uncle"]],
        "",
    ]
    assert [len(document) for document in trained().pipe(mixed, jobs=jobs)] == [1, 1, 1, 2, 0]
    assert list(trained().pipe([], jobs=jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stream_is_read_as_it_is_needed(jobs: int) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "My uncle arrived."

    stream = trained().pipe(texts(), jobs=jobs)
    assert taken == 0
    for _ in range(3):
        next(stream)
    assert 3 <= taken <= 3 + 2 * jobs
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_in_a_stream_comes_in_its_turn(jobs: int) -> None:
    stream = trained().pipe(["One.", "Two.", "half \ud800", "Four."], jobs=jobs)
    assert [len(next(stream)) for _ in range(2)] == [1, 1]
    with pytest.raises(InputError, match="surrogate"):
        next(stream)


# Documents


def test_documents_draw_themselves() -> None:
    document = trained()(TEXT)
    assert document.draw() == "\n".join(sentence.draw() for sentence in document)
    assert document.draw(width=40, colour=True) == "\n".join(s.draw(width=40, colour=True) for s in document)
    assert document.draw("svg") == document._repr_svg_() == svg_document(document)
    assert len(ElementTree.fromstring(document._repr_svg_())) == len(document) + 3
    assert document.draw("dot").count("digraph") == 3
    assert document.draw("latex").count("\\begin{dependency}") == 3
    with pytest.raises(InputError):
        document.draw("oil")
    assert trained()("").draw() == ""
