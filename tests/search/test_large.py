"""Longer sentences, against searches that share nothing with ours."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from arcwise import NoTreeError, decode, k_best


def random_matrices(kind: str, sizes: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    batch = []
    for n in sizes:
        S = rng.normal(size=(n + 1, n + 1))
        if kind == "integers":
            S = np.round(3 * S)
        elif kind == "sparse":
            S[rng.random(S.shape) < 0.7] = -np.inf
            S[np.arange(n), np.arange(1, n + 1)] = -5.0  # the chain is always a tree
        elif kind == "nested cycles":
            # Neighbours love each other, pairs of pairs a little less, ...: cycles in cycles in cycles.
            i = np.arange(n + 1)
            S = -np.log2(1.0 + (i[:, None] ^ i[None, :])).round() + 0.01 * S
        batch.append(S)
    return batch


kinds = pytest.mark.parametrize("kind", ["gaussian", "integers", "sparse", "nested cycles"])


@kinds
def test_several_roots_against_ufal(kind):
    chu_liu_edmonds = pytest.importorskip("ufal.chu_liu_edmonds").chu_liu_edmonds
    for S in random_matrices(kind, [10, 33, 64, 100]):
        turned = np.ascontiguousarray(S.T)
        turned[np.isneginf(turned)] = np.nan
        np.fill_diagonal(turned, np.nan)
        turned[0] = np.nan
        heads, _ = chu_liu_edmonds(turned)
        peer = S[heads[1:], np.arange(1, len(S))].sum()
        assert decode(S, single_root=False).score == pytest.approx(peer, abs=1e-9)


@kinds
@pytest.mark.parametrize("projective", [False, True])
def test_one_root_is_the_best_of_each_root_in_turn(kind, projective):
    for S in random_matrices(kind, [9, 21, 40]):
        n = len(S) - 1
        turns = []
        for root in range(1, n + 1):
            if S[0, root] > -np.inf:
                masked = S.copy()
                masked[0] = masked[:, root] = -np.inf
                masked[0, root] = S[0, root]
                try:
                    turns.append(decode(masked, single_root=False, projective=projective).score)
                except NoTreeError:
                    continue
        one = decode(S, projective=projective)
        assert one.score == pytest.approx(max(turns), abs=1e-9)
        assert one.score <= decode(S, projective=projective, single_root=False).score + 1e-9
        if projective:
            assert one.score <= decode(S).score + 1e-9


def plain_projective(S: np.ndarray) -> tuple[float, float]:
    """The best projective scores with one root and with several, by recursion over contiguous subtrees."""
    n = len(S) - 1

    @cache
    def forest(i: int, j: int, h: int) -> float:
        """The best trees that cover the words i..j side by side, all hung from h."""
        if i > j:
            return 0.0
        return max(
            float(S[h, m]) + forest(i, m - 1, m) + forest(m + 1, k, m) + forest(k + 1, j, h)
            for k in range(i, j + 1)
            for m in range(i, k + 1)
        )

    one = max(S[0, m] + forest(1, m - 1, m) + forest(m + 1, n, m) for m in range(1, n + 1))
    return one, forest(1, n, 0)


@kinds
def test_projective_against_a_plain_recursion(kind):
    for S in random_matrices(kind, [2, 7, 12]):
        one, several = plain_projective(S)
        assert decode(S, projective=True).score == pytest.approx(one, abs=1e-9)
        assert decode(S, projective=True, single_root=False).score == pytest.approx(several, abs=1e-9)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_k_best_of_a_long_sentence(projective, single_root):
    [S] = random_matrices("gaussian", [25])
    parses = k_best(S, 60, projective=projective, single_root=single_root)
    scores = [parse.score for parse in parses]
    assert len({tuple(parse.heads) for parse in parses}) == 60
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == decode(S, projective=projective, single_root=single_root).score
    # The second best tree differs from the best in some arc: forbid each in turn.
    heads = parses[0].heads
    options = {"projective": projective, "single_root": single_root}
    second = max(decode(S, forbidden=[(heads[m], m)], **options).score for m in range(1, len(S)))
    assert scores[1] == second
    if single_root:
        assert all(np.count_nonzero(parse.heads == 0) == 1 for parse in parses)


def test_ties_go_to_the_smallest_head():
    assert decode(np.zeros((6, 6)), single_root=False).heads.tolist() == [-1, 0, 0, 0, 0, 0]
    assert decode(np.zeros((6, 6))).score == 0.0


def test_a_long_sentence_needs_no_recursion():
    [S] = random_matrices("nested cycles", [1500])
    assert np.count_nonzero(decode(S).heads == 0) == 1
    chain = np.full((1501, 1501), -np.inf)
    chain[np.arange(1500), np.arange(1, 1501)] = 1.0
    assert decode(chain).score == 1500.0
    assert decode(chain[:301, :301], projective=True).score == 300.0
