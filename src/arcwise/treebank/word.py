"""A word of a sentence, and its place in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from arcwise.treebank.sentence import Sentence


class Word:
    """Word number `id` of a sentence: a view, made when asked for, equal to any other of the same sentence object and number.

    >>> from arcwise import Sentence
    >>> heads, labels = [2, 0, 4, 2], ["nsubj", "root", "det", "obj"]
    >>> sentence = Sentence.from_words(["Mary", "saw", "a", "moose"], heads=heads, labels=labels)
    >>> moose = sentence[4]
    >>> moose
    <Word 4 'moose', obj of 2 'saw'>
    >>> moose.head.children
    [<Word 1 'Mary', nsubj of 2 'saw'>, <Word 4 'moose', obj of 2 'saw'>]
    >>> [word.form for word in moose.subtree]
    ['a', 'moose']
    >>> moose.start, moose.end, sentence.text[moose.start : moose.end]
    (11, 16, 'moose')
    """

    __slots__ = ("id", "sentence")

    def __init__(self, sentence: Sentence, id: int) -> None:
        self.sentence, self.id = sentence, id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self.sentence is other.sentence and self.id == other.id

    def __hash__(self) -> int:
        return hash((self.sentence, self.id))

    def __str__(self) -> str:
        return self.form

    def __repr__(self) -> str:
        tag = "" if self.upos == "_" else f" {self.upos}"
        place = "" if self.label == "_" else f", {self.label}"
        if (head := self.head) is not None:
            place = f", {self.label} of {head.id} {head.form!r}"
        return f"<Word {self.id} {self.form!r}{tag}{place}>"

    @property
    def form(self) -> str:
        """The word as it is written."""
        return self.sentence.forms[self.id]

    @property
    def lemma(self) -> str:
        """Its lemma; here and below `_` stands for what is not known."""
        return self.sentence.lemmas[self.id]

    @property
    def upos(self) -> str:
        """Its universal or coarse tag."""
        return self.sentence.upos[self.id]

    @property
    def xpos(self) -> str:
        """Its fine tag."""
        return self.sentence.xpos[self.id]

    @property
    def feats(self) -> str:
        """Its morphological features as they are written, `Case=Nom|Number=Sing`."""
        return self.sentence.feats[self.id]

    @property
    def morph(self) -> dict[str, str]:
        """Its morphological features by name; "" for one that is a name only."""
        if self.feats == "_":
            return {}
        return {name: value for name, _, value in (pair.partition("=") for pair in self.feats.split("|"))}

    @property
    def misc(self) -> str:
        """Its column MISC."""
        return self.sentence.misc[self.id]

    @property
    def label(self) -> str:
        """The label of the arc from its head."""
        return self.sentence.labels[self.id]

    @property
    def head(self) -> Word | None:
        """Its head; None if that is the root, or not known."""
        head = int(self.sentence.heads[self.id])
        return Word(self.sentence, head) if head > 0 else None

    @property
    def children(self) -> list[Word]:
        """The words whose head it is, in order."""
        return [Word(self.sentence, int(id)) for id in np.flatnonzero(self.sentence.heads == self.id)]

    @property
    def subtree(self) -> list[Word]:
        """The word and all below it, in the order of the sentence. O(n) time."""
        children: dict[int, list[int]] = {}
        for id, head in enumerate(self.sentence.heads.tolist()):
            children.setdefault(head, []).append(id)
        found, waiting = {self.id}, [self.id]
        while waiting:
            below = [id for id in children.get(waiting.pop(), ()) if id not in found]
            found.update(below)
            waiting += below
        return [Word(self.sentence, id) for id in sorted(found)]

    @property
    def confidence(self) -> float | None:
        """How sure the parser is of its head, from 0 to 1; None if it did not say."""
        confidences = self.sentence.confidences
        return None if confidences is None else float(confidences[self.id])

    @property
    def start(self) -> int | None:
        """Where it begins in the sentence's text; None if it was not found there. See `Sentence.spans`."""
        span = self.sentence.spans[self.id]
        return None if span is None else span[0]

    @property
    def end(self) -> int | None:
        """Where it ends in the sentence's text; None if it was not found there. See `Sentence.spans`."""
        span = self.sentence.spans[self.id]
        return None if span is None else span[1]


Span = tuple[int, int]


def find_words(sentence: Sentence) -> list[Span | None]:
    """Where each word stands in the text, entry 0 for the root: None. O(length of the text).

    Tokens are found one after the other, whitespace between them aside; from the first that is not there on all are None. The words
    of a multiword token have its characters in turn if their forms make up its form, else each has its whole span.
    """
    text, forms = sentence.text, sentence.forms
    spans: list[Span | None] = [None] * len(forms)
    ranges = {first: (last, form) for first, last, form, _ in sentence.ranges}
    word, position = 1, 0
    while word < len(forms):
        last, form = ranges.get(word, (word, forms[word]))
        while position < len(text) and text[position].isspace():
            position += 1
        if not text.startswith(form, position):
            break
        apart = "".join(forms[word : last + 1]) == form
        start = position
        for inner in range(word, last + 1):
            end = start + len(forms[inner] if apart else form)
            spans[inner] = start, end
            start = end if apart else start
        word, position = last + 1, position + len(form)
    return spans
