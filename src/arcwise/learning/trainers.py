"""Every way of learning, behind one interface: a trainer makes an epoch of steps, and has weights and a state.

| learner    | asks the oracle for          | optimisers                              |
|------------|------------------------------|-----------------------------------------|
| perceptron | the best tree                | online                                  |
| mira       | the best tree with its costs | online                                  |
| max-margin | the best tree with its costs | sgd, adagrad                            |
|            | expected features            | eg                                      |
| log-linear | expected features            | sgd, adagrad, eg, batch-eg, lbfgs, cg   |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, Format, checked, zeros
from arcwise.errors import ArcwiseError, InputError
from arcwise.features.moves import Move
from arcwise.features.tensor import compile_words
from arcwise.features.tokens import longest_sentence
from arcwise.learning.climbing import climbing_epoch
from arcwise.learning.corpus import Corpus
from arcwise.learning.exponentiated import (
    BETA,
    LOG_LINEAR,
    MAX_MARGIN,
    Duals,
    begin_duals,
    dual_sizes,
    exponentiated_epoch,
)
from arcwise.learning.gradients import gradient_epoch
from arcwise.learning.online import LEARNERS, Training, automata_epoch, average, online_epoch
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.shrinking import shrink
from arcwise.learning.space import Search, Space, labels_learned, space_size
from arcwise.learning.tensor import (
    TensorChoices,
    TensorTraining,
    make_tensor_training,
    mean_tensor,
    tensor_format,
)
from arcwise.learning.tensor_start import begin_state
from arcwise.search.climbing import Climbing

ONLINE, EG, BATCH_EG = "online", "eg", "batch-eg"
OPTIMISERS = {
    "mira": (ONLINE,),
    "perceptron": (ONLINE,),
    "log-linear": ("sgd", "adagrad", EG, BATCH_EG, "lbfgs", "cg"),
    "max-margin": ("sgd", "adagrad", EG),
}
# The rate and the penalty, if none are chosen: found on development treebanks.
DEFAULTS = {
    ("mira", ONLINE): (LEARNERS["mira"].limit, 0.0),
    ("perceptron", ONLINE): (1.0, 0.0),
    ("log-linear", "sgd"): (0.02, 2.0),
    ("log-linear", "adagrad"): (0.05, 2.0),
    ("log-linear", EG): (0.3, 10.0),
    ("log-linear", BATCH_EG): (0.05, 10.0),
    ("log-linear", "lbfgs"): (1.0, 2.0),
    ("log-linear", "cg"): (1.0, 2.0),
    ("max-margin", "sgd"): (0.02, 5.0),
    ("max-margin", "adagrad"): (0.05, 5.0),
    ("max-margin", EG): (1.0, 100.0),
}
DUAL_RATE = 0.003  # of MIRA with head automata
# What of it a learner or an optimiser has no use for.
USELESS = {"rate": ("perceptron", "lbfgs", "cg"), "penalty": ("perceptron", "mira")}
_OBJECTIVES = {"log-linear": LOG_LINEAR, "max-margin": MAX_MARGIN}
_NEGLIGIBLE = 1e-3  # a part whose own gradient is smaller is not worth its cost in random steps
_UNCOUNTED = 1e-4  # a change of a part's probability that exponentiated gradient may count later
_SHRINK = 0.1  # of an epoch: after so much the penalty's steps are made, for all weights at once
_MOST_DUALS = 1 << 31  # bytes
MOST_STEPS, GREATEST = 1 << 53, 1e12  # of what a checkpoint says; numbers beyond are of no learner

Parts = Callable[[], Iterator[tuple[NDArray[np.int64], float]]]


class Problem(NamedTuple):
    """What is learned from, and does not change. search: None for spanning trees of arcs alone.

    steps: of dual decomposition for a sentence, for learners over head automata. climbing: how trees are found by hill climbing, if
    they are.
    """

    corpus: Corpus
    pruned: PrunedCorpus
    search: Search | None
    space: Space
    single_root: bool
    steps: int = 0
    climbing: Climbing | None = None

    @property
    def loopy(self) -> bool | None:
        """True if sums are found by belief propagation, else None."""
        return True if self.search is not None and self.search.loopy else None

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.corpus.starts) - 1

    @property
    def words(self) -> int:
        """How many there are, in all sentences."""
        return len(self.corpus.heads) - self.sentences


class Choices(NamedTuple):
    """What is chosen about a learner. rate: how far a step goes. penalty: C, the weight of |w|^2 / 2 beside the sentences' losses."""

    learner: str
    optimiser: str
    rate: float
    penalty: float


class Trainer(ABC):
    """Learns in epochs. state: all that it needs to go on, by name; empty to begin. tell: is told the share done of an epoch and the
    share of words that were wrong so far.
    """

    def __init__(self, problem: Problem, choices: Choices, state: Arrays) -> None:
        self.problem, self.choices, self.state = problem, choices, state
        self.tell: Callable[[float, float], None] = lambda share, error: None

    @abstractmethod
    def epoch(self, parts: Parts) -> float:
        """Make an epoch of steps; returns the share of words that were wrong.

        parts: gives the sentences in the order of this epoch, in parts, each with the share of all words done after it.
        """

    @abstractmethod
    def weights(self) -> NDArray[np.float32]:
        """The weights learned so far."""

    def _by_feature(self, kind: Any = np.float32, least: float = -GREATEST) -> Array:
        """A number for every feature."""
        return Array(kind, (space_size(self.problem.space),), least=least, most=GREATEST)

    def _error(self, wrong: int, share: float) -> float:
        error = wrong / (share * self.problem.words)
        self.tell(share, error)
        return error

    def _must_be_finite(self, value: float) -> None:
        if not np.isfinite(value):
            advice = [
                f"take smaller steps (--rate, now {self.choices.rate:g})",
                f"penalise large weights more (--penalty, now {self.choices.penalty:g})",
            ]
            if {self.choices.learner, self.choices.optimiser} & {*USELESS["rate"]}:
                del advice[0]
            raise ArcwiseError(
                f"{self.choices.learner} by {self.choices.optimiser}: the scores are no longer finite: {' or '.join(advice)}"
            )

    def tensor(self) -> dict[str, NDArray[np.float32]]:
        """U, V and W of the low-rank tensor, by name, as `pack_tensor` takes them; empty if there is none."""
        return {}

    def facts(self) -> dict[str, float]:
        """What is worth telling of the end of a run."""
        return {}


class Online(Trainer):
    """The averaged perceptron and MIRA: steps from the tree found to the right one. rate: the longest step of MIRA."""

    def __init__(
        self, problem: Problem, choices: Choices, state: Arrays, tensor: TensorChoices | None = None
    ) -> None:
        super().__init__(problem, choices, state)
        format = {
            "weights": self._by_feature(),
            "moves": self._by_feature(np.float64),
            "step": Array(np.int64, (1,), least=0, most=MOST_STEPS),
        }
        if tensor is not None:
            format |= tensor_format(tensor.bits, tensor.rank)
        new = make_room(self.state, format)
        self._tensor: TensorTraining | None = None
        if tensor is not None:
            corpus, pruned, _, space, single_root, _, _ = problem
            if new:
                state |= begin_state(tensor, corpus, pruned, space, single_root)
            longest = longest_sentence(corpus.starts)
            self._tensor = make_tensor_training(compile_words(tensor.words), tensor.share, state, longest)

    def epoch(self, parts: Parts) -> float:
        corpus, pruned, search, space, single_root, steps, climbing = self.problem
        learner = LEARNERS[self.choices.learner]
        if learner.limit > 0:
            learner = learner._replace(limit=self.choices.rate)
        weights, step = self.state["weights"], self.state["step"]
        training = Training(weights, self.state["moves"], np.zeros(len(weights), np.int16), self._tensor)
        wrong, error = 0, 0.0
        for part, share in parts():
            if search is not None and climbing is not None:
                heads, labels = climbing_epoch(
                    corpus,
                    pruned,
                    part,
                    search,
                    climbing,
                    space,
                    single_root,
                    learner,
                    int(step[0]),
                    training,
                )
            elif search is not None and search.crossing:
                heads, labels = automata_epoch(
                    corpus, pruned, part, search, steps, space, single_root, learner, int(step[0]), training
                )
            else:
                heads, labels = online_epoch(
                    corpus, pruned, part, search, space, single_root, learner, int(step[0]), training
                )
            wrong += heads + labels
            step += len(part)
            error = self._error(wrong, share)
        return error

    def weights(self) -> NDArray[np.float32]:
        return average(self.state["weights"], self.state["moves"], int(self.state["step"][0]))

    def tensor(self) -> dict[str, NDArray[np.float32]]:
        return {} if self._tensor is None else mean_tensor(self._tensor, int(self.state["step"][0]))


class Descent(Trainer):
    """Stochastic (sub)gradient descent, with AdaGrad's steps or plain ones that shrink with the square root of the epochs.

    Ten times an epoch all weights shrink by what the penalty of the sentences since then demands; the weights given are the mean of
    those after each time, from the second epoch on.
    """

    def __init__(self, problem: Problem, choices: Choices, state: Arrays) -> None:
        super().__init__(problem, choices, state)
        squares = {"squares": self._by_feature(least=0)} if choices.optimiser == "adagrad" else {}
        counts = Array(np.int64, (2,), least=0, most=MOST_STEPS)  # epochs, and weights in the mean
        format = {"weights": self._by_feature(), "mean": self._by_feature(), "counts": counts}
        make_room(self.state, format | squares)

    def epoch(self, parts: Parts) -> float:
        corpus, pruned, search, space, single_root, _, _ = self.problem
        state, counts = self.state, self.state["counts"]
        squares, rate = state.get("squares", np.empty(0, np.float32)), self.choices.rate
        if not len(squares):
            rate /= np.sqrt(counts[0] + 1)
        move = Move(state["weights"], squares, rate, _NEGLIGIBLE)
        if counts[0] <= 1:
            state["mean"][:] = counts[1] = 0
        wrong, error, waiting = 0, 0.0, 0.0
        for part, share in parts():
            loss, errors = gradient_epoch(
                corpus, pruned, part, search, self.problem.loopy, space, single_root,
                None if self.choices.learner == "log-linear" else MAX_MARGIN.cost, state["weights"], move,
            )  # fmt: skip
            self._must_be_finite(loss)
            wrong += errors
            waiting += len(part) / self.problem.sentences
            if waiting >= _SHRINK or share == 1.0:
                counts[1] += 1
                shrink(move, self.choices.penalty * waiting, state["mean"], int(counts[1]))
                waiting = 0.0
            error = self._error(wrong, share)
        counts[0] += 1
        return error

    def weights(self) -> NDArray[np.float32]:
        return self.state["mean"]


class Exponentiated(Trainer):
    """Exponentiated gradient on the dual. The rate is halved after every epoch in which the dual objective got worse."""

    def __init__(self, problem: Problem, choices: Choices, state: Arrays) -> None:
        super().__init__(problem, choices, state)
        corpus, pruned, search, space, _, _, _ = problem
        unknown = corpus.heads if not labels_learned(space) else np.minimum(corpus.heads, corpus.labels)
        if np.count_nonzero(unknown == -1) > problem.sentences:
            raise InputError(
                f"{choices.optimiser} needs whole trees, and some heads or labels are not known: take sgd, adagrad or lbfgs"
            )
        self._starts = dual_sizes(corpus, pruned, search, space)
        size = int(self._starts[-1])
        if 8 * size > _MOST_DUALS:
            raise InputError(
                f"{choices.optimiser} keeps two numbers for each of {size} parts, {8 * size / 1e9:.1f} GB: "
                "prune more (--prune), take fewer parts (--order), or another optimiser"
            )
        by_part = Array(np.float32, (size,), least=-GREATEST, most=GREATEST)
        format = {"weights": self._by_feature(), "theta": by_part, "counted": by_part}
        if make_room(self.state, format | {"rate": Array(np.float64, (2,), least=-GREATEST, most=GREATEST)}):
            begin_duals(corpus, pruned, search, space, BETA, self._duals())
            state["rate"] = np.array(
                [choices.rate, np.nan]
            )  # and the dual objective, once the weights fit theta

    def _duals(self) -> Duals:
        return Duals(self._starts, self.state["theta"], self.state["counted"])

    def epoch(self, parts: Parts) -> float:
        corpus, pruned, search, space, single_root, _, _ = self.problem
        rate, weights = self.state["rate"], self.state["weights"]
        target = weights.copy() if self.choices.optimiser == BATCH_EG else weights
        move = Move(target, np.empty(0, np.float32), 1.0 / self.choices.penalty, _UNCOUNTED)
        value, wrong, error = 0.0, 0, 0.0

        def steps(part: NDArray[np.int64], length: float) -> tuple[float, int]:
            return exponentiated_epoch(
                corpus, pruned, part, search, space, single_root, _OBJECTIVES[self.choices.learner], self._duals(),
                length, weights, move,
            )  # fmt: skip

        if np.isnan(rate[1]):
            value, _ = steps(np.arange(self.problem.sentences), 0.0)
            weights[:] = target
            rate[1], value = value + self._norm(), 0.0
        for part, share in parts():
            of_part, errors = steps(part, float(rate[0]))
            self._must_be_finite(of_part)
            value += of_part
            wrong += errors
            error = self._error(wrong, share)
        weights[:] = target
        value += self._norm()
        if value > rate[1]:
            rate[0] /= 2
        rate[1] = value
        return error

    def _norm(self) -> float:
        weights = self.state["weights"]
        return self.choices.penalty / 2 * float(np.einsum("i,i->", weights, weights, dtype=np.float64))

    def weights(self) -> NDArray[np.float32]:
        return self.state["weights"]


def make_room(state: Arrays, format: Format) -> bool:
    """Put zeros into an empty state, and return whether it was empty. What a checkpoint has is looked at: InputError, if it is not as
    described.
    """
    if state:
        checked(state, format)
        return False
    state |= {name: zeros(array) for name, array in format.items()}
    return True


def check_tensor(choices: Choices) -> None:
    """InputError if a learner knows no low-rank tensor."""
    if choices.learner != "mira":
        raise InputError(f"{choices.learner} with a low-rank tensor, which only mira can learn")


def check_oracle(choices: Choices, loopy: bool, dual: bool, climb: bool = False) -> None:
    """InputError if a learner needs what belief propagation, dual decomposition or hill climbing does not have."""
    if climb and choices.optimiser != ONLINE:
        raise InputError(
            f"{choices.learner} by {choices.optimiser} asks for sums or gradients, and hill climbing finds single trees: take mira "
            "or perceptron"
        )
    if dual and choices.optimiser != ONLINE:
        raise InputError(
            f"{choices.learner} by {choices.optimiser} asks for sums or gradients, and head automata answer with their best "
            "modifiers only: take mira or perceptron, log-linear with --order 2, or --projective"
        )
    if loopy and (choices.learner != "log-linear" or choices.optimiser in (EG, BATCH_EG)):
        asked = "exact sums" if choices.learner == "log-linear" else "the best tree"
        raise InputError(
            f"{choices.learner} by {choices.optimiser} asks for {asked}, and belief propagation has approximate sums only: "
            "take log-linear by adagrad, sgd, lbfgs or cg, or --projective"
        )


def make_trainer(
    problem: Problem, choices: Choices, state: Arrays, tensor: TensorChoices | None = None
) -> Trainer:
    """The trainer for a learner and its optimiser. tensor: for those of `check_tensor` only."""
    if choices.optimiser == ONLINE:
        return Online(problem, choices, state, tensor)
    if choices.optimiser in (EG, BATCH_EG):
        return Exponentiated(problem, choices, state)
    if choices.optimiser in ("lbfgs", "cg"):
        from arcwise.learning.batch import Batch  # SciPy is slow to load

        return Batch(problem, choices, state)
    return Descent(problem, choices, state)
