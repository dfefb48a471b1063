"""The treebank that `arcwise bench` reads, parses and trains on: a given one, or one made up on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from arcwise.errors import InputError

_SENTENCES = {"train": 2000, "dev": 200, "test": 500}
_MEAN_LENGTH = 16
_LETTERS = "etaoinshrdlu"
# Of every tag: the end of its words, how many there are, where its head is found, and its label.
_TAGS: dict[str, tuple[str, int, tuple[str, ...], str]] = {
    "NOUN": ("o", 3000, ("VERB",), "obj"),
    "VERB": ("ar", 1000, ("VERB",), "conj"),
    "ADJ": ("ik", 800, ("NOUN",), "amod"),
    "DET": ("a", 8, ("NOUN",), "det"),
    "ADP": ("ys", 25, ("NOUN",), "case"),
    "ADV": ("em", 200, ("VERB", "ADJ"), "advmod"),
}


@dataclass(frozen=True, slots=True)
class BenchTreebank:
    """The files of a treebank; `is_target`: the targets of the figures are stated for it."""

    name: str
    train: Path
    dev: Path | None
    test: Path
    is_target: bool


def find_treebank(folder: str | Path) -> BenchTreebank:
    """The treebank in a folder, whose files' names have train, dev and test before their ending."""
    train, dev, test = (_find(Path(folder), part) for part in ("train", "dev", "test"))
    if train is None or test is None:
        missing = "train" if train is None else "test"
        raise InputError(f"no {missing} file", expected=f"one named like {missing}.conllu", file=str(folder))
    name = Path(folder).resolve().name
    return BenchTreebank(name, train, dev, test, name == "en_ewt")


def _find(folder: Path, part: str) -> Path | None:
    found = sorted(path for path in folder.glob(f"*{part}.*") if path.is_file())
    if len(found) > 1:
        raise InputError(f"{len(found)} files for {part}", expected="one", file=str(folder))
    return found[0] if found else None


def make_treebank(folder: str | Path, seed: int = 0, share: float = 1.0) -> BenchTreebank:
    """Write a treebank of an invented language to a folder; with a smaller share, fewer sentences."""
    paths = {}
    for part, sentences in _SENTENCES.items():
        paths[part] = Path(folder) / f"{part}.conllu"
        text = "".join(make_sentences(max(2, round(share * sentences)), seed=f"{seed} {part}"))
        paths[part].write_text(text, encoding="utf-8")
    return BenchTreebank("generated text", paths["train"], paths["dev"], paths["test"], False)


def make_sentences(count: int, *, seed: str = "0") -> Iterator[str]:
    """Sentences in CoNLL-U, all columns but DEPS filled; every word hangs from the nearest that may head it.

    >>> [sentence.count("root") for sentence in make_sentences(3)]
    [1, 1, 1]
    """
    random = Random(seed)
    tags = list(_TAGS)
    for number in range(1, count + 1):
        length = 2 + min(80, int(random.expovariate(1 / (_MEAN_LENGTH - 2))))
        chosen = random.choices(tags, (6, 3, 2, 3, 3, 1), k=length)
        root = random.randrange(length)
        chosen[root] = "VERB"
        words = [_word(random, tag) for tag in chosen]
        lines = [f"# sent_id = {number}", f"# text = {' '.join(words)}"]
        for place, (tag, word) in enumerate(zip(chosen, words, strict=True)):
            head = -1 if place == root else _nearest_head(chosen, place, root)
            label = "root" if place == root else _TAGS[tag][3]
            feats = "Number=Sing|Person=3" if tag in ("NOUN", "VERB") else "_"
            columns = (place + 1, word, word.lower(), tag, tag[:2], feats, head + 1, label, "_", "_")
            lines.append("\t".join(map(str, columns)))
        yield "\n".join([*lines, "", ""])


def _nearest_head(tags: list[str], place: int, root: int) -> int:
    """The nearest word whose tag may head the one at `place`, on its way to the root: so no cycle can arise."""
    step = 1 if root > place else -1
    heads = _TAGS[tags[place]][2]
    return next((h for h in range(place + step, root, step) if tags[h] in heads), root)


def _word(random: Random, tag: str) -> str:
    """A word of the tag; few words are frequent, as in any language."""
    ending, kinds, *_ = _TAGS[tag]
    rank = int(kinds ** random.random())
    stem = ""
    while rank:
        rank, letter = divmod(rank, len(_LETTERS))
        stem += _LETTERS[letter]
    return stem + ending
