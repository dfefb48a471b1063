"""Learning with hill climbing inside: the tree that costs and scores together make best is looked for by climbing.

Zhang et al. (2014), 3.1: passive-aggressive updates from the strongest violation found. It need not be the strongest there is
(Huang et al., 2012): a tree that scores above the right one will do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.features.tokens import longest_sentence
from arcwise.features.whole_tree import WholeTree, make_whole_tree
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
from arcwise.learning.space import Search, Space, far_size, make_scratch
from arcwise.search.climbing import Climbing, climb_sentence
from arcwise.search.hill import make_hill
from arcwise.search.start_trees import arc_matrix

_LEAST = 1e-7  # of float32 weights
_NOWHERE = np.empty(0, np.int32)


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
    hill = make_hill(search.kind, lesson.graph, lesson.levels, lesson.tables, single_root, _LEAST)
    lesson.found[:] = False
    lesson.up[:] = 0
    _, found = climb_sentence(hill, whole, S, climbing, number, _NOWHERE, np.inf, False, lesson.up)
    if found:
        lesson.found[lesson.up[1:]] = True


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
        if far_size(space) > 0:
            words = corpus.numbers[corpus.starts[s] : corpus.starts[s + 1]]
            whole = make_whole_tree(words, scratch.tokens, space.far, training.weights[-far_size(space) :])
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
