"""Test sentences as numbers, and climbing on them in any number of runs: what the experiments with the runs themselves share."""

from __future__ import annotations

from time import thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.experiments.climbing_models import percent, punctuation
from arcwise.experiments.trained_models import Tell
from arcwise.learning.corpus import Corpus, make_corpus, select_sentences, word_rows
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.forest import Rows
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.sentences import Weights
from arcwise.search.climbing import Climbing
from arcwise.search.start_trees import STARTS
from arcwise.treebank.block import Block

_TOGETHER = 20  # sentences that are climbed between two moves of a progress bar


class Sentences(NamedTuple):
    """Test sentences. scored: by row of the corpus, whether a word counts where punctuation does not."""

    corpus: Corpus
    scored: NDArray[np.bool_]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The words of each."""
        return np.diff(self.corpus.starts) - 1

    @property
    def counted(self) -> NDArray[np.bool_]:
        """By row, whether it is a word with a known head."""
        return self.corpus.heads >= 0

    def uas(self, heads: NDArray[np.int32]) -> tuple[float, float]:
        """The share of right heads in percent, of all words and without punctuation."""
        right = heads == self.corpus.heads
        return percent(right, self.counted), percent(right, self.scored)


class Climbed(NamedTuple):
    """What was found, and the seconds of CPU time that it took."""

    rows: Rows
    seconds: float


def number_sentences(parser: Parser, blocks: list[Block], most: int | None = None) -> Sentences:
    """The sentences of some blocks that are short enough to be parsed in one piece; at most so many, from all over them."""
    labels = {name: number for number, name in enumerate(parser.labels)}
    corpus = make_corpus(blocks, parser.model.vocabulary(), labels)
    scored = np.zeros(len(corpus.heads), np.bool_)
    words = np.concatenate([[0], np.cumsum(np.diff(corpus.starts) - 1)]).astype(np.int32)
    scored[word_rows(words)] = ~np.concatenate([punctuation(block) for block in blocks])
    sizes = np.diff(corpus.starts)
    chosen = np.flatnonzero(sizes - 1 <= parser.longest)
    if not len(chosen):
        raise InputError(f"no test sentences of up to {parser.longest} words")
    count = min(most or len(chosen), len(chosen))
    kept = np.zeros(len(sizes), np.bool_)
    kept[chosen[np.arange(count) * len(chosen) // count]] = True
    rows = np.repeat(kept, sizes)
    return Sentences(select_sentences(corpus, kept), scored[rows] & (corpus.heads[rows] >= 0))


def fixed_runs(runs: int, start: str, seed: int = 0) -> Climbing:
    """Exactly so many runs a sentence, the first ones those of any greater number; start: one of `STARTS`."""
    return Climbing(runs, STARTS.index(start), seed, bounded=False, most=runs)


def climb(
    corpus: Corpus, weights: Weights, climbing: Climbing | None, tell: Tell = lambda share: None
) -> Climbed:
    """The trees of all sentences that climbing finds; if it is None, those that the model finds without it."""
    if climbing is None:
        weights = weights._replace(climb=False)
    # The first sentence twice: what is to be compiled is compiled when it is timed.
    first_end = int(corpus.starts[1])
    unknown_trees(corpus.numbers[:first_end], corpus.starts[:2]).find_trees(weights, climbing=climbing)
    rows, seconds = unknown_trees(corpus.numbers, corpus.starts), 0.0
    sentences = len(corpus.starts) - 1
    for first in range(0, sentences, _TOGETHER):
        last = min(first + _TOGETHER, sentences)
        started = thread_time()
        rows.part(first, last).find_trees(weights, climbing=climbing)
        seconds += thread_time() - started
        tell(last / sentences)
    return Climbed(rows, seconds)


def first_order_scores(corpus: Corpus, weights: Weights) -> tuple[Rows, NDArray[np.float64]]:
    """The first-order best trees of all sentences, and the scores of their arcs alone, -inf for those that are pruned: the matrices
    S[h, m] of the sentences one after another. For models of arcs, and for the full one.
    """
    rows = unknown_trees(corpus.numbers, corpus.starts)
    matrices = np.empty(int(np.square(np.diff(corpus.starts)).sum()))
    rows.find_trees(weights._replace(climb=False, far=None), matrices=matrices)
    return rows, matrices
