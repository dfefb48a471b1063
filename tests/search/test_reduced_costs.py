"""Reduced costs: with any arc the best tree loses what they say, at least."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from arcwise.search.reduced_costs import reduced_costs
from arcwise.search.spanning_tree import make_room, spanning_tree
from arcwise.search.status import FOUND
from tests.search.test_contract import matrices, oracle


@pytest.mark.parametrize("single_root", [True, False])
@settings(deadline=None, max_examples=300)
@given(S=matrices())
def test_what_an_arc_costs(single_root, S):
    scores, trees = oracle(S, single_root, projective=False)
    room, heads = make_room(len(S) - 1), np.empty(len(S), np.int32)
    if spanning_tree(S, single_root, room, heads) != FOUND:
        assert len(scores) == 0
        return
    allowed = np.isfinite(S)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    head, modifier = (arcs.astype(np.int32) for arcs in np.nonzero(allowed))
    costs, slack = np.empty(len(head)), 1e-12 * len(S) * np.abs(S[head, modifier]).max(initial=0.0)
    penalty = room.penalty[0]
    S[0] -= penalty
    bound = reduced_costs(S, head, modifier, room, costs) + penalty
    assert abs(bound - scores.max()) <= slack
    assert (costs >= -slack).all()
    for h, m, cost in zip(head, modifier, costs, strict=True):
        if heads[m] == h:
            assert cost <= slack
        assert scores[trees[:, m] == h].max(initial=-np.inf) <= bound - cost + slack
