from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import Sentence
from arcwise.draw.latex import latex, latex_document
from tests.draw.strategies import sentence_of, trees

ESCAPES = {
    r"\char38{}": "&",
    r"\char34{}": '"',
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    **{f"\\{c}": c for c in "%$#_{}"},
    **{f"{{{c}}}": c for c in "[]-'`,"},
}
ESCAPED = re.compile("|".join(map(re.escape, ESCAPES)))


def unescape(text: str) -> str:
    assert not re.search(r"[\\{}%$#&~^_]", ESCAPED.sub("", text))
    return ESCAPED.sub(lambda match: ESCAPES[match[0]], text)


@settings(deadline=None, max_examples=60)
@given(trees(), st.data())
def test_everything_is_there_and_escaped(heads, data):
    printable = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
    forms = data.draw(st.lists(printable, min_size=len(heads), max_size=len(heads)))
    labels = data.draw(st.lists(printable, min_size=len(heads), max_size=len(heads)))
    lines = latex(sentence_of(heads, forms=forms, labels=labels)).split("\n")
    assert lines[0] == r"% needs \usepackage{tikz-dependency}"
    row = next(line for line in lines if line.endswith(r" \\"))
    assert [unescape(cell) for cell in row.removesuffix(r" \\").strip().split(r" \& ")] == forms
    found = {}
    for line in lines:
        if match := re.fullmatch(r"  \\depedge\{(\d+)\}\{(\d+)\}\{(.*)\}", line):
            found[int(match[2])] = int(match[1]), unescape(match[3])
        elif match := re.fullmatch(r"  \\deproot\{(\d+)\}\{(.*)\}", line):
            found[int(match[1])] = 0, unescape(match[2])
    assert found == {word: (head, labels[word - 1]) for word, head in enumerate(heads, 1) if head >= 0}


@pytest.mark.parametrize("words", [["a"], ["%{", "}\\", "\x1b"]])
def test_braces_are_balanced(words):
    text = latex_document([Sentence.from_words(words, upos=words), Sentence.from_words(words)])
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{document}") == text.count(r"\end{document}") == 1
    assert text.count(r"\begin{dependency}") == text.count(r"\end{dependency}") == 2


def test_tags_are_a_second_row():
    assert r"    A \& B \\" in latex(sentence_of([0, 1], upos=["A", "B"]))
    assert latex(sentence_of([0, 1])).count(r" \\") == 1
