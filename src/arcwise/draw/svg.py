"""Trees as SVG, for browsers, notebooks and slides."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape

from arcwise.draw.layout import Arc, Medium, Row, Sizes, lay_out
from arcwise.draw.relations import COLOURS, group_of
from arcwise.draw.text import mostly_right_to_left, shown, visible
from arcwise.treebank.sentence import Sentence

_PIXELS = Medium(stroke=0, spacing=9, shared=False, gap=16, pad=7)
_WIDEST = 1080  # of a row of words; one word with its arcs may be wider
_WORD, _TAG, _LABEL = 17, 11, 12  # sizes of type
_LEVEL, _ARROW = 23, 13  # heights of a level of arcs, and of what is below the lowest
_RADIUS = 10
_MARGIN, _BETWEEN_ROWS, _BETWEEN_SENTENCES = 22, 30, 44

# The picture brings its own paper: a notebook's dark theme is no business of the browser's.
_STYLE = """\
<style>
.arcwise text { font-family: "Helvetica Neue", Helvetica, Arial, "Noto Sans", sans-serif; text-anchor: middle }
.arcwise-paper { fill: #ffffff } .arcwise-ink { fill: #1d2330 } .arcwise-faint { fill: #6b7380 }
@media (prefers-color-scheme: dark) {
.arcwise-paper { fill: #14171c } .arcwise-ink { fill: #eceff4 } .arcwise-faint { fill: #98a1ae }
.arcwise-arc { filter: brightness(1.35) }
}
</style>
"""


class Picture(NamedTuple):
    """A drawn sentence: its size in pixels, its text, and its SVG elements, which begin at (0, 0)."""

    width: int
    height: int
    text: str
    body: str


def svg(sentence: Sentence) -> str:
    """The tree as an SVG document of its own, folded into rows of 1,080 pixels at most. The same tree gives the same bytes.

    Words with their tags below, arcs above in the colours of their relations, each with its label and an arrow at the dependent.
    Where an arc leaves a row, number and form of the word at its other end stand at the margin. A sentence mostly of right-to-left
    script runs from right to left. It has its own background, dark where the reader prefers that.

    >>> sentence = Sentence.from_words(["Go", "on"], heads=[0, 1], labels=["root", "advmod"])
    >>> print(svg(sentence)[:38])
    <svg xmlns="http://www.w3.org/2000/svg
    """
    return stack([picture(sentence)])


def svg_document(sentences: Iterable[Sentence]) -> str:
    """Several sentences, one below the other, in one SVG document. See `svg`."""
    return stack(map(picture, sentences))


def stack(pictures: Iterable[Picture]) -> str:
    """Drawn sentences as one SVG document."""
    bodies, titles = [], []
    width, bottom = 0, _MARGIN - _BETWEEN_SENTENCES
    for drawn in pictures:
        top = bottom + _BETWEEN_SENTENCES
        bodies.append(f'<g transform="translate({_MARGIN} {top})">\n{drawn.body}</g>\n')
        titles.append(drawn.text)
        width, bottom = max(width, drawn.width), top + drawn.height
    width, height = width + 2 * _MARGIN, max(bottom, _MARGIN) + _MARGIN
    title = titles[0] if len(titles) == 1 else f"Dependency trees of {len(titles)} sentences"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arcwise" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">\n<title>{escape(title)}</title>\n{_STYLE}'
        f'<rect class="arcwise-paper" width="{width}" height="{height}" rx="8"/>\n{"".join(bodies)}</svg>\n'
    )


def picture(sentence: Sentence) -> Picture:
    """Draw one sentence."""
    words, tags, labels = shown(sentence)
    numbers = [str(i) for i in range(len(words))]
    marks = [f"{i} {word}" for i, word in enumerate(words)]
    sizes = Sizes(
        [max(_width(word, _WORD), _width(tag, _TAG)) for word, tag in zip(words, tags, strict=True)],
        [_width(label, _LABEL) for label in labels],
        [_width(mark, _TAG) for mark in marks],
    )
    rows = lay_out(sentence.heads.tolist(), sizes, _PIXELS, _WIDEST)
    total = max(row.width for row in rows)
    mirrored = mostly_right_to_left(words)
    parts: list[str] = []
    bottom = -_BETWEEN_ROWS
    for row in rows:
        ground = bottom + _BETWEEN_ROWS + row.levels * _LEVEL + _ARROW
        pen = _Pen(row, ground, total if mirrored else 0, sizes)
        for arc in sorted(row.arcs, key=lambda arc: -arc.level):
            parts.append(pen.arc(arc, words, labels[arc.dependent], marks[arc.mark]))
        lines = [(words, _WORD, "ink", _WORD), (tags, _TAG, "faint", _WORD + _TAG + 5)]
        if len(rows) > 1:
            lines.append((numbers, _TAG - 1, "faint", _WORD + 2 * _TAG + 8))
        direction = ' direction="rtl"' * mirrored
        for texts, size, colour, below in lines:
            parts.append(f'<g class="arcwise-{colour}" font-size="{size}"{direction}>\n')
            for i, x in enumerate(row.x):
                parts.append(pen.text(texts[row.first + i], x + row.box[i] // 2, ground + below))
            parts.append("</g>\n")
        bottom = ground + lines[-1][3] + 4
    return Picture(total, bottom, visible(sentence.text), "".join(parts))


class _Pen:
    """Draws at the places of a row; from right to left if it is told the width to mirror in."""

    def __init__(self, row: Row, ground: int, mirror: int, sizes: Sizes) -> None:
        self.row, self.ground, self.mirror, self.sizes = row, ground, mirror, sizes

    def x(self, x: int) -> int:
        return self.mirror - x if self.mirror else x

    def text(self, text: str, middle: int, y: int, attributes: str = "") -> str:
        return f'<text x="{self.x(middle)}" y="{y}"{attributes}>{escape(text)}</text>\n' if text else ""

    def arc(self, arc: Arc, words: list[str], label: str, mark: str) -> str:
        """The line, broken for its label; an arrow; the mark of a word in another row."""
        y = self.ground - _ARROW - (arc.level - 1) * _LEVEL - _LEVEL // 2
        size = self.sizes.labels[arc.dependent]
        middle = arc.label_x + size // 2
        if arc.head:
            mark_left = arc.mark and arc.mark_x < arc.left
            mark_right = arc.mark and not mark_left
            line = self._half(arc.left, middle - size // 2 - 3, not mark_left, y)
            line += self._half(arc.right, middle + size // 2 + 3, not mark_right, y)
        else:
            line = f"M{self.x(middle)} {y + 8}V{self.ground - 4}"
        if arc.dependent_x is not None:
            arrow = f"M{self.x(arc.dependent_x)} {self.ground}l-4 -8h8z"
        else:
            tip, back = (arc.right, -8) if arc.head < arc.dependent else (arc.left, 8)
            arrow = f"M{self.x(tip)} {y}l{-back if self.mirror else back} -4v8z"
        colour = COLOURS[group_of(label)][1]
        said = f"{label}: {words[arc.head] or 'root'} → {words[arc.dependent]}"
        texts = self.text(label, middle, y + 4, f' font-size="{_LABEL}"')
        if arc.mark:
            place = arc.mark_x + self.sizes.marks[arc.mark] // 2
            texts += self.text(mark, place, y + 4, f' font-size="{_TAG}" class="arcwise-faint"')
        return (
            f'<g class="arcwise-arc" data-head="{arc.head}" data-dependent="{arc.dependent}" fill="{colour}">'
            f'<title>{escape(said)}</title>\n<path d="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            f'<path d="{arrow}"/>\n{texts}</g>\n'
        )

    def _half(self, x: int, label_edge: int, from_word: bool, y: int) -> str:
        """From the word, or the margin, to the label."""
        if not from_word:
            return f"M{self.x(x)} {y}H{self.x(label_edge)}"
        radius = min(_RADIUS, abs(label_edge - x))
        corner = x + radius if x < label_edge else x - radius
        return (
            f"M{self.x(x)} {self.ground - 4}V{y + radius}"
            f"Q{self.x(x)} {y} {self.x(corner)} {y}H{self.x(label_edge)}"
        )


def _width(text: str, size: int) -> int:
    """The width of a text in pixels, rather too much than too little: the reader's fonts are unknown."""
    return round(size * sum(map(_em, text)) + 0.5)


def _em(character: str) -> float:
    if character in "iIjlt.,:;'|!()[]fr- ":
        return 0.36
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Cf"):
        return 0.0
    return 0.9 if character in "mwMW@%" else 0.7 if character.isupper() else 0.58
