"""The tags that the kernel chooses, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from arcwise.features.letters import ALPHABET
from arcwise.tagging.lexicon import lexicon, look_up
from arcwise.tagging.spelling import spell
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.templates import compile_templates
from arcwise.treebank.block import Block
from tests.tagging import naive
from tests.tagging.corpora import data_blocks, small_tagger, toy_tagger


def naive_tags(tagger: Tagger, block: Block) -> list[int]:
    spelled, keys, _ = spell(block.data, block.starts, block.stops, block.words, ALPHABET, tagger.clusters)
    known, lists = lexicon(tagger.arrays), np.empty(len(keys), np.uint16)
    look_up(keys, known, spelled, lists)
    allowed = [known.tags[known.first[i] : known.first[i + 1]].tolist() for i in lists]
    return [
        tag
        for begin, end in pairwise(block.words)
        for tag in naive.tag(tagger, spelled[begin:end], allowed[begin:end])
    ]


def some_sentences(count: int) -> Block:
    (block, *_) = data_blocks("train.conllu")
    return naive.block_of([words for words in naive.forms(block) if len(words) < 12][:count])


@pytest.mark.parametrize("seed", range(3))
def test_random_weights(seed: int) -> None:
    random, tagger = np.random.default_rng(seed), small_tagger()
    table = random.integers(-127, 128, len(tagger.arrays["table"]), dtype=np.int8)
    random_tagger = Tagger(tagger.arrays | {"table": table}, tagger.header)
    block = some_sentences(4)
    assert random_tagger.tags(block).tolist() == naive_tags(random_tagger, block)


def test_learned_weights() -> None:
    for tagger in (small_tagger(), toy_tagger()):
        block = some_sentences(5)
        assert tagger.tags(block).tolist() == naive_tags(tagger, block)


def test_equal_scores_go_to_the_first_tag() -> None:
    tagger = toy_tagger()
    zero = Tagger(tagger.arrays | {"table": np.zeros_like(tagger.arrays["table"])}, tagger.header)
    block = some_sentences(3)
    first = naive_tags(zero, block)
    assert zero.tags(block).tolist() == first
    assert set(first) <= set(range(len(tagger.tagset.tags)))


@pytest.mark.parametrize("wrong", ["Q", "W+9", "W W W W W", "T", "T+1", "M", "w", "W+"])
def test_templates_that_cannot_be(wrong: str) -> None:
    with pytest.raises(ValueError, match="template"):
        compile_templates(wrong)
