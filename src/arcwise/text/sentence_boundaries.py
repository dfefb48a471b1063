"""After which tokens sentences end: a linear classifier, left to right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcwise.kernels import kernel
from arcwise.text.characters import CLOSE, FINAL, LOWER, OPEN, PUNCT, QUOTE, UPPER, WIDE
from arcwise.text.hashing import EMPTY, mix
from arcwise.text.linear import compile_templates, hash_features
from arcwise.text.lines import PARAGRAPH
from arcwise.text.token_boundaries import Text

MOST_TOKENS = 1000  # of a sentence; a longer one is cut where its end is most probable, in its second half
_HASHED = 24  # characters of a token that its hash sees
_DOUBLE_QUOTE = ord('"')

_ATOMS = (
    *("w-2", "w-1", "w0", "w1", "w2"),  # the tokens around, folded; w0 is the last before the place
    *("s-2", "s-1", "s0", "s1", "s2", "s3"),  # their shapes
    *(
        "gap",
        "length",
        "rest",
        "size",
    ),  # the space after w0; tokens of the sentence, to the paragraph's end, of the paragraph
    *("first", "begin"),  # form and shape of the sentence's first token
    *("bracket", "quote", "small"),  # whether one is open; whether the sentence has words in lower case
    *("points", "capitals"),  # how frequent they are in the paragraph
    *("rule", "bias"),
)
SENTENCE_TEMPLATES = compile_templates(
    _ATOMS,
    [
        *("bias", "rule", "w0", "w1", "s0", "s1", "w0 w1", "w-1 w0", "w1 w2", "w0 s1", "s0 w1", "s0 s1"),
        *("s0 s1 gap", "s-1 s0 s1", "s0 s1 s2", "s-2 s-1 s0 s1", "s-1 s0 s1 s2", "s0 s1 s2 s3", "w-1 s0 s1"),
        *("s0 s1 w2", "w0 s1 gap", "w-1 w0 s1", "w-1 w0 w1", "s0 w1 s2", "s0 w1 w2"),
        *(
            "length s0 s1",
            "rest s0 s1",
            "size s0 s1",
            "length rest s0 s1",
            "size length",
            "w0 rest",
            "w1 rest",
        ),
        *("points s0 s1", "points size s0 s1", "capitals points s0 s1", "rule length s1", "small s0 s1"),
        *("begin s0 s1", "begin length s1", "begin w0 s1", "first s0 s1", "first w0"),
        *("bracket s0 s1", "quote s0 s1", "bracket w0 s1", "quote w0 s1"),
    ],
)


@kernel
def _bucket(n: int) -> int:
    """0 to 4 as they are, then ever wider."""
    if n < 5:
        return n
    if n < 12:
        return 5 if n < 8 else 6
    if n < 35:
        return 7 if n < 20 else 8
    return 9 if n < 60 else 10


@kernel
def _describe(
    text: Text, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    """Hashes of each token's form and shape (its classes, repeated or not; other characters than letters and digits as they are),
    and the class of its first character. Padded by two tokens in front and three behind."""
    padded = len(starts) + 5
    forms, shapes, kinds = np.ones(padded, np.uint32), np.ones(padded, np.uint32), np.zeros(padded, np.uint8)
    for t in range(len(starts)):
        form = shape = EMPTY
        previous, repeated = -1, False
        for i in range(starts[t], min(stops[t], starts[t] + _HASHED)):
            form = mix(form, text.folded[i])
            kind = int(text.classes[i]) if text.classes[i] <= WIDE else int(text.folded[i])
            if kind != previous:
                shape, previous, repeated = mix(shape, kind), kind, False
            elif not repeated:
                shape, repeated = mix(shape, 0), True
        forms[t + 2], shapes[t + 2], kinds[t + 2] = form, shape, text.classes[starts[t]]
    return forms, shapes, kinds


@kernel
def _rule(kinds: NDArray[np.uint8], t: int, spaced: bool, quote: bool) -> bool:
    """The general rule: final punctuation, with what closes after it, then space and something that can begin a sentence."""
    before, kind, after = kinds[t + 1], kinds[t + 2], kinds[t + 3]
    if not (kind == FINAL or (kind in (CLOSE, QUOTE) and before == FINAL)):
        return False
    if after in (LOWER, FINAL, CLOSE) or (after == QUOTE and quote):
        return False
    return bool(spaced or after in (WIDE, OPEN) or before == WIDE)


@kernel
def find_sentences(
    text: Text,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    breaks: NDArray[np.uint8],
    weights: NDArray[np.int8],
    templates: NDArray[np.int32],
    given: NDArray[np.uint8],
    examples: NDArray[np.uint32],
    answers: NDArray[np.bool_],
) -> tuple[NDArray[np.uint8], int]:
    """For each token 1 if a sentence ends with it, 2 if a paragraph does; and how many tokens were in doubt. O(tokens).

    Where the weights say nothing, the general rule decides. breaks: as `line_breaks` gives them. given (one for each token),
    examples, answers: as in `find_tokens`.
    """
    tokens = len(starts)
    ends, scores = np.zeros(tokens, np.uint8), np.zeros(tokens, np.int64)
    for t in range(tokens - 1):
        for i in range(stops[t] + 1, starts[t + 1] + 1):
            ends[t] = max(ends[t], breaks[i])
    if tokens > 0:
        ends[tokens - 1] = PARAGRAPH
    forms, shapes, kinds = _describe(text, starts, stops)
    atoms, features = np.zeros(len(_ATOMS), np.uint32), np.empty(templates.shape[0], np.uint32)
    mask = np.uint32(len(weights) - 1)
    doubts = begin = paragraph = last = t = 0
    bracket = quote = small = False
    while t < tokens:
        if t == paragraph:
            last = t
            points = capitals = 0
            while True:
                points += kinds[last + 2] == FINAL
                capitals += kinds[last + 2] == UPPER
                if ends[last] == PARAGRAPH:
                    break
                last += 1
            size = last - paragraph + 1
            atoms[14] = _bucket(size)
            atoms[20] = min(12 * points // size, 4)
            atoms[21] = min(5 * capitals // size, 4)
        if t == begin:
            bracket = quote = small = False
            atoms[15], atoms[16] = forms[t + 2], shapes[t + 2]
        kind = kinds[t + 2]
        if kind == OPEN:
            bracket = True
        elif kind == CLOSE:
            bracket = False
        elif kind == QUOTE and text.folded[starts[t]] == _DOUBLE_QUOTE:
            quote = not quote
        elif kind == LOWER:
            small = True
        if ends[t] == 0:
            for k in range(6):
                inside = paragraph <= t + k - 2 <= last
                if k < 5:
                    atoms[k] = forms[t + k] if inside else 1
                atoms[5 + k] = shapes[t + k] if inside else 1
            rule = _rule(kinds, t, starts[t + 1] > stops[t], quote)
            atoms[11] = min(starts[t + 1] - stops[t], 2)
            atoms[12], atoms[13] = _bucket(t - begin), _bucket(last - t)
            atoms[17], atoms[18], atoms[19], atoms[22] = bracket, quote, small, rule
            hash_features(atoms, templates, mask, features)
            if len(given) > 0:
                ends[t] = given[t]
                if doubts < len(examples):
                    answers[doubts] = given[t] == 1
                    for k in range(len(features)):
                        examples[doubts, k] = features[k]
                doubts += 1
            else:
                score = 1 if rule else -1
                for feature in features:
                    score += 2 * weights[feature]
                scores[t] = 4 * score + 2 * (kind == FINAL) + (kind >= PUNCT)
                # Between a word and a small letter no sentence ends, however much like a signature an address may look.
                ends[t] = score > 0 and not (kind < PUNCT and kinds[t + 3] == LOWER)
            if ends[t] == 0 and t - begin + 1 == MOST_TOKENS:
                for k in range(t - 1, begin + MOST_TOKENS // 2, -1):
                    if scores[k] > scores[t]:
                        t = k
                ends[t] = 1
        if ends[t] == PARAGRAPH:
            paragraph = t + 1
        if ends[t] > 0:
            begin = t + 1
        t += 1
    return ends, doubts
