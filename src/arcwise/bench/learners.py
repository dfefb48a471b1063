"""What `arcwise bench` measures of learners: an epoch of each beside one of the perceptron, of the same features and arcs."""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np

from arcwise.bench.row import Row
from arcwise.bench.timing import Say, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.learning.trainers import DEFAULTS, EG, ONLINE, Choices, make_trainer
from arcwise.pipeline.options import Options, Watcher
from arcwise.pipeline.training_data import read_training_data
from arcwise.pipeline.training_run import TrainingRun

_PEER = ("perceptron", ONLINE)
_LEARNERS = [
    ("mira", ONLINE), ("log-linear", "sgd"), ("log-linear", "adagrad"), ("log-linear", EG), ("max-margin", "sgd"),
    ("max-margin", EG),
]  # fmt: skip
_LIMIT = 2.0  # times the perceptron's time, of online steps on the dual or by stochastic gradients


def rows(treebank: BenchTreebank, rounds: int, say: Say = silent) -> list[Row]:
    """First order, arcs and labels together, gold tags: medians of the CPU time of `rounds` epochs, one of each learner in turn."""
    say("reading the treebank, and training the pruner")
    options = Options(gold_tags=True, labels="joint")
    data = read_training_data(treebank.train, None, options, Watcher())
    run = TrainingRun(data, options, Watcher())
    problem = run.problem(run.begin())
    everyone = np.arange(problem.sentences)

    trainers = {
        name: make_trainer(problem, Choices(*name, *DEFAULTS[name]), {}) for name in (_PEER, *_LEARNERS)
    }
    times: dict[tuple[str, str], list[float]] = {name: [] for name in trainers}
    for number in range(-1, rounds):  # the first compiles
        order = np.random.default_rng(number + 1).permutation(everyone[:50] if number < 0 else everyone)
        for name, trainer in trainers.items():
            say(f"{' by '.join(name)}, epoch {number + 1} of {rounds}")
            start = process_time()
            trainer.epoch(lambda order=order: iter([(order, 1.0)]))  # type: ignore[misc]
            if number >= 0:
                times[name].append(process_time() - start)
    peer = median(times[_PEER])
    return [_row(treebank.name, name, median(times[name]), peer) for name in _LEARNERS]


def _row(treebank: str, name: tuple[str, str], time: float, peer: float) -> Row:
    target = (
        () if name[1] == ONLINE else (f"at most {_LIMIT:g} times the perceptron's", time <= _LIMIT * peer)
    )
    return Row(f"an epoch of {' by '.join(name)}, {treebank}", time, "s", "perceptron", peer, *target)
