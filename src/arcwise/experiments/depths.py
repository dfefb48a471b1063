"""Figures 3-3 and 3-4 of Koo's thesis: how deep clusters lie in their tree, and how frequent the classes are that cuts give.

Beside cuts after 4, 6 and 8 bits stand those into as many classes, 2^4, 2^6 and 2^8, of about equal frequency (section 3.5.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.files import Clusters
from arcwise.clusters.hierarchy import equal_frequency, fixed_prefixes
from arcwise.draw.clusters import depth_picture
from arcwise.errors import InputError
from arcwise.experiments.tables import Count, Rows, markdown

LENGTHS = (4, 6, 8)  # bits
WHOLE = "whole strings"


class Cut(NamedTuple):
    """Classes of words: the depth of each in the tree, and how many words of the text it has, the most frequent class first."""

    depths: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Of the classes, in percent of the words of the text."""
        return np.asarray(100 * self.frequencies / self.frequencies.sum(), np.float64)


def by_bits(length: int) -> str:
    """The name of a cut after so many bits."""
    return f"{length} bits"


def by_frequency(length: int) -> str:
    """The name of a cut into 2^length classes of about equal frequency."""
    return f"{1 << length} of equal frequency"


def cuts(clusters: Clusters) -> dict[str, Cut]:
    """All cuts, by name."""
    strings, counts = clusters.bits, clusters.counts
    if not any(counts.values()):
        raise InputError("all counts are 0", expected="how often words occur in the text")
    found = {by_bits(length): fixed_prefixes(strings, length) for length in LENGTHS}
    found |= {by_frequency(length): equal_frequency(strings, counts, 1 << length) for length in LENGTHS}
    return {name: _cut(of, counts) for name, of in {**found, WHOLE: strings}.items()}


def _cut(of: dict[str, str], counts: dict[str, int]) -> Cut:
    frequencies: Counter[str] = Counter()
    for word, bits in of.items():
        frequencies[bits] += counts[word]
    order = sorted(frequencies, key=lambda bits: (-frequencies[bits], bits))
    return Cut(
        np.array([len(bits) for bits in order], np.int64),
        np.array([frequencies[bits] for bits in order], np.int64),
    )


def table(found: dict[str, Cut]) -> Rows:
    """By cut: how many classes; how deep the shallowest, the middle and the deepest lies; how many % of the text the most frequent,
    the middle and the least frequent class has; and the perplexity: how many classes, if all were equally frequent, would tell as
    much of a word.
    """
    rows = {}
    for name, cut in found.items():
        shares = cut.shares[cut.shares > 0] / 100
        rows[name] = {
            "classes": Count(len(cut.depths)),
            **_three("depth, ", ("least", "median", "most"), np.sort(cut.depths)),
            **_three("% of the text, ", ("most frequent", "median", "least frequent"), cut.shares),
            "perplexity": float(np.exp2(-(shares * np.log2(shares)).sum())),
        }
    return rows


def _three(
    prefix: str, names: tuple[str, str, str], values: NDArray[np.int64] | NDArray[np.float64]
) -> dict[str, float]:
    """The first, the middle (of two, the second) and the last of some values."""
    chosen = (values[0], values[len(values) // 2], values[-1])
    whole = np.issubdtype(values.dtype, np.integer)
    return {
        prefix + name: Count(value) if whole else float(value)
        for name, value in zip(names, chosen, strict=True)
    }


def depth_table(whole: Cut) -> Rows:
    """How many clusters lie at each depth, in % of all of them, and how many % of the text is in these."""
    rows = {}
    for depth in np.unique(whole.depths).tolist():
        here = whole.depths == depth
        rows[str(depth)] = {
            "clusters": Count(here.sum()),
            "% of the clusters": 100 * float(here.mean()),
            "% of the text": float(whole.shares[here].sum()),
        }
    return rows


def tables(name: str, found: dict[str, Cut]) -> Iterator[str]:
    """Both tables in Markdown."""
    yield from markdown(f"{name}, classes cut by", table(found))
    yield ""
    yield from markdown("depth", depth_table(found[WHOLE]))


def figures_3_and_4(name: str, found: dict[str, Cut], form: str) -> bytes:
    """The depths of the clusters in order, and the frequencies of classes in order, as a picture with a panel for each grain."""
    grains: dict[str, dict[str, NDArray[np.float64]]] = {
        by_bits(length): {cut: found[cut].shares for cut in (by_bits(length), by_frequency(length))}
        for length in LENGTHS
    }
    return depth_picture(
        name, np.sort(found[WHOLE].depths)[::-1], {**grains, WHOLE: {WHOLE: found[WHOLE].shares}}, form
    )
