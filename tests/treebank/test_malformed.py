"""Every kind of damage is an InputError with line and cause; with skip_bad only its sentence is lost."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise import InputError
from arcwise.treebank.reading import read_string

GOOD = b"# text = ok\n1\tok\tok\tX\t_\t_\t0\troot\t_\t_\n\n"


def row(word: str, head: str = "_", form: str = "w", label: str = "x") -> bytes:
    return f"{word}\t{form}\tw\tX\t_\t_\t{head}\t{label}\t_\t_\n".encode()


# the bad sentence, its line counted from its own first, the token, a part of the message
CASES = {
    "too few columns": (row("1", "0") + b"2\tw\tw\n", 2, "2", "3 columns, expected 10"),
    "too many columns": (row("1", "0")[:-1] + b"\t_\n", 1, "1", "11 columns, expected 10"),
    "spaces": (b"1 w w X _ _ 0 root _ _\n", 1, None, "1 column, separated by spaces, expected 10"),
    "empty column": (b"1\tw\t\tX\t_\t_\t0\troot\t_\t_\n", 1, "1", r"column 3 \(LEMMA\) is empty"),
    "empty last column": (b"1\tw\t_\tX\t_\t_\t0\troot\t_\t\n", 1, "1", r"column 10 \(MISC\) is empty"),
    "empty first column": (b"\tw\t_\tX\t_\t_\t0\troot\t_\t_\n", 1, "", r"column 1 \(ID\) is empty"),
    "no words": (b"# only a comment\n", 1, None, "without words"),
    "late comment": (row("1", "0") + b"# late\n", 2, None, "comment inside a sentence"),
    "id missing": (row("1", "0") + row("3", "1"), 2, "3", "ID is '3', expected the words numbered"),
    "id twice": (row("1", "0") + row("1", "0"), 2, "1", "ID is '1'"),
    "id zero": (row("0", "0"), 1, "0", "ID is '0'"),
    "id padded": (row("01", "0"), 1, "01", "ID is '01'"),
    "id word": (row("one", "0"), 1, "one", "ID is 'one', expected a number, a range a-b"),
    "id huge": (row("99999999999999999999", "0"), 1, "9" * 20, "ID is"),
    "id half a range": (row("1-", "_") + row("1", "0"), 1, "1-", "ID is '1-'"),
    "id three numbers": (row("1-2-3", "_") + row("1", "0"), 1, "1-2-3", "ID is '1-2-3'"),
    "range late": (row("1", "0") + row("1-2") + row("2", "1"), 2, "1-2", "right before its first word"),
    "range early": (row("2-3") + row("1", "0") + row("2", "1") + row("3", "1"), 1, "2-3", "right before"),
    "range of one": (row("1-1") + row("1", "0"), 1, "1-1", "two words or more"),
    "range backwards": (row("1", "0") + row("2-1") + row("2", "1"), 2, "2-1", "two words or more"),
    "ranges overlap": (
        row("1-2") + row("1", "0") + row("2-3") + row("2", "1") + row("3", "1"), 3, "2-3", "overlaps",
    ),
    "range same start": (row("1-2") + row("1-3") + row("1", "0") + row("2", "1"), 2, "1-3", "overlaps"),
    "range beyond": (row("1-3") + row("1", "0") + row("2", "1"), 1, "1-3", "after the last word"),
    "empty node of a later word": (row("1.1") + row("1", "0"), 1, "1.1", "empty node '1.1'"),
    "empty node number": (row("1", "0") + row("1.2"), 2, "1.2", "empty node '1.2'"),
    "empty nodes out of order": (row("1", "0") + row("1.1") + row("1.1"), 3, "1.1", "empty node '1.1'"),
    "head word": (row("1", "root"), 1, "1", "HEAD is 'root', expected a number or _"),
    "head negative": (row("1", "-1"), 1, "1", "HEAD is '-1'"),
    "head beyond": (row("1", "0") + row("2", "3"), 2, "2", "HEAD is '3', expected a word of the sentence"),
    "head itself": (row("1", "0") + row("2", "2"), 2, "2", "the word itself"),
    "no root": (row("1", "2") + row("2", "1"), 1, "1", "no word has HEAD 0"),
    "cycle": (row("1", "0") + row("2", "3") + row("3", "2"), 2, "2", "cycle"),
    "cycle beside unknown heads": (row("1", "_") + row("2", "3") + row("3", "2"), 2, "2", "cycle"),
    "crlf": (row("1", "0").replace(b"\n", b"\r\n"), 1, "1", "CR LF"),
    "carriage return": (row("1", "0", form="a\rb"), 1, "1", "carriage return"),
    "nul": (row("1", "0", form="a\0b"), 1, "1", "NUL"),
    "byte order mark": (b"\xef\xbb\xbf# text = w\n" + row("1", "0"), 1, None, "byte order mark"),
    "latin-1": (row("1", "0").replace(b"\tw", b"\t\xe9"), 1, "1", "byte 3 of the line, 0xe9, is not UTF-8"),
    "overlong": (row("1", "0").replace(b"\tw", b"\t\xc0\xaf"), 1, "1", "not UTF-8"),
    "surrogate": (row("1", "0").replace(b"\tw", b"\t\xed\xa0\x80"), 1, "1", "not UTF-8"),
    "beyond unicode": (row("1", "0").replace(b"\tw", b"\t\xf4\x90\x80\x80"), 1, "1", "not UTF-8"),
    "bad utf-8 in a comment": (b"# caf\xe9\n" + row("1", "0"), 1, None, "byte 6 of the line"),
    "long line": (b"# " + b"a" * (1 << 20) + b"\n" + row("1", "0"), 1, None, "more than 1 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_error_names_line_and_cause(name):
    bad, line, token, message = CASES[name]
    with pytest.raises(InputError, match=message) as caught:
        list(read_string(GOOD + bad + b"\n" + GOOD, format="conllu"))
    assert caught.value.line == 3 + line
    assert caught.value.token == token


@pytest.mark.parametrize("name", list(CASES))
def test_skip_bad_drops_that_sentence_alone(name):
    bad = CASES[name][0]
    treebank = read_string(GOOD + bad + b"\n" + GOOD + GOOD, format="conllu", skip_bad=True)
    assert b"".join(sentence.to_bytes() for sentence in treebank) == 3 * GOOD
    assert treebank.skipped == 1
    assert [error.line for error in treebank.skipped_errors] == [3 + CASES[name][1]]
    assert [sentence.line for sentence in treebank][1:] == [
        4 + bad.count(b"\n") + 1,
        7 + bad.count(b"\n") + 1,
    ]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (GOOD + GOOD[:-2], 5, "ends inside a line"),
        (GOOD + GOOD[:20], 5, "ends inside a line"),
        (GOOD + "1\té".encode()[:-1], 4, "ends inside a line"),
        (GOOD + GOOD[:-1], 5, "ends without a blank line"),
    ],
)
def test_truncated(data, line, message):
    with pytest.raises(InputError, match=message) as caught:
        list(read_string(data, format="conllu"))
    assert caught.value.line == line
    treebank = read_string(data, format="conllu", skip_bad=True)
    assert len(treebank) == 1
    assert treebank.skipped == 1


def test_older_formats_need_no_final_blank_line():
    assert len(read_string(GOOD[12:] + GOOD[12:-1], format="conllx")) == 2


def test_older_formats_have_no_comments_ranges_or_empty_nodes():
    for text in (
        GOOD,
        row("1-2") + row("1", "0") + row("2", "1") + b"\n",
        row("1", "0") + row("1.1") + b"\n",
    ):
        with pytest.raises(InputError, match=r"conllx has no .* conllu has"):
            list(read_string(text, format="conllx"))


def test_lines_of_a_sentence_agree():
    line = b"1\tOh\toh\tUH\tUH\tOh\toh\tUH\t0\tROOT\t_\n"
    with pytest.raises(InputError, match="11 columns, expected as many as on the sentence's first line"):
        list(read_string(line[:-1] + b"\t_\n" + line.replace(b"1", b"2") + b"\n", format="conll2008"))
    with pytest.raises(InputError, match="9 columns, expected at least 10"):
        list(read_string(b"\t".join(line.split(b"\t")[:9]) + b"\n\n", format="conll2008"))


def test_trees_are_checked_only_if_wanted():
    cycle = row("1", "0") + row("2", "3") + row("3", "2") + b"\n"
    assert read_string(cycle, format="conllu", check_trees=False)[0].heads.tolist() == [-1, 0, 3, 2]
    no_root = row("1", "2") + row("2", "1") + b"\n"
    assert len(read_string(no_root, format="conllu", check_trees=False)) == 1


@pytest.mark.parametrize(
    "heads", [["_"], ["0", "0"], ["2", "_"], ["_", "1"], ["2", "0", "2"], ["3", "_", "2"], ["0", "_"]]
)
def test_unknown_heads_and_several_roots_are_legal(heads):
    text = b"".join(row(str(i), head) for i, head in enumerate(heads, 1)) + b"\n"
    (sentence,) = read_string(text, format="conllu")
    np.testing.assert_array_equal(sentence.heads, [-1] + [-1 if head == "_" else int(head) for head in heads])


def test_legal_curiosities():
    text = row("0.1") + row("1-3") + row("1", "0", form="a b") + row("1.1")
    text += b"".join(row(f"1.{k}") for k in range(2, 12)) + row("2", "1") + row("3", "1") + row("4-5")
    text += row("4", "1") + row("5", "4", form="\u2028\x0b\x85") + b"\n"
    (sentence,) = read_string(text, format="conllu")
    assert sentence.to_bytes() == text
    assert sentence.forms == ["", "a b", "w", "w", "w", "\u2028\x0b\x85"]
    assert len(sentence.empty_nodes) == 12
    assert [(r.first, r.last) for r in sentence.ranges] == [(1, 3), (4, 5)]


def test_all_bad_sentences_are_counted_but_twenty_errors_kept():
    treebank = read_string((b"x\n\n" + GOOD) * 500, skip_bad=True, format="conllu")
    assert (len(treebank), treebank.skipped, len(treebank.skipped_errors)) == (500, 500, 20)


def test_crlf_file_is_skipped_sentence_by_sentence():
    treebank = read_string(GOOD.replace(b"\n", b"\r\n") * 3 + GOOD, skip_bad=True, format="conllu")
    assert (len(treebank), treebank.skipped) == (1, 3)
