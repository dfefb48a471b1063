"""A score of whole trees: hill climbing finds the best tree by any function that you can write."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import arcwise

WORDS = ["<root>", "old", "men", "and", "women", "sang"]


def depth(heads: NDArray[np.int32], word: int) -> int:
    """How many arcs lead from the root to a word."""
    steps = 0
    while word > 0:
        word, steps = int(heads[word]), steps + 1
    return steps


def shallow(heads: NDArray[np.int32]) -> float:
    """Prefers trees in which no word is far from the root."""
    return -2.0 * max(depth(heads, word) for word in range(1, len(heads)))


def main() -> None:
    scores = np.zeros((6, 6))
    scores[0, 5] = scores[5, 2] = scores[2, 1] = 9.0
    scores[2, 4], scores[5, 4], scores[4, 3], scores[2, 3] = 8.0, 7.5, 6.0, 5.5
    for name, whole_tree in (("by arcs alone", None), ("and by depth", shallow)):
        parse = arcwise.decode(scores, decoder="climb", whole_tree=whole_tree)
        print(f"{name}: score {parse.score:g}, certified {parse.certified}")
        for word in range(1, len(WORDS)):
            print(f"  {WORDS[parse.heads[word]]} -> {WORDS[word]}")


if __name__ == "__main__":
    main()
