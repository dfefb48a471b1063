"""All that is said of one or two systems, as tables of plain values."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np

from arcwise.evaluation.attachment import Scores
from arcwise.evaluation.breakdown import by_arc_length, by_label, by_sentence_length
from arcwise.evaluation.calibration import Floats, attachment_calibrations, compare_trees
from arcwise.evaluation.columns import Columns
from arcwise.evaluation.comparison import Comparison
from arcwise.evaluation.score import Score
from arcwise.evaluation.significance import bootstrap_intervals, paired_bootstrap, sign_test

#: A table: rows with the same keys. Scores are fractions from 0 to 1, counts are whole numbers.
Table = list[dict[str, Any]]


# What each metric compares; one of columns that gold does not have at all is left out.
_COLUMNS = {
    "UPOS": ("upos",), "XPOS": ("xpos",), "UFeats": ("feats",), "AllTags": ("upos", "xpos", "feats"), "Lemmas": ("lemmas",),
    "MLAS": ("upos",), "BLEX": ("lemmas",),
}  # fmt: skip


def _has(gold: Columns, column: str) -> bool:
    return bool((getattr(gold, column) != gold.strings.number("_")).any())


def has_gold_tags(scores: Scores) -> bool:
    """Whether the tags of every word are those of gold: then they were given to the system, most likely, and not found by it."""
    metrics, gold = scores.metrics["UD"], scores.comparison.gold
    named = [name for name in ("UPOS", "XPOS", "UFeats") if _has(gold, *_COLUMNS[name])]
    return bool(named) and all(metrics[name].f1 == 1.0 for name in named)


def _fractions(score: Score) -> dict[str, Any]:
    return {"precision": score.precision, "recall": score.recall, "f1": score.f1}


def system_tables(scores: Scores, *, seed: int = 0, samples: int = 1000) -> dict[str, Table]:
    """The tables `scores`, `labels`, `sentence_lengths` and `arc_lengths` of one system. Columns that gold lacks have no scores.

    `low` and `high` bound the F1 in 95 of 100 bootstrap samples (None where no interval is computed).
    """
    intervals = bootstrap_intervals(scores.sentence_counts, seed=seed, samples=samples)
    metrics = [
        {
            "metric": metric,
            "convention": convention,
            **_fractions(score),
            "aligned_accuracy": score.aligned_accuracy,
            "low": intervals.get((convention, metric), (None, None))[0],
            "high": intervals.get((convention, metric), (None, None))[1],
            "correct": score.correct,
            "gold": score.gold,
            "system": score.system,
        }
        for convention, table in scores.metrics.items()
        for metric, score in table.items()
        if any(_has(scores.comparison.gold, column) for column in _COLUMNS.get(metric, ("forms",)))
    ]
    labels = [
        {
            "label": label,
            "convention": "subtypes",
            **_fractions(row.label),
            "uas": row.uas,
            "las": row.las,
            "gold": row.label.gold,
            "system": row.label.system,
        }
        for label, row in by_label(scores.comparison).items()
    ]
    sentence_lengths = [
        {
            "words": name,
            "convention": "subtypes",
            "uas": row.uas.f1,
            "las": row.las.f1,
            "sentences": row.sentences,
            "gold": row.uas.gold,
        }
        for name, row in by_sentence_length(scores).items()
    ]
    arc_lengths = [
        {"length": name, "convention": "subtypes", **_fractions(row), "gold": row.gold, "system": row.system}
        for name, row in by_arc_length(scores.comparison).items()
    ]
    return {
        "scores": metrics,
        "labels": labels,
        "sentence_lengths": sentence_lengths,
        "arc_lengths": arc_lengths,
    }


def significance_table(first: Scores, second: Scores, *, seed: int = 0, samples: int = 1000) -> Table:
    """How sure it is that `first` and `second` differ, for each attachment score of each convention."""
    bootstrap = paired_bootstrap(first.sentence_counts, second.sentence_counts, seed=seed, samples=samples)
    rows = []
    for (convention, metric), paired in bootstrap.items():
        sign = sign_test(
            first.sentence_counts[convention, metric], second.sentence_counts[convention, metric]
        )
        rows.append(
            {
                "metric": metric,
                "convention": convention,
                "difference": paired.difference,
                "low": paired.low,
                "high": paired.high,
                "bootstrap_p": paired.p,
                "better": sign.better,
                "worse": sign.worse,
                "sign_p": sign.p,
            }
        )
    return rows


def calibration_tables(
    comparison: Comparison, confidences: Floats, trees: Floats | None = None
) -> dict[str, Table]:
    """The tables `calibration` and, bin by bin, `heads_reliability`, `labels_reliability`, `both_reliability` and, if `trees` are
    given, `trees_reliability` of one system.

    confidences, trees: as `read_confidences` and `read_tree_probabilities` give them. A mean over no words is None.
    """
    calibrations = attachment_calibrations(comparison, confidences, trees)
    aligned = comparison.alignment.system
    left_out = {
        "not_aligned": len(comparison.system) - len(aligned),
        "unknown": int(np.isnan(confidences[0, aligned]).sum()),
    }
    whole = {}
    if trees is not None:
        sentences = compare_trees(comparison)[0]
        whole = {"not_aligned": int((~sentences).sum()), "unknown": int(np.isnan(trees[sentences]).sum())}
    summary = [
        {
            "probability": name,
            "convention": "subtypes",
            **_means(found.confidence, found.accuracy),
            "ece": _known(found.ece),
            "mce": _known(found.mce),
            "brier": _known(found.brier),
            "log_loss": _known(found.log_loss),
            "words": found.words,
            **(whole if name == "trees" else left_out),
        }
        for name, found in calibrations.items()
    ]
    reliability = {}
    for name, found in calibrations.items():
        bins = len(found.bin_words)
        rows = zip(found.bin_words.tolist(), found.bin_confidence, found.bin_accuracy, strict=True)
        reliability[f"{name}_reliability"] = [
            {
                "bin": f"{number / bins:g}-{(number + 1) / bins:g}",
                "convention": "subtypes",
                **_means(float(confidence), float(accuracy)),
                "words": words,
            }
            for number, (words, confidence, accuracy) in enumerate(rows)
        ]
    return {"calibration": summary, **reliability}


def _means(confidence: float, accuracy: float) -> dict[str, float | None]:
    return {
        "confidence": _known(confidence),
        "accuracy": _known(accuracy),
        "difference": _known(confidence - accuracy),
    }


def _known(value: float) -> float | None:
    return None if isnan(value) else value
