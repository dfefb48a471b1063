"""Sentences of thousands of words: what is done grows with the words, and not with their square.

Times say little on a busy machine. So what is counted is the work: the pieces that kernels get, and the lines of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from arcwise import Sentence
from arcwise.cli.rendering import rendering
from arcwise.draw import svg
from arcwise.pipeline.keeping import keep_nothing
from arcwise.pipeline.parser import LONGEST, LONGEST_IN_CHART, Parser
from arcwise.treebank.formats import CONLLU
from tests.pipeline.models import SMALL, block_of, quick, random_model

DATA = Path(__file__).parent.parent / "data"
FEW = 5_000


def chain(words: int) -> str:
    rows = (f"{i}\tw\t_\t_\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n" for i in range(1, words + 1))
    return "".join(rows) + "\n"


def lines_of_python(work: Callable[[], object]) -> int:
    """How many lines are run, of the package's own code and of what it calls; each turn of a loop counts."""
    lines = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(random_model(1, [block_of(chain(5))]))


@pytest.fixture(scope="module")
def chart_parser() -> Parser:
    settings = replace(SMALL, part_bits=14, search="dual-sibling")
    return quick(DATA / "train.conllu", epochs=1, label_epochs=1, settings=settings)


@pytest.mark.parametrize("words", [1_000, 5_000, 20_000, 100_000])
def test_kernels_get_pieces(parser, chart_parser, words):
    block = block_of(chain(words))
    for one, longest in ((parser, LONGEST), (chart_parser, LONGEST_IN_CHART)):
        assert one.longest == longest
        numbered = one._number(block, keep_nothing(block, one.labels))
        sizes = np.diff(numbered.rows.starts) - 1
        assert sizes.sum() == words
        assert len(sizes) == -(-words // longest)
        assert sizes.max() <= longest


def lines_to_parse(parser: Parser, words: int, output_format: str, **options: Any) -> int:
    block = block_of(chain(words))
    render = rendering(output_format, CONLLU, width=100, colour=False)

    def work() -> None:
        trees = parser.parse_block(block, **options)
        for _ in render.document([render.block(parser, block, trees)]):
            pass

    return lines_of_python(work)


@pytest.mark.parametrize(
    ("output_format", "options"),
    [("conllu", {}), ("conllu", {"keep": True}), ("conllu", {"confidence": True}), ("json", {})],
)
def test_work_grows_with_the_words(parser, output_format, options):
    few, many = (lines_to_parse(parser, words, output_format, **options) for words in (FEW, 4 * FEW))
    assert many < 4.5 * few


def test_a_picture_has_bounded_work_for_each_word(monkeypatch):
    """Its rows are short, and what belongs to all words is made once, not for every row."""
    made = 0

    def counted(value: object) -> str:
        nonlocal made
        made += 1
        return str(value)

    words = 1_000
    sentence = Sentence.from_words(["w"] * words, heads=[*range(words)], labels=["dep"] * words)
    monkeypatch.setattr(svg, "str", counted, raising=False)
    svg.picture(sentence)
    assert words <= made < 2 * words
