"""What the tagger computes, as its definitions say: slowly, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from arcwise.arrays import Arrays
from arcwise.tagging.lemmas import LONGEST_SUFFIX
from arcwise.tagging.spelling import CLUSTER, LONGEST_AFFIX, TAGS
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.templates import compile_templates
from arcwise.treebank.block import FORM, Block, index_block
from arcwise.treebank.formats import CONLLU

LETTERS = 64  # that are looked at
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def block_of(sentences: Sequence[Sequence[str]]) -> Block:
    """A block of untagged sentences."""
    lines = [
        f"{number}\t{word}" + "\t_" * 8 + "\n" * (1 + (number == len(words)))
        for words in sentences
        for number, word in enumerate(words, 1)
    ]
    block, errors = index_block("".join(lines).encode(), CONLLU)
    assert not errors
    return block


def lower(word: str) -> str:
    """Letters of alphabets with case, one by one."""
    return "".join(c.lower() if ord(c) < 0x600 and len(c.lower()) == 1 else c for c in word)


def capitalised(word: str) -> str:
    """In lower case but for the first letter."""
    low = lower(word)
    upper = low[0].upper() if ord(low[0]) < 0x600 and len(low[0].upper()) == 1 else low[0]
    return upper + low[1:]


def kind(letter: str) -> str:
    if ord(letter) >= 0x600:
        return "letter"
    for name in ("upper", "lower", "digit", "alpha"):
        if getattr(letter, f"is{name}")():
            return name.replace("alpha", "letter")
    return letter


def seen(word: str) -> str:
    """What is looked at of a word: its last letters, and a smiley for any emoji."""
    word = word[-LETTERS:]
    emoji = 0x2600 <= ord(word[0]) < 0x27C0 or 0x1F000 <= ord(word[0]) < 0x1FB00
    return ":)" if emoji else word


def shape(word: str) -> tuple[str, ...]:
    """At most two of the same kind in a row, and eight in all."""
    kinds = [kind(letter) for letter in word]
    return tuple(k for i, k in enumerate(kinds) if kinds[max(0, i - 2) : i] != [k, k])[:8]


def spelling(word: str) -> list[Hashable]:
    """Names of FORM, LOWER, the suffixes, the prefixes and SHAPE; None where the word is too short."""
    word = seen(word)
    plain = "".join("0" if kind(letter) == "digit" else letter for letter in lower(word))
    sizes = range(1, LONGEST_AFFIX + 1)
    suffixes = [plain[-size:] if size <= len(plain) else None for size in sizes]
    prefixes = [plain[:size] if size <= len(plain) else None for size in sizes]
    return [word, plain, *suffixes, *prefixes, shape(word)]


def style(words: Sequence[str]) -> int:
    """How a sentence uses capitals, and whether it asks."""
    kinds = [[kind(letter) for letter in seen(word)] for word in words]
    capitalised = sum(k[0] == "upper" for k in kinds)
    shouted = sum(k[:2] == ["upper", "upper"] for k in kinds)
    small = sum(k[0] == "lower" for k in kinds)
    if shouted > 2 and shouted > small:
        found = 2
    elif capitalised > 2 and capitalised / (capitalised + small) > 0.6:
        found = 3
    else:
        found = int(capitalised > 0)
    return 2 * found + ("?" in words[-2:])


def scramble(x: int) -> int:
    """MurmurHash3's finaliser."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    x = (x ^ (x >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ (x >> 16)


def tag(tagger: Tagger, spelled: np.ndarray, lists: Sequence[Sequence[int]]) -> list[int]:
    """The tags of one sentence, word by word. lists: the tags that each word may have."""
    table, bits = tagger.arrays["table"].tolist(), tagger.header["bits"]
    templates = compile_templates(tagger.header["templates"]).tolist()
    parts, history = tagger.tagset.parts.tolist(), tagger.tagset.history.tolist()
    rows = spelled.tolist()
    tags: list[int] = []
    for word in range(len(rows)):
        features = []
        for number, template in enumerate(templates):
            x = number
            for place, (attribute, offset) in enumerate(template):
                if attribute < 0:
                    break
                at = word + offset
                if at < 0 or at >= len(rows):
                    value = 1 if at < 0 else 2
                elif TAGS <= attribute < CLUSTER:
                    value = history[tags[at]][attribute - TAGS]
                else:
                    value = rows[at][attribute]
                x = scramble((x + value * 0x9E3779B1 + 8 * attribute + place) & 0xFFFFFFFF)
            features.append(x >> (32 - bits))
        scores = {
            name: sum(table[feature + part] for part in parts[name] if part >= 0 for feature in features)
            for name in lists[word]
        }
        tags.append(max(scores, key=lambda name: scores[name]))  # the first of equals
    return tags


def lemma(arrays: Arrays, form: str, fine: int) -> str:
    """By the rule of the longest known suffix."""
    rules = dict(zip(arrays["lemmas.keys"].tolist(), arrays["lemmas.numbers"].tolist(), strict=True))
    if len(form) >= LETTERS:
        return form
    low, found = lower(form), None
    x = _fnv(_FNV_BASIS, fine)
    for length in range(len(low) + 1):
        if length:
            x = _fnv(x, ord(low[-length]))
        if length <= LONGEST_SUFFIX:
            found = rules.get(x | 1, found)
    found = rules.get(_fnv(x, 0xFFFFFFFF) | 1, found)
    if found is None or arrays["lemmas.cut"][found] > len(form):
        return form
    begin, end = arrays["lemmas.first"][found : found + 2]
    beginning = (low, form, capitalised(form))[arrays["lemmas.cases"][found]]
    kept = beginning[: len(form) - int(arrays["lemmas.cut"][found])]
    return (kept + "".join(map(chr, arrays["lemmas.letters"][begin:end]))) or form


def _fnv(x: int, value: int) -> int:
    return (x ^ value) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF


def forms(block: Block) -> list[list[str]]:
    """The words of each sentence."""
    column = block.column(FORM)
    return [column[a:b] for a, b in zip(block.words[:-1], block.words[1:], strict=True)]
