"""What is learned from a treebank, and from which."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcwise.evaluation.alignment import align
from arcwise.evaluation.columns import Strings, read_columns
from arcwise.text.contractions import contractions, learn_contractions
from arcwise.text.tokeniser import Tokeniser
from arcwise.text.training import train_tokeniser
from arcwise.text.treebank_text import treebank_text
from arcwise.text.writing import original_text
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.reading import read_blocks, read_conllu, read_string
from tests.text.treebanks import TEXT, blocks, conllu, tokeniser


def words(text: str, splitter: Tokeniser | None = None) -> list[list[str]]:
    output = (splitter or tokeniser()).tokenise(text)
    return [sentence.forms[1:] for sentence in read_string(output, format="conllu", check_trees=False)]


@pytest.mark.parametrize(
    ("token", "split"),
    [
        ("can't", "ca n't"),
        ("CAN’T", "CA N’T"),
        ("couldn't", "could n't"),
        ("Bob's", "Bob 's"),
        ("cannot", "can not"),
        ("its", "its"),
        ("au", "à le"),
        ("Au", "À le"),
        ("AU", "À LE"),
    ],
)
def test_contractions(token: str, split: str) -> None:
    assert words(token) == [split.split(" ")]


def test_hyphens_as_in_the_treebank() -> None:
    assert words("well-known old-fashioned") == [["well", "-", "known", "old", "-", "fashioned"]]


def test_the_range_carries_the_form_and_the_space() -> None:
    lines = tokeniser().tokenise("can't!").decode().split("\n")
    empty = "\t_" * 7
    assert lines[3:6] == [f"1-2\tcan't{empty}\tSpaceAfter=No", f"1\tca{empty}\t_", f"2\tn't{empty}\t_"]


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two, other = (train_tokeniser(blocks(TEXT * 5), seed=seed) for seed in (1, 1, 2))
    assert one is not None
    assert two is not None
    assert other is not None
    same = [np.array_equal(array, two.arrays()[name]) for name, array in one.arrays().items()]
    assert all(same)
    assert not np.array_equal(one.arrays()["sentences"], other.arrays()["sentences"])
    assert sum(array.nbytes for array in one.arrays().values()) < 300_000


def test_progress_is_told() -> None:
    told: list[float] = []
    train_tokeniser(blocks(TEXT), seed=1, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def plain(*sentences: str) -> list[Block]:
    """Sentences without comments and without SpaceAfter=No."""
    data = "".join(conllu(sentence, comments=False) for sentence in sentences).encode()
    return [index_block(data, CONLLU)[0]]


def test_treebanks_without_spaces_in_their_text() -> None:
    assert train_tokeniser(plain("Go on .", "No !"), seed=1) is None
    assert train_tokeniser([], seed=1) is None
    learned = train_tokeniser(plain(*["我 爱 北京 。", "他 爱 北京 ！"] * 9), seed=1)
    assert learned is not None
    assert words("他爱北京。我爱北京！", learned) == [["他", "爱", "北京", "。"], ["我", "爱", "北京", "！"]]


def test_the_text_of_a_treebank() -> None:
    sentences = [
        conllu("Go _, Tom _!"),
        "# newpar\n" + conllu("It's/It+'s he _."),
        conllu("No", comments=False),
    ]
    block, errors = index_block("".join(sentences).encode(), CONLLU)
    assert not errors
    found = treebank_text([block])
    assert found is not None
    assert found.text == "Go, Tom!\n\nIt's he. No"
    assert [found.text[token.start : token.stop] for token in found.tokens] == [
        "Go",
        ",",
        "Tom",
        "!",
        "It's",
        "he",
        ".",
        "No",
    ]
    assert found.tokens[4].words == ("It", "'s")
    assert found.sentences == [3, 6, 7]


def test_no_contractions() -> None:
    assert len(contractions(learn_contractions([("a", ()), ("b", ())])).keys) == 0


def test_english(treebanks: Path) -> None:
    """From raw text, on the development set. Other seeds move the sentences by about 0.3 points."""
    learned = train_tokeniser(list(read_blocks(treebanks / "en_ewt/train.conllu")), seed=1)
    path = treebanks / "en_ewt/dev.conllu"
    dev = treebank_text(list(read_blocks(path)))
    assert learned is not None
    assert dev is not None
    output = learned.tokenise(dev.text)
    assert original_text(output) == dev.text
    strings = Strings()
    gold = read_columns(read_conllu(path), strings)
    system = read_columns(read_string(output, format="conllu", check_trees=False), strings)
    alignment = align(gold, system)
    assert 2 * len(alignment.gold) / (len(gold) + len(system)) > 0.992
    assert alignment.sentences.f1 > 0.88
