"""Learning a tokeniser from a treebank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.text.characters import characters
from arcwise.text.contractions import learn_contractions
from arcwise.text.linear import learn
from arcwise.text.lines import line_breaks
from arcwise.text.rules import rule_tokens
from arcwise.text.sentence_boundaries import SENTENCE_TEMPLATES, find_sentences
from arcwise.text.token_boundaries import TOKEN_TEMPLATES, Text, find_tokens
from arcwise.text.tokeniser import NO_ANSWERS, Tokeniser
from arcwise.text.treebank_text import treebank_text
from arcwise.treebank.block import Block

_WEIGHTS = 1 << 17  # of either classifier


def train_tokeniser(
    blocks: Sequence[Block], *, seed: int, progress: Callable[[float], None] | None = None
) -> Tokeniser | None:
    """A tokeniser that splits as the treebank does; None if the treebank does not tell where its text has spaces.

    It tells by `# text` or SpaceAfter=No, or is written in a script without spaces. The same seed gives the same tokeniser.
    progress: is told the fraction done. A few seconds for 200,000 words.
    """
    treebank = treebank_text(blocks)
    if treebank is None:
        return None
    report = progress or (lambda _: None)
    report(0.3)
    codes = np.frombuffer(bytearray(treebank.text.encode("utf-32-le")), np.int32)
    table = characters(codes)
    text = Text(codes, table.classes[codes], table.folded[codes])
    starts = np.array([token.start for token in treebank.tokens], np.int64)
    stops = np.array([token.stop for token in treebank.tokens], np.int64)
    no_weights = np.zeros(_WEIGHTS, np.int8)

    def weights(
        find: Callable[..., Any],
        situation: tuple[Any, ...],
        templates: NDArray[np.int32],
        given: NDArray[np.uint8],
        done: float,
    ) -> NDArray[np.int8]:
        """Learned from all places that are in doubt, whose answers are given. First they are counted, then stored."""
        arguments = (text, *situation, no_weights, templates, given)
        count = find(*arguments, *NO_ANSWERS[1:])[-1]
        examples, answers = np.empty((count, len(templates)), np.uint32), np.empty(count, np.bool_)
        find(*arguments, examples, answers)
        return learn(
            examples, answers, _WEIGHTS, seed=seed, progress=lambda fraction: report(done + 0.35 * fraction)
        )

    token_ends = np.zeros(len(codes) + 1, np.uint8)
    token_ends[stops] = 1
    sentence_ends = np.zeros(len(starts), np.uint8)
    sentence_ends[treebank.sentences] = 1
    situation = (starts, stops, line_breaks(treebank.text, "text"))
    forms = ((treebank.text[token.start : token.stop], token.words) for token in treebank.tokens)
    return Tokeniser(
        {
            "tokens": weights(
                find_tokens, (rule_tokens(table.plain[codes]),), TOKEN_TEMPLATES, token_ends, 0.3
            ),
            "sentences": weights(find_sentences, situation, SENTENCE_TEMPLATES, sentence_ends, 0.65),
            **learn_contractions(forms),
        }
    )
