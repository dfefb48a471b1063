"""Models that experiments keep in files: each is trained once, and a training that was stopped goes on after its last epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

from arcwise.errors import ModelError
from arcwise.experiments.trained_models import Tell
from arcwise.kernels import compiled_kernels
from arcwise.pipeline.checkpoint import State, check_contents, check_state, load_state, save_state
from arcwise.pipeline.model import load_model, save_model
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import TreebankLike, read_training_data
from arcwise.pipeline.training_run import TrainingRun

_TREES = 0.9  # the share of a training, for the progress bar
_TIMES = "times"


def kept(
    file: Path, asked: dict[str, Any], options: Options, treebanks: Callable[[], tuple[TreebankLike, TreebankLike]],
    tell: Tell = lambda share: None, make_run: Callable[..., TrainingRun] = TrainingRun,
) -> Parser:  # fmt: skip
    """The model in a file; if it is not there, it is trained and put there.

    asked: facts that tell it from other models of experiments, with its epochs; a file of one with others is a ModelError.
    treebanks: gives those to train on and to choose the epoch by, if it comes to that. Beside the file the epochs made are kept until
    it is there. The facts of the model also say how many seconds of CPU time it took in all. Labels "after" are left out.
    """
    if file.exists():
        parser = Parser(load_model(file))
        made = parser.model.facts.get("experiment")
        if not isinstance(made, dict) or made | asked != made:
            raise ModelError(
                f"{file}: not a model of this experiment with {asked['epochs']} epochs: remove it, or take another folder"
            )
        return parser
    data = read_training_data(*treebanks(), options, Watcher())
    run = make_run(data, options, Follow(tell))
    checkpoint = Path(f"{file}.checkpoint")
    if checkpoint.exists():
        state = load_state(checkpoint)
        check_state(state, checkpoint, data.fingerprint)
        check_contents(state, checkpoint, run.check)
    else:
        state = _timed("pruner", run.begin)
        if state.history[0][_TIMES][0][2]:
            state = _timed("pruner", run.begin)  # again, now that it is compiled: it takes little time
    while state.stage == "trees" or (state.stage == "labels" and options.labels == "both"):
        state = _timed(state.stage, partial(run.next_epoch, state))
        save_state(state, checkpoint)
    times = state.history.pop(0)[_TIMES]
    model = run.model(state.best, state)
    model.facts["experiment"] = asked | {"seconds": seconds_of(times)}
    save_model(model, file)
    checkpoint.unlink(missing_ok=True)
    return Parser(model)


def _timed(stage: str, step: Callable[[], State]) -> State:
    """Make a step of a training; its time is kept in the history, first of all, so that a checkpoint has it."""
    compiled, started = compiled_kernels(), thread_time()
    state = step()
    if not state.history or _TIMES not in state.history[0]:
        state.history.insert(0, {_TIMES: []})
    state.history[0][_TIMES].append([stage, thread_time() - started, compiled_kernels() > compiled])
    return state


def seconds_of(times: Sequence[tuple[str, float, bool]]) -> float:
    """All seconds, by stage and whether something was compiled meanwhile: such an epoch counts as the median of the others.

    >>> seconds_of([("trees", 90.0, True), ("trees", 2.0, False), ("trees", 3.0, False), ("labels", 1.0, True)])
    8.5
    """
    total = 0.0
    for stage, seconds, compiled in times:
        others = [other for of, other, slow in times if of == stage and not slow]
        total += median(others) if compiled and others else seconds
    return total


def training_seconds(parser: Parser) -> float:
    """Of CPU time, in all."""
    return float(parser.model.facts["experiment"]["seconds"])


class Follow(Watcher):
    """Tells how far a training is."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def progress(self, progress: Progress) -> None:
        done = (progress.epoch - 1 + progress.share) / progress.epochs
        begin, size = {"trees": (0.0, _TREES), "labels": (_TREES, 1 - _TREES)}.get(progress.stage, (0.0, 0.0))
        self._tell(begin + size * min(done, 1.0))
