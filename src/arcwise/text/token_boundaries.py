"""Where tokens end inside a run of characters without spaces: a linear classifier, left to right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.text.characters import DIGIT, FLAGS, LETTER, LOWER, MARK, SPACE, UPPER, ZERO_WIDTH_JOINER
from arcwise.text.hashing import EMPTY, hash_codes, mix
from arcwise.text.linear import compile_templates, hash_features

LONGEST_TOKEN = 1000  # characters; a longer one is cut
_HASHED = 24  # characters of a run that its hash sees
_HASH_SIGN, _APOSTROPHE, _POINT, _SLASH, _AT_SIGN = (ord(c) for c in "#'./@")
_FIRST_FLAG, _LAST_FLAG = FLAGS[0], FLAGS[-1]

_ATOMS = (
    *("c-3", "c-2", "c-1", "c0", "c1", "c2"),  # the characters around the place, folded
    *("k-2", "k-1", "k0", "k1"),  # their classes
    *("left", "right"),  # the letters or the digits, or the one other character, before and after the place
    *(
        "before",
        "after",
        "run",
        "shape",
    ),  # the run without spaces: up to the place, from there on, all of it, its classes
    *("token", "length"),  # the token so far
    *("first", "last"),  # how far the run's ends are
    *(
        "rule",
        "ended",
        "next",
    ),  # whether the rules end a token here; whether one ended just before; what follows the run
    "bias",
)
TOKEN_TEMPLATES = compile_templates(
    _ATOMS,
    [
        *("bias", "rule", "k-1 k0", "k-1 k0 rule", "c-1 c0", "c-1 c0 rule", "k-2 k-1 k0 k1", "c-1", "c0"),
        *("c-2 c-1 c0", "c-1 c0 c1", "c-2 c-1 c0 c1", "c-2 c-1", "c0 c1", "c-3 c-2 c-1", "c0 c1 c2"),
        *("left c0", "c-1 right", "left c0 k1", "k-2 c-1 right", "left right", "k-2 c-1 c0 k1 rule"),
        *("before", "before c0", "after", "after c-1", "run", "run first", "shape first"),
        *("token", "token c0", "token c0 c1", "token rule", "length k-1 k0"),
        *(
            "first k-1 c0",
            "last c-1 c0",
            "last c-1 k0 next",
            "first last k-1 k0",
            "last left c0 next",
            "ended c-1 c0",
        ),
    ],
)


class Text(NamedTuple):
    """A text as kernels read it: code points, and the class and the folded code of each."""

    codes: NDArray[np.int32]
    classes: NDArray[np.uint8]
    folded: NDArray[np.int32]


@kernel
def _kind(kind: int) -> int:
    """Letters of either case are one kind."""
    return LOWER if kind in (UPPER, LETTER) else kind


@kernel
def _is_whole(codes: NDArray[np.int32], start: int, stop: int) -> bool:
    """Whether what the rules take for a token is an address, a #tag, an @name, an abbreviation or a word like 'tis: never cut.

    To the rules, abbreviations are all that ends in a point after something else.
    """
    if stop - start > 2 and codes[start] == _APOSTROPHE:
        return True
    if stop - start > 2 and codes[stop - 1] == _POINT and codes[stop - 2] != _POINT:
        return True
    if (
        stop - start > 1
        and (codes[start] == _HASH_SIGN or codes[start] == _AT_SIGN)
        and codes[start + 1] > _AT_SIGN
    ):
        return True
    for i in range(start + 1, stop):  # noqa: SIM110
        if codes[i] == _AT_SIGN or (codes[i] == _SLASH and codes[i - 1] == _SLASH):
            return True
    return False


@kernel
def _is_in_doubt(text: Text, place: int) -> bool:
    """Whether a token could end at a place within a run: not inside letters or digits, nor before a mark."""
    left, right = _kind(text.classes[place - 1]), _kind(text.classes[place])
    if right == MARK or text.codes[place - 1] == ZERO_WIDTH_JOINER:
        return False
    if left == MARK:
        return right != LOWER
    return left != right or left not in (LOWER, DIGIT)


@kernel
def _fill_atoms(
    text: Text, begin: int, end: int, token: int, place: int, rule: bool, atoms: NDArray[np.uint32]
) -> None:
    """The atoms of a place in the run begin .. end, but for those that change only once a run. The token begins at `token`."""
    classes, folded = text.classes, text.folded
    for k in range(6):
        at = place - 3 + k
        atoms[k] = folded[at] if begin <= at < end else 0
    for k in range(4):
        at = place - 2 + k
        atoms[6 + k] = classes[at] if begin <= at < end else SPACE
    start, stop = place - 1, place + 1
    left, right = _kind(classes[start]), _kind(classes[place])
    if left in (LOWER, DIGIT, MARK):
        while start > token and place - start < _HASHED and _kind(classes[start - 1]) in (left, MARK):
            start -= 1
    if right in (LOWER, DIGIT):
        while stop < end and stop - place < _HASHED and _kind(classes[stop]) in (right, MARK):
            stop += 1
    atoms[10] = hash_codes(folded, start, place)
    atoms[11] = hash_codes(folded, place, stop)
    atoms[12] = hash_codes(folded, max(begin, place - _HASHED), place)
    atoms[13] = hash_codes(folded, place, min(end, place + _HASHED))
    atoms[16] = hash_codes(folded, max(token, place - _HASHED), place)
    atoms[17] = min(place - token, 8)
    atoms[18] = min(place - begin, 5)
    atoms[19] = min(end - place, 5)
    atoms[20] = rule
    atoms[21] = token == place - 1


@kernel
def _ends_small_word(text: Text, token: int, place: int, end: int) -> bool:
    """Whether at `place` only a full stop is left after three or more small letters: "sat." is not Saturday."""
    if place + 1 != end or text.codes[place] != _POINT or place - token < 3:
        return False
    while token < place and text.classes[token] == LOWER:
        token += 1
    return token == place


@kernel
def find_tokens(
    text: Text,
    rule_ends: NDArray[np.int64],
    weights: NDArray[np.int8],
    templates: NDArray[np.int32],
    given: NDArray[np.uint8],
    examples: NDArray[np.uint32],
    answers: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Starts and stops of the tokens of a text, and how many places were in doubt. O(characters).

    Where the weights say nothing, the rules decide: `rule_ends` is what `rule_tokens` found. given: if not empty, 1 where a token
    ends. Then these are taken, and the features and answers of all places in doubt are stored in examples and answers, as far as
    there is room.
    """
    codes, classes = text.codes, text.classes
    n = len(codes)
    rule, fixed = np.zeros(n + 1, np.bool_), np.zeros(n + 1, np.bool_)
    start = int(np.int64(0))  # not the literal 0, a type of its own: kernels would compile twice
    for stop in rule_ends:
        rule[stop] = True
        if _is_whole(codes, start, stop) or _FIRST_FLAG <= codes[start] <= _LAST_FLAG:
            for i in range(start + 1, stop):
                fixed[i] = True
        start = stop
    starts, stops = np.empty(n, np.int64), np.empty(n, np.int64)
    atoms, features = np.zeros(len(_ATOMS), np.uint32), np.empty(templates.shape[0], np.uint32)
    mask = np.uint32(len(weights) - 1)
    tokens = doubts = 0
    end = int(np.int64(0))
    while end < n:
        if classes[end] == SPACE:
            end += 1
            continue
        begin = token = end
        shape = EMPTY
        while end < n and classes[end] != SPACE:
            if end == begin or classes[end] != classes[end - 1]:
                shape = mix(shape, classes[end])
            end += 1
        atoms[14] = hash_codes(text.folded, begin, min(end, begin + _HASHED))
        atoms[15] = shape
        atoms[22] = classes[end + 1] if end + 1 < n else 0
        for place in range(begin + 1, end + 1):
            cut = place == end or place - token >= LONGEST_TOKEN
            if not cut and not fixed[place] and _is_in_doubt(text, place):
                _fill_atoms(text, begin, end, token, place, rule[place], atoms)
                hash_features(atoms, templates, mask, features)
                if len(given) > 0:
                    cut = bool(given[place] == 1)
                    if doubts < len(examples):
                        answers[doubts] = cut
                        for k in range(len(features)):
                            examples[doubts, k] = features[k]
                    doubts += 1
                else:
                    score = 1 if rule[place] else -1
                    for feature in features:
                        score += 2 * weights[feature]
                    cut = score > 0 or (rule[place] and _ends_small_word(text, token, place, end))
            if cut:
                starts[tokens], stops[tokens] = token, place
                tokens += 1
                token = place
    return starts[:tokens], stops[:tokens], doubts
