"""Partly annotated sentences: what is given stays, the rest is found, and what cannot be is refused by name."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD, ANY_WORD
from arcwise.pipeline.keeping import Kept, contradiction, read_kept
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import DEPREL, HEAD, Block, index_block
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence
from arcwise.trees.enumerate import all_trees
from tests.pipeline.models import DATA, data_blocks, is_tree, random_model, trained

FILES = ("train.conllu", "dev.conllu", "conllx.conll", "conll2008.conll", "conll2009.conll")


def loose_block(text: str | bytes, like: Block | None = None) -> Block:
    """A block that need not hold trees."""
    data = text.encode() if isinstance(text, str) else text
    block, errors = index_block(data, like.format if like else CONLLU, file="a.conllu", check_trees=False)
    assert not errors
    return block


def with_cells(block: Block, change: np.ndarray, heads: list[bytes], labels: list[bytes]) -> Block:
    """The block with other HEADs where change[0], other DEPRELs where change[1]."""
    lines, word = [], 0
    head_column, label_column = block.format.roles[HEAD], block.format.roles[DEPREL]
    for line in block.data.tobytes().split(b"\n"):
        cells = line.split(b"\t")
        if cells[0].isdigit():
            if change[0, word]:
                cells[head_column] = heads[word]
            if change[1, word]:
                cells[label_column] = labels[word]
            word += 1
        lines.append(b"\t".join(cells))
    return loose_block(b"\n".join(lines), block)


def stripped(block: Block, heads: float, labels: float, seed: int) -> Block:
    """The block without a share of its heads and labels."""
    words = len(block.heads)
    change = np.random.default_rng(seed).random((2, words)) < np.array([[heads], [labels]])
    return with_cells(block, change, [b"_"] * words, [b"_"] * words)


def assert_kept(block: Block, output: bytes) -> None:
    """All cells but `_` in HEAD and DEPREL are as they were, and those are filled."""
    before, after = block.data.tobytes().split(b"\n"), output.split(b"\n")
    assert len(before) == len(after)
    changeable = {block.format.roles[HEAD], block.format.roles[DEPREL]}
    for old, new in zip(before, after, strict=True):
        old_cells, new_cells = old.split(b"\t"), new.split(b"\t")
        if not old_cells[0].isdigit():
            assert old == new
            continue
        for column, (a, b) in enumerate(zip(old_cells, new_cells, strict=True)):
            assert a == b or (column in changeable and a == b"_" != b)
            assert b != b"_" or column not in changeable


def table(*rows: tuple[str, str]) -> Block:
    """One sentence of words with these HEADs and DEPRELs."""
    lines = [f"{i}\tw{i}\t_\tX\t_\t_\t{head}\t{label}\t_\t_\n" for i, (head, label) in enumerate(rows, 1)]
    return loose_block("".join(lines) + "\n")


@pytest.mark.parametrize("file", FILES)
def test_a_whole_annotation_stays_byte_for_byte(file: str) -> None:
    """Also with labels that the model does not know, and ranges, empty nodes, comments."""
    for block in data_blocks(file):
        parser = Parser(random_model(0, [block], single_root=False))
        assert parser.parse_to_bytes(block, keep=True).tobytes() == block.data.tobytes()
        if block.format is CONLLU:  # the others have sentences with several roots
            assert trained().parse_to_bytes(block, keep=True).tobytes() == block.data.tobytes()


@pytest.mark.parametrize("file", FILES)
def test_no_annotation_is_parsed_as_ever(file: str) -> None:
    for block in data_blocks(file):
        bare = stripped(block, 1.0, 1.0, 0)
        assert (
            trained().parse_to_bytes(bare, keep=True).tobytes() == trained().parse_to_bytes(block).tobytes()
        )
        assert trained().parse_block(bare, keep=True).names is trained().labels


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    heads=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    labels=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    file=st.sampled_from(FILES[1:3]),
)
def test_part_of_an_annotation_stays(seed: int, heads: float, labels: float, file: str) -> None:
    for block in data_blocks(file):
        part = stripped(block, heads, labels, seed)
        some = Parser(random_model(seed, [block], single_root=False))
        for parser in (some, trained()) if block.format is CONLLU else (some,):
            output = parser.parse_to_bytes(part, keep=True).tobytes()
            assert_kept(part, output)
            again = loose_block(output, block)
            assert parser.parse_to_bytes(again, keep=True).tobytes() == output
            for sentence in again:
                assert is_tree(sentence.heads.tolist())
                assert (sentence.heads == 0).sum() == 1 or not parser.single_root


def test_more_of_the_right_tree_never_raises_the_score() -> None:
    """The model's best tree scores most; what is given can only take away, and the tree itself takes nothing away."""
    block = data_blocks("dev.conllu")[0]
    parser = trained()
    free = parser.parse_block(block)
    own = loose_block(parser.with_trees(block, free).tobytes())
    bare_labels = stripped(own, 0.0, 1.0, 0)
    np.testing.assert_array_equal(parser.parse_block(bare_labels, keep=True).scores, free.scores)
    np.testing.assert_array_equal(parser.parse_block(bare_labels, keep=True).labels, free.labels)
    for share in (0.2, 0.6):
        part = stripped(block, share, 1.0, 1)
        assert (parser.parse_block(part, keep=True).scores <= free.scores).all()


# What is read


def test_labels_tell_of_heads() -> None:
    allowed = np.array([[True, False, True, False], [False, True, True, False]])
    rows = [("_", label) for label in ("root", "word", "both", "none", "foo:bar", "_")]
    kept = read_kept(table(*rows, ("0", "word"), ("2", "root")), ("root", "word", "both", "none"), allowed)
    assert kept.heads.tolist() == [0, ANY_WORD, ANY_HEAD, ANY_HEAD, ANY_HEAD, ANY_HEAD, 0, 2]
    assert kept.labels.tolist() == [0, 1, 2, 3, 4, -1, 1, 0]
    assert kept.names == ("root", "word", "both", "none", "foo:bar")


def test_a_label_of_roots_is_put_on_the_root_and_others_are_not() -> None:
    for seed in range(10):
        parser = Parser(random_model(seed, []))
        assert parser.parse_block(table(*[("_", "_")] * 3, ("_", "root")), keep=True).heads[3] == 0
        trees = parser.parse_block(table(("_", "label1"), ("_", "_"), ("_", "label2")), keep=True)
        assert trees.heads[1] == 0
        assert trees.labels.tolist() == [1, 0, 2]


def test_peoples_word_goes_before_the_models() -> None:
    block = table(("3", "root"), ("1", "Ünknown:x"), ("0", "label1"), ("_", "_"))
    for seed in range(5):
        trees = Parser(random_model(seed, [])).parse_block(block, keep=True)
        assert trees.heads[:3].tolist() == [3, 1, 0]
        assert [trees.names[label] for label in trees.labels[:3]] == ["root", "Ünknown:x", "label1"]
        assert trees.heads[3] > 0
        assert np.isfinite(trees.scores).all()


def test_sentences_and_words() -> None:
    words = ["She", "reads", "books"]
    given = Sentence.from_words(words, heads=[-1, -1, 1], labels=[None, "root", "strange"])
    (parsed,) = trained()(given, keep=True)
    assert parsed.heads.tolist()[2:] == [0, 1]
    assert parsed.labels[2:] == ["root", "strange"]
    assert parsed.certified
    assert trained()(given)[0].labels[3] in trained().labels
    assert str(trained()([words, words], keep=True)) == str(trained()([words, words]))
    assert str(trained()([given, Sentence.from_words(words), given], keep=True)[2]) == str(parsed)


# What cannot be


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(ANY_WORD, 4), min_size=1, max_size=4), st.booleans())
def test_a_contradiction_is_one(heads: list[int], single_root: bool) -> None:
    n = len(heads)
    heads = [ANY_HEAD if head > n or head == word else head for word, head in enumerate(heads, 1)]
    kept = Kept(np.array(heads, np.int32), np.zeros(n, np.int32), ("a",))
    trees = all_trees(n, single_root)[:, 1:]
    fits = (trees == heads) | (np.array(heads) == ANY_HEAD) | ((np.array(heads) == ANY_WORD) & (trees > 0))
    error = contradiction(table(*[("_", "_")] * n), 0, kept, single_root)
    assert (error is None) == fits.all(axis=1).any()


@pytest.mark.parametrize(
    ("rows", "line", "token", "message"),
    [
        ([("_", "_"), ("3", "_"), ("2", "_")], 2, "2", "the kept arcs 2 <- 3, 3 <- 2 form a cycle"),
        ([("4", "_"), ("1", "_"), ("1", "_"), ("3", "_")], 1, "1", "arcs 1 <- 4, 4 <- 3, 3 <- 1 form a cycle"),
        ([("_", "_"), ("0", "_"), ("_", "_"), ("0", "_")], 2, "2", "words 2, 4 are kept as roots, expected one"),
        ([("_", "_"), ("0", "label1"), ("_", "root")], 2, "2", "words 2, 3 are kept as roots, expected one"),
        (
            [("2", "_"), ("_", "label1"), ("_", "label3")], 2, "2",
            "no word can be the root: the kept labels of words 2 (label1), 3 (label3) are never a root's, expected",
        ),
        ([("_", "label1")], 1, "1", "no word can be the root"),
        (
            [(str(i % 40 + 1), "_") for i in range(1, 41)], 1, "1",
            "the kept arcs 1 <- 2, 2 <- 3, 3 <- 4, 4 <- 5, 5 <- 6, 6 <- 7, 7 <- 8, 8 <- 9, 9 <- 10, 10 <- 11, 11 <- 12, ..., 40 <- 1",
        ),
    ],
)  # fmt: skip
def test_the_error_names_what_is_to_blame(
    rows: list[tuple[str, str]], line: int, token: str, message: str
) -> None:
    before = b"\n\n# a comment\n1-2\tww\t_\t_\t_\t_\t_\t_\t_\t_\n" if len(rows) > 1 else b"\n\n# one\n# two\n"
    good = table(("0", "root"), ("_", "_")).data.tobytes()
    block = loose_block(before + table(*rows).data.tobytes() + good)
    parser = Parser(random_model(0, []))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        parser.parse_block(block, keep=True)
    assert (caught.value.file, caught.value.line, caught.value.token) == ("a.conllu", line + 4, token)
    with pytest.raises(InputError) as again:  # as sentences, in any company
        parser([block[1], block[0]], keep=True)
    assert str(again.value) == str(caught.value)
    assert is_tree([-1, *parser.parse_block(block).heads[: len(rows)]])


def test_several_roots_where_the_model_has_them() -> None:
    parser = Parser(random_model(0, [], single_root=False))
    trees = parser.parse_block(table(("0", "_"), ("_", "_"), ("_", "root")), keep=True)
    assert trees.heads[[0, 2]].tolist() == [0, 0]


def test_the_reader_still_refuses_what_is_no_head() -> None:
    text = (DATA / "dev.conllu").read_text(encoding="utf-8")
    for head, complaint in (("900", "a word of the sentence"), ("1", "the word itself"), ("x", "a number")):
        broken = re.sub(r"(?m)^(1\t.*)\t\d+(\t\S+\t\S+\t\S+)$", rf"\g<1>\t{head}\2", text, count=1)
        with pytest.raises(InputError, match=complaint):
            list(read_string(broken, check_trees=False))
