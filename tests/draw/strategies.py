"""Trees to draw: any shape, several roots, words without a head."""

from __future__ import annotations

from hypothesis import strategies as st

from arcwise import Sentence


@st.composite
def trees(draw, most: int = 25, unknown: bool = True) -> list[int]:
    """The heads of words 1..n: any tree, projective or not; with `unknown` some words may have none (-1)."""
    words = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, words + 1)))
    roots = draw(st.integers(1, min(2, words)))
    heads = [0] * words
    for i in range(roots, words):
        heads[order[i] - 1] = order[draw(st.integers(0, i - 1))]
    if unknown and draw(st.booleans()):
        for word in draw(st.lists(st.integers(1, words), max_size=4)):
            heads[word - 1] = -1
    return heads


@st.composite
def projective_trees(draw, most: int = 25) -> list[int]:
    words = draw(st.integers(1, most))
    heads = [0] * words

    def hang(first: int, last: int, head: int, parts: int) -> None:
        """Words first..last below `head`, in at most so many subtrees."""
        while first <= last:
            end = last if parts == 1 else draw(st.integers(first, last))
            root = draw(st.integers(first, end))
            heads[root - 1] = head
            hang(first, root - 1, root, 3)
            hang(root + 1, end, root, 3)
            first, parts = end + 1, parts - 1

    hang(1, words, 0, 1)
    return heads


def sentence_of(heads: list[int], **columns) -> Sentence:
    """Words w1, w2, ... and labels with the word's number."""
    words = range(1, len(heads) + 1)
    columns = {"labels": [f"r{i}" for i in words], "forms": [f"w{i}" for i in words]} | columns
    return Sentence.from_words(columns.pop("forms"), heads=heads, **columns)
