"""Training runs with every learner and every optimiser: what they learn, and that they can be repeated and continued."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from arcwise.errors import ArcwiseError
from arcwise.learning import trainers
from arcwise.learning.trainers import DEFAULTS, OPTIMISERS, Choices, Problem, make_trainer
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import LABEL_STAGES, Options
from tests.learning.slow_trees import CORPUS, all_arcs, space_of
from tests.pipeline.models import Recorder, quick
from tests.pipeline.test_training import InterruptedRunError, Killer, baseline, scores, sentences

WAYS = [(learner, optimiser) for learner, optimisers in OPTIMISERS.items() for optimiser in optimisers]
# With charts, those whose kernels other tests compile as well: that takes minutes.
CHARTS = [("mira", "online"), ("log-linear", "lbfgs")]
# The rate and the penalty of each that suit a small treebank.
SUITED = {
    ("log-linear", "sgd"): (0.02, 0.01),
    ("log-linear", "adagrad"): (0.05, 0.01),
    ("log-linear", "eg"): (0.1, 0.1),
    ("log-linear", "batch-eg"): (0.01, 0.1),
    ("log-linear", "lbfgs"): (1.0, 0.1),
    ("log-linear", "cg"): (1.0, 0.1),
    ("max-margin", "sgd"): (0.02, 0.01),
    ("max-margin", "adagrad"): (0.05, 0.01),
    ("max-margin", "eg"): (1.0, 1.0),
}
BATCH = ("lbfgs", "cg")  # an epoch of these is ten passes or more
BITS: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7, "part_bits": 12, "threshold": 9.0}
SPANNING = Settings(**BITS)
FEW: dict[str, Any] = {"epochs": 2, "label_epochs": 1, "settings": SPANNING}


def chart(search: str) -> Settings:
    return Settings(**BITS, search=search, pruning="projective")


def suited(learner: str, optimiser: str) -> dict[str, Any]:
    """The options that choose a way and what suits it."""
    rate, penalty = SUITED.get((learner, optimiser), (None, None))
    if optimiser in BATCH:  # which have no rate
        rate = None
    return {"learner": learner, "optimiser": optimiser, "rate": rate, "penalty": penalty}


def test_every_way_has_its_defaults() -> None:
    assert set(DEFAULTS) == set(WAYS)
    for learner, optimiser in WAYS:
        assert Options(learner, optimiser).choices == (learner, optimiser, *DEFAULTS[learner, optimiser])
        if (learner, optimiser) in SUITED and optimiser not in BATCH:
            assert Options(learner, optimiser, 0.5, 0.25).choices == (learner, optimiser, 0.5, 0.25)
    useless: list[tuple[str, dict[str, Any]]] = [
        ("penalty", {"learner": "mira"}),
        ("rate", {"learner": "perceptron"}),
        ("rate", {"learner": "log-linear", "optimiser": "cg"}),
    ]
    for name, way in useless:
        with pytest.raises(ArcwiseError, match=f"has no {name}"):
            Options(**(way | {name: 0.5}))
    for learner, optimisers in OPTIMISERS.items():
        assert Options(learner).choices.optimiser == optimisers[0]


def must_learn(learner: str, optimiser: str, settings: Settings) -> None:
    train, recorder = sentences(60), Recorder()
    epochs = 1 if optimiser in BATCH else 4
    parser = quick(
        train, None, watcher=recorder, settings=settings, epochs=epochs, **suited(learner, optimiser)
    )
    uas, las = scores(parser, train)
    assert uas > 0.75
    assert las > baseline(train, train) + (0.05 if optimiser == "batch-eg" else 0.4)
    errors = [step.error for step in recorder.steps if step.stage == "trees" and step.share == 1.0]
    assert errors[-1] < (0.99 if optimiser == "batch-eg" else 0.7) * errors[0] or errors[-1] < 0.02
    facts = parser.model.facts
    assert (facts["learner"], facts["optimiser"]) == (learner, optimiser)
    expected = SUITED.get((learner, optimiser), DEFAULTS[learner, optimiser])
    assert (facts["rate"], facts["penalty"]) == expected


@pytest.mark.parametrize(("learner", "optimiser"), WAYS)
def test_learning_all_trees(learner: str, optimiser: str) -> None:
    must_learn(learner, optimiser, SPANNING)


@pytest.mark.parametrize("search", ["eisner", "sibling"])
@pytest.mark.parametrize(("learner", "optimiser"), CHARTS)
def test_learning_projective_trees(learner: str, optimiser: str, search: str) -> None:
    must_learn(learner, optimiser, chart(search))


# The same bytes


def the_same_bytes(folder: Path, **options: Any) -> None:
    """Twice in a row, and when every epoch is interrupted."""
    train, dev = sentences(24), sentences(6, seed=1)
    for name in ("once", "twice"):
        quick(train, dev, folder / name, **options)
    unbroken = (folder / "once").read_bytes()
    assert (folder / "twice").read_bytes() == unbroken
    moments = [("trees", 1), ("trees", 2), *([("labels", 1)] if options["labels"] != "joint" else [])]
    for moment in moments:
        with pytest.raises(InterruptedRunError):
            quick(train, dev, folder / "broken", resume=True, watcher=Killer(*moment), **options)
    quick(train, dev, folder / "broken", resume=True, **options)
    assert (folder / "broken").read_bytes() == unbroken


@pytest.mark.parametrize("labels", LABEL_STAGES)
@pytest.mark.parametrize(("learner", "optimiser"), WAYS)
def test_the_same_bytes(tmp_path: Path, learner: str, optimiser: str, labels: str) -> None:
    the_same_bytes(tmp_path, learner=learner, optimiser=optimiser, labels=labels, **FEW)


@pytest.mark.parametrize(("learner", "optimiser"), [way for way in CHARTS if way[1] not in BATCH])
def test_the_same_bytes_by_a_chart(tmp_path: Path, learner: str, optimiser: str) -> None:
    the_same_bytes(
        tmp_path, learner=learner, optimiser=optimiser, labels="both", **FEW | {"settings": chart("sibling")}
    )


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "magic"}, "learner 'magic', expected one of mira, perceptron, log-linear, max-margin"),
        (
            {"learner": "max-margin", "optimiser": "lbfgs"},
            "max-margin by 'lbfgs', expected one of .*sgd.* eg$",
        ),
        ({"learner": "mira", "optimiser": "sgd"}, "mira by 'sgd', expected one of online"),
        (
            {"learner": "log-linear", "optimiser": "online"},
            "log-linear by 'online', expected one of .*sgd.* cg$",
        ),
        *(
            ({"learner": "log-linear", name: value}, f"{name} is {value!r}, expected a positive number")
            for name in ("rate", "penalty")
            for value in (0, 0.0, -1, math.nan, math.inf, "fast")
        ),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArcwiseError, match=message):
        quick(sentences(3), **FEW | options)


@pytest.mark.parametrize(
    ("learner", "optimiser", "rate"),
    [
        ("log-linear", "adagrad", 1e120),
        ("log-linear", "sgd", 1e50),
        ("log-linear", "sgd", 1e120),
        ("log-linear", "eg", 1e120),
        ("log-linear", "batch-eg", 1e120),
        ("max-margin", "adagrad", 1e120),
        ("max-margin", "sgd", 1e120),
        ("max-margin", "eg", 1e120),
    ],
)
def test_steps_that_explode(tmp_path: Path, learner: str, optimiser: str, rate: float) -> None:
    message = f"{learner} by {optimiser}: the scores are no longer finite: take smaller steps"
    with pytest.raises(ArcwiseError, match=message):
        quick(
            sentences(24), None, tmp_path / "model", learner=learner, optimiser=optimiser, rate=rate, penalty=1e-60,
            **FEW,
        )  # fmt: skip
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("optimiser", ["eg", "batch-eg"])
def test_dual_variables_that_do_not_fit(monkeypatch: pytest.MonkeyPatch, optimiser: str) -> None:
    """Refused before memory is taken for them."""
    state: dict[str, Any] = {}
    problem = Problem(CORPUS, all_arcs(), None, space_of("spanning-tree"), True)
    monkeypatch.setattr(trainers, "_MOST_DUALS", 4000)
    with pytest.raises(ArcwiseError, match=rf"{optimiser} keeps two numbers for each of \d+ parts.*--prune"):
        make_trainer(problem, Choices("log-linear", optimiser, 0.1, 0.1), state)
    assert not state
