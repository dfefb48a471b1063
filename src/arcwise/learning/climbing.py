"""Learning with hill climbing inside: the tree that costs and scores together make best is looked for by climbing.

Zhang et al. (2014), 3.1: passive-aggressive updates from the strongest violation found. It need not be the strongest there is
(Huang et al., 2012): a tree that scores above the right one will do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.tokens import longest_sentence
from arcwise.features.whole_tree import WholeTree, make_whole_tree
from arcwise.features.word_classes import WordClasses
from arcwise.kernels import kernel
from arcwise.learning.corpus import Corpus
from arcwise.learning.online import (
    Learner,
    Lesson,
    Training,
    add_costs,
    begin_lesson,
    complete,
    end_lesson,
)
from arcwise.learning.pruned import PrunedCorpus
from arcwise.learning.space import Scratch, Search, Space, make_scratch
from arcwise.search.climbing import Climbing, arc_matrix, climb_often, make_draws
from arcwise.search.hill import Hill, finite

_LEAST = 1e-7  # of float32 weights


@kernel
def climb_lesson(
    search: Search,
    lesson: Lesson,
    whole: WholeTree | None,
    single_root: bool,
    climbing: Climbing,
    number: int,
) -> None:
    """Fill in the tree that climbing finds; nothing if there is none. number: of the sentence, for what is drawn."""
    S = arc_matrix(lesson.graph, lesson.own + lesson.scores)
    draws, found = make_draws(S, climbing.starts, single_root, np.uint64(climbing.seed), number)
    lesson.found[:] = False
    lesson.up[:] = 0
    if found:
        finite(lesson.tables)
        hill = Hill(search.kind, lesson.graph, lesson.levels, lesson.tables, single_root, _LEAST)
        climb_often(hill, whole, draws, climbing.restarts, climbing.most, np.inf, False, lesson.up)
        lesson.found[lesson.up[1:]] = True


@kernel
def far_scores(
    corpus: Corpus, s: int, space: Space, classes: WordClasses, training: Training, scratch: Scratch
) -> WholeTree:
    """What the trees of sentence s score as wholes by the weights as they are."""
    first, end = corpus.starts[s], corpus.starts[s + 1]
    weights = training.weights[len(training.weights) - (1 << space.part_bits) :]
    return make_whole_tree(corpus.numbers[first:end], scratch.tokens, classes, weights, space.part_bits)


def climbing_epoch(
    corpus: Corpus, pruned: PrunedCorpus, order: NDArray[np.int64], search: Search, climbing: Climbing, space: Space,
    single_root: bool, learner: Learner, step: int, training: Training,
) -> tuple[int, int]:  # fmt: skip
    """As `arcwise.learning.online.online_epoch`, with trees that climbing finds, and features of whole trees if the space has any."""
    scratch = make_scratch(space, longest_sentence(corpus.starts))
    wrong = np.zeros(2, np.int64)
    for s in order.tolist():
        lesson, known = begin_lesson(corpus, pruned, s, search, space, training, scratch)
        whole = None
        if space.whole is not None:
            whole = far_scores(corpus, s, space, space.whole, training, scratch)
        for completing in (True, False):
            if completing and known:
                continue
            add_costs(corpus, s, search, learner, completing, lesson)
            climb_lesson(search, lesson, whole, single_root, climbing, s)
            if completing:
                complete(lesson)
        wrong += end_lesson(corpus, s, search, space, learner, step, training, scratch, lesson, whole)
        step += 1
    return int(wrong[0]), int(wrong[1])
