"""Small models for the tests: random ones, and one that was trained."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from arcwise.features.attributes import collect_keys
from arcwise.pipeline.model import Model, Settings
from arcwise.pipeline.options import Progress, Watcher
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training import train
from arcwise.treebank.block import Block, index_block
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.reading import read_conllu
from tests.synthetic import synthetic_treebank

DATA = Path(__file__).parent.parent / "data"
SMALL = Settings(coarse_bits=12, arc_bits=16, label_bits=10, tag_bits=14)


def random_model(
    seed: int, blocks: list[Block], *, single_root: bool = True, labels: int = 4, settings: Settings = SMALL,
    greatest: int = 127,
) -> Model:  # fmt: skip
    """A model of random weights that knows the words of the blocks; the label 0 is only for the root."""
    random = np.random.default_rng(seed)
    allowed = np.ones((2, labels), np.bool_)
    if labels > 1:
        allowed[0, 1:] = allowed[1, 0] = False

    def weights(*shape: int) -> np.ndarray:
        return random.integers(-greatest, greatest + 1, shape, dtype=np.int8)

    arrays = {
        "keys": collect_keys(blocks),
        "coarse": weights(1 << settings.coarse_bits),
        "arcs": weights(1 << settings.arc_bits),
        "labels": weights(1 << settings.label_bits, labels),
        "final": weights(1 << settings.label_bits, labels),
        "allowed": allowed,
        "scales": np.array([0.01, 0.02, 0.03], np.float32),
    }
    names = ("root", *(f"label{i}" for i in range(1, labels)))
    return Model(settings, names, single_root, arrays)


def block_of(text: str | bytes) -> Block:
    """A block of CoNLL-U."""
    data = text.encode() if isinstance(text, str) else text
    block, errors = index_block(data, CONLLU)
    assert not errors
    return block


def is_tree(heads: list[int]) -> bool:
    """Whether every word comes to the root."""
    reached = {0}
    for _ in heads:
        reached |= {m for m in range(1, len(heads)) if heads[m] in reached}
        if len(reached) == len(heads):
            return heads[0] == -1
    return False


def data_blocks(file: str) -> list[Block]:
    """The blocks of a file of tests/data."""
    return list(read_conllu(DATA / file).blocks())


@cache
def synthetic_block(sentences: int, mean_length: float, seed: int = 0) -> Block:
    """A block of synthetic sentences."""
    return block_of(synthetic_treebank(sentences, mean_length=mean_length, seed=seed))


class Recorder(Watcher):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.steps: list[Progress] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def progress(self, progress: Progress) -> None:
        self.steps.append(progress)


def quick(train_on: Any, dev: Any = None, output: Any = None, **options: Any) -> Parser:
    """Train with small tables, few epochs and no tagger."""
    defaults: dict[str, Any] = {"epochs": 2, "label_epochs": 2, "settings": SMALL, "gold_tags": True}
    chosen = defaults | options
    if chosen.get("labels") == "joint":
        del chosen["label_epochs"]
    return train(train_on, dev, output, **chosen)


@cache
def trained() -> Parser:
    """A parser trained on tests/data, with tokeniser and tagger."""
    return quick(DATA / "train.conllu", DATA / "dev.conllu", epochs=4, gold_tags=False, jobs=2)
