"""`arcwise parse` with models of higher parts over all trees: --decoder, --no-exact, --iterations, --budget and --trace."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from arcwise.cli import main
from arcwise.evaluation.traces import Trace, read_trace_file
from arcwise.pipeline.model import Settings, save_model
from arcwise.treebank.reading import read_conllu
from arcwise.trees.blocks import is_projective
from tests.pipeline.models import quick, trained

DATA = Path(__file__).parent / "data"
DEV = DATA / "dev.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "second.arcwise"
    settings = Settings(
        coarse_bits=12, arc_bits=14, label_bits=8, part_bits=14, threshold=9.0, search="dual-grandchild"
    )
    quick(DATA / "train.conllu", DEV, path, epochs=2, label_epochs=1, settings=settings)
    return path


@pytest.fixture
def parse(monkeypatch, capfdbinary, model):
    """Run `arcwise parse` with the model; gives exit status, standard output and standard error."""

    def run(*arguments, model=model):
        monkeypatch.setattr(sys, "argv", ["arcwise", "parse", "--model", str(model), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return ended.value.code or 0, out.decode(), err.decode()

    return run


def test_every_tree_is_proved_best(parse):
    sentences = len(read_conllu(DEV))
    status, plain, err = parse(DEV)
    assert status == 0
    assert f"proved best: {sentences} of {sentences} sentences (" in err
    assert re.search(
        r"dual decomposition: [\d.]+ steps a sentence, \d+ in the median, \d+% of the automata", err
    )
    assert parse(DEV, "--decoder", "dual", "--jobs", 2)[1] == plain


def test_few_steps_leave_a_gap(parse):
    status, _, err = parse(DEV, "--no-exact", "--iterations", 1)
    assert status == 0
    assert "the largest gap is" in err
    assert "dual decomposition: 1.0 steps a sentence, 1 in the median, 100% of the automata" in err
    assert parse(DEV, "--iterations", 1, "--budget", 1)[0] == 0


def test_projective_trees(parse, tmp_path):
    assert parse(DEV, "--decoder", "dual-projective", "-o", tmp_path / "out.conllu")[0] == 0
    assert all(is_projective(sentence.heads) for sentence in read_conllu(tmp_path / "out.conllu"))


def test_a_trace(parse, tmp_path):
    trace = tmp_path / "dev.trace"
    status, out, _ = parse(DEV, "--trace", trace)
    assert status == 0
    assert out == parse(DEV)[1]
    read = read_trace_file(trace)
    assert isinstance(read, Trace)
    sentences = list(read_conllu(DEV))
    assert [each.words for each in read.sentences] == [len(sentence) for sentence in sentences]
    assert [each.id for each in read.sentences] == [sentence.sent_id for sentence in sentences]
    assert all(each.certified for each in read.sentences)


def test_what_is_refused(parse, tmp_path):
    first_order = tmp_path / "first.arcwise"
    save_model(trained().model, first_order)
    for arguments, model, message in (
        (["--decoder", "eisner"], None, "decoder 'eisner', expected for this model dual or dual-projective"),
        (["--decoder", "dual"], first_order, "decoder 'dual', expected for this model spanning-tree"),
        (["--trace", tmp_path / "a.trace"], first_order, "finds trees by spanning-tree"),
        (["--trace", "-"], None, "--trace needs the name of a file"),
        (["--trace", tmp_path / "a.trace", "--nbest", 2], None, "--trace goes with the best tree only"),
        (["--nbest", 2], None, "this model finds trees by dual decomposition"),
    ):
        status, _, err = parse(DEV, *arguments, **({} if model is None else {"model": model}))
        assert status == 2
        assert message in err
