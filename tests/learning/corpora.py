"""Small corpora and slow scores for the tests of the learners."""

from __future__ import annotations

from functools import cache

import numpy as np

from arcwise.features.arcs import arc_features, label_features, most_arc_features
from arcwise.features.attributes import collect_keys, vocabulary
from arcwise.features.context import (
    context_features,
    find_neighbours,
    make_neighbours,
    most_context_features,
)
from arcwise.features.templates import Templates, compile_templates
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.learning.corpus import Corpus, make_corpus
from arcwise.treebank.block import DEPREL
from arcwise.treebank.reading import read_string
from tests.synthetic import synthetic_treebank

TEMPLATES: Templates = compile_templates()


@cache
def small_corpus(
    sentences: int, mean_length: float = 4.0, seed: int = 0, longest: int = 5
) -> tuple[Corpus, int]:
    """A corpus of short sentences, and how many labels it has."""
    text = synthetic_treebank(10 * sentences, mean_length=mean_length, nonprojective=0.0, seed=seed)
    short = [s for s in read_string(text) if 2 <= len(s) <= longest][:sentences]
    assert len(short) == sentences
    blocks = list(read_string("".join(map(str, short))).blocks())
    names = sorted({label for block in blocks for label in block.column(DEPREL)})
    numbers = {name: number for number, name in enumerate(names)}
    return make_corpus(blocks, vocabulary(collect_keys(blocks)), numbers), len(names)


class Features:
    """The features of one sentence of a corpus, as lists."""

    def __init__(self, corpus: Corpus, sentence: int, arc_bits: int, label_bits: int) -> None:
        begin, end = corpus.starts[sentence : sentence + 2]
        self.n = int(end - begin - 1)
        self.heads, self.labels = corpus.heads[begin:end], corpus.labels[begin:end]
        self.tokens = make_tokens(self.n, TEMPLATES.end)
        self.arc_bits, self.label_bits = arc_bits, label_bits
        hash_tokens(corpus.numbers[begin:end], TEMPLATES, self.tokens)

    def arc(self, h: int, m: int) -> np.ndarray:
        indices = np.empty(most_arc_features(self.n, TEMPLATES), np.uint32)
        return indices[: arc_features(self.tokens, TEMPLATES, self.arc_bits, h, m, indices)].astype(np.int64)

    def label(self, h: int, m: int) -> np.ndarray:
        rows = np.empty(TEMPLATES.end, np.uint32)
        return rows[: label_features(self.tokens, TEMPLATES, self.label_bits, h, m, rows)].astype(np.int64)

    def in_tree(self, heads: np.ndarray, m: int) -> np.ndarray:
        tree = make_neighbours(self.n)
        find_neighbours(heads, self.tokens, tree)
        rows = np.empty(most_context_features(TEMPLATES), np.uint32)
        count = context_features(self.tokens, TEMPLATES, self.label_bits, heads, tree, m, rows)
        return rows[:count].astype(np.int64)
