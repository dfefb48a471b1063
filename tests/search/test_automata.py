"""Head automata: the search of a chain, its margins and its restriction, checked against all of its paths."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from arcwise import HeadAutomata, Scores
from arcwise.search.automata import best_chain, chain_margins, chain_score, mark_chain, restrict
from tests.parts import naive
from tests.search.dual_problems import KINDS, STATES, TABLES, automata_of, labelled_case

every_kind = pytest.mark.parametrize("kind", [*KINDS, STATES, "senses"])


def problems(kind):
    """Some problems: few scores, so that there are ties, and some of them -inf."""
    rng = np.random.default_rng(1)
    for round_ in range(8):
        single_root = round_ % 2 == 0
        if kind == "senses":
            yield labelled_case("grand-tri-sibling", rng, 2, single_root, False, True).scores, single_root
            continue
        n = 3
        shapes = {name: naive.shape(name, n) for name in ["arcs", *TABLES.get(kind, [])]}
        if kind == STATES:
            shapes |= {"left": (n + 1, 3, 3, n + 1), "right": (n + 1, 3, 3, n + 1), "left_end": (n + 1, 3)}
        tables = {
            name: rng.choice([0, 1, 2.5, -3, -np.inf], shape, p=[0.3, 0.2, 0.2, 0.2, 0.1])
            for name, shape in shapes.items()
        }
        yield (HeadAutomata if kind == STATES else Scores)(**tables), single_root


def all_automata(kind):
    for scores, single_root in problems(kind):
        parts, automata = automata_of(kind, scores, single_root)
        yield parts.graph, automata


def paths(automata, c):
    """All paths of a chain, as (arcs, score)."""
    begin, end = automata.nodes[c], automata.nodes[c + 1]
    found: list[list[tuple[tuple[int, ...], float]]] = [[((), 0.0)]]
    for node in range(begin + 1, end):
        here, arc = [], int(automata.arc[node])
        for e in range(automata.edges[node], automata.edges[node + 1]):
            for arcs, score in found[automata.source[e] - begin]:
                total = score + automata.score[e] + automata.gain[node]
                here.append(((*arcs, arc) if arc > 0 else arcs, float(total)))
        found.append(here)
    return found[-1]


def chains(automata):
    return range(len(automata.nodes) - 1)


def arcs_of(automata, c):
    """The arcs that a chain decides on."""
    return range(automata.before[c] + 1, automata.seen[automata.nodes[c + 1] - 1] + 1)


def room(automata, kind: Any = np.float64):
    return np.empty(len(automata.arc), kind)


def best_of(scores):
    return max(scores, default=-np.inf)


@every_kind
def test_chains_are_as_they_should_be(kind):
    for graph, automata in all_automata(kind):
        assert len(automata.options) == graph.position[-1] + 2
        assert len(automata.nodes) == 2 * len(automata.up) + 1
        for i in range(len(automata.options) - 1):
            for o in range(automata.options[i], automata.options[i + 1]):
                assert automata.up[o] == 0 or graph.position[graph.modifier[automata.up[o]]] == i
                for side in (0, 1):
                    arcs = arcs_of(automata, 2 * o + side)
                    assert all(graph.position[graph.head[b]] == i for b in arcs)
                    assert all((graph.position[graph.modifier[b]] > i) == bool(side) for b in arcs)
        for c in chains(automata):
            begin, end = automata.nodes[c], automata.nodes[c + 1]
            assert automata.arc[begin] == automata.arc[end - 1] == 0
            assert automata.seen[begin] == automata.before[c]
            assert (np.diff(automata.seen[begin:end]) >= 0).all()
            for node in range(begin, end):
                assert automata.arc[node] in (0, automata.seen[node])
                for e in range(automata.edges[node], automata.edges[node + 1]):
                    assert begin <= automata.source[e] < node
                    assert automata.seen[automata.source[e]] <= automata.seen[node]
                    assert automata.score[e] > -np.inf
            for arcs, _ in paths(automata, c):
                assert list(arcs) == sorted(set(arcs))
                words = [int(graph.modifier[b]) for b in arcs]
                assert len({int(graph.position[v]) for v in words}) == len(words)


@every_kind
def test_the_best_chain(kind):
    rng = np.random.default_rng(2)
    for graph, automata in all_automata(kind):
        costs = rng.choice([0, 0.5, -1.5, 2], len(graph.head))
        costs[0] = 0.0
        for c in chains(automata):
            reduced = {
                arcs: score - costs[list(arcs)].sum()
                for arcs, score in sorted(paths(automata, c), key=lambda p: p[1])
            }
            back, chosen = room(automata, np.int32), np.zeros(len(graph.head), bool)
            top = best_chain(automata, c, costs, room(automata), back)
            assert top == pytest.approx(best_of(reduced.values()))
            if top > -np.inf:
                mark_chain(automata, c, back, chosen)
                assert reduced[tuple(np.flatnonzero(chosen).tolist())] == pytest.approx(top)


@every_kind
def test_the_score_of_given_modifiers(kind):
    for graph, automata in all_automata(kind):
        for c in chains(automata):
            arcs = arcs_of(automata, c)
            found = paths(automata, c)
            subsets = chain.from_iterable(combinations(arcs, k) for k in range(min(len(arcs), 4) + 1))
            for subset in subsets:
                chosen = np.zeros(len(graph.head), bool)
                chosen[list(subset)] = True
                score = chain_score(automata, c, chosen, room(automata), room(automata, np.int32))
                assert score == pytest.approx(best_of(s for arcs, s in found if arcs == subset))


@every_kind
def test_margins(kind):
    rng = np.random.default_rng(3)
    for graph, automata in all_automata(kind):
        costs = rng.choice([0, 0.5, -1.5, 2], len(graph.head))
        costs[0] = 0.0
        for c in chains(automata):
            reduced = [(arcs, score - costs[list(arcs)].sum()) for arcs, score in paths(automata, c)]
            best, (having, lacking) = room(automata), np.full((2, len(graph.head)), 77.0)
            best_chain(automata, c, costs, best, room(automata, np.int32))
            chain_margins(automata, c, costs, best, room(automata), having, lacking)
            arcs = arcs_of(automata, c)
            for b in arcs:
                assert having[b] == pytest.approx(best_of(s for path, s in reduced if b in path))
                assert lacking[b] == pytest.approx(best_of(s for path, s in reduced if b not in path))
            others = np.setdiff1d(np.arange(len(graph.head)), arcs)
            assert (having[others] == 77.0).all()
            assert (lacking[others] == 77.0).all()


@every_kind
def test_restricted_automata_lack_what_is_dead(kind):
    rng = np.random.default_rng(4)
    for graph, automata in all_automata(kind):
        alive = rng.random(len(graph.head)) < 0.7
        alive[0] = True
        left = restrict(automata, alive)
        new = 0
        for i in range(len(automata.options) - 1):
            for o in range(automata.options[i], automata.options[i + 1]):
                if not alive[automata.up[o]]:
                    continue
                assert left.options[i] <= new < left.options[i + 1]
                assert left.up[new] == automata.up[o]
                for side in (0, 1):
                    assert left.before[2 * new + side] == automata.before[2 * o + side]
                    expected = [path for path in paths(automata, 2 * o + side) if alive[list(path[0])].all()]
                    assert paths(left, 2 * new + side) == expected
                new += 1
            assert left.options[i + 1] == new
        again = restrict(left, alive)
        assert [array.tolist() for array in again] == [array.tolist() for array in left]


def test_a_single_root_takes_one_modifier():
    for kind in (*KINDS, STATES):
        for scores, single_root in problems(kind):
            _, automata = automata_of(kind, scores, single_root)
            for o in range(automata.options[0], automata.options[1]):
                lengths = {len(arcs) for arcs, _ in paths(automata, 2 * o + 1)}
                assert lengths <= ({1} if single_root else {0, 1, 2, 3})
                assert {arcs for arcs, _ in paths(automata, 2 * o)} == {()}
