"""Learning a low-rank tensor: scores, gradients and steps against the formula, and its start against a dense decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arcwise.errors import ArcwiseError
from arcwise.features.arcs import distance_code
from arcwise.features.tensor import DISTANCES, WORDS, compile_words, most_rows, word_rows
from arcwise.features.tokens import longest_sentence
from arcwise.learning.online import LEARNERS, Training, add_costs, begin_lesson, end_lesson, online_epoch
from arcwise.learning.oracles import best_tree
from arcwise.learning.space import Search, make_scratch
from arcwise.learning.tensor import PARTS, TensorChoices, make_tensor_training, mean_tensor
from arcwise.learning.tensor_start import Mistakes, Words, _all_words, begin_state, decompose, find_mistakes
from arcwise.learning.trainers import Choices, Problem, check_tensor, make_trainer
from tests.learning.slow_trees import CORPUS, all_arcs, make_training, search_of, space_of

BITS, RANK, SHARE = 8, 3, 0.7
SIDES = compile_words()
MIRA = LEARNERS["mira"]._replace(limit=np.inf)


def random_state(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    shapes = ((1 << BITS, RANK), (1 << BITS, RANK), (DISTANCES, RANK))
    state: dict[str, np.ndarray] = {}
    for name, shape in zip(PARTS, shapes, strict=True):
        state[f"tensor_{name}"] = random.normal(0, 0.3, shape).astype(np.float32)
        state[f"tensor_moved_{name}"] = np.zeros(shape, np.float32)
    return state


def training_with(state: dict[str, np.ndarray], search: str) -> Training:
    tensor = make_tensor_training(SIDES, SHARE, state, longest_sentence(CORPUS.starts))
    return make_training(space_of(search))._replace(tensor=tensor)


def tables_of(state: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [state[f"tensor_{name}"].astype(np.float64) for name in PARTS]


def phi(s: int) -> np.ndarray:
    numbers = CORPUS.numbers[CORPUS.starts[s] : CORPUS.starts[s + 1]]
    counts, rows = np.zeros((len(numbers), 1 << BITS)), np.empty(most_rows(SIDES), np.uint32)
    for word in range(len(numbers)):
        np.add.at(counts[word], rows[: word_rows(numbers, word, SIDES, BITS, rows)], 1)
    return counts


def arc_score(tables: list[np.ndarray], words: np.ndarray, h: int, m: int) -> float:
    heads, modifiers, distances = tables
    both = distances[0] + distances[distance_code(h, m)]
    return SHARE * float(np.sum((words[h] @ heads) * (words[m] @ modifiers) * both))


def one_lesson(training: Training, s: int, search: Search | None, name: str) -> Any:
    """What was found and what is right, and the step made."""
    space = space_of(name)
    scratch = make_scratch(space, longest_sentence(CORPUS.starts))
    lesson, whole = begin_lesson(CORPUS, all_arcs(), s, search, space, training, scratch)
    assert whole
    add_costs(CORPUS, s, search, MIRA, False, lesson)
    best_tree(search, lesson.graph, lesson.levels, lesson.tables, True, lesson.up)
    lesson.found[:] = False
    lesson.found[lesson.up[1:]] = True
    end_lesson(CORPUS, s, search, space, MIRA, 5, training, scratch, lesson, None)
    return lesson


@pytest.mark.parametrize("name", ["spanning-tree", "eisner", "model1"])
def test_a_step_is_the_passive_aggressive_one(name: str) -> None:
    moved = 0
    for s in range(len(CORPUS.starts) - 1):
        state = random_state(s)
        before, training, words = tables_of(state), training_with(state, name), phi(s)
        lesson = one_lesson(training, s, search_of(name), name)
        arcs = list(zip(lesson.graph.head.tolist(), lesson.graph.modifier.tolist(), strict=True))
        for b, (h, m) in enumerate(arcs):
            if b > 0:
                assert lesson.own[b] == pytest.approx(arc_score(before, words, h, m), abs=1e-4)
        signs = lesson.right.astype(int) - lesson.found.astype(int)

        def difference(tables: list[np.ndarray], arcs=arcs, signs=signs, words=words) -> float:
            return sum(int(signs[b]) * arc_score(tables, words, *arcs[b]) for b in np.flatnonzero(signs))

        moves = [after - old for after, old in zip(tables_of(state), before, strict=True)]
        if not signs.any():
            assert not any(move.any() for move in moves)
            continue
        moved += 1
        gradients = []
        for part, table in enumerate(before):  # central differences of a function linear in each table: exact
            gradient = np.zeros_like(table)
            for i in np.ndindex(*table.shape):
                if part == 2 or words[:, i[0]].any():
                    up, down = [t.copy() for t in before], [t.copy() for t in before]
                    up[part][i] += 0.5
                    down[part][i] -= 0.5
                    gradient[i] = difference(up) - difference(down)
            gradients.append(gradient)
        labels = lesson.best[lesson.up[1:]] != lesson.right_labels[1:]
        cost = np.count_nonzero(signs > 0) + np.count_nonzero(labels)
        values, counts = np.unique(training.weights[training.weights != 0], return_counts=True)
        square = sum(float(np.sum(gradient**2)) for gradient in gradients)
        # All other weights were zero: they are now length times the difference of their features.
        steps = np.abs(values[np.argmin(np.abs(values))])
        norm = float(np.sum(counts * np.rint(values / steps) ** 2)) + square
        length = (cost - difference(before)) / norm
        assert steps == pytest.approx(length, rel=1e-3)
        for move, gradient, name_of in zip(moves, gradients, PARTS, strict=True):
            np.testing.assert_allclose(move, length * gradient, atol=1e-5, rtol=1e-3)
            np.testing.assert_allclose(state[f"tensor_moved_{name_of}"], 5 * move, atol=1e-4, rtol=1e-3)
    assert moved > 2


def test_the_mean_is_over_all_steps() -> None:
    state = random_state(1)
    training = training_with(state, "spanning-tree")
    assert training.tensor is not None
    total = [np.zeros_like(table) for table in tables_of(state)]
    order = np.arange(len(CORPUS.starts) - 1)
    for step, s in enumerate(order):
        online_epoch(
            CORPUS, all_arcs(), order[s : s + 1], None, space_of("spanning-tree"), True, LEARNERS["mira"], step, training
        )  # fmt: skip
        total = [sums + table for sums, table in zip(total, tables_of(state), strict=True)]
    means = mean_tensor(training.tensor, len(order))
    for name, sums in zip(PARTS, total, strict=True):
        scale = SHARE if name == "distances" else 1.0
        np.testing.assert_allclose(means[name], scale * sums / len(order), atol=1e-5)


def test_between_sentences_nothing_is_left() -> None:
    training = training_with(random_state(2), "spanning-tree")
    assert training.tensor is not None
    order = np.arange(len(CORPUS.starts) - 1)
    online_epoch(
        CORPUS, all_arcs(), order, None, space_of("spanning-tree"), True, LEARNERS["mira"], 0, training
    )
    for gradient in (training.tensor.of_heads, training.tensor.of_modifiers):
        assert (gradient.slots == -1).all()


# The start


def dense(mistakes: Mistakes, words: Words, size: int) -> np.ndarray:
    """Head features x distances x modifier features, of all mistakes."""
    matrix = np.zeros((size, DISTANCES, size))
    codes = np.repeat(np.arange(DISTANCES), np.diff(mistakes.first))
    features = np.zeros((len(words.rows), size))
    for i, (rows, count) in enumerate(zip(words.rows, words.counts, strict=True)):
        np.add.at(features[i], rows[:count], 1)
    for h, m, sign, code in zip(mistakes.heads, mistakes.modifiers, mistakes.signs, codes, strict=True):
        outer = float(sign) * np.outer(features[h], features[m])
        matrix[:, 0] += outer
        matrix[:, code] += outer
    return matrix


def test_the_start_is_a_truncated_decomposition() -> None:
    size, order = 1 << BITS, np.arange(len(CORPUS.starts) - 1)
    mistakes = find_mistakes(CORPUS, all_arcs(), space_of("spanning-tree"), True, order)
    assert len(mistakes.heads) > 4
    assert mistakes.signs.sum() == 0
    words = _all_words(CORPUS.numbers, CORPUS.starts, SIDES, BITS)
    matrix = dense(mistakes, words, size)
    left, values, right = np.linalg.svd(matrix.reshape(size, -1), full_matrices=False)
    heads, modifiers, distances = decompose(mistakes, words, size, RANK)
    np.testing.assert_allclose(heads.T @ heads, np.eye(RANK), atol=1e-4)
    np.testing.assert_allclose(np.abs(np.sum(heads * left[:, :RANK], axis=0)), 1.0, atol=1e-3)
    for r in range(RANK):
        whole = values[r] * right[r].reshape(DISTANCES, size)
        first = np.linalg.svd(whole, full_matrices=False)
        best = first[1][0] * np.outer(first[0][:, 0], first[2][0])
        found = np.outer(distances[:, r], modifiers[:, r]) * np.sign(heads[:, r] @ left[:, r])
        np.testing.assert_allclose(found, best, atol=1e-3 * values[0])


@pytest.mark.parametrize("start", ["svd", "random"])
def test_the_start_is_the_same_every_time_and_finite(start: str) -> None:
    choices = TensorChoices(40, BITS, WORDS, 0.5, start)  # more ranks than mistakes
    states = [begin_state(choices, CORPUS, all_arcs(), space_of("spanning-tree"), True) for _ in range(2)]
    for name, array in states[0].items():
        assert np.isfinite(array).all()
        assert (array == states[1][name]).all()
        assert array.any() == ("moved" not in name)


def test_training_with_a_tensor() -> None:
    """All is learned, and a trainer goes on where another stopped."""
    space, sentences = space_of("spanning-tree"), len(CORPUS.starts) - 1
    problem = Problem(CORPUS, all_arcs(), None, space, True)
    choices, tensor = Choices("mira", "online", 0.01, 0.0), TensorChoices(RANK, BITS, WORDS, 0.5, "svd")

    def parts() -> Any:
        return iter([(np.arange(sentences), 1.0)])

    states: list[dict[str, np.ndarray]] = [{}, {}]
    trainer = make_trainer(problem, choices, states[0], tensor)
    errors = [trainer.epoch(parts) for _ in range(12)]
    assert errors[-1] < errors[0] / 2
    for _ in range(12):
        other = make_trainer(problem, choices, states[1], tensor)
        other.epoch(parts)
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name])
    assert trainer.tensor().keys() == set(PARTS)
    assert make_trainer(problem, choices, {}).tensor() == {}


@pytest.mark.parametrize("learner", ["perceptron", "log-linear", "max-margin"])
def test_other_learners_are_refused(learner: str) -> None:
    with pytest.raises(ArcwiseError, match=f"{learner} with a low-rank tensor, which only mira"):
        check_tensor(Choices(learner, "online", 1.0, 0.0))
