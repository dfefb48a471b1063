"""A tokeniser learned from a few invented sentences."""

from __future__ import annotations

from functools import cache

from arcwise.text.tokeniser import Tokeniser
from arcwise.text.training import train_tokeniser
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import CONLLU


def conllu(sentence: str, *, comments: bool = True) -> str:
    """A sentence written as `We don't/do+n't go _.`: a token after `_` follows without a space, words stand after `/`."""
    rows: list[str] = []
    pieces = sentence.split(" ")
    number = 1
    text = ""
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        token, _, words = piece.removeprefix("_").partition("/")
        misc = "SpaceAfter=No" if following.startswith("_") else "_"
        text += token + ("" if following.startswith("_") else " ")
        parts = words.split("+") if words else [token]
        if len(parts) > 1:
            rows.append(f"{number}-{number + len(parts) - 1}\t{token}" + "\t_" * 7 + f"\t{misc}")
            misc = "_"
        for part in parts:
            rows.append(f"{number}\t{part}" + "\t_" * 4 + f"\t{number - 1}\tdep\t_\t{misc}")
            number += 1
    head = [f"# text = {text.strip()}"] if comments else []
    return "\n".join([*head, *rows, "", ""])


TEXT = [
    "We can't/ca+n't go _.",
    "I don't/do+n't know _, but it's/it+'s late _!",
    "Mia's/Mia+'s cat isn't/is+n't here _.",
    "DON'T/DO+N'T do that _!",
    "You cannot/can+not see Tom's/Tom+'s dog _.",
    "well _- _known names _: Mr. Hill _, J. Wood",
    "Allons au/à+le parc _.",
    "Is its name Rex _?",
    "An old _- _fashioned new _- _found hat _.",
]


def blocks(sentences: list[str], *, comments: bool = True) -> list[Block]:
    data = "".join(conllu(sentence, comments=comments) for sentence in sentences).encode()
    block, errors = index_block(data, CONLLU)
    assert not errors
    return [block]


@cache
def tokeniser() -> Tokeniser:
    """Learned once; nobody changes it."""
    learned = train_tokeniser(blocks(TEXT * 5), seed=1)
    assert learned is not None
    return learned
