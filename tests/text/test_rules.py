"""What is one token to the general rules, and where lines end sentences."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.text.lines import line_breaks
from arcwise.text.tokeniser import Tokeniser
from arcwise.treebank.reading import read_string


def sentences(text: str) -> list[list[str]]:
    output = Tokeniser.general().tokenise(text)
    return [sentence.forms[1:] for sentence in read_string(output, format="conllu", check_trees=False)]


@pytest.mark.parametrize(
    "tokens",
    [
        "Mr. Hill paid $ 3.50 to J. R. R. Wood at 5 p.m. on Jan. 5",
        "see https://a.org/b_c?d=1&e=2 , www.a.com . Or ( http://b.de/f ) now",
        "write to a.b-c@d.co.uk , please",
        "it cost 1,000.50 or 3,14 at 10:30 on 12/25/2005",
        "well :-) ;) :D <3 :'( ^_^ xD",
        "wait ... what ?! no !!! -- yes",
        "#tag and @name and well-known e.g. this , i.e. that",
        "U.S. troops",
        "👩‍🔬 👍🏽 🇩🇪 🇫🇷 ❤️ 1️⃣",
        "मनमोहन सिंह é",
        "C++ and C#",
    ],
)
def test_rule_tokens(tokens: str) -> None:
    assert [token for sentence in sentences(tokens) for token in sentence] == tokens.split(" ")
    glued = (
        tokens.replace(" ,", ",")
        .replace(" . ", ". ")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace("$ ", "$")
    )
    assert [token for sentence in sentences(glued) for token in sentence] == tokens.split(" ")


@pytest.mark.parametrize(
    "parts",
    [
        ["He left.", "She stayed!", "Why?", "No idea…"],
        ['"Go home."', "He went.", "(He did.)", "[Really.]", "Yes."],
        ["Dr. No met J. Wood.", "They spoke."],
        ["我爱北京。", "你呢？"],
        ["كيف حالك؟", "شكرا."],
    ],
)
def test_sentences_by_rule(parts: list[str]) -> None:
    space = "" if "。" in parts[0] else " "
    found = sentences(space.join(parts))
    assert ["".join(sentence) for sentence in found] == [part.replace(" ", "") for part in parts]


def lines(text: str) -> list[str]:
    """The text cut where lines force it."""
    breaks = np.flatnonzero(line_breaks(text, "text")).tolist()
    return [
        text[i:j].strip().replace("\n", " ") for i, j in zip([0, *breaks], [*breaks, len(text)], strict=True)
    ]


def test_wrapped_prose_is_joined() -> None:
    prose = [
        "The wind had been blowing all night and by the",
        "morning the last leaves were gone from the old",
    ]
    assert lines("\n".join([*prose, "trees."])) == [" ".join([*prose, "trees."])]
    assert lines("\n".join([*prose, "trees.", "Nobody cared."])) == [
        " ".join([*prose, "trees."]),
        "Nobody cared.",
    ]
    assert lines("\n".join([*prose, "- an item of a list"])) == [" ".join(prose), "- an item of a list"]


@pytest.mark.parametrize(
    "text",
    [
        "RAIN AGAIN\nNobody surprised\nRivers rise",
        "hi\nhow are you\nfine",
        "2 eggs\n1 cup of flour\na little salt",
        "def f(x):\n    return x\nprint(f(2))",
        f"{'A paragraph on one long line. ' * 9}\n{'Another one of the kind. ' * 9}",
        "1. Open the door.\n2. Go in.",
    ],
)
def test_other_lines_stay_apart(text: str) -> None:
    assert lines(text) == [line.strip() for line in text.split("\n")]


def test_hostile_text_takes_linear_time() -> None:
    """A quadratic pattern would take hours for these."""
    for piece in (
        "a.",
        "a-",
        "1,",
        "http://",
        "a@",
        ":",
        "a.b@",
        "x'",
        "'",
        "🇩",
        "\u0301",
        "mailto:",
        "A.",
        "www.",
        "-_",
    ):
        text = piece * (300_000 // len(piece))
        assert len(Tokeniser.general().tokenise(text)) > len(text)
