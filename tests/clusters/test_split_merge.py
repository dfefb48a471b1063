from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from arcwise import InputError, read_conllu
from arcwise.clusters import split_merge as module
from arcwise.clusters import tagged_text
from arcwise.clusters.split_merge import Fitted, split_merge
from arcwise.clusters.tagged_text import read_tagged

DATA = Path(__file__).parent.parent / "data"


def treebank(sentences: list[list[tuple[str, str]]]) -> io.BytesIO:
    lines = []
    for sentence in sentences:
        lines += [f"{k}\t{w}\t_\t{t}\t_\t_\t_\t_\t_\t_" for k, (w, t) in enumerate(sentence, 1)] + [""]
    file = io.BytesIO("\n".join([*lines, ""]).encode())
    file.name = "made.conllu"
    return file


def two_kinds_of_verbs(sentences: int) -> list[list[tuple[str, str]]]:
    """Some verbs stand at the end, some before a noun; there is one tag for both, and `run` is of both kinds. Nouns have 2 places."""
    rng = np.random.default_rng(3)
    text = []
    for _ in range(sentences):
        noun = [(f"n{rng.integers(5)}", "N"), (f"n{rng.integers(5)}", "N")]
        if rng.random() < 0.5:
            text.append([noun[0], (["fall", "sleep", "run"][rng.integers(3)], "V"), (".", "P")])
        else:
            text.append([noun[0], (["see", "hear", "run"][rng.integers(3)], "V"), noun[1], (".", "P")])
    return text


def test_reading():
    text = read_tagged([DATA / "train.conllu", io.BytesIO(b"the zyx\n\n the")], 2)
    sentences = [sentence.forms[1:] for sentence in read_conllu(DATA / "train.conllu")]
    sentences += [["the", "zyx"], ["the"]]
    words = [*text.words, None]
    kept = set(text.words)
    assert [words[token] for token in text.tokens.tolist()] == [
        word if word in kept else None for sentence in sentences for word in sentence
    ]
    assert np.diff(text.sentences).tolist() == list(map(len, sentences))
    tags = [tag for sentence in read_conllu(DATA / "train.conllu") for tag in sentence.upos[1:]]
    assert [text.tag_names[tag] for tag in text.tags.tolist()[: len(tags)]] == tags
    assert text.tags.tolist()[len(tags) :] == [-1, -1, -1]


def test_a_split_finds_the_two_kinds():
    text = read_tagged([treebank(two_kinds_of_verbs(400))], 1)
    clusters = split_merge(text, 5, iterations=20)
    bits = clusters.hard().bits
    assert len(clusters.bits) == 5
    assert bits["see"] == bits["hear"] != bits["fall"] == bits["sleep"]
    assert bits["see"][:-1] == bits["fall"][:-1]
    # The same word in two places.
    run = [clusters.soft(words)[1] for words in (["n1", "run", "."], ["n1", "run", "n2", "."])]
    assert run == [bits["fall"], bits["see"]]
    assert clusters.probabilities(["n1", "run", "."]).sum(axis=1) == pytest.approx(np.ones(3))
    assert clusters.soft([]) == []
    assert len(clusters.soft(["unheard-of", "run"])) == 2


def test_same_seed_same_clusters():
    text = read_tagged([DATA / "train.conllu"], 2)
    one, two = (split_merge(text, 30, iterations=2, seed=4) for _ in range(2))
    assert one.hard() == two.hard()
    assert one.likelihood == two.likelihood
    assert len(one.bits) == len(set(one.bits)) == 30
    assert all(not b.startswith(a) for a in one.bits for b in one.bits if a != b)
    assert one.hard().counts == dict(zip(text.words, text.occurrences.tolist(), strict=True))


def test_untagged_text_helps_itself_to_known_tags():
    tagged = two_kinds_of_verbs(100)
    raw = "\n".join(" ".join(w for w, _ in s) for s in two_kinds_of_verbs(300)) + "\nn1 doze .\n" * 9
    clusters = split_merge(read_tagged([treebank(tagged), io.BytesIO(raw.encode())], 2), 5, iterations=20)
    bits = clusters.hard().bits
    assert bits["doze"] == bits["fall"] != bits["see"]


def test_going_on_in_the_middle():
    text = read_tagged([DATA / "train.conllu"], 2)
    kept: list[Fitted] = []
    whole = split_merge(text, 40, iterations=2, seed=4, keep=kept.append)
    assert [len(fitted.bits) for fitted in kept] == sorted({len(fitted.bits) for fitted in kept})
    assert len(kept) > 3
    for fitted in kept:
        found = split_merge(text, 40, iterations=2, seed=4, done=fitted)
        assert found.likelihood == whole.likelihood
        assert found.bits == whole.bits
        assert (found.model.gives == whole.model.gives).all()


def test_the_text_is_read_in_pieces(monkeypatch):
    text = read_tagged([DATA / "train.conllu"], 2)
    told: list[tuple[str, int, int | None]] = []
    whole = split_merge(text, 25, iterations=2)
    monkeypatch.setattr(module, "_PIECE", 50)
    found = split_merge(text, 25, iterations=2, tell=lambda *what: told.append(what))
    assert found.likelihood == whole.likelihood
    assert found.hard() == whole.hard()
    done = [words for _, words, _ in told]
    assert done == sorted(done)
    assert max(np.diff(done)) < 50 + max(
        map(len, (sentence.forms for sentence in read_conllu(DATA / "train.conllu")))
    )
    assert told[-1] == ("fitting", done[-1], done[-1])


def test_long_sentences_are_looked_at_in_parts(monkeypatch):
    sentence = [(f"w{k % 7}", f"T{k % 3}") for k in range(23)]
    text = read_tagged([treebank([sentence, sentence[:4]])], 1)
    assert text.sentences.tolist() == [0, 23, 27]
    monkeypatch.setattr(module, "_LONGEST", 10)
    reader = module._Reader(text, 1, lambda *what: None)
    assert np.concatenate(list(reader.pieces())).tolist() == [0, 10, 20, 23, 27]


def test_memory():
    """Of a million words: six bytes each, and not many more while they are read."""
    words = (np.random.default_rng(1).zipf(1.5, 1_000_000) % 1000).astype("U4").reshape(-1, 20).tolist()
    tagged, raw = two_kinds_of_verbs(100), io.BytesIO("\n".join(map(" ".join, words)).encode())
    tracemalloc.start()
    try:
        text = read_tagged([treebank(tagged), raw], 3)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(text.tokens) > 1_000_000
    assert held < 7_500_000
    assert peak < 14_000_000


def test_what_is_refused():
    with pytest.raises(InputError, match="no word has a tag"):
        split_merge(read_tagged([io.BytesIO(b"a b c\n")], 1))
    with pytest.raises(InputError, match="0 states"):
        split_merge(read_tagged([treebank([[("a", "A")]])], 1), 0)
    assert split_merge(read_tagged([treebank([[("a", "A")]])], 1), 2).hard().counts == {"a": 1}
    with pytest.raises(InputError, match="4,097 states, expected 4,096 at most"):
        split_merge(read_tagged([treebank([[("a", "A")]])], 1), 4097)


def test_too_many_tags(monkeypatch):
    monkeypatch.setattr(tagged_text, "MOST_TAGS", 2)
    assert read_tagged([treebank([[("a", "A"), ("b", "B")]])], 1).tag_names == ["A", "B"]
    with pytest.raises(InputError, match=r"made\.conllu: 3 different tags, expected 2 at most"):
        read_tagged([treebank([[("a", "A"), ("b", "B"), ("c", "C")]])], 1)
