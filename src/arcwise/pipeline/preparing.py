"""What comes before the parser: a tokeniser and a tagger learned from the treebank, and the tags that the parser will learn from.

The parser must learn from tags as good and as bad as those it will meet. So the treebank is tagged by jackknifing (Koo's thesis,
section 3.4): each tenth by a tagger that has learned from the other nine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from arcwise.clusters.lookup import ClusterTable
from arcwise.pipeline.options import Options, Progress, Watcher
from arcwise.pipeline.streaming import map_in_order
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.training import FOLDS, Words, mean_tagger, read_words, train_tagger
from arcwise.text.tokeniser import Tokeniser
from arcwise.text.training import train_tokeniser
from arcwise.treebank.block import FEATS, LEMMA, UPOS, XPOS, Block

_COLUMNS = {"upos": UPOS, "xpos": XPOS, "feats": FEATS, "lemma": LEMMA}


class Prepared(NamedTuple):
    """Treebanks with the tags that a parser should see, and who makes them. accuracy: of the tagger on `dev`, in percent."""

    train: list[Block]
    dev: list[Block]
    tokeniser: Tokeniser | None
    tagger: Tagger | None
    accuracy: dict[str, float]


def prepare(
    train: list[Block],
    dev: list[Block],
    options: Options,
    watcher: Watcher,
    jobs: int,
    clusters: ClusterTable,
) -> Prepared:
    """Learn to split and to tag; the result does not depend on the number of threads."""
    tokeniser = train_tokeniser(
        train, seed=options.seed, progress=lambda share: watcher.progress(Progress("words", 1, 1, share, 0.0))
    )
    if tokeniser is None:
        watcher.note(
            "the treebank does not say where its text has spaces: raw text will be split by general rules"
        )
    if options.gold_tags:
        return Prepared(train, dev, tokeniser, None, {})
    try:
        words = read_words(train, clusters)
    except ValueError as error:
        words, reason = None, f"the treebank's tags are too many to be learned ({error})"
    else:
        reason = "the treebank has no tags"
    if words is None:
        watcher.note(f"{reason}: the model will not tag")
        return Prepared(train, dev, tokeniser, None, {})

    def report(fold: int) -> Callable[[int, int, float], None]:
        return lambda epoch, epochs, error: watcher.progress(
            Progress("tags", fold + 1, folds + 1, epoch / epochs, error)
        )

    sentences = np.arange(len(words.boundaries) - 1)
    folds = min(FOLDS, len(sentences))
    fold_of = sentences * folds // len(sentences)

    def learn(fold: int) -> Tagger:
        return train_tagger(
            words,
            sentences[fold_of != fold],
            seed=options.seed,
            bits=options.settings.tag_bits,
            progress=report(fold),
        )

    # The last one, of fold number `folds`, learns from everything. One sentence alone must be its own teacher.
    taggers = list(map_in_order(learn, range(folds + 1) if folds > 1 else [folds, folds], jobs))
    tagged = [
        _tag_by_fold(block, first, words, fold_of, taggers) for block, first in _with_first_sentence(train)
    ]
    tagger = mean_tagger(taggers)
    tagged_dev = [tagger.tag(block, anew=True) for block in dev]
    return Prepared(tagged, tagged_dev, tokeniser, tagger, tag_accuracy(dev, tagged_dev))


def _with_first_sentence(blocks: Sequence[Block]) -> list[tuple[Block, int]]:
    """Each block and the number of its first sentence in the treebank."""
    firsts = np.cumsum([0, *map(len, blocks)]).tolist()
    return list(zip(blocks, firsts[:-1], strict=True))


def _tag_by_fold(
    block: Block, first: int, words: Words, fold_of: np.ndarray, taggers: Sequence[Tagger]
) -> Block:
    """The block with every sentence tagged by the tagger that has not seen it."""
    folds = np.repeat(fold_of[first : first + len(block)], np.diff(block.words))
    for fold in np.unique(folds).tolist():
        block = taggers[fold].with_tags(block, taggers[fold].tags(block), folds == fold)
    return block


def tag_accuracy(gold: Sequence[Block], system: Sequence[Block]) -> dict[str, float]:
    """The percentage of words with the right UPOS, XPOS, FEATS and LEMMA; empty without words."""
    words = sum(len(block.heads) for block in gold)
    if not words:
        return {}
    return {
        name: 100.0 * sum(
            a == b
            for right, found in zip(gold, system, strict=True)
            for a, b in zip(right.column(role), found.column(role), strict=True)
        ) / words
        for name, role in _COLUMNS.items()
    }  # fmt: skip
