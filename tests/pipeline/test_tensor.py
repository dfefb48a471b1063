"""Models with a low-rank tensor: trained, stored, resumed, refused when damaged, and parsed with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise.errors import ArcwiseError, InputError, ModelError
from arcwise.features.arcs import arc_features, most_arc_features
from arcwise.features.attributes import number_words
from arcwise.features.tensor import DISTANCES, add_tensor
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.pipeline.constrained_sentences import score_labels
from arcwise.pipeline.model import Model, Settings, load_model, read_sealed, save_model
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.parser import Parser, load
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence
from tests.pipeline.models import block_of, quick, random_model
from tests.synthetic import synthetic_treebank

BITS, RANK = 8, 5
PLAIN = Settings(coarse_bits=8, arc_bits=12, label_bits=7, tag_bits=10)
SETTINGS = replace(PLAIN, tensor=RANK, tensor_bits=BITS)
NAMES = ("tensor_heads", "tensor_modifiers", "tensor_distances")


def sentences(count: int, seed: int = 0) -> list[Sentence]:
    return list(read_string(synthetic_treebank(count, seed=seed, mean_length=7.0)))


def random_tensor_model(seed: int = 0) -> Model:
    model = random_model(seed, [block_of(synthetic_treebank(8, mean_length=6.0))], settings=SETTINGS)
    random = np.random.default_rng(seed)
    for name in NAMES[:2]:
        model.arrays[name] = random.integers(-127, 128, (1 << BITS, RANK), dtype=np.int8)
    model.arrays[NAMES[2]] = random.normal(0, 1e-4, (DISTANCES, RANK)).astype(np.float32)
    return model


class Killed(Exception):  # noqa: N818
    """Training stops here."""


class Killer(Watcher):
    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def progress(self, progress: Progress) -> None:
        if (progress.stage, progress.epoch) == ("trees", self.epoch):
            raise Killed


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tensor") / "model"
    quick(sentences(40), sentences(8, 1), path, settings=SETTINGS, epochs=3)
    return path


def test_training_learns_is_repeatable_and_can_be_resumed(trained: Path, tmp_path: Path) -> None:
    assert load_model(trained).facts["training"][0]["uas"] > 60
    options: dict[str, Any] = {"settings": SETTINGS, "epochs": 3}
    for epoch in (1, 3):
        with pytest.raises(Killed):
            quick(sentences(40), sentences(8, 1), tmp_path / "model", watcher=Killer(epoch), **options)
        quick(sentences(40), sentences(8, 1), tmp_path / "model", resume=True, **options)
        assert (tmp_path / "model").read_bytes() == trained.read_bytes()


def test_round_trip(trained: Path, tmp_path: Path) -> None:
    model = load_model(trained)
    assert model.settings == SETTINGS
    assert {name for name in model.arrays if name.startswith("tensor")} == set(NAMES)
    assert all(model.arrays[name].any() for name in NAMES)
    save_model(model, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == trained.read_bytes()
    first = load(trained)(sentences(8, 1))
    assert str(first) == str(Parser(model)(sentences(8, 1)))


def test_models_without_a_tensor_are_written_as_they_were(tmp_path: Path) -> None:
    model = random_model(0, [block_of(synthetic_treebank(2, mean_length=4.0))], settings=PLAIN)
    save_model(model, tmp_path / "model")
    header, arrays = read_sealed(tmp_path / "model", "arcwise model")
    assert not [name for name in (*header["settings"], *arrays) if "tensor" in name]
    assert model.weights().tensor is None


def damaged(array: np.ndarray) -> list[np.ndarray]:
    return [array[:-1], array[:, :-1], array.astype(np.float64), array.ravel()]


@pytest.mark.parametrize("name", NAMES)
def test_damaged_tensors_are_refused(tmp_path: Path, name: str) -> None:
    model = random_tensor_model()
    wrong = [{**model.arrays, name: array} for array in damaged(model.arrays[name])]
    wrong.append({other: array for other, array in model.arrays.items() if other != name})
    if name == NAMES[2]:
        wrong += [
            {**model.arrays, name: np.full_like(model.arrays[name], value)}
            for value in (np.nan, np.inf, 1e30)
        ]
    for arrays in wrong:
        arrays = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
        save_model(replace(model, arrays=arrays), tmp_path / "model")
        with pytest.raises(ModelError, match="tensor"):
            load(tmp_path / "model")


def test_scores_are_whole_numbers_and_have_the_tensor() -> None:
    """Of both kernels that score the arcs of models."""
    weights = random_tensor_model(3).weights()
    assert weights.tensor is not None
    parser = Parser(random_tensor_model(3))
    text = synthetic_treebank(6, mean_length=6.0)
    found = parser(list(read_string(text)))
    plain = Parser(replace(random_tensor_model(3), settings=PLAIN))(list(read_string(text)))
    assert [sentence.score for sentence in found] != [sentence.score for sentence in plain]
    block = block_of(text)
    numbers = number_words(block.data, block.starts, block.stops, block.words, parser.model.vocabulary())
    numbers = numbers[: block.words[1] + 1].copy()  # the first sentence
    n = len(numbers) - 1
    heads, modifiers = np.array(
        [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m], np.int32
    ).T.copy()
    tokens = make_tokens(n, weights.templates.end)
    hash_tokens(numbers, weights.templates, tokens)
    own, _ = score_labels(weights, tokens, heads, modifiers)
    expected, indices = np.zeros(len(heads)), np.empty(most_arc_features(n, weights.templates), np.uint32)
    add_tensor(weights.tensor, numbers, heads, modifiers, expected)
    assert expected.any()
    for a, (h, m) in enumerate(zip(heads, modifiers, strict=True)):
        count = arc_features(tokens, weights.templates, weights.arc_bits, h, m, indices)
        expected[a] += weights.arcs[indices[:count]].astype(np.int64).sum()
    np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("rank", [-1, 1001, 2.5])
def test_ranks_that_are_none(rank: Any) -> None:
    with pytest.raises(InputError, match="a tensor of rank"):
        replace(PLAIN, tensor=rank)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "perceptron"}, "perceptron with a low-rank tensor, which only mira can learn"),
        ({"learner": "log-linear"}, "log-linear with a low-rank tensor, which only mira can learn"),
        ({"learner": "max-margin"}, "max-margin with a low-rank tensor, which only mira can learn"),
        ({"gamma": 0.0}, "gamma is 0.0, expected a number between 0 and 1"),
        ({"tensor_start": "zero"}, "tensor_start 'zero', expected one of svd, random"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArcwiseError, match=message):
        Options(settings=SETTINGS, **options)
