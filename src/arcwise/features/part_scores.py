"""The scores of all higher parts of a sentence's arc graph, as the charts read them, and the way back: moving the parts' weights.

Both go through the parts in the same order: the functions that do so take a `Move`, or None to score. Parts that differ in one word
only are visited together: the hashes of their other words are added once, then all indices are computed, and then the weights are
read, so that many reads are under way at the same time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import spread
from arcwise.features.moves import Move, move_weight
from arcwise.features.part_templates import PartTemplates
from arcwise.features.parts import CODES, PartTokens, bucket, is_coordination, nobody, shape_salt
from arcwise.features.tokens import Hashes
from arcwise.kernels import inline_kernel, kernel
from arcwise.parts.graph import Graph, Ints, Level
from arcwise.parts.tables import Floats, Kind, Tables


class PartWeights(NamedTuple):
    """The weights of all higher parts: 2^bits, int8 in a model, float32 in training."""

    templates: PartTemplates
    table: NDArray[Any]
    bits: int


class _Room(NamedTuple):
    """Scratch: the hashes of two and of three words that parts have in common, and indices of the parts' weights."""

    two: Hashes
    three: Hashes
    indices: Hashes


@kernel
def _make_room(tokens: PartTokens) -> _Room:
    words, templates = tokens.sides.shape[1], tokens.sides.shape[2]
    return _Room(
        np.empty(templates, np.uint32), np.empty(templates, np.uint32),
        np.empty(words * templates, np.uint32),
    )  # fmt: skip


@kernel
def _know(
    tokens: PartTokens, begin: int, end: int, shape: int, i: int, x: int, j: int, y: int, known: Hashes
) -> None:
    """What parts of a group have in common: word x in place i, word y in place j."""
    salt = shape_salt(shape)
    first, second = tokens.sides[i, x, begin:end], tokens.sides[j, y, begin:end]
    for t in range(len(first)):
        known[t] = np.uint32(first[t] + second[t] + salt)


@kernel
def _know_more(tokens: PartTokens, begin: int, end: int, two: Hashes, i: int, x: int, known: Hashes) -> None:
    """The same and word x in place i."""
    word = tokens.sides[i, x, begin:end]
    for t in range(len(word)):
        known[t] = np.uint32(two[t] + word[t])


@kernel
def _score(
    sides: Hashes, begin: int, end: int, known: Hashes, words: Ints, anchor: int, code: int,
    weights: NDArray[Any], bits: int, indices: Hashes, scores: Floats, move: Move | None,
) -> None:  # fmt: skip
    """Add the scores of parts that differ in one word; or move their weights, each part's by what `scores` holds for it.

    anchor: from which the distance to that word is taken, and added to `code`.
    """
    shift, number = np.uint32(32 - bits), end - begin
    for k in range(len(words)):
        word, row = sides[words[k], begin:end], indices[k * number : (k + 1) * number]
        for t in range(number):
            row[t] = spread(np.uint32(known[t] + word[t])) >> shift
    for k in range(len(words)):
        distances = np.uint32(code + bucket(anchor, words[k]))
        row = indices[k * number : (k + 1) * number]
        if move is None:
            bare = coded = weights[0] - weights[0]  # a zero of the right type
            for t in range(number):
                bare += weights[row[t]]
                coded += weights[row[t] ^ distances]
            scores[k] += bare + coded
        elif abs(scores[k]) > move.negligible:
            for t in range(number):
                move_weight(move, row[t], scores[k])
                move_weight(move, row[t] ^ distances, scores[k])


@inline_kernel
def _arcs(graph: Graph, h: int, side: int) -> tuple[int, int]:
    """Where the arcs from h to one side begin and end."""
    return (graph.right[h], graph.out[h + 1]) if side == 1 else (graph.out[h], graph.right[h])


@inline_kernel
def _within(graph: Graph, g: int, h: int, begin: int, end: int) -> int:
    """Where the arcs from h end that do not lead past g, its head: no projective tree has the others."""
    while end > begin and (graph.modifier[end - 1] < g) != (h < g):
        end -= 1
    return end


@kernel
def _visit_siblings(
    graph: Graph, tokens: PartTokens, weights: PartWeights, room: _Room, pair: Floats, first: Floats, last: Floats,
    move: Move | None,
) -> None:  # fmt: skip
    """Siblings: `pair` by pairs of arcs; START in `first` and END in `last`, by arcs."""
    end, sides, indices = weights.templates.grandchildren, tokens.sides, room.indices
    table, bits, missing = weights.table, weights.bits, nobody(tokens)
    for h in range(len(graph.position)):
        for side in range(2):
            begin_arc, end_arc = _arcs(graph, h, side)
            words = graph.modifier[begin_arc:end_arc]
            if len(words) == 0:
                continue
            _know(tokens, 0, end, side, 0, h, 1, missing, room.two)
            _score(sides[2], 0, end, room.two, words, h, 0, table, bits, indices, first[begin_arc:], move)
            _know(tokens, 0, end, side, 0, h, 2, missing, room.two)
            _score(sides[1], 0, end, room.two, words, h, 0, table, bits, indices, last[begin_arc:], move)
            for k in range(1, len(words)):
                m = int(words[k])
                _know(tokens, 0, end, side, 0, h, 2, m, room.two)
                pairs = pair[graph.pairs[begin_arc + k] :]
                _score(sides[1], 0, end, room.two, words[:k], m, CODES, table, bits, indices, pairs, move)


@kernel
def _visit_grandchildren(
    graph: Graph, level: Level, tokens: PartTokens, weights: PartWeights, room: _Room, crossing: bool, step: Floats,
    none: Floats, move: Move | None,
) -> None:  # fmt: skip
    """Grandchildren: `step` by steps of level 1; null parts in `none`, as in `Tables`, unless it is empty."""
    templates, sides, indices, known = weights.templates, tokens.sides, room.indices, room.two
    table, bits, missing = weights.table, weights.bits, nobody(tokens)
    alone = np.full(1, missing, np.int32)
    begin, middle, end = templates.grandchildren, templates.coordination, templates.grand_siblings
    for a in range(1, len(graph.head)):
        g, h = int(graph.head[a]), int(graph.modifier[a])
        code = CODES * bucket(g, h)
        for side in range(2):
            b, stop = _arcs(graph, h, side)
            if not crossing:
                stop = _within(graph, g, h, b, stop)
            _know(tokens, begin, end, 2 * (g < h) + side, 0, g, 1, h, known)
            if len(none) > 0:
                null = none[2 * a + side :]
                _score(sides[2], begin, middle, known, alone, missing, code, table, bits, indices, null, move)
            words, plain = graph.modifier[b:stop], stop - b
            while plain > 0 and is_coordination(tokens, h, words[plain - 1]):
                plain -= 1
            scores = step[level.steps[a] + b - graph.out[h] :]
            _score(sides[2], begin, middle, known, words[:plain], h, code, table, bits, indices, scores, move)
            if plain < len(words):
                words, scores = words[plain:], scores[plain:]
                _score(sides[2], begin, end, known, words, h, code, table, bits, indices, scores, move)


@kernel
def _visit_grand_siblings(
    graph: Graph, level: Level, tokens: PartTokens, weights: PartWeights, room: _Room, crossing: bool, slot: Floats,
    first: Floats, last: Floats, move: Move | None,
) -> None:  # fmt: skip
    """Grand-siblings: `slot` by slots of level 1; START in `first` and END in `last`, unless it is empty, by steps."""
    begin, end = weights.templates.grand_siblings, weights.templates.tri_siblings
    sides, indices, two, three = tokens.sides, room.indices, room.two, room.three
    table, bits, missing = weights.table, weights.bits, nobody(tokens)
    for a in range(1, len(graph.head)):
        g, h = int(graph.head[a]), int(graph.modifier[a])
        for side in range(2):
            b, stop = _arcs(graph, h, side)
            if not crossing:
                stop = _within(graph, g, h, b, stop)
            if b == stop:
                continue
            words = graph.modifier[b:stop]
            at, slots = level.steps[a] + b - graph.out[h], level.slots[a] - graph.pairs[graph.out[h]]
            _know(tokens, begin, end, 2 * (g < h) + side, 0, g, 1, h, two)
            _know_more(tokens, begin, end, two, 2, missing, three)
            _score(sides[3], begin, end, three, words, h, 0, table, bits, indices, first[at:], move)
            if len(last) > 0:
                _know_more(tokens, begin, end, two, 3, missing, three)
                _score(sides[2], begin, end, three, words, h, 0, table, bits, indices, last[at:], move)
            for k in range(1, len(words)):
                m = int(words[k])
                _know_more(tokens, begin, end, two, 3, m, three)
                pairs = slot[slots + graph.pairs[b + k] :]
                _score(sides[2], begin, end, three, words[:k], m, CODES, table, bits, indices, pairs, move)


@kernel
def _visit_tri_siblings(
    graph: Graph, tokens: PartTokens, weights: PartWeights, room: _Room, second: Floats, triple: Floats, move: Move | None
) -> None:  # fmt: skip
    """Tri-siblings: `triple` by triples of arcs; START in `second`, by pairs."""
    begin, end = weights.templates.tri_siblings, weights.templates.end
    sides, indices, two, three = tokens.sides, room.indices, room.two, room.three
    table, bits, missing = weights.table, weights.bits, nobody(tokens)
    for h in range(len(graph.position)):
        for side in range(2):
            begin_arc, end_arc = _arcs(graph, h, side)
            words = graph.modifier[begin_arc:end_arc]
            for k in range(1, len(words)):
                m, pairs = int(words[k]), graph.pairs[begin_arc + k]
                _know(tokens, begin, end, side, 0, h, 3, m, two)
                _know_more(tokens, begin, end, two, 1, missing, three)
                _score(
                    sides[2], begin, end, three, words[:k], m, 0, table, bits, indices, second[pairs:], move
                )
                for i in range(1, k):
                    s = int(words[i])
                    _know_more(tokens, begin, end, two, 2, s, three)
                    triples = triple[graph.triples[pairs + i] :]
                    _score(
                        sides[1], begin, end, three, words[:i], s, CODES, table, bits, indices, triples, move
                    )


@kernel
def add_by_steps(graph: Graph, level: Level, by_arc: Floats, by_step: Floats) -> None:
    """Add the scores of arcs to every step that leads over them."""
    for p in range(len(level.head)):
        h = level.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            by_step[level.steps[p] + b - graph.out[h]] += by_arc[b]


@kernel
def sum_by_arcs(graph: Graph, level: Level, by_step: Floats) -> Floats:
    """What the steps over each arc have together."""
    by_arc = np.zeros(len(graph.head))
    for p in range(len(level.head)):
        h = level.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            by_arc[b] += by_step[level.steps[p] + b - graph.out[h]]
    return by_arc


@kernel
def _visit_inner(graph: Graph, level: Level, by_step: Floats, by_slot: Floats, back: bool) -> None:
    """Add what steps over the inner arc of a pair have to the slots of the pair; or back, what the slots have to the steps."""
    for p in range(1, len(level.head)):
        h = level.head[p]
        slots = level.slots[p] - graph.pairs[graph.out[h]]
        for b in range(graph.out[h], graph.out[h + 1]):
            side = graph.right[h] if b >= graph.right[h] else graph.out[h]
            for k in range(graph.inner[b]):
                slot, step = slots + graph.pairs[b] + k, level.steps[p] + side + k - graph.out[h]
                if back:
                    by_step[step] += by_slot[slot]
                else:
                    by_slot[slot] += by_step[step]


@kernel
def _visit_pairs(graph: Graph, level: Level, by_pair: Floats, by_slot: Floats, back: bool) -> None:
    """Add what pairs have to all slots of the pair; or back, what the slots have to the pairs."""
    for p in range(len(level.head)):
        h = level.head[p]
        first, last = graph.pairs[graph.out[h]], graph.pairs[graph.out[h + 1]]
        for pair in range(first, last):
            slot = level.slots[p] + pair - first
            if back:
                by_pair[pair] += by_slot[slot]
            else:
                by_slot[slot] += by_pair[pair]


@kernel
def part_scores(
    kind: Kind, crossing: bool, graph: Graph, levels: tuple[Level, Level, Level], arcs: Floats, tokens: PartTokens,
    weights: PartWeights,
) -> Tables:  # fmt: skip
    """The tables for a chart or automata of the given kind, in units of the weights. arcs: the scores of the arcs themselves, by arc.

    For kinds that know at most one ancestor. Where incomplete spans know it, all
    grandchildren and grand-siblings are scored, else the outermost grandchild and, with two siblings, the outermost two and the
    outermost pair of grand-siblings; in all of them null parts, if the templates have any, and both ends of the siblings. crossing:
    whether trees need not be projective; else parts that no projective tree has are left at 0. Without templates of grand-siblings
    these have no table.
    """
    level, empty, room = levels[0], np.empty(0), _make_room(tokens)
    first = last = pair = slot = second = triple = only = last_pair = none = empty
    step = arcs
    if kind.siblings > 0:
        first, last, pair = np.zeros(len(arcs)), np.zeros(len(arcs)), np.zeros(graph.pairs[len(arcs)])
        _visit_siblings(graph, tokens, weights, room, pair, first, last, None)
    if kind.siblings > 1:
        second, triple = np.zeros(len(pair)), np.zeros(graph.triples[len(pair)])
        _visit_tri_siblings(graph, tokens, weights, room, second, triple, None)
    if kind.complete > 0:
        steps = level.steps[len(level.steps) - 1]
        grandchildren = np.zeros(steps)
        none = np.zeros(2 * len(arcs) if weights.templates.nulls else 0)
        _visit_grandchildren(graph, level, tokens, weights, room, crossing, grandchildren, none, None)
        if kind.siblings > 0:
            by_arc, last = last, np.zeros(steps)
            add_by_steps(graph, level, by_arc, last)
        if kind.siblings > 0 and kind.incomplete > 0:
            by_arc, first = first, np.zeros(steps)
            add_by_steps(graph, level, by_arc, first)
            if weights.templates.tri_siblings > weights.templates.grand_siblings:
                slot = np.zeros(level.slots[len(level.slots) - 1])
                _visit_grand_siblings(graph, level, tokens, weights, room, crossing, slot, first, last, None)
            if kind.siblings > 1:
                by_pair, second = second, np.zeros(level.slots[len(level.slots) - 1])
                _visit_pairs(graph, level, by_pair, second, False)
        elif kind.siblings > 1:
            last_pair, only = np.zeros(level.slots[len(level.slots) - 1]), np.zeros(steps)
            _visit_grand_siblings(graph, level, tokens, weights, room, crossing, last_pair, only, empty, None)
            _visit_inner(graph, level, grandchildren, last_pair, False)
        if kind.incomplete == 0 and kind.siblings > 0:
            last += grandchildren
        elif kind.incomplete > 0:
            step = grandchildren
            add_by_steps(graph, level, arcs, step)
    return Tables(step, first, pair, slot, second, triple, empty, last, only, last_pair, none)


@kernel
def move_parts(
    kind: Kind, crossing: bool, graph: Graph, levels: tuple[Level, Level, Level], gradient: Tables, tokens: PartTokens,
    weights: PartWeights, move: Move,
) -> None:  # fmt: skip
    """Move the weights of all higher parts along a gradient that is given by entries of the tables of `part_scores`.

    The score of a tree is then the sum of its tables' entries, and of its arcs, which are not moved. move: its target are the weights
    of parts.
    """
    level, empty, room = levels[0], np.empty(0), _make_room(tokens)
    if kind.siblings > 0:
        first, last = gradient.first, gradient.last
        if kind.incomplete > 0:
            first = sum_by_arcs(graph, level, first)
        if kind.complete > 0:
            last = sum_by_arcs(graph, level, last)
        _visit_siblings(graph, tokens, weights, room, gradient.pair, first, last, move)
    if kind.siblings > 1:
        second = gradient.second
        if kind.incomplete > 0:
            second = np.zeros(graph.pairs[len(graph.head)])
            _visit_pairs(graph, level, second, gradient.second, True)
        _visit_tri_siblings(graph, tokens, weights, room, second, gradient.triple, move)
    if kind.complete > 0:
        grandchildren = gradient.step if kind.incomplete > 0 else gradient.last
        if (
            kind.siblings > 0
            and kind.incomplete > 0
            and weights.templates.tri_siblings > weights.templates.grand_siblings
        ):
            _visit_grand_siblings(
                graph,
                level,
                tokens,
                weights,
                room,
                crossing,
                gradient.slot,
                gradient.first,
                gradient.last,
                move,
            )
        if kind.siblings > 1 and kind.incomplete == 0:
            _visit_grand_siblings(
                graph, level, tokens, weights, room, crossing, gradient.last_pair, gradient.only, empty, move
            )
            grandchildren = grandchildren.copy()
            _visit_inner(graph, level, grandchildren, gradient.last_pair, True)
        _visit_grandchildren(
            graph, level, tokens, weights, room, crossing, grandchildren, gradient.none, move
        )


@kernel
def crossing_scores(
    graph: Graph, level: Level, arcs: Floats, tokens: PartTokens, weights: PartWeights
) -> Tables:
    """Siblings, and grandchildren also where arcs cross, for sums over all trees: both ends of the siblings are scored, null
    grandchildren are not. level: level 1.

    step holds the scores of arcs as given, first, pair and last those of siblings by arcs and pairs, and run, which no chart that
    features know of has, those of grandchildren by steps of level 1.
    """
    nothing, room = np.empty(0), _make_room(tokens)
    first, last, pair = np.zeros(len(arcs)), np.zeros(len(arcs)), np.zeros(graph.pairs[len(arcs)])
    grand = np.zeros(level.steps[len(level.steps) - 1])
    if weights.templates.grandchildren > 0:
        _visit_siblings(graph, tokens, weights, room, pair, first, last, None)
    _visit_grandchildren(graph, level, tokens, weights, room, True, grand, nothing, None)
    return Tables(arcs, first, pair, nothing, nothing, nothing, grand, last, nothing, nothing, nothing)


@kernel
def move_crossing_parts(
    graph: Graph, level: Level, gradient: Tables, tokens: PartTokens, weights: PartWeights, move: Move
) -> None:
    """Move the weights of siblings and grandchildren along a gradient by the tables of `crossing_scores`."""
    room = _make_room(tokens)
    _visit_siblings(graph, tokens, weights, room, gradient.pair, gradient.first, gradient.last, move)
    _visit_grandchildren(graph, level, tokens, weights, room, True, gradient.run, np.empty(0), move)
