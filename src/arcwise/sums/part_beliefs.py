"""Approximate sums over trees that are scored by tables of siblings and grandchildren: belief propagation on these tables."""

from __future__ import annotations

import warnings

import numpy as np

from arcwise.errors import InputError
from arcwise.parts.folding import fold, unfold
from arcwise.search.chart import CHARTS, make_levels
from arcwise.search.explain import explain
from arcwise.search.part_chart import PartChart
from arcwise.search.status import NO_TREE
from arcwise.sums.belief_propagation import belief_propagation
from arcwise.sums.factors import Parts
from arcwise.sums.part_sums import PartSums

SWEEPS, TOLERANCE = 300, 1e-6

# The charts whose tables number siblings and grandchildren as belief propagation does.
_NEAR, _FAR = CHARTS["sibling"], CHARTS["model0"]
_TABLES = ("arcs", "siblings", "grandchildren")


def log_partition(chart: PartChart, projective: bool) -> float:
    """The Bethe approximation to the log of the sum over all trees; -inf if there is none."""
    return _propagate(chart, projective).total


def part_beliefs(chart: PartChart, projective: bool) -> PartSums:
    """The log partition function, the entropy and the probability of every part, all approximate; NoTreeError if there is no tree."""
    sums = _propagate(chart, projective)
    if sums.total == -np.inf:
        graph = chart.graph
        S = np.full((len(graph.position),) * 2, -np.inf)
        h, m = graph.head[1:], graph.modifier[1:]
        S[h, m] = chart.arcs if chart.arcs.ndim == 1 else chart.arcs[h, m]
        raise explain(S, NO_TREE, projective, chart.single_root, chart.place)
    return sums


def _propagate(chart: PartChart, projective: bool) -> PartSums:
    _check(chart)
    graph, tables = chart.graph, chart.given
    near = {name: table for name, table in tables.items() if name != "grandchildren"}
    far = {name: table for name, table in tables.items() if name == "grandchildren"}
    near_levels, far_levels = make_levels(graph, _NEAR), make_levels(graph, _FAR)
    near_arrays, far_arrays = fold(near, graph, near_levels, _NEAR), fold(far, graph, far_levels, _FAR)
    scores = Parts(near_arrays.step, near_arrays.first, near_arrays.pair, near_arrays.last, far_arrays.step)
    found = Parts(*map(np.zeros_like, scores))
    total, sweeps, dissent = belief_propagation(
        graph, far_levels[0], scores, projective, chart.single_root, SWEEPS, TOLERANCE, found, np.empty(0)
    )
    if total == -np.inf:
        return PartSums(total, 0.0, {})
    if dissent > TOLERANCE:
        warnings.warn(
            f"{chart.place}belief propagation has not converged after {sweeps} sweeps: "
            f"two factors give an arc probabilities that differ by {dissent:.1g}",
            RuntimeWarning,
            stacklevel=2,
        )
    arcs, first, pair, last, grand = found
    near_arrays = near_arrays._replace(step=arcs, first=first, pair=pair, last=last)
    near_shapes, far_shapes = ({name: table.shape for name, table in some.items()} for some in (near, far))
    parts = unfold(near_arrays, near_shapes, graph, near_levels, _NEAR, True)
    parts |= unfold(far_arrays._replace(step=grand), far_shapes, graph, far_levels, _FAR, True)
    expected = sum(
        float((score[share > 0] * share[share > 0]).sum()) for score, share in zip(scores, found, strict=True)
    )
    return PartSums(total + chart.offset, total - expected, parts)


def _check(chart: PartChart) -> None:
    """InputError for what belief propagation does not understand."""
    strange = [name for name in chart.scores.tables() if name not in _TABLES]
    if strange:
        raise InputError(
            f"{chart.place}{', '.join(strange)} with approximate=True",
            expected=f"no tables but {', '.join(_TABLES)}",
        )
    check_words(chart, "approximate=True")


def check_words(chart: PartChart, asked_for: str) -> None:
    """InputError if several arcs join two words, or words have several senses."""
    graph = chart.graph
    twice = (graph.head[1:] == graph.head[:-1]) & (graph.modifier[1:] == graph.modifier[:-1])
    if twice.any() or len(graph.position) > graph.position[-1] + 1:
        raise InputError(
            f"{chart.place}labels or senses with {asked_for}",
            expected="at most one arc from one word to another",
        )
