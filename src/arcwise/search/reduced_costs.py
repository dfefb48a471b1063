"""What every arc costs the best tree: the dual of the spanning tree, read off its contracted cycles (Edmonds 1967)."""

from __future__ import annotations

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.parts.tables import Floats
from arcwise.search.spanning_tree import Room, contract


@kernel
def reduced_costs(S: Floats, head: Ints, modifier: Ints, room: Room, costs: Floats) -> float:
    """A bound on the score of all trees, and for some arcs how much less a bound on the trees that have one is: 0 or more.

    O(n^2) time and memory. The bound is the score of the best tree, which may have several roots; -inf if there is no tree. Where
    one root is asked for, take `room.penalty` from all root arcs first, and add it to the bound: both hold whatever the penalty.

    For a word or a cycle c let y(c) be the score of the best arc into it, less what was taken from such arcs when the cycles within c
    were contracted. Then the sum of all y is the score of the best tree, and an arc from h to m costs the y of all c that m is in and
    h is not, less its score.

    S: (n+1, n+1). head, modifier: of the arcs; costs: filled.

    >>> from arcwise.search.spanning_tree import make_room
    >>> S, costs = np.array([[0.0, 5, 4], [0, 0, 3], [0, 9, 0]]), np.empty(3)
    >>> reduced_costs(S, np.array([2, 0, 0], np.int32), np.array([1, 2, 1], np.int32), make_room(2), costs), costs
    (13.0, array([0., 0., 4.]))
    """
    nodes, size = room.nodes, len(S)
    count = contract(S, room)
    if count < 0:
        return -np.inf
    above, place = np.zeros(count, np.int64), np.full(size, -1)
    bound, last = 0.0, 0
    for c in range(1, count):
        bound += nodes[c].entering_score
        if c >= size:
            member = nodes[c].member
            while above[member] == 0:
                above[member] = c
                member = nodes[member].next_member
    for v in range(1, size):  # the words of every node stand side by side
        c = nodes[v].outermost
        if place[v] < 0:
            word = nodes[c].first_word
            while place[word] < 0:
                place[word] = last
                last += 1
                if word != nodes[c].last_word:
                    word = nodes[word].next_word
    for a in range(len(head)):
        h, m = head[a], modifier[a]
        cost, c = nodes[m].entering_score - S[h, m], above[m]
        while c > 0 and not place[nodes[c].first_word] <= place[h] <= place[nodes[c].last_word]:
            cost += nodes[c].entering_score
            c = above[c]
        costs[a] = cost
    return bound
