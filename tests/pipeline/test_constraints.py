"""People's constraints in the parser: exact at every order, against brute force over all trees and labels; and what is refused."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.constraints import (
    Arc,
    AtMostOne,
    Constraint,
    HeadInside,
    HeadOutside,
    Labels,
    Leaf,
    NoArc,
    Root,
    Subtree,
    Together,
)
from arcwise.errors import ArcwiseError, InputError
from arcwise.features.attributes import number_words
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline import parser as parsing
from arcwise.pipeline import repairing
from arcwise.pipeline.constraining import violating
from arcwise.pipeline.forest import make_rows
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.model import BELIEFS, DUALS, SEARCHES, Model, Settings
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import Block
from arcwise.treebank.sentence import Sentence
from arcwise.trees.enumerate import all_trees
from arcwise.trees.shapes import has_shape, read_shape
from tests.constraints.naive import satisfies
from tests.pipeline.models import SMALL, random_model, synthetic_block, trained
from tests.pipeline.test_charts import chart_model
from tests.pipeline.test_keeping import loose_block

NAMES = ("root", "label1", "label2", "label3")  # of random models; the first is for roots only
TAGS = ("NOUN", "VERB", "DET", "ADP")
SHAPED = "1-inherit"
ORDERS = ("spanning-tree", SHAPED, "eisner", "sibling", "model1", "dual-sibling", "dual-grand-sibling")


def satisfied(constraint: Constraint, heads: list[int], labels: list[str], tags: tuple[str, ...]) -> bool:
    """What a constraint means, word for word; entries 0 are of the root."""
    names = tuple(dict.fromkeys(labels))
    return bool(satisfies(constraint, heads, [names.index(label) for label in labels], names, tags[1:]))


def some_constraints(n: int) -> st.SearchStrategy[list[Constraint]]:
    """Constraints of all kinds on a sentence of n words, seldom contradictory."""
    word, head = st.integers(1, n), st.integers(0, n)
    span = st.tuples(word, word).map(lambda pair: (min(pair), max(pair)))
    arc = st.tuples(head, word).filter(lambda pair: pair[0] != pair[1])
    labels = st.lists(st.sampled_from(NAMES[1:]), min_size=1, max_size=2, unique=True)
    either = st.one_of(st.none(), st.sampled_from(TAGS[:2]))
    kinds = st.one_of(
        arc.map(lambda pair: Arc(*pair)),
        arc.map(lambda pair: NoArc(*pair)),
        word.map(Root),
        word.map(Leaf),
        span.map(lambda pair: Subtree(*pair)),
        span.map(lambda pair: Together(*pair)),
        st.builds(lambda w, pair: HeadInside(w, *pair), word, span),
        st.builds(lambda w, pair: HeadOutside(w, *pair), word, span),
        st.builds(AtMostOne, labels, st.one_of(st.none(), word)),
        st.builds(Labels, labels, st.booleans(), word=word, tag=either),
        st.builds(Labels, labels, st.booleans(), tag=either, head_tag=st.sampled_from(TAGS[:2])),
    )
    return st.tuples(st.lists(kinds, min_size=1, max_size=3), st.lists(labels, max_size=2)).map(
        lambda drawn: [*drawn[0], *map(AtMostOne, drawn[1])]
    )


@cache
def block_of_words(n: int) -> Block:
    """One sentence of n words that random models know."""
    words = synthetic_block(8, 4.0).column(1)[:n]
    lines = [f"{i}\t{word}\t_\t{TAGS[i % 4]}\t_\t_\t_\t_\t_\t_\n" for i, word in enumerate(words, 1)]
    return loose_block("".join(lines) + "\n")


def every_labelling(model: Model, trees: np.ndarray) -> np.ndarray:
    """All labellings of each tree that the model allows: (labellings, 2, n+1), heads and labels."""
    found = []
    for heads in trees:
        choices = [np.flatnonzero(model.arrays["allowed"][min(h, 1)]) for h in heads[1:]]
        found += [(heads, (-1, *labels)) for labels in product(*choices)]
    return np.array(found, np.int32)


def score(model: Model, numbers: np.ndarray, labelled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of labelled trees: their scores, and the scores of their labels by context, up to a constant for each tree."""
    size = len(numbers)
    rows = make_rows(
        np.tile(numbers, (len(labelled), 1)),
        np.arange(len(labelled) + 1) * size,
        labelled[:, 0].reshape(-1).copy(),
        labelled[:, 1].reshape(-1).copy(),
    )
    rows.find_trees(model.weights())
    by_word = label_probabilities(rows, model.weights(), 100.0).reshape(-1, size)
    return rows.scores, np.log(by_word[:, 1:]).sum(axis=1)


def model_of(search: str, seed: int, single_root: bool, **changes: object) -> Model:
    """A model of random weights that prunes nothing."""
    if search == SHAPED:
        return chart_model("spanning-tree", seed, single_root, shape=SHAPED, **changes)
    return chart_model(search, seed, single_root, **changes)


def trees_of(search: str, n: int, single_root: bool, projective: bool) -> np.ndarray:
    """All trees that its model may find."""
    trees = all_trees(n, single_root, projective=projective)
    return trees[[search != SHAPED or has_shape(tree, read_shape(SHAPED)) for tree in trees]]


@pytest.mark.parametrize("search", ORDERS)
@settings(deadline=None, max_examples=12)
@given(data=st.data(), seed=st.integers(0, 10**6), single_root=st.booleans())
def test_the_tree_and_its_labels_are_the_best(search: str, data: Any, seed: int, single_root: bool) -> None:
    """Among all trees and all labels of a short sentence; where there are none, it says so."""
    n = data.draw(st.just(4) if search == SHAPED else st.integers(2, 4))
    model, block = model_of(search, seed, single_root), block_of_words(n)
    constraints = data.draw(some_constraints(n))
    tags = ("", *block.column(3))
    parser = Parser(model)
    projective = search in SEARCHES
    if search in DUALS and data.draw(st.booleans()):
        parser, projective = parser.searching("dual-projective"), True
    numbers = number_words(block.data, block.starts, block.stops, block.words, model.vocabulary())
    every = every_labelling(model, trees_of(search, n, single_root, projective))
    names = ["", *NAMES]

    def satisfies(labelled: np.ndarray) -> bool:
        heads, labels = labelled[0].tolist(), [names[label + 1] for label in labelled[1]]
        return all(satisfied(constraint, heads, labels, tags) for constraint in constraints)

    good = every[[satisfies(labelled) for labelled in every]]
    if not len(good):
        with pytest.raises(InputError, match=r"^a\.conllu:1: no tree has "):
            parser.parse_block(block, constraints=constraints)
        return
    plain = parser.parse_block(block)
    found = parser.parse_block(block, constraints=constraints)
    tree = np.array([[[-1, *found.heads], [-1, *found.labels]]], np.int32)
    assert satisfies(tree[0])
    assert found.certified.all()
    assert found.repaired is not None
    if satisfies(np.array([[-1, *plain.heads], [-1, *plain.labels]], np.int32)):
        assert not found.repaired[0]
        np.testing.assert_array_equal(found.heads, plain.heads)
        np.testing.assert_array_equal(found.labels, plain.labels)
        return
    assert found.repaired[0]
    scores, by_context = score(model, numbers, good)
    same_tree = (good[:, 0] == tree[:, 0]).all(axis=1)
    assert found.scores[0] == pytest.approx(scores.max() * 0.02)
    assert scores[same_tree].max() == scores.max()
    assert score(model, numbers, tree)[1][0] == pytest.approx(by_context[same_tree].max())


@settings(deadline=None, max_examples=40)
@given(data=st.data(), seed=st.integers(0, 10**6), single_root=st.booleans())
def test_groups_alone_are_repaired_exactly(data: Any, seed: int, single_root: bool) -> None:
    """In one call of a kernel for models of arcs: as good as brute force, and as the way that all other constraints go."""
    n = data.draw(st.integers(2, 4))
    model, block = model_of("spanning-tree", seed, single_root), block_of_words(n)
    labels = st.lists(st.sampled_from(NAMES[1:]), min_size=1, max_size=3, unique=True)
    groups = [AtMostOne(group) for group in data.draw(st.lists(labels, min_size=1, max_size=3))]
    parser = Parser(model)
    try:
        found = parser.parse_block(block, constraints=groups)
    except InputError:
        found = None
    numbers = number_words(block.data, block.starts, block.stops, block.words, model.vocabulary())
    every = every_labelling(model, all_trees(n, single_root))
    names, tags = ["", *NAMES], ("",) * (n + 1)

    def satisfies(labelled: np.ndarray) -> bool:
        heads, named = labelled[0].tolist(), [names[label + 1] for label in labelled[1]]
        return all(satisfied(group, heads, named, tags) for group in groups)

    good = every[[satisfies(labelled) for labelled in every]]
    if found is None or found.repaired is None:
        assert not len(good)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repairing, "_MOST_SCORES", 0)
        other = parser.parse_block(block, constraints=groups)
    assert other.repaired is not None
    assert found.scores[0] == other.scores[0]
    assert found.repaired[0] == other.repaired[0]
    tree = np.array([[[-1, *found.heads], [-1, *found.labels]]], np.int32)
    assert satisfies(tree[0])
    if found.repaired[0]:
        scores, by_context = score(model, numbers, good)
        same_tree = (good[:, 0] == tree[:, 0]).all(axis=1)
        assert found.scores[0] == pytest.approx(scores.max() * 0.02)
        assert scores[same_tree].max() == scores.max()
        assert score(model, numbers, tree)[1][0] == pytest.approx(by_context[same_tree].max())


@settings(deadline=None, max_examples=25)
@given(data=st.data(), seed=st.integers(0, 10**6), search=st.sampled_from(ORDERS))
def test_the_pruner_never_stands_in_the_way(data: Any, seed: int, search: str) -> None:
    """One head a word is kept beside the coarse tree's: still there is an answer if any tree at all satisfies the constraints."""
    n = data.draw(st.integers(2, 4))
    model, block = model_of(search, seed, True, most_heads=2, threshold=0.0), block_of_words(n)
    tags = ("", *block.column(3))
    groups: list[Constraint] = [AtMostOne(NAMES[1:]), AtMostOne(NAMES[2:])]
    constraints = data.draw(st.one_of(some_constraints(n), st.just(groups)))
    every = every_labelling(model, trees_of(search, n, True, search in SEARCHES))

    def satisfies(heads: list[int], labels: list[int]) -> bool:
        named = ["", *(NAMES[label] for label in labels)]
        return all(satisfied(constraint, [-1, *heads], named, tags) for constraint in constraints)

    try:
        found = Parser(model).parse_block(block, constraints=constraints)
    except InputError:
        assert not any(satisfies(heads[1:], labels[1:]) for heads, labels in every.tolist())
    else:
        assert satisfies(found.heads.tolist(), found.labels.tolist())


def table(*rows: tuple[str, str, str]) -> Block:
    """One sentence of words with these HEADs, DEPRELs and MISCs."""
    lines = [
        f"{i}\tw{i}\t_\tX\t_\t_\t{head}\t{label}\t_\t{misc}\n"
        for i, (head, label, misc) in enumerate(rows, 1)
    ]
    return loose_block("".join(lines) + "\n")


def random_parser(seed: int = 1, settings: Settings = SMALL) -> Parser:
    return Parser(random_model(seed, [table(("_", "_", "_"))], settings=settings))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), head=st.sampled_from([0, 3]))
def test_what_is_kept_stays_under_constraints(seed: int, head: int) -> None:
    """A kept label that the model does not know counts in its group; constraints of MISC hold with those given."""
    rows = [
        ("4", "label1", "_"),
        ("_", "_", "Leaf=Yes"),
        ("_", "foo", "_"),
        (str(head), "_", "NoLabels=label2"),
    ]
    block = table(*rows)
    groups = [AtMostOne(["label1", "foo", "label3"])]
    found = random_parser(seed).parse_block(block, True, constraints=groups)
    heads, labels = found.heads.tolist(), [found.names[label] for label in found.labels]
    assert (heads[0], heads[3], labels[0], labels[2]) == (4, head, "label1", "foo")
    assert labels[3] != "label2"
    assert 2 not in heads
    taken = [h for h, label in zip(heads, labels, strict=True) if label in ("label1", "foo", "label3")]
    assert len(set(taken)) == len(taken)


def test_a_label_that_is_given_may_be_one_that_its_head_never_has() -> None:
    """As without constraints."""
    block = table(("0", "label1", "_"), ("_", "_", "_"), ("_", "_", "Leaf=Yes"))
    found = random_parser().parse_block(block, True, constraints=["leaf 2"])
    assert found.heads.tolist() == [0, 1, 1]
    assert found.names[found.labels[0]] == "label1"


@pytest.mark.parametrize(
    ("rows", "constraints", "message"),
    [
        ([("2", "_", "_"), ("_", "_", "_")], ["leaf 1", "leaf 2"], "no tree has all of these together: leaf 1; leaf 2"),
        ([("2", "_", "_"), ("_", "_", "_")], ["leaf 2"], "no tree has all of these together: leaf 2; HEAD 2 of word 1"),
        (
            [("_", "label1", "_"), ("_", "label1", "_"), ("0", "_", "_")],
            ["at-most-one label1", "no-arc 1 2", "no-arc 2 1"],
            "no tree has all of these together: at-most-one label1; no-arc 1 2; no-arc 2 1; "
            "DEPREL label1 of word 1; DEPREL label1 of word 2",
        ),
        (
            [("_", "_", "Root=Yes"), ("_", "_", "Root=Yes"), ("_", "_", "Leaf=Yes")],
            [],
            "no tree has all of these together: root 1; root 2",
        ),
        ([("_", "_", "_")] * 2, ["labels label1"], "no tree has this: labels label1"),
        ([("_", "_", "_")] * 2, ["leaf 3"], "'leaf 3' in a sentence of 2 words, expected words up to 2"),
        ([("_", "_", "_")], ["at-most-one labell"], "unknown label labell in 'at-most-one labell', expected labels of"),
        ([("_", "_", "Subtree=x")], [], "token 1: Subtree=x in MISC, expected Subtree=FIRST-LAST"),
    ],
)  # fmt: skip
def test_what_no_tree_satisfies_is_named(rows: list[Any], constraints: list[str], message: str) -> None:
    """As little of it as suffices, and where."""
    with pytest.raises(InputError) as error:
        random_parser().parse_block(table(*rows), True, constraints=constraints)
    assert str(error.value).startswith(f"a.conllu:1: {message}")


def test_sentences_in_pieces_are_refused_if_they_violate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "LONGEST", 3)
    parser, block = random_parser(), table(*[("_", "_", "_")] * 5)
    tree = parser.parse_block(block)
    word = int(np.flatnonzero(tree.heads)[0]) + 1
    kept = parser.parse_block(block, constraints=[Arc(int(tree.heads[word - 1]), word)])
    np.testing.assert_array_equal(kept.heads, tree.heads)
    with pytest.raises(InputError, match=r"of 5 words, parsed in pieces.*expected 3 words at most"):
        parser.parse_block(block, constraints=[Root(word)])


def test_what_has_no_exact_answer_is_refused() -> None:
    block, plain = table(("_", "_", "Leaf=Yes"), ("_", "_", "_")), random_parser()
    beliefs = Parser(chart_model(BELIEFS, 1))
    dual = Parser(chart_model("dual-sibling", 1))
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (beliefs.parse_block, {}, "belief propagation"),
        (plain.parse_block, {"confidence": True}, "probabilities"),
        (plain.parse_block, {"min_risk": True}, "probabilities"),
        (plain.k_best_block, {"k": 2}, "the k best trees"),
        (dual.trace_block, {}, "a trace"),
        (dual.searching("lp").parse_block, {}, "decoder 'lp'"),
    ]
    for call, options, named in refused:
        with pytest.raises(ArcwiseError, match=f"constraints do not go with {named}"):
            call(block, keep=True, **options)
        call(block, **options)  # without them it goes on as before


def test_texts_words_and_sentences_take_constraints() -> None:
    """As objects and as lines, for all sentences or for each of a block; with keep, a sentence has its own in MISC."""
    parser = trained()
    text = "The old king slept. A dog barked."
    for document in (
        parser(text, constraints=["leaf 3", Root(2)]),
        parser([sentence.forms[1:] for sentence in parser(text)], constraints=iter([Leaf(3), Root(2)])),
    ):
        assert len(document) == 2
        for sentence in document:
            assert sentence.heads[2] == 0
            assert 3 not in sentence.heads
            assert sentence.certified
    given = Sentence.from_words(["A", "dog", "barked", "."])
    assert str(parser(given, constraints=[])) == str(parser(given))
    with pytest.raises(InputError, match=r"constraint 3, expected one of arcwise\.constraints"):
        parser(text, constraints=[3])  # type: ignore[list-item]
    block = synthetic_block(3, 4.0)
    each = parser.parse_block(block, constraints=[[Root(1)], [], ["root 2"]])
    assert [int(each.heads[block.words[0]]), int(each.heads[block.words[2] + 1])] == [0, 0]
    with pytest.raises(InputError, match="constraints for 1 sentences, expected for each of 3"):
        parser.parse_block(block, constraints=[[Root(1)]])


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_violations_are_found_in_a_whole_block(seed: int) -> None:
    """Groups for the block at once, others sentence by sentence: as one by one."""
    block, random = synthetic_block(20, 6.0), np.random.default_rng(seed)
    bounds = block.words.tolist()
    sizes = np.repeat(np.diff(bounds), np.diff(bounds))
    words = np.arange(len(sizes)) - np.repeat(bounds[:-1], np.diff(bounds)) + 1
    heads = ((words + random.integers(1, sizes + 1)) % (sizes + 1)).astype(np.int32)
    for first in bounds[:-1]:  # words 1 and 2 are asked whether they are together, which no circle can answer
        if len(heads) > first + 1 and heads[first] == 2 and heads[first + 1] == 1:
            heads[first + 1] = 0
    labels = random.integers(0, 4, len(heads)).astype(np.int32)
    groups = (AtMostOne(["label1", "label2"]), AtMostOne(["label3"]))
    each: list[tuple[Constraint, ...]] = [
        (), groups[:1], groups, (AtMostOne(["label1"], head=2),), (NoArc(2, 1), *groups), (Together(1, 2),)
    ] * 4  # fmt: skip
    chosen = [constraints if bounds[i + 1] - bounds[i] > 1 else () for i, constraints in enumerate(each[:20])]
    expected = [
        i
        for i, constraints in enumerate(chosen)
        if not all(
            satisfied(
                constraint,
                [ANY_HEAD, *heads[bounds[i] : bounds[i + 1]].tolist()],
                ["", *(NAMES[label] for label in labels[bounds[i] : bounds[i + 1]])],
                ("",) * (bounds[i + 1] - bounds[i] + 1),
            )
            for constraint in constraints
        )
    ]
    assert violating(block, chosen, NAMES, heads, labels) == expected
