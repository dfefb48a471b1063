"""Trees for papers: LaTeX with the package tikz-dependency."""

from __future__ import annotations

from collections.abc import Iterable

from arcwise.draw.text import visible
from arcwise.treebank.sentence import Sentence

DOCUMENT_BEGIN = r"""% pdflatex will do for Latin script; for others use lualatex and name a font that has the script below.
\documentclass[border=6pt, multi=dependency]{standalone}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
% \setmainfont{Noto Serif CJK SC}
\usepackage{tikz-dependency}
\begin{document}
"""
DOCUMENT_END = "\\end{document}\n"

_PACKAGES = "% needs \\usepackage{tikz-dependency}\n"
_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "%$#_{}"},
        **{character: f"{{{character}}}" for character in "[]-'`,"},  # no options, no ligatures
        "&": r"\char38{}",  # \& separates words here
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\char34{}",
    }
)


def latex(sentence: Sentence) -> str:
    r"""The tree as a `dependency` environment, everything escaped. Words are in their logical order.

    >>> sentence = Sentence.from_words(["R&D", "grew"], heads=[2, 0], labels=["nsubj", "root"])
    >>> print(latex(sentence), end="")
    % needs \usepackage{tikz-dependency}
    \begin{dependency}[theme=simple, label style={font=\footnotesize}]
      \begin{deptext}[column sep=1em]
        R\char38{}D \& grew \\
      \end{deptext}
      \depedge{2}{1}{nsubj}
      \deproot{2}{root}
    \end{dependency}
    """
    return _PACKAGES + dependency(sentence)


def latex_document(sentences: Iterable[Sentence]) -> str:
    """A document that compiles as it is, one page a sentence."""
    return "".join([DOCUMENT_BEGIN, *map(dependency, sentences), DOCUMENT_END])


def dependency(sentence: Sentence) -> str:
    """The environment alone."""
    heads, labels = sentence.heads.tolist(), sentence.labels
    rows = [sentence.forms[1:]]
    if any(tag != "_" for tag in sentence.upos[1:]):
        rows.append(sentence.upos[1:])
    lines = [
        "\\begin{dependency}[theme=simple, label style={font=\\footnotesize}]",
        "  \\begin{deptext}[column sep=1em]",
    ]
    lines += ["    " + " \\& ".join(map(_escape, row)) + " \\\\" for row in rows]
    lines.append("  \\end{deptext}")
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head > 0:
            lines.append(f"  \\depedge{{{head}}}{{{word}}}{{{_escape(label)}}}")
        elif word and head == 0:
            lines.append(f"  \\deproot{{{word}}}{{{_escape(label)}}}")
    return "\n".join([*lines, "\\end{dependency}", ""])


def _escape(text: str) -> str:
    return visible(text).translate(_ESCAPES)
