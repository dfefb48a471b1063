"""Taggers that see word clusters."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import Clusters
from arcwise.clusters.clustering import cluster
from arcwise.clusters.lookup import CUTS, NO_CLUSTERS, ClusterTable, cluster_arrays, cluster_table
from arcwise.features.letters import ALPHABET
from arcwise.pipeline.options import Options, Watcher
from arcwise.pipeline.preparing import Prepared, prepare
from arcwise.tagging.spelling import CLUSTER, spell
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.templates import CLUSTER_TEMPLATES, asks_for_clusters
from arcwise.tagging.training import mean_tagger
from arcwise.treebank.block import UPOS, Block
from tests.clusters.test_lookup import plain
from tests.features.naive import assert_one_to_one
from tests.pipeline.models import SMALL
from tests.tagging import naive
from tests.tagging.corpora import DATA, conllu_block, data_blocks, learn, toy_tagger
from tests.tagging.test_scoring import naive_tags, some_sentences
from tests.tagging.test_spelling import SENTENCES


@cache
def data_clusters() -> ClusterTable:
    """Of the words of our own treebank."""
    found = cluster([DATA / "train.conllu"], clusters=30, minimum=1)
    return cluster_table(cluster_arrays(found.clusters))


@cache
def clustered_tagger() -> Tagger:
    return learn(data_blocks(), data_clusters(), bits=14, epochs=2)


@settings(deadline=None, max_examples=60)
@given(SENTENCES, st.data(), st.sampled_from(CUTS))
def test_spelling(sentences: list[list[str]], data: st.DataObject, cut: str) -> None:
    words = [word for sentence in sentences for word in sentence]
    known = data.draw(st.lists(st.sampled_from([*words, *map(naive.lower, words)]), unique=True, min_size=1))
    bits = {word: data.draw(st.text("01", min_size=1, max_size=8)) for word in known}
    clusters = Clusters(bits, dict.fromkeys(bits, 1))
    table = cluster_table(cluster_arrays(clusters, cut))
    block = naive.block_of(sentences)
    spelled, keys, capitals = spell(block.data, block.starts, block.stops, block.words, ALPHABET, table)
    names = [plain(clusters, cut, word) or (None, None, None) for word in words]
    for grain, column in enumerate(spelled[:, CLUSTER:].T.tolist()):
        assert_one_to_one([None, *(name[grain] for name in names)], [0, *column])
    without, *others = spell(block.data, block.starts, block.stops, block.words, ALPHABET, NO_CLUSTERS)
    np.testing.assert_array_equal(spelled[:, :CLUSTER], without[:, :CLUSTER])
    assert not without[:, CLUSTER:].any()
    for ours, other in zip((keys, capitals), others, strict=True):
        np.testing.assert_array_equal(ours, other)


def test_tags_are_those_of_plain_python() -> None:
    tagger, block = clustered_tagger(), some_sentences(5)
    assert CLUSTER_TEMPLATES in tagger.header["templates"]
    assert tagger.tags(block).tolist() == naive_tags(tagger, block)


@pytest.mark.parametrize("seed", range(3))
def test_random_weights(seed: int) -> None:
    tagger = clustered_tagger()
    table = np.random.default_rng(seed).integers(-127, 128, len(tagger.arrays["table"]), dtype=np.int8)
    random_tagger = Tagger(tagger.arrays | {"table": table}, tagger.header, tagger.clusters)
    block = some_sentences(4)
    tags = random_tagger.tags(block).tolist()
    assert tags == naive_tags(random_tagger, block)
    # Other clusters, other tags: they are seen.
    grains = tagger.clusters.grains[::-1].copy()
    other = Tagger(random_tagger.arrays, tagger.header, tagger.clusters._replace(grains=grains))
    assert other.tags(block).tolist() == naive_tags(other, block) != tags


KINDS = ("NOUN", "VERB", "ADJ")


def made_up(kind: int, number: int) -> str:
    """A word whose letters say nothing of its kind."""
    random = Random(f"{kind} {number}")
    return "".join(random.choices("bdfgklmnprst", k=6))


def made_up_sentences(seed: int, numbers: range) -> Block:
    """Words of any kind in any order, so that neighbours say nothing, either."""
    random, lines = Random(seed), []
    for _ in range(120):
        for place in range(1, 6):
            kind = random.randrange(len(KINDS))
            form = made_up(kind, random.choice(numbers))
            lines.append(f"{place}\t{form}\t{form}\t{KINDS[kind]}\t_\t_\t{place - 1}\tdep\t_\t_")
        lines.append("")
    return conllu_block("\n".join([*lines, ""]))


def test_an_unknown_word_is_tagged_by_its_cluster() -> None:
    known, unknown = made_up_sentences(0, range(40)), made_up_sentences(1, range(40, 80))
    bits = {made_up(kind, number): f"{kind:02b}" for kind in range(len(KINDS)) for number in range(80)}
    table = cluster_table(cluster_arrays(Clusters(bits, dict.fromkeys(bits, 5))))
    right = unknown.column(UPOS)
    accuracy = []
    for clusters in (NO_CLUSTERS, table):
        tagged = learn([known], clusters, bits=14).tag(unknown, anew=True)
        accuracy.append(
            np.mean([one == other for one, other in zip(tagged.column(UPOS), right, strict=True)])
        )
    assert accuracy[0] < 0.5  # chance is a third
    assert accuracy[1] > 0.95


def test_the_mean_of_taggers_keeps_the_clusters() -> None:
    tagger = mean_tagger([clustered_tagger(), clustered_tagger()])
    assert tagger.clusters is clustered_tagger().clusters


def test_threads_make_no_difference() -> None:
    options = Options(settings=SMALL)
    found: list[Prepared] = [
        prepare(data_blocks(), data_blocks(), options, Watcher(), jobs, data_clusters()) for jobs in (1, 3)
    ]
    one, other = found
    assert one.tagger is not None
    assert other.tagger is not None
    assert one.tagger.header == other.tagger.header
    assert asks_for_clusters(one.tagger.header["templates"])
    for name, array in one.tagger.arrays.items():
        assert array.tobytes() == other.tagger.arrays[name].tobytes()
    for a, b in zip([*one.train, *one.dev], [*other.train, *other.dev], strict=True):
        assert a.data.tobytes() == b.data.tobytes()


def test_a_tagger_without_its_clusters_is_refused() -> None:
    tagger = clustered_tagger()
    with pytest.raises(ValueError, match="trained with word clusters, which are missing"):
        Tagger(tagger.arrays, tagger.header)
    assert not asks_for_clusters(toy_tagger().header["templates"])
    Tagger(
        toy_tagger().arrays, toy_tagger().header, tagger.clusters
    )  # one that does not ask for them need not have them
