from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.draw.dot import dot
from tests.draw.strategies import sentence_of, trees

QUOTED = r'"((?:[^"\\]|\\.)*)"'


@settings(deadline=None, max_examples=60)
@given(trees(), st.data())
def test_nodes_and_edges(heads, data):
    printable = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
    forms = data.draw(st.lists(printable, min_size=len(heads), max_size=len(heads)))
    lines = dot(sentence_of(heads, forms=forms, labels=forms, upos=["T"] * len(heads))).split("\n")
    assert (lines[0], lines[-2:]) == ("digraph {", ["}", ""])
    nodes, edges = {}, {}
    for line in lines:
        if match := re.fullmatch(rf"  (\d+) \[label={QUOTED}\]", line):
            nodes[int(match[1])] = match[2]
        elif match := re.fullmatch(
            rf"  (\d+) -> (\d+) \[label={QUOTED}, color={QUOTED}, fontcolor={QUOTED}\]", line
        ):
            edges[int(match[2])] = int(match[1]), re.sub(r"\\(.)", r"\1", match[3])
    for word, form in enumerate(forms, 1):
        assert nodes[word].endswith("\\nT")
        assert re.sub(r"\\(.)", r"\1", nodes[word].removesuffix("\\nT")) == form
    assert edges == {word: (head, forms[word - 1]) for word, head in enumerate(heads, 1) if head >= 0}
