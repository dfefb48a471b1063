"""Attachment scores of a system's trees, under each of the field's conventions."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import category

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.evaluation.columns import ROOT, Columns, Strings, Trees, read_columns
from arcwise.evaluation.comparison import Comparison, Mask, compare
from arcwise.evaluation.score import Score
from arcwise.evaluation.universal import universal_scores

#: What is counted under each convention, and what makes a label right.
CONVENTIONS = {
    "UD": "as udeval (CoNLL 2018): all words, labels without subtypes",
    "subtypes": "all words, labels with subtypes",
    "CoNLL-X": "as eval.pl: words made only of punctuation are not scored, labels with subtypes",
}


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of one system.

    metrics: by convention (see `CONVENTIONS`) and name. UAS: heads. LA: labels. LAS: heads and labels. Root:
    words attached to the root. UEM, LEM: whole trees, without and with labels. The others are those of
    `universal_scores`.

    sentence_counts: for the attachment scores UAS and LAS of each convention, int64 (S, 3): the correct, gold
    and system counts of every gold sentence. They sum to the score, and intervals and significance are
    computed from them.
    """

    metrics: dict[str, dict[str, Score]]
    sentence_counts: dict[tuple[str, str], NDArray[np.int64]]
    comparison: Comparison

    @property
    def uas(self) -> float:
        """F1 of the heads of all words, from 0 to 1."""
        return self.metrics["UD"]["UAS"].f1

    @property
    def las(self) -> float:
        """F1 of the heads and labels without subtypes of all words (the UD convention), from 0 to 1."""
        return self.metrics["UD"]["LAS"].f1


def evaluate(gold: Trees, system: Trees) -> Scores:
    """The scores of `system` against `gold`, each a file or sentences.

    The UD metrics equal those of `udeval`. Words are aligned by characters (see `align`), so the two may
    differ in tokens, words and sentences, but not in text. A HEAD of `_` counts as wrong in `system` and is
    refused in `gold`. Time and memory are linear in the size of the treebanks.

    >>> from arcwise import Sentence
    >>> labels = ["nsubj:pass", "root", "punct"]
    >>> gold = Sentence.from_words(["He", "left", "."], heads=[2, 0, 2], labels=labels)
    >>> system = gold.replace(heads=[2, 0, 1], labels=["nsubj", "root", "punct"])
    >>> scores = evaluate([gold], [system])
    >>> for convention in scores.metrics:
    ...     las = scores.metrics[convention]["LAS"]
    ...     print(f"{convention}: {las.correct} of {las.gold}")
    UD: 2 of 3
    subtypes: 1 of 3
    CoNLL-X: 1 of 2
    """
    strings = Strings()
    return attachment_scores(read_columns(gold, strings), read_columns(system, strings))


def attachment_scores(gold: Columns, system: Columns) -> Scores:
    """As `evaluate`, of treebanks that have been read into columns with the same `Strings`."""
    comparison = compare(gold, system)
    head, labelled = comparison.head_right, comparison.head_right & comparison.label_right
    every_word = np.ones(len(gold), np.bool_), np.ones(len(system), np.bool_)
    not_punctuation = ~_is_punctuation(gold), ~_is_punctuation(system)
    counted = {
        ("UD", "UAS"): (head, *every_word),
        ("UD", "LAS"): (head & comparison.universal_right, *every_word),
        ("subtypes", "UAS"): (head, *every_word),
        ("subtypes", "LAS"): (labelled, *every_word),
        ("CoNLL-X", "UAS"): (head, *not_punctuation),
        ("CoNLL-X", "LAS"): (labelled, *not_punctuation),
    }
    return Scores(
        metrics={
            "UD": universal_scores(comparison),
            "subtypes": {
                "UAS": comparison.score(head),
                "LA": comparison.score(comparison.label_right),
                "LAS": comparison.score(labelled),
                "Root": _root_score(comparison),
                "UEM": _tree_score(comparison, head),
                "LEM": _tree_score(comparison, labelled),
            },
            "CoNLL-X": {
                "UAS": comparison.score(head, *not_punctuation),
                "LA": comparison.score(comparison.label_right, *not_punctuation),
                "LAS": comparison.score(labelled, *not_punctuation),
            },
        },
        sentence_counts={name: comparison.sentence_counts(*which) for name, which in counted.items()},
        comparison=comparison,
    )


def accuracy(
    gold_heads: ArrayLike, gold_labels: ArrayLike, heads: ArrayLike, labels: ArrayLike
) -> tuple[float, float]:
    """UAS and LAS, from 0 to 1, of trees over the same words: what a training run needs after an epoch.

    Four arrays of one length, one entry per word, of one or of many sentences; labels as numbers or as
    strings, right if equal. Entries whose gold head is negative (the root's own) are not counted. Without
    any, both are 0.

    >>> accuracy([-1, 2, 0, 2], [0, 1, 2, 3], [-1, 2, 0, 1], [0, 1, 4, 3])
    (0.6666666666666666, 0.3333333333333333)
    """
    columns = [np.asarray(column) for column in (gold_heads, gold_labels, heads, labels)]
    if len({column.shape for column in columns}) > 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise InputError(f"arrays of shapes {shapes}", expected="one shape")
    counted = columns[0] >= 0
    head_right = (columns[0] == columns[2]) & counted
    words = max(1, int(counted.sum()))
    return int(head_right.sum()) / words, int((head_right & (columns[1] == columns[3])).sum()) / words


def is_punctuation(form: str) -> bool:
    r"""Whether a word is only Unicode punctuation, which eval.pl leaves out: Perl's `^\p{Punctuation}+$`.

    >>> is_punctuation("?!"), is_punctuation("$"), is_punctuation("e.g.")
    (True, False, False)
    """
    return form != "" and all(category(character)[0] == "P" for character in form)


def _is_punctuation(columns: Columns) -> Mask:
    return columns.strings.each(columns.forms, is_punctuation).astype(np.bool_)


def _root_score(comparison: Comparison) -> Score:
    """The words whose head is the root, in both files."""
    correct = comparison.gold_parent[comparison.head_right] == ROOT
    gold, system = comparison.gold.heads == 0, comparison.system.heads == 0
    return Score(int(correct.sum()), int(gold.sum()), int(system.sum()))


def _tree_score(comparison: Comparison, right: Mask) -> Score:
    """The gold sentences that are sentences of the system as well, with all their words right."""
    gold, system, alignment = comparison.gold, comparison.system, comparison.alignment
    right_words = np.bincount(comparison.gold_sentence[alignment.gold[right]], minlength=len(gold.starts) - 1)
    complete = np.flatnonzero(right_words == np.diff(gold.starts))
    # A complete sentence has no word without counterpart: its first word's counterpart must begin a sentence
    # as long.
    first = np.searchsorted(alignment.gold, gold.starts[complete])
    begin = np.searchsorted(system.starts, alignment.system[first])
    whole = (system.starts[begin] == alignment.system[first]) & (
        np.diff(system.starts, append=0)[begin] == np.diff(gold.starts)[complete]
    )
    return Score(int(whole.sum()), len(gold.starts) - 1, len(system.starts) - 1)
