"""The text comes back from the output, chunks do not matter, memory is bounded, and strangers' arrays are checked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcwise.errors import InputError
from arcwise.text import tokeniser as module
from arcwise.text.characters import SPACE, characters
from arcwise.text.tokeniser import Tokeniser
from arcwise.text.writing import original_text
from arcwise.treebank.reading import read_string
from tests.text.treebanks import tokeniser

WORDS = ["don't", "its", "U.S.", "http://a.b/c", "a@b.co", "DON'T", "1,000.5"]
ODD = st.sampled_from(
    [
        *" \t\n\r|\\_#.,!?'\"’“”-–…()[]<>@/:;=%$&*+~^\0\x0b\x0c\x1c\x85\xa0\xad",
        *"\u200b\u200d\u2028\u2029\ufeff\ufe0f\u0301🇩👩🏽中かกßİǅ\U0010ffff",
        *("\n\n", "\r\n", *WORDS),
    ]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(ODD | st.text(max_size=3)).map("".join)


def clean(text: str) -> str:
    return text.encode("utf-8", "ignore").decode()


def visible(text: str) -> str:
    codes = np.array([ord(character) for character in text], np.int32)
    return "".join(map(chr, codes[characters(codes).classes[codes] != SPACE].tolist()))


def forms(conllu: bytes) -> list[list[str]]:
    return (
        [sentence.forms[1:] for sentence in read_string(conllu, format="conllu", check_trees=False)]
        if conllu
        else []
    )


@given(TEXTS, st.booleans())
@example("\ufeffA\0b\u2028c", True)
@example("a|b\\ \t|", False)
@settings(deadline=None, max_examples=300)
def test_the_text_comes_back(text: str, learned: bool) -> None:
    text = clean(text)
    splitter = tokeniser() if learned else Tokeniser.general()
    output = splitter.tokenise(text)
    if output:
        assert original_text(output) == text
        sentences = read_string(output, format="conllu", check_trees=False)
        assert [sentence.sent_id for sentence in sentences] == [str(i + 1) for i in range(len(sentences))]
        joined = " ".join(sentence.text for sentence in sentences)
        for sentence in sentences:
            spaced = [part for part in sentence.text.split(" ") if part]
            assert sentence.text == " ".join(spaced)
        assert "".join(joined.split()) == "".join("".join(t) for t in tokens(output))
    else:
        assert original_text(splitter.tokenise(text + "a")) == text + "a"


def tokens(conllu: bytes) -> Iterator[list[str]]:
    """The forms of the tokens of each sentence: ranges count, their words do not."""
    for sentence in conllu.decode().split("\n\n")[:-1]:
        found: list[str] = []
        covered = 0
        for line in sentence.split("\n"):
            identity, *columns = line.split("\t")
            if "-" in identity and not line.startswith("#"):
                covered = int(identity.split("-")[1])
                found.append(columns[0])
            elif not line.startswith("#") and int(identity) > covered:
                found.append(columns[0])
        yield found


@given(
    TEXTS, st.integers(0, 2**32), st.sampled_from(["text", "sentences", "words", "vertical"]), st.booleans()
)
@settings(deadline=None, max_examples=200)
def test_chunks_do_not_matter(text: str, seed: int, split: Any, small: bool) -> None:
    random = Random(seed)
    data = clean(text * 3).encode()
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(5)))
    chunks = [data[i:j] for i, j in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(module, "_WINDOW", 16)
        whole = b"".join(tokeniser().stream([data], split=split, offsets=True))
        pieces = list(tokeniser().stream(chunks, split=split, offsets=True, block_bytes=50))
    assert b"".join(pieces) == whole
    assert all(piece.endswith(b"\n\n") for piece in pieces)


@given(TEXTS, st.integers(1, 40))
@settings(deadline=None, max_examples=200)
def test_windows_lose_nothing(text: str, window: int) -> None:
    """But white space longer than a window, which may be shortened."""
    text = clean(text * 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WINDOW", window)
        output = tokeniser().tokenise(text, offsets=True)
    assert visible(original_text(output)) == visible(text)
    for sentence in read_string(output, format="conllu", check_trees=False) if output else []:
        ranges = {r.first: (r.form, r.misc) for r in sentence.ranges}
        last = 0
        for word, (form, misc) in enumerate(zip(sentence.forms, sentence.misc, strict=True)):
            form, misc = ranges.get(word, (form, misc))
            if "TokenRange=" in misc:
                start, stop = map(int, misc.split("TokenRange=")[1].split(":"))
                assert text[start:stop] == form
                assert last <= start
                last = stop


def test_long_sentences_are_cut_where_they_probably_end() -> None:
    words = ["word"] * 1800
    words[900] = "end."
    output = Tokeniser.general().tokenise(" ".join(words))
    assert [len(sentence) for sentence in forms(output)] == [902, 899]
    assert [len(sentence) for sentence in forms(Tokeniser.general().tokenise("x " * 2500))] == [
        1000,
        1000,
        500,
    ]


def test_text_without_any_space_is_cut() -> None:
    output = b"".join(Tokeniser.general().stream(b"abc" * 100 for _ in range(1000)))
    found = forms(output)
    assert max(len(form) for sentence in found for form in sentence) == 1000
    assert original_text(output) == "abc" * 100_000


def test_memory_is_bounded() -> None:
    """An endless text without line ends or punctuation gives sentences while it is being read."""
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"all work and no play " * 100

    stream = Tokeniser.general().stream(endless(), block_bytes=1)
    for _ in range(200):
        assert next(stream).count(b"\n") <= 1010
    assert read * 2100 < 200 * 1000 * 6 + 200_000


def test_lines() -> None:
    splitter = Tokeniser.general()
    assert [len(s) for s in forms(splitter.tokenise("a b. c\nd e\n\nf", split="sentences"))] == [4, 2, 1]
    assert forms(splitter.tokenise(" can't stop.\n\n 1,5 x\n", split="words")) == [
        ["can't", "stop."],
        ["1,5", "x"],
    ]
    vertical = splitter.tokenise("New York\nis\tVERB\nbig.\n\n\nYes\r\n!\r\n", split="vertical")
    assert forms(vertical) == [["New York", "is", "big."], ["Yes", "!"]]
    assert b"Space" not in vertical
    assert b"# text = New York is big.\n" in vertical


def test_paragraphs() -> None:
    output = Tokeniser.general().tokenise("One. Two.\n\nThree.\n \nFour")
    comments = [line for line in output.decode().split("\n") if line.startswith(("# newpar", "# text"))]
    assert comments == [
        "# newpar",
        "# text = One.",
        "# text = Two.",
        "# newpar",
        "# text = Three.",
        "# newpar",
        "# text = Four",
    ]


def test_offsets_count_characters() -> None:
    output = Tokeniser.general().tokenise("É x\n\n😀!", offsets=True).decode()
    assert [line.split("TokenRange=")[1] for line in output.split("\n") if "Range" in line] == [
        "0:1",
        "2:3",
        "5:6",
        "6:7",
    ]


@pytest.mark.parametrize("chunks", [[b"ok\nso\xff"], [b"ok\n", b"so\xe2\x82"], [b"ok\ns", b"o\xe2", b"x"]])
def test_invalid_utf8_is_refused(chunks: list[bytes]) -> None:
    with pytest.raises(
        InputError, match=r"a\.txt:2: byte 0x.. that begins no character, expected text in UTF-8"
    ):
        list(Tokeniser.general().stream(chunks, file="a.txt"))


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="surrogate"):
        Tokeniser.general().tokenise("a\ud800")
    with pytest.raises(InputError, match="split"):
        list(Tokeniser.general().stream([b"a"], split="lines"))  # type: ignore[arg-type]


def test_stored_and_loaded() -> None:
    one = tokeniser()
    two = Tokeniser.from_arrays(one.arrays(), one.header())
    text = "We can't go. It's late, isn't it?"
    assert one.tokenise(text) == two.tokenise(text)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=300)
def test_strange_arrays_are_refused_or_harmless(seed: int) -> None:
    """With bounds checks on, a kernel that ran off the end would raise an IndexError."""
    random = np.random.default_rng(seed)
    arrays = tokeniser().arrays()
    name = sorted(arrays)[random.integers(len(arrays))]
    array = arrays[name].copy()
    match random.integers(5):
        case 0 if array.size:
            array.flat[random.integers(array.size)] = random.integers(
                np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            )
        case 1:
            array = array[: random.integers(len(array) + 1)]
        case 2:
            array = array.astype(np.float32)
        case 3:
            array = np.concatenate([array, array])
        case _ if array.size:
            array.flat[random.integers(array.size)] += random.integers(-1, 2)
    try:
        strange = Tokeniser.from_arrays({**arrays, name: array}, {"version": module.VERSION})
    except ValueError:
        return
    strange.tokenise("We can't go. It's DON'T cannot n't 's ' x 中文 late, isn't it?")


@pytest.mark.parametrize("header", [{}, {"version": 99}, [], None])
def test_strange_headers_are_refused(header: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        Tokeniser.from_arrays(tokeniser().arrays(), header)


def test_missing_arrays_are_refused() -> None:
    for name in tokeniser().arrays():
        arrays = tokeniser().arrays()
        del arrays[name]
        with pytest.raises(ValueError, match=name):
            Tokeniser.from_arrays(arrays, tokeniser().header())


@pytest.mark.parametrize("split", ["text", "sentences"])
@pytest.mark.parametrize("offsets", [False, True])
def test_text_that_nobody_sees_keeps_its_characters(split, offsets):
    splitter = Tokeniser.general()
    for text in (
        "\x0f",
        "\u2060",
        "\ufeff",
        " \x0f\x01 \u200b\n\n\x02 ",
        "\x0f\0",
        "\0\x0f",
        "\x7f\x80\t",
        "\x0f\r\n",
    ):
        output = splitter.tokenise(text, split=split, offsets=offsets)
        assert original_text(output) == text
        words = [line.split("\t")[1] for line in output.decode().split("\n") if line[:1].isdigit()]
        assert "".join(words) == "".join(c for c in text if c != "\0" and not c.isspace())
    for nothing in ("", " ", "\0", " \t\r\n\x1c\x85\u2028\0"):
        assert splitter.tokenise(nothing, split=split, offsets=offsets) == b""
