"""Trees for Graphviz."""

from __future__ import annotations

from arcwise.draw.relations import COLOURS, group_of
from arcwise.draw.text import visible
from arcwise.treebank.sentence import Sentence


def dot(sentence: Sentence) -> str:
    r"""The tree as a directed graph in Graphviz's language, the root at the top, dependents in the order of the sentence.

    >>> print(dot(Sentence.from_words(['"Go"', "on"], heads=[0, 1], labels=["root", "advmod"])), end="")
    digraph {
      graph [ordering=out]
      node [shape=plain, fontname="Helvetica"]
      edge [fontname="Helvetica", fontsize=10]
      0 [label="root", fontcolor="#c2185b"]
      1 [label="\"Go\""]
      2 [label="on"]
      0 -> 1 [label="root", color="#c2185b", fontcolor="#c2185b"]
      1 -> 2 [label="advmod", color="#c8590a", fontcolor="#c8590a"]
    }
    """
    lines = [
        "digraph {",
        "  graph [ordering=out]",
        '  node [shape=plain, fontname="Helvetica"]',
        '  edge [fontname="Helvetica", fontsize=10]',
    ]
    heads, labels = sentence.heads.tolist(), sentence.labels
    if 0 in heads:
        lines.append(f'  0 [label="root", fontcolor="{COLOURS["root"][1]}"]')
    for word, (form, tag) in enumerate(zip(sentence.forms, sentence.upos, strict=True)):
        if word:
            below = "" if tag == "_" else "\\n" + _escape(tag)
            lines.append(f'  {word} [label="{_escape(form)}{below}"]')
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head >= 0:
            colour = COLOURS[group_of(label)][1]
            lines.append(
                f'  {head} -> {word} [label="{_escape(label)}", color="{colour}", fontcolor="{colour}"]'
            )
    return "\n".join([*lines, "}", ""])


def _escape(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
