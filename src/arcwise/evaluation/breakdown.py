"""Where a system is right: scores by label, by length of the sentence and by length of the arc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.attachment import Scores
from arcwise.evaluation.comparison import Comparison
from arcwise.evaluation.score import Score

#: The last length of every bin but the last, which is open.
SENTENCE_LENGTHS = (10, 20, 30, 40, 50)
ARC_LENGTHS = (1, 2, 6, 15)


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label, its subtype included.

    label: how often it is right, whatever the head. heads, attachments: how many of its gold words have the
    right head, and the right head and label.
    """

    label: Score
    heads: int
    attachments: int

    @property
    def uas(self) -> float:
        """The part of the gold words with this label whose head is right."""
        return self.heads / self.label.gold if self.label.gold else 0.0

    @property
    def las(self) -> float:
        """The part of the gold words with this label whose head and label are right."""
        return self.attachments / self.label.gold if self.label.gold else 0.0


@dataclass(frozen=True, slots=True)
class LengthScore:
    """The gold sentences of some lengths and their attachment scores, labels with subtypes."""

    sentences: int
    uas: Score
    las: Score


def by_label(comparison: Comparison) -> dict[str, LabelScore]:
    """Scores of every label of either file, the most frequent in gold first, all words counted."""
    gold, system, alignment = comparison.gold.labels, comparison.system.labels, comparison.alignment
    names = comparison.gold.strings.names()
    aligned = gold[alignment.gold]

    def count(labels: NDArray[np.int32]) -> list[int]:
        counts: list[int] = np.bincount(labels, minlength=len(names)).tolist()
        return counts

    columns = zip(
        count(aligned[comparison.label_right]),
        count(gold),
        count(system),
        count(aligned),
        count(aligned[comparison.head_right]),
        count(aligned[comparison.head_right & comparison.label_right]),
        strict=True,
    )
    rows = [
        (name, LabelScore(Score(*counts[:4]), counts[4], counts[5]))
        for name, counts in zip(names, columns, strict=True)
        if counts[1] or counts[2]
    ]
    return dict(sorted(rows, key=lambda row: (-row[1].label.gold, row[0])))


def by_sentence_length(scores: Scores) -> dict[str, LengthScore]:
    """Attachment scores of the gold sentences in each bin of `SENTENCE_LENGTHS` that has any."""
    lengths = np.diff(scores.comparison.gold.starts)
    uas, las = scores.sentence_counts["subtypes", "UAS"], scores.sentence_counts["subtypes", "LAS"]
    bins = np.searchsorted(SENTENCE_LENGTHS, lengths)
    return {
        name: LengthScore(
            sentences=int((bins == number).sum()),
            uas=Score(*uas[bins == number].sum(axis=0).tolist()),
            las=Score(*las[bins == number].sum(axis=0).tolist()),
        )
        for number, name in enumerate(_bin_names(SENTENCE_LENGTHS))
        if (bins == number).any()
    }


def by_arc_length(comparison: Comparison) -> dict[str, Score]:
    """Scores of the arcs from the root, and of the others in each bin of `ARC_LENGTHS` that has any.

    Precision is over the system's arcs of that length, recall over the gold arcs of that length. Where the
    words of the files differ, a right arc counts with its length in gold words.

    McDonald and Nivre, 2011: Analyzing and Integrating Dependency Parsers.
    """
    gold, system = (_arc_bins(columns.parents()) for columns in (comparison.gold, comparison.system))
    alignment, right = comparison.alignment, comparison.head_right
    system[alignment.system[right]] = gold[alignment.gold[right]]
    names = ["root", *_bin_names(ARC_LENGTHS)]
    counts = [
        np.bincount(bins[bins >= 0], minlength=len(names)).tolist()
        for bins in (gold[alignment.gold[right]], gold, system)
    ]
    rows = zip(names, *counts, strict=True)
    return {name: Score(*row) for name, *row in rows if any(row)}


def _arc_bins(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each word's arc: 0 for the root, then those of `ARC_LENGTHS`; -1 without a head."""
    lengths = np.abs(parents - np.arange(len(parents)))
    bins = 1 + np.searchsorted(ARC_LENGTHS, lengths)
    return np.where(parents >= 0, bins, parents + 1)


def _bin_names(lasts: tuple[int, ...]) -> list[str]:
    """What a bin is called.

    >>> _bin_names((1, 2, 6))
    ['1', '2', '3-6', '7+']
    """
    firsts = [1, *(last + 1 for last in lasts)]
    closed = [
        str(first) if first == last else f"{first}-{last}" for first, last in zip(firsts, lasts, strict=False)
    ]
    return [*closed, f"{firsts[-1]}+"]
