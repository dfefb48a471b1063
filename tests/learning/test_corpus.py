"""A treebank as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.features.attributes import collect_keys, vocabulary
from arcwise.features.hash_table import ROOT
from arcwise.learning.corpus import make_corpus, select_sentences, word_rows
from arcwise.treebank.reading import read_string
from tests.synthetic import synthetic_treebank


@pytest.mark.parametrize("one_block", [True, False])
def test_rows_are_the_sentences_one_after_another(one_block: bool) -> None:
    treebank = read_string(synthetic_treebank(12, mean_length=6, seed=3))
    alone = [block for sentence in treebank for block in read_string(str(sentence)).blocks()]
    blocks = list(treebank.blocks()) if one_block else alone
    assert len(blocks) == (1 if one_block else 12)
    labels = {"root": 0, "nsubj": 1}
    corpus = make_corpus(blocks, vocabulary(collect_keys(blocks)), labels)
    assert corpus.starts[0] == 0
    assert corpus.starts[-1] == len(corpus.numbers) == len(corpus.heads) == len(corpus.labels)
    for number, sentence in enumerate(treebank):
        rows = slice(*corpus.starts[number : number + 2])
        assert corpus.heads[rows].tolist() == sentence.heads.tolist()
        assert corpus.labels[rows].tolist() == [labels.get(label, -1) for label in sentence.labels]
        assert (corpus.numbers[rows][0] == ROOT).all()
        assert (corpus.numbers[rows][1:] != ROOT).all()
    keep = np.array([number % 3 != 1 for number in range(12)])
    chosen = select_sentences(corpus, keep)
    for number, old in enumerate(np.flatnonzero(keep)):
        for mine, theirs in (
            (chosen.numbers, corpus.numbers),
            (chosen.heads, corpus.heads),
            (chosen.labels, corpus.labels),
        ):
            np.testing.assert_array_equal(
                mine[slice(*chosen.starts[number : number + 2])], theirs[slice(*corpus.starts[old : old + 2])]
            )
    assert len(select_sentences(corpus, np.zeros(12, np.bool_)).starts) == 1


def test_word_rows_of_nothing() -> None:
    assert word_rows(np.zeros(1, np.int32)).tolist() == []
