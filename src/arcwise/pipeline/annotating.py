"""How likely trees are, in CoNLL-U: arcs and labels in MISC, whole trees in comments.

What is written keeps the order of what is known: probabilities of trees are rounded down, those of arcs and labels up. So no tree
is written to be likelier than its arcs and labels, and different trees of a sentence never have more than 1 together.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_DOWN, Context, Decimal
from math import ceil, exp, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcwise.pipeline.parsed import Trees

_ENTRIES = (b"ArcProb=", b"ArcProbError=", b"LabelProb=")
_DOWN = Context(prec=6, rounding=ROUND_DOWN)


def annotate(data: bytes, trees: Trees) -> bytes:
    """CoNLL-U with what is known of its trees: after a sentence's other comments, and after what else MISC holds of a word.

    Comments and entries of these names that are there already make room; all else stays byte for byte. data: sentences that have
    these trees. O(bytes).
    """
    comments, entries = tree_comments(trees), _word_entries(trees)
    names = {b"tree_prob", b"tree_prob_error"} | (set() if trees.ranks is None else {b"rank", b"tree_score"})
    lines: list[bytes] = []
    before_words = True
    for line in data.split(b"\n"):
        if line.startswith(b"#"):
            name, equals, _ = line[1:].partition(b"=")
            if not (equals and name.strip() in names):
                lines.append(line)
            continue
        if line and before_words:
            lines += [f"# {name} = {value}".encode() for name, value in next(comments)]
        before_words = not line
        if entries is not None and line.partition(b"\t")[0].isdigit():
            line = _with_entries(line, next(entries))
        lines.append(line)
    return b"\n".join(lines)


def tree_comments(trees: Trees) -> Iterator[list[tuple[str, str]]]:
    """Names and values of what is known of each tree: its rank and score if it is one of several, and its probability, with its
    standard error if it is estimated.
    """
    assert trees.probabilities is not None
    logs, errors = trees.probabilities.logs.tolist(), trees.probabilities.errors
    ranks = [0] * len(logs) if trees.ranks is None else trees.ranks.tolist()
    known_errors = [None] * len(logs) if errors is None else errors.tolist()
    for rank, score, logarithm, error in zip(ranks, trees.scores.tolist(), logs, known_errors, strict=True):
        known = [("rank", str(rank)), ("tree_score", f"{score:.4f}")] if rank else []
        if not isnan(logarithm):
            known.append(("tree_prob", written_probability(logarithm)))
            known += [] if error is None else [("tree_prob_error", f"{error:.2g}")]
        yield known


def written_probability(logarithm: float) -> str:
    """A probability in six digits, rounded down, also one that is too small for a float.

    >>> written_probability(-0.25), written_probability(-2000.0)
    ('0.7788', '2.57653e-869')
    """
    exactly = Decimal(exp(logarithm)) if logarithm > -700 else Decimal(logarithm).exp()
    return f"{_DOWN.create_decimal(exactly).normalize():.6g}".replace("e+0", "")


def _word_entries(trees: Trees) -> Iterator[bytes] | None:
    """What MISC is to hold of each word; nothing, where nothing is known; None if it was not asked for."""
    assert trees.probabilities is not None
    _, arcs, labels, _, errors = trees.probabilities
    if arcs is None or labels is None:
        return None
    of_labels = labels.tolist()
    if errors is None:
        return (
            b"" if isnan(arc) else b"ArcProb=%.4f|LabelProb=%.4f" % (_up(arc), _up(label))
            for arc, label in zip(arcs.tolist(), of_labels, strict=True)
        )
    return (
        b""
        if isnan(arc)
        else b"ArcProb=%.4f|ArcProbError=%.4f|LabelProb=%.4f" % (_up(arc), _up(error), _up(label))
        for arc, error, label in zip(arcs.tolist(), errors.tolist(), of_labels, strict=True)
    )


def _up(probability: float) -> float:
    """The probability in four digits, rounded up.

    >>> _up(0.25), _up(0.250001), _up(0.9999), _up(1e-9)
    (0.25, 0.2501, 0.9999, 0.0001)
    """
    return ceil(1e4 * probability - 1e-6) / 1e4


def _with_entries(line: bytes, entries: bytes) -> bytes:
    r"""A line of CoNLL-U with these entries at the end of MISC.

    >>> _with_entries(b"1\t...\tArcProb=0.1000|SpaceAfter=No", b"ArcProb=0.9731")
    b'1\t...\tSpaceAfter=No|ArcProb=0.9731'
    """
    others, _, misc = line.rpartition(b"\t")
    if b"Prob=" in misc:
        misc = b"|".join(entry for entry in misc.split(b"|") if not entry.startswith(_ENTRIES)) or b"_"
    if entries:
        misc = entries if misc == b"_" else misc + b"|" + entries
    return others + b"\t" + misc
