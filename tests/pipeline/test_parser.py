"""The parser on blocks, sentences and words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from arcwise import decode
from arcwise.errors import InputError, ModelError
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.parser import Parser, load
from arcwise.pipeline.streaming import map_in_order
from arcwise.treebank.block import DEPREL, HEAD, Block
from arcwise.treebank.reading import read_blocks, read_string
from arcwise.treebank.sentence import Sentence
from tests.pipeline.models import DATA, block_of, data_blocks, is_tree, random_model, synthetic_block, trained

FILES = ("train.conllu", "dev.conllu", "conllx.conll", "conll2008.conll", "conll2009.conll")


def assert_only_trees_differ(block: Block, output: bytes, labels: tuple[str, ...]) -> None:
    """Line by line, column by column."""
    before, after = block.data.tobytes().split(b"\n"), output.split(b"\n")
    assert len(before) == len(after)
    changeable = {block.format.roles[HEAD], block.format.roles[DEPREL]}
    words = 0
    for old, new in zip(before, after, strict=True):
        first = old.split(b"\t")[0]
        if not first.isdigit():
            assert old == new
            continue
        words += 1
        old_cells, new_cells = old.split(b"\t"), new.split(b"\t")
        assert len(old_cells) == len(new_cells)
        for column, (a, b) in enumerate(zip(old_cells, new_cells, strict=True)):
            assert a == b or column in changeable
        assert new_cells[block.format.roles[HEAD]].isdigit()
        assert new_cells[block.format.roles[DEPREL]].decode() in labels
    assert words == len(block.heads)


@pytest.mark.parametrize("file", FILES)
def test_only_heads_and_labels_change(file: str) -> None:
    for seed in range(2):
        for block in data_blocks(file):
            parser = Parser(random_model(seed, [block], labels=40))
            output = parser.parse_to_bytes(block).tobytes()
            assert output != block.data.tobytes()
            assert_only_trees_differ(block, output, parser.labels)
            again = list(read_string(output, format=block.format.name).blocks())  # checks that all are trees
            trees = parser.parse_block(block)
            assert np.concatenate([b.heads for b in again]).tolist() == trees.heads.tolist()


@pytest.mark.parametrize(
    "file",
    ["la_udante/dev.conllu", "fr_sequoia/dev.conllu", "nl_alpino_cdbl/dev.conll", "da_ddt_cdt/dev.conll", "en_wsj5/dev.conll"],
)  # fmt: skip
def test_only_heads_and_labels_change_in_real_files(treebanks: Path, file: str) -> None:
    with read_blocks(treebanks / file) as reader:
        for block in reader:
            parser = Parser(random_model(1, [block], single_root=False))
            assert_only_trees_differ(block, parser.parse_to_bytes(block).tobytes(), parser.labels)
            break


def test_the_tree_in_the_file_is_not_looked_at() -> None:
    text = (DATA / "dev.conllu").read_bytes()
    block = block_of(text)
    lines = []
    for line in text.split(b"\n"):
        cells = line.split(b"\t")
        if cells[0].isdigit():
            cells[6:8] = b"_", b"_"
        lines.append(b"\t".join(cells))
    bare = block_of(b"\n".join(lines))
    assert trained().parse_to_bytes(bare).tobytes() == trained().parse_to_bytes(block).tobytes()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_threads_change_nothing(jobs: int) -> None:
    treebank = read_string(b"".join(block.data.tobytes() for block in data_blocks("train.conllu")))
    blocks = [block_of(str(sentence)) for sentence in treebank]
    whole = trained().parse_to_bytes(block_of("".join(map(str, treebank)))).tobytes()
    outputs = map_in_order(trained().parse_to_bytes, blocks, jobs)
    assert b"".join(output.tobytes() for output in outputs) == whole


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_in_a_stream_comes_after_all_results_before_it(jobs: int) -> None:
    def items() -> Iterator[int]:
        yield from range(7)
        raise InputError("bad line")

    def double(item: int) -> int:
        if item == 100:
            raise ValueError("cannot")
        return 2 * item

    stream = map_in_order(double, items(), jobs)
    assert list(islice(stream, 7)) == [0, 2, 4, 6, 8, 10, 12]
    with pytest.raises(InputError, match="bad line"):
        next(stream)
    with pytest.raises(ValueError, match="cannot"):
        list(map_in_order(double, [1, 100, 2, 3, 4, 5, 6], jobs))
    assert list(map_in_order(double, [], jobs)) == []


def test_a_stream_is_read_as_far_as_needed() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    stream = map_in_order(str, items(), 2)
    assert [next(stream) for _ in range(3)] == ["0", "1", "2"]
    assert len(taken) <= 3 + 2 * 2
    stream.close()


# What a parser can be called with


def test_words() -> None:
    document = trained()(["She", "reads", "."])
    assert len(document) == 1
    assert document[0].forms == ["", "She", "reads", "."]
    assert is_tree(document[0].heads.tolist())
    assert all(label in trained().labels for label in document[0].labels[1:])
    assert document[0].certified
    assert np.isfinite(document[0].score or np.nan)
    assert str(document) == str(document[0])


def test_several_sentences() -> None:
    one, two = ["A", "b"], ["C"]
    document = trained()([one, Sentence.from_words(two), tuple(one)])
    assert [len(sentence) for sentence in document] == [2, 1, 2]
    assert document[0].heads.tolist() == document[2].heads.tolist()
    assert str(document) == "".join(map(str, document))
    assert len(trained()(iter([one, two]))) == 2
    assert len(trained()(document)) == 3
    assert len(trained()(tuple(one))) == 1


def test_a_sentence_keeps_all_but_its_tree() -> None:
    for file in FILES[1:]:
        for block in data_blocks(file):
            for sentence in block[:5]:
                (parsed,) = trained()(sentence)
                assert_only_trees_differ(
                    next(iter(read_string(str(sentence), format=block.format.name).blocks())),
                    parsed.to_bytes(),
                    trained().labels,
                )
                assert parsed.format is sentence.format
                assert parsed.comments == sentence.comments


def test_sentences_and_blocks_agree() -> None:
    block = data_blocks("dev.conllu")[0]
    assert str(trained()(block)).encode() == trained().parse_to_bytes(block).tobytes()


def test_sentences_of_many_files_are_parsed_together_as_they_are_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parser_module, "_MOST_IN_GROUP", 7)
    unended = read_string("1\tGo\tgo\tV\tV\t_\t0\troot\t_\t_\n", format="conllx")  # no blank line at the end
    mixed = [sentence for file in FILES for block in data_blocks(file) for sentence in block[:9]]
    mixed = [*mixed[:3], *unended, *unended, *mixed[3:]]
    together = trained()(mixed)
    assert [str(parsed) for parsed in together] == [str(trained()(sentence)[0]) for sentence in mixed]
    assert [(parsed.file, parsed.line) for parsed in together] == [(s.file, s.line) for s in mixed]
    assert [parsed.score for parsed in together] == [trained()(sentence)[0].score for sentence in mixed]
    assert all(parsed.certified for parsed in together)


def test_nothing() -> None:
    assert trained()([]) == []
    assert str(trained()([])) == ""
    empty = block_of("")
    assert trained().parse_to_bytes(empty).tobytes() == b""


@pytest.mark.parametrize(
    "wrong", [[[]], [["a"], []], ["a\tb"], ["a", ""], ["a\nb"], [["a"], "bc"], ["\ud800"], "half \ud800"]
)
def test_what_cannot_be_parsed(wrong: object) -> None:
    with pytest.raises(InputError):
        trained()(wrong)  # type: ignore[arg-type]


def test_weird_words() -> None:
    for words in (["\u202e", "🙂" * 300, "_", "#", "1-2", "a b", "\u0301"], ["x" * 300_000], ["_"]):
        (sentence,) = trained()(words)
        assert sentence.forms[1:] == words
        assert is_tree(sentence.heads.tolist())


# Long sentences


@pytest.mark.parametrize("longest", [1, 2, 7])
@pytest.mark.parametrize("single_root", [True, False])
def test_long_sentences_are_cut(monkeypatch: pytest.MonkeyPatch, longest: int, single_root: bool) -> None:
    monkeypatch.setattr(parser_module, "LONGEST", longest)
    block = synthetic_block(25, 9.0)
    for seed in range(3):
        trees = Parser(random_model(seed, [block], single_root=single_root)).parse_block(block)
        for s in range(len(block)):
            first, last = block.words[s : s + 2]
            heads = [-1, *trees.heads[first:last].tolist()]
            assert is_tree(heads)
            assert heads.count(0) == 1 or not single_root
            assert trees.whole[s] == (last - first <= longest)
            assert np.isfinite(trees.scores[s])


def test_cutting_leaves_short_sentences_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    block = synthetic_block(25, 9.0)
    parser = Parser(random_model(0, [block]))
    before = parser.parse_block(block)
    monkeypatch.setattr(parser_module, "LONGEST", 7)
    after = parser.parse_block(block)
    short = np.diff(block.words) <= 7
    assert short.any()
    assert not short.all()
    np.testing.assert_array_equal(after.scores[short], before.scores[short])
    words = np.repeat(short, np.diff(block.words))
    np.testing.assert_array_equal(after.heads[words], before.heads[words])
    np.testing.assert_array_equal(after.labels[words], before.labels[words])


def test_thousands_of_words() -> None:
    (sentence,) = trained()([f"w{i % 50}" for i in range(3000)])
    heads = sentence.heads.tolist()
    assert is_tree(heads)
    assert heads.count(0) == 1
    assert not sentence.certified


def test_load_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="folder"):
        load(tmp_path)
    with pytest.raises(ModelError, match="no such"):
        load(tmp_path / "nothing")
    assert "labels" in repr(trained())


@pytest.mark.parametrize("single_root", [True, False])
def test_arc_scores_are_those_of_the_search(single_root: bool) -> None:
    for block in data_blocks("dev.conllu"):
        parser = Parser(random_model(3, [block], single_root=single_root))
        trees = parser.parse_block(block)
        parses = decode(list(parser.arc_scores(block)), single_root=single_root)
        assert np.concatenate([parse.heads[1:] for parse in parses]).tolist() == trees.heads.tolist()
        unit = trees.scores[0] / parses[0].score
        assert np.allclose([parse.score * unit for parse in parses], trees.scores)


def test_arc_scores_leave_out_sentences_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    block = synthetic_block(20, 8.0)
    parser = Parser(random_model(3, [block]))
    every = list(parser.arc_scores(block))
    monkeypatch.setattr(parser_module, "LONGEST", 8)
    kept = [S for S in every if len(S) <= 9]
    assert 0 < len(kept) < len(every)
    for S, expected in zip(parser.arc_scores(block), kept, strict=True):
        assert np.array_equal(S[:, 1:], expected[:, 1:])
