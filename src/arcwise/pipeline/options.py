"""What can be chosen in a training run, and what it tells while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import inf
from operator import index
from pathlib import Path

from arcwise.clusters.lookup import CUTS
from arcwise.errors import ArcwiseError, InputError
from arcwise.features.attributes import EVERY
from arcwise.learning.tensor import STARTS, TensorChoices
from arcwise.learning.trainers import (
    DEFAULTS,
    DUAL_RATE,
    OPTIMISERS,
    USELESS,
    Choices,
    check_oracle,
    check_tensor,
)
from arcwise.pipeline.model import BELIEFS, FULL, Settings
from arcwise.search.climbing import TRAINING_RESTARTS

LABEL_STAGES = ("both", "joint", "after")
AUTO = "auto"


@dataclass(frozen=True)
class Options:
    """How to train.

    labels: "joint", with the arcs in one search; "after", of the tree found; "both", their scores added. epochs: at most so many for
    the trees, then `label_epochs` for the labels of known trees. patience: stop after so many epochs without a better LAS on the
    development set. single_root: None sees whether the treebank has sentences with several roots. gold_tags: learn
    from the treebank's own tags, and do not learn to tag. optimiser, rate, penalty: as in `arcwise.learning.trainers`, None for its
    defaults; tune: choose rate and penalty on the development set. steps: of dual decomposition for a sentence in training, if that
    is the search; 0 learns from the modifiers that each word takes on its own. restarts: of hill climbing for a sentence in
    training. shape: of the trees that the model finds (`arcwise.trees.shapes`), AUTO for the smallest class that 99% of the training
    trees belong to, None for that of the settings; training itself looks at all trees, which is as accurate (Corro et al., 2016,
    Section 7.3). gamma, tensor_start: of the low-rank tensor that the settings may have (`arcwise.learning.tensor`). clusters: a file
    of word clusters (`docs/clusters.md`), None for none; the templates that see them are added to the settings unless some are there.
    cluster_cut: how bit strings are shortened, one of CUTS. frequent: how many forms templates see beside clusters. words: how many
    forms, and how many lemmas, the parser knows, those that come most often in the treebank; to all others it is blind.
    """

    learner: str = "mira"
    optimiser: str | None = None
    rate: float | None = None
    penalty: float | None = None
    labels: str = "both"
    epochs: int = 12
    label_epochs: int = 6
    patience: int = 3
    seed: int = 0
    single_root: bool | None = None
    gold_tags: bool = False
    tune: bool = False
    steps: int = 100
    restarts: int = TRAINING_RESTARTS
    shape: str | None = None
    gamma: float = 0.7
    tensor_start: str = STARTS[0]
    clusters: str | Path | None = None
    cluster_cut: str = CUTS[0]
    frequent: int = 800
    words: int = EVERY
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        if self.shape == AUTO and self.settings.search == BELIEFS:
            raise InputError(f"shape {AUTO} with {BELIEFS}, which finds all trees")
        if self.shape not in (None, AUTO):
            object.__setattr__(self, "settings", replace(self.settings, shape=self.shape))
        if self.clusters is None and self.settings.clusters:
            raise InputError("templates that see word clusters, and no clusters: give a file of them")
        if self.clusters is not None:
            object.__setattr__(self, "clusters", str(self.clusters))
            if not self.settings.clusters:
                object.__setattr__(self, "settings", self.settings.with_clusters())
        if self.cluster_cut not in CUTS:
            raise InputError(f"cluster_cut {self.cluster_cut!r}, expected one of {', '.join(CUTS)}")
        if self.learner not in OPTIMISERS:
            raise InputError(f"learner {self.learner!r}, expected one of {', '.join(OPTIMISERS)}")
        if self.optimiser not in (None, *OPTIMISERS[self.learner]):
            raise InputError(
                f"{self.learner} by {self.optimiser!r}, expected one of {', '.join(OPTIMISERS[self.learner])}"
            )
        for name, value in (("rate", self.rate), ("penalty", self.penalty)):
            if value is not None and not (isinstance(value, int | float) and 0 < value < inf):
                raise InputError(f"{name} is {value!r}, expected a positive number")
            if value is not None and {self.learner, self.choices.optimiser} & {*USELESS[name]}:
                raise InputError(f"{self.learner} by {self.choices.optimiser} has no {name}")
        if self.labels not in LABEL_STAGES:
            raise InputError(f"labels {self.labels!r}, expected one of {', '.join(LABEL_STAGES)}")
        for name in ("epochs", "label_epochs", "patience", "seed", "steps", "restarts", "frequent", "words"):
            try:
                object.__setattr__(self, name, index(getattr(self, name)))
            except TypeError:
                raise InputError(f"{name} is {getattr(self, name)!r}, expected a whole number") from None
        if min(self.epochs, self.label_epochs, self.patience, self.restarts) < 1:
            raise InputError("epochs, label_epochs, patience and restarts must be at least 1")
        for name in ("seed", "steps", "frequent", "words"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} {getattr(self, name)}, expected 0 or more")

        if not (isinstance(self.gamma, float) and 0 < self.gamma < 1):
            raise InputError(f"gamma is {self.gamma!r}, expected a number between 0 and 1")
        if self.tensor_start not in STARTS:
            raise InputError(f"tensor_start {self.tensor_start!r}, expected one of {', '.join(STARTS)}")
        if self.settings.tensor:
            check_tensor(self.choices)
        check_oracle(self.choices, self.settings.search == BELIEFS, self.settings.dual, self.settings.climb)
        if self.optimiser in ("lbfgs", "cg") and find_spec("scipy") is None:
            raise ArcwiseError(f"{self.optimiser} needs SciPy: pip install 'arcwise[batch]', or take sgd")

    @property
    def tensor(self) -> TensorChoices | None:
        """Of the low-rank tensor, if there is one."""
        settings = self.settings
        if settings.tensor == 0:
            return None
        return TensorChoices(
            settings.tensor, settings.tensor_bits, settings.tensor_words, self.gamma, self.tensor_start
        )

    @property
    def choices(self) -> Choices:
        """Learner, optimiser, rate and penalty, as given or by default."""
        optimiser = self.optimiser or OPTIMISERS[self.learner][0]
        rate, penalty = DEFAULTS[self.learner, optimiser]
        higher = self.settings.dual or self.settings.search == FULL
        if higher and self.settings.tags and self.learner == "mira":  # without tags parts have few features
            rate = DUAL_RATE
        return Choices(self.learner, optimiser, self.rate or rate, self.penalty or penalty)


# What each option is for; without it, the option would do nothing.
_NEEDS: dict[str, tuple[str, Callable[[Options], bool]]] = {
    "steps": (
        "dual decomposition in training",
        lambda options: options.settings.dual and not options.settings.climb,
    ),
    "restarts": ("hill climbing", lambda options: options.settings.climb or options.settings.search == FULL),
    "label_epochs": ("labels learned after the trees", lambda options: options.labels != "joint"),
    "gamma": ("a tensor", lambda options: options.settings.tensor > 0),
    "tensor_start": ("a tensor", lambda options: options.settings.tensor > 0),
    "cluster_cut": ("clusters", lambda options: options.clusters is not None),
    "frequent": ("clusters", lambda options: options.clusters is not None),
}


def refuse_idle(options: Options, given: Iterable[str], has_dev: bool) -> None:
    """InputError for the first of the options given by name that nothing in the run would use.

    >>> refuse_idle(Options(labels="joint", label_epochs=3), ["label_epochs"], True)
    Traceback (most recent call last):
    arcwise.errors.InputError: label_epochs without labels learned after the trees
    """
    for name in given:
        what, is_used = _NEEDS.get(name, ("", lambda options: True))
        if not is_used(options):
            raise InputError(f"{name} without {what}")
        if name == "patience" and not has_dev:
            raise InputError("patience without a development treebank")


@dataclass(frozen=True)
class Progress:
    """Where a training run is.

    share: how much of the epoch is done, 0 to 1. error: in this epoch so far the share of words with a wrong head, label or tag (for
    the pruner: the loss a word). epoch, epochs: for the stage "tags", of the taggers, one for each tenth of the data and one for all.
    uas, las: on the development set after an epoch, in percent. best: whether it is the best so far.
    """

    stage: str
    epoch: int
    epochs: int
    share: float
    error: float
    uas: float | None = None
    las: float | None = None
    best: bool = False


class Watcher:
    """Is told what happens in a training run; this one keeps silent."""

    def note(self, text: str) -> None:
        """Something that the user should know."""

    def progress(self, progress: Progress) -> None:
        """A step forward."""


Note = Callable[[str], None]
