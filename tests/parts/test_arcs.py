"""Pruning against a naive one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.parts.arcs import ANY_HEAD, ANY_WORD, keep_heads, make_arcs, prune
from tests.features.test_features import random_tree


def naive_heads(S: np.ndarray, m: int, head: int, most: int, threshold: float) -> list[int]:
    """The heads kept for a word, the best first."""
    heads = sorted((h for h in range(len(S)) if h != m and S[h, m] > -np.inf), key=lambda h: (-S[h, m], h))
    kept = [h for h in heads if S[h, m] >= S[heads[0], m] - threshold][: most - 1]
    return kept if head in kept else [*kept, head]


@settings(deadline=None, max_examples=150)
@given(
    n=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    most=st.integers(2, 14),
    threshold=st.one_of(st.sampled_from([0.0, 1.0, 2.0, np.inf]), st.floats(0, 10)),
    values=st.integers(1, 6),
    keep=st.booleans(),
)
def test_prune(n: int, seed: int, most: int, threshold: float, values: int, keep: bool) -> None:
    """Few different values give many ties."""
    random = np.random.default_rng(seed)
    S = random.integers(values, size=(n + 1, n + 1)).astype(float)
    S[:, 0] = np.nan  # never read
    S[np.arange(n + 1), np.arange(n + 1)] = 1e9
    tree = random_tree(n, seed)
    if keep:
        keep_heads(S, np.where(random.random(n + 1) < 0.5, tree, ANY_HEAD).astype(np.int32))
    arcs = make_arcs(n, most)
    arcs.heads[:] = -7
    prune(S, tree, most, threshold, arcs)
    assert arcs.first[:2].tolist() == [0, 0]
    for m in range(1, n + 1):
        kept = arcs.heads[arcs.first[m] : arcs.first[m + 1]].tolist()
        assert kept == naive_heads(S, m, tree[m], most, threshold)
        assert tree[m] in kept
        assert len(kept) <= most
    assert (arcs.heads[arcs.first[n + 1] :] == -7).all() or n == 0


def test_room_is_used_again_for_a_shorter_sentence() -> None:
    arcs = make_arcs(6, 3)
    S = np.random.default_rng(0).normal(size=(7, 7))
    prune(S, random_tree(6, 0), 3, np.inf, arcs)
    short = np.ascontiguousarray(S[:3, :3])
    prune(short, random_tree(2, 0), 3, np.inf, arcs)
    assert arcs.first[:4].tolist() == [0, 0, 2, 4]
    assert sorted(arcs.heads[:2].tolist()) == [0, 2]
    assert sorted(arcs.heads[2:4].tolist()) == [0, 1]


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_keep_heads(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    before = random.normal(size=(n + 1, n + 1))
    heads = random.integers(ANY_WORD, n + 1, size=n + 1).astype(np.int32)
    S = before.copy()
    keep_heads(S, heads)
    for m in range(1, n + 1):
        for h in range(n + 1):
            admitted = heads[m] in (h, ANY_HEAD) or (heads[m] == ANY_WORD and h > 0)
            assert S[h, m] == (before[h, m] if admitted else -np.inf)
    assert S[:, 0].tolist() == before[:, 0].tolist()
