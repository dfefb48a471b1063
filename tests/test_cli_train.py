"""`arcwise train`, from treebank to model."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from arcwise import cluster, load, train
from arcwise.cli import arcwise_command, main
from arcwise.cli import train as cli_train
from arcwise.cli.train import command
from arcwise.cli.training_report import Clock, training_report
from arcwise.learning.trainers import DEFAULTS, OPTIMISERS, USELESS
from arcwise.pipeline.model import SEARCHES, Settings
from arcwise.pipeline.options import Options, Progress
from arcwise.sums.pruning import PRUNINGS
from arcwise.treebank.reading import read_conllu

DATA = Path(__file__).parent / "data"
TRAIN, DEV = DATA / "train.conllu", DATA / "dev.conllu"
QUICK = ["--size", "small", "--epochs", "2", "--label-epochs", "1"]


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `arcwise train`; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", "train", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return ended.value.code or 0, out, err

    return run


def test_a_model_and_what_is_told_of_it(run, tmp_path):
    model = tmp_path / "my.arcwise"
    status, out, err = run(TRAIN, "--dev", DEV, "-o", model, *QUICK, "--seed", 7)
    assert (status, out) == (0, "")
    lines = err.splitlines()
    stages = [line.split()[:2] for line in lines]
    assert stages[0] == ["words", "1/1"]
    assert sorted(stages[1:12], key=lambda stage: int(stage[1].split("/")[0])) == [
        ["tags", f"{number}/11"] for number in range(1, 12)
    ]
    lines = lines[12:]
    assert [line.split()[:2] for line in lines[:6]] == [
        *(["pruner", f"{epoch}/3"] for epoch in (1, 2, 3)),
        *(["trees", f"{epoch}/2"] for epoch in (1, 2)),
        ["labels", "1/1"],
    ]
    epoch = re.fullmatch(
        r"trees +2/2 +error +[\d.]+%  dev UAS ([\d.]+) LAS ([\d.]+)  best +[\d.]+ s  at most [\d.]+ s left",
        lines[4],
    )
    assert epoch, lines[4]
    assert 50 < float(epoch[2]) < float(epoch[1]) < 100
    assert re.fullmatch(r"best epochs: \d of 2 for the trees and 1 of 1 for the labels", lines[6])
    tags = r"development treebank: UPOS [\d.]+, XPOS [\d.]+, FEATS [\d.]+, LEMMA [\d.]+"
    assert re.fullmatch(tags, lines[7])
    scores = r"development treebank: UAS [\d.]+, LAS [\d.]+ \(all words count, labels with their subtypes\)"
    assert re.fullmatch(scores, lines[8])
    assert "of CPU time" in lines[9]
    assert lines[10].startswith(f"model: {model}, ")
    assert lines[11] == f"parse with it: arcwise parse text.conllu --model {model} -o parsed.conllu"
    assert list(tmp_path.iterdir()) == [model]
    parser = load(model)
    assert parser.single_root
    assert parser.tagger is not None
    assert parser.model.facts["seed"] == 7
    assert len(parser(read_conllu(DEV))) == len(read_conllu(DEV))


def test_the_options_reach_the_training(run, tmp_path):
    options = [
        "--learner",
        "perceptron",
        "--seed",
        3,
        "--multi-root",
        "--patience",
        1,
        "--order",
        1,
        "--gold-tags",
        "--jobs",
        2,
        "--quiet",
    ]
    assert run(TRAIN, "--dev", DEV, "-o", tmp_path / "a", *QUICK, *options) == (0, "", "")
    settings = load(tmp_path / "a").model.settings
    train(
        TRAIN, DEV, tmp_path / "b", learner="perceptron", seed=3, single_root=False, patience=1, epochs=2,
        label_epochs=1, settings=settings, gold_tags=True,
    )  # fmt: skip
    assert settings.arc_bits < Settings().arc_bits
    assert settings.tag_bits < Settings().tag_bits
    assert load(tmp_path / "a").tagger is None
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_choices_and_defaults_are_those_of_the_library():
    options = {option.name: option for option in command.params}
    learner, optimiser = options["learner"], options["optimiser"]
    assert list(learner.type.choices) == list(OPTIMISERS)  # type: ignore[attr-defined]
    assert learner.default == Options().learner
    possible = {name for optimisers in OPTIMISERS.values() for name in optimisers}
    assert set(optimiser.type.choices) == possible  # type: ignore[attr-defined]
    help_text = CliRunner().invoke(arcwise_command, ["train", "--help"], terminal_width=200).output
    for name in ("epochs", "label-epochs", "patience"):
        default = getattr(Options(), name.replace("-", "_"))
        assert re.search(rf"--{name} .*\[default: {default}\]", help_text)


def test_a_killed_run_goes_on(tmp_path):
    options = [
        "--dev",
        str(DEV),
        "--size",
        "small",
        "--epochs",
        "40",
        "--label-epochs",
        "40",
        "--patience",
        "40",
        "--gold-tags",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "arcwise", "train", TRAIN, "-o", tmp_path / "killed", "--quiet", *options]
    )
    while not (tmp_path / "killed.checkpoint").exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (tmp_path / "killed").exists(), "the run was over before it could be killed"

    for name, resume in (("killed", ["--resume"]), ("unbroken", [])):
        done = CliRunner().invoke(
            arcwise_command, ["train", str(TRAIN), "-o", str(tmp_path / name), *options, *resume]
        )
        assert done.exit_code == 0
        assert ("note: going on after epoch" in done.output) == bool(resume)
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "unbroken").read_bytes()
    assert not (tmp_path / "killed.checkpoint").exists()


def test_resume_with_nothing_to_resume_begins(run, tmp_path):
    assert run(TRAIN, "-o", tmp_path / "a", *QUICK, "--resume", "-q") == (0, "", "")
    assert run(TRAIN, "-o", tmp_path / "b", *QUICK, "-q") == (0, "", "")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_resume_with_other_options_is_refused(run, tmp_path):
    (tmp_path / "m.checkpoint").write_text("damaged")
    status, _, err = run(TRAIN, "-o", tmp_path / "m", *QUICK, "--resume")
    assert status == 2
    assert "m.checkpoint" in err


@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_a_missing_or_empty_treebank(run, tmp_path, content, dev):
    bad = tmp_path / "bad.conllu"
    if content is not None:
        bad.write_text(content)
    treebanks = [TRAIN, "--dev", bad] if dev else [bad]
    status, _, err = run(*treebanks, "-o", tmp_path / "m", *QUICK)
    assert status == 2
    reason = "cannot read it: no such file" if content is None else "no sentences, expected at least one"
    assert err.splitlines()[-1].startswith(f"arcwise: {bad}: {reason}")
    assert not (tmp_path / "m").exists()


def test_a_treebank_without_labels(run, tmp_path):
    lines = [line.split("\t") for line in TRAIN.read_text().split("\n")]
    for line in lines:
        if line[0].isdigit():
            line[7] = "_"
    (tmp_path / "bare.conllu").write_text("\n".join("\t".join(line) for line in lines))
    status, _, err = run(tmp_path / "bare.conllu", "-o", tmp_path / "m", *QUICK)
    assert status == 0
    assert "note: the treebank has no labels" in err
    assert "note: no development treebank" in err
    assert "development treebank: UAS" not in err
    assert load(tmp_path / "m").labels == ("_",)


def test_a_treebank_without_trees(run, tmp_path):
    (tmp_path / "bare.conllu").write_text("# text = a\n1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n\n")
    status, _, err = run(tmp_path / "bare.conllu", "-o", tmp_path / "m", *QUICK)
    assert status == 2
    assert "HEAD is '_'" in err


def test_a_single_sentence(run, tmp_path):
    (tmp_path / "one.conllu").write_text(str(read_conllu(TRAIN)[0]))
    status, _, err = run(tmp_path / "one.conllu", "-o", tmp_path / "m", *QUICK)
    assert status == 0
    assert "note: the training treebank has a single sentence" in err


def test_several_roots_and_bad_sentences(run, tmp_path):
    roots = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "t.conllu").write_text(f"{TRAIN.read_text()}{roots}1\tbad\n\n")
    assert run(tmp_path / "t.conllu", "-o", tmp_path / "m", *QUICK)[0] == 2
    status, _, err = run(tmp_path / "t.conllu", "-o", tmp_path / "m", *QUICK, "--skip-bad")
    assert status == 0
    assert "bad sentences skipped: 1" in err
    assert "have several roots: the model will allow several" in err
    assert "several roots allowed" in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--steps", 5], "steps without dual decomposition in training"),
        (["--steps", 5, "--order", 2, "--projective"], "steps without dual decomposition in training"),
        (["--steps", 5, "--order", 2, "--decoder", "climb"], "steps without dual decomposition in training"),
        (["--labels", "joint"], "label_epochs without labels learned after the trees"),
        (["--patience", 2], "patience without a development treebank"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, tmp_path, options, told):
    status, out, err = run(TRAIN, "-o", tmp_path / "m", *QUICK, *options)
    assert (status, out, err) == (2, "", f"arcwise: {told}\n")
    assert not any(tmp_path.iterdir())


def test_unusable_outputs_are_refused_at_once(run, tmp_path):
    for output in (tmp_path, tmp_path / "no folder" / "m"):
        status, _, err = run(TRAIN, "-o", output)
        assert status == 2
        assert err.startswith(f"arcwise: {tmp_path}")


def test_the_time_left_is_never_negative():
    """Taggers that learn at the same time report in any order."""
    now = count(10.0)
    clock = Clock(Options(), lambda: next(now))
    order = [(2, 0.5), (1, 0.25), (2, 0.75), (1, 1.0), (4, 0.25), (3, 1.0), (4, 1.0)]
    left = [clock.left(Progress("tags", fold, 11, share, 0.1)) for fold, share in order]
    assert left[:2] == [None, None]
    assert all(time is not None and time > 0 for time in left[2:])
    assert clock.left(Progress("pruner", 1, 3, 0.5, 0.1))


def test_a_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with training_report(Options(), quiet=False) as report:
        report.note("[sic] a note")
        for share in (0.5, 1.0):
            report.progress(Progress("trees", 3, 12, share, 0.25))
        report.progress(Progress("trees", 3, 12, 1.0, 0.25, 80.0, 75.0, True))
    shown = terminal.getvalue()
    assert "note: [sic] a note" in shown
    assert "trees   3/12  error 25.00%  dev UAS 80.00 LAS 75.00  best" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--order", 2, "--learner", "max-margin"], "head automata answer with their best modifiers only"),
        (["--parts", "eisner"], "--parts eisner is for charts: add --projective"),
        (
            ["--projective", "--parts", "grandchild"],
            "--parts grandchild is for all trees: leave out --projective",
        ),
        (["--order", 3, "--parts", "sibling"], "--parts sibling is not of order 3"),
        (["--order", 2, "--projective", "--parts", "model1"], "model1 is not of order 2"),
        (["--prune-by", "trees"], "pruning by 'trees' for trees that need not be projective"),
    ],
)
def test_orders_that_make_no_sense(run, tmp_path, options, message):
    code, out, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "model").exists()


def test_a_model_of_third_order(run, tmp_path):
    model = tmp_path / "model"
    options = ["--order", 3, "--projective", "--gold-tags", "--prune", 0.001, "--most-heads", 8, *QUICK]
    code, _, err = run(TRAIN, "--dev", DEV, "-o", model, *options)
    assert code == 0, err
    settings = load(model).model.settings
    assert (settings.search, settings.pruning, round(settings.threshold, 2)) == ("model1", "projective", 6.91)
    assert settings.most_heads == 8
    result = CliRunner().invoke(
        arcwise_command, ["parse", str(DEV), "--model", str(model), "--nbest", "2", "--confidence", "-q"]
    )
    assert result.exit_code == 0, result.output
    assert "# rank = 2" in result.output
    assert "ArcProb=" in result.output


def test_shapes(run, tmp_path):
    """What is chosen is said, and stored; learning does not depend on it."""
    options = ["--gold-tags", *QUICK, "--epochs", 1]
    code, _, err = run(TRAIN, "-o", tmp_path / "auto", "--shape", "auto", *options)
    assert code == 0, err
    assert "note: shape 1-inherit: the smallest class that covers 99% of the training trees (100.00%)" in err
    assert ", exactly one root, trees of shape 1-inherit\n" in err
    code, _, err = run(TRAIN, "-o", tmp_path / "named", "--shape", "2-well-nested", *options)
    assert (code, "note: shape" in err) == (0, False)
    code, _, err = run(TRAIN, "-o", tmp_path / "any", *options)
    assert (code, "of shape" in err) == (0, False)
    models = {name: load(tmp_path / name).model for name in ("auto", "named", "any")}
    shapes = {name: model.settings.shape for name, model in models.items()}
    assert shapes == {"auto": "1-inherit", "named": "2-well-nested", "any": "any"}
    for name, array in models["any"].arrays.items():
        np.testing.assert_array_equal(models["auto"].arrays[name], array)
    without_labels = [option for option in options if option not in ("--label-epochs", "1")]
    unknown = read_conllu(TRAIN)[0].to_bytes().replace(b"\t0\troot", b"\t_\t_")
    (tmp_path / "partial.conllu").write_bytes(unknown)
    code, _, err = run(
        tmp_path / "partial.conllu",
        "-o",
        tmp_path / "partial",
        "--shape",
        "auto",
        *without_labels,
        "--labels",
        "joint",
    )
    assert (code, load(tmp_path / "partial").model.settings.shape) == (0, "any"), err
    assert "note: no training sentence has a whole tree to choose a shape by" in err


def test_shapes_and_charts(run, tmp_path):
    options = ["--projective", "--gold-tags", *QUICK, "--epochs", 1, "--shape"]
    code, _, err = run(TRAIN, "-o", tmp_path / "model", *options, "auto")
    assert (code, load(tmp_path / "model").model.settings.shape) == (0, "projective"), err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shape", "round"], "shape 'round', expected any, projective, 1-inherit, well-nested"),
        (
            ["--projective", "--shape", "2"],
            "shape '2' with the projective search eisner, expected any or proj",
        ),
        (["--order", 2, "--learner", "log-linear", "--shape", "auto"], "which finds all trees"),
    ],
)
def test_shapes_that_make_no_sense(run, tmp_path, options, message):
    code, out, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert (code, out) == (2, "")
    assert message in err


# The low-rank tensor


def test_a_model_with_a_tensor(run, tmp_path):
    code, _, err = run(TRAIN, "-o", tmp_path / "model", "--gold-tags", *QUICK, "--tensor", 3)
    assert code == 0, err
    settings = load(tmp_path / "model").model.settings
    assert (settings.tensor, settings.tensor_bits) == (3, 13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tensor", -1], "-1 is not in the range"),
        (["--tensor", 1001], "a tensor of rank 1001, expected 0 (none) to 1000"),
        (["--tensor", 5, "--learner", "log-linear"], "log-linear with a low-rank tensor, which only mira"),
        (["--tensor", 5, "--learner", "perceptron"], "perceptron with a low-rank tensor, which only mira"),
    ],
)
def test_tensors_that_make_no_sense(run, tmp_path, options, message):
    code, out, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert (code, out) == (2, "")
    assert message in err


# Clusters


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "clusters.tsv"
    cluster([TRAIN], path, clusters=20, minimum=1)
    return path


def test_clusters(run, tmp_path, clusters):
    model = tmp_path / "model"
    options = ["--clusters", clusters, "--cluster-cut", "frequency", "--frequent", 50, "--seed", 2]
    status, _, err = run(TRAIN, "--dev", DEV, "-o", model, *QUICK, *options)
    assert status == 0, err
    assert "note: 100.0% of the words of the training treebank have a cluster\n" in err
    assert "most words have none" not in err
    parser = load(model)
    assert len(parser.model.clusters().grains) == 20
    clusters.unlink()  # the model holds what it needs
    result = CliRunner().invoke(arcwise_command, ["parse", str(DEV), "--model", str(model), "-q", "--retag"])
    assert result.exit_code == 0, result.output
    cluster([TRAIN], clusters, clusters=20, minimum=1)
    small: dict[str, Any] = {**cli_train._SIZES["small"]}
    train(
        TRAIN, DEV, tmp_path / "same", clusters=clusters, cluster_cut="frequency", frequent=50, seed=2, epochs=2,
        label_epochs=1, settings=Settings(**small),
    )  # fmt: skip
    assert (tmp_path / "same").read_bytes() == model.read_bytes()


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (None, "", "cannot read it: no such file"),
        (b"", "", "an empty file, expected a bit string, a word and a count, separated by tabs"),
        (
            b"01\tthe\t7\n01\tof\n",
            ":2",
            "2 columns, expected a bit string, a word and a count, separated by tabs",
        ),
        (b"01\tthe\t7\n0x\tof\t3\n", ":2", "bit string '0x', expected one or more of 0 and 1"),
        (b"01\tthe\tmany\n", ":1", "count 'many', expected a whole number"),
        (
            b"01\tthe\t7\n01\tthe\t8\n",
            ":2",
            "'the' for the second time, after line 1, expected every word once",
        ),
        (b"01\tthe\t7\n1\tof\t", ":2", "count '', expected a whole number"),
        (b"01\tthe\t7\n1\to\xfff\t3\n", ":2", "byte 4 of the line, 0xff, is not UTF-8, expected UTF-8"),
    ],
    ids=["missing", "empty", "columns", "bits", "count", "twice", "truncated", "no UTF-8"],
)
def test_clusters_that_cannot_be_read(run, tmp_path, content, line, message):
    bad = tmp_path / "bad.tsv"
    if content is not None:
        bad.write_bytes(content)
    status, out, err = run(TRAIN, "--dev", DEV, "-o", tmp_path / "model", *QUICK, "--clusters", bad)
    assert (status, out) == (2, "")
    last = err.splitlines()[-1]
    assert last.startswith(f"arcwise: {bad}{line}: {message}"), last
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tsv"] * (content is not None)


def test_clusters_of_another_language(run, tmp_path):
    path = tmp_path / "other.tsv"
    path.write_text("".join(f"{k:04b}\tслово{k}\t3\n" for k in range(16)) + "1\t.\t9\n")
    options = ["--clusters", path, "--gold-tags", *QUICK]
    status, _, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert status == 0, err
    assert re.search(r"note: \d\.\d% of the words of the training treebank have a cluster\n", err)
    assert (
        "note: most words have none: are the clusters of the treebank's language, and its words split alike?\n"
        in err
    )
    assert load(tmp_path / "model").model.settings.clusters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--frequent", 5], "--frequent is for --clusters"),
        (["--frequent", 0], "--frequent is for --clusters"),
        (["--cluster-cut", "bits"], "--cluster-cut is for --clusters"),
        (["--clusters", "clusters.tsv", "--frequent", -1], "-1 is not in the range x>=0"),
        (
            ["--clusters", "clusters.tsv", "--cluster-cut", "magic"],
            "'magic' is not one of 'bits', 'frequency'",
        ),
    ],
)
def test_clusters_that_make_no_sense(run, tmp_path, options, message):
    status, out, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())


# Learners


def test_a_log_linear_model(run, tmp_path):
    model = tmp_path / "model"
    options = [
        "--learner",
        "log-linear",
        "--optimiser",
        "sgd",
        "--rate",
        0.05,
        "--penalty",
        0.5,
        "--gold-tags",
    ]
    status, _, err = run(TRAIN, "--dev", DEV, "-o", model, *QUICK, *options)
    assert status == 0, err
    facts = load(model).model.facts
    assert [facts[name] for name in ("learner", "optimiser", "rate", "penalty")] == [
        "log-linear",
        "sgd",
        0.05,
        0.5,
    ]
    assert facts["training"][-1]["las"] > 50


def test_the_first_optimiser_is_the_default(run, tmp_path):
    model = tmp_path / "model"
    assert run(TRAIN, "-o", model, *QUICK, "--learner", "max-margin", "--gold-tags", "-q") == (0, "", "")
    facts = load(model).model.facts
    assert facts["optimiser"] == (first := OPTIMISERS["max-margin"][0])
    assert (facts["rate"], facts["penalty"]) == DEFAULTS["max-margin", first]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "magic"], "'magic' is not one of 'mira', 'perceptron', 'log-linear', 'max-margin'"),
        (["--optimiser", "magic"], "'magic' is not one of 'online', "),
        (
            ["--learner", "max-margin", "--optimiser", "lbfgs"],
            f"expected one of {', '.join(OPTIMISERS['max-margin'])}",
        ),
        (["--optimiser", "sgd"], "mira by 'sgd', expected one of online"),
        (["--learner", "log-linear", "--rate", 0], "rate is 0.0, expected a positive number"),
        (["--learner", "log-linear", "--penalty", -1], "penalty is -1.0, expected a positive number"),
        (["--learner", "log-linear", "--rate", "nan"], "rate is nan, expected a positive number"),
        (["--learner", "log-linear", "--tune"], "--tune needs a development treebank (--dev)"),
        (["--learner", "perceptron", "--tune", "--dev", DEV], "--tune: the perceptron has neither"),
    ],
)
def test_learners_that_make_no_sense(run, tmp_path, options, message):
    status, out, err = run(TRAIN, "-o", tmp_path / "model", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())


def test_an_exploding_step(run, tmp_path):
    options = ["--learner", "log-linear", "--optimiser", "sgd", "--rate", 1e120, "--gold-tags"]
    status, out, err = run(TRAIN, "-o", tmp_path / "model", *QUICK, *options)
    assert (status, out) == (2, "")
    last = err.splitlines()[-1]
    assert last.startswith(
        "arcwise: log-linear by sgd: the scores are no longer finite: take smaller steps (--rate, now 1e+120)"
    )
    assert not (tmp_path / "model").exists()


def test_tuning(run, tmp_path):
    model = tmp_path / "model"
    options = ["--learner", "mira", "--tune", "--gold-tags"]
    status, _, err = run(TRAIN, "--dev", DEV, "-o", model, *QUICK, *options)
    assert status == 0, err
    (chosen,) = re.findall(r"note: tuning: chose rate ([\d.e-]+)$", err, re.MULTILINE)
    assert f"{load(model).model.facts['rate']:g}" == chosen
    assert 3 <= len(re.findall("note: tuning: rate .* on the development treebank", err)) <= 12


def test_heads_that_are_not_known(run, tmp_path):
    lines = [line.split("\t") for line in TRAIN.read_text().split("\n")]
    for line in lines:
        if line[0].isdigit() and int(line[0]) % 3 == 0:
            line[6] = line[7] = "_"
    partial = tmp_path / "partial.conllu"
    partial.write_text("\n".join("\t".join(line) for line in lines))
    status, _, err = run(partial, "--dev", DEV, "-o", tmp_path / "m", *QUICK, "--gold-tags")
    assert status == 0, err
    assert re.search(r"note: \d+ of \d+ training sentences have words whose HEAD is _: what is known", err)
    assert load(tmp_path / "m").model.facts["training"][-1]["las"] > 50
    status, _, err = run(TRAIN, "--dev", partial, "-o", tmp_path / "n", *QUICK)
    assert status == 2
    assert f"arcwise: {partial}:" in err
    assert "expected a number everywhere in a development treebank" in err
    status, _, err = run(
        partial, "-o", tmp_path / "n", *QUICK, "--gold-tags", "--learner", "log-linear", "--optimiser", "eg"
    )
    assert status == 2
    assert "eg needs whole trees" in err
    assert not (tmp_path / "n").exists()


def test_the_choices_are_those_of_the_library() -> None:
    """The command line names them itself, so that its help is there at once."""
    assert set(cli_train.LEARNERS) == set(OPTIMISERS)
    assert set(cli_train.OPTIMISERS) == {optimiser for ways in OPTIMISERS.values() for optimiser in ways}
    assert set(cli_train.SEARCHES) == set(SEARCHES)
    assert set(cli_train.PRUNINGS) == set(PRUNINGS)
    options = {
        option.name: option.help or ""
        for option in cli_train.command.params
        if isinstance(option, click.Option)
    }
    for (learner, optimiser), (rate, penalty) in DEFAULTS.items():
        if optimiser != "batch-eg":
            for name, value in (("rate", rate), ("penalty", penalty)):
                assert {learner, optimiser} & {*USELESS[name]} or f" {value:g}" in options[name]
