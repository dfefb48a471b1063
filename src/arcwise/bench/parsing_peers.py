"""Parsers that `arcwise bench parsing --peers` measures beside ours, where they are installed.

How fast a parser is does not depend on how long it was trained: each is trained for a moment on the first sentences of the
treebank, enough to know its labels. Nothing is said about their accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arcwise.bench.timing import Action
from arcwise.bench.treebank import BenchTreebank
from arcwise.treebank.reading import read_conllu
from arcwise.treebank.sentence import Sentence

_SENTENCES = 500
_BATCH = 50


def _udpipe(treebank: BenchTreebank) -> Action | None:
    """UDPipe's parser alone, on gold tags, CoNLL-U text to CoNLL-U text."""
    try:
        udpipe: Any = import_module("ufal.udpipe")
    except ImportError:
        return None
    known, sentence, error = udpipe.Sentences(), udpipe.Sentence(), udpipe.ProcessingError()
    reader = udpipe.InputFormat.newInputFormat("conllu")
    reader.setText("".join(map(str, _first(treebank.train))))
    while reader.nextSentence(sentence, error):
        known.push_back(sentence)
    none, default = udpipe.Pipeline.NONE, udpipe.Pipeline.DEFAULT
    trained = udpipe.Trainer.train(
        "morphodita_parsito", known, udpipe.Sentences(), none, none, "iterations=1", error
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.udpipe"
        path.write_bytes(trained)
        model = udpipe.Model.load(str(path))

    def parse() -> None:
        # A pipeline does not keep its model alive: they are made together.
        pipeline = udpipe.Pipeline(model, "conllu", none, default, "conllu")
        pipeline.process(treebank.test.read_text(encoding="utf-8"), error)

    return parse


def _spacy(treebank: BenchTreebank) -> Action | None:
    """The tagger and parser of spaCy's small pipelines on words; reading and writing files is not counted."""
    try:
        spacy: Any = import_module("spacy")
    except ImportError:
        return None
    doc, example = import_module("spacy.tokens").Doc, import_module("spacy.training").Example
    pipeline = spacy.blank("xx")
    pipeline.add_pipe("tok2vec")
    shared = {"model": {"tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}}}
    pipeline.add_pipe("tagger", config=shared)
    pipeline.add_pipe("parser", config=shared)

    def gold(sentence: Sentence) -> Any:
        heads = [head - 1 if head else word for word, head in enumerate(sentence.heads[1:].tolist())]
        tree = {"heads": heads, "deps": sentence.labels[1:], "tags": sentence.upos[1:]}
        return doc(pipeline.vocab, words=sentence.forms[1:], **tree)

    examples = [
        example(doc(pipeline.vocab, words=sentence.forms[1:]), gold(sentence))
        for sentence in _first(treebank.train)
    ]
    pipeline.initialize(lambda: examples)
    for start in range(0, len(examples), _BATCH):
        pipeline.update(examples[start : start + _BATCH])
    sentences = [sentence.forms[1:] for sentence in read_conllu(treebank.test)]

    def parse() -> None:
        docs = (doc(pipeline.vocab, words=words) for words in sentences)
        for _ in pipeline.pipe(docs, batch_size=256):
            pass

    return parse


def _first(path: Path) -> list[Sentence]:
    return list(islice(read_conllu(path), _SENTENCES))


PEERS: dict[str, Callable[[BenchTreebank], Action | None]] = {
    "UDPipe's parser": _udpipe,
    "spaCy's tagger and parser": _spacy,
}
