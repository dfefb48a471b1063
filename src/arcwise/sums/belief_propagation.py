"""Loopy belief propagation: sums over trees of any kind, scored by siblings and grandchildren, approximately.

Smith and Eisner (2008); Martins, Smith, Xing, Aguiar and Figueiredo (2010). The model is a product of factors over arcs: one of all
arcs, which admits trees only and scores the arcs; for every head and side one of its arcs there, which scores siblings; for every
word one of the arcs into it and from it, which scores grandchildren. Each is summed exactly on its own (`arcwise.sums.matrix_tree`
or `inside_outside`, and `arcwise.sums.factors`), with the odds that the other factors give its arcs, and tells them its own. This
goes round until all factors agree on the probability of every arc. The tree factor speaks before each kind of the others.

The partition functions of all factors make up the Bethe approximation to that of all trees,

    log Z = sum over factors of log Z(factor) - sum over local factors, and their arcs a, of log(1 + odds of a)

(of the arcs into a word, which are the values of one variable, the factor of its grandchildren is given probabilities, and the second
term is 0). At a fixed point this does not change with the messages. So its derivative by the score of a part is the probability that
the part's factor gives the part: the sum is approximate, its gradient is not.
"""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Graph, Level
from arcwise.parts.tables import Floats
from arcwise.sums import inside_outside, matrix_tree
from arcwise.sums.factors import Messages, Parts, Scratch, grandchildren, siblings

_SURE = 30.0  # log odds beyond which marginals have no digits left
_DAMPING, _LEAST_SHARE = 0.9, 0.1  # of a message that is replaced


@kernel
def belief_propagation(
    graph: Graph,
    level: Level,
    scores: Parts,
    projective: bool,
    single_root: bool,
    sweeps: int,
    tolerance: float,
    found: Parts,
    weighed: Floats,
) -> tuple[float, int, float]:
    """Fill `found` with the probability of every part; returns the log partition function, the sweeps used, and the dissent left.

    The dissent is the greatest difference between the probabilities that two factors give an arc: 0 at a fixed point. It is at most
    `tolerance`, unless all sweeps were used: where siblings and grandchildren score more than arcs do, it may never be. Without
    local factors the sum is exact. The probabilities of arcs are the tree factor's, which sum to 1 for every word. Scores may be of
    any size, but not NaN or +inf. -inf if there is no tree, and `found` is then not to be used; that parts of -inf leave no
    tree is seen only if the arcs that they rule out do.

    A sweep takes O(n^3 + pairs + steps) time; all O(n^2 + arcs) memory. Messages are replaced as a whole, but each time that the
    dissent has grown, from then on by a tenth less.

    graph: at most one arc between two words, and one vertex a word. level: its level 1. `found` is of the lengths of `scores`.
    weighed: filled, unless it is empty, with the tree factor's scores of all arcs, which have the messages in them: trees of these
    scores alone have the same probabilities of arcs.

    >>> from arcwise.parts.folding import ancestry
    >>> from arcwise.parts.graph import make_graph
    >>> words, heads, modifiers = (np.array(x, np.int32) for x in ([0, 1, 2], [0, 0, 1, 2], [1, 2, 2, 1]))
    >>> graph, none = make_graph(words, heads, modifiers), np.empty(0)
    >>> scores = Parts(np.array([0, 0, 0, 1, 1.0]), none, none, none, none)
    >>> found = Parts(np.empty(5), none, none, none, none)
    >>> total, _, dissent = belief_propagation(graph, ancestry(graph, 1), scores, False, True, 9, 1e-6, found, none)
    >>> round(total, 6), dissent, found.arcs[1:]  # two trees, each of score 1
    (1.693147, 0.0, array([0.5, 0.5, 0.5, 0.5]))
    """
    size, arcs = len(graph.position), len(graph.head)
    of_siblings, of_grandchildren = len(scores.first) > 0, len(scores.grand) > 0
    messages = Messages(np.zeros(arcs), np.zeros(arcs), np.zeros(arcs), np.empty(arcs))
    scratch = Scratch(np.empty(arcs), np.empty(arcs), np.empty(arcs), np.empty(arcs))
    S, marginals = np.empty((size, size)), np.empty((size, size))
    room = matrix_tree.make_room(0 if projective else size - 1)
    chart = inside_outside.make_chart(size - 1 if projective else 0)
    used, replaced, dissent, before = 0, 1.0, np.inf, np.inf
    for array in found:
        array[:] = 0.0  # some entries are no parts
    while True:
        last = used == sweeps or dissent <= tolerance or not (of_siblings or of_grandchildren)
        if dissent > before:
            replaced = max(_DAMPING * replaced, _LEAST_SHARE)
        share = 0.0 if last else replaced
        before, dissent, terms = dissent, 0.0, 0.0
        for turn in range(2):
            if turn == 0 or of_siblings:  # else no message has changed
                _weigh(graph, scores.arcs, messages, S)
                if projective:
                    log_z = inside_outside.inside_outside(S, single_root, chart, marginals)
                else:
                    log_z = matrix_tree.matrix_tree(S, single_root, room, marginals)
                if log_z == -np.inf:
                    return log_z, used, 0.0
                _believe(graph, S, marginals, messages.belief, found.arcs)
            for v in range(size):
                begin, middle, end = graph.out[v], graph.right[v], graph.out[v + 1]
                if turn == 0 and of_siblings:
                    for first, beyond in ((begin, middle), (middle, end)):
                        term, far = siblings(graph, first, beyond, scores, messages, share, scratch, found)
                        terms, dissent = terms + term, max(dissent, far)
                if turn == 1 and of_grandchildren and v > 0 and begin < end:
                    term, far = grandchildren(graph, level, v, scores, messages, share, scratch, found)
                    terms, dissent = terms + term, max(dissent, far)
        if not last:
            used += 1
        elif used == sweeps or dissent <= tolerance:
            for a in range(1, len(weighed)):
                weighed[a] = S[graph.head[a], graph.modifier[a]]
            return log_z + terms, used, dissent


@kernel
def _weigh(graph: Graph, arcs: Floats, messages: Messages, S: Floats) -> None:
    """The scores of all arcs, with what the local factors tell of them."""
    S[:] = -np.inf
    for a in range(1, len(arcs)):
        told = messages.siblings[a] + messages.lower[a] + messages.upper[a]
        S[graph.head[a], graph.modifier[a]] = arcs[a] + told


@kernel
def _believe(graph: Graph, S: Floats, marginals: Floats, log_odds: Floats, probabilities: Floats) -> None:
    """The tree factor's beliefs of all arcs."""
    for a in range(1, len(probabilities)):
        h, m = graph.head[a], graph.modifier[a]
        p = marginals[h, m]
        others = 1.0 - p
        if p > 0.5:  # added up, the other heads have more digits
            others = 0.0
            for g in range(len(S)):
                others += marginals[g, m] if g != h else 0.0
        probabilities[a] = p
        log_odds[a] = min(max(np.log(p) - np.log(others), -_SURE), _SURE) if S[h, m] > -np.inf else -np.inf
