"""`arcwise parse`, from file to file."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import arcwise.cli.parse
import arcwise.pipeline.parser
from arcwise import Sentence, load, train
from arcwise.cli import arcwise_command, main
from arcwise.cli.rendering import default_output_format, tree_width, wants_colour
from arcwise.draw.latex import latex_document
from arcwise.draw.svg import svg_document
from arcwise.pipeline.model import Settings
from arcwise.pipeline.parser import bundled_models
from arcwise.pipeline.streaming import map_in_order
from arcwise.treebank.reading import BlockReader, read_conllu
from tests.synthetic import synthetic_treebank

DATA = Path(__file__).parent / "data"
DEV = DATA / "dev.conllu"
COMMAND = [sys.executable, "-m", "arcwise", "parse"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.arcwise"
    settings = Settings(coarse_bits=12, arc_bits=16, label_bits=10, tag_bits=14)
    train(DATA / "train.conllu", output=path, epochs=2, label_epochs=1, settings=settings, jobs=2)
    return path


@pytest.fixture
def parse(monkeypatch, capfdbinary, model):
    """Run `arcwise parse` with the small model; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", "parse", "--model", str(model), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return ended.value.code or 0, out, err.decode()

    return run


@pytest.fixture
def large(tmp_path):
    """A file of many blocks."""
    path = tmp_path / "large.conllu"
    path.write_text(synthetic_treebank(800))
    assert path.stat().st_size > 500_000
    return path


def expected(model: Path, source: Path) -> bytes:
    parser = load(model)
    with BlockReader(source, check_trees=False) as reader:
        return b"".join(parser.parse_to_bytes(block).tobytes() for block in reader)


def other_columns(data: bytes) -> list[list[bytes]]:
    """All but HEAD and DEPREL."""
    rows = [line.split(b"\t") for line in data.split(b"\n")]
    return [row[:6] + row[8:] if row[0].isdigit() else row for row in rows]


def test_everything_but_the_trees_goes_through(parse, model):
    status, out, err = parse(DEV)
    assert status == 0
    assert out == expected(model, DEV)
    assert other_columns(out) == other_columns(DEV.read_bytes())
    sentences = list(read_conllu(DEV))
    words = sum(map(len, sentences))
    assert err.startswith(f"parsed {len(sentences)} sentences, {words} words in ")
    assert "words per second with 1 thread" in err
    assert (
        f"\nthe tags of {len(sentences)} sentences are those of the input (--retag writes tags anew)\n" in err
    )
    assert err.count("\n") == 2


def test_threads_give_the_same_bytes_as_one(parse, large, tmp_path):
    for jobs in (1, 2, 5):
        assert parse(large, "--jobs", jobs, "-o", tmp_path / f"{jobs}.conllu", "--quiet") == (0, b"", "")
    one = (tmp_path / "1.conllu").read_bytes()
    assert other_columns(one) == other_columns(large.read_bytes())
    assert (tmp_path / "2.conllu").read_bytes() == one
    assert (tmp_path / "5.conllu").read_bytes() == one


def test_input_and_output_may_be_the_same_file(parse, model, large):
    trees = expected(model, large)
    assert parse(large, "-o", large, "--jobs", 2, "-q")[0] == 0
    assert large.read_bytes() == trees


def test_compressed(parse, model, tmp_path):
    (tmp_path / "dev.gz").write_bytes(gzip.compress(DEV.read_bytes()))
    assert parse(tmp_path / "dev.gz", "-o", tmp_path / "out.gz")[0] == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == expected(model, DEV)


def test_heads_of_the_input_do_not_matter(parse, model, tmp_path):
    lines = [line.split("\t") for line in DEV.read_text().split("\n")]
    for line in lines:
        if line[0].isdigit():
            line[6:8] = ["_", "_"] if int(line[0]) % 2 else ["1", "cyclic"]
    bare = tmp_path / "bare.conllu"
    bare.write_text("\n".join("\t".join(line) for line in lines))
    assert parse(bare)[1] == expected(model, DEV)


def test_json_lines(parse, model):
    status, out, _ = parse(DEV, "--output-format", "json", "--jobs", 2)
    assert status == 0
    parsed = load(model)(read_conllu(DEV))
    objects = [json.loads(line) for line in out.decode().splitlines()]
    assert len(objects) == len(parsed)
    for found, sentence in zip(objects, parsed, strict=True):
        assert list(found) == ["sent_id", "text", "words", "score"]
        assert (found["sent_id"], found["text"]) == (sentence.sent_id, sentence.text)
        assert found["score"] == sentence.score
        assert [word["id"] for word in found["words"]] == list(range(1, len(sentence) + 1))
        assert [word["head"] for word in found["words"]] == sentence.heads[1:].tolist()
        columns = {
            "form": sentence.forms, "lemma": sentence.lemmas, "upos": sentence.upos, "xpos": sentence.xpos,
            "feats": sentence.feats, "deprel": sentence.labels,
        }  # fmt: skip
        for name, column in columns.items():
            assert [word[name] or "_" for word in found["words"]] == column[1:]


def test_json_says_null_for_what_is_not_said(parse, tmp_path):
    (tmp_path / "in.conllu").write_text("1\t_\t_\tSYM\t_\t_\t_\t_\t_\t_\n2\té\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    status, out, _ = parse(tmp_path / "in.conllu", "--output-format", "json")
    assert status == 0
    assert "é" in out.decode()
    found = json.loads(out)
    assert found["sent_id"] is found["text"] is None
    assert [(word["form"], word["lemma"], word["xpos"]) for word in found["words"]] == [
        ("_", "_", "_"),
        ("é", None, None),
    ]


def drawn(model: Path, source: Path) -> list[Sentence]:
    with BlockReader(source, check_trees=False) as reader:
        return list(load(model)(sentence for block in reader for sentence in block))


def test_trees_for_people(parse, model, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    sentences = drawn(model, DEV)
    for jobs in (1, 2):
        status, out, _ = parse(DEV, "-f", "tree", "--jobs", jobs)
        assert status == 0
        assert out.decode() == "".join(s.draw(width=100) + "\n\n" for s in sentences)
    _, out, _ = parse(DEV, "-f", "tree", "--width", 50)
    assert out.decode() == "".join(s.draw(width=50) + "\n\n" for s in sentences)
    assert max(map(len, out.decode().split("\n"))) <= 50
    monkeypatch.setenv("COLUMNS", "70")
    assert parse(DEV, "-f", "tree")[1].decode() == "".join(s.draw(width=70) + "\n\n" for s in sentences)
    assert parse(DEV, "-f", "tree", "--width", 10)[0] == 2


def test_pictures_of_all_sentences_are_one_document(parse, model, monkeypatch):
    monkeypatch.setattr(arcwise.cli.parse, "_BLOCK_BYTES", 1000)
    sentences = drawn(model, DEV)
    for jobs in (1, 3):
        assert parse(DEV, "-f", "svg", "-j", jobs)[1].decode() == svg_document(sentences)
        assert parse(DEV, "-f", "latex", "-j", jobs)[1].decode() == latex_document(sentences)
        assert parse(DEV, "-f", "dot", "-j", jobs)[1].decode() == "".join(s.draw("dot") for s in sentences)
    root = ElementTree.fromstring(svg_document(sentences))
    assert len(root) == len(sentences) + 3  # title, style, paper


def test_older_formats_are_drawn(parse):
    for name in ("conllx", "conll2008", "conll2009"):
        assert "▼" in parse(DATA / f"{name}.conll", "-f", "tree")[1].decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_terminal_gets_its_width_and_colours(model, no_colour):
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 60))
    environment = {**os.environ, "NO_COLOR": no_colour, "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(
        [*COMMAND, DEV, "-m", model, "-f", "tree", "-q"], stdout=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how a terminal says that its program is gone
            while data := os.read(ours, 1 << 16):
                seen += data
    os.close(ours)
    assert process.returncode == 0
    lines = seen.decode().split("\r\n")
    assert ("\x1b[38" in seen.decode()) == (not no_colour)
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines) in range(50, 61)


def test_what_is_drawn_for_whom(monkeypatch):
    assert default_output_format(raw_text=True, on_screen=True) == "tree"
    assert default_output_format(raw_text=True, on_screen=False) == "conllu"
    assert default_output_format(raw_text=False, on_screen=True) is None
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert [wants_colour(on_screen) for on_screen in (True, False)] == [True, False]
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(on_screen=True)
    for columns, width in (("", 100), ("0", 100), ("nonsense", 100), ("77", 77)):
        monkeypatch.setenv("COLUMNS", columns)
        assert tree_width(on_screen=False) == width


def test_older_formats_keep_their_shape_or_become_conllu(parse, tmp_path):
    for name in ("conllx", "conll2008", "conll2009"):
        source = DATA / f"{name}.conll"
        kept = parse(source, "--format", name)[1]
        assert kept.count(b"\t") == source.read_bytes().count(b"\t")
        (tmp_path / "out.conllu").write_bytes(parse(source, "--output-format", "conllu")[1])
        (tmp_path / "kept").write_bytes(kept)
        converted, same = read_conllu(tmp_path / "out.conllu"), read_conllu(tmp_path / "kept", format=name)
        assert converted.format.name == "conllu"
        for one, other in zip(converted, same, strict=True):
            assert (one.forms, one.upos, one.labels) == (other.forms, other.upos, other.labels)
            assert one.heads.tolist() == other.heads.tolist()


def test_bad_sentences(parse, model, tmp_path):
    good = DEV.read_text()
    source, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_text(f"{good}1\tone column missing\t_\t_\t_\t_\t0\troot\t_\n\n{good}")
    line = good.count("\n") + 1
    for jobs in (1, 2):
        status, _, err = parse(source, "-o", out, "--jobs", jobs)
        assert status == 2
        assert err.startswith(f"arcwise: {source}:{line}: ")
        assert os.listdir(tmp_path) == ["in.conllu"]
    status, _, err = parse(source, "-o", out, "--skip-bad")
    assert status == 0
    assert f"skipped 1 bad sentence; the first: {source}:{line}: " in err
    assert out.read_bytes() == 2 * expected(model, DEV)


def test_long_sentences_are_cut(parse, monkeypatch):
    lengths = [len(sentence) for sentence in read_conllu(DEV)]
    limit = sorted(lengths)[-3]
    assert arcwise.pipeline.parser.LONGEST == 2000  # as the help says
    monkeypatch.setattr(arcwise.pipeline.parser, "LONGEST", limit)
    longer = sum(length > limit for length in lengths)
    status, _, err = parse(DEV)
    assert status == 0
    assert "2000" in CliRunner().invoke(arcwise_command, ["parse", "--help"]).output
    assert f"{longer} sentence{'s' * (longer > 1)} of more than {limit} words parsed in pieces" in err


def test_no_model(parse, tmp_path):
    status, _, err = parse(DEV, "--model", tmp_path / "missing")
    assert status == 2
    assert "no such model" in err
    assert "`arcwise train`" in err
    for name in bundled_models():
        assert name in err
    (tmp_path / "foreign").write_text("something else")
    assert parse(DEV, "--model", tmp_path / "foreign")[0] == 2
    assert parse(DEV, "--model", tmp_path)[0] == 2


def test_unusable_files_are_named(parse, tmp_path):
    for name in ("missing.conllu", "empty.conllu"):
        (tmp_path / "empty.conllu").touch()
        status, _, err = parse(tmp_path / name)
        assert status == 2
        assert err.startswith(f"arcwise: {tmp_path / name}: ")
    for out in (tmp_path / "no folder" / "out.conllu", tmp_path):
        status, _, err = parse(DEV, "-o", out)
        assert status == 2
        assert str(out) in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk(parse, model, large):
    status, _, err = parse(large, "-o", "/dev/full")
    assert (status, err) == (2, "arcwise: /dev/full: cannot write: no space left on device\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, DEV, "-m", model], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert (
        done.stderr.decode().splitlines()[-1]
        == "arcwise: standard output: cannot write: no space left on device"
    )


def test_a_reader_that_goes_away_is_no_error(model, large):
    process = subprocess.Popen(
        [*COMMAND, large, "-m", model, "-j", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


@pytest.mark.parametrize("before", [None, b"something else"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_whole_sentences(model, large, tmp_path, number, status, before):
    folder = tmp_path / "out"
    folder.mkdir()
    target = folder / "out.conllu"
    if before is not None:
        target.write_bytes(before)
    process = subprocess.Popen(
        [*COMMAND, "-m", model, "-o", target], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(large.read_bytes())  # and it waits for more
    process.stdin.flush()
    while not any(path.suffix == ".tmp" for path in folder.iterdir()) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == status, err
    assert b"Traceback" not in err
    kept = target if before is None else folder / "out.conllu.partial"
    assert {path.name for path in folder.iterdir()} == {target.name, kept.name}
    assert f"parsed so far are in {kept}" in err.decode()
    parsed = kept.read_bytes()
    assert not parsed or parsed.endswith(b"\n\n")
    assert parsed.count(b"\n\n") <= large.read_bytes().count(b"\n\n")
    if before is not None:
        assert target.read_bytes() == before


def test_an_error_comes_after_the_results_before_it():
    def items():
        yield from range(5)
        raise OSError("gone")

    for jobs in (1, 2, 8):
        found: list[int] = []
        with pytest.raises(OSError, match="gone"):
            found.extend(map_in_order(lambda x: -x, items(), jobs))
        assert found == [0, -1, -2, -3, -4]
