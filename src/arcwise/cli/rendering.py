"""What `arcwise parse` writes: trees as columns, JSON, or pictures."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from arcwise.pipeline.annotating import annotate, tree_comments, written_probability
from arcwise.treebank.formats import CONLLU, FEATS, FORM, LEMMA, UPOS, XPOS, Format

if TYPE_CHECKING:
    from arcwise.pipeline.parsed import Trees
    from arcwise.pipeline.parser import Parser
    from arcwise.treebank.block import Block
    from arcwise.treebank.sentence import Sentence

PICTURES = ("tree", "svg", "latex", "dot")
OUTPUT_FORMATS = ("conllu", "json", *PICTURES)

_WIDTH = 100  # of trees that go to a file or a pipe

Data = bytes | memoryview
Drawn = TypeVar("Drawn")


class Rendering(NamedTuple):
    """How trees become bytes: `block` renders those of one block, on any thread; `document` takes all it gave, in order."""

    block: Callable[[Parser, Block, Trees], Any]
    document: Callable[[Iterable[Any]], Iterable[Data]] = iter


def rendering(
    output_format: str | None, source: Format, *, width: int | None = None, colour: bool = False
) -> Rendering:
    """How to write trees of sentences in the format `source` as `output_format`; None is the format they have.

    All formats but SVG are written as they come; an SVG document begins with its size, so its pictures wait in memory for the last.
    """
    if output_format == "json":
        return Rendering(_json_lines)
    if output_format == "tree":
        draw = _each(lambda s: s.draw(width=width, colour=colour) + "\n\n")
        return Rendering(lambda *parsed: _titled(draw(*parsed), parsed[2]), _text)
    if output_format == "dot":
        return Rendering(_each(lambda s: s.draw("dot")), _text)
    if output_format == "latex":
        from arcwise.draw.latex import DOCUMENT_BEGIN, DOCUMENT_END, dependency

        return Rendering(
            _each(dependency), lambda parts: _text(chain([[DOCUMENT_BEGIN]], parts, [[DOCUMENT_END]]))
        )
    if output_format == "svg":
        from arcwise.draw.svg import picture, stack

        return Rendering(_each(picture), lambda parts: [stack(chain.from_iterable(parts)).encode()])
    return Rendering(_as_conllu if output_format == "conllu" and source is not CONLLU else _in_place)


def default_output_format(raw_text: bool, on_screen: bool) -> str | None:
    """Raw text becomes a picture for a person, CoNLL-U for a program; a file of sentences keeps its format."""
    return ("tree" if on_screen else "conllu") if raw_text else None


def tree_width(on_screen: bool) -> int:
    """How wide a drawn tree may be: as the terminal, or as COLUMNS says, or 100."""
    columns = shutil.get_terminal_size((_WIDTH, 24)).columns if on_screen else 0
    said = os.environ.get("COLUMNS", "")
    return columns or (int(said) if said.isdecimal() and int(said) else _WIDTH)


def wants_colour(on_screen: bool) -> bool:
    """Colours are for terminals that know them and people who did not say NO_COLOR."""
    return on_screen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _in_place(parser: Parser, block: Block, trees: Trees) -> Data:
    data = parser.with_trees(block, trees).data
    return data if trees.probabilities is None else annotate(data.tobytes(), trees)


def _each(draw: Callable[[Sentence], Drawn]) -> Callable[[Parser, Block, Trees], list[Drawn]]:
    """Draws every sentence of a block with its new tree."""

    def draw_block(parser: Parser, block: Block, trees: Trees) -> list[Drawn]:
        return list(map(draw, block.rewritten(parser.with_trees(block, trees))))

    return draw_block


def _titled(pictures: list[str], trees: Trees) -> list[str]:
    """The pictures, and above each what is known of its tree, if it is one of several."""
    if trees.ranks is None:
        return pictures
    titles = [", ".join(f"{name} {value}" for name, value in known) for known in tree_comments(trees)]
    return [f"{title}\n{picture}" for title, picture in zip(titles, pictures, strict=True)]


def _text(parts: Iterable[list[str]]) -> Iterator[bytes]:
    return ("".join(part).encode() for part in parts)


def _as_conllu(parser: Parser, block: Block, trees: Trees) -> bytes:
    """A block of another format as CoNLL-U."""
    columns = [block.column(role) for role in (FORM, LEMMA, UPOS, XPOS, FEATS)]
    labels = [trees.names[label] for label in trees.labels]
    rows = list(zip(*columns, map(str, trees.heads), labels, strict=True))
    lines = []
    for begin, end in zip(block.words[:-1].tolist(), block.words[1:].tolist(), strict=True):
        lines += ["\t".join((str(number), *row, "_", "_")) for number, row in enumerate(rows[begin:end], 1)]
        lines.append("")
    data = "\n".join([*lines, ""]).encode()
    return data if trees.probabilities is None else annotate(data, trees)


def _json_lines(parser: Parser, block: Block, trees: Trees) -> bytes:
    """One JSON object a sentence, one a line."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    forms = block.column(FORM)
    of_words: dict[str, list[Any]] = {"form": forms}
    for name, role in (("lemma", LEMMA), ("upos", UPOS), ("xpos", XPOS), ("feats", FEATS)):
        column = zip(forms, block.column(role), strict=True)
        of_words[name] = [None if value == "_" != form else value for form, value in column]
    of_words["head"] = trees.heads.tolist()
    of_words["deprel"] = [trees.names[label] for label in trees.labels]
    of_trees: dict[str, list[Any]] = {"score": trees.scores.tolist()}
    if trees.ranks is not None:
        of_trees["rank"] = trees.ranks.tolist()
    if trees.probabilities is not None:
        logs, arcs, labels, errors, arc_errors = trees.probabilities
        of_trees["tree_prob"] = [
            None if isnan(logarithm) else float(written_probability(logarithm)) for logarithm in logs.tolist()
        ]
        if errors is not None:
            of_trees["tree_prob_error"] = _known(errors.tolist())
        if arcs is not None and labels is not None:
            of_words["arc_prob"] = _known(arcs.tolist())
            if arc_errors is not None:
                of_words["arc_prob_error"] = _known(arc_errors.tolist())
            of_words["label_prob"] = _known(labels.tolist())
    words = _objects(of_words)
    lines = []
    for sentence, (known, begin, end) in enumerate(
        zip(_objects(of_trees), block.words[:-1].tolist(), block.words[1:].tolist(), strict=True)
    ):
        numbered = [{"id": number, **word} for number, word in enumerate(words[begin:end], 1)]
        lines.append(encode({**_comments(block, sentence), "words": numbered, **known}))
    return "\n".join([*lines, ""]).encode()


def _known(numbers: Iterable[float]) -> list[float | None]:
    """Six digits of each, None for NaN."""
    return [None if isnan(number) else float(f"{number:.6g}") for number in numbers]


def _objects(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _comments(block: Block, sentence: int) -> dict[str, str | None]:
    """What the comments before the first word say of the sentence's name and text."""
    found: dict[str, str | None] = {"sent_id": None, "text": None}
    start, stop = block.sentence_bytes[sentence], block.starts[block.words[sentence], 0]
    for line in block.data[start:stop].tobytes().decode().split("\n"):
        name, equals, value = line.removeprefix("#").partition("=")
        if line.startswith("#") and equals and name.strip() in found:
            found[name.strip()] = value.strip()
    return found
