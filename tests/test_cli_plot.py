"""`arcwise plot`, from file to picture."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from arcwise.cli import main
from arcwise.draw.convergence import picture
from arcwise.evaluation.traces import Stopping, Trace, TraceWriter, read_trace_file, write_stopping
from tests.evaluation.test_traces import three_sentences

SUMMARY = """\
sentences   3
certified   2, 66.67%: 1 by agreement, 1 by finish
iterations  median 4, mean 3.3, most 4
recomputed  68.8% of automata
gap left    median 1, largest 1
"""
TABLE = """\
sib.arcwise on dev, %
     K     UAS  certified  same tree
     1   80.50      30.00      60.00
  5000   88.00      98.50     100.00
"""


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `arcwise plot`; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", "plot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def trace(tmp_path):
    with TraceWriter(tmp_path / "dev.trace", unit="log odds") as writer:
        for sentence, id in zip(three_sentences().sentences, ("a", "3", "c-ü"), strict=True):
            writer.write(sentence._replace(id=id))
    return tmp_path / "dev.trace"


@pytest.fixture
def stopping(tmp_path):
    write_stopping(
        Stopping("sib.arcwise", "dev", [1, 5000], [80.5, 88.0], [30.0, 98.5], [60.0, 100.0]), tmp_path / "stopping.json"
    )  # fmt: skip
    return tmp_path / "stopping.json"


def test_a_trace(run, trace, tmp_path):
    read = read_trace_file(trace)
    assert run(trace) == (0, SUMMARY, f"drew {trace}.png\n")
    assert (tmp_path / "dev.trace.png").read_bytes() == picture(read, "png")
    out = tmp_path / "out.SVG"
    assert run(trace, "-o", out) == (0, SUMMARY, f"drew {out}\n")
    assert out.read_bytes() == picture(read, "svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.trace", "dev.trace.png", "out.SVG"]


def test_one_sentence(run, trace, tmp_path):
    read = read_trace_file(trace)
    assert isinstance(read, Trace)
    summary = "sentence 3 (c-ü): 1 word, 4 iterations, ended by iterations\nscore 7, bound 8, gap 1\n"
    assert run(trace, "--sentence", "3") == (0, summary, f"drew {trace}.3.png\n")  # the number, not the id
    drawn = (tmp_path / "dev.trace.3.png").read_bytes()
    assert drawn == picture(read.sentences[2], "png", unit="log odds")
    assert run(trace, "--sentence", "c-ü", "-o", tmp_path / "c.png")[:2] == (0, summary)
    assert (tmp_path / "c.png").read_bytes() == drawn
    status, out, err = run(trace, "--sentence", "4")
    assert (status, out) == (2, "")
    assert err == f"arcwise: {trace}: no sentence '4', expected a number up to 3, or a sent_id\n"


def test_stopping(run, stopping, tmp_path):
    assert run(stopping, "-o", tmp_path / "four.pdf") == (0, TABLE, f"drew {tmp_path / 'four.pdf'}\n")
    assert (tmp_path / "four.pdf").read_bytes() == picture(read_trace_file(stopping), "pdf")
    status, _, err = run(stopping, "--sentence", "1")
    assert status == 2
    assert "--sentence is for traces" in err


def test_standard_input(run, trace, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(trace.read_bytes())))
    status, _, err = run("-")
    assert status == 2
    assert "needs -o OUT" in err
    assert run("-", "-o", tmp_path / "out.png")[:2] == (0, SUMMARY)


def test_what_is_refused_leaves_nothing(run, trace, tmp_path, monkeypatch):
    (tmp_path / "old.png").write_text("old")
    for arguments, message in (
        ([tmp_path / "none"], f"arcwise: {tmp_path / 'none'}: cannot read it: no such file"),
        ([trace, "-o", tmp_path / "out.gif"], "expected a name that ends in .png, .svg or .pdf"),
        ([trace, "-o", "-"], "expected a name that ends in .png, .svg or .pdf"),
        ([trace, "-o", tmp_path / "no folder" / "out.png"], "out.png: cannot write it: no such file"),
        ([tmp_path / "old.png", "-o", tmp_path / "old.png"], "old.png:1: no JSON object"),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert message in err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = run(trace, "-o", tmp_path / "old.png")
    assert (status, out) == (2, "")
    assert err == "arcwise: pictures of traces need Matplotlib: pip install 'arcwise[plot]'\n"
    assert (tmp_path / "old.png").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.trace", "old.png"]


def test_help_has_an_example(run):
    status, out, _ = run("--help")
    assert status == 0
    assert "arcwise plot dev.trace --sentence 7" in out
