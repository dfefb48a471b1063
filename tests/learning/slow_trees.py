"""All labelled trees of a sentence, scored one by one: the slow truth about every learner."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from arcwise.features.attributes import vocabulary
from arcwise.features.part_templates import compile_part_templates, no_part_templates
from arcwise.features.parts import hash_part_tokens, make_part_tokens
from arcwise.learning.corpus import Corpus
from arcwise.learning.online import Training
from arcwise.learning.pruned import PrunedCorpus, prune_corpus
from arcwise.learning.space import LOOPY, Search, Space, space_size
from arcwise.search.chart import CHARTS
from arcwise.sums.pruning import BY_HEADS
from arcwise.trees.blocks import is_projective
from arcwise.trees.enumerate import all_trees
from tests.features.whole_trees import features_of
from tests.learning.corpora import TEMPLATES, Features, small_corpus

ARC_BITS, LABEL_BITS, PART_BITS, COARSE_BITS = 12, 8, 12, 10
CORPUS, LABELS = small_corpus(6)
PARTS = compile_part_templates(vocabulary(np.array([5], np.uint64)))
HIGHER = ["sibling", "carreras", "model0", "model1", "model2"]
SEARCHES = ["spanning-tree", "eisner", *HIGHER]


def search_of(name: str) -> Search | None:
    if name == "loopy":
        return LOOPY
    return Search(CHARTS[name], False, False) if name in CHARTS else None


def space_of(search: str, labelled: bool = True) -> Space:
    """With labels that the root's arcs may not have."""
    allowed = np.ones((2, LABELS), np.bool_)
    right = np.zeros_like(allowed)
    right[np.minimum(CORPUS.heads, 1)[CORPUS.heads >= 0], CORPUS.labels[CORPUS.heads >= 0]] = True
    allowed[0, : LABELS // 2] = right[0, : LABELS // 2]
    templates = TEMPLATES if labelled else TEMPLATES._replace(end=TEMPLATES.labels)
    parts = PARTS if search in (*HIGHER, "loopy") else no_part_templates()
    return Space(templates, parts, ARC_BITS, LABEL_BITS, PART_BITS, allowed)


def make_training(space: Space) -> Training:
    """All weights zero."""
    size = space_size(space)
    return Training(np.zeros(size, np.float32), np.zeros(size), np.zeros(size, np.int16))


@cache
def all_arcs() -> PrunedCorpus:
    """Nothing is pruned."""
    zeros = np.zeros(1 << COARSE_BITS, np.int8)
    return prune_corpus(CORPUS, TEMPLATES, zeros, COARSE_BITS, 1.0, BY_HEADS, True, 20, np.inf)


class SlowTrees:
    """The trees of a sentence, their features and scores."""

    def __init__(self, sentence: int, search: str, single_root: bool, labelled: bool = True) -> None:
        self.features = Features(CORPUS, sentence, ARC_BITS, LABEL_BITS)
        self.space, self.search, self.n = space_of(search, labelled), search, self.features.n
        self.labelled = labelled
        begin, end = CORPUS.starts[sentence : sentence + 2]
        self.tokens = make_part_tokens(self.n, self.space.parts)
        if search in HIGHER:
            hash_part_tokens(CORPUS.numbers[begin:end], PARTS, self.tokens)
        self.trees = [
            heads for heads in all_trees(self.n, single_root) if search == "spanning-tree" or is_projective(heads)
        ]  # fmt: skip

    def higher(self, heads: np.ndarray) -> np.ndarray:
        """Where the weights of the higher parts of a tree lie."""
        if self.search not in HIGHER:
            return np.empty(0, np.int64)
        higher = features_of(CHARTS[self.search], heads, self.tokens, PARTS, PART_BITS)
        return higher.astype(np.int64) + (1 << ARC_BITS) + (LABELS << LABEL_BITS)

    def label_scores(self, weights: np.ndarray, h: int, m: int) -> np.ndarray:
        """Of all labels, -inf for those not allowed."""
        table = weights[1 << ARC_BITS :][: LABELS << LABEL_BITS].reshape(-1, LABELS)
        scores: np.ndarray = table[self.features.label(h, m)].sum(axis=0)
        return np.where(self.space.allowed[min(h, 1)], scores, -np.inf)

    def score(self, weights: np.ndarray, heads: np.ndarray) -> float:
        """Of a tree without its labels."""
        total = weights[self.higher(heads)].sum()
        return float(total + sum(weights[self.features.arc(heads[m], m)].sum() for m in range(1, self.n + 1)))


def sentence_rows(corpus: Corpus, sentence: int) -> slice:
    begin, end = list(pairwise(corpus.starts.tolist()))[sentence]
    return slice(begin, end)
