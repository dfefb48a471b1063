"""Where lines force a sentence or a paragraph to end."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Split = Literal["text", "sentences", "words", "vertical"]

SENTENCE, PARAGRAPH = 1, 2
_NARROWEST, _WIDEST = 40, 120  # characters a line of wrapped prose may have
_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦·–—>]+|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s")


def line_breaks(text: str, split: Split) -> NDArray[np.uint8]:
    """For each place in the text: SENTENCE or PARAGRAPH if one must end before it, else 0. O(characters).

    A blank line ends a paragraph. Within a paragraph of raw text a line end is a space where the prose is wrapped, and ends a
    sentence anywhere else. A paragraph is wrapped if its longest line has 40 to 120 characters and at least half of its line ends
    come where the next line's first word would not have fitted; in it, a line end still ends a sentence where that word would have
    fitted, or where the next line is an item of a list. With "sentences" and "words" every line end ends a sentence, with
    "vertical" a blank line.

    >>> np.flatnonzero(line_breaks("Milk\\nEggs and flour\\n\\nMix.", "text")).tolist()
    [5, 21]
    """
    breaks = np.zeros(len(text) + 1, np.uint8)
    paragraph: list[tuple[int, str]] = []
    at, blank = 0, False
    for line in text.splitlines(keepends=True):
        content = line.strip()
        if not content:
            blank = True
        else:
            if blank and paragraph:
                _within(paragraph, split, breaks)
                paragraph = []
            if blank:
                breaks[at] = PARAGRAPH
            paragraph.append((at, line.rstrip()))
            blank = False
        at += len(line)
    _within(paragraph, split, breaks)
    return breaks


def _within(lines: list[tuple[int, str]], split: Split, breaks: NDArray[np.uint8]) -> None:
    """Mark the line ends inside one paragraph."""
    if len(lines) < 2 or split == "vertical":
        return
    width = max(len(line) for _, line in lines)
    fitting = [
        len(line) + 1 + len(following.split(None, 1)[0]) <= width
        for (_, line), (_, following) in pairwise(lines)
    ]
    wrapped = split == "text" and _NARROWEST <= width <= _WIDEST and 2 * sum(fitting) <= len(fitting)
    for (at, line), fits in zip(lines[1:], fitting, strict=True):
        if not wrapped or fits or _ITEM.match(line):
            breaks[at] = SENTENCE
