"""Sums over trees of any kind that are scored by tables of any parts: projective trees exactly, the others by importance sampling.

The sum over projective trees comes from the chart of the tables' kind. The other trees are drawn from a distribution of arc scores
that has the higher parts in it (`arcwise.sums.proposals`), exactly (`arcwise.sums.wilson`); so the probability q(t) of each draw is
known, and the mean of exp(score(t)) / q(t), over all draws, 0 for projective trees, is the rest of the partition function: without
bias, however bad the proposal is. The probability of an arc is what all trees that have it weigh together, as a share of all. Where
trees have a score as a whole, too, no chart knows it: projective trees are then drawn from the chart, and weighed by this score.

Atoms are trees that are given: the best one, for example. They count with their own weight, and draws of them do not. So no
atom is likelier than any of its arcs, and several of them never have more than 1 together, whatever was drawn. If a sentence has
few trees, all that cross are atoms.

One draw in _FLAT_EVERY is from a flatter distribution, and q is the mixture of both (Hesterberg, 1995): trees that the proposal
takes for far less likely than they are do not weigh without bounds.

Standard errors are those of ratios of means (the delta method). Few draws may count, too few to show how they vary. So to the
squares of their weights is added what is missing: one draw more of the mean weight, for it may have any arc, and as many as fewer
than expected count. How many are expected is known, as is the probability under the proposal of the trees that count. If none does,
the proposal is taken to be perfect for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.parts.whole import whole_score
from arcwise.search.chart import Chart, make_chart
from arcwise.search.derivations import derive
from arcwise.search.hill import Hill, Tree, make_hill, make_tree
from arcwise.search.passes import backward, forward
from arcwise.search.uphill import place
from arcwise.sums import inside_outside, matrix_tree
from arcwise.sums.chance import start_stream
from arcwise.sums.proposals import propose
from arcwise.sums.weights import log_add
from arcwise.sums.wilson import begin_draws, draw_tree

_NONE_LEFT = 1e-12  # of a proposal's probability: nothing is drawn then
_FLATTER, _FLAT_EVERY = 0.5, 4  # what the scores of the flat proposal are, and which draws are from it
_LOG_FLAT, _LOG_SHARP = np.log(1.0 / _FLAT_EVERY), np.log(1.0 - 1.0 / _FLAT_EVERY)
_PROJECTIVE, _CROSSING = 0, 1  # strata
STRATA = 2


class Estimate(NamedTuple):
    """Of all trees of a sentence the log partition function and the entropy in nats, each with its standard error."""

    log_partition: float
    error: float
    entropy: float
    entropy_error: float


class Drawn(NamedTuple):
    """What was drawn, by stratum and draw. logs: of the weights, -inf of those that do not count. scores: of the trees. arcs: into
    each word. left: by stratum, the probability under the proposal of what counts; 0 if nothing was drawn.
    """

    logs: Floats
    scores: Floats
    arcs: Any  # int32 (strata, draws, words)
    left: Floats


@kernel
def sum_by_samples(
    kind: Kind, graph: Graph, levels: tuple[Level, Level, Level], tables: Tables, whole: Any, cold: float,
    single_root: bool, atoms: Any, samples: int, seed: int, number: int, marginals: Floats, errors: Floats,
) -> Estimate:  # fmt: skip
    """Fill in the probability of every arc and its standard error, both (n+1, n+1), of trees as likely as exp(cold * score).

    The chart's time, and O(n^2) for each of `samples` draws, of which there may be two kinds. What is drawn depends on seed and
    number alone. whole: a score of whole trees (`arcwise.parts.whole`), or None. atoms: int32 (trees, n+1), heads of
    different trees of the graph. At most one arc between two words, and one vertex a word. The log partition function is -inf
    if no tree was met.
    """
    size, count = len(graph.position), len(graph.head)
    weighed = Tables(
        tables.step * cold, tables.first * cold, tables.pair * cold, tables.slot * cold, tables.second * cold,
        tables.triple * cold, tables.run * cold, tables.last * cold, tables.only * cold, tables.last_pair * cold,
        tables.none * cold,
    )  # fmt: skip
    chart = make_chart(graph, levels, kind, weighed, single_root)
    projective = forward(chart, np.bool_(True))
    hill, tree = make_hill(kind, graph, levels, weighed, single_root, 0.0), make_tree(size, count)

    atoms = _all_trees(graph, single_root, samples, atoms)

    # The atoms, and of the projective trees all, or those that are drawn.
    logs, of_atoms = np.empty(len(atoms)), np.empty((len(atoms), size), np.int32)
    crossing = np.empty(len(atoms), np.bool_)
    for k in range(len(atoms)):
        logs[k], crossing[k] = _score(hill, tree, whole, cold, atoms[k]), crosses(atoms[k])
        of_atoms[k] = tree.up
    drawn = _draw(
        chart,
        projective,
        hill,
        tree,
        whole,
        cold,
        kind,
        levels,
        weighed,
        atoms,
        crossing,
        samples,
        seed,
        number,
    )
    exact = whole is None and projective > -np.inf
    top = projective if exact else -np.inf
    for k in range(len(atoms)):
        top = max(top, logs[k])
    for stratum in range(STRATA):
        for t in range(samples):
            top = max(top, drawn.logs[stratum, t])
    marginals[:] = errors[:] = 0.0
    if top == -np.inf:
        return Estimate(-np.inf, 0.0, 0.0, 0.0)

    # In units of exp(top): what all trees weigh, what those with each arc do, and the sum of weight times score.
    total, expected, with_arc = 0.0, 0.0, np.zeros(count)
    if exact:
        share, inside = np.exp(projective - top), np.zeros(1)
        nothing = np.empty(0)
        found = Tables(
            np.zeros(len(tables.step)), nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing,
            nothing,
        )  # fmt: skip
        backward(chart, True, found, inside)
        lower = levels[1]
        for p in range(len(lower.head)):
            h = lower.head[p]
            for b in range(graph.out[h], graph.out[h + 1]):
                with_arc[b] += share * found.step[lower.steps[p] + b - graph.out[h]]
        total, expected = share, share * (projective - inside[0])
    for k in range(len(atoms)):
        if logs[k] > -np.inf and (crossing[k] or not exact):
            weight = np.exp(logs[k] - top)
            total, expected = total + weight, expected + weight * logs[k]
            for m in range(1, size):
                with_arc[of_atoms[k, m]] += weight
    once, squares = np.zeros((STRATA, count)), np.zeros((STRATA, count))
    for stratum in range(STRATA):
        for t in range(samples):
            if drawn.logs[stratum, t] > -np.inf:
                weight = np.exp(drawn.logs[stratum, t] - top)
                once[stratum, 0] += weight
                squares[stratum, 0] += weight * weight
                expected += weight / samples * drawn.scores[stratum, t]
                for m in range(1, size):
                    once[stratum, drawn.arcs[stratum, t, m]] += weight
                    squares[stratum, drawn.arcs[stratum, t, m]] += weight * weight
        total += once[stratum, 0] / samples
        for b in range(1, count):
            with_arc[b] += once[stratum, b] / samples
    expected /= total

    # Standard errors: of every mean of weights times what the arc's probability, 1 or the score differ by.
    unseen = np.zeros(STRATA)
    for stratum in range(STRATA):
        expected_draws, met = drawn.left[stratum] * samples, 0
        for t in range(samples):
            met += drawn.logs[stratum, t] > -np.inf
        if met > 0:
            unseen[stratum] = (1.0 + max(0.0, expected_draws - met)) * (once[stratum, 0] / met) ** 2
        else:
            unseen[stratum] = expected_draws * total * total
    for b in range(1, count):
        p = min(with_arc[b] / total, 1.0)
        variance = 0.0
        for stratum in range(STRATA):
            others = squares[stratum, 0] - squares[stratum, b]
            square = (
                squares[stratum, b] * (1.0 - p) ** 2 + others * p * p + unseen[stratum] * max(p, 1.0 - p) ** 2
            )
            mean = (once[stratum, b] - p * once[stratum, 0]) / samples
            variance += max(0.0, square / samples - mean * mean)
        marginals[graph.head[b], graph.modifier[b]] = p
        errors[graph.head[b], graph.modifier[b]] = np.sqrt(variance / samples) / total
    log_partition = top + np.log(total)
    variance, of_entropy = 0.0, 0.0
    for stratum in range(STRATA):
        mean, square, entropy_mean, entropy_square = once[stratum, 0] / samples, squares[stratum, 0], 0.0, 0.0
        for t in range(samples):
            if drawn.logs[stratum, t] > -np.inf:
                differs = np.exp(drawn.logs[stratum, t] - top) * (1.0 + expected - drawn.scores[stratum, t])
                entropy_mean, entropy_square = (
                    entropy_mean + differs / samples,
                    entropy_square + differs * differs,
                )
        variance += max(0.0, (square + unseen[stratum]) / samples - mean * mean)
        of_entropy += max(0.0, (entropy_square + unseen[stratum]) / samples - entropy_mean * entropy_mean)
    return Estimate(
        log_partition, np.sqrt(variance / samples) / total, max(0.0, log_partition - expected),
        np.sqrt(of_entropy / samples) / total,
    )  # fmt: skip


@kernel
def _draw(
    chart: Chart, projective: float, hill: Hill, tree: Tree, whole: Any, cold: float, kind: Kind,
    levels: tuple[Level, Level, Level], weighed: Tables, atoms: Any, crossing: Any, samples: int, seed: int, number: int,
) -> Drawn:  # fmt: skip
    """Draw the trees that are not summed exactly."""
    graph, single_root = chart.graph, hill.single_root
    size = len(graph.position)
    drawn = Drawn(
        np.full((STRATA, samples), -np.inf), np.zeros((STRATA, samples)), np.zeros((STRATA, samples, size), np.int32),
        np.zeros(STRATA),
    )  # fmt: skip
    state, heads = np.empty(1, np.uint64), np.full(size, -1, np.int32)
    if whole is not None and projective > -np.inf:
        left = 1.0
        for k in range(len(atoms)):
            if not crossing[k]:
                left -= np.exp(_score(hill, tree, None, cold, atoms[k]) - projective)
        drawn.left[_PROJECTIVE] = left if left > _NONE_LEFT else 0.0
        if left > _NONE_LEFT:
            for t in range(samples):
                arcs = drawn.arcs[_PROJECTIVE, t]
                start_stream(state, np.uint64(seed), number, STRATA * t + _PROJECTIVE)
                derive(chart, np.bool_(True), state, arcs)
                for m in range(1, size):
                    heads[m] = graph.head[arcs[m]]
                if not _is_among(atoms, heads):
                    of_whole = cold * whole_score(whole, heads, True)
                    drawn.logs[_PROJECTIVE, t] = projective + of_whole
                    drawn.scores[_PROJECTIVE, t] = _score(hill, tree, None, cold, heads) + of_whole

    sharp = np.empty((size, size))
    propose(graph, levels, kind, weighed, single_root, sharp)
    flat = sharp * _FLATTER
    rooms = matrix_tree.make_room(size - 1), matrix_tree.make_room(size - 1)
    of_sharp = matrix_tree.factorise(sharp, single_root, rooms[0])
    of_flat = matrix_tree.factorise(flat, single_root, rooms[1])
    if of_flat.log_partition == -np.inf or of_sharp.log_partition == -np.inf:
        return drawn
    logs = of_sharp.log_partition, of_flat.log_partition
    spans, nothing = inside_outside.make_chart(size - 1), np.empty((0, 0))
    left = 1.0 - np.exp(
        _mixed(
            inside_outside.inside_outside(sharp, single_root, spans, nothing) - logs[0],
            inside_outside.inside_outside(flat, single_root, spans, nothing) - logs[1],
        )
    )
    for k in range(len(atoms)):
        if crossing[k]:
            left -= np.exp(_mixed(_share(sharp, atoms[k]) - logs[0], _share(flat, atoms[k]) - logs[1]))
    if left <= _NONE_LEFT:
        return drawn
    drawn.left[_CROSSING] = left
    begin_draws(size, single_root, of_sharp, rooms[0])
    begin_draws(size, single_root, of_flat, rooms[1])
    ways = np.empty((2, size), np.int64)
    for t in range(samples):
        start_stream(state, np.uint64(seed), number, STRATA * t + _CROSSING)
        if t % _FLAT_EVERY == 0:
            draw_tree(size, single_root, of_flat, rooms[1], state, ways, heads)
        else:
            draw_tree(size, single_root, of_sharp, rooms[0], state, ways, heads)
        if crosses(heads) and not _is_among(atoms, heads):
            score = _score(hill, tree, whole, cold, heads)
            drawn.scores[_CROSSING, t], drawn.arcs[_CROSSING, t] = score, tree.up
            share = _mixed(_share(sharp, heads) - logs[0], _share(flat, heads) - logs[1])
            drawn.logs[_CROSSING, t] = score - share
    return drawn


@kernel
def _all_trees(graph: Graph, single_root: bool, most: int, atoms: Any) -> Any:
    """All trees of the graph that cross, and the atoms that do not; the atoms as they are if there are more than `most` ways to
    choose heads.
    """
    size, ways = len(graph.position), 1
    for m in range(1, size):
        ways = min(ways * (graph.into_first[m + 1] - graph.into_first[m]), most + 1)
    if ways > most:
        return atoms
    found, count = np.full((ways + len(atoms), size), -1, np.int32), 0
    for atom in atoms:
        if not crosses(atom):
            found[count] = atom
            count += 1
    chosen, heads = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    for _ in range(ways):
        roots = 0
        for m in range(1, size):
            heads[m] = graph.head[graph.into[graph.into_first[m] + chosen[m]]]
            roots += heads[m] == 0
        if (roots == 1 or not single_root) and _is_tree(heads) and crosses(heads):
            found[count] = heads
            count += 1
        for m in range(1, size):
            chosen[m] += 1
            if chosen[m] < graph.into_first[m + 1] - graph.into_first[m]:
                break
            chosen[m] = 0
    return found[:count]


@kernel
def _is_tree(heads: Ints) -> bool:
    """Whether every word comes to the root."""
    for m in range(1, len(heads)):
        steps, word = 0, m
        while word > 0 and steps < len(heads):
            steps, word = steps + 1, heads[word]
        if word > 0:
            return False
    return True


@inline_kernel
def _mixed(sharp: float, flat: float) -> float:
    """The logarithm of a probability under the mixture of both proposals, from those under each."""
    return log_add(sharp + _LOG_SHARP, flat + _LOG_FLAT)


@kernel
def _score(hill: Hill, tree: Tree, whole: Any, cold: float, heads: Ints) -> float:
    """What a tree scores, and its arcs in `tree.up`."""
    score = place(hill, tree, heads)
    return score + cold * whole_score(whole, heads, True) if score > 0.5 * hill.forbidden else -np.inf


@kernel
def score_of_tree(
    kind: Kind, graph: Graph, levels: tuple[Level, Level, Level], tables: Tables, whole: Any, heads: Ints
) -> float:
    """What a tree of the graph scores by tables and as a whole."""
    hill = make_hill(kind, graph, levels, tables, False, 0.0)
    return _score(hill, make_tree(len(heads), len(graph.head)), whole, 1.0, heads)


@kernel
def _share(S: Floats, heads: Ints) -> float:
    total = 0.0
    for m in range(1, len(heads)):
        total += S[heads[m], m]
    return total


@kernel
def _is_among(atoms: Any, heads: Ints) -> bool:
    for atom in atoms:
        same = True
        for m in range(1, len(heads)):
            if atom[m] != heads[m]:
                same = False
                break
        if same:
            return True
    return False


@kernel
def crosses(heads: Ints) -> bool:
    """Whether two arcs of a tree cross, the root being to the left of all words. O(n^2), less if they do.

    >>> crosses(np.array([-1, 2, 0, 2], np.int32)), crosses(np.array([-1, 3, 0, 2], np.int32))
    (False, True)
    """
    for m in range(2, len(heads)):
        low, high = min(m, heads[m]), max(m, heads[m])
        for k in range(1, m):
            begin, end = min(k, heads[k]), max(k, heads[k])
            if begin < low < end < high or low < begin < high < end:
                return True
    return False
