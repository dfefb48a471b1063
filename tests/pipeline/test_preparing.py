"""What comes before the parser, and the tags that it learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise.clusters.lookup import NO_CLUSTERS
from arcwise.pipeline.options import Options, Watcher
from arcwise.pipeline.parser import load
from arcwise.pipeline.preparing import Prepared, prepare, tag_accuracy
from arcwise.tagging.tagset import MOST_PARTS
from arcwise.tagging.training import mean_tagger, read_words, train_tagger
from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS, Block
from arcwise.treebank.reading import BlockReader
from tests.pipeline.models import DATA, SMALL, Recorder, block_of, data_blocks, quick

OPTIONS = Options(settings=replace(SMALL, tag_bits=10))
COLUMNS = (LEMMA, UPOS, XPOS, FEATS)


def small_blocks(size: int = 3000) -> list[Block]:
    """Our own treebank in several blocks."""
    with BlockReader(DATA / "dev.conllu", block_bytes=size) as reader:
        return list(reader)


def prepared(
    train: list[Block], dev: list[Block], *, watcher: Watcher | None = None, jobs: int = 1, **options: Any
) -> Prepared:
    return prepare(train, dev, replace(OPTIONS, **options), watcher or Watcher(), jobs, NO_CLUSTERS)


def texts(blocks: list[Block]) -> list[bytes]:
    return [block.data.tobytes() for block in blocks]


def test_every_sentence_is_tagged_by_a_tagger_that_has_not_seen_it() -> None:
    blocks = small_blocks()
    assert len(blocks) > 1
    found = prepared(blocks, blocks)
    words = read_words(blocks)
    assert words is not None
    sentences = np.arange(sum(map(len, blocks)))
    fold_of = sentences * 10 // len(sentences)
    assert np.bincount(fold_of).min() > 0
    expected: list[str] = []
    taggers = []
    flat = [str(sentence) for block in blocks for sentence in block]
    for fold in range(10):
        tagger = train_tagger(words, sentences[fold_of != fold], seed=0, bits=10)
        taggers.append(tagger)
        expected += [
            tagger.tag(block_of(flat[i]), anew=True).data.tobytes().decode()
            for i in sentences[fold_of == fold]
        ]
    assert b"".join(texts(found.train)).decode() == "".join(expected)
    mean = mean_tagger([*taggers, train_tagger(words, sentences, seed=0, bits=10)])
    assert texts(found.dev) == texts([mean.tag(block, anew=True) for block in blocks])
    assert found.tagger is not None
    assert found.tagger.arrays["table"].tobytes() == mean.arrays["table"].tobytes()
    # Who has seen a sentence does better on it.
    assert tag_accuracy(blocks, found.dev)["upos"] > tag_accuracy(blocks, found.train)["upos"] + 2
    assert found.accuracy == tag_accuracy(blocks, found.dev)


def test_nothing_but_tags_changes() -> None:
    blocks = small_blocks()
    for before, after in zip(blocks, prepared(blocks, []).train, strict=True):
        np.testing.assert_array_equal(before.heads, after.heads)
        np.testing.assert_array_equal(before.words, after.words)
        np.testing.assert_array_equal(before.lines, after.lines)
        for old, new in zip(
            before.data.tobytes().split(b"\n"), after.data.tobytes().split(b"\n"), strict=True
        ):
            a, b = old.split(b"\t"), new.split(b"\t")
            assert [*a[:2], *a[6:]] == [*b[:2], *b[6:]]
            assert a == b or a[0].isdigit()


def test_threads_change_nothing(tmp_path: Path) -> None:
    blocks = small_blocks()
    one, three = prepared(blocks, blocks), prepared(blocks, blocks, jobs=3)
    assert texts(one.train) == texts(three.train)
    assert texts(one.dev) == texts(three.dev)
    for jobs in (1, 3):
        quick(
            DATA / "dev.conllu", DATA / "dev.conllu", tmp_path / f"{jobs}", gold_tags=False, epochs=1,
            label_epochs=1, jobs=jobs,
        )  # fmt: skip
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()
    assert load(tmp_path / "1").model.facts["tags"].keys() == {"upos", "xpos", "feats", "lemma"}


def test_what_is_told() -> None:
    recorder = Recorder()
    prepared(small_blocks(), [], watcher=recorder, jobs=2)
    tags = [step for step in recorder.steps if step.stage == "tags"]
    assert sorted({step.epoch for step in tags}) == list(range(1, 12))
    assert {step.epochs for step in tags} == {11}
    assert all(0 < step.share <= 1 and 0 <= step.error <= 1 for step in tags)
    assert recorder.notes == []


def without(columns: tuple[int, ...]) -> list[Block]:
    lines = [line.split("\t") for line in (DATA / "dev.conllu").read_text().split("\n")]
    for line in lines:
        if line[0].isdigit():
            for column in columns:
                line[column] = "_"
    return [block_of("\n".join("\t".join(line) for line in lines))]


def test_a_treebank_without_tags() -> None:
    recorder = Recorder()
    blocks = without((UPOS, XPOS))
    found = prepared(blocks, blocks, watcher=recorder)
    assert found.tagger is None
    assert found.train is blocks
    assert found.accuracy == {}
    assert any("no tags" in note for note in recorder.notes)


@pytest.mark.parametrize("columns", [(LEMMA,), (UPOS,), (XPOS,), (FEATS,), (LEMMA, XPOS, FEATS)])
def test_a_treebank_without_some_columns(columns: tuple[int, ...]) -> None:
    blocks = without(columns)
    found = prepared(blocks, blocks)
    assert found.tagger is not None
    for column in COLUMNS:
        assert (set(found.train[0].column(column)) == {"_"}) == (column in columns)
    for name, role in zip(("lemma", "upos", "xpos", "feats"), COLUMNS, strict=True):
        assert found.accuracy[name] == 100 if role in columns else found.accuracy[name] > 50


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_few_sentences(sentences: int) -> None:
    text = "".join(str(sentence) for sentence in data_blocks("dev.conllu")[0][:sentences])
    found = prepared([block_of(text)], [block_of(text)])
    assert found.tagger is not None
    assert len(found.train[0]) == sentences
    assert "_" not in found.train[0].column(UPOS)


def test_gold_tags() -> None:
    blocks = small_blocks()
    found = prepared(blocks, blocks, gold_tags=True)
    assert found.tagger is None
    assert found.tokeniser is not None
    assert found.train is blocks
    assert found.dev is blocks


def test_a_treebank_that_does_not_tell_its_spaces() -> None:
    recorder = Recorder()
    lines = (DATA / "dev.conllu").read_text().replace("SpaceAfter=No", "_").split("\n")
    bare = [block_of("\n".join(line for line in lines if not line.startswith("# text")))]
    assert prepared(bare, [], gold_tags=True, watcher=recorder).tokeniser is None
    assert any("general rules" in note for note in recorder.notes)


def test_tags_too_many_to_learn() -> None:
    recorder = Recorder()
    rows = [f"1\tw\t_\tX\t_\tF={i}\t0\troot\t_\t_\n\n" for i in range(MOST_PARTS)]
    blocks = [block_of("".join(rows))]
    assert prepared(blocks, [], watcher=recorder).tagger is None
    assert any("too many" in note for note in recorder.notes)


def test_accuracy() -> None:
    blocks = small_blocks()
    assert tag_accuracy(blocks, blocks) == {"upos": 100.0, "xpos": 100.0, "feats": 100.0, "lemma": 100.0}
    assert tag_accuracy([], []) == {}
    assert tag_accuracy(without(()), without((XPOS,)))["xpos"] == 0.0
