"""How a tagger is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.lookup import NO_CLUSTERS, ClusterTable
from arcwise.features.letters import ALPHABET
from arcwise.features.quantising import quantise
from arcwise.tagging.learning import make_tag_training, tag_epoch
from arcwise.tagging.lemmas import learn_lemmas, suffix_keys
from arcwise.tagging.lexicon import learn_lexicon, lexicon, look_up
from arcwise.tagging.spelling import spell
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.tagset import Tag, Tagset
from arcwise.tagging.templates import CLUSTER_TEMPLATES, TEMPLATES, compile_templates
from arcwise.treebank.block import FEATS, FORM, LEMMA, UPOS, XPOS, Block

BITS = 22
EPOCHS = 4
FOLDS = 10


class Words(NamedTuple):
    """All words of a treebank as the tagger's training sees them. boundaries: of its sentences. blocks: where they come from."""

    spelled: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    capitals: NDArray[np.bool_]
    boundaries: NDArray[np.int32]
    tags: NDArray[np.int32]
    tagset: Tagset
    forms: list[str]
    lemmas: list[str]
    blocks: Sequence[Block]
    clusters: ClusterTable


def read_words(blocks: Sequence[Block], clusters: ClusterTable = NO_CLUSTERS) -> Words | None:
    """The words of a treebank; None if it has no tags."""
    columns = [[value for block in blocks for value in block.column(role)] for role in (UPOS, XPOS, FEATS)]
    given: list[Tag] = list(zip(*columns, strict=True))
    if set(columns[0]) | set(columns[1]) <= {"_"}:
        return None
    tagset = Tagset.of(given)
    numbers = {tag: number for number, tag in enumerate(tagset.tags)}
    spelled = [
        spell(block.data, block.starts, block.stops, block.words, ALPHABET, clusters) for block in blocks
    ]
    offsets = np.cumsum([0, *(len(block.heads) for block in blocks)])
    bounds = [block.words[1:] + offset for block, offset in zip(blocks, offsets, strict=False)]
    return Words(
        spelled=np.concatenate([part[0] for part in spelled]),
        keys=np.concatenate([part[1] for part in spelled]),
        capitals=np.concatenate([part[2] for part in spelled]),
        boundaries=np.concatenate([[0], *bounds]).astype(np.int32),
        tags=np.array([numbers[tag] for tag in given], np.int32),
        tagset=tagset,
        forms=[form for block in blocks for form in block.column(FORM)],
        lemmas=[lemma for block in blocks for lemma in block.column(LEMMA)],
        blocks=blocks,
        clusters=clusters,
    )


def train_tagger(
    words: Words,
    sentences: NDArray[np.int64],
    *,
    seed: int,
    bits: int = BITS,
    epochs: int = EPOCHS,
    templates: str | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> Tagger:
    """A tagger learned from some of a treebank's sentences. The same seed gives the same tagger.

    templates: TEMPLATES if not given, and CLUSTER_TEMPLATES where there are clusters. progress: is told the epoch, of how many,
    and the share of words tagged wrong in it.
    """
    if templates is None:
        templates = TEMPLATES + (CLUSTER_TEMPLATES if len(words.clusters.grains) else "")
    tagset, table = words.tagset, compile_templates(templates)
    chosen = np.zeros(len(words.boundaries) - 1, np.bool_)
    chosen[sentences] = True
    lengths = np.diff(words.boundaries)
    inside = np.repeat(chosen, lengths)
    first = np.zeros(len(inside), np.bool_)
    first[words.boundaries[:-1][lengths > 0]] = True
    arrays, occurrences = learn_lexicon(
        words.keys[inside], words.capitals[inside], first[inside], words.tags[inside], tagset.history[:, 1]
    )
    known = lexicon(arrays)
    spelled, lists = words.spelled.copy(), np.empty(len(words.keys), np.uint16)
    look_up(words.keys, known, spelled, lists)
    counts = np.ones(len(inside), np.int64)
    counts[inside] = occurrences

    training, step = make_tag_training(bits, tagset.count), 0
    for epoch in range(epochs):
        order = np.random.default_rng([seed, epoch]).permutation(sentences)
        wrong = tag_epoch(
            spelled, lists, words.boundaries, order, words.tags, counts, table, bits, tagset.parts, tagset.history,
            known.first, known.tags, training, seed & 0xFFFFFFFF, step,
        )  # fmt: skip
        step += int(lengths[sentences].sum())
        if progress:
            progress(epoch + 1, epochs, wrong / max(1, int(lengths[sentences].sum())))
    averaged = training.weights - training.moves / np.float32(max(step, 1))
    arrays["table"], unit = quantise(averaged)
    if set(words.lemmas) != {"_"}:
        fine = tagset.history[words.tags, 1]
        offsets = np.cumsum([0, *(len(block.heads) for block in words.blocks)])
        keys = [
            suffix_keys(block.data, block.starts, block.stops, fine[a:b], ALPHABET)
            for block, a, b in zip(words.blocks, offsets[:-1], offsets[1:], strict=True)
        ]
        where = np.flatnonzero(inside)
        arrays |= learn_lemmas(
            np.concatenate(keys)[inside], [words.forms[i] for i in where], [words.lemmas[i] for i in where]
        )
    header = {"tags": tagset.tags, "fine": tagset.fine, "bits": bits, "unit": unit, "templates": templates}
    return Tagger(arrays, header, words.clusters)


def mean_tagger(taggers: Sequence[Tagger]) -> Tagger:
    """The last tagger with the mean weights of all, which have learned from parts of one treebank: better than any of them."""
    total = sum(tagger.arrays["table"] * np.float32(tagger.header["unit"]) for tagger in taggers)
    table, unit = quantise(np.asarray(total, np.float32))
    last = taggers[-1]
    return Tagger(last.arrays | {"table": table}, last.header | {"unit": unit}, last.clusters)
