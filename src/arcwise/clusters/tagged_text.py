"""Text and treebanks as numbers, words and tags, all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcwise.clusters.corpora import block_tokens, is_text, text_tokens
from arcwise.clusters.pairs import PairCounter
from arcwise.errors import InputError
from arcwise.treebank.block import UPOS
from arcwise.treebank.reading import BlockReader
from arcwise.treebank.sources import Source, SourceLike

MOST_TAGS = 1 << 12

Tell = Callable[[str, int, int | None], None]
Piece = tuple[NDArray[np.int64], NDArray[np.int16]]


@dataclass
class TaggedText:
    """Text as numbers.

    words, occurrences: those kept, the most frequent first; all others have the number len(words). Sentence i is
    tokens[sentences[i]] .. tokens[sentences[i + 1]]. tags: of the tokens, numbers of tag_names, -1 where there is none.
    """

    words: list[str]
    occurrences: NDArray[np.int64]
    tokens: NDArray[np.int32]
    sentences: NDArray[np.int64]
    tags: NDArray[np.int16]
    tag_names: list[str]


def read_tagged(
    corpora: Iterable[SourceLike], minimum: int, *, format: str | None = None, tell: Tell | None = None
) -> TaggedText:
    """Text and treebanks as numbers; words that are rarer than `minimum` are one word.

    Corpora and errors are those of `count_corpus`. Memory: 6 bytes a word (10 while it is read) and 8 a sentence, beside the
    different words.
    """
    counter, tell = PairCounter(), tell or (lambda name, done, total: None)
    tokens, tags = [np.empty(0, np.int32)], [np.empty(0, np.int16)]
    ends = [np.zeros(1, np.int64)]
    names: dict[str, int] = {}
    for corpus in corpora:
        opened = Source(corpus)
        try:
            for piece, piece_tags in _pieces(opened, format, counter, names):
                is_word = piece >= 0
                tokens.append(piece[is_word].astype(np.int32))
                tags.append(piece_tags)
                ends.append(counter.tokens - len(piece_tags) + np.cumsum(is_word)[~is_word])
                tell(opened.name, opened.bytes_read, opened.bytes_total)
        finally:
            opened.close()
    counts = counter.counts(minimum)
    rank = np.full(len(counter.words), len(counts.words), np.int32)
    rank[counter.number(counts.words)] = np.arange(len(counts.words))
    for words in tokens:
        words[:] = rank[words]
    whole = np.concatenate(tokens)
    del tokens, words
    return TaggedText(
        [word.decode() for word in counts.words],
        counts.occurrences,
        whole,
        np.unique(np.concatenate(ends)),  # sentences of no words are none
        np.concatenate(tags),
        list(names),
    )


def _pieces(
    opened: Source, format: str | None, counter: PairCounter, names: dict[str, int]
) -> Iterator[Piece]:
    """The numbers of words, -1 after each sentence, and the tags of the words; new tags are added to names."""
    if is_text(opened, format):
        for tokens in text_tokens(opened, counter):
            yield tokens, np.full(np.count_nonzero(tokens >= 0), -1, np.int16)
        return
    for block in BlockReader(opened, format=format, check_trees=False):
        tags = [-1 if tag == "_" else names.setdefault(tag, len(names)) for tag in block.column(UPOS)]
        if len(names) > MOST_TAGS:
            raise InputError(
                f"{len(names):,} different tags", expected=f"{MOST_TAGS:,} at most", file=opened.name
            )
        yield block_tokens(block, counter), np.array(tags, np.int16)
