"""Models that are learned and searched by hill climbing: full ones, and those of every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arcwise.errors import ArcwiseError, InputError
from arcwise.pipeline.climbing_sentences import RUNS
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.model import FULL, Settings, load_model, save_model
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser
from arcwise.search.climbing import Climbing
from arcwise.trees.checking import is_tree
from tests.pipeline.models import block_of, quick
from tests.pipeline.test_sentences import corpus_of
from tests.pipeline.test_training import baseline, scores, sentences

BITS: dict[str, Any] = {"coarse_bits": 8, "arc_bits": 12, "label_bits": 7, "part_bits": 12, "threshold": 9.0}


def train(search: str, **options: Any) -> Parser:
    chosen = Settings(**BITS, search=search, climb=True)
    return quick(sentences(40), None, settings=chosen, epochs=4, label_epochs=1, restarts=5, **options)


@pytest.fixture(scope="module")
def full() -> Parser:
    return train(FULL)


@pytest.fixture(scope="module")
def third() -> Parser:
    return train("dual-third")


def test_learning_helps_and_is_reproducible(full, third, tmp_path):
    for parser, search in ((full, FULL), (third, "dual-third")):
        assert parser.model.settings.climb
        assert scores(parser, sentences(40))[1] > baseline(sentences(40), sentences(40)) + 0.2
        again = train(search)
        for name, array in parser.model.arrays.items():
            assert np.array_equal(array, again.model.arrays[name]), name
    save_model(full.model, tmp_path / "full.arcwise")
    loaded = Parser(load_model(tmp_path / "full.arcwise"))
    text = block_of(b"".join(sentence.to_bytes() for sentence in sentences(10)))
    assert loaded.parse_to_bytes(text).tobytes() == full.parse_to_bytes(text).tobytes()


def test_every_tree_is_one_and_depends_on_its_sentence_only(full):
    some = sentences(12)
    together = [sentence.heads.tolist() for sentence in full(some)]
    assert together == [full(sentence)[0].heads.tolist() for sentence in some]
    assert together == [
        sentence.heads.tolist() for document in full.pipe(some, jobs=2) for sentence in document
    ]
    assert all(is_tree(np.array(heads), single_root=True) for heads in together)
    assert not any(sentence.certified for sentence in full(some) if len(sentence) > 1)


def test_one_word_and_very_long_sentences(full):
    assert full(["word"])[0].heads.tolist() == [-1, 0]
    [long] = full.searching(restarts=1)(["word", "other"] * 250)
    assert is_tree(long.heads, single_root=True)


def test_climbing_agrees_with_dual_decomposition_where_that_proves(third):
    some = sentences(15)
    exact, climbed = third.searching("dual")(some), third(some)
    alone = third.searching("climb", exact=False, restarts=50)(some)
    for best, found, other in zip(exact, climbed, alone, strict=True):
        assert best.certified
        assert found.score is not None
        assert best.score is not None
        assert other.score is not None
        assert found.score <= best.score + 1e-6
        assert other.score <= best.score + 1e-6
        if found.certified:
            assert found.score == pytest.approx(best.score)
        assert not other.certified
    assert sum(found.certified for found in climbed) > 10


def test_first_order_models_climb_to_the_spanning_tree(third):
    parser = quick(sentences(30), None, settings=Settings(**BITS), epochs=2, label_epochs=1)
    assert parser.decoders == ("spanning-tree", "climb")
    some = sentences(10)
    bound = [sentence.score for sentence in parser(some)]
    assert [sentence.score for sentence in parser.searching("climb")(some)] == bound
    assert all(sentence.certified for sentence in parser.searching("climb")(some))
    corpus = corpus_of(parser.model, 8, 6.0)
    rows = unknown_trees(corpus.numbers, corpus.starts)
    rows.find_trees(parser.model.weights(), climbing=Climbing(restarts=30, bounded=False))
    best = unknown_trees(corpus.numbers, corpus.starts)
    best.find_trees(parser.model.weights())
    assert (rows.scores <= best.scores).all()
    assert (rows.report[:, RUNS] > 0).all()
    assert np.isposinf(rows.bounds).all()


def test_given_heads_are_kept(full):
    [found] = full([sentences(3)[0]])
    text = str(sentences(3)[0])
    block = block_of(text)
    trees = full.parse_block(block, keep=True)
    assert trees.heads.tolist() == sentences(3)[0].heads[1:].tolist()
    assert found.heads[0] == -1


def test_confidences_are_told(full):
    [found] = full([sentences(3)[0]])
    assert all(0 <= word.confidence <= 1 for word in found.words)


def test_what_full_models_cannot_do_is_said(full):
    with pytest.raises(InputError, match="for this model climb"):
        full.searching("dual")
    with pytest.raises(ArcwiseError, match="hill climbing, and not the k best"):
        full.k_best_block(block_of(str(sentences(3)[0])), 2)
    with pytest.raises(ArcwiseError, match="features of whole trees"):
        full([sentences(3)[0]], constraints=["root 1"])
    with pytest.raises(InputError, match="hill climbing"):
        Settings(search=FULL)
    with pytest.raises(InputError, match="with hill climbing"):
        Settings(search="model1", climb=True, pruning="projective")
    with pytest.raises(InputError, match="expected some of chain"):
        Settings(search=FULL, climb=True, whole_tree="chain all")
    with pytest.raises(InputError, match="shape"):
        Settings(search=FULL, climb=True, shape="2")
    with pytest.raises(ArcwiseError, match="hill climbing finds single trees"):
        Options(learner="log-linear", settings=Settings(search=FULL, climb=True))
    with pytest.raises(ArcwiseError, match="at least 1"):
        Options(restarts=0)
