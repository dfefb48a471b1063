"""The metrics of Universal Dependencies: those of the CoNLL 2018 shared task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.evaluation.columns import Columns
from arcwise.evaluation.comparison import Comparison, Mask
from arcwise.evaluation.score import Score

# fmt: off
CONTENT_LABELS = frozenset({
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl",
    "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound",
    "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
})
FUNCTION_LABELS = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
UNIVERSAL_FEATURES = frozenset({
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case",
    "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person",
    "Polite",
})
# fmt: on


def universal_features(feats: str) -> str:
    """The features that are the same for all languages, sorted.

    >>> universal_features("Typo=Yes|Tense=Past|Number=Sing")
    'Number=Sing|Tense=Past'
    """
    return "|".join(sorted(f for f in feats.split("|") if f.partition("=")[0] in UNIVERSAL_FEATURES))


def universal_scores(comparison: Comparison) -> dict[str, Score]:
    """The metrics of `udeval`, equal to the last digit, and the accuracy of labels (LA), in linear time.

    UAS: head. LAS: head and label without subtype. CLAS: LAS of the words with content labels, function words
    and punctuation left out. MLAS: CLAS with the part of speech, the universal features and the function
    words below the word right as well. BLEX: CLAS with the lemma right as well.

    Zeman et al., 2018: CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies.
    """
    gold, system, alignment = comparison.gold, comparison.system, comparison.alignment
    strings = gold.strings

    def features(columns: Columns) -> NDArray[np.int32]:
        return strings.each(columns.feats, lambda feats: strings.number(universal_features(feats)))

    def is_one_of(labels: NDArray[np.int32], names: frozenset[str]) -> Mask:
        return strings.each(labels, lambda label: label in names).astype(np.bool_)

    gold_labels, system_labels = comparison.gold_universal, comparison.system_universal
    upos = comparison.same(gold.upos, system.upos)
    xpos = comparison.same(gold.xpos, system.xpos)
    feats = comparison.same(features(gold), features(system))
    # Where the gold file gives no lemma, none can be wrong.
    lemmas = (
        comparison.same(gold.lemmas, system.lemmas) | (gold.lemmas == strings.number("_"))[alignment.gold]
    )
    labelled = comparison.head_right & comparison.universal_right
    content = is_one_of(gold_labels, CONTENT_LABELS), is_one_of(system_labels, CONTENT_LABELS)
    function_words = _function_words_right(
        comparison,
        is_one_of(gold_labels, FUNCTION_LABELS),
        is_one_of(system_labels, FUNCTION_LABELS),
        labelled & upos & feats,
    )
    words = Score(len(alignment.gold), len(gold), len(system))
    return {
        "Tokens": alignment.tokens,
        "Sentences": alignment.sentences,
        "Words": words,
        "UPOS": comparison.score(upos),
        "XPOS": comparison.score(xpos),
        "UFeats": comparison.score(feats),
        "AllTags": comparison.score(upos & xpos & feats),
        "Lemmas": comparison.score(lemmas),
        "UAS": comparison.score(comparison.head_right),
        "LA": comparison.score(comparison.universal_right),
        "LAS": comparison.score(labelled),
        "CLAS": comparison.score(labelled, *content),
        "MLAS": comparison.score(labelled & upos & feats & function_words, *content),
        "BLEX": comparison.score(labelled & lemmas, *content),
    }


def _function_words_right(
    comparison: Comparison, gold_function: Mask, system_function: Mask, right: Mask
) -> Mask:
    """Which aligned words have the same function words below them, `right` in head, label, tag and features.

    As words are aligned in order, two lists of children are equal if both are as long as the list of right
    children.
    """
    gold, alignment = comparison.gold, comparison.alignment

    def children(parents: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        return np.bincount(parents[parents >= 0], minlength=size)

    gold_children = children(gold.parents()[gold_function], len(gold))[alignment.gold]
    system = comparison.system
    system_children = children(system.parents()[system_function], len(system))[alignment.system]
    right_function = right & gold_function[alignment.gold]
    right_children = children(comparison.gold_parent[right_function], len(gold))[alignment.gold]
    same: Mask = (gold_children == right_children) & (system_children == right_children)
    return same
