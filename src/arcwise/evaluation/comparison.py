"""A system's trees beside the gold trees, word by word: what all scores are counted from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.alignment import Alignment, align
from arcwise.evaluation.columns import Columns
from arcwise.evaluation.score import Score

Mask = NDArray[np.bool_]

_NOT_ALIGNED = -3  # a head that is a word without counterpart: unlike any gold head


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two files over the same text, aligned, and which heads and labels are right.

    Words are numbered through a file from 0. gold_parent, system_parent: for each of the A aligned words the
    number of its gold head, and of the gold word that is the system's head; -1 for the root. gold_universal,
    system_universal: the labels of all words without their subtypes. head_right, label_right,
    universal_right: bool, length A. gold_sentence: for every gold word, its sentence.
    """

    gold: Columns
    system: Columns
    alignment: Alignment
    gold_parent: NDArray[np.int64]
    system_parent: NDArray[np.int64]
    gold_universal: NDArray[np.int32]
    system_universal: NDArray[np.int32]
    head_right: Mask
    label_right: Mask
    universal_right: Mask
    gold_sentence: NDArray[np.int64]

    def same(self, gold: NDArray[np.int32], system: NDArray[np.int32]) -> Mask:
        """Which aligned words have equal numbers in two columns; bool, length A."""
        same: Mask = gold[self.alignment.gold] == system[self.alignment.system]
        return same

    def score(self, right: Mask, gold: Mask | None = None, system: Mask | None = None) -> Score:
        """How many aligned words are right, counting only the words that `gold` and `system` are true for."""
        if gold is None or system is None:
            return Score(int(right.sum()), len(self.gold), len(self.system), len(right))
        counted = gold[self.alignment.gold]
        return Score(int((right & counted).sum()), int(gold.sum()), int(system.sum()), int(counted.sum()))

    def sentence_counts(self, right: Mask, gold: Mask, system: Mask) -> NDArray[np.int64]:
        """`score` of each gold sentence: int64 (S, 3), the correct, gold and system counts.

        A system word belongs to the gold sentence in whose text it begins.
        """
        right_words = self.alignment.gold[right & gold[self.alignment.gold]]
        sentences = (
            self.gold_sentence[right_words],
            self.gold_sentence[gold],
            self.alignment.home[system],
        )
        size = len(self.gold.starts) - 1
        return np.stack([np.bincount(sentence, minlength=size) for sentence in sentences], axis=1)


def without_subtype(label: str) -> str:
    """The universal part of a label.

    >>> without_subtype("acl:relcl")
    'acl'
    """
    return label.partition(":")[0]


def compare(gold: Columns, system: Columns) -> Comparison:
    """Align the words of two files and compare their heads and labels. As fast as `align`.

    Raises InputError if the texts differ, or if a gold word has no head.
    """
    missing = np.flatnonzero(gold.heads < 0)
    if len(missing):
        raise gold.error(int(missing[0]), "HEAD is '_'", expected="a head for every word of the gold file")
    alignment = align(gold, system)
    to_gold = np.where(alignment.to_gold < 0, _NOT_ALIGNED, alignment.to_gold)
    parents = system.parents()
    gold_parent = gold.parents()[alignment.gold]
    system_parent = np.where(parents >= 0, to_gold[np.maximum(parents, 0)], parents)[alignment.system]
    strings = gold.strings
    gold_universal, system_universal = (
        strings.each(columns.labels, lambda label: strings.number(without_subtype(label)))
        for columns in (gold, system)
    )
    return Comparison(
        gold=gold,
        system=system,
        alignment=alignment,
        gold_parent=gold_parent,
        system_parent=system_parent,
        gold_universal=gold_universal,
        system_universal=system_universal,
        head_right=gold_parent == system_parent,
        label_right=gold.labels[alignment.gold] == system.labels[alignment.system],
        universal_right=gold_universal[alignment.gold] == system_universal[alignment.system],
        gold_sentence=np.repeat(np.arange(len(gold.starts) - 1), np.diff(gold.starts)),
    )
