"""Figure 3-2 of Koo's thesis: how often the head-modifier bigrams of a development treebank occur in the training treebank.

By the words themselves and by the first bits of their clusters. Arcs from the root are left out. A word has the cluster of its form,
or else of its form in lower case, as the parser sees it; all words that have neither are one class more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.corpora import arcs
from arcwise.clusters.files import Clusters
from arcwise.clusters.lookup import bits_of_words
from arcwise.errors import InputError
from arcwise.experiments.tables import Count, Rows
from arcwise.treebank.block import FORM
from arcwise.treebank.reading import read_blocks

GRAINS = {"words": None, "8 bits": 8, "6 bits": 6}
_QUANTILES = (10, 25, 50, 75, 90)
_NONE = ""  # in place of the bit string of a word without a cluster

Frequencies = Mapping[str, NDArray[np.int64]]


def bigrams(file: Path) -> Counter[tuple[str, str]]:
    """The forms of heads and modifiers of all arcs between words, and how often each pair occurs."""
    found: Counter[tuple[str, str]] = Counter()
    with read_blocks(file) as blocks:
        for block in blocks:
            forms = block.column(FORM)
            found.update((forms[head], forms[modifier]) for head, modifier in zip(*arcs(block), strict=True))
    if not found:
        raise InputError("no arcs between words", expected="at least one", file=str(file))
    return found


def classes(clusters: Clusters, words: set[str], length: int | None) -> dict[str, str]:
    """What stands in for each word: its bit string cut off after so many bits, _NONE if it has none; the word itself if None.

    >>> classes(Clusters({"the": "0110"}, {"the": 3}), {"The"}, 2), classes(Clusters({}, {}), {"The"}, None)
    ({'The': '01'}, {'The': 'The'})
    """
    if length is None:
        return {word: word for word in words}
    found = bits_of_words(clusters.bits, words)
    return {word: found.get(word, _NONE)[:length] for word in words}


def measure(train: Path, dev: Path, clusters: Clusters) -> tuple[Rows, Frequencies]:
    """The table, a row for each of GRAINS; and of each how often every bigram of dev occurs in train, the most frequent first.

    In the table: the bigrams of dev; how many % of them do not occur in train, or, by clusters, do not or have a word without a
    cluster; and such frequencies that so many % of the bigrams occur at most so often.
    """
    learned, asked = bigrams(train), bigrams(dev)
    words = {word for pair in (*learned, *asked) for word in pair}
    total, rows, frequencies = asked.total(), {}, {}
    for grain, length in GRAINS.items():
        of = classes(clusters, words, length)
        seen: Counter[tuple[str, str]] = Counter()
        for (head, modifier), often in learned.items():
            seen[of[head], of[modifier]] += often
        pairs = [(of[head], of[modifier]) for head, modifier in asked.elements()]
        found = np.sort(np.array([seen[pair] for pair in pairs], np.int64))
        rows[grain] = {
            "bigrams": Count(total),
            "unseen, %": 100 * float(np.mean(found == 0)),
            "unseen or no cluster, %": 100 * sum(not seen[pair] or _NONE in pair for pair in pairs) / total,
            **{
                f"{quantile}%": Count(np.quantile(found, quantile / 100, method="inverted_cdf"))
                for quantile in _QUANTILES
            },
        }
        frequencies[grain] = found[::-1]
    return rows, frequencies
