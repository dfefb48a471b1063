"""Models of second order over all trees: trained and parsed by belief propagation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from arcwise.errors import ArcwiseError
from arcwise.pipeline.model import BELIEFS, Settings
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser
from arcwise.trees.checking import is_tree
from tests.pipeline.models import block_of, quick
from tests.pipeline.test_training import baseline, scores, sentences

BITS: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7, "part_bits": 12, "threshold": 9.0}
LOOPY = Settings(**BITS, search=BELIEFS)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return train()


def train() -> Parser:
    return quick(
        sentences(60), None, settings=LOOPY, learner="log-linear", optimiser="lbfgs", penalty=0.1, epochs=1, label_epochs=1
    )  # fmt: skip


def test_it_learns_its_sentences(parser: Parser) -> None:
    uas, las = scores(parser, sentences(60))
    assert uas > 0.85
    assert las > baseline(sentences(60), sentences(60)) + 0.4
    assert np.any(parser.model.arrays["parts"])


def test_the_same_bytes_again(parser: Parser) -> None:
    again = train()
    for name, array in parser.model.arrays.items():
        np.testing.assert_array_equal(again.model.arrays[name], array)


def test_trees_and_confidences(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(20))))
    trees = parser.parse_block(block, confidence=True)
    for begin, end in pairwise(block.words.tolist()):
        assert is_tree(np.array([-1, *trees.heads[begin:end]], np.int32), parser.single_root)
    assert trees.probabilities is not None
    assert trees.probabilities.arcs is not None
    assert ((trees.probabilities.arcs > 0) & (trees.probabilities.arcs <= 1)).all()
    right = trees.heads == block.heads
    assert trees.probabilities.arcs[right].mean() > trees.probabilities.arcs[~right].mean() + 0.03
    assert not parser("A word or two.")[0].certified


def test_what_is_given_is_kept(parser: Parser) -> None:
    block = block_of("".join(map(str, sentences(20))))
    np.testing.assert_array_equal(parser.parse_block(block, keep=True).heads, block.heads)


def test_no_several_trees(parser: Parser) -> None:
    with pytest.raises(ArcwiseError, match="belief propagation, and not the k best"):
        parser.k_best_block(block_of(str(sentences(1)[0])), 3)


@pytest.mark.parametrize(
    ("learner", "optimiser", "asked"),
    [("mira", None, "best tree"), ("max-margin", "sgd", "best tree"), ("log-linear", "eg", "exact sums")],
)
def test_learners_without_their_oracle_are_refused(learner: str, optimiser: str | None, asked: str) -> None:
    with pytest.raises(ArcwiseError, match=asked):
        Options(settings=LOOPY, learner=learner, optimiser=optimiser)
