"""The kernel that parses, against brute force and against its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.features.attributes import number_words
from arcwise.features.coarse import coarse_scores
from arcwise.learning.corpus import Corpus
from arcwise.parts.arcs import ANY_HEAD, ANY_WORD, keep_heads
from arcwise.pipeline.model import Model, Settings
from arcwise.pipeline.sentences import ANY_LABEL, UNKNOWN_LABEL, parse_sentences
from arcwise.search.decode import decode
from arcwise.trees.enumerate import all_trees
from tests.learning.corpora import TEMPLATES, Features
from tests.parts.test_arcs import naive_heads
from tests.pipeline.models import SMALL, is_tree, random_model, synthetic_block


def corpus_of(model: Model, sentences: int, mean_length: float) -> Corpus:
    """The words of synthetic sentences as the model sees them; there are no heads and labels."""
    block = synthetic_block(sentences, mean_length)
    numbers = number_words(block.data, block.starts, block.stops, block.words, model.vocabulary())
    starts = block.words + np.arange(len(block.words), dtype=np.int64)
    heads, labels = np.full(len(numbers), ANY_HEAD, np.int32), np.full(len(numbers), ANY_LABEL, np.int32)
    return Corpus(numbers, starts, heads, labels)


def parsed(model: Model, corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    heads, labels = corpus.heads.copy(), corpus.labels.copy()
    scores = np.full(len(corpus.starts) - 1, np.nan)
    kept = parse_sentences(corpus.numbers, corpus.starts, model.weights(), heads, labels, scores, np.empty(0))
    assert kept >= sum(np.diff(corpus.starts)[scores > -np.inf] - 1)
    return heads, labels, scores


def slow_matrix(model: Model, features: Features) -> np.ndarray | None:
    """The scores of all arcs that the pruner keeps, from the weights as they are stored; None if no tree has what is given."""
    n, chosen, arrays = features.n, model.settings, model.arrays
    coarse = np.zeros((n + 1, n + 1))
    coarse_scores(features.tokens, TEMPLATES, arrays["coarse"], chosen.coarse_bits, coarse)
    keep_heads(coarse, features.heads)
    trees = all_trees(n, model.single_root)
    sums = coarse[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1)
    if sums.max() == -np.inf:
        return None
    coarse_tree = decode(coarse, single_root=model.single_root).heads
    assert coarse[coarse_tree[1:], np.arange(1, n + 1)].sum() == sums.max()
    S = np.full((n + 1, n + 1), -np.inf)
    threshold = chosen.threshold / float(arrays["scales"][0])
    for m in range(1, n + 1):
        label = features.labels[m]
        for h in naive_heads(coarse, m, coarse_tree[m], chosen.most_heads, threshold):
            of_labels = arrays["labels"][features.label(h, m)].astype(int).sum(axis=0)
            if label == ANY_LABEL:
                best = of_labels[arrays["allowed"][min(h, 1)]].max()
            else:
                best = 0 if label == UNKNOWN_LABEL else of_labels[label]
            S[h, m] = arrays["arcs"][features.arc(h, m)].astype(int).sum() + best
    return S


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    single_root=st.booleans(),
    labels=st.sampled_from([1, 2, 5, 33]),
    most=st.integers(2, 8),
    threshold=st.sampled_from([0.5, 5.0, 100.0]),
)
def test_the_tree_is_the_best_one(
    seed: int, single_root: bool, labels: int, most: int, threshold: float
) -> None:
    chosen = Settings(coarse_bits=12, arc_bits=16, label_bits=10, most_heads=most, threshold=threshold)
    model = random_model(
        seed, [synthetic_block(8, 4.0)], single_root=single_root, labels=labels, settings=chosen
    )
    corpus = corpus_of(model, 8, 4.0)
    heads, found, scores = parsed(model, corpus)
    checked = 0
    for s, (begin, end) in enumerate(zip(corpus.starts[:-1], corpus.starts[1:], strict=True)):
        features = Features(corpus, s, chosen.arc_bits, chosen.label_bits)
        tree = heads[begin:end]
        assert is_tree(tree.tolist())
        assert tree[0] == found[begin] == -1
        for m in range(1, features.n + 1):
            sums = model.arrays["final"][features.in_tree(tree, m)].astype(int).sum(axis=0)
            sums = np.where(model.arrays["allowed"][min(tree[m], 1)], sums, -(10**6))
            assert found[begin + m] == sums.argmax()
        if features.n > 6:
            continue
        S = slow_matrix(model, features)
        assert S is not None
        trees = all_trees(features.n, single_root)
        best = S[trees[:, 1:], np.arange(1, features.n + 1)].sum(axis=1).max()
        assert scores[s] == best
        assert S[tree[1:], np.arange(1, features.n + 1)].sum() == best
        checked += 1
    assert checked > 3


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    single_root=st.booleans(),
    labels=st.sampled_from([1, 2, 5, 33]),
    share=st.sampled_from([0.2, 0.5, 0.9]),
    all_arcs=st.booleans(),
)
def test_the_tree_is_the_best_one_with_what_is_given(
    seed: int, single_root: bool, labels: int, share: float, all_arcs: bool
) -> None:
    """Heads and labels at random, so that many admit no tree; with a pruner that keeps all arcs, or few."""
    pruner = {"most_heads": 1000, "threshold": np.inf} if all_arcs else {"most_heads": 3, "threshold": 0.5}
    chosen = Settings(coarse_bits=12, arc_bits=16, label_bits=10, **pruner)  # type: ignore[arg-type]
    block = synthetic_block(20, 3.0)
    model = random_model(seed, [block], single_root=single_root, labels=labels, settings=chosen)
    corpus = corpus_of(model, 20, 3.0)
    random = np.random.default_rng(seed)
    for s, (begin, end) in enumerate(zip(corpus.starts[:-1], corpus.starts[1:], strict=True)):
        given = random.random((2, end - begin)) < share
        gold = np.append(-1, block.heads[block.words[s] : block.words[s + 1]])
        other = random.integers(ANY_WORD, end - begin, size=end - begin)
        other[other == np.arange(end - begin)] = ANY_HEAD
        some = np.where(random.random(end - begin) < 0.8, gold, other)
        corpus.heads[begin:end][given[0]] = some[given[0]]
        corpus.labels[begin:end][given[1]] = random.integers(UNKNOWN_LABEL, labels, size=given[1].sum())
    heads, found, scores = parsed(model, corpus)
    checked = 0
    for s, (begin, end) in enumerate(zip(corpus.starts[:-1], corpus.starts[1:], strict=True)):
        features = Features(corpus, s, chosen.arc_bits, chosen.label_bits)
        n, tree = features.n, heads[begin:end]
        if n > 5:
            continue
        S = slow_matrix(model, features)
        if S is None:
            assert scores[s] == -np.inf
            continue
        if all_arcs:
            admitted = np.where(np.eye(n + 1, dtype=bool), -np.inf, 0.0)
            keep_heads(admitted, features.heads)
            assert (np.isfinite(S) == np.isfinite(admitted))[:, 1:].all()
        trees = all_trees(n, single_root)
        assert scores[s] == S[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1).max()
        assert S[tree[1:], np.arange(1, n + 1)].sum() == scores[s]
        assert is_tree(tree.tolist())
        assert (tree[1:] == 0).sum() == 1 or not single_root
        for m in range(1, n + 1):
            assert features.heads[m] in (tree[m], ANY_HEAD) or (features.heads[m] == ANY_WORD and tree[m] > 0)
            if features.labels[m] != ANY_LABEL:
                assert found[begin + m] == features.labels[m]
            else:
                sums = model.arrays["final"][features.in_tree(tree, m)].astype(int).sum(axis=0)
                sums = np.where(model.arrays["allowed"][min(tree[m], 1)], sums, -(10**6))
                assert found[begin + m] == sums.argmax()
        checked += 1
    assert checked > 3


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    single_root=st.booleans(),
    most=st.integers(2, 20),
    threshold=st.sampled_from([0.0, 1.0, np.inf]),
    greatest=st.sampled_from([0, 1, 127]),
)
def test_trees_are_well_formed(
    seed: int, single_root: bool, most: int, threshold: float, greatest: int
) -> None:
    """Whatever the weights: also where all are equal."""
    chosen = Settings(coarse_bits=6, arc_bits=6, label_bits=6, most_heads=most, threshold=threshold)
    model = random_model(
        seed, [], single_root=single_root, labels=1 + seed % 40, settings=chosen, greatest=greatest
    )
    corpus = corpus_of(model, 12, 12.0)
    heads, labels, scores = parsed(model, corpus)
    assert np.isfinite(scores).all()
    for begin, end in zip(corpus.starts[:-1], corpus.starts[1:], strict=True):
        tree, found = heads[begin:end], labels[begin:end]
        assert is_tree(tree.tolist())
        roots = (tree[1:] == 0).sum()
        assert roots == 1 or (roots > 1 and not single_root)
        assert model.arrays["allowed"][np.minimum(tree[1:], 1), found[1:]].all()


@pytest.mark.parametrize("sign", [1, -1])
def test_forbidden_labels_stay_forbidden(sign: int) -> None:
    """All weights of all allowed labels as low as can be, and of all others as high: the others stay forbidden."""
    model = random_model(0, [], labels=3)
    for name in ("final", "labels"):
        model.arrays[name][:, 0] = sign * 127
        model.arrays[name][:, 1:] = -sign * 127
    corpus = corpus_of(model, 5, 10.0)
    heads, labels, _ = parsed(model, corpus)
    words = heads >= 0
    assert model.arrays["allowed"][np.minimum(heads[words], 1), labels[words]].all()


def test_a_sentence_is_parsed_the_same_in_any_company() -> None:
    model = random_model(3, [synthetic_block(30, 10.0)])
    corpus = corpus_of(model, 30, 10.0)
    heads, labels, scores = parsed(model, corpus)
    for s in range(30):
        begin, end = corpus.starts[s : s + 2]
        rows = slice(begin, end)
        alone = Corpus(
            corpus.numbers[rows], np.array([0, end - begin]), corpus.heads[rows], corpus.labels[rows]
        )
        own_heads, own_labels, own_scores = parsed(model, alone)
        assert own_heads.tolist() == heads[rows].tolist()
        assert own_labels.tolist() == labels[rows].tolist()
        assert own_scores[0] == scores[s]


def test_nothing_to_parse() -> None:
    model = random_model(0, [])
    empty = Corpus(
        np.zeros((0, 18), np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)
    )
    heads, labels, scores = parsed(model, empty)
    assert len(heads) == len(labels) == len(scores) == 0
    assert SMALL.most_heads > 1
