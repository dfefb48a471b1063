"""Are words right as often as a parser said they would be? Reliability of the probabilities that it wrote."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.evaluation.columns import Columns
from arcwise.evaluation.comparison import Comparison
from arcwise.treebank.block import Block
from arcwise.treebank.reading import Treebank

Floats = NDArray[np.float64]

#: The probabilities that are measured, and what they mean.
PROBABILITIES = {
    "heads": "ArcProb, that the head is right",
    "labels": "LabelProb, that the label with its subtype is right; it is given the tree, so of words whose head is right",
    "both": "ArcProb times LabelProb, that head and label with its subtype are right",
    "trees": "tree_prob, that all heads and labels with their subtypes are right; its words are sentences",
}
_ENTRIES = ("ArcProb", "LabelProb")  # in MISC
_LEAST = 5e-5  # in logarithms: half of the last digit that is written
_EXPECTED = "a probability from 0 to 1, as `arcwise parse --confidence` writes it to MISC"
_TREE_PROB = b"tree_prob"  # in comments


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How well probabilities fit what was the case, in B bins of equal width; all that is a mean is NaN where there are no words.

    bin_words: int64 (B). bin_confidence, bin_accuracy: float64 (B), the mean probability, and the share that is right.
    confidence, accuracy: the same of all words. brier: the mean of (probability - right)^2. log_loss: the mean of -log of the
    probability of what was the case, which is taken to be 0.00005 at least.
    """

    bin_words: NDArray[np.int64]
    bin_confidence: Floats
    bin_accuracy: Floats
    confidence: float
    accuracy: float
    brier: float
    log_loss: float

    @property
    def words(self) -> int:
        """How many words were counted."""
        return int(self.bin_words.sum())

    @property
    def ece(self) -> float:
        """The expected calibration error: the mean of |confidence - accuracy| over bins, weighted by their words."""
        return float(np.sum(self.bin_words * self._gaps) / self.words) if self.words else np.nan

    @property
    def mce(self) -> float:
        """The maximum calibration error: the greatest |confidence - accuracy| of a bin."""
        return float(self._gaps.max()) if self.words else np.nan

    @property
    def _gaps(self) -> Floats:
        gaps: Floats = np.nan_to_num(np.abs(self.bin_confidence - self.bin_accuracy))
        return gaps


def calibration(probabilities: ArrayLike, right: ArrayLike, *, bins: int = 10) -> Calibration:
    """How well the probabilities of some events, each of being right, fit what was the case. O(words).

    probabilities: from 0 to 1, shape (W). right: bool (W). A bin has its lower bound, the last one both.

    Naeini, Cooper and Hauskrecht, 2015: Obtaining Well Calibrated Probabilities Using Bayesian Binning (ECE, MCE); Brier, 1950.

    >>> found = calibration([0.9, 0.9, 0.9, 0.6], [True, True, False, False])
    >>> found.words, round(found.ece, 3), round(found.mce, 3), round(found.brier, 4)
    (4, 0.325, 0.6, 0.2975)
    """
    p, y = np.asarray(probabilities, np.float64), np.asarray(right, np.bool_)
    if p.ndim != 1 or p.shape != y.shape or bins < 1:
        raise InputError(
            f"probabilities and events of shapes {p.shape} and {y.shape} for {bins} bins",
            expected="one for each word, and 1 or more bins",
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"probability {p[~((p >= 0) & (p <= 1))][0]}", expected="a number from 0 to 1")
    of_word = np.searchsorted(np.arange(1, bins) / bins, p, side="right")
    words = np.bincount(of_word, minlength=bins)
    of_the_case = np.clip(np.where(y, p, 1 - p), _LEAST, 1 - _LEAST)
    sums = [float(column.sum()) for column in (p, y, np.square(p - y), -np.log(of_the_case))]
    with np.errstate(invalid="ignore"):  # 0 / 0
        return Calibration(
            words,
            np.bincount(of_word, p, bins) / words,
            np.bincount(of_word, y, bins) / words,
            *(total / len(p) if len(p) else np.nan for total in sums),
        )


def read_confidences(treebank: Treebank, columns: Columns) -> Floats:
    """ArcProb and LabelProb of every word, float64 (2, W); NaN in sentences without any, which were parsed in pieces. O(bytes).

    columns: those of the treebank. Raises InputError, if there are none at all, if a word lacks what others of its sentence have,
    or if an entry is no probability.
    """
    confidences = np.full((len(_ENTRIES), len(columns)), np.nan)
    for word, misc in enumerate([misc for block in treebank.blocks() for misc in _misc(block)]):
        if b"Prob=" not in misc:
            continue
        entries: dict[bytes, bytes] = dict(entry.partition(b"=")[::2] for entry in misc.split(b"|"))
        for row, name in enumerate(_ENTRIES):
            text = entries.get(name.encode())
            if text is not None:
                confidences[row, word] = _probability(text, name, columns, word)
    known = ~np.isnan(confidences)
    sentence = np.repeat(np.arange(len(columns.starts) - 1), np.diff(columns.starts))
    in_sentence = np.bincount(sentence[known.any(axis=0)], minlength=len(columns.starts) - 1) > 0
    missing = ~known & (in_sentence[sentence] | ~known.any())
    if missing.any():
        word = int(np.argmax(missing.any(axis=0)))
        name = _ENTRIES[int(np.argmax(missing[:, word]))]
        raise columns.error(word, f"no {name}", expected=_EXPECTED)
    return confidences


def read_tree_probabilities(treebank: Treebank, columns: Columns) -> Floats:
    """The probability of every sentence's tree, float64 (S); NaN where no comment tells it. O(bytes).

    columns: those of the treebank. Raises InputError if a comment's value is no probability.
    """
    found = np.full(len(columns.starts) - 1, np.nan)
    sentence = 0
    for block in treebank.blocks():
        data = block.data.tobytes()
        for begin, first in zip(block.sentence_bytes[:-1].tolist(), block.words[:-1].tolist(), strict=True):
            for line in data[begin : block.starts[first, 0]].split(b"\n"):
                name, equals, value = line.removeprefix(b"#").partition(b"=")
                if line.startswith(b"#") and equals and name.strip() == _TREE_PROB:
                    word = int(columns.starts[sentence])
                    found[sentence] = _probability(value.strip(), _TREE_PROB.decode(), columns, word)
            sentence += 1
    return found


def _misc(block: Block) -> list[bytes]:
    """The last column of every word."""
    lines = block.data.tobytes().split(b"\n")
    return [line.rpartition(b"\t")[2] for line in lines if line.partition(b"\t")[0].isdigit()]


def _probability(text: bytes, name: str, columns: Columns, word: int) -> float:
    try:
        probability = float(text)
    except ValueError:
        probability = np.nan
    if not 0 <= probability <= 1:
        raise columns.error(word, f"{name} is {text.decode()!r}", expected=_EXPECTED)
    return probability


def attachment_calibrations(
    comparison: Comparison, confidences: Floats, trees: Floats | None = None
) -> dict[str, Calibration]:
    """How well each of `PROBABILITIES` fits what is right, of the words, or of the sentences, that are aligned and have one.

    confidences: of the system's words, as `read_confidences` gives them. trees: of its sentences, as `read_tree_probabilities`
    gives them, if these are to be measured.
    """
    arcs, labels = confidences[:, comparison.alignment.system]
    known = ~np.isnan(arcs)
    head, label = comparison.head_right & known, comparison.label_right
    found = {
        "heads": calibration(arcs[known], head[known]),
        "labels": calibration(labels[head], label[head]),
        "both": calibration((arcs * labels)[known], (head & label)[known]),
    }
    if trees is not None:
        aligned, right = compare_trees(comparison)
        counted = aligned & ~np.isnan(trees)
        found["trees"] = calibration(trees[counted], right[counted])
    return found


def compare_trees(comparison: Comparison) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of every sentence of the system: whether it is one of the gold sentences, word by word; and whether it then has all heads and
    labels right.
    """
    gold, system = comparison.alignment.gold, comparison.alignment.system
    sizes = np.diff(comparison.system.starts)
    of_words = np.repeat(np.arange(len(sizes)), sizes)[system]
    aligned = np.bincount(of_words, minlength=len(sizes)) == sizes
    homes = comparison.gold_sentence[gold]
    for extreme in (np.minimum, np.maximum):  # all words come from one gold sentence, of as many words
        home = np.full(len(sizes), -1 if extreme is np.maximum else len(comparison.gold_sentence))
        extreme.at(home, of_words, homes)
        known = np.clip(home, 0, len(comparison.gold.starts) - 2)
        aligned &= np.diff(comparison.gold.starts)[known] == sizes
        aligned[of_words[homes != home[of_words]]] = False
    wrong = ~(comparison.head_right & comparison.label_right)
    return aligned, aligned & (np.bincount(of_words, wrong, len(sizes)) == 0)
