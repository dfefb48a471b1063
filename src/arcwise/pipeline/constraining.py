"""People's constraints on the trees of a block: whose they are, which trees violate them, and why no tree satisfies them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints import (
    AtMostOne,
    Compiled,
    Constraint,
    compile_constraints,
    from_misc,
)
from arcwise.constraints.conflict import explain_conflict, smallest_conflict
from arcwise.constraints.reading import KEYS, as_constraints
from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD
from arcwise.pipeline.constrained_sentences import Given, TreeFinder, tree_of_matrix
from arcwise.pipeline.group_sentences import MOST_GROUPS
from arcwise.pipeline.sentences import ANY_LABEL
from arcwise.treebank.block import FORM, UPOS, XPOS, Block
from arcwise.treebank.sentence import Sentence

_NAMED = 6  # words of a sentence
_SAID = re.compile(rb"[\t|](?:%s)=" % b"|".join(key.encode() for key in KEYS))  # in the column MISC, perhaps
Constraints = Iterable[Constraint | str | Iterable[Constraint | str]]
Ints = NDArray[np.int32]


def constraints_of(block: Block, constraints: Constraints, keep: bool) -> list[tuple[Constraint, ...]]:
    """The constraints on each sentence: those given for all of them or for each, and with `keep` those of the column MISC.

    >>> from arcwise.treebank.formats import CONLLU
    >>> from arcwise.treebank.block import index_block
    >>> block, _ = index_block(b"1\\tGo\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\tLeaf=Yes\\n\\n", CONLLU)
    >>> [list(map(str, each)) for each in constraints_of(block, ["root 1"], True)]
    [['root 1', 'leaf 1']]
    """
    items: list[Any] = [constraints] if isinstance(constraints, str | Constraint) else list(constraints)
    if items and all(isinstance(item, list | tuple) for item in items):
        if len(items) != len(block):
            raise InputError(f"constraints for {len(items)} sentences", expected=f"for each of {len(block)}")
        each = [tuple(as_constraints(item)) for item in items]
    else:
        each = [tuple(as_constraints(items))] * len(block)
        if not keep:
            return each
    if keep:
        each = [own + _from_misc(Sentence(block, i)) for i, own in enumerate(each)]
    same: dict[tuple[Constraint, ...], tuple[Constraint, ...]] = {}
    return [
        same.setdefault(own, own) for own in each
    ]  # equal ones are one object, so that nobody need compare them


def _from_misc(sentence: Sentence) -> tuple[Constraint, ...]:
    if not _SAID.search(sentence.to_bytes()):
        return ()
    try:
        return tuple(
            constraint for word, misc in enumerate(sentence.misc) for constraint in from_misc(word, misc)
        )
    except InputError as error:
        raise _located(error, sentence.file, sentence.line or None) from None


def _located(error: InputError, file: str, line: int | None) -> InputError:
    return InputError(error.found, expected=error.expected, file=file or None, line=line, token=error.token)


def compile_for(
    block: Block, sentence: int, constraints: Sequence[Constraint], names: tuple[str, ...]
) -> Compiled:
    """What the constraints mean for a sentence; InputError with its place for those that mean nothing."""
    begin, end = block.words[sentence : sentence + 2].tolist()
    upos, xpos = block.column(UPOS)[begin:end], block.column(XPOS)[begin:end]
    try:
        return compile_constraints(constraints, end - begin, labels=names, upos=upos, xpos=xpos)
    except InputError as error:
        raise _located(error, block.file, _line(block, sentence)) from None


def violating(
    block: Block, each: list[tuple[Constraint, ...]], names: tuple[str, ...], heads: Ints, labels: Ints
) -> list[int]:
    """The sentences whose trees violate their constraints. heads, labels: by word.

    Groups of labels that hold for all heads are looked at for the whole block at once, other constraints sentence by sentence.
    """
    found = []
    of_sets: dict[int, NDArray[np.bool_] | None] = {}
    bounds = block.words.tolist()
    for i, constraints in enumerate(each):
        if id(constraints) not in of_sets:
            general = all(isinstance(one, AtMostOne) and one.head is None for one in constraints)
            of_sets[id(constraints)] = _crowded(block, constraints, names, heads, labels) if general else None
        crowded = of_sets[id(constraints)]
        if crowded is None:
            words = slice(bounds[i], bounds[i + 1])
            violated = not satisfies(compile_for(block, i, constraints, names), heads[words], labels[words])
        else:
            violated = bool(crowded[i])
        if violated:
            found.append(i)
    return found


def _crowded(
    block: Block, groups: Sequence[Constraint], names: tuple[str, ...], heads: Ints, labels: Ints
) -> NDArray[np.bool_]:
    """Whether a head of each sentence has two dependents of one of these groups."""
    sentence = np.repeat(np.arange(len(block)), np.diff(block.words))
    head = block.words[sentence] + sentence + heads  # a number of its own for every word and root
    crowded = np.zeros(len(block), np.bool_)
    for group in compile_for(block, 0, groups, names).groups:
        member = np.flatnonzero(group[labels])
        member = member[np.argsort(head[member], kind="stable")]
        same = np.flatnonzero(np.diff(head[member]) == 0)
        crowded[sentence[member[same]]] = True
    return crowded


def only_groups(each: list[tuple[Constraint, ...]]) -> bool:
    """Whether all sentences have the same constraints, groups of labels for all heads."""
    return (
        len(each) > 0
        and all(own is each[0] for own in each)
        and 0 < len(each[0]) <= MOST_GROUPS
        and all(isinstance(one, AtMostOne) and one.head is None for one in each[0])
    )


def satisfies(compiled: Compiled, heads: Ints, labels: Ints) -> bool:
    """Whether a tree satisfies constraints; heads and labels of the words 1..n.

    >>> compiled = compile_constraints([AtMostOne("obj")], 3, labels=["root", "obj"])
    >>> tree = np.array([0, 1, 1])
    >>> satisfies(compiled, tree, np.array([0, 1, 0])), satisfies(compiled, tree, np.array([0, 1, 1]))
    (True, False)
    """
    words = np.arange(1, len(heads) + 1)
    if compiled.barred[heads, words].any():
        return False
    if compiled.barred_labels is not None and compiled.barred_labels[heads, words, labels].any():
        return False
    for group, head in zip(compiled.groups, compiled.group_heads.tolist(), strict=True):
        taken = heads[group[labels]]
        taken = taken if head < 0 else taken[taken == head]
        if len(np.unique(taken)) < len(taken):
            return False
    for first, last in compiled.spans.tolist():
        within = heads[first - 1 : last]
        if np.count_nonzero((within < first) | (within > last)) != 1:
            return False
    return True


class _Item(NamedTuple):
    """A constraint, or the head or the label that is given of a word, and how to say it."""

    text: str
    constraint: Constraint | None
    word: int = 0
    head: int = ANY_HEAD
    label: int = ANY_LABEL

    def __str__(self) -> str:
        return self.text


def conflict(
    block: Block, sentence: int, constraints: Sequence[Constraint], names: tuple[str, ...], given: Given, find_tree: TreeFinder
) -> InputError:  # fmt: skip
    """The error to raise if no tree of a sentence satisfies its constraints and has what is given of it: names the fewest to blame.

    given: with the heads and labels that the file gives, and no others. Exact; the time is that of many searches.
    """
    n = len(given.heads) - 1
    items = [_Item(str(constraint), constraint) for constraint in dict.fromkeys(constraints)]
    for word in range(1, n + 1):
        head, label = int(given.heads[word]), int(given.labels[word])
        if head >= 0:
            items.append(_Item(f"HEAD {head} of word {word}", None, word, head=head))
        if label >= 0:
            items.append(_Item(f"DEPREL {names[label]} of word {word}", None, word, label=label))

    def feasible(chosen: Sequence[_Item]) -> bool:
        heads, labels = np.full(n + 1, ANY_HEAD, np.int32), np.full(n + 1, ANY_LABEL, np.int32)
        own = [item.constraint for item in chosen if item.constraint is not None]
        for item in chosen:
            heads[item.word] = max(heads[item.word], item.head)
            labels[item.word] = max(labels[item.word], item.label)
        part = Given(compile_for(block, sentence, own, names), heads, labels, given.allowed)
        return tree_of_matrix(np.zeros((n + 1, n + 1)), part, find_tree) is not None

    culprits = smallest_conflict(items, feasible)
    return InputError(
        f"{explain_conflict(culprits)} (in: {_words(block, sentence)})",
        file=block.file or None,
        line=_line(block, sentence),
    )


def _line(block: Block, sentence: int) -> int | None:
    """Where a sentence begins; None if it is of raw text."""
    return int(block.lines[sentence]) or None


def _words(block: Block, sentence: int) -> str:
    """The first words of a sentence."""
    begin, end = block.words[sentence : sentence + 2].tolist()
    return " ".join(block.column(FORM)[begin : min(end, begin + _NAMED)]) + (
        " ..." if end - begin > _NAMED else ""
    )
