from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.draw.svg import svg, svg_document
from tests.draw.strategies import sentence_of, trees

SVG = "{http://www.w3.org/2000/svg}"
texts = st.text(
    st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=9
)


def texts_of(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def arcs_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    return root.findall(f".//{SVG}g[@class='arcwise-arc']")


@settings(deadline=None, max_examples=60)
@given(trees(most=40))
def test_words_and_arcs(heads):
    sentence = sentence_of(heads, upos=["TAG"] * len(heads))
    drawn = svg(sentence)
    root = ElementTree.fromstring(drawn)
    assert drawn == svg(sentence)
    assert (root.get("role"), root.findtext(f"{SVG}title")) == ("img", sentence.text)
    known = {(str(head), str(word)): f"r{word}" for word, head in enumerate(heads, 1) if head >= 0}
    found = [
        ((arc.attrib["data-head"], arc.attrib["data-dependent"]), texts_of(arc)) for arc in arcs_of(root)
    ]
    assert {arc for arc, _ in found} == known.keys()
    for arc, (label, *mark) in found:
        assert label == known[arc]
        assert mark in ([], *([f"{word} w{word}"] for word in arc))
        assert (
            len(mark) == sum(other == arc for other, _ in found) - 1
        )  # an arc in two rows is marked in both
    assert sum(text == "TAG" for text in texts_of(root)) == len(heads)
    width, height = int(root.get("width", 0)), int(root.get("height", 0))
    for text in root.iter(f"{SVG}text"):
        assert 0 < int(text.get("x", 0)) < width
        assert 0 < int(text.get("y", 0)) < height


@settings(deadline=None, max_examples=60)
@given(st.lists(texts, min_size=1, max_size=4))
def test_whatever_the_words_it_is_xml(words):
    sentence = sentence_of([0, *[1] * (len(words) - 1)], forms=words, labels=words, upos=words)
    ElementTree.fromstring(svg(sentence))


def test_special_characters_are_escaped():
    root = ElementTree.fromstring(svg(sentence_of([0], forms=["<&\"'>\x1b"], labels=["]]>"])))
    assert {"<&\"'>\\x1b", "]]>"} <= set(texts_of(root))


def test_long_sentences_fold():
    sentence = sentence_of([0, *range(1, 60)])
    root = ElementTree.fromstring(svg(sentence))
    assert int(root.get("width", 0)) <= 1080 + 2 * 22
    assert (
        len({text.get("y") for text in root.iter(f"{SVG}text") if re.fullmatch(r"w\d+", text.text or "")}) > 1
    )


def places(words: list[str]) -> list[int]:
    root = ElementTree.fromstring(svg(sentence_of([0, *[1] * (len(words) - 1)], forms=words)))
    xs = {text.text: int(text.get("x", 0)) for text in root.iter(f"{SVG}text")}
    return [xs[word] for word in words]


def test_reading_order():
    assert places(["one", "two", "three"]) == sorted(places(["one", "two", "three"]))
    arabic = places(["ذهب", "الولد", "Linux"])
    assert arabic == sorted(arabic, reverse=True)


def test_several_sentences_are_stacked():
    sentences = [sentence_of([2, 0]), sentence_of([0]), sentence_of([0, 1, 2])]
    root = ElementTree.fromstring(svg_document(sentences))
    tops = [g.get("transform", "") for g in root.findall(f"{SVG}g")]
    assert len(set(tops)) == 3
    assert len(arcs_of(root)) == 6
    assert root.findtext(f"{SVG}title") == "Dependency trees of 3 sentences"
    ElementTree.fromstring(svg_document([]))
