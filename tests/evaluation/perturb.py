"""A system's output, made by spoiling a gold file at random: trees, tags, lemmas, words and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)


@dataclass(eq=False)
class Word:
    columns: list[str]
    head: Word | None = None


@dataclass(eq=False)
class Token:
    form: str
    words: list[Word] = field(default_factory=list)
    is_range: bool = False


Sentence = list[Token]


def read(text: str) -> list[Sentence]:
    sentences = []
    for block in text.strip("\n").split("\n\n"):
        sentence: Sentence = []
        words: list[Word] = []
        left = 0  # words of the range that are still to come
        for line in block.split("\n"):
            columns = line.split("\t")
            if line.startswith("#") or "." in columns[ID]:
                continue
            if "-" in columns[ID]:
                first, last = map(int, columns[ID].split("-"))
                left = last - first + 1
                sentence.append(Token(columns[FORM], is_range=True))
                continue
            if left:
                left -= 1
            else:
                sentence.append(Token(columns[FORM]))
            words.append(Word(columns))
            sentence[-1].words.append(words[-1])
        for word in words:
            head = int(word.columns[HEAD])
            word.head = words[head - 1] if head else None
        sentences.append(sentence)
    return sentences


def write(sentences: list[Sentence]) -> str:
    lines = []
    for sentence in sentences:
        words = [word for token in sentence for word in token.words]
        heads = _single_root_tree(words)
        number = 0
        for token in sentence:
            if token.is_range:
                lines.append(
                    "\t".join([f"{number + 1}-{number + len(token.words)}", token.form, *"________"])
                )
            for word in token.words:
                number += 1
                form = word.columns[FORM] if token.is_range else token.form
                head = str(heads[number - 1])
                columns = [str(number), form, *word.columns[LEMMA:HEAD], head, word.columns[DEPREL], "_", "_"]
                lines.append("\t".join(columns))
        lines.append("")
    return "\n".join(lines) + "\n"


def _single_root_tree(words: list[Word]) -> list[int]:
    """Heads by number; what is in a cycle or has its head in another sentence goes below the root's word."""
    number = {id(word): position for position, word in enumerate(words, 1)}
    root = next((word for word in words if word.head is None), words[0])
    heads = {id(word): root if id(word.head) not in number else word.head for word in words}
    for word in words:
        at, seen = word, set()
        while at is not root and id(at) not in seen:
            seen.add(id(at))
            at = heads[id(at)]  # type: ignore[assignment]
        if at is not root:
            heads[id(at)] = root
    return [0 if word is root else number[id(heads[id(word)])] for word in words]


def spoil(sentences: list[Sentence], random: Random, *, retokenise: bool) -> list[Sentence]:
    """Change about one word in ten in each respect, in place."""
    labels = [
        "nsubj",
        "obj",
        "obl",
        "aux",
        "aux:pass",
        "det",
        "case",
        "punct",
        "acl:relcl",
        "nsubj:pass",
        "root",
    ]
    for sentence in sentences:
        words = [word for token in sentence for word in token.words]
        for word in words:
            if random.random() < 0.1:
                word.head = random.choice(words)
            if random.random() < 0.1:
                word.columns[DEPREL] = random.choice(labels)
            for column in (LEMMA, UPOS, XPOS, FEATS):
                if random.random() < 0.05:
                    word.columns[column] = random.choice(words).columns[column]
    if not retokenise:
        return sentences
    result: list[Sentence] = []
    for sentence in sentences:
        changed = _retokenise(sentence, random)
        if result and random.random() < 0.1:
            result[-1].extend(changed)
        elif len(changed) > 1 and random.random() < 0.1:
            cut = random.randrange(1, len(changed))
            result += [changed[:cut], changed[cut:]]
        else:
            result.append(changed)
    return result


def _retokenise(sentence: Sentence, random: Random) -> Sentence:
    result: Sentence = []
    for token in sentence:
        size = len(token.form)
        chance = random.random()
        if chance < 0.05 and size > 1:  # two tokens
            cut = random.randrange(1, size)
            first = token.words[0]
            second = Word(list(first.columns), first)
            result += [Token(token.form[:cut], [first]), Token(token.form[cut:], [second])]
        elif chance < 0.10 and result:  # one token with the one before it
            result[-1] = Token(result[-1].form + token.form, [token.words[0]])
        elif chance < 0.15:  # a range, of more words than there may be letters
            first = Word(list(token.words[0].columns), token.words[0].head)
            second = Word(list(first.columns), first)
            cut = random.randrange(size + 1)
            first.columns[FORM] = token.form[:cut].upper() or "x"
            second.columns[FORM] = token.form[cut:] or token.words[-1].columns[FORM]
            result.append(Token(token.form, [first, second, *token.words[1:]], is_range=True))
        elif chance < 0.20 and token.is_range:  # the range's words as tokens, or one word
            forms = [word.columns[FORM] for word in token.words]
            if "".join(forms) == token.form:
                result += [Token(word.columns[FORM], [word]) for word in token.words]
            else:
                result.append(Token(token.form, token.words[:1]))
        else:
            result.append(token)
    return result
