"""Models that the experiments with dual decomposition share, kept in a folder: a treebank's, trained once; and what they reach.

With the treebank's own tags, by MIRA, arcs and labels together, all from the same pruner. The epoch kept is the one with the best UAS
on the development treebank.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from threading import Event
from time import thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import ModelError
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.tables import Rows
from arcwise.pipeline.model import Settings, load_model, save_model
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import read_training_data
from arcwise.pipeline.training_run import TrainingRun
from arcwise.treebank.reading import read_blocks

# The paper's names of its models, and what finds their trees.
MODELS = {"MST": "spanning-tree", "Sib": "dual-sibling", "G+S": "dual-grand-sibling"}
EPOCHS = 8

Tell = Callable[[float], None]  # is told how much is done, from 0 to 1


class Parsed(NamedTuple):
    """A treebank parsed. In percent: right heads (of those known) and sentences whose tree is proved best. seconds: of CPU time, a
    sentence. heads: of all words; starts: the first word of every sentence.
    """

    uas: float
    certified: float
    seconds: float
    heads: NDArray[np.int32]
    starts: NDArray[np.int64]


def trained(
    treebank: Path, search: str, models: Path, epochs: int = EPOCHS, tell: Tell = lambda share: None
) -> Parser:
    """The model of the treebank in a folder for a search, from the folder of models; if it is not there, it is trained and put there.

    Its facts say how many seconds of CPU time a sentence and epoch took in training: the median of the epochs, since the
    first one may have to compile.
    """
    file = models / f"{treebank.resolve().name}-{search}.arcwise"
    if file.exists():
        parser = Parser(load_model(file))
        made = (
            parser.model.settings.search,
            training_seconds(parser) > 0,
            parser.model.facts["training"][0]["epochs"],
        )
        if made != (search, True, epochs):
            raise ModelError(
                f"{file}: not a model of this experiment with {epochs} epochs: remove it, or take another folder"
            )
        return parser
    options = Options(gold_tags=True, labels="joint", epochs=epochs, settings=Settings(search=search))
    train, dev, _ = treebank_files(treebank)
    data = read_training_data(train, dev, options, Watcher())
    run = TrainingRun(data, options, _Follow(tell))
    state = run.begin()
    best, times = None, []
    for epoch in range(epochs):
        started = thread_time()
        state.epoch = epoch
        found, _ = run.tree_epoch(state)
        times.append(thread_time() - started)
        uas, las = run.accuracy(run.model(found, state))
        if uas > state.best_uas:
            best, state.best_epoch, state.best_uas, state.best_las = found, epoch + 1, uas, las
    assert best is not None
    seconds = float(np.median(times)) / (len(data.train.starts) - 1)
    state.history = [
        {
            "stage": "trees", "epochs": epochs, "best": state.best_epoch, "uas": state.best_uas, "las": state.best_las,
            "seconds": seconds,
        }
    ]  # fmt: skip
    model = run.model(best, state)
    save_model(model, file)
    return Parser(model)


def training_seconds(parser: Parser) -> float:
    """Of CPU time, a sentence and epoch; 0 if the model does not say so."""
    stages = parser.model.facts.get("training") or [{}]
    return float(stages[0].get("seconds", 0.0))


def parse(parser: Parser, file: Path, tell: Callable[[], None] = lambda: None) -> Parsed:
    """Parse a treebank on one thread. `tell` is called after every block."""
    heads, gold, certified, sizes, seconds = [], [], [], [], 0.0
    with read_blocks(file) as blocks:
        for block in blocks:
            started = thread_time()
            trees = parser.parse_block(block)
            seconds += thread_time() - started
            heads.append(trees.heads)
            gold.append(block.heads)
            certified.append(trees.certified)
            sizes.append(np.diff(block.words))
            tell()
    found, right = np.concatenate(heads), np.concatenate(gold)
    lengths = np.concatenate(sizes)
    return Parsed(
        100 * float((found == right)[right >= 0].mean()),
        100 * float(np.concatenate(certified).mean()),
        seconds / len(lengths),
        found,
        np.cumsum(lengths) - lengths,
    )


def growing_rows(
    treebanks: Collection[Path],
    names: Collection[str],
    columns: Collection[str],
    measure: Callable[[Path, str, Tell], dict[str, float]],
    jobs: int,
    tell: Tell,
) -> Iterator[Rows]:
    """The rows of all treebanks that are ready, by name in the order given, whenever one more is; as `growing`.

    measure: what gives the columns of one model on one treebank.
    """
    folders = {treebank.resolve().name: treebank for treebank in treebanks}

    def task(bank: str, name: str, tell: Tell) -> dict[str, float]:
        return measure(folders[bank], name, tell)

    return growing(dict.fromkeys(folders, 1.0), names, columns, task, jobs, tell)


def part_of(tell: Tell, at: int, parts: int) -> Tell:
    """Tells how much of one of so many equal parts is done.

    >>> part_of(print, 1, 4)(0.5)
    0.375
    """
    return lambda share: tell((at + share) / parts)


def growing(
    work: Mapping[str, float],
    names: Collection[str],
    columns: Collection[str],
    measure: Callable[[str, str, Tell], dict[str, float]],
    jobs: int,
    tell: Tell,
) -> Iterator[Rows]:
    """All rows that are ready, by name in the order given, whenever one more is.

    work: the names of the rows, and how much work each is, for the progress bar. measure: what gives the columns of one model in one
    row; each on one of so many threads. Where one fails or is interrupted, the others stop at the next chance.
    """
    tasks = list(product(work, names))
    rows: dict[str, dict[str, float]] = {row: {} for row in work}
    shares, stopped = dict.fromkeys(tasks, 0.0), Event()
    total = len(names) * sum(work.values())

    def run(key: tuple[str, str]) -> dict[str, float]:
        def tell_of_task(share: float) -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            shares[key] = share
            tell(sum(done * work[row] for (row, _), done in shares.items()) / total)

        found = measure(*key, tell_of_task)
        tell_of_task(1.0)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run, key): key for key in tasks}
        try:
            for future in as_completed(waiting):
                row = rows[waiting[future][0]]
                row |= future.result()
                if {*columns} == {*row}:
                    yield {
                        name: {column: row[column] for column in columns}
                        for name, row in rows.items()
                        if {*columns} == {*row}
                    }
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


class _Follow(Watcher):
    """Tells how far the epochs of the trees are."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def progress(self, progress: Progress) -> None:
        done = progress.epoch - 1 + progress.share if progress.stage == "trees" else 0.0
        self._tell(done / progress.epochs)
