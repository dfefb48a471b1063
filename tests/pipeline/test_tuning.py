"""The walk through step sizes and penalties, and training runs that begin with it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import ArcwiseError
from arcwise.learning.trainers import OPTIMISERS, Choices, Trainer
from arcwise.pipeline import training
from arcwise.pipeline.model import Settings
from arcwise.pipeline.tuning import check_tunable, tune
from tests.pipeline.models import Recorder, quick
from tests.pipeline.test_training import InterruptedRunError, Killer, sentences

SGD = Choices("log-linear", "sgd", 0.5, 0.25)
Measure = Callable[[int, int], float]


class Trials:
    """A measure of places on the grid, counted from the start, that remembers where it was asked."""

    def __init__(self, measure: Measure, start: Choices = SGD) -> None:
        self.measure, self.start = measure, start
        self.asked: list[tuple[int, int]] = []

    def place(self, choices: Choices) -> tuple[int, int]:
        return (
            round(log(choices.rate / self.start.rate, 4)),
            round(log(choices.penalty / self.start.penalty, 4)),
        )

    def __call__(self, choices: Choices) -> float:
        assert (choices.learner, choices.optimiser) == (self.start.learner, self.start.optimiser)
        self.asked.append(self.place(choices))
        return self.measure(*self.asked[-1])

    def walk(self) -> tuple[int, int]:
        notes: list[str] = []
        found = self.place(tune(self, self.start, notes.append))
        assert len(self.asked) == len(set(self.asked)) <= 12
        assert self.asked[0] == (0, 0)
        assert found in self.asked
        assert len(notes) == len(self.asked) + 1
        assert notes[-1].startswith("tuning: chose rate ")
        return found


@pytest.mark.parametrize("peak", [(0, 0), (1, 0), (0, -1), (-2, 1), (2, 2), (3, -1)])
def test_a_peak_is_found(peak: tuple[int, int]) -> None:
    assert Trials(lambda rate, penalty: -abs(rate - peak[0]) - abs(penalty - peak[1])).walk() == peak


def test_a_plateau_is_not_left() -> None:
    trials = Trials(lambda rate, penalty: 70.0)
    assert trials.walk() == (0, 0)
    assert sorted(trials.asked[1:]) == [(-1, 0), (0, -1), (0, 1), (1, 0)]


def test_a_slope_without_end() -> None:
    trials = Trials(lambda rate, penalty: rate)
    assert trials.walk() == (11, 0)
    assert len(trials.asked) == 12


def test_a_ridge() -> None:
    """A narrow one along the diagonal holds the walk up; a broader one is climbed in turns."""
    assert Trials(lambda rate, penalty: rate - 3 * abs(rate - penalty)).walk() == (0, 0)
    rate, penalty = Trials(lambda rate, penalty: rate + penalty - 0.9 * (rate - penalty) ** 2).walk()
    assert min(rate, penalty) >= 2


@pytest.mark.parametrize("bad", [nan, -inf])
def test_measures_that_are_no_numbers_are_worst(bad: float) -> None:
    assert Trials(lambda rate, penalty: bad).walk() == (0, 0)
    assert Trials(lambda rate, penalty: rate if rate < 2 else bad).walk() == (1, 0)
    assert Trials(lambda rate, penalty: -abs(rate - 1) if rate > 0 else bad).walk() == (1, 0)


def exploding(rate: int, penalty: int) -> float:
    if rate > 0:
        raise ArcwiseError("the scores are no longer finite")
    return -abs(rate + 1)


def test_trials_that_fail_are_passed_by() -> None:
    assert Trials(exploding).walk() == (-1, 0)


def test_a_start_that_fails_is_told() -> None:
    with pytest.raises(ArcwiseError, match="no longer finite"):
        Trials(lambda rate, penalty: exploding(1, 0)).walk()


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_whatever_is_measured(random: Any) -> None:
    """At most 12 trials, the same twice, and nothing that was measured is better than what is chosen."""
    table = {(rate, penalty): random.randint(0, 5) for rate in range(-12, 13) for penalty in range(-12, 13)}
    first, second = (Trials(lambda rate, penalty: table[rate, penalty]) for _ in range(2))
    chosen = first.walk()
    assert second.walk() == chosen
    assert first.asked == second.asked
    assert table[chosen] == max(table[place] for place in first.asked)


# What there is to choose


@pytest.mark.parametrize(
    ("learner", "optimiser"),
    [(learner, optimiser) for learner, optimisers in OPTIMISERS.items() for optimiser in optimisers],
)
def test_only_what_a_learner_has_is_tried(learner: str, optimiser: str) -> None:
    start = Choices(learner, optimiser, 0.5, 0.25)
    if learner == "perceptron":
        with pytest.raises(ArcwiseError, match="perceptron has neither"):
            check_tunable(start, has_dev=True)
        return
    check_tunable(start, has_dev=True)
    with pytest.raises(ArcwiseError, match="--dev"):
        check_tunable(start, has_dev=False)
    trials = Trials(lambda rate, penalty: 0.0, start)
    tune(trials, start, lambda text: None)
    assert any(rate for rate, _ in trials.asked) == (optimiser not in ("lbfgs", "cg"))
    assert any(penalty for _, penalty in trials.asked) == (learner != "mira")


# Training runs

RUN: dict[str, Any] = {
    "learner": "log-linear", "optimiser": "sgd", "rate": 0.001, "penalty": 0.01, "tune": True, "epochs": 2, "label_epochs": 1,
    "settings": Settings(coarse_bits=8, arc_bits=12, label_bits=7),
}  # fmt: skip


def test_a_run_learns_with_what_was_chosen(tmp_path: Path) -> None:
    train, dev, recorder = sentences(30), sentences(8, seed=1), Recorder()
    tuned = quick(train, dev, tmp_path / "tuned", watcher=recorder, **RUN)
    tried = [note for note in recorder.notes if note.startswith("tuning: rate")]
    assert 3 <= len(tried) <= 12
    facts = tuned.model.facts
    chosen = f"rate {facts['rate']:g}, penalty {facts['penalty']:g}"
    assert recorder.notes[-1] == f"tuning: chose {chosen}"
    assert any(note.startswith(f"tuning: {chosen}: ") for note in tried)
    assert facts["rate"] > RUN["rate"], "steps far too short were kept"
    # The model is that of a run which is given these values.
    given = RUN | {"tune": False, "rate": facts["rate"], "penalty": facts["penalty"]}
    quick(train, dev, tmp_path / "given", **given)
    assert (tmp_path / "tuned").read_bytes() == (tmp_path / "given").read_bytes()


def test_a_resumed_run_does_not_tune_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, dev = sentences(30), sentences(8, seed=1)
    quick(train, dev, tmp_path / "unbroken", **RUN)

    class AfterOne(Killer):
        """Stops in the second epoch of the run itself, not of a trial."""

        def note(self, text: str) -> None:
            super().note(text)
            if text.startswith("tuning: chose"):
                self.at = ("trees", 2)

    with pytest.raises(InterruptedRunError):
        quick(train, dev, tmp_path / "model", watcher=AfterOne("nothing", 0), **RUN)

    def refuse(*_: Any) -> None:
        raise AssertionError("tuned again")

    monkeypatch.setattr(training, "tune", refuse)
    recorder = Recorder()
    quick(train, dev, tmp_path / "model", resume=True, watcher=recorder, **RUN)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "unbroken").read_bytes()
    assert not any("tuning" in note for note in recorder.notes)


def test_steps_that_explode_in_a_trial_do_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anything of that trial left."""
    train, dev, recorder = sentences(30), sentences(8, seed=1), Recorder()

    def refuse_long_steps(trainer: Trainer, value: float) -> None:
        if trainer.choices.rate > 0.01:
            raise ArcwiseError("no longer finite")

    monkeypatch.setattr(Trainer, "_must_be_finite", refuse_long_steps)
    tuned = quick(train, dev, tmp_path / "tuned", watcher=recorder, **RUN | {"rate": 0.01, "penalty": 0.01})
    assert "tuning: rate 0.04, penalty 0.01: no longer finite" in recorder.notes
    given = RUN | {"tune": False, "rate": 0.01, "penalty": tuned.model.facts["penalty"]}
    quick(train, dev, tmp_path / "given", **given)
    assert (tmp_path / "tuned").read_bytes() == (tmp_path / "given").read_bytes()


def test_what_cannot_be_tuned_is_refused_at_once(tmp_path: Path) -> None:
    recorder = Recorder()
    for options, dev, message in (
        ({"learner": "perceptron"}, sentences(2), "perceptron has neither"),
        ({"learner": "log-linear"}, None, "needs a development treebank"),
    ):
        with pytest.raises(ArcwiseError, match=message):
            quick(tmp_path / "none.conllu", dev, watcher=recorder, tune=True, **options)
    assert not recorder.steps
