"""A toy language, and what is learned from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from arcwise.clusters.lookup import NO_CLUSTERS, ClusterTable
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.training import Words, read_words, train_tagger
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.reading import read_conllu

DATA = Path(__file__).parent.parent / "data"

# `can` and `fly` are told apart by the word before them, the names by their shape.
_TAGS = {
    "the": ("the", "DET", "DT", "_"), "a": ("a", "DET", "DT", "_"), "I": ("I", "PRON", "PRP", "Number=Sing"),
    "we": ("we", "PRON", "PRP", "Number=Plur"), "saw": ("see", "VERB", "VBD", "Tense=Past"),
    "wanted": ("want", "VERB", "VBD", "Tense=Past"), "cans": ("can", "NOUN", "NNS", "Number=Plur"),
    "flies": ("fly", "NOUN", "NNS", "Number=Plur"), ".": (".", "PUNCT", ".", "_"),
    "n:can": ("can", "NOUN", "NN", "Number=Sing"), "n:fly": ("fly", "NOUN", "NN", "Number=Sing"),
    "v:can": ("can", "AUX", "MD", "_"), "v:fly": ("fly", "VERB", "VB", "_"),
    "Olga": ("Olga", "PROPN", "NNP", "Number=Sing"), "Émile": ("Émile", "PROPN", "NNP", "Number=Sing"),
}  # fmt: skip
_TEXT = """\
the n:fly saw a n:can .
I v:can v:fly .
we v:can v:fly .
Olga saw the flies .
we saw Émile .
a n:fly wanted the cans .
Émile wanted a n:can .
I wanted the n:fly .
"""


def toy_text(times: int = 4) -> str:
    """The toy language as CoNLL-U."""
    lines = []
    for sentence in _TEXT.splitlines() * times:
        for number, word in enumerate(sentence.split(), 1):
            form = word.rpartition(":")[2]
            lines.append("\t".join((str(number), form, *_TAGS[word], str(number - 1), "dep", "_", "_")))
        lines.append("")
    return "\n".join([*lines, ""])


def conllu_block(text: str | bytes) -> Block:
    block, errors = index_block(text if isinstance(text, bytes) else text.encode(), CONLLU)
    assert not errors
    return block


def learn(blocks: list[Block], clusters: ClusterTable = NO_CLUSTERS, **options: Any) -> Tagger:
    """A small tagger that learns from all sentences."""
    words = words_of(blocks, clusters)
    chosen: dict[str, Any] = {"seed": 0, "bits": 12} | options
    return train_tagger(words, np.arange(len(words.boundaries) - 1), **chosen)


def words_of(blocks: list[Block], clusters: ClusterTable = NO_CLUSTERS) -> Words:
    words = read_words(blocks, clusters)
    assert words is not None
    return words


@cache
def toy_tagger() -> Tagger:
    return learn([conllu_block(toy_text())], epochs=8)


@cache
def data_blocks(file: str = "dev.conllu") -> list[Block]:
    return list(read_conllu(DATA / file).blocks())


@cache
def small_tagger() -> Tagger:
    """Learned from our own small treebank."""
    return learn(data_blocks(), bits=14, epochs=2)
