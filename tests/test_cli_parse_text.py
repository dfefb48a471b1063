"""`arcwise parse` on raw text, and what it keeps of a treebank."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arcwise import load, train
from arcwise.cli import main
from arcwise.pipeline.model import Settings
from arcwise.text.writing import original_text
from arcwise.treebank.reading import read_conllu, read_string

DATA = Path(__file__).parent / "data"
DEV = DATA / "dev.conllu"
TEXT = "A man arrived yesterday. Who knows him?\n\nMy uncle doesn't.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.arcwise"
    settings = Settings(coarse_bits=12, arc_bits=16, label_bits=10, tag_bits=14)
    train(DATA / "train.conllu", output=path, epochs=2, label_epochs=1, settings=settings, jobs=2)
    return path


@pytest.fixture
def parse(monkeypatch, capfdbinary, model):
    """Run `arcwise parse` with the small model; gives exit status, standard output and standard error."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["arcwise", "parse", "--model", str(model), *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return ended.value.code or 0, out, err.decode()

    return run


@pytest.fixture
def file(tmp_path):
    """Write a file, give its path."""

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def tree_columns(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.split("\n") if line[:1].isdigit()]


def test_a_text_gives_conllu(parse, model):
    status, out, err = parse("--text", TEXT)
    assert status == 0
    assert out.decode() == str(load(model)(TEXT))
    assert original_text(out) == TEXT
    assert err.startswith("parsed 3 sentences, ")
    assert parse("-t", TEXT, "-q", "-f", "conllu") == (0, out, "")


def test_a_file_and_standard_input_give_the_same(parse, file, monkeypatch):
    out = parse("--text", TEXT, "-q")[1]
    assert parse(file("a.txt", TEXT), "-q")[1] == out
    assert parse(file("a", TEXT), "-q")[1] == out
    assert parse(file("a.gz", gzip.compress(TEXT.encode())), "-q")[1] == out
    assert parse("-q", stdin=TEXT.encode())[1] == out
    assert parse("-", "-q", "--format", "text", stdin=TEXT.encode())[1] == out
    monkeypatch.setattr("arcwise.cli.parse._BLOCK_BYTES", 10)
    assert parse(file("a.txt", TEXT), "-q", "-j", 3)[1] == out


def test_a_treebank_is_known_by_its_looks(parse, file):
    by_name = parse(DEV, "-q")[1]
    assert parse(file("unnamed", DEV.read_bytes()), "-q")[1] == by_name
    assert parse("-q", stdin=DEV.read_bytes())[1] == by_name
    for name in ("conllx", "conll2008", "conll2009"):
        content = (DATA / f"{name}.conll").read_bytes()
        assert parse("-q", stdin=content)[1].count(b"\t") == content.count(b"\t")
    spaces = DEV.read_text().replace("\t", "   ")
    status, _, err = parse(file("spaces", spaces))
    assert status == 2
    assert "separated by spaces" in err


@pytest.mark.parametrize(
    "text",
    [
        "2 cups of flour and a little bit of salt\n3 eggs\n",
        "1\tone\n2\ttwo\n",
        "# A heading\n\nAnd text.\n",
        "12\n",
    ],
)
def test_text_with_numbers_is_no_treebank(parse, text):
    status, out, _ = parse(stdin=text.encode())
    assert status == 0
    assert original_text(out) == text


def forms(out: bytes) -> list[list[str]]:
    return [sentence.forms[1:] for sentence in read_string(out)]


def test_text_that_is_split_already(parse):
    assert forms(parse("--format", "sentences", stdin=b"Who goes? I do.\nWell\n")[1]) == [
        ["Who", "goes", "?", "I", "do", "."],
        ["Well"],
    ]
    words = parse("--format", "words", stdin=b"Don't go?? ok.\n\nA.b c\n")[1]
    assert forms(words) == [["Don't", "go??", "ok."], ["A.b", "c"]]
    vertical = parse("--format", "vertical", stdin=b"Don't\tx\ngo??\n\n\nNew York\n")[1]
    assert forms(vertical) == [["Don't", "go??"], ["New York"]]
    assert parse("--format", "words", "--text", "Don't go??")[0] == 0


def test_offsets(parse):
    text = "My uncle doesn't.  He 🙂 knows."
    out = parse("--text", text, "--offsets", "-q")[1].decode()
    tokens = [row for row in tree_columns(out) if "TokenRange" in row[9]]
    for row in tokens:
        (start, stop) = re.findall(r"TokenRange=(\d+):(\d+)", row[9])[0]
        assert text[int(start) : int(stop)] == row[1]
    assert "".join(row[1] for row in tokens) == text.replace(" ", "")


def test_pictures_of_a_text(parse, model):
    document = load(model)(TEXT)
    assert parse("-t", TEXT, "-f", "svg")[1].decode() == document.draw("svg")
    assert parse("-t", TEXT, "-f", "dot")[1].decode() == "".join(s.draw("dot") for s in document)
    found = [json.loads(line) for line in parse("-t", TEXT, "-f", "json")[1].splitlines()]
    assert [sentence["text"] for sentence in found] == [sentence.text for sentence in document]
    assert all(word["upos"] and word["lemma"] for sentence in found for word in sentence["words"])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_a_terminal_shows_the_tree_and_no_more(model):
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "arcwise", "parse", "-m", model, "--text", "My uncle arrived."],
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.stderr == b""
    assert "uncle" in shown
    assert "▼" in shown
    assert "\t" not in shown


# What cannot be parsed


@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
def test_no_text(parse, file, text):
    status, out, err = parse("--text", text)
    assert (status, out) == (2, b"")
    assert err == "arcwise: --text: no text, expected at least one word\n"
    path = file("a.txt", text)
    assert parse(path)[0] == 2
    assert str(path) in parse(path)[2]
    assert parse(stdin=text.encode())[0] == 2


def test_text_that_is_not_utf8(parse, file, tmp_path):
    path = file("a.txt", b"Good.\nBad \xff.\n")
    status, _, err = parse(path, "-o", tmp_path / "out")
    assert status == 2
    assert err.startswith(f"arcwise: {path}:2: byte 0xff that begins no character")
    assert not (tmp_path / "out").exists()
    status, _, err = parse("--text", os.fsdecode(b"Bad \xff."))
    assert status == 2
    assert err.startswith("arcwise: --text:1: byte 0xff")


def test_text_and_file_exclude_each_other(parse):
    status, _, err = parse(DEV, "--text", "Go.")
    assert status == 2
    assert "FILE and --text exclude each other" in err


# Tags


def test_tags_are_written_where_there_are_none(parse, file):
    untagged, tagged = DEV.read_text().split("\n\n", 1)
    rows = [line.split("\t") for line in untagged.split("\n")]
    bare = "\n".join("\t".join([*row[:2], *["_"] * 6, *row[8:]] if row[0].isdigit() else row) for row in rows)
    out = parse(file("a.conllu", f"{bare}\n\n{tagged}"), "-q")[1].decode()
    first, *others = out.split("\n\n")
    assert "_" not in {row[3] for row in tree_columns(first)}
    assert [line for line in first.split("\n") if line[0] == "#"] == [
        line for line in untagged.split("\n") if line[0] == "#"
    ]
    before, after = tree_columns(tagged), tree_columns("\n\n".join(others))
    assert [row[:6] + row[8:] for row in after] == [row[:6] + row[8:] for row in before]


def test_retag(parse, file, model):
    changed = re.sub(r"\t(NOUN|VERB)\t", "\tX\t", DEV.read_text())
    path = file("a.conllu", changed)
    assert parse(path, "-q")[1].count(b"\tX\t") > 100
    out = parse(path, "--retag", "-q")[1]
    assert out.count(b"\tX\t") < 10
    assert out == parse(DEV, "--retag", "-q")[1]
    parser = load(model)
    blocks = read_conllu(DEV).blocks()
    expected = [parser.parse_to_bytes(parser.tag_block(block, anew=True)).tobytes() for block in blocks]
    assert out == b"".join(expected)


def test_retag_with_a_model_that_cannot(parse, tmp_path):
    settings = Settings(coarse_bits=8, arc_bits=8, label_bits=8)
    train(DEV, output=tmp_path / "m", epochs=1, label_epochs=1, settings=settings, gold_tags=True)
    status, _, err = parse(DEV, "--retag", "--model", tmp_path / "m")
    assert status == 2
    assert "cannot tag" in err
    assert parse(DEV, "--model", tmp_path / "m")[0] == 0


# What is given stays


def partly(text: str, every: int) -> str:
    """A treebank with HEAD and DEPREL in some rows only."""
    lines = [line.split("\t") for line in text.split("\n")]
    for number, line in enumerate(lines):
        if line[0].isdigit() and number % every:
            line[6:8] = "_", "_"
    return "\n".join("\t".join(line) for line in lines)


def test_keep(parse, file):
    assert parse(DEV, "--keep", "-q") == (0, DEV.read_bytes(), "")
    for every in (2, 3, 7):
        given = partly(DEV.read_text(), every)
        out = parse(file("half.conllu", given), "--keep", "-q", "-j", 2)[1].decode()
        for before, after in zip(given.split("\n"), out.split("\n"), strict=True):
            old, new = before.split("\t"), after.split("\t")
            assert len(old) == len(new)
            if len(old) > 1:
                assert all(a in (b, "_") for a, b in zip(old[6:8], new[6:8], strict=True))
                assert old[:6] + old[8:] == new[:6] + new[8:]
        again = parse(file("whole.conllu", out), "--keep", "-q")[1].decode()
        assert again == out
        for sentence in read_string(out):
            assert sentence.heads.tolist().count(0) == 1


def test_arcs_that_contradict_each_other_are_named(parse, file, tmp_path):
    rows = [
        "# text = a b c",
        *(f"{i}\t{w}\t_\tX\t_\t_\t{h}\t_\t_\t_" for i, w, h in ((1, "a", 2), (2, "b", 1), (3, "c", "_"))),
    ]
    path = file("cycle.conllu", "\n".join([*rows, "", ""]))
    status, out, err = parse(path, "--keep", "-o", tmp_path / "out")
    assert (status, out) == (2, b"")
    assert err.startswith(f"arcwise: {path}:2: token 1: the kept arcs 1 <- 2, 2 <- 1 form a cycle")
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert parse(path)[0] == 0
