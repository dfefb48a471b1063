"""The front door of the sums: scores in, what all trees together say out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.matrices import Batch, Matrix
from arcwise.search.decode import LONG, decode
from arcwise.search.explain import explain
from arcwise.search.part_chart import PartChart, as_tables, at_hand, for_each, is_parts
from arcwise.search.pieces import in_pieces
from arcwise.search.status import FOUND, REFUSED
from arcwise.sums import part_beliefs, part_sums
from arcwise.sums.batches import check_whole, flatten, read, unflatten, unwrap, why
from arcwise.sums.inside_outside import inside_outsides, one_inside_outside
from arcwise.sums.labels import label_marginals, read_labelled, sum_labels
from arcwise.sums.matrix_tree import matrix_trees, one_matrix_tree
from arcwise.sums.projective_samples import sample_projective_trees
from arcwise.sums.wilson import sample_trees
from arcwise.threads import interruptible

Heads = NDArray[np.int32]

_NOTHING = np.empty(0)


def log_partition(
    scores: Any,
    *,
    projective: bool = False,
    single_root: bool = True,
    labelled: bool = False,
    approximate: bool = False,
    jobs: int = 1,
) -> Any:
    """The logarithm of the sum over all trees of exp(score): exactly, in O(n^3) time and O(n^2) memory.

    By the matrix-tree theorem, or over projective trees by Eisner's chart. -inf if no tree is allowed.

    scores: S[h, m], (n+1, n+1), real numbers up to 1e300 in size; -inf forbids an arc; column 0 and the
        diagonal are never read. Or several matrices of any sizes, as a list or a (b, n+1, n+1) array: they
        are summed together, and a list comes back.
    projective: only trees whose arcs do not cross.
    single_root: only trees with exactly one word headed by 0.
    scores, with projective=True: also `Scores` or `PartScores`, tables of higher parts, or a list of them; time and memory as of the
        chart (`arcwise.search.chart`).
    labelled: the scores have one more axis, of labels: S[h, m, l], and the sum is over labelled trees.
    approximate: for tables of arcs, siblings and grandchildren, projective or not: by belief propagation
        (`arcwise.sums.belief_propagation`), in O(n^3) time a sweep and O(n^3) memory. The result is no bound, but the closer the
        smaller the scores of siblings and grandchildren are, and exact without them; its gradient are the approximate `marginals`.
        `arcwise.estimate` takes longer, has no bias, and tells its standard error.
        A RuntimeWarning tells if it has not converged after 300 sweeps. Matrices are summed exactly all the same.
    jobs: threads to share several matrices among. The result does not depend on it.

    Raises InputError for unusable scores.

    >>> round(log_partition([[0, 0, 0], [0, 0, 1], [0, 1, 0]]), 6)  # two trees, each of score 1
    1.693147
    """
    scores = at_hand(scores)
    if is_parts(scores):
        _no_labels(labelled)
        work: Callable[[PartChart], float] = part_sums.log_partition
        if approximate:
            work = partial(part_beliefs.log_partition, projective=bool(projective))
        return _of_parts(scores, jobs, work, projective or approximate, single_root)
    batch, alone, _ = _read(scores, labelled)
    sums = inside_outsides if projective else matrix_trees

    def sum_piece(piece: Batch, first: int) -> list[float]:
        flat, lengths = flatten(piece)
        log_partitions = np.empty(len(lengths))
        codes = sums(flat, lengths, bool(single_root), _NOTHING, log_partitions)
        if (codes == REFUSED).any():
            raise why(codes == REFUSED, codes, piece, first, alone, bool(projective), bool(single_root))
        return log_partitions.tolist()

    return unwrap(in_pieces(batch, jobs, sum_piece), alone)


def marginals(
    scores: Any,
    *,
    projective: bool = False,
    single_root: bool = True,
    labelled: bool = False,
    parts: bool = False,
    approximate: bool = False,
    jobs: int = 1,
) -> Any:
    """The probability of every arc, when a tree is as likely as exp(score): (n+1, n+1), columns 1..n sum to 1.

    Exact, in O(n^3) time and O(n^2) memory, whatever the size of the scores; with L labels in
    O(n^3 + L n^2), and (n+1, n+1, L). Column 0 and the diagonal are 0. Options as in `log_partition`.

    For `Scores`, `parts` gives the probabilities of all parts, as `Scores`; for `PartScores` the arcs' are a vector over the arcs as
    given, and those of all parts a dictionary of vectors. With `approximate` they are beliefs: those of arcs still sum to 1.

    Raises InputError for unusable scores, and NoTreeError if no tree is allowed.

    >>> marginals([[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    array([[0. , 0.5, 0.5],
           [0. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    scores = at_hand(scores)
    if parts and not is_parts(scores):
        scores = as_tables(scores)
    if is_parts(scores):
        _no_labels(labelled)
        find: Callable[[PartChart], part_sums.PartSums] = partial(part_sums.part_sums, sums=True)
        if approximate:
            find = partial(part_beliefs.part_beliefs, projective=bool(projective))
        return _of_parts(
            scores, jobs, lambda chart: part_sums.as_given(chart, find(chart), parts),
            projective or approximate, single_root,
        )  # fmt: skip
    batch, alone, labels = _read(scores, labelled)
    found = [arcs for arcs, _ in _distributions(batch, alone, projective, single_root, jobs)]
    if labelled:
        found = [label_marginals(*one) for one in zip(found, batch, labels, strict=True)]
    return unwrap(found, alone)


def entropy(scores: Any, *, projective: bool = False, single_root: bool = True, jobs: int = 1) -> Any:
    """The entropy, in nats, of trees as likely as exp(score): 0 if one has all the probability.

    It is the log partition function less the expected score. Time, memory, options and errors as of `marginals`.

    >>> round(entropy([[0, 0, 0], [0, 0, 1], [0, 1, 0]]), 6)  # two equally likely trees
    0.693147
    """
    scores = at_hand(scores)
    if is_parts(scores):
        return _of_parts(
            scores, jobs, lambda chart: part_sums.part_sums(chart, True).entropy, projective, single_root
        )
    batch, alone, _ = _read(scores, False)
    found = []
    for S, (arcs, log_z) in zip(
        batch, _distributions(batch, alone, projective, single_root, jobs), strict=True
    ):
        usual, rest = _expected_scores(S, arcs)
        found.append(max(0.0, float(log_z - usual.sum() - rest.sum())))
    return unwrap(found, alone)


def expected_score(scores: Any, *, projective: bool = False, single_root: bool = True, jobs: int = 1) -> Any:
    """The score to expect of a tree, when trees are as likely as exp(score).

    Time, memory, options and errors as of `marginals`.

    >>> round(expected_score([[0, 0, 0], [0, 0, 1], [0, 1, 0]]), 6)
    1.0
    """
    scores = at_hand(scores)
    if is_parts(scores):
        return _of_parts(
            scores, jobs, lambda chart: part_sums.part_sums(chart, True).expected, projective, single_root
        )
    batch, alone, _ = _read(scores, False)
    found = []
    for S, (arcs, _) in zip(batch, _distributions(batch, alone, projective, single_root, jobs), strict=True):
        usual, rest = _expected_scores(S, arcs)
        found.append(float(usual.sum() + rest.sum()))
    return unwrap(found, alone)


def min_risk(scores: Any, *, projective: bool = False, single_root: bool = True, jobs: int = 1) -> Any:
    """The tree with the most right arcs to expect, when trees are as likely as exp(score): a `Parse`.

    Exact: the best tree under the arcs' marginals, among all with no arc of -inf. Its score is the number of right arcs to expect.
    Time, memory, options and errors as of `marginals`.

    >>> parse = min_risk([[0, 5, 4], [0, 0, 3], [0, 9, 0]])
    >>> parse.heads, round(parse.score, 3)
    (array([-1,  2,  0], dtype=int32), 1.987)
    """
    scores = at_hand(scores)
    if is_parts(scores):
        return _of_parts(scores, jobs, part_sums.min_risk, projective, single_root)
    batch, alone, _ = _read(scores, False)
    gains = [
        np.where(np.isneginf(S), -np.inf, arcs)
        for S, (arcs, _) in zip(
            batch, _distributions(batch, alone, projective, single_root, jobs), strict=True
        )
    ]
    return unwrap(decode(gains, projective=projective, single_root=single_root, jobs=jobs), alone)


def sample(
    scores: Any, k: int, *, seed: int = 0, projective: bool = False, single_root: bool = True, jobs: int = 1
) -> Any:
    """k trees drawn independently, each as likely as exp(score): their heads, (k, n+1); for `PartScores` their arcs, as given.

    Exact, by Wilson's algorithm or, where its walks are long, by unwinding the matrix-tree theorem's elimination; projective
    trees from Eisner's chart, or that of the tables. O(n^3 + k n^2) time, O(k n^3) at worst; O(n^2 + k n) memory. The same seed
    gives the same trees. Options and errors as of `marginals`.

    >>> sample([[0, 5, 4], [0, 0, 3], [0, 4, 0]], 3)
    array([[-1,  0,  1],
           [-1,  0,  1],
           [-1,  2,  0]], dtype=int32)
    """
    count, start = check_whole(k, "k", 63), check_whole(seed, "seed", 64)
    scores = at_hand(scores)
    if is_parts(scores):
        return for_each(
            scores, jobs, lambda chart, number: part_sums.sample(chart, count, start, number),
            projective=projective, single_root=single_root, shifted=True,
        )  # fmt: skip
    draw = sample_projective_trees if projective else sample_trees
    batch, alone, _ = _read(scores, False)

    def sample_piece(piece: Batch, first: int) -> list[Heads]:
        flat, lengths = flatten(piece)
        heads = np.empty(count * int((lengths + 1).sum()), np.int32)
        codes = draw(flat, lengths, bool(single_root), count, np.uint64(start), first, heads)
        if codes.any():
            raise why(codes != FOUND, codes, piece, first, alone, bool(projective), bool(single_root))
        ends = np.cumsum(count * (lengths + 1))
        parts = np.split(heads, ends[:-1])
        return [part.reshape(count, len(S)) for part, S in zip(parts, piece, strict=True)]

    return unwrap(in_pieces(batch, jobs, sample_piece, rounds=count), alone)


def max_marginals(
    scores: Any,
    *,
    projective: bool = True,
    single_root: bool = True,
    parts: bool = False,
    jobs: int = 1,
) -> Any:
    """For every arc the score of the best projective tree that has it: -inf if none has.

    Exact, by one pass up the chart and one down. scores: a matrix, `Scores` or `PartScores`, or a list of them. Shapes, `parts` and
    errors as of `marginals`, time and memory as of the chart (`arcwise.search.chart`).

    >>> max_marginals([[0, 5, 4], [0, 0, 3], [0, 9, 0]])
    array([[-inf,   8.,  13.],
           [-inf, -inf,   8.],
           [-inf,  13., -inf]])
    """
    scores = at_hand(scores)
    if not is_parts(scores):
        scores = as_tables(scores)
    return for_each(
        scores, jobs, lambda chart, number: part_sums.as_given(chart, part_sums.part_sums(chart, False), parts),
        projective=projective, single_root=single_root,
    )  # fmt: skip


def _of_parts(
    scores: Any, jobs: int, work: Callable[[PartChart], Any], understood: bool, single_root: bool
) -> Any:
    """What a sum over the trees of one table, or of each of several, makes of its chart."""
    if not understood:
        raise InputError(
            "tables of parts with projective=False",
            expected="projective=True, or of log_partition and marginals approximate=True",
        )
    return for_each(
        scores, jobs, lambda chart, number: work(chart),
        projective=True, single_root=single_root, shifted=True,
    )  # fmt: skip


def _no_labels(labelled: bool) -> None:
    if labelled:
        raise InputError("labelled=True for tables of parts", expected="PartScores, whose arcs have labels")


def _read(scores: Any, labelled: bool) -> tuple[Batch, bool, list[Matrix]]:
    """The matrices to sum over, whether there is but one, and what they were before labels were summed out."""
    if not labelled:
        return *read(scores), []
    arrays, alone = read_labelled(scores)
    return [sum_labels(array) for array in arrays], alone, arrays


def _distributions(
    batch: Batch, alone: bool, projective: bool, single_root: bool, jobs: int
) -> list[tuple[Matrix, float]]:
    """The marginals and the log partition function of every matrix."""
    if alone:  # without what several need: it costs as much as summing over ten words
        one, square = one_inside_outside if projective else one_matrix_tree, np.empty_like(batch[0])
        code, log_partition = interruptible(one, batch[0], bool(single_root), square, long=len(square) > LONG)
        if code != FOUND:
            raise explain(batch[0], code, bool(projective), bool(single_root))
        return [(square, log_partition)]
    sums = inside_outsides if projective else matrix_trees

    def sum_piece(piece: Batch, first: int) -> list[tuple[Matrix, float]]:
        flat, lengths = flatten(piece)
        arcs, log_partitions = np.empty(len(flat)), np.empty(len(lengths))
        codes = sums(flat, lengths, bool(single_root), arcs, log_partitions)
        if codes.any():
            raise why(codes != FOUND, codes, piece, first, False, bool(projective), bool(single_root))
        return list(zip(unflatten(arcs, piece), log_partitions.tolist(), strict=True))

    return in_pieces(batch, jobs, sum_piece)


def _expected_scores(S: Matrix, arcs: Matrix) -> tuple[Matrix, Matrix]:
    """For every word, the score of its likeliest head, and what to expect beyond that: apart, so that no digits cancel."""
    likeliest = arcs[:, 1:].argmax(axis=0)
    usual = S[likeliest, np.arange(1, len(S))]
    probability = arcs[:, 1:]
    beyond = np.zeros_like(probability)
    np.subtract(S[:, 1:], usual, out=beyond, where=probability > 0)
    return usual, (probability * beyond).sum(axis=0)
