"""The tags of a treebank: each is a coarse tag, a fine tag and morphological features, and is scored as the sum of these parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

MOST_TAGS, MOST_PARTS, LONGEST_NAME = 1 << 15, 1 << 10, 1 << 16
_MOST_FINE = 150  # fine tags that are parts of their own; the rarer ones are told apart by the other parts

Tag = tuple[str, str, str]  # UPOS, XPOS, FEATS


class Tagset:
    """All tags, sorted, and their parts.

    parts: int32 (tags, most), the parts of each tag, -1 beyond the last. history: uint32 (tags, 3), what later words see of a tag:
    numbers of its coarse tag, of its fine tag and of itself, from 1.

    >>> tagset = Tagset([("NOUN", "NN", "Number=Sing"), ("X", "FW", "_")], ["NN", "FW"])
    >>> tagset.parts.tolist(), tagset.count
    ([[0, 3, 4, -1], [1, 2, 5, -1]], 6)
    """

    def __init__(self, tags: Sequence[Tag], fine: Iterable[str]) -> None:
        self.tags, self.fine = list(tags), sorted(fine)
        if not 1 <= len(self.tags) <= MOST_TAGS or len(set(self.tags)) != len(self.tags):
            raise ValueError(f"{len(self.tags)} tags, expected 1 to {MOST_TAGS}, all different")
        if max(len(name) for tag in self.tags for name in tag) > LONGEST_NAME:
            raise ValueError(f"a tag of more than {LONGEST_NAME} letters")
        chosen = set(self.fine)
        rows = [_parts(tag, chosen) for tag in self.tags]
        numbers = {part: number for number, part in enumerate(sorted({part for row in rows for part in row}))}
        self.count = len(numbers)
        if self.count > MOST_PARTS:
            raise ValueError(f"{self.count} different parts of tags, expected at most {MOST_PARTS}")
        self.parts = np.full((len(rows), max(map(len, rows)) + 1), -1, np.int32)
        for row, parts in zip(self.parts, rows, strict=True):
            row[: len(parts)] = [numbers[part] for part in parts]
        # Where there are no fine tags, the features take their part.
        no_fine = len({tag[1] for tag in self.tags}) == 1
        fine_tags = [(tag[0], tag[2] if no_fine else tag[1]) for tag in self.tags]
        self.history = np.column_stack(
            [_numbered([tag[0] for tag in self.tags]), _numbered(fine_tags), np.arange(1, len(rows) + 1)]
        ).astype(np.uint32)

    @classmethod
    def of(cls, tags: Iterable[Tag]) -> Tagset:
        """The tags of a treebank."""
        counts = Counter(tags)
        fine: Counter[str] = Counter()
        for tag, count in counts.items():
            fine[tag[1]] += count
        frequent = sorted(fine, key=lambda name: (-fine[name], name))[:_MOST_FINE]
        return cls(sorted(counts), frequent if len(fine) > 1 else [])


def _parts(tag: Tag, fine: set[str]) -> list[tuple[int, str]]:
    features = [(2, feature) for feature in sorted(set(tag[2].split("|")))]
    return [(0, tag[0]), *([(1, tag[1])] if tag[1] in fine else []), *features]


def _numbered(values: Sequence[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers) + 1) for value in values]
