"""A sentence: a lazy view on its bytes in a block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcwise.errors import InputError
from arcwise.treebank.block import Block, index_block, pack_names
from arcwise.treebank.formats import CONLLU, DEPREL, FEATS, FORM, LEMMA, UPOS, XPOS, Format, format_named
from arcwise.treebank.word import Span, Word, find_words

Column = Sequence[str | None]


class Range(NamedTuple):
    """A multiword token: its first and last word, its form and MISC."""

    first: int
    last: int
    form: str
    misc: str


class EmptyNode(NamedTuple):
    """An empty node `word.number`: the word it follows, its number there, and all its columns."""

    word: int
    number: int
    columns: tuple[str, ...]


class Sentence:
    r"""One sentence. Columns are indexed by word number 1..n; entry 0 stands for the root.

    `forms`, `lemmas`, `upos`, `xpos`, `feats`, `labels` and `misc` are lists of n + 1 strings as they stand
    in the file (`_` is unspecified), entry 0 is "". `heads` is int32 of length n + 1, -1 at 0 and for `_`.
    `len(sentence)` is n, `str(sentence)` is its text in its format. A parser adds the tree's `score`,
    whether it is `certified` to be the best, and the `confidences` of its arcs. `sentence[3]` is the third
    word, as an object that knows its place in the tree; iteration gives all words from the first on.

    >>> sentence = Sentence.from_words(["Mary", "left"], heads=[2, 0], labels=["nsubj", "root"])
    >>> sentence.forms, sentence.heads.tolist(), sentence.labels
    (['', 'Mary', 'left'], [-1, 2, 0], ['', 'nsubj', 'root'])
    >>> print(str(sentence.replace(labels=["subj", "root"])).expandtabs(5).strip())
    1    Mary _    _    _    _    2    subj _    _
    2    left _    _    _    _    0    root _    _
    >>> sentence[1].head, [word.form for word in sentence]
    (<Word 2 'left', root>, ['Mary', 'left'])
    >>> print(sentence.draw())
              root
     ╭─nsubj─╮ │
     ▼       │ ▼
    Mary     left
    """

    __slots__ = ("_block", "_confidences", "_index", "_spans", "certified", "score")

    def __init__(
        self,
        block: Block,
        index: int,
        *,
        score: float | None = None,
        certified: bool = False,
        confidences: Callable[[], ArrayLike] | None = None,
    ) -> None:
        """Sentence `index` of a block. confidences: called once, when first asked for; gives n + 1 numbers, the first unused."""
        self._block, self._index = block, index
        self.score, self.certified = score, certified
        self._confidences: Callable[[], ArrayLike] | NDArray[np.float64] | None = confidences
        self._spans: list[Span | None] | None = None

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        *,
        lemmas: Column | None = None,
        upos: Column | None = None,
        xpos: Column | None = None,
        feats: Column | None = None,
        heads: ArrayLike | None = None,
        labels: Column | None = None,
        comments: Sequence[str] = (),
        format: Format | str = CONLLU,
    ) -> Sentence:
        """A new sentence. Every column has one entry for each word, or one more, at 0, for the root."""
        format = format_named(format) if isinstance(format, str) else format
        words = len(forms)
        table = [["_"] * len(format.columns) for _ in range(words)]
        head_column = None if heads is None else ["_" if h < 0 else str(h) for h in _heads(heads, words)]
        columns = (
            [str(i) for i in range(1, words + 1)],
            forms,
            lemmas,
            upos,
            xpos,
            feats,
            head_column,
            labels,
        )
        for column, values in zip(format.roles, columns, strict=True):
            if values is None or column < 0:
                continue
            for row, value in zip(table, _per_word(values, words, format.columns[column]), strict=True):
                row[column] = value
        lines = ["\t".join(row) for row in table]
        for comment in comments:
            if "\n" in comment or "\r" in comment:
                raise InputError(f"comment {comment!r}", expected="one line")
        lines[:0] = [comment if comment.startswith("#") else f"# {comment}" for comment in comments]
        return _sentence("\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass"), format)

    def __len__(self) -> int:
        return int(self._block.words[self._index + 1] - self._block.words[self._index])

    def __getitem__(self, id: int) -> Word:
        """Word number `id`, 1..n as everywhere; nothing else is a word, so no root and no counting from the end."""
        if not 1 <= id <= len(self):
            raise IndexError(f"word {id} of a sentence with words 1 to {len(self)}")
        return Word(self, int(id))

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    @property
    def words(self) -> list[Word]:
        """The words 1..n."""
        return [Word(self, id) for id in range(1, len(self) + 1)]

    def __str__(self) -> str:
        return self.to_bytes().decode()

    def __repr__(self) -> str:
        return f"<Sentence of {len(self)} words, line {self.line} of {self._block.file or 'no file'}>"

    def to_bytes(self) -> bytes:
        """Its bytes, the blank line after it included."""
        first, last = self._block.sentence_bytes[self._index : self._index + 2].tolist()
        return self._block.data[first:last].tobytes()

    @property
    def file(self) -> str:
        """The name of its file, "" if it has none."""
        return self._block.file

    @property
    def line(self) -> int:
        """The line of its file on which it begins."""
        return int(self._block.lines[self._index])

    @property
    def format(self) -> Format:
        """The format it is written in."""
        return self._block.format

    def _column(self, role: int) -> list[str]:
        first, last = self._block.words[self._index : self._index + 2].tolist()
        return ["", *self._block.column(role)[first:last]]

    @property
    def forms(self) -> list[str]:
        """The words."""
        return self._column(FORM)

    @property
    def lemmas(self) -> list[str]:
        """Their lemmas."""
        return self._column(LEMMA)

    @property
    def upos(self) -> list[str]:
        """Their universal or coarse tags."""
        return self._column(UPOS)

    @property
    def xpos(self) -> list[str]:
        """Their fine tags."""
        return self._column(XPOS)

    @property
    def feats(self) -> list[str]:
        """Their morphological features."""
        return self._column(FEATS)

    @property
    def labels(self) -> list[str]:
        """The labels of the arcs to their heads."""
        return self._column(DEPREL)

    @property
    def heads(self) -> NDArray[np.int32]:
        """The tree: int32 of length n + 1, -1 at 0 and where the head is unknown."""
        first, last = self._block.words[self._index : self._index + 2].tolist()
        heads = np.empty(last - first + 1, np.int32)
        heads[0] = -1
        heads[1:] = self._block.heads[first:last]
        return heads

    @property
    def confidences(self) -> NDArray[np.float64] | None:
        """How sure the parser is of each word's head, from 0 to 1: n + 1 numbers, NaN at 0; None if it did not say."""
        if callable(self._confidences):
            values = np.array(self._confidences(), np.float64)
            values[0] = np.nan
            self._confidences = values
        return self._confidences

    def _lines(self) -> list[str]:
        return str(self).strip("\n").split("\n")

    def _rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self._lines() if not line.startswith("#")]

    @property
    def comments(self) -> list[str]:
        """The comment lines, each with its `#`."""
        return [line for line in self._lines() if line.startswith("#")]

    def _comment(self, name: str) -> str | None:
        for comment in self.comments:
            if match := re.match(rf"#\s*{name}\s*=\s*(.*)", comment, re.DOTALL):
                return match[1]
        return None

    @property
    def sent_id(self) -> str | None:
        """What the comment `# sent_id =` says."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """What the comment `# text =` says, or the tokens, joined as `SpaceAfter=No` demands."""
        text = self._comment("text")
        if text is not None:
            return text
        tokens = {first: (form, misc, last) for first, last, form, misc in self.ranges}
        pieces: list[str] = []
        covered = 0
        for word, (form, misc) in enumerate(zip(self.forms, self.misc, strict=True)):
            if word > covered:
                form, misc, covered = tokens.get(word, (form, misc, word))
                pieces.append(form if "SpaceAfter=No" in misc.split("|") else form + " ")
        return "".join(pieces).removesuffix(" ")

    @property
    def spans(self) -> list[Span | None]:
        """Where each word begins and ends in `text`, in characters; None at 0 and for what was not found there.

        Of a multiword token each word has its part if the words' forms make up the token's, else the whole span.
        """
        if self._spans is None:
            self._spans = find_words(self)
        return list(self._spans)

    @property
    def misc(self) -> list[str]:
        """The column MISC, `_` if the format has none."""
        column = self.format.misc
        if column < 0:
            return ["", *["_"] * len(self)]
        return ["", *(row[column] for row in self._rows() if row[0].isdigit())]

    @property
    def ranges(self) -> list[Range]:
        """The multiword tokens."""
        column = self.format.misc
        rows = [(row[0].split("-"), row) for row in self._rows() if "-" in row[0]]
        return [Range(int(first), int(last), row[FORM], row[column]) for (first, last), row in rows]

    @property
    def empty_nodes(self) -> list[EmptyNode]:
        """The empty nodes."""
        rows = [(row[0].split("."), row) for row in self._rows() if "." in row[0]]
        return [EmptyNode(int(word), int(number), tuple(row)) for (word, number), row in rows]

    def draw(
        self,
        format: str = "tree",
        *,
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """A picture of the tree: "tree" for a terminal, "svg", "latex" (tikz-dependency) or "dot" (Graphviz).

        width: that of the terminal, to which a long sentence is folded; colour: with its codes for colours.
        """
        if format == "tree":
            from arcwise.draw.terminal import tree_text

            return tree_text(self, width=width, colour=colour)
        if format == "svg":
            from arcwise.draw.svg import svg

            return svg(self)
        if format == "latex":
            from arcwise.draw.latex import latex

            return latex(self)
        if format == "dot":
            from arcwise.draw.dot import dot

            return dot(self)
        raise InputError(f"picture format {format!r}", expected="tree, svg, latex or dot")

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.draw("svg")

    def replace(
        self,
        *,
        heads: ArrayLike | None = None,
        labels: Column | None = None,
        score: float | None = None,
        certified: bool = False,
    ) -> Sentence:
        """The sentence with another tree. One entry for each word, or one more, at 0, for the root."""
        words = len(self)
        new_heads = self.heads[1:] if heads is None else _heads(heads, words)
        new_labels = self.labels[1:] if labels is None else _per_word(labels, words, "labels")
        first, last = self._block.words[self._index : self._index + 2].tolist()
        start, stop = self._block.sentence_bytes[self._index : self._index + 2].tolist()
        own = Block(
            self._block.data[start:stop],
            format=self.format,
            file=self._block.file,
            first_line=self.line,
            lines=self._block.lines[self._index : self._index + 1],
            sentence_bytes=np.array([0, stop - start]),
            words=np.array([0, last - first], np.int32),
            starts=self._block.starts[first:last] - np.int32(start),
            stops=self._block.stops[first:last] - np.int32(start),
            heads=self._block.heads[first:last],
        )
        names = pack_names([label.encode() for label in new_labels])
        data = own.replace_trees(new_heads, np.arange(words, dtype=np.int32), names)
        sentence = _sentence(
            data, self.format, file=self._block.file, line=self.line, check_trees=heads is not None
        )
        sentence.score, sentence.certified = score, certified
        return sentence


def _sentence(
    data: bytes | NDArray[np.uint8],
    format: Format,
    *,
    file: str = "",
    line: int = 1,
    check_trees: bool = True,
) -> Sentence:
    """The one sentence of `data`."""
    block, complaints = index_block(data, format, file=file, first_line=line, check_trees=check_trees)
    for error in complaints:
        if error is not None:
            raise error
    if len(block) != 1:
        raise InputError(f"{len(block)} sentences", expected="one")
    return Sentence(block, 0)


def _per_word(values: Column, words: int, name: str) -> list[str]:
    """One value for each word, `_` for None, all fit to stand in a column."""
    if len(values) not in (words, words + 1):
        raise InputError(
            f"{len(values)} values for {name}", expected=f"{words}, or {words + 1} with the root's"
        )
    column = ["_" if value is None else value for value in values[len(values) - words :]]
    for word, value in enumerate(column, start=1):
        if not value or any(character in value for character in "\t\n\r\0"):
            raise InputError(
                f"{name} is {value!r}", expected="text without tabs and line ends", token=str(word)
            )
    return column


def _heads(heads: ArrayLike, words: int) -> NDArray[np.int32]:
    """One head for each word, as int32."""
    array = np.asarray(heads)
    if array.shape not in ((words,), (words + 1,)) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"heads of shape {array.shape} and type {array.dtype}",
            expected=f"{words} integers, or {words + 1} with the root's",
        )
    array = array[len(array) - words :]
    if len(array) and (array.min() < -1 or array.max() > words):
        word = int(np.argmax((array < -1) | (array > words)))
        raise InputError(f"head {array[word]}", expected=f"a number from 0 to {words}", token=str(word + 1))
    return array.astype(np.int32)
