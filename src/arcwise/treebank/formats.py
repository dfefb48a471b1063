"""The four column formats, as data: which column plays which role, and what else a file may hold."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from arcwise.errors import InputError

# The roles a column can play; blocks index their words' columns in this order.
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)


@dataclass(frozen=True, slots=True)
class Format:
    """A column format.

    columns: the names of its columns. roles: the column of each role in the order ID, FORM, LEMMA, UPOS,
    XPOS, FEATS, HEAD, DEPREL; -1 if there is none. minimum: the fewest columns a line may have. more_columns:
    whether a sentence may have another number of columns, the same on all its lines. final_blank_line:
    whether the last sentence must end in one too.
    """

    name: str
    columns: tuple[str, ...]
    roles: tuple[int, int, int, int, int, int, int, int]
    minimum: int
    more_columns: bool = False
    comments: bool = False
    ranges: bool = False
    empty_nodes: bool = False
    final_blank_line: bool = False

    @property
    def misc(self) -> int:
        """The column MISC, or -1."""
        return self.columns.index("MISC") if "MISC" in self.columns else -1


CONLLU = Format(
    name="conllu",
    columns=("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"),
    roles=(0, 1, 2, 3, 4, 5, 6, 7),
    minimum=10,
    comments=True,
    ranges=True,
    empty_nodes=True,
    final_blank_line=True,
)
CONLLX = Format(
    name="conllx",
    columns=("ID", "FORM", "LEMMA", "CPOSTAG", "POSTAG", "FEATS", "HEAD", "DEPREL", "PHEAD", "PDEPREL"),
    roles=(0, 1, 2, 3, 4, 5, 6, 7),
    minimum=10,
)
CONLL2008 = Format(
    name="conll2008",
    columns=(
        *("ID", "FORM", "LEMMA", "GPOS", "PPOS", "SPLIT_FORM", "SPLIT_LEMMA", "PPOSS"),
        *("HEAD", "DEPREL", "PRED"),
    ),
    roles=(0, 5, 6, 7, 7, -1, 8, 9),
    minimum=10,
    more_columns=True,
)
CONLL2009 = Format(
    name="conll2009",
    columns=(
        *("ID", "FORM", "LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT"),
        *("HEAD", "PHEAD", "DEPREL", "PDEPREL", "FILLPRED", "PRED"),
    ),
    roles=(0, 1, 2, 4, 4, 6, 8, 10),
    minimum=12,
    more_columns=True,
)
FORMATS = {format.name: format for format in (CONLLU, CONLLX, CONLL2008, CONLL2009)}


def format_named(name: str) -> Format:
    """The format of this name, or an InputError that lists the names."""
    if name not in FORMATS:
        raise InputError(f"format {name!r}", expected=f"one of {', '.join(FORMATS)}")
    return FORMATS[name]


_SPACED = re.compile(rb"\d+( +\S+){5} +(\d+|_)( +\S+){3}\s*$")  # ten columns, HEAD the seventh


def looks_like_columns(head: bytes, name: str) -> bool:
    r"""Whether a file that begins with the bytes `head` and is called `name` holds columns, well or badly made, and not plain text.

    >>> looks_like_columns(b"1\tAh\tah\tINTJ\t_\t_\t0\troot\t_\t_\n\n", "-"), looks_like_columns(b"Ah! 1 2", "-")
    (True, False)
    """
    name = Path(name).name.lower()
    if ".conll" in name or ".txt" in name:
        return ".conll" in name
    lines = [line for line in head.split(b"\n")[:100] if line.strip() and not line.startswith(b"#")]
    return any(line.count(b"\t") >= 7 or _SPACED.match(line) for line in lines)


def recognise(head: bytes, name: str) -> Format:
    r"""The format of a file that begins with the bytes `head` and is called `name`.

    The content decides: the number of columns, then comments, ranges and empty nodes (CoNLL-U), then whether
    a number or a label follows HEAD (PHEAD of CoNLL-2009, DEPREL of CoNLL-2008). Ten plain columns are
    CoNLL-X unless the name says `.conllu`. Damage inside a file is not judged here: the reader names it and
    its line.

    >>> recognise(b"1\tAh\tah\tINTJ\t_\t_\t0\troot\t_\t_\n\n", "-").name
    'conllx'
    >>> recognise(b"# text = Ah\n1\tAh\tah\tINTJ\t_\t_\t0\troot\t_\t_\n\n", "-").name
    'conllu'
    """
    lines = [line.removesuffix(b"\r") for line in head.split(b"\n")]
    if ".conllu" in name.lower() or len(lines) == 1:  # without a whole line there is nothing to judge by
        return CONLLU
    rows = [line.split(b"\t") for line in lines[:-1] if line and not line.startswith(b"#")]
    comments = any(line.startswith((b"#", b"\xef\xbb\xbf#")) for line in lines)
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    if width <= 10 and comments:
        return CONLLU
    if width == 10:
        return CONLLX if all(row[0].isdigit() for row in rows if len(row) == 10) else CONLLU
    if width < 10:
        spaces = " separated by spaces" if rows and max(len(row[0].split()) for row in rows) >= 8 else ""
        raise InputError(
            f"no known format: most lines have {width} column{'s' * (width != 1)}{spaces}",
            expected="10 tab-separated columns (CoNLL-U, CoNLL-X) or more (CoNLL-2008, CoNLL-2009)",
            file=name,
        )
    after_head = [row[9] for row in rows if len(row) > 9]
    if width >= CONLL2009.minimum and all(value.isdigit() or value == b"_" for value in after_head):
        return CONLL2009
    return CONLL2008
