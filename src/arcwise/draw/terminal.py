"""A tree for the terminal: arcs above the words, in box-drawing characters."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from arcwise.draw.layout import Arc, Medium, Row, Sizes, lay_out
from arcwise.draw.relations import COLOURS, group_of
from arcwise.draw.text import mostly_right_to_left, runs_right_to_left, shown
from arcwise.treebank.sentence import Sentence

NARROWEST = 40

_CELLS = Medium(stroke=1, spacing=2, shared=True, gap=2, pad=1)
_LONGEST_MARK = 12
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = {
    _UP | _DOWN: "│",
    _DOWN | _RIGHT: "╭",
    _DOWN | _LEFT: "╮",
    _UP | _DOWN | _RIGHT: "├",
    _UP | _DOWN | _LEFT: "┤",
}
_BOLD, _FAINT = "1", "38;5;244"


def tree_text(sentence: Sentence, *, width: int | None = None, colour: bool = False) -> str:
    """The tree as lines of text; `width` (40 at least) is the most cells of a line, None does not fold.

    An arc goes up from its head, along under its label, and down to the arrow at its dependent; a line that crosses another passes
    over it. Tags stand below the words. A long sentence is folded; then the words are numbered, and where an arc leaves a
    row, number and form of the word at its other end stand at the margin. A word without a head has no arc. A sentence mostly of
    right-to-left script runs from right to left; each such word is in isolates (U+2068, U+2069), so that terminals which reorder
    text leave it in its place. Control characters are spelled out. With `colour` relations of a kind share a colour.

    >>> sentence = Sentence.from_words(["Mary", "saw", "John"], heads=[2, 0, 2], labels=["nsubj", "root", "obj"])
    >>> print(tree_text(sentence))
              root
     ╭─nsubj─╮ │ ╭─obj─╮
     ▼       │ ▼ │     ▼
    Mary      saw     John
    """
    words, tags, labels = shown(sentence)
    marks = [f"{i} {_shorten(word, _LONGEST_MARK)}" for i, word in enumerate(words)]
    numbers = [str(i) for i in range(len(words))]
    if width is not None:
        width = max(width, NARROWEST)
        # A word alone in a row, with its lines and with numbers at both edges, has this much room for a label.
        beside = (width - 5) // 2 - len(numbers[-1]) - 5
        words, tags = ([_shorten(text, width) for text in texts] for texts in (words, tags))
        labels = [_shorten(label, beside) for label in labels]
    rows = _rows(sentence, [words, tags, numbers], labels, marks, width)
    if width is not None and any(row.width > width for row in rows):
        marks = numbers
        rows = _rows(sentence, [words, tags, numbers], labels, marks, width)
    mirrored = mostly_right_to_left(words)
    total = max(row.width for row in rows)
    drawn = []
    for row in rows:
        canvas = _Canvas(row, total if mirrored else row.width, mirrored)
        styles = [f"38;5;{COLOURS[group_of(labels[arc.dependent])][0]}" for arc in row.arcs]
        for arc, style in zip(row.arcs, styles, strict=True):
            canvas.draw_across(arc, labels[arc.dependent], marks[arc.mark], style)
        for arc, style in zip(row.arcs, styles, strict=True):
            to_right = (arc.head < arc.dependent) != mirrored
            if arc.head_x is not None:
                canvas.draw_down(arc.head_x, arc, _RIGHT if to_right else _LEFT, False, "")
            if arc.dependent_x is not None:
                side = (_LEFT if to_right else _RIGHT) if arc.head else _UP
                canvas.draw_down(arc.dependent_x, arc, side, True, style)
        for i, x in enumerate(row.x):
            word = row.first + i
            below = [(words[word], _BOLD), (tags[word], _FAINT), (numbers[word] * (len(rows) > 1), _FAINT)]
            for line, (text, style) in enumerate(below, start=row.levels + 1):
                canvas.write(line, x + (row.box[i] - cell_len(text)) // 2, text, style)
        drawn.append(canvas.text(colour))
    return "\n\n".join(drawn)


def _rows(
    sentence: Sentence, columns: list[list[str]], labels: list[str], marks: list[str], width: int | None
) -> list[Row]:
    sizes = Sizes(
        [max(map(cell_len, texts)) for texts in zip(*columns, strict=True)],
        list(map(cell_len, labels)),
        list(map(cell_len, marks)),
    )
    return lay_out(sentence.heads.tolist(), sizes, _CELLS, width)


def _shorten(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1).rstrip() + "…"


class _Canvas:
    """Cells to write into, from right to left if mirrored. Line 0 is that of the highest level; arrows and words come below."""

    def __init__(self, row: Row, width: int, mirrored: bool) -> None:
        self.levels, self.width, self.mirrored = row.levels, width, mirrored
        self.cells = [[" "] * width for _ in range(row.levels + 4)]
        self.styles = [[""] * width for _ in range(row.levels + 4)]
        self.joints: dict[tuple[int, int], int] = {}

    def write(self, line: int, x: int, text: str, style: str) -> None:
        """A text, in one piece: it lies in its first cell, the others it covers are empty."""
        size = cell_len(text)
        start = self.width - x - size if self.mirrored else x
        if size:
            isolated = f"\u2068{text}\u2069" if runs_right_to_left(text) else text
            self.cells[line][start : start + size] = [isolated] + [""] * (size - 1)
            self.styles[line][start : start + size] = [style] * size

    def draw_across(self, arc: Arc, label: str, mark: str, style: str) -> None:
        """What of an arc is on its level: line, label, and the mark of a word in another row, with an arrow to a dependent."""
        line = self.levels - arc.level
        for x in range(arc.left, arc.right):
            self.write(line, x, "─", style)
        if arc.mark:
            at_left = arc.mark_x < arc.left
            self.write(line, arc.mark_x, mark, _FAINT)
            if arc.mark == arc.dependent:
                arrow = "◂" if at_left != self.mirrored else "▸"
                self.write(line, arc.left if at_left else arc.right - 1, arrow, style)
        self.write(line, arc.label_x, label, style)

    def draw_down(self, x: int, arc: Arc, side: int, arrow: bool, style: str) -> None:
        """The line from an arc's level down to a word; what runs across passes under it."""
        top = self.levels - arc.level + (not arc.head)  # a root's line begins below its label
        for line in range(top, self.levels + 1):
            joint = self.joints.get((line, x), 0) | _DOWN | (side if line == top else _UP)
            self.joints[line, x] = joint
            self.write(line, x, _LINES[joint], style)
        if arrow:
            self.write(self.levels, x, "▼", style)

    def text(self, colour: bool) -> str:
        lines = []
        for cells, styles in zip(self.cells, self.styles, strict=True):
            line, current = "", ""
            for cell, style in zip(cells, styles, strict=True):
                if colour and style != current and cell.strip():
                    line += f"\x1b[{style}m" if style else "\x1b[0m"
                    current = style
                line += cell
            lines.append(line.rstrip() + ("\x1b[0m" if current else ""))
        return "\n".join(filter(None, lines))
