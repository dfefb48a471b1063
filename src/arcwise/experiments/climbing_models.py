"""Models that the experiments with hill climbing share, kept in a folder: each trained once; and what they reach on a test treebank.

With the treebank's own tags, by MIRA, as `arcwise train` does it, but that temperatures, which no table needs, are not fitted. A
treebank without a development file holds out every tenth training sentence in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.evaluation.attachment import is_punctuation
from arcwise.evaluation.local_optima import SHORT
from arcwise.experiments.kept_models import kept
from arcwise.experiments.trained_models import Tell
from arcwise.pipeline.best_trees import repeated
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import TreebankLike
from arcwise.pipeline.training_run import TrainingRun
from arcwise.treebank.block import DEPREL, FORM, Block
from arcwise.treebank.reading import read_blocks, read_conllu

EPOCHS = 10  # at most: a training ends after three without a better LAS on dev
SLACK = 0.5  # scores of models are whole numbers: a better tree is better by 1 at least
_TENTH = 10
_BLOCK_BYTES = 1 << 15  # of sentences between two moves of it


class Recipe(NamedTuple):
    """How a model is trained. labels: as of `Options`; if "after", the labels are left out."""

    settings: dict[str, Any]
    labels: str = "both"


EXACT, FIRST, THIRD, PLAIN, FULL = "exact 1st", "1st", "3rd", "full without tensor", "full"
BY_CLIMBING, BY_DUAL = "2nd by climbing", "2nd by dual decomposition"
MODELS = {
    EXACT: Recipe({}),
    FIRST: Recipe({"climb": True}),
    THIRD: Recipe({"search": "dual-third", "climb": True}),
    PLAIN: Recipe({"search": "full", "climb": True}),
    FULL: Recipe({"search": "full", "climb": True, "tensor": 50}),
    BY_CLIMBING: Recipe({"search": "dual-grandchild", "climb": True}, "joint"),
    BY_DUAL: Recipe({"search": "dual-grandchild"}, "joint"),
}


class Files(NamedTuple):
    """Of a treebank. dev: None if there is none."""

    train: Path
    dev: Path | None
    test: Path


class Measured(NamedTuple):
    """A treebank parsed on one thread. speed: words a second of CPU time. By word: its head, whether that is right, and with the
    label, too; whether it counts, and whether it counts where punctuation does not. By sentence: its words, the score of its tree in
    units of the weights, and whether that is proved best.
    """

    speed: float
    heads: NDArray[np.int32]
    right: NDArray[np.bool_]
    labelled: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    scored: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    scores: NDArray[np.float64]
    certified: NDArray[np.bool_]

    @property
    def short(self) -> NDArray[np.bool_]:
        """By word, whether its sentence has at most SHORT words."""
        return np.repeat(self.lengths <= SHORT, self.lengths)


def files_of(folder: Path) -> Files:
    """The files of a treebank, each the one whose name begins with `train`, `dev` or `test`; there need not be one `dev`."""
    found = {}
    for part in ("train", "dev", "test"):
        files = sorted(folder.glob(f"{part}*.conll*"))
        if len(files) != 1 and (files or part != "dev"):
            raise InputError(f"{len(files)} files {part}*.conll*", expected="one", file=str(folder))
        found[part] = files[0] if files else None
    train, dev, test = found.values()
    assert train is not None
    assert test is not None
    return Files(train, dev, test)


def training_treebanks(files: Files) -> tuple[TreebankLike, TreebankLike]:
    """What to train on, and the development treebank."""
    if files.dev is not None:
        return files.train, files.dev
    sentences = list(read_conllu(files.train))
    if len(sentences) < _TENTH:
        raise InputError(
            f"{len(sentences)} sentences, and no development file",
            expected=f"{_TENTH} or more, to hold out every tenth",
            file=str(files.train),
        )
    held_out = sentences[_TENTH - 1 :: _TENTH]
    del sentences[_TENTH - 1 :: _TENTH]
    return sentences, held_out


def trained(
    treebank: Path, name: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None,
    recipes: dict[str, Recipe] = MODELS, make_run: Callable[..., TrainingRun] = TrainingRun,
) -> Parser:  # fmt: skip
    """A model of the treebank in a folder, from the folder of models; if it is not there, it is trained and put there.

    Of a training that was stopped the epochs made are kept there, too, and it goes on after them (`arcwise.experiments.kept_models`).
    """
    file = models / f"{treebank.resolve().name}-{name.replace(' ', '-')}.arcwise"
    recipe = recipes[name]
    options = Options(
        gold_tags=True, labels=recipe.labels, epochs=epochs, settings=Settings(**recipe.settings)
    )
    return kept(
        file,
        {"name": name, "epochs": epochs},
        options,
        lambda: training_treebanks(files_of(treebank)),
        tell,
        make_run,
    )


def read_test(file: Path) -> list[Block]:
    """A test treebank."""
    with read_blocks(file, block_bytes=_BLOCK_BYTES) as reader:
        return list(reader)


def measure(parser: Parser, file: Path, tell: Tell = lambda share: None) -> Measured:
    """Parse a test treebank."""
    blocks = read_test(file)
    parser.parse_block(repeated(blocks[0], np.zeros(1, np.int64)))  # compiles what is timed
    unit, seconds = float(parser.model.arrays["scales"][1]), 0.0
    parts = []
    for done, block in enumerate(blocks):
        started = thread_time()
        trees = parser.parse_block(block)
        seconds += thread_time() - started
        names = np.array(trees.names, object)
        right = trees.heads == block.heads
        counted = block.heads >= 0
        parts.append(
            (
                trees.heads, right, right & (names[trees.labels] == block.column(DEPREL)), counted,
                counted & ~punctuation(block), np.diff(block.words), trees.scores / unit, trees.certified,
            )
        )  # fmt: skip
        tell((done + 1) / len(blocks))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Measured(len(columns[0]) / max(seconds, 1e-9), *columns)


def punctuation(block: Block) -> NDArray[np.bool_]:
    """By word, whether it is made of punctuation only, which eval.pl does not count."""
    return np.array([is_punctuation(form) for form in block.column(FORM)], np.bool_)


def percent(right: NDArray[np.bool_], among: NDArray[np.bool_] | None = None) -> float:
    """The share of those that are right, in percent; NaN of none.

    >>> percent(np.array([True, False, True]), np.array([False, True, True]))
    50.0
    """
    chosen = right if among is None else right[among]
    return 100 * float(chosen.mean()) if len(chosen) else float("nan")
