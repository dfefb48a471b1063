"""The scores of all higher parts of a sentence's arc graph, as the charts read them.

Parts that differ in one word only are scored together: the hashes of their other words are added once, then all indices are computed,
and then the weights are read, so that many reads are under way at the same time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.hashing import spread
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
    """Scratch: the hashes of two and of three words that parts have in common, indices and scores of the parts."""

    two: Hashes
    three: Hashes
    indices: Hashes
    scores: Floats


@kernel
def _make_room(tokens: PartTokens) -> _Room:
    words, templates = tokens.sides.shape[1], tokens.sides.shape[2]
    return _Room(
        np.empty(templates, np.uint32), np.empty(templates, np.uint32),
        np.empty(words * templates, np.uint32), np.empty(words),
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
    weights: NDArray[Any], bits: int, indices: Hashes, scores: Floats,
) -> None:  # fmt: skip
    """The scores of parts that differ in one word. anchor: from which the distance to that word is taken, and added to `code`."""
    shift, number = np.uint32(32 - bits), end - begin
    for k in range(len(words)):
        word, row = sides[words[k], begin:end], indices[k * number : (k + 1) * number]
        for t in range(number):
            row[t] = spread(np.uint32(known[t] + word[t])) >> shift
    for k in range(len(words)):
        distances = np.uint32(code + bucket(anchor, words[k]))
        row = indices[k * number : (k + 1) * number]
        bare = coded = weights[0] - weights[0]  # a zero of the right type
        for t in range(number):
            bare += weights[row[t]]
            coded += weights[row[t] ^ distances]
        scores[k] = bare + coded


@kernel
def _sibling_scores(
    graph: Graph, tokens: PartTokens, weights: PartWeights, room: _Room, pair: Floats, first: Floats, last: Floats
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
            _score(sides[2], 0, end, room.two, words, h, 0, table, bits, indices, first[begin_arc:])
            _know(tokens, 0, end, side, 0, h, 2, missing, room.two)
            _score(sides[1], 0, end, room.two, words, h, 0, table, bits, indices, last[begin_arc:])
            for k in range(1, len(words)):
                _know(tokens, 0, end, side, 0, h, 2, words[k], room.two)
                pairs = pair[graph.pairs[begin_arc + k] :]
                _score(sides[1], 0, end, room.two, words[:k], words[k], CODES, table, bits, indices, pairs)


@inline_kernel
def _arcs(graph: Graph, h: int, side: int) -> tuple[int, int]:
    """Where the arcs from h to one side begin and end."""
    return (graph.right[h], graph.out[h + 1]) if side == 1 else (graph.out[h], graph.right[h])


@kernel
def _grandchild_scores(
    graph: Graph, level: Level, tokens: PartTokens, weights: PartWeights, room: _Room, step: Floats, none: Floats
) -> None:  # fmt: skip
    """Grandchildren: `step` by steps of level 1; null parts in `none`, as in `Tables`."""
    templates, sides, indices, known = weights.templates, tokens.sides, room.indices, room.two
    table, bits, alone = weights.table, weights.bits, np.full(1, nobody(tokens), np.int32)
    begin, middle, end = templates.grandchildren, templates.coordination, templates.grand_siblings
    for a in range(1, len(graph.head)):
        g, h = graph.head[a], graph.modifier[a]
        code = CODES * bucket(g, h)
        for side in range(2):
            b, stop = _arcs(graph, h, side)
            stop = _within(graph, g, h, b, stop)
            _know(tokens, begin, end, 2 * (g < h) + side, 0, g, 1, h, known)
            _score(
                sides[2],
                begin,
                middle,
                known,
                alone,
                alone[0],
                code,
                table,
                bits,
                indices,
                none[2 * a + side :],
            )
            words, plain = graph.modifier[b:stop], stop - b
            while plain > 0 and is_coordination(tokens, h, words[plain - 1]):
                plain -= 1
            scores = step[level.steps[a] + b - graph.out[h] :]
            _score(sides[2], begin, middle, known, words[:plain], h, code, table, bits, indices, scores)
            if plain < len(words):
                _score(
                    sides[2], begin, end, known, words[plain:], h, code, table, bits, indices, scores[plain:]
                )


@inline_kernel
def _within(graph: Graph, g: int, h: int, begin: int, end: int) -> int:
    """Where the arcs from h end that do not lead past g, its head: no projective tree has the others."""
    while end > begin and (graph.modifier[end - 1] < g) != (h < g):
        end -= 1
    return end


@kernel
def _grand_sibling_scores(
    graph: Graph, level: Level, tokens: PartTokens, weights: PartWeights, room: _Room, slot: Floats, first: Floats, last: Floats
) -> None:  # fmt: skip
    """Grand-siblings: `slot` by slots of level 1; START is added to `first` and END to `last`, unless it is empty, by steps."""
    begin, end = weights.templates.grand_siblings, weights.templates.tri_siblings
    sides, scores, indices, two, three = tokens.sides, room.scores, room.indices, room.two, room.three
    table, bits, missing = weights.table, weights.bits, nobody(tokens)
    for a in range(1, len(graph.head)):
        g, h = graph.head[a], graph.modifier[a]
        for side in range(2):
            b, stop = _arcs(graph, h, side)
            stop = _within(graph, g, h, b, stop)
            if b == stop:
                continue
            words = graph.modifier[b:stop]
            at, slots = level.steps[a] + b - graph.out[h], level.slots[a] - graph.pairs[graph.out[h]]
            _know(tokens, begin, end, 2 * (g < h) + side, 0, g, 1, h, two)
            _know_more(tokens, begin, end, two, 2, missing, three)
            _score(sides[3], begin, end, three, words, h, 0, table, bits, indices, scores)
            for k in range(len(words)):
                first[at + k] += scores[k]
            if len(last) > 0:
                _know_more(tokens, begin, end, two, 3, missing, three)
                _score(sides[2], begin, end, three, words, h, 0, table, bits, indices, scores)
                for k in range(len(words)):
                    last[at + k] += scores[k]
            for k in range(1, len(words)):
                _know_more(tokens, begin, end, two, 3, words[k], three)
                pairs = slot[slots + graph.pairs[b + k] :]
                _score(sides[2], begin, end, three, words[:k], words[k], CODES, table, bits, indices, pairs)


@kernel
def _tri_sibling_scores(
    graph: Graph, tokens: PartTokens, weights: PartWeights, room: _Room, second: Floats, triple: Floats
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
                pairs = graph.pairs[begin_arc + k]
                _know(tokens, begin, end, side, 0, h, 3, words[k], two)
                _know_more(tokens, begin, end, two, 1, missing, three)
                _score(
                    sides[2], begin, end, three, words[:k], words[k], 0, table, bits, indices, second[pairs:]
                )
                for i in range(1, k):
                    _know_more(tokens, begin, end, two, 2, words[i], three)
                    triples = triple[graph.triples[pairs + i] :]
                    _score(
                        sides[1], begin, end, three, words[:i], words[i], CODES, table, bits, indices, triples
                    )


@kernel
def _by_steps(graph: Graph, level: Level, by_arc: Floats) -> Floats:
    """The scores of arcs, for every step that leads over them."""
    by_step = np.zeros(level.steps[len(level.steps) - 1])
    for p in range(len(level.head)):
        h = level.head[p]
        for b in range(graph.out[h], graph.out[h + 1]):
            by_step[level.steps[p] + b - graph.out[h]] = by_arc[b]
    return by_step


@kernel
def _add_inner(graph: Graph, level: Level, by_step: Floats, by_slot: Floats) -> None:
    """Add the scores of steps over the inner arc of a pair to those of its slots."""
    for p in range(1, len(level.head)):
        h = level.head[p]
        slots = level.slots[p] - graph.pairs[graph.out[h]]
        for b in range(graph.out[h], graph.out[h + 1]):
            side = graph.right[h] if b >= graph.right[h] else graph.out[h]
            for k in range(graph.inner[b]):
                by_slot[slots + graph.pairs[b] + k] += by_step[level.steps[p] + side + k - graph.out[h]]


@kernel
def part_scores(
    kind: Kind, graph: Graph, levels: tuple[Level, Level, Level], arcs: Floats, tokens: PartTokens, weights: PartWeights
) -> Tables:  # fmt: skip
    """The tables for a chart of the given kind, in units of the weights. arcs: the scores of the arcs themselves, by arc.

    For the charts that know at most one ancestor, and with two siblings none in incomplete spans. Where these know it, all
    grandchildren and grand-siblings are scored, else the outermost grandchild and, with two siblings, the outermost two and the
    outermost pair of grand-siblings; in all of them null parts and both ends of the siblings. Parts that no projective tree has
    are left at 0.
    """
    level, empty = levels[0], np.empty(0)
    first = last = pair = slot = second = triple = only = last_pair = none = empty
    step = arcs
    room = _make_room(tokens)
    if kind.siblings > 0:
        first, last, pair = np.zeros(len(arcs)), np.zeros(len(arcs)), np.empty(graph.pairs[len(arcs)])
        _sibling_scores(graph, tokens, weights, room, pair, first, last)
    if kind.siblings > 1:
        second, triple = np.empty(len(pair)), np.empty(graph.triples[len(pair)])
        _tri_sibling_scores(graph, tokens, weights, room, second, triple)
    if kind.complete > 0:
        grandchildren, none = np.zeros(level.steps[len(level.steps) - 1]), np.zeros(2 * len(arcs))
        _grandchild_scores(graph, level, tokens, weights, room, grandchildren, none)
        if kind.siblings > 0:
            last = _by_steps(graph, level, last)
        if kind.incomplete > 0:
            step = _by_steps(graph, level, arcs) + grandchildren
        elif kind.siblings > 0:
            last += grandchildren
        if kind.siblings + kind.incomplete > 1:
            grand_siblings = np.zeros(level.slots[len(level.slots) - 1])
            if kind.incomplete > 0:
                slot, first = grand_siblings, _by_steps(graph, level, first)
                _grand_sibling_scores(graph, level, tokens, weights, room, slot, first, last)
            else:
                last_pair, only = grand_siblings, np.zeros(len(last))
                _grand_sibling_scores(graph, level, tokens, weights, room, last_pair, only, empty)
                _add_inner(graph, level, grandchildren, last_pair)
    return Tables(step, first, pair, slot, second, triple, empty, last, only, last_pair, none)
