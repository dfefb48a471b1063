"""Training runs: what they learn, that they can be repeated, interrupted and continued, and what they refuse."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise.clusters.lookup import CUTS
from arcwise.errors import InputError, ModelError
from arcwise.evaluation.attachment import accuracy
from arcwise.experiments.hidden_tags import without_tags
from arcwise.learning.pruned import PrunedCorpus, prune_corpus
from arcwise.learning.tensor import STARTS
from arcwise.pipeline import training, training_data, training_run
from arcwise.pipeline.checkpoint import State
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import LABEL_STAGES, Progress
from arcwise.pipeline.parser import Parser, load
from arcwise.pipeline.training import _where
from arcwise.treebank.reading import read_conllu, read_string
from arcwise.treebank.sentence import Sentence
from tests.pipeline.models import DATA, SMALL, Recorder, is_tree, quick
from tests.synthetic import synthetic_treebank

TINY: dict[str, Any] = {"settings": Settings(coarse_bits=8, arc_bits=12, label_bits=7, tag_bits=10)}


def sentences(count: int, *, seed: int = 0, **options: Any) -> list[Sentence]:
    return list(read_string(synthetic_treebank(count, seed=seed, mean_length=7.0, **options)))


def scores(parser: Parser, gold: list[Sentence]) -> tuple[float, float]:
    """UAS and LAS."""
    found = parser(gold)
    columns = [
        np.concatenate([np.asarray(getattr(sentence, name)) for sentence in trees])
        for trees in (gold, found)
        for name in ("heads", "labels")
    ]
    return accuracy(*columns)


def baseline(train: list[Sentence], gold: list[Sentence]) -> float:
    """The LAS when every word hangs on its right neighbour, with its tag's most frequent label."""
    counts: dict[str, Counter[str]] = {}
    for sentence in train:
        for tag, label in zip(sentence.upos, sentence.labels, strict=True):
            counts.setdefault(tag, Counter())[label] += 1
    right = words = 0
    for sentence in gold:
        for m in range(1, len(sentence) + 1):
            head = m + 1 if m < len(sentence) else 0
            label = "root" if head == 0 else counts[sentence.upos[m]].most_common(1)[0][0]
            right += sentence.heads[m] == head and sentence.labels[m] == label
            words += 1
    return right / words


# What is learned


@pytest.mark.parametrize("learner", ["mira", "perceptron"])
def test_learning_the_treebank_of_our_own(learner: str) -> None:
    recorder = Recorder()
    train, dev = list(read_conllu(DATA / "train.conllu")), list(read_conllu(DATA / "dev.conllu"))
    parser = quick(train, dev, watcher=recorder, learner=learner, epochs=5, label_epochs=3, patience=10)
    uas, las = scores(parser, dev)
    assert las > 0.5
    assert uas > 0.6
    assert las > baseline(train, dev) + 0.35
    last = quick(train, learner=learner, epochs=5, label_epochs=3)  # the best on dev may be the first
    assert scores(last, train)[1] > 0.95
    for stage, epochs in (("trees", 5), ("labels", 3)):
        errors = {step.epoch: step.error for step in recorder.steps if step.stage == stage}
        assert errors[epochs] < errors[1] / 2


def test_learning_a_synthetic_language() -> None:
    train, dev = sentences(250), sentences(60, seed=1)
    parser = quick(train, dev, epochs=3)
    uas, las = scores(parser, dev)
    assert uas > 0.7
    assert las > 0.6
    assert las > baseline(train, dev) + 0.4


def test_what_is_told_while_it_runs() -> None:
    recorder = Recorder()
    train, dev = sentences(60), sentences(15, seed=1)
    parser = quick(train, dev, watcher=recorder, **TINY)
    stages = [step.stage for step in recorder.steps]
    assert list(dict.fromkeys(stages)) == ["words", "pruner", "trees", "labels"]
    best: dict[str, Progress] = {}
    for stage in ("words", "pruner", "trees", "labels"):
        steps = [step for step in recorder.steps if step.stage == stage]
        places = [(step.epoch, step.share) for step in steps]
        assert places == sorted(places)
        assert all(0 < step.share <= 1 for step in steps)
        assert steps[-1].epoch == steps[-1].epochs
        assert steps[-1].share == 1.0
        judged = [step for step in steps if step.las is not None]
        assert len(judged) == (2 if stage in ("trees", "labels") else 0)
        for step in judged:
            if step.best:
                best[stage] = step
    # The model is the best epoch's: its accuracy is the one that was told.
    uas, las = (100 * score for score in scores(parser, dev))
    assert best["labels"].las == pytest.approx(las)
    assert best["labels"].uas == pytest.approx(uas)
    history = parser.model.facts["training"]
    assert [entry["las"] for entry in history] == [best["trees"].las, best["labels"].las]


def test_early_stopping() -> None:
    recorder = Recorder()
    dev = [sentence.replace(labels=["no"] * len(sentence)) for sentence in sentences(5, seed=1)]
    quick(sentences(20), dev, watcher=recorder, epochs=9, label_epochs=9, patience=2, **TINY)
    # LAS is 0 after every epoch: the first is the best, and no epoch of the labels is better; two more are waited for.
    for stage, last in (("trees", 3), ("labels", 2)):
        assert max(step.epoch for step in recorder.steps if step.stage == stage) == last


@pytest.mark.parametrize("search", ["spanning-tree", "dual-grandchild"])
def test_without_tags_templates_see_words_alone(search: str) -> None:
    settings = replace(SMALL, search=search, part_bits=12)
    train, recorder = without_tags(sentences(30)), Recorder()
    run = {"settings": settings, "epochs": 1, "labels": "joint"}
    blind, seeing = (quick(treebank, watcher=recorder, **run) for treebank in (train, sentences(30)))
    assert seeing.model.settings.tags
    assert not blind.model.settings.tags
    assert blind.model.settings == settings.without_tags()
    assert sum("the treebank has no tags" in note for note in recorder.notes) == 1
    assert all(is_tree(tree.heads.tolist()) for tree in blind(train))


def test_without_development_data_the_last_epoch_is_kept(tmp_path: Path) -> None:
    recorder = Recorder()
    train = sentences(30)
    parser = quick(train, watcher=recorder, **TINY)
    assert any("no development treebank" in note for note in recorder.notes)
    assert parser.model.facts["training"][0]["best"] == 2
    assert all(step.las is None for step in recorder.steps)


# The same bytes


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    train, dev = sentences(40), sentences(10, seed=1)
    contents = []
    for number, seed in enumerate((0, 0, 1)):
        quick(train, dev, tmp_path / f"model{number}", seed=seed, **TINY)
        contents.append((tmp_path / f"model{number}").read_bytes())
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]
    assert sorted(os.listdir(tmp_path)) == ["model0", "model1", "model2"]


def test_the_source_makes_no_difference(tmp_path: Path) -> None:
    train, dev = DATA / "train.conllu", DATA / "dev.conllu"
    options: dict[str, Any] = {"epochs": 1, "label_epochs": 1, **TINY}
    quick(train, dev, tmp_path / "paths", **options)
    quick(str(train), read_conllu(dev), tmp_path / "mixed", **options)
    with train.open("rb") as file:
        quick(file, list(read_conllu(dev)), tmp_path / "file", **options)
    contents = {(tmp_path / name).read_bytes() for name in ("paths", "mixed", "file")}
    assert len(contents) == 1


@pytest.mark.parametrize("file", ["conllx.conll", "conll2008.conll", "conll2009.conll"])
def test_other_formats(file: str) -> None:
    parser = quick(DATA / file, DATA / file, **TINY)
    for sentence in parser(list(read_conllu(DATA / file))[:5]):
        assert is_tree(sentence.heads.tolist())


# InterruptedRunError and continued


class InterruptedRunError(Exception):
    pass


class Killer(Recorder):
    """Raises at the first news of some stage and epoch."""

    def __init__(self, stage: str, epoch: int) -> None:
        super().__init__()
        self.at = (stage, epoch)

    def progress(self, progress: Progress) -> None:
        super().progress(progress)
        if (progress.stage, progress.epoch) == self.at:
            raise InterruptedRunError


RUN: dict[str, Any] = {"epochs": 3, "label_epochs": 2, **TINY}
MOMENTS = [("pruner", 1), *(("trees", e) for e in (1, 2, 3)), *(("labels", e) for e in (1, 2))]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("unbroken") / "model"
    quick(sentences(30), sentences(8, seed=1), path, **RUN)
    return path.read_bytes()


@pytest.mark.parametrize(("stage", "epoch"), MOMENTS)
@pytest.mark.parametrize("dev", [True, False])
def test_resume(tmp_path: Path, unbroken: bytes, stage: str, epoch: int, dev: bool) -> None:
    train, judge = sentences(30), sentences(8, seed=1) if dev else None
    if not dev:
        quick(train, None, tmp_path / "unbroken", **RUN)
        unbroken = (tmp_path / "unbroken").read_bytes()
    path = tmp_path / "model"
    with pytest.raises(InterruptedRunError):
        quick(train, judge, path, watcher=Killer(stage, epoch), **RUN)
    assert not path.exists()
    checkpoint = tmp_path / "model.checkpoint"
    assert checkpoint.exists() == ((stage, epoch) not in MOMENTS[:2])
    recorder = Recorder()
    quick(train, judge, path, resume=True, watcher=recorder, **RUN)
    assert path.read_bytes() == unbroken
    assert not checkpoint.exists()
    if (stage, epoch) not in MOMENTS[:2]:
        assert any("going on" in note for note in recorder.notes)
        first = next(step for step in recorder.steps if step.stage != "words")
        assert (first.stage, first.epoch) == (stage, epoch)


def test_resume_with_a_tagger(tmp_path: Path) -> None:
    train, dev = sentences(12), sentences(4, seed=1)
    options: dict[str, Any] = {**RUN, "gold_tags": False}
    quick(train, dev, tmp_path / "unbroken", **options)
    for moment in (("tags", 5), ("trees", 2)):
        with pytest.raises(InterruptedRunError):
            quick(train, dev, tmp_path / "model", watcher=Killer(*moment), **options)
        quick(train, dev, tmp_path / "model", resume=True, jobs=2, **options)
        assert (tmp_path / "model").read_bytes() == (tmp_path / "unbroken").read_bytes()


def test_interrupted_after_every_epoch(tmp_path: Path, unbroken: bytes) -> None:
    train, dev = sentences(30), sentences(8, seed=1)
    path = tmp_path / "model"
    for stage, epoch in MOMENTS[1:]:
        with pytest.raises(InterruptedRunError):
            quick(train, dev, path, resume=True, watcher=Killer(stage, epoch), **RUN)
    quick(train, dev, path, resume=True, **RUN)
    assert path.read_bytes() == unbroken


def test_without_resume_a_run_begins_anew(tmp_path: Path, unbroken: bytes) -> None:
    train, dev = sentences(30), sentences(8, seed=1)
    with pytest.raises(InterruptedRunError):
        quick(train, dev, tmp_path / "model", watcher=Killer("trees", 3), **RUN)
    recorder = Recorder()
    quick(train, dev, tmp_path / "model", watcher=recorder, **RUN)
    assert "pruner" in {step.stage for step in recorder.steps}
    assert (tmp_path / "model").read_bytes() == unbroken


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    with pytest.raises(InterruptedRunError):
        quick(sentences(30), sentences(8, seed=1), path, watcher=Killer("trees", 3), **RUN)
    return path


def test_a_checkpoint_of_another_run_is_refused(interrupted: Path) -> None:
    train, dev = sentences(30), sentences(8, seed=1)
    for other in (
        {"seed": 1}, {"epochs": 4}, {"learner": "perceptron"}, {"settings": SMALL}, {"single_root": True},
        {"label_epochs": 1}, {"patience": 1}, {"gold_tags": False},
    ):  # fmt: skip
        with pytest.raises(ModelError, match="other options"):
            quick(train, dev, interrupted, resume=True, **RUN | other)
    for other_train, other_dev in (
        (train[:-1], dev),
        (train, dev[:-1]),
        (train, None),
        (train[::-1], dev),
        ([*train, *dev[:1]], dev[1:]),
        (train[:-1], [train[-1], *dev]),
    ):
        with pytest.raises(ModelError, match="other data"):
            quick(other_train, other_dev, interrupted, resume=True, **RUN)
    assert Path(f"{interrupted}.checkpoint").exists()


def test_a_checkpoint_is_looked_at_first(interrupted: Path) -> None:
    """Before the treebanks are read if it is damaged, before anything is learned if it is of another run."""
    checkpoint = Path(f"{interrupted}.checkpoint")
    recorder = Recorder()
    with pytest.raises(ModelError, match="other data"):
        quick(sentences(12), None, interrupted, resume=True, watcher=recorder, **RUN | {"gold_tags": False})
    assert not recorder.steps
    checkpoint.write_bytes(b"damaged")
    with pytest.raises(ModelError, match="not a checkpoint, or damaged"):
        quick("no such treebank", None, interrupted, resume=True, **RUN)


@pytest.mark.parametrize(
    ("stage", "epoch", "said"),
    [
        ("trees", 2, "going on after epoch 2 of the trees"),
        ("labels", 0, "going on before the first epoch of the labels"),
        ("done", 0, "going on after the last epoch"),
    ],
)
def test_where_a_run_goes_on(stage: str, epoch: int, said: str) -> None:
    assert _where(State("", stage, {}, {}, epoch)) == said


def test_a_checkpoint_has_the_rights_of_any_file(interrupted: Path) -> None:
    plain = interrupted.with_name("plain")
    plain.touch()
    assert Path(f"{interrupted}.checkpoint").stat().st_mode == plain.stat().st_mode


def test_a_model_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "model.checkpoint").mkdir()
    with pytest.raises(InputError, match=r"model\.checkpoint: cannot write it"):
        quick("no such treebank", None, tmp_path / "model", **RUN)


def test_a_damaged_checkpoint_is_refused(interrupted: Path) -> None:
    train, dev = sentences(30), sentences(8, seed=1)
    checkpoint = Path(f"{interrupted}.checkpoint")
    content = checkpoint.read_bytes()
    changed = bytearray(content)
    changed[len(content) * 2 // 3] ^= 1
    for damaged in (b"", b"text", content[: len(content) // 2], content[:-1], bytes(changed), bytes(500)):
        checkpoint.write_bytes(damaged)
        with pytest.raises(ModelError, match="not a checkpoint, or damaged"):
            quick(train, dev, interrupted, resume=True, **RUN)
    model = quick(train, dev, interrupted, **RUN)
    checkpoint.write_bytes(interrupted.read_bytes())  # a model is no checkpoint, nor a checkpoint a model
    with pytest.raises(ModelError, match="not a checkpoint"):
        quick(train, dev, interrupted, resume=True, **RUN)
    checkpoint.write_bytes(content)
    with pytest.raises(ModelError, match="not an arcwise model"):
        load(checkpoint)
    assert model.labels == load(interrupted).labels


# What is remarkable about the data, and what cannot be used


def notes(train: list[Sentence], dev: list[Sentence] | None = None, **options: Any) -> tuple[Parser, str]:
    recorder = Recorder()
    parser = quick(train, dev, watcher=recorder, **{"epochs": 1, "label_epochs": 1, **TINY, **options})
    return parser, "\n".join(recorder.notes)


def test_no_labels() -> None:
    bare = [sentence.replace(labels=["_"] * len(sentence)) for sentence in sentences(10)]
    parser, told = notes(bare, bare)
    assert "no labels" in told
    assert parser.labels == ("_",)
    (parsed,) = parser(bare[0])
    assert is_tree(parsed.heads.tolist())
    assert set(parsed.labels[1:]) == {"_"}


def test_a_single_sentence() -> None:
    parser, told = notes(sentences(1))
    assert "single sentence" in told
    assert is_tree(parser(["a", "b"])[0].heads.tolist())


@pytest.mark.parametrize("words", [1, 2])
def test_a_single_word(words: int) -> None:
    one = Sentence.from_words(["Go"], heads=[0], labels=["root"])
    parser, _ = notes([one] * words, [one])
    assert parser.labels == ("root",)
    (parsed,) = parser(["a", "b", "c"])
    assert is_tree(parsed.heads.tolist())
    assert scores(parser, [one]) == (1.0, 1.0)


def test_a_missing_head_of_the_development_data_is_named(tmp_path: Path) -> None:
    good = sentences(3)
    lines = str(good[1]).split("\n")
    cells = lines[3].split("\t")  # after two comments and the first word
    cells[6] = "_"
    lines[3] = "\t".join(cells)
    path = tmp_path / "bad.conllu"
    path.write_text(str(good[0]) + "\n".join(lines) + str(good[2]))
    with pytest.raises(InputError, match="HEAD is '_'") as caught:
        quick(good, path, **TINY)
    assert "development" in str(caught.value)
    assert caught.value.file == str(path)
    assert caught.value.line == 1 + str(good[0]).count("\n")
    assert caught.value.token == "2"


def test_several_roots_are_remembered(tmp_path: Path) -> None:
    train = sentences(20, several_roots=0.5, nonprojective=0.0)
    parser, told = notes(train, output=tmp_path / "model")
    assert "10 of 20 training sentences have several roots" in told
    assert not parser.single_root
    assert not load(tmp_path / "model").single_root
    assert parser.model.facts["sentences with several roots"] == 10
    single, told = notes(train, single_root=True)
    assert "10 of 20" in told
    assert "left out" in told
    assert single.single_root
    assert single.model.facts["sentences"] == 10
    for sentence in single(train):
        assert sentence.heads.tolist().count(0) == 1
    several, told = notes(sentences(5), single_root=False)
    assert "several" not in told
    assert not several.single_root
    one, told = notes(sentences(5))
    assert "roots" not in told
    assert one.single_root


def test_only_sentences_of_several_roots() -> None:
    train = sentences(4, several_roots=1.0, nonprojective=0.0)
    with pytest.raises(InputError, match="no training sentence is left"):
        notes(train, single_root=True)


def test_long_sentences_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    train = sentences(20)
    monkeypatch.setattr(training_data, "LONGEST_IN_TRAINING", 8)
    short = [sentence for sentence in train if len(sentence) <= 8]
    parser, told = notes(train)
    assert f"{20 - len(short)} training sentences of more than 8 words are left out" in told
    assert parser.model.facts["sentences"] == len(short)
    assert parser.model.facts["words"] == sum(map(len, short))
    monkeypatch.setattr(training_data, "LONGEST_IN_TRAINING", 0)
    with pytest.raises(InputError, match="no training sentence is left"):
        notes(train)


def test_labels_that_only_the_development_data_has() -> None:
    dev = [sentence.replace(labels=["new"] * len(sentence)) for sentence in sentences(4, seed=1)]
    parser, _ = notes(sentences(20), dev)
    assert "new" not in parser.labels


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n\n"])
def test_empty_treebanks(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.conllu"
    path.write_bytes(content)
    for train, dev in ((path, None), (DATA / "dev.conllu", path)):
        with pytest.raises(InputError) as caught:
            quick(train, dev, **TINY)
        assert str(path) in str(caught.value)


def test_no_sentences_at_all() -> None:
    with pytest.raises(InputError, match=r"no (training )?sentences"):
        quick([], **TINY)


def test_bad_sentences_are_skipped_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    good = sentences(4)
    bad = str(good[1]).replace("\t0\troot", "\t999\troot")
    path.write_text(str(good[0]) + bad + str(good[2]) + str(good[3]))
    with pytest.raises(InputError):
        quick(path, **TINY)
    recorder = Recorder()
    parser = quick(path, skip_bad=True, watcher=recorder, **TINY)
    assert parser.model.facts["sentences"] == 3
    assert any("skipped" in note for note in recorder.notes)


def test_nowhere_to_write(tmp_path: Path) -> None:
    recorder = Recorder()
    for output in (tmp_path / "no" / "model", tmp_path):
        with pytest.raises(InputError):
            quick(sentences(3), None, output, watcher=recorder, **TINY)
        assert not recorder.steps, "found out only after training"
    with pytest.raises(InputError):
        quick(tmp_path / "nothing.conllu", **TINY)


def test_a_model_that_keeps_fewer_heads_learns_from_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(*arguments: Any) -> PrunedCorpus:
        seen.append(prune_corpus(*arguments))
        return seen[-1]

    monkeypatch.setattr(training_run, "prune_corpus", spy)
    usual, hasty = SMALL, replace(SMALL, most_heads=2)
    parsers = [quick(sentences(30), settings=settings, epochs=1) for settings in (usual, hasty)]
    assert [parser.model.settings.most_heads for parser in parsers] == [17, 2]
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)
    learned, other_learned = (parser.model.arrays["arcs"] for parser in parsers)
    np.testing.assert_array_equal(learned, other_learned)


@pytest.mark.parametrize("labels", LABEL_STAGES)
def test_labels_with_the_arcs_or_after_them(tmp_path: Path, labels: str) -> None:
    train, dev = sentences(150), sentences(40, seed=1)
    recorder = Recorder()
    parser = quick(train, dev, tmp_path / "model", labels=labels, watcher=recorder, epochs=3)
    assert scores(parser, dev)[1] > baseline(train, dev) + 0.2
    assert ("labels" in {step.stage for step in recorder.steps}) == (labels != "joint")
    assert scores(load(tmp_path / "model"), dev) == scores(parser, dev)


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 0}, {"epochs": 1.5}, {"learner": "none"}, {"optimiser": "none"}, {"rate": -1.0}, {"labels": "none"}, {"seed": -1},
        {"learner": "perceptron", "rate": 0.1}, {"gamma": 2.0}, {"tensor_start": "none"}, {"cluster_cut": "none"}, {"unknown": 1},
        {"learner": "log-linear", "settings": Settings(tensor=5)}, {"learner": "perceptron", "tune": True}, {"tune": True},
        {"learner": "log-linear", "settings": Settings(search="dual-sibling")}, {"shape": "round"},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_errors_of_input(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        training.train("no such treebank", **options)


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({"steps": 5}, {"settings": Settings(search="dual-sibling")}),
        ({"restarts": 5}, {"settings": Settings(climb=True)}),
        ({"label_epochs": 5, "labels": "joint"}, {"labels": "both"}),
        ({"gamma": 0.5}, {"settings": Settings(tensor=5)}),
        ({"tensor_start": STARTS[1]}, {"settings": Settings(tensor=5)}),
        ({"cluster_cut": CUTS[1]}, {"clusters": "c.tsv"}),
        ({"frequent": 9}, {"clusters": "c.tsv"}),
        ({"patience": 9}, {"dev": "no such treebank either"}),
    ],
    ids=str,
)
def test_options_that_nothing_uses_are_refused(options: dict[str, Any], needs: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(options))} without "):
        training.train("no such treebank", **options)
    with pytest.raises(InputError, match=r"^no such treebank: cannot read it"):
        training.train("no such treebank", **options | needs)
