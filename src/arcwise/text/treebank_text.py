"""The raw text of a treebank, and where its tokens, sentences and paragraphs lie in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arcwise.text.characters import WIDE, characters
from arcwise.treebank.block import Block


class Token(NamedTuple):
    """A token of a treebank: where it lies in the text, and its words if it is more than one."""

    start: int
    stop: int
    words: tuple[str, ...]


class TreebankText(NamedTuple):
    """text: paragraphs separated by a blank line. tokens: in order. sentences: the index of each one's last token."""

    text: str
    tokens: list[Token]
    sentences: list[int]


def treebank_text(blocks: Sequence[Block]) -> TreebankText | None:
    """The text of a treebank with `# text` or SpaceAfter=No, or of a script written without spaces; None for any other.

    Within a paragraph (from `# newpar` or `# newdoc` to the next) sentences are separated by a space.
    """
    sentences = [_tokens(block[i].to_bytes().decode()) for block in blocks for i in range(len(block))]
    spaceless = False
    if not any(spaced for _, _, spaced in sentences):
        sample = "".join(form for tokens, _, _ in sentences[:200] for form, _, _ in tokens)
        codes = np.frombuffer(sample.encode("utf-32-le"), np.int32)
        spaceless = bool(np.mean(characters(codes).classes[codes] == WIDE) > 0.5) if len(codes) else False
        if not spaceless:
            return None
    pieces: list[str] = []
    tokens: list[Token] = []
    ends: list[int] = []
    at = 0
    for forms, new_paragraph, _ in sentences:
        if pieces:
            gap = "\n\n" if new_paragraph else "" if spaceless else " "
            if pieces[-1] == " ":
                at -= 1
                pieces.pop()
            pieces.append(gap)
            at += len(gap)
        for form, words, space in forms:
            tokens.append(Token(at, at + len(form), words))
            pieces.append(form)
            at += len(form)
            if space and not spaceless:
                pieces.append(" ")
                at += 1
        ends.append(len(tokens) - 1)
    return TreebankText("".join(pieces).removesuffix(" "), tokens, ends)


def _tokens(sentence: str) -> tuple[list[tuple[str, tuple[str, ...], bool]], bool, bool]:
    """Form, words and whether a space follows of each token; whether a paragraph begins; whether spaces are known."""
    text, new_paragraph, spaced = "", False, False
    tokens: list[tuple[str, list[str], bool]] = []
    last = 0
    for line in sentence.split("\n"):
        if line.startswith("#"):
            new_paragraph |= bool(re.match(r"#\s*new(par|doc)\b", line))
            if match := re.match(r"#\s*text\s*=\s*(.*)", line):
                text, spaced = match[1], True
        elif line:
            columns = line.split("\t")
            identity, form, misc = columns[0], columns[1], columns[-1]
            if "." in identity:
                continue
            no_space = "SpaceAfter=No" in misc.split("|")
            if "-" in identity:
                last = int(identity.split("-")[1])
                tokens.append((form, [], not no_space))
                spaced |= no_space
            elif int(identity) <= last:
                tokens[-1][1].append(form)
            else:
                tokens.append((form, [], not no_space))
                spaced |= no_space
    if text:
        at = 0
        aligned = []
        for form, words, _ in tokens:
            if not text.startswith(form, at):
                break
            at += len(form)
            stop = at
            while at < len(text) and text[at].isspace():
                at += 1
            aligned.append((form, words, at > stop or at == len(text)))
        else:
            tokens = aligned
    return [(form, tuple(words), space) for form, words, space in tokens], new_paragraph, spaced
