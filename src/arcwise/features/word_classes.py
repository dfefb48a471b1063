"""Which words are conjunctions, adpositions, or one of a pair of brackets or quotation marks: what global features ask.

Told by the coarse tags of Universal Dependencies and of the treebanks of CoNLL-X, and pairs by their forms; as numbers of a model's
vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.attributes import FORM, UPOS, Vocabulary
from arcwise.features.hash_table import find_key
from arcwise.features.hashing import hash_bytes
from arcwise.kernels import kernel

CONJUNCTIONS = ("CCONJ", "CONJ", "CC", "C", "Conj", "conj", "vg")
_ADPOSITIONS = ("ADP", "IN", "Prep", "prep", "S", "SP", "E", "APPR")
_PAIRS = (
    "( )",
    "[ ]",
    "{ }",
    "« »",
    "» «",
    "“ ”",
    "„ “",
    "„ ”",
    "‘ ’",
    "「 」",
    "『 』",
    "《 》",
    "-LRB- -RRB-",
    "`` ''",
    '" "',
    "' '",
)

Ints = NDArray[np.int32]
# What a word is, as bits.
CONJUNCTION, ADPOSITION = 1, 2


class WordClasses(NamedTuple):
    """The numbers of tags, and of the forms that open and close: opening[i] goes with closing[i]."""

    conjunctions: Ints
    adpositions: Ints
    opening: Ints
    closing: Ints


def known_numbers(vocabulary: Vocabulary, values: tuple[str, ...], attribute: int) -> list[int]:
    """The numbers of values of an attribute, 0 for those that the vocabulary has not."""
    texts = [np.array(list(value.encode()), np.uint8) for value in values]
    return [
        find_key(vocabulary.values, np.uint64(hash_bytes(text, 0, len(text), attribute))) for text in texts
    ]


def word_classes(vocabulary: Vocabulary) -> WordClasses:
    """Those of a model."""
    tags = [
        np.array([number for number in known_numbers(vocabulary, names, UPOS) if number > 0], np.int32)
        for names in (CONJUNCTIONS, _ADPOSITIONS)
    ]
    opening = known_numbers(vocabulary, tuple(pair.split()[0] for pair in _PAIRS), FORM)
    closing = known_numbers(vocabulary, tuple(pair.split()[1] for pair in _PAIRS), FORM)
    pairs = np.array([pair for pair in zip(opening, closing, strict=True) if min(pair) > 0], np.int32)
    opening_forms, closing_forms = pairs.reshape(-1, 2).T.copy()
    return WordClasses(tags[0], tags[1], opening_forms, closing_forms)


@kernel
def classify(numbers: Ints, classes: WordClasses, kinds: NDArray[np.int8]) -> None:
    """Fill `kinds` with the bits of each word; numbers: of a sentence's words, with the root's row."""
    for word in range(len(numbers)):
        kinds[word] = 0
        for tag in classes.conjunctions:
            kinds[word] |= CONJUNCTION if numbers[word, UPOS] == tag else 0
        for tag in classes.adpositions:
            kinds[word] |= ADPOSITION if numbers[word, UPOS] == tag else 0


@kernel
def match_pairs(numbers: Ints, classes: WordClasses, partner: Ints) -> None:
    """Fill `partner`: of each word that opens a pair the word that closes it, else 0. Pairs are nested; a mark that both opens and
    closes closes if the same one is open.
    """
    size = len(numbers)
    partner[:size] = 0
    stack, height = np.empty(size, np.int32), 0
    for word in range(1, size):
        form, closed = numbers[word, FORM], False
        for at in range(height - 1, -1, -1):
            for pair in range(len(classes.closing)):
                if classes.closing[pair] == form and classes.opening[pair] == numbers[stack[at], FORM]:
                    closed = True
            if closed:
                partner[stack[at]] = word
                height = at
                break
        if not closed:
            for opening in classes.opening:
                if opening == form:
                    stack[height] = word
                    height += 1
                    break
