from __future__ import annotations

import pytest

from arcwise import InputError
from arcwise.treebank.formats import FORMATS, format_named, recognise
from tests.treebank import examples


@pytest.mark.parametrize("name", list(FORMATS))
def test_content_tells_the_format(name):
    assert recognise(examples.ALL[name].encode(), "file").name == name


def test_ten_plain_columns_are_conllx_unless_the_name_says_otherwise():
    text = examples.CONLLX.encode()
    assert recognise(text, "a.conll").name == "conllx"
    assert recognise(text, "a.conllu").name == "conllu"
    assert recognise(text, "a.conllu.gz").name == "conllu"


def test_a_range_alone_makes_conllu():
    text = examples.CONLLX.replace("1\tThey", "1-2\tThey sing\t_\t_\t_\t_\t_\t_\t_\t_\n1\tThey")
    assert recognise(text.encode(), "a.conll").name == "conllu"


def test_blind_conll2009_has_no_heads():
    text = "1\tOh\t_\toh\t_\tUH\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert recognise(text.encode(), "blind.txt").name == "conll2009"


@pytest.mark.parametrize(
    "text", ["1 They they P PRP _ 2 SBJ _ _\n\n", "just some text\n", "a\tb\tc\n\n", "\0\1\n"]
)
def test_something_else_is_refused(text):
    with pytest.raises(InputError, match="no known format"):
        recognise(text.encode(), "notes.txt")


def test_unknown_name():
    with pytest.raises(InputError, match="one of conllu, conllx, conll2008, conll2009"):
        format_named("conll")
