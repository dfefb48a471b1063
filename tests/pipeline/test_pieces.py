"""Long sentences in pieces, with parts of their trees given."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.errors import InputError
from arcwise.pipeline import parser as parser_module
from arcwise.pipeline.keeping import contradiction, read_kept
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.pieces import cut
from arcwise.treebank.block import DEPREL, Block
from tests.pipeline.models import is_tree, random_model, synthetic_block
from tests.pipeline.test_keeping import stripped, table, with_cells


def assert_trees(parser: Parser, block: Block) -> None:
    """All that is given is in the trees, and they are trees."""
    trees = parser.parse_block(block, keep=True)
    given = block.heads >= 0
    np.testing.assert_array_equal(trees.heads[given], block.heads[given])
    for label, number in zip(block.column(DEPREL), trees.labels.tolist(), strict=True):
        assert label in ("_", trees.names[number])
    for begin, end in zip(block.words[:-1], block.words[1:], strict=True):
        heads = [-1, *trees.heads[begin:end].tolist()]
        assert is_tree(heads)
        assert heads.count(0) == 1 or not parser.single_root
    allowed = parser.model.arrays["allowed"]
    free = np.array(block.column(DEPREL)) == "_"
    assert allowed[np.minimum(trees.heads[free], 1), trees.labels[free]].all()
    assert np.isfinite(trees.scores).all()
    np.testing.assert_array_equal(trees.whole, np.diff(block.words) <= parser_module.LONGEST)


def test_cut() -> None:
    words = np.array([0, 1, 8, 10], np.int32)
    assert cut(words, 7) is words
    assert cut(words, 3).tolist() == [0, 1, 4, 7, 8, 10]
    assert cut(words, 1).tolist() == list(range(11))
    assert cut(np.zeros(1, np.int32), 5).tolist() == [0]


@pytest.mark.parametrize("longest", [1, 2, 3, 7])
@pytest.mark.parametrize("single_root", [True, False])
def test_given_parts_of_a_tree(monkeypatch: pytest.MonkeyPatch, longest: int, single_root: bool) -> None:
    """Most arcs lie across pieces."""
    monkeypatch.setattr(parser_module, "LONGEST", longest)
    block = synthetic_block(25, 9.0)
    for seed in range(4):
        parser = Parser(random_model(seed, [block], single_root=single_root))
        for share in (0.0, 0.2, 0.7, 0.95, 1.0):
            assert_trees(parser, stripped(block, share, 1 - share, seed))
        assert parser.parse_to_bytes(block, keep=True).tobytes() == block.data.tobytes()


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("single_root", [True, False])
def test_given_at_random(monkeypatch: pytest.MonkeyPatch, longest: int, single_root: bool) -> None:
    """Either there is a tree and it is found, or the error says why not."""
    monkeypatch.setattr(parser_module, "LONGEST", longest)
    random = np.random.default_rng(longest)
    found = refused = 0
    parser = Parser(random_model(0, [], single_root=single_root))
    for _ in range(150):
        n = int(random.integers(1, 9))
        heads = [int(random.integers(0, n + 1)) for _ in range(n)]
        labels = random.choice(["_", "_", "_", "label1", "root", "new"], size=n).tolist()
        rows = [
            ("_" if head == word or random.random() < 0.5 else str(head), label)
            for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
        ]
        block = table(*rows)
        kept = read_kept(block, parser.labels, parser.model.arrays["allowed"])
        error = contradiction(block, 0, kept, single_root)
        if error is None:
            assert_trees(parser, block)
            found += 1
        else:
            with pytest.raises(InputError) as caught:
                parser.parse_block(block, keep=True)
            assert str(caught.value) == str(error)
            refused += 1
    assert min(found, refused) > 5


def test_a_cycle_across_pieces_is_opened_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 hangs on 4 and 3 on 2, each in the other piece; whatever the pieces' trees are, 2 and 4 are not both left below."""
    monkeypatch.setattr(parser_module, "LONGEST", 2)
    for seed in range(10):
        parser = Parser(random_model(seed, []))
        assert_trees(parser, table(("4", "_"), ("_", "_"), ("2", "_"), ("_", "_")))
        assert_trees(parser, table(("4", "_"), ("_", "label1"), ("2", "_"), ("_", "_"), ("_", "label2")))


def test_the_root_may_be_in_any_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "LONGEST", 2)
    free = ("_", "_")
    parser = Parser(random_model(0, []))
    for block in (table(*[free] * 4, ("0", "_"), free), table(*[free] * 4, ("_", "root"), free)):
        assert parser.parse_block(block, keep=True).heads.tolist().index(0) == 4
    not_roots = table(*[("_", "label1")] * 3, free, *[("_", "label2")] * 3)
    assert parser.parse_block(not_roots, keep=True).heads.tolist().index(0) == 3
    every_word = with_cells(not_roots, np.ones((2, 7), bool), [b"_"] * 7, [b"label1"] * 7)
    with pytest.raises(InputError, match="no word can be the root"):
        parser.parse_block(every_word, keep=True)
