from __future__ import annotations

import gzip
import io
import lzma
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from arcwise import InputError, read_conllu
from arcwise.clusters import corpora
from arcwise.clusters.corpora import count_corpus
from arcwise.clusters.pairs import PairCounter

DATA = Path(__file__).parent.parent / "data"


def pairs_of(source, **options) -> tuple[Counter[tuple[str, str]], PairCounter]:
    counter = PairCounter()
    count_corpus(source, counter, **options)
    counts = counter.counts(1)
    words = [word.decode() for word in counts.words]
    found = zip(counts.first.tolist(), counts.second.tolist(), counts.numbers.tolist(), strict=True)
    return Counter({(words[w], words[x]): n for w, x, n in found}), counter


def neighbours(sentences: list[list[str]]) -> Counter[tuple[str, str]]:
    return Counter(pair for sentence in sentences for pair in pairwise(sentence))


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "\u00e9", "\u00a0", "word"]), max_size=5), max_size=6),
    st.integers(1, 9),
    st.sampled_from(["\n", " \r\n", "\t\n"]),
    st.booleans(),
)
def test_text(sentences, piece, end, closed):
    text = end.join("  ".join(sentence) for sentence in sentences) + (end if closed else "")
    before, corpora._PIECE = corpora._PIECE, piece
    try:
        found, counter = pairs_of(io.BytesIO(text.encode()), format="text")
    finally:
        corpora._PIECE = before
    assert found == neighbours(sentences)
    assert counter.tokens == sum(map(len, sentences))
    assert counter.sentences == sum(map(bool, sentences))


@pytest.mark.parametrize("name", ["train.conllu", "conllx.conll", "conll2008.conll", "conll2009.conll"])
def test_treebanks(name):
    sentences = [sentence.forms[1:] for sentence in read_conllu(DATA / name)]
    found, counter = pairs_of(DATA / name)
    assert found == neighbours(sentences)
    assert (counter.sentences, counter.tokens) == (len(sentences), sum(map(len, sentences)))
    arcs, _ = pairs_of(DATA / name, by="heads")
    assert arcs == Counter(
        (sentence.forms[head], sentence.forms[word])
        for sentence in read_conllu(DATA / name)
        for word, head in enumerate(sentence.heads.tolist())
        if head > 0
    )


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_compressed(compress, tmp_path):
    text = "".join(f"word{k % 977} and word{k % 613}\n" for k in range(20_000)).encode()
    path = tmp_path / "text"
    path.write_bytes(compress(text))
    assert pairs_of(path)[0] == pairs_of(io.BytesIO(text))[0]
    treebank = (DATA / "train.conllu").read_bytes()
    path.write_bytes(compress(treebank))
    assert pairs_of(path)[0] == pairs_of(DATA / "train.conllu")[0]


def test_one_huge_line():
    words = [f"w{k % 1000}" for k in range(400_000)]
    text = " ".join(words).encode()
    assert len(text) > 2 * corpora._PIECE * 0.9
    found, counter = pairs_of(io.BytesIO(text))
    assert found == neighbours([words])
    assert (counter.sentences, counter.tokens) == (1, len(words))


def test_one_huge_word(monkeypatch):
    monkeypatch.setattr(corpora, "_LONGEST_WORD", 1000)
    with pytest.raises(InputError, match="<file>:2: a word of more than 1 MiB, expected spaces"):
        pairs_of(io.BytesIO(b"a b\n" + b"x" * 1500), format="text")


@pytest.mark.parametrize("piece", [1, 4, 1 << 20])
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b"a b\nc \xff d\n", 2, "byte 3 of the line, 0xff, is not UTF-8, expected UTF-8"),
        (b"a b\n\nc \xc3", 3, "byte 3 of the line, 0xc3, is not UTF-8"),
        (b"a b\n\n\xed\xa0\x80 c\n", 3, "byte 1 of the line, 0xed, is not UTF-8"),
        (b"a\x00b\n", 1, "a NUL byte, expected text in UTF-8"),
        (b"\xef\xbb\xbfa b\n", 1, "a byte order mark, expected UTF-8 without one"),
        ("a b\n".encode("utf-16"), 1, "byte 1 of the line, 0xff, is not UTF-8"),
    ],
)
def test_no_utf8(text, line, message, piece, monkeypatch, tmp_path):
    monkeypatch.setattr(corpora, "_PIECE", piece)
    path = tmp_path / "text.txt"
    path.write_bytes(text)
    for form in (None, "text"):  # where a format must be recognised, pieces have the size that this takes
        with pytest.raises(InputError) as error:
            pairs_of(path, format=form)
        assert str(error.value).startswith(f"{path}:{line}: {message}")


def test_heads_need_trees(tmp_path):
    with pytest.raises(InputError, match="plain text, expected a treebank"):
        pairs_of(io.BytesIO(b"a b c\n"), by="heads")
    path = tmp_path / "headless.conllu"
    path.write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(InputError, match="no word has a HEAD, expected parsed text"):
        pairs_of(path, by="heads")
    assert pairs_of(path)[0] == {("a", "b"): 1}


def test_bad_arguments():
    with pytest.raises(InputError, match="pairs of 'magic', expected one of neighbours, heads"):
        pairs_of(io.BytesIO(b"a\n"), by="magic")
    with pytest.raises(InputError, match="format 'xml', expected one of text, conllu"):
        pairs_of(io.BytesIO(b"a\n"), format="xml")
    with pytest.raises(InputError, match=r"broken\.conllu:1: "):
        pairs_of(named(b"1\ta\n\n", "broken.conllu"))


def named(data: bytes, name: str) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = name
    return file


def test_progress():
    told = []
    counter = PairCounter()
    count_corpus(DATA / "train.conllu", counter, tell=lambda *what: told.append(what))
    assert told[-1][1:] == ((DATA / "train.conllu").stat().st_size,) * 2
