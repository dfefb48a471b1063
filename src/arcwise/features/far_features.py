"""The features of parts beyond the tables, and of whole trees, in four groups by what they look at; each fires one weight.

| group  | of every    | looks at                                                                                            |
|--------|-------------|-----------------------------------------------------------------------------------------------------|
| chain  | word m      | its head, grandparent and great-grandparent; the head of the next word (head bigram)                |
| family | word h      | its modifiers, its nearer sibling and its head: parent-sibling-child, valency, PP attachment, coordination |
| span   | word m      | where its yield begins and ends, and what is around it: span length, neighbours, non-projective arcs |
| tree   | tree        | right branching, paired punctuation                                                                 |

Zhang et al. (2014), 5, with coordination and PP attachment defined both on the structure of Universal Dependencies (the conjunction
and the adposition hang on what follows them) and on those of CoNLL-X (they are heads: a conjunction of the second conjunct, or of
both).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.features.arcs import Indices
from arcwise.features.hashing import scramble, spread
from arcwise.features.parts import bucket
from arcwise.features.tokens import COARSE_TAG, FINE_TAG, LEMMA_ATOM, Tokens
from arcwise.features.word_classes import ADPOSITION, CONJUNCTION
from arcwise.kernels import inline_kernel, kernel, merged_kernel
from arcwise.parts.graph import Ints

CHAIN, FAMILY, SPAN, GROUPS = 0, 1, 2, 3
GROUP_NAMES = ("chain", "family", "span", "tree")  # the last is of no word, but of the tree
_A, _B, _C, _D = np.uint32(0x9E3779B1), np.uint32(0xB5297A4D), np.uint32(0x68E31DA5), np.uint32(0x1B56C4E9)
_KIND, _CODE = np.uint32(0x85EBCA77), np.uint32(0x27D4EB2F)
_NOBODY, _END = np.uint32(0x2545F491), np.uint32(0x3C6EF372)
_1, _31 = np.uint32(1), np.uint32(31)
# How many features a call may give: of a family, and for each word in it.
_MOST_OF_FAMILY, _MOST_OF_MODIFIER = 64, 18
_MOST_OF_WORD = _MOST_OF_FAMILY + _MOST_OF_MODIFIER + 17 + 16 + 2  # of a tree, for each word in all groups


class Shape(NamedTuple):
    """What features look at of a tree. first, next: the modifiers of a word in order, 0 at the end. left, right: how many there are
    on each side. nearer: the next sibling on the same side, nearer to the head, 0 if there is none. begin, end: of a word's yield.
    yields: (words, blocks of 64 bits), the yields as sets.
    """

    first: Ints
    next: Ints
    left: Ints
    right: Ints
    nearer: Ints
    begin: Ints
    end: Ints
    yields: NDArray[np.uint64]


@kernel
def most_features(words: int) -> int:
    """How many features one call below may give, in a sentence of so many words."""
    return _MOST_OF_FAMILY + (words + 1) * _MOST_OF_MODIFIER


@kernel
def most_whole_features(words: int) -> int:
    """How many features all calls together may give for a tree of so many words."""
    return (words + 1) * _MOST_OF_WORD


@inline_kernel
def _mix(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32, kind: int, code: int) -> np.uint32:
    """One feature: up to four values, which of them it is, and a small number."""
    x = np.uint32(np.uint32(a * _A) + np.uint32(b * _B) + np.uint32(c * _C) + np.uint32(d * _D))
    return spread(np.uint32(x + np.uint32(np.uint32(kind) * _KIND) + np.uint32(np.uint32(code + 1) * _CODE)))


@inline_kernel
def _tag(tokens: Tokens, word: int, words: int) -> np.uint32:
    """The coarse tag of a word; beyond the sentence's ends something else."""
    if word < 1:
        return _NOBODY
    return tokens.atoms[word, COARSE_TAG] if word < words else _END


@kernel
def chain_features(tokens: Tokens, heads: Ints, m: int, shift: np.uint32, indices: Indices) -> int:
    """Great-grandparents of m, and the head bigram of m and the word after it."""
    atoms, zero, k = tokens.atoms, np.uint32(0), 0
    h = int(heads[m])
    cm, lm = atoms[m, COARSE_TAG], atoms[m, LEMMA_ATOM]
    ch = atoms[h, COARSE_TAG]
    if h > 0 and heads[h] > 0:
        g = int(heads[h])
        gg = int(heads[g])
        sides = 4 * (gg < g) + 2 * (g < h) + (h < m)
        cg, cgg = atoms[g, COARSE_TAG], atoms[gg, COARSE_TAG]
        indices[k + 0] = _mix(cgg, cg, ch, cm, 1, sides) >> shift
        indices[k + 1] = _mix(atoms[gg, LEMMA_ATOM], cg, ch, cm, 2, sides) >> shift
        indices[k + 2] = _mix(cgg, atoms[g, LEMMA_ATOM], ch, cm, 3, sides) >> shift
        indices[k + 3] = _mix(cgg, cg, atoms[h, LEMMA_ATOM], cm, 4, sides) >> shift
        indices[k + 4] = _mix(cgg, cg, ch, lm, 5, sides) >> shift
        indices[k + 5] = _mix(cgg, zero, ch, cm, 6, sides) >> shift
        indices[k + 6] = _mix(cgg, cg, zero, cm, 7, sides) >> shift
        indices[k + 7] = _mix(cgg, zero, zero, cm, 8, sides) >> shift
        indices[k + 8] = _mix(atoms[gg, LEMMA_ATOM], zero, zero, lm, 9, sides) >> shift
        indices[k + 9] = (
            _mix(atoms[gg, FINE_TAG], atoms[g, FINE_TAG], atoms[h, FINE_TAG], atoms[m, FINE_TAG], 10, sides)
            >> shift
        )
        k += 10
    if m + 1 < len(heads):
        o = int(heads[m + 1])
        relation = 1 if h == o else (2 if h == m + 1 else (3 if o == m else 4))
        sides = 4 * relation + 2 * (h < m) + (o < m + 1)
        cn, co = atoms[m + 1, COARSE_TAG], atoms[o, COARSE_TAG]
        indices[k + 0] = _mix(cm, cn, ch, co, 11, sides) >> shift
        indices[k + 1] = (
            _mix(
                atoms[m, FINE_TAG], atoms[m + 1, FINE_TAG], atoms[h, FINE_TAG], atoms[o, FINE_TAG], 12, sides
            )
            >> shift
        )
        indices[k + 2] = _mix(cm, cn, zero, zero, 13, sides) >> shift
        indices[k + 3] = _mix(zero, zero, ch, co, 14, sides) >> shift
        indices[k + 4] = _mix(lm, cn, ch, co, 15, sides) >> shift
        indices[k + 5] = _mix(cm, atoms[m + 1, LEMMA_ATOM], ch, co, 16, sides) >> shift
        indices[k + 6] = _mix(cm, cn, atoms[h, LEMMA_ATOM], atoms[o, LEMMA_ATOM], 17, sides) >> shift
        k += 7
    return k


@kernel
def _pair_of_conjuncts(
    tokens: Tokens, one: int, other: int, by: int, outer: int, style: int, shift: np.uint32, indices: Indices
) -> int:
    """Two conjuncts, the conjunction between them, and the head of both, -1 if there is none."""
    atoms, zero, k = tokens.atoms, np.uint32(0), 0
    c1, c2, l1, l2 = (
        atoms[one, COARSE_TAG],
        atoms[other, COARSE_TAG],
        atoms[one, LEMMA_ATOM],
        atoms[other, LEMMA_ATOM],
    )
    indices[k + 0] = _mix(c1, c2, zero, zero, 31, style) >> shift
    indices[k + 1] = _mix(atoms[one, FINE_TAG], atoms[other, FINE_TAG], zero, zero, 32, style) >> shift
    indices[k + 2] = _mix(l1, l2, zero, zero, 33, style) >> shift
    indices[k + 3] = _mix(c1, c2, atoms[by, LEMMA_ATOM], zero, 34, style) >> shift
    indices[k + 4] = _mix(l1, c2, zero, zero, 35, style) >> shift
    indices[k + 5] = _mix(c1, l2, zero, zero, 36, style) >> shift
    k += 6
    shared = 0
    for i in range(tokens.counts[one]):
        for j in range(tokens.counts[other]):
            if tokens.features[one, i] == tokens.features[other, j]:
                shared += 1
                indices[k] = _mix(c1, c2, tokens.features[one, i], zero, 37, style) >> shift
                k += 1
                break
    apart = max(int(tokens.counts[one]), int(tokens.counts[other])) - shared
    indices[k] = _mix(c1, c2, zero, zero, 38, 32 * min(apart, 7) + 4 * min(shared, 7) + style) >> shift
    k += 1
    if outer >= 0:
        side = 2 * style + (outer < one)
        co, lo = atoms[outer, COARSE_TAG], atoms[outer, LEMMA_ATOM]
        indices[k + 0] = _mix(co, c2, zero, zero, 39, side) >> shift
        indices[k + 1] = _mix(lo, l2, zero, zero, 40, side) >> shift
        indices[k + 2] = _mix(lo, c2, zero, zero, 41, side) >> shift
        indices[k + 3] = _mix(co, l2, zero, zero, 42, side) >> shift
        indices[k + 4] = _mix(co, c1, c2, zero, 43, side) >> shift
        k += 5
    return k


@kernel
def _adposition(
    tokens: Tokens, g: int, p: int, n: int, style: int, shift: np.uint32, indices: Indices
) -> int:
    """What an adposition p joins: a word g and a noun n."""
    atoms, zero = tokens.atoms, np.uint32(0)
    anchor = n if style == 0 else p
    code = 32 * style + 16 * (g < anchor) + bucket(g, anchor)
    lp, cg, cn = atoms[p, LEMMA_ATOM], atoms[g, COARSE_TAG], atoms[n, COARSE_TAG]
    indices[0] = _mix(cg, lp, cn, zero, 51, 2 * style + (g < anchor)) >> shift
    indices[1] = _mix(cg, lp, cn, zero, 52, code) >> shift
    indices[2] = _mix(atoms[g, LEMMA_ATOM], lp, cn, zero, 53, style) >> shift
    indices[3] = _mix(cg, lp, atoms[n, LEMMA_ATOM], zero, 54, style) >> shift
    indices[4] = _mix(atoms[g, LEMMA_ATOM], lp, atoms[n, LEMMA_ATOM], zero, 55, style) >> shift
    return 5


@kernel
def family_features(
    tokens: Tokens, kinds: NDArray[np.int8], shape: Shape, heads: Ints, h: int, shift: np.uint32, indices: Indices
) -> int:  # fmt: skip
    """Valency of h, parent-sibling-child over its modifiers, and PP attachment and coordination around it."""
    atoms, zero, k = tokens.atoms, np.uint32(0), 0
    ch, lh, g = atoms[h, COARSE_TAG], atoms[h, LEMMA_ATOM], int(heads[h])
    left, right = min(int(shape.left[h]), 4), min(int(shape.right[h]), 4)
    both, before, after = np.uint32(1), np.uint32(1), np.uint32(1)
    s = int(shape.nearer[h])
    linked, last_left, first_right = 0, 0, 0  # a conjunction on the left; the nearest modifiers
    c = int(shape.first[h])
    while c > 0:
        cc = atoms[c, COARSE_TAG]
        both = scramble(np.uint32(np.uint32(both * _31) + cc))
        if c < h:
            before = scramble(np.uint32(np.uint32(before * _31) + cc))
            last_left = c
            if kinds[c] & CONJUNCTION:
                linked = c
        else:
            after = scramble(np.uint32(np.uint32(after * _31) + cc))
            first_right = c if first_right == 0 else first_right
        if s > 0:
            sides = 2 * (g < h) + (h < c)
            cg, cs = atoms[g, COARSE_TAG], atoms[s, COARSE_TAG]
            indices[k + 0] = _mix(cg, cs, ch, cc, 21, sides) >> shift
            indices[k + 1] = _mix(atoms[g, LEMMA_ATOM], cs, ch, cc, 22, sides) >> shift
            indices[k + 2] = _mix(cg, atoms[s, LEMMA_ATOM], ch, cc, 23, sides) >> shift
            indices[k + 3] = _mix(cg, cs, lh, cc, 24, sides) >> shift
            indices[k + 4] = _mix(cg, cs, ch, atoms[c, LEMMA_ATOM], 25, sides) >> shift
            indices[k + 5] = _mix(zero, cs, ch, cc, 26, sides) >> shift
            indices[k + 6] = _mix(zero, cs, zero, cc, 27, sides) >> shift
            indices[k + 7] = _mix(zero, atoms[s, LEMMA_ATOM], zero, atoms[c, LEMMA_ATOM], 28, sides) >> shift
            k += 8
        if g > 0 and kinds[c] & ADPOSITION:
            k += _adposition(tokens, g, c, h, 0, shift, indices[k:])
        if g > 0 and kinds[h] & ADPOSITION:
            k += _adposition(tokens, g, h, c, 1, shift, indices[k:])
        c = int(shape.next[c])
    indices[k + 0] = _mix(ch, zero, zero, zero, 61, 5 * left + right) >> shift
    indices[k + 1] = _mix(lh, ch, zero, zero, 62, 5 * left + right) >> shift
    indices[k + 2] = _mix(atoms[h, FINE_TAG], zero, zero, zero, 63, 5 * left + right) >> shift
    indices[k + 3] = _mix(ch, both, zero, zero, 64, 0) >> shift
    indices[k + 4] = _mix(lh, both, zero, zero, 65, 0) >> shift
    indices[k + 5] = _mix(ch, before, zero, zero, 66, 0) >> shift
    indices[k + 6] = _mix(ch, after, zero, zero, 67, 0) >> shift
    indices[k + 7] = _mix(lh, before, zero, zero, 68, 0) >> shift
    indices[k + 8] = _mix(lh, after, zero, zero, 69, 0) >> shift
    k += 9
    if linked > 0 and 0 < g < linked:
        k += _pair_of_conjuncts(tokens, g, h, linked, int(heads[g]), 0, shift, indices[k:])
    if kinds[h] & CONJUNCTION and first_right > 0:
        if last_left > 0:
            k += _pair_of_conjuncts(tokens, last_left, first_right, h, g, 2, shift, indices[k:])
        elif 0 < g < h:
            k += _pair_of_conjuncts(tokens, g, first_right, h, int(heads[g]), 1, shift, indices[k:])
    return k


@inline_kernel
def length_bucket(length: int) -> int:
    """1 to 5 as they are, then 6-7, 8-10, 11-15, 16-20, 21-30, longer."""
    if length <= 5:
        return length
    if length <= 10:
        return 6 if length <= 7 else 7
    if length <= 20:
        return 8 if length <= 15 else 9
    return 10 if length <= 30 else 11


@merged_kernel
def outside(shape: Shape, h: int, m: int) -> int:
    """How many words between h and m are not below h: 0 if the arc is projective."""
    low, high = (h, m) if h < m else (m, h)
    if h == 0 or high - low < 2:
        return 0
    count = 0
    for block in range(low >> 6, (high >> 6) + 1):
        missing = ~shape.yields[h, block]
        if block == low >> 6:  # words after low
            missing &= ~((np.uint64(2) << np.uint64(low & 63)) - np.uint64(1))
        if block == high >> 6:  # words before high
            missing &= (np.uint64(1) << np.uint64(high & 63)) - np.uint64(1)
        while missing != 0:
            missing &= missing - np.uint64(1)
            count += 1
    return count


@kernel
def span_features(
    tokens: Tokens, shape: Shape, heads: Ints, m: int, crossed: int, shift: np.uint32, indices: Indices
) -> int:
    """Length and neighbours of the yield of m, and how its arc crosses others; crossed: as `outside` tells."""
    atoms, words, zero = tokens.atoms, len(heads), np.uint32(0)
    h, begin, end = int(heads[m]), int(shape.begin[m]), int(shape.end[m])
    cm, ch, lm = atoms[m, COARSE_TAG], atoms[h, COARSE_TAG], atoms[m, LEMMA_ATOM]
    before, after = _tag(tokens, begin - 1, words), _tag(tokens, end + 1, words)
    length, right = length_bucket(end - begin + 1), int(h < m)
    indices[0] = _mix(cm, zero, zero, zero, 71, 2 * length + right) >> shift
    indices[1] = _mix(cm, ch, zero, zero, 72, 2 * length + right) >> shift
    indices[2] = _mix(cm, after, zero, zero, 73, 2 * length + right) >> shift
    indices[3] = _mix(lm, zero, zero, zero, 74, 2 * length + right) >> shift
    indices[4] = _mix(cm, ch, after, zero, 75, 2 * length + right) >> shift
    indices[5] = _mix(before, cm, after, zero, 76, right) >> shift
    indices[6] = _mix(before, cm, after, ch, 77, right) >> shift
    indices[7] = _mix(before, cm, zero, ch, 78, right) >> shift
    indices[8] = _mix(zero, cm, after, ch, 79, right) >> shift
    indices[9] = _mix(before, lm, after, zero, 80, right) >> shift
    indices[10] = _mix(before, cm, after, atoms[h, LEMMA_ATOM], 81, right) >> shift
    k = 11
    if crossed > 0:
        code = 2 * (min(crossed, 3) + (crossed > 5)) + right
        indices[k + 0] = _mix(zero, zero, zero, zero, 91, code) >> shift
        indices[k + 1] = _mix(cm, ch, zero, zero, 92, code) >> shift
        indices[k + 2] = _mix(cm, zero, zero, zero, 93, code) >> shift
        indices[k + 3] = _mix(zero, ch, zero, zero, 94, code) >> shift
        indices[k + 4] = _mix(lm, ch, zero, zero, 95, code) >> shift
        k += 5
    return k


@merged_kernel
def tree_wide_features(
    tokens: Tokens, shape: Shape, heads: Ints, partner: Ints, shift: np.uint32, indices: Indices
) -> int:
    """How far the tree branches to the right, and whether marks that belong together have one head."""
    zero, depth, word = np.uint32(0), 0, 0
    while shape.right[word] > 0:
        last = int(shape.first[word])
        while shape.next[last] > 0:
            last = int(shape.next[last])
        word, depth = last, depth + 1
    words = len(heads) - 1
    indices[0] = _mix(zero, zero, zero, zero, 101, min(depth, 15)) >> shift
    indices[1] = (
        _mix(zero, zero, zero, zero, 102, 16 * length_bucket(words) + 10 * depth // max(words, 1)) >> shift
    )
    k = 2
    for i in range(1, words + 1):
        j = int(partner[i])
        if j > 0:
            same = int(heads[i] == heads[j])
            indices[k + 0] = _mix(zero, zero, zero, zero, 103, same) >> shift
            indices[k + 1] = (
                _mix(
                    tokens.atoms[heads[i], COARSE_TAG],
                    tokens.atoms[heads[j], COARSE_TAG],
                    zero,
                    zero,
                    104,
                    same,
                )
                >> shift
            )
            k += 2
    return k
