"""UDPipe 1, which `arcwise bench text` measures beside ours where it is installed and a trained model of it is given."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from arcwise.errors import ArcwiseError, InputError


class UDPipe:
    """Trained models at work: raw text or words in, CoNLL-U out. The stages may be spread over several files.

    ImportError, if the package ufal.udpipe is not installed.
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._udpipe: Any = import_module("ufal.udpipe")
        self._default = self._udpipe.Model.DEFAULT
        models = [self._load(Path(path)) for path in paths]
        files = ", ".join(map(str, paths))
        word = self._udpipe.Sentence()
        word.addWord("Go")
        able = {
            "tokenizer": lambda model: model.newTokenizer(self._default),
            "tagger": lambda model: model.tag(word, self._default),
            "parser": lambda model: model.parse(word, self._default),
        }
        found: dict[str, Any] = {name: next(filter(test, models), None) for name, test in able.items()}
        for name, model in found.items():
            if model is None:
                raise InputError(
                    f"no {name}", expected="models with tokenizer, tagger and parser", file=files
                )
        self._tokenizer, self._tagger, self._parser = found.values()

    def from_text(self, text: str) -> str:
        """The trees of raw text."""
        return self._trees(self._tokenizer.newTokenizer(self._default), text)

    def from_words(self, conllu: str) -> str:
        """The trees of the words in a CoNLL-U text, on tags of its own."""
        return self._trees(self._udpipe.InputFormat.newInputFormat("conllu"), conllu)

    def _load(self, path: Path) -> Any:
        model = self._udpipe.Model.load(str(path))
        if model is None:
            found = "not a model of UDPipe 1" if path.exists() else "no such file"
            raise InputError(found, expected="a model of UDPipe 1", file=str(path))
        return model

    def _trees(self, reader: Any, text: str) -> str:
        # Not a Pipeline of UDPipe's: it cannot take its stages from several files.
        sentence, error = self._udpipe.Sentence(), self._udpipe.ProcessingError()
        writer = self._udpipe.OutputFormat.newOutputFormat("conllu")
        reader.setText(text)
        output = []
        while reader.nextSentence(sentence, error):
            self._tagger.tag(sentence, self._default)
            self._parser.parse(sentence, self._default)
            output.append(writer.writeSentence(sentence))
        if error.occurred():
            raise ArcwiseError(f"bench: UDPipe: {error.message}")
        return "".join(output)


def train_udpipe(
    train: str | Path,
    dev: str | Path,
    output: str | Path,
    tokenizer: str = "",
    tagger: str = "",
    parser: str = "",
) -> None:
    """Train a model of UDPipe 1 on CoNLL-U files, with its defaults: on 200,000 words an hour or two.

    tokenizer, tagger, parser: UDPipe's options for each stage; "none" leaves it out. ImportError, if it is not installed.
    """
    udpipe: Any = import_module("ufal.udpipe")
    error = udpipe.ProcessingError()
    treebanks = []
    for path in (train, dev):
        sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
        reader = udpipe.InputFormat.newInputFormat("conllu")
        reader.setText(Path(path).read_text(encoding="utf-8"))
        while reader.nextSentence(sentence, error):
            sentences.push_back(sentence)
        treebanks.append(sentences)
    model = udpipe.Trainer.train("morphodita_parsito", *treebanks, tokenizer, tagger, parser, error)
    if error.occurred():
        raise ArcwiseError(f"bench: UDPipe: {error.message}")
    Path(output).write_bytes(model)
