"""How likely trees are, in CoNLL-U: arcs and labels in MISC, whole trees in comments."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import exp, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcwise.pipeline.parsed import Trees

_ENTRIES = (b"ArcProb=", b"LabelProb=")


def annotate(data: bytes, trees: Trees) -> bytes:
    """CoNLL-U with what is known of its trees: after a sentence's other comments, and after what else MISC holds of a word.

    Comments and entries of these names that are there already make room; all else stays byte for byte. data: sentences that have
    these trees. O(bytes).
    """
    comments, entries = tree_comments(trees), _word_entries(trees)
    names = {b"tree_prob"} if trees.ranks is None else {b"rank", b"tree_score", b"tree_prob"}
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
    """Names and values of what is known of each tree: its rank and score if it is one of several, and its probability."""
    assert trees.probabilities is not None
    logs = trees.probabilities.logs.tolist()
    ranks = [0] * len(logs) if trees.ranks is None else trees.ranks.tolist()
    for rank, score, logarithm in zip(ranks, trees.scores.tolist(), logs, strict=True):
        known = [("rank", str(rank)), ("tree_score", f"{score:.4f}")] if rank else []
        yield known if isnan(logarithm) else [*known, ("tree_prob", written_probability(logarithm))]


def written_probability(logarithm: float) -> str:
    """A probability in six digits, also one that is too small for a float.

    >>> written_probability(-0.25), written_probability(-2000.0)
    ('0.778801', '2.57654e-869')
    """
    return f"{exp(logarithm) if logarithm > -700 else Decimal(logarithm).exp():.6g}"


def _word_entries(trees: Trees) -> Iterator[bytes] | None:
    """What MISC is to hold of each word; nothing, where nothing is known; None if it was not asked for."""
    assert trees.probabilities is not None
    _, arcs, labels = trees.probabilities
    if arcs is None or labels is None:
        return None
    return (
        b"" if isnan(arc) else b"ArcProb=%.4f|LabelProb=%.4f" % (arc, label)
        for arc, label in zip(arcs.tolist(), labels.tolist(), strict=True)
    )


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
