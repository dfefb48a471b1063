"""Training: from a treebank to a model file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from arcwise.errors import InputError
from arcwise.pipeline.checkpoint import State, check_contents, check_state, load_state, save_state
from arcwise.pipeline.confidence import fit_temperatures
from arcwise.pipeline.model import save_model
from arcwise.pipeline.options import Options, Progress, Watcher, refuse_idle
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import TreebankLike, read_training_data
from arcwise.pipeline.training_run import TrainingRun
from arcwise.pipeline.tuning import TUNING_EPOCHS, check_tunable, tune
from arcwise.threads import heed, interruptible
from arcwise.treebank.writing import check_output


def train(
    train: TreebankLike,
    dev: TreebankLike | None = None,
    output: str | Path | None = None,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    resume: bool = False,
    jobs: int = 1,
    watcher: Watcher | None = None,
    **options: Any,
) -> Parser:
    """Train a parser on a treebank and save it; keeps the epoch with the best LAS on `dev`, the last one without.

    train, dev: a path, "-", an open file, or sentences. options: the fields of `arcwise.pipeline.options.Options`; one that nothing
    in the run would use is refused. While it runs, all that is needed to go on is kept beside `output` in a file whose name ends in
    `.checkpoint`; with `resume` a killed run goes on from there and gives the same model, byte for byte, as an unbroken one. jobs:
    threads for the taggers. The same seed gives the same bytes, whatever their number.
    """
    return interruptible(
        partial(_train, format=format, skip_bad=skip_bad, resume=resume, jobs=jobs, **options),
        train,
        dev,
        output,
        watcher,
    )


class _Heeding(Watcher):
    """A watcher that ends the run when its thread is told to stop."""

    def __init__(self, watcher: Watcher) -> None:
        self.note = watcher.note  # type: ignore[method-assign]
        self._told = watcher.progress

    def progress(self, progress: Progress) -> None:
        """A step forward."""
        heed()
        self._told(progress)


def _train(
    train: TreebankLike,
    dev: TreebankLike | None,
    output: str | Path | None,
    watcher: Watcher | None,
    *,
    format: str | None,
    skip_bad: bool,
    resume: bool,
    jobs: int,
    **options: Any,
) -> Parser:
    try:
        chosen = Options(**options)
    except TypeError as error:
        raise InputError(f"train: {error}") from None
    refuse_idle(chosen, options, dev is not None)
    if output is not None and not Path(output).parent.is_dir():
        raise InputError("no such folder", file=str(Path(output).parent))
    if output is not None and Path(output).is_dir():
        raise InputError("a folder", expected="a file for the model", file=str(output))
    if chosen.tune:
        check_tunable(chosen.choices, dev is not None)
    watcher = _Heeding(watcher or Watcher())
    checkpoint = None if output is None else Path(f"{output}.checkpoint")
    if output is not None and checkpoint is not None:
        check_output(output)
        check_output(checkpoint)
    resumed = None
    if resume and checkpoint is not None and checkpoint.exists():
        resumed = load_state(checkpoint)
    elif resume:
        watcher.note("no checkpoint to go on from: starting anew")

    def check_fingerprint(fingerprint: str) -> None:
        if resumed is not None and checkpoint is not None:
            check_state(resumed, checkpoint, fingerprint)
            watcher.note(_where(resumed))

    data = read_training_data(
        train, dev, chosen, watcher, format=format, skip_bad=skip_bad, jobs=jobs, check_fingerprint=check_fingerprint
    )  # fmt: skip
    run = TrainingRun(data, chosen, watcher)
    if resumed is not None and checkpoint is not None:
        check_contents(resumed, checkpoint, run.check)
    state = run.begin() if resumed is None else resumed
    if chosen.tune and state.tuned is None:
        found = tune(lambda choices: run.try_out(state, choices, TUNING_EPOCHS), run.choices, watcher.note)
        state.tuned = [found.rate, found.penalty]
        if checkpoint is not None:
            save_state(state, checkpoint)
    if state.tuned is not None:
        run.choices = run.choices._replace(rate=state.tuned[0], penalty=state.tuned[1])
    while state.stage != "done":
        state = run.next_epoch(state)
        if checkpoint is not None:
            save_state(state, checkpoint)
    model = run.model(state.best, state)
    if data.dev is not None:
        model = fit_temperatures(model, data.dev)
    if output is not None:
        save_model(model, output)
        Path(f"{output}.checkpoint").unlink(missing_ok=True)
    return Parser(model)


def _where(state: State) -> str:
    """Where a run goes on, for people."""
    if state.stage == "done":
        return "going on after the last epoch"
    if state.epoch == 0:
        return f"going on before the first epoch of the {state.stage}"
    return f"going on after epoch {state.epoch} of the {state.stage}"
