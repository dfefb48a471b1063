"""The tagger: a trained model of tags and lemmas at work on blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.arrays import Array, Arrays, checked
from arcwise.clusters.lookup import NO_CLUSTERS, ClusterTable
from arcwise.features.letters import ALPHABET
from arcwise.tagging.lemmas import LEMMA_FORMAT, lemma_rules, write_lemmas
from arcwise.tagging.lexicon import lexicon, lexicon_format, look_up
from arcwise.tagging.scoring import TagWeights, tag_sentences
from arcwise.tagging.spelling import spell
from arcwise.tagging.tagset import Tagset
from arcwise.tagging.templates import asks_for_clusters, compile_templates
from arcwise.tagging.writing import untagged, write_tags
from arcwise.treebank.block import Block, pack_names

_MOST_TEMPLATES = 250  # a sum of so many weights stays within int16
_LONGEST_TEMPLATES = 1 << 16  # letters, far more than those of so many


class Tagger:
    """Tags, features and lemmas for the words of a block. Safe to use from several threads at once.

    arrays, header: what is stored of it; clusters: those that its templates see. ValueError, or InputError, if these do not fit
    together.
    """

    def __init__(self, arrays: Arrays, header: dict[str, Any], clusters: ClusterTable = NO_CLUSTERS) -> None:
        tags = [(str(upos), str(xpos), str(feats)) for upos, xpos, feats in header["tags"]]
        self.tagset = Tagset(tags, [str(name) for name in header["fine"]])
        bits = int(header["bits"])
        if not 6 <= bits <= 28:
            raise ValueError(f"a tagger of 2^{bits} weights")
        table = {"table": Array(np.int8, ((1 << bits) + self.tagset.count,))}
        lemmas = LEMMA_FORMAT if LEMMA_FORMAT.keys() & arrays.keys() else {}
        self.arrays = checked(arrays, table | lexicon_format(len(tags)) | lemmas)
        self.header, self.clusters = header, clusters
        text = str(header["templates"])
        if len(text) > _LONGEST_TEMPLATES:
            raise ValueError(f"templates of {len(text)} letters, expected at most {_LONGEST_TEMPLATES}")
        templates = compile_templates(text)
        if len(templates) > _MOST_TEMPLATES:
            raise ValueError(f"{len(templates)} templates, expected at most {_MOST_TEMPLATES}")
        if asks_for_clusters(text) and not len(clusters.grains):
            raise ValueError("the tagger was trained with word clusters, which are missing")
        self._lexicon = lexicon(self.arrays)
        self._lemmas = lemma_rules(self.arrays) if lemmas else None
        self._names, self._first_name = pack_names([name.encode() for tag in tags for name in tag])
        self._weights = TagWeights(
            templates,
            self.arrays["table"].copy(),
            bits,
            self.tagset.parts,
            self.tagset.history,
            self._lexicon.first,
            self._lexicon.tags,
        )

    def tags(self, block: Block) -> NDArray[np.int32]:
        """The best tag of every word, as numbers of the tagset. Runs without the lock."""
        spelled, keys, _ = spell(block.data, block.starts, block.stops, block.words, ALPHABET, self.clusters)
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
        return block.rewritten(data)
