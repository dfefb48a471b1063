"""Training on treebanks in which some HEADs are `_`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.errors import ArcwiseError, InputError
from arcwise.learning.corpus import whole_trees
from arcwise.learning.trainers import OPTIMISERS
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.training_data import TrainingData, read_training_data
from arcwise.treebank.reading import read_string
from arcwise.treebank.sentence import Sentence
from arcwise.trees.enumerate import all_trees
from tests.learning.test_trainers import suited
from tests.pipeline.models import Recorder, is_tree, quick
from tests.pipeline.test_training import TINY, baseline, scores, sentences

BITS: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7, "part_bits": 12}
SIBLING = Settings(**BITS, search="sibling", pruning="projective", threshold=9.0)
THREE = [("mira", "online"), ("log-linear", "adagrad"), ("max-margin", "adagrad")]
EXPONENTIATED = ("eg", "batch-eg")
WAYS = [
    (learner, optimiser)
    for learner, optimisers in OPTIMISERS.items()
    for optimiser in optimisers
    if optimiser not in EXPONENTIATED
]

Forget = Callable[[int, int], bool]


def forgetting(trees: list[Sentence], heads: Forget, labels: Forget = lambda s, m: False) -> list[Sentence]:
    """The sentences without the heads and labels of some words, and without some labels. Asked by sentence and word."""
    text = ""
    for s, tree in enumerate(trees):
        for line in str(tree).splitlines():
            cells = line.split("\t")
            if cells[0].isdigit():
                m = int(cells[0])
                if heads(s, m):
                    cells[6] = cells[7] = "_"
                elif labels(s, m):
                    cells[7] = "_"
            text += "\t".join(cells) + "\n"
        text += "\n"
    return list(read_string(text.replace("\n\n\n", "\n\n")))


def at_random(share: float, seed: int = 0) -> Forget:
    """Whether a word is among so many, always the same ones."""
    return lambda s, m: np.random.default_rng([seed, s, m]).random() < share


def mixed(trees: list[Sentence]) -> list[Sentence]:
    """In turns: whole, some heads unknown, all unknown, all but one unknown; and some labels of known heads."""
    half = at_random(0.5)
    forget = {0: lambda s, m: False, 1: half, 2: lambda s, m: True, 3: lambda s, m: m != 1}
    return forgetting(trees, lambda s, m: forget[s % 4](s, m), at_random(0.1, seed=1))


def quietly(train: list[Sentence], **options: Any) -> tuple[Parser, str]:
    recorder = Recorder()
    parser = quick(train, None, watcher=recorder, **TINY | options)
    return parser, "\n".join(recorder.notes)


def data_of(train: list[Sentence], **options: Any) -> tuple[TrainingData, str]:
    recorder = Recorder()
    return read_training_data(train, None, Options(gold_tags=True, **options), recorder), "\n".join(
        recorder.notes
    )


# What is learned


@pytest.mark.parametrize(("learner", "optimiser"), WAYS)
def test_every_learner_but_exponentiated_gradient(learner: str, optimiser: str) -> None:
    whole = sentences(60)
    epochs = 1 if optimiser in ("lbfgs", "cg") else 4
    parser, told = quietly(mixed(whole), epochs=epochs, **suited(learner, optimiser))
    assert "45 of 60 training sentences have words whose HEAD is _" in told
    assert "_" not in parser.labels
    uas, las = scores(parser, whole)
    assert uas > 0.6
    assert las > baseline(whole, whole) + 0.2


@pytest.mark.parametrize(("learner", "optimiser"), THREE)
def test_projective_trees(learner: str, optimiser: str) -> None:
    whole = sentences(60)
    parser, _ = quietly(mixed(whole), epochs=4, settings=SIBLING, **suited(learner, optimiser))
    uas, las = scores(parser, whole)
    assert uas > 0.6
    assert las > baseline(whole, whole) + 0.2


@pytest.mark.parametrize(("learner", "optimiser"), THREE)
def test_half_of_the_heads_are_worth_more_than_a_quarter_of_the_sentences(
    learner: str, optimiser: str
) -> None:
    whole, dev = sentences(200), sentences(60, seed=1)
    options: dict[str, Any] = {"epochs": 4, "labels": "joint", **suited(learner, optimiser)}
    half, _ = quietly(forgetting(whole, at_random(0.5)), **options)
    quarter, _ = quietly(whole[:50], **options)
    assert scores(half, dev)[1] > scores(quarter, dev)[1] + 0.02


def test_the_same_bytes(tmp_path: Path) -> None:
    train = mixed(sentences(24))
    for name in ("once", "twice"):
        quick(train, None, tmp_path / name, learner="log-linear", **TINY)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "twice").read_bytes()


def test_known_labels_of_some_heads_only() -> None:
    """Where labels are known their words are learned from; `_` does not become a label."""
    whole = sentences(60)
    parser, told = quietly(forgetting(whole, lambda s, m: False, at_random(0.5)), epochs=4)
    assert "HEAD is _" not in told
    assert "_" not in parser.labels
    assert scores(parser, whole)[1] > baseline(whole, whole) + 0.4


def test_no_sentence_is_whole() -> None:
    """Then there are no known trees to learn the labels of, but those learned with the arcs."""
    whole = sentences(60)
    partial = forgetting(whole, lambda s, m: m == 1)
    parser, _ = quietly(partial, epochs=4)
    assert [stage["stage"] for stage in parser.model.facts["training"]] == ["trees"]
    assert scores(parser, whole)[1] > baseline(whole, whole) + 0.4
    with pytest.raises(InputError, match="labels"):
        quietly(partial, labels="after")


@pytest.mark.parametrize("unknown", ["heads", "labels"])
@pytest.mark.parametrize("optimiser", EXPONENTIATED)
def test_exponentiated_gradient_is_refused(optimiser: str, unknown: str) -> None:
    few, none = at_random(0.1), at_random(0.0)
    train = forgetting(sentences(9), *((few, none) if unknown == "heads" else (none, few)))
    with pytest.raises(
        ArcwiseError, match=rf"{optimiser} needs whole trees, and some .*: take sgd, adagrad or lbfgs"
    ):
        quietly(train, learner="log-linear", optimiser=optimiser)
    if unknown == "labels":  # which are then learned of known trees
        quietly(train, learner="log-linear", optimiser=optimiser, labels="after")


# What is known


def test_what_is_known_of_a_sentence() -> None:
    data, told = data_of(mixed(sentences(8)))
    assert whole_trees(data.train).tolist() == [True, False, False, False] * 2
    assert "6 of 8 training sentences" in told
    for s, tree in enumerate(mixed(sentences(8))):
        begin, end = data.train.starts[s : s + 2]
        assert data.train.heads[begin:end].tolist() == tree.heads.tolist()
        names = [data.names[label] if label >= 0 else "_" for label in data.train.labels[begin + 1 : end]]
        assert names == list(tree.labels[1:])


def test_all_heads_unknown() -> None:
    with pytest.raises(InputError, match="HEAD is '_' everywhere, expected some heads to learn from"):
        quietly(forgetting(sentences(4), lambda s, m: True))


def test_the_development_treebank_must_be_whole() -> None:
    whole = sentences(4)
    with pytest.raises(InputError, match="expected a number everywhere in a development treebank"):
        quick(whole, forgetting(whole, lambda s, m: (s, m) == (2, 1)), **TINY)


def two_roots() -> list[Sentence]:
    """One word in three is unknown, but no root; half of the sentences have several."""
    whole = sentences(20, several_roots=0.5, nonprojective=0.0)
    third = at_random(0.3)
    return forgetting(whole, lambda s, m: int(whole[s].heads[m]) > 0 and third(s, m))


@pytest.mark.parametrize("search", [{}, {"settings": SIBLING}])
def test_several_known_roots(search: dict[str, Any]) -> None:
    train = two_roots()
    parser, told = quietly(train, **search)
    assert "10 of 20 training sentences have several roots: the model will allow several" in told
    assert not parser.single_root
    single, told = quietly(train, single_root=True, **search)
    assert "10 of 20 training sentences have several roots, and are left out" in told
    assert single.model.facts["sentences"] == 10
    for sentence in single(train):
        assert is_tree(sentence.heads.tolist())
        assert sentence.heads.tolist().count(0) == 1


def test_a_root_for_every_sentence_that_has_none() -> None:
    """The root is the one thing unknown: whoever has no head must be it."""
    whole = sentences(30, nonprojective=0.0)
    headless = forgetting(whole, lambda s, m: whole[s].heads[m] == 0)
    for options in ({}, {"single_root": True}, {"single_root": False}, {"settings": SIBLING}):
        parser, _ = quietly(headless, epochs=3, **options)
        assert scores(parser, whole)[0] > 0.7


# Projective trees


def partial_sentence(heads: list[int]) -> Sentence:
    """heads: of words 1, 2, ...; -1 where unknown."""
    rows = [
        f"{m}\tw{m}\tw{m}\tX\t_\t_\t{'_' if h < 0 else h}\t{'_' if h < 0 else 'root' if h == 0 else 'dep'}\t_\t_\n"
        for m, h in enumerate(heads, 1)
    ]
    return read_string("".join(rows) + "\n")[0]


@given(st.integers(2, 6), st.randoms(use_true_random=False), st.booleans())
@settings(deadline=None, max_examples=40)
def test_as_few_crossing_arcs_as_possible_are_forgotten(n: int, random: Any, single_root: bool) -> None:
    tree = random.choice(all_trees(n, single_root)).tolist()
    unknown = random.sample(range(1, n + 1), random.randint(1, n - 1))
    known = [-1 if m in unknown else tree[m] for m in range(1, n + 1)]
    data, told = data_of([partial_sentence(known)], settings=SIBLING, single_root=single_root)
    kept = data.train.heads[1:].tolist()
    assert all(head in (-1, before) for head, before in zip(kept, known, strict=True))
    projective = all_trees(n, single_root, projective=True)[:, 1:]
    assert sum(head >= 0 for head in kept) == (projective == known).sum(axis=1).max()
    assert ((projective == kept) | (np.array(kept) < 0)).all(axis=1).any()
    assert [label >= 0 for label in data.train.labels[1:]] == [head >= 0 for head in kept]
    assert ("forgotten" in told) == (kept != known)


def test_training_after_crossing_arcs_were_forgotten() -> None:
    whole = sentences(40, nonprojective=1.0)
    train = forgetting(whole, at_random(0.3))
    for way in THREE:
        parser, told = quietly(train, settings=SIBLING, epochs=3, **suited(*way))
        assert "forgotten" in told
        assert scores(parser, whole)[0] > 0.5
