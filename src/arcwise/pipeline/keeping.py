"""Trees that are partly given: what the columns HEAD and DEPREL of a block say, and whether a tree can have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.parts.arcs import ANY_HEAD, ANY_WORD
from arcwise.pipeline.sentences import ANY_LABEL
from arcwise.treebank.block import DEPREL, ID, Block

_NAMED = 12  # words or arcs in a message


class Kept(NamedTuple):
    """What is given of the trees of a block, by word.

    heads: int32, word numbers within the sentence, ANY_HEAD, or ANY_WORD where the label given is never that of a root. labels:
    int32, indices into `names`, or ANY_LABEL. names: the model's labels, and after them those of the block that it does not know.
    """

    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    names: tuple[str, ...]


def keep_nothing(block: Block, names: tuple[str, ...]) -> Kept:
    """All is to be found."""
    words = len(block.heads)
    return Kept(np.full(words, ANY_HEAD, np.int32), np.full(words, ANY_LABEL, np.int32), names)


def read_kept(block: Block, names: tuple[str, ...], allowed: NDArray[np.bool_]) -> Kept:
    r"""What the block says of its trees, where it says more than `_`. O(words).

    A label tells of the head, where none is given: if the model knows it from the root only, the head is the root; if from words
    only, it is not. allowed: (2, names), the labels that an arc from the root and from a word may have.

    >>> from arcwise.treebank.block import index_block
    >>> from arcwise.treebank.formats import CONLLU
    >>> text = b"1\tGo\t_\t_\t_\t_\t_\troot\t_\t_\n2\ton\t_\t_\t_\t_\t1\t_\t_\t_\n3\t!\t_\t_\t_\t_\t_\tfoo:bar\t_\t_\n\n"
    >>> kept = read_kept(index_block(text, CONLLU)[0], ("dep", "root"), np.array([[False, True], [True, False]]))
    >>> kept.heads.tolist(), kept.labels.tolist(), kept.names
    ([0, 1, -1], [1, -1, 2], ('dep', 'root', 'foo:bar'))
    """
    given = block.column(DEPREL)
    unknown = dict.fromkeys(given).keys() - {*names, "_"}
    if unknown:
        names = (*names, *sorted(unknown))
    numbers = {name: number for number, name in enumerate(names)} | {"_": ANY_LABEL}
    labels = np.array([numbers[label] for label in given], np.int32)
    implied = np.full(len(names) + 1, ANY_HEAD, np.int32)  # the last is for ANY_LABEL
    from_root, from_word = allowed
    implied[: len(from_root)][from_root & ~from_word] = 0
    implied[: len(from_root)][from_word & ~from_root] = ANY_WORD
    return Kept(np.where(block.heads == ANY_HEAD, implied[labels], block.heads), labels, names)


def contradiction(block: Block, sentence: int, kept: Kept, single_root: bool) -> InputError | None:
    """Why no tree of the sentence has what is kept of it, or None if one has.

    There are three reasons: a cycle, several roots where there must be one, or no word that may be the root. Where there is none of
    them, a tree exists: all words whose head is not given can hang on the root's word. O(n) time and memory.
    """
    begin, end = block.words[sentence : sentence + 2].tolist()
    heads = [ANY_HEAD, *kept.heads[begin:end].tolist()]
    roots = [word for word, head in enumerate(heads) if head == 0]
    cycle = next(cycles(heads), None)
    if cycle is not None:
        arcs = _join([f"{word} <- {heads[word]}" for word in cycle])
        words, found, expected = cycle, f"the kept arcs {arcs} form a cycle", "arcs that a tree can have"
    elif single_root and len(roots) > 1:
        words, found, expected = roots, f"words {_join(roots)} are kept as roots", "one root"
    elif not roots and ANY_HEAD not in heads[1:]:
        words = [word for word, head in enumerate(heads) if head == ANY_WORD]
        labels = [f"{word} ({kept.names[kept.labels[begin + word - 1]]})" for word in words]
        found = f"no word can be the root: the kept labels of words {_join(labels)} are never a root's"
        expected = "a word with another label, or with HEAD 0"
    else:
        return None
    return InputError(
        found,
        expected=expected,
        file=block.file or None,
        line=_line(block, sentence, begin + words[0] - 1),
        token=str(words[0]),
    )


def cycles(heads: Sequence[int]) -> Iterator[list[int]]:
    """The cycles among heads of which some are unknown: lists of words, the smallest first, then always the head of the one before.

    O(n). heads[word] < 0 is unknown, heads[0] is not read.

    >>> list(cycles([-1, 3, 0, 4, 1, -1, 5]))
    [[1, 3, 4]]
    """
    reached_from = [0] * len(heads)
    for start in range(1, len(heads)):
        word = start
        while word > 0 and reached_from[word] == 0:
            reached_from[word] = start
            word = heads[word]
        if word > 0 and reached_from[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            first = cycle.index(min(cycle))
            yield cycle[first:] + cycle[:first]


def _line(block: Block, sentence: int, row: int) -> int:
    """The line of its file on which the word of this row stands."""
    text = block.data[block.sentence_bytes[sentence] : block.starts[row, ID]].tobytes()
    return int(block.lines[sentence]) + text.lstrip(b"\n").count(b"\n")


def _join(items: list[int] | list[str]) -> str:
    shown = [str(item) for item in items]
    return ", ".join(shown if len(shown) <= _NAMED else [*shown[: _NAMED - 1], "...", shown[-1]])
