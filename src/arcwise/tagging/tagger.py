"""The tagger: a trained model of tags and lemmas at work on blocks, and how it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.tagging.learning import make_tag_training, tag_epoch
from arcwise.tagging.lemmas import learn_lemmas, lemma_rules, suffix_keys, write_lemmas
from arcwise.tagging.lexicon import learn_lexicon, lexicon, look_up
from arcwise.tagging.scoring import TagWeights, tag_sentences
from arcwise.tagging.spelling import ALPHABET, spell
from arcwise.tagging.tagset import Tag, Tagset
from arcwise.tagging.templates import TEMPLATES, compile_templates
from arcwise.tagging.writing import untagged, write_tags
from arcwise.treebank.block import FEATS, FORM, LEMMA, UPOS, XPOS, Block, index_block, pack_names

BITS = 22
EPOCHS = 4
FOLDS = 10

Arrays = dict[str, NDArray[Any]]


class Tagger:
    """Tags, features and lemmas for the words of a block. Safe to use from several threads at once.

    arrays, header: what is stored of it; ValueError if they do not fit together.
    """

    def __init__(self, arrays: Arrays, header: dict[str, Any]) -> None:
        self.arrays, self.header = arrays, header
        tags = [(str(upos), str(xpos), str(feats)) for upos, xpos, feats in header["tags"]]
        self.tagset = Tagset(tags, [str(name) for name in header["fine"]])
        bits = int(header["bits"])
        table = arrays["table"]
        if not 6 <= bits <= 28 or table.dtype != np.int8 or table.shape != ((1 << bits) + self.tagset.count,):
            raise ValueError(f"the tagger's table is {table.dtype} {table.shape}, for 2^{bits} weights")
        templates = compile_templates(str(header["templates"]))
        if len(templates) > 250:  # a sum of so many weights stays within int16
            raise ValueError(f"{len(templates)} templates, expected at most 250")
        self._lexicon = lexicon(arrays, len(tags))
        self._lemmas = lemma_rules(arrays) if "lemmas.keys" in arrays else None
        self._names, self._first_name = pack_names([name.encode() for tag in tags for name in tag])
        self._weights = TagWeights(
            templates,
            table.copy(),
            bits,
            self.tagset.parts,
            self.tagset.history,
            self._lexicon.first,
            self._lexicon.tags,
        )

    def tags(self, block: Block) -> NDArray[np.int32]:
        """The best tag of every word, as numbers of the tagset. Runs without the lock."""
        spelled, keys, _ = spell(block.data, block.starts, block.stops, block.words, ALPHABET)
        return self.tags_of(spelled, keys, block.words)

    def tags_of(
        self, spelled: NDArray[np.uint32], keys: NDArray[np.uint64], boundaries: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """The same for words that are spelled already; changes `spelled`."""
        lists, tags = np.empty(len(keys), np.uint16), np.empty(len(keys), np.int32)
        look_up(keys, self._lexicon, spelled, lists)
        tag_sentences(spelled, lists, boundaries, self._weights, tags)
        return tags

    def tag(self, block: Block, *, anew: bool = False) -> Block:
        """The block with tags and lemmas in the sentences that have no tags; with `anew`, in all. Runs without the lock."""
        chosen = (
            np.ones(len(block.heads), np.bool_) if anew
            else untagged(block.data, block.starts, block.stops, block.words)
        )  # fmt: skip
        if not chosen.any():
            return block
        return self.with_tags(block, self.tags(block), chosen)

    def with_tags(self, block: Block, tags: NDArray[np.int32], chosen: NDArray[np.bool_]) -> Block:
        """The block with these tags, and the lemmas that go with them, in the chosen words."""
        lemmas, first = np.empty(0, np.uint8), np.zeros(len(tags) + 1, np.int64)
        if self._lemmas is not None:
            fine = self.tagset.history[tags, 1]
            lemmas, first = write_lemmas(block.data, block.starts, block.stops, fine, self._lemmas, ALPHABET)
        data = write_tags(
            block.data, block.starts, block.stops, chosen, tags, self._names, self._first_name, lemmas, first
        )
        tagged, errors = index_block(
            data, block.format, file=block.file, first_line=block.first_line, check_trees=False
        )
        if errors and errors[0] is not None:  # a line that has become too long
            raise errors[0]
        tagged.lines = block.lines
        return tagged


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


def read_words(blocks: Sequence[Block]) -> Words | None:
    """The words of a treebank; None if it has no tags."""
    columns = [[value for block in blocks for value in block.column(role)] for role in (UPOS, XPOS, FEATS)]
    given: list[Tag] = list(zip(*columns, strict=True))
    if set(columns[0]) | set(columns[1]) <= {"_"}:
        return None
    tagset = Tagset.of(given)
    numbers = {tag: number for number, tag in enumerate(tagset.tags)}
    spelled = [spell(block.data, block.starts, block.stops, block.words, ALPHABET) for block in blocks]
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
    )


def train_tagger(
    words: Words,
    sentences: NDArray[np.int64],
    *,
    seed: int,
    bits: int = BITS,
    epochs: int = EPOCHS,
    templates: str = TEMPLATES,
    progress: Callable[[int, int, float], None] | None = None,
) -> Tagger:
    """A tagger learned from some of a treebank's sentences. The same seed gives the same tagger.

    progress: is told the epoch, of how many, and the share of words tagged wrong in it.
    """
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
    known = lexicon(arrays, len(tagset.tags))
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
    arrays["table"], unit = _quantised(averaged)
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
    return Tagger(arrays, header)


def _quantised(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """The weights as int8, and their unit."""
    unit = (float(np.abs(weights).max()) or 1.0) / 127
    return np.rint(weights / np.float32(unit)).astype(np.int8), unit


def mean_tagger(taggers: Sequence[Tagger]) -> Tagger:
    """The last tagger with the mean weights of all, which have learned from parts of one treebank: better than any of them."""
    total = sum(tagger.arrays["table"] * np.float32(tagger.header["unit"]) for tagger in taggers)
    table, unit = _quantised(np.asarray(total, np.float32))
    last = taggers[-1]
    return Tagger(last.arrays | {"table": table}, last.header | {"unit": unit})
