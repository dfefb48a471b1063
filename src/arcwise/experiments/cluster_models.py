"""What parsers reach on a development treebank without and with word clusters; they are kept in a folder, each trained once.

As in Koo's thesis (3.4) tags are predicted, those of the training sentences by taggers that have not seen them. The tagger sees no
clusters, so that what they change is the parser's doing. By MIRA, labels together with arcs; the epoch with the best LAS on dev is
kept, and its accuracy there is what counts: of all words, and of labels with their subtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from arcwise.clusters.lookup import NO_CLUSTERS
from arcwise.experiments.hidden_tags import without_tags
from arcwise.experiments.kept_models import Follow, kept
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import Tell
from arcwise.features.attributes import EVERY
from arcwise.pipeline.dual_sentences import Effort
from arcwise.pipeline.model import Settings
from arcwise.pipeline.options import Options
from arcwise.pipeline.preparing import prepare
from arcwise.pipeline.training_run import TrainingRun
from arcwise.search.dual import STALL
from arcwise.treebank.block import Block
from arcwise.treebank.reading import read_blocks, read_conllu
from arcwise.treebank.sentence import Sentence

FREQUENT = Options().frequent
ORDERS: dict[str, dict[str, Any]] = {"1st": {}, "2nd": {"search": "dual-grandchild"}}
METRICS = ("UAS", "LAS")
_BUDGET = 200_000  # work for each word, after which the best tree found counts; with tags few sentences take as much
WITH, _GAIN = " + clusters", " gain"
# By name of the column: the order, and how many frequent forms a parser sees beside clusters, None for one without.
MODELS = {order + name: (order, forms) for order in ORDERS for name, forms in (("", None), (WITH, FREQUENT))}
# Who tags: a tagger that learns from all sentences of the treebank, from the same ones as the parser, or none.
ALL, SAME, NONE = "all", "same", "none"

Sentences = Sequence[Sentence]
Item = TypeVar("Item")


class BriefProofs(TrainingRun):
    """A training that proves no tree of the development set best at any price: without tags that would take hours."""

    effort = Effort(STALL, False, _BUDGET)


class Case(NamedTuple):
    """A parser. sentences: how many it learns from. tagger: ALL, SAME or NONE. order: of ORDERS. frequent: how many forms it sees
    beside clusters, None if it sees no clusters. words: how many forms and lemmas it knows at all.
    """

    sentences: int
    tagger: str
    order: str
    frequent: int | None
    words: int = EVERY


class Parsers:
    """The parsers of the treebank in a folder, and of the clusters in a file. models: the folder that they are kept in."""

    def __init__(self, treebank: Path, clusters: Path, models: Path, epochs: int, jobs: int = 1) -> None:
        self.name = treebank.resolve().name
        self._clusters, self._models, self._epochs, self._jobs = clusters, models, epochs, jobs
        train, dev, _ = treebank_files(treebank)
        self._train, self._dev = (list(read_conllu(file)) for file in (train, dev))
        self._digests = {"treebank": _digest(train, dev), "clusters": _digest(clusters)}
        self._tagged: dict[int, tuple[Sentences, Sentences]] = {}
        self._tagging = Lock()

    @property
    def sentences(self) -> int:
        """How many there are to learn from."""
        return len(self._train)

    def accuracy(self, case: Case, tell: Tell = lambda share: None) -> dict[str, float]:
        """METRICS, in percent, of a parser that is trained if need be. Every thread must ask for another one."""
        if case.tagger == SAME and case.sentences == self.sentences:
            case = case._replace(tagger=ALL)
        names = [self.name, f"{case.sentences}", f"tagger-{case.tagger}", case.order]
        asked = {**case._asdict(), "epochs": self._epochs, "treebank": self._digests["treebank"]}
        settings = Settings(**ORDERS[case.order])
        options = Options(
            gold_tags=True, labels="joint", epochs=self._epochs, words=case.words, settings=settings
        )
        if case.frequent is not None:
            names += [self._clusters.name.split(".")[0], f"{case.frequent}"]
            asked["clusters"] = self._digests["clusters"]
            options = replace(options, clusters=self._clusters, frequent=case.frequent)
        if case.words != EVERY:
            names.append(f"words-{case.words}")
        file = self._models / f"{'-'.join(names)}.arcwise"
        parser = kept(file, asked, options, lambda: self.treebanks(case, tell), tell, BriefProofs)
        reached = parser.model.facts["training"][0]
        return {metric: float(reached[metric.lower()]) for metric in METRICS}

    def treebanks(self, case: Case, tell: Tell = lambda share: None) -> tuple[Sentences, Sentences]:
        """What a parser learns from, and what it is measured on, with the tags that it sees."""
        if case.tagger == NONE:
            return without_tags(evenly(self._train, case.sentences)), without_tags(self._dev)
        train, dev = self._tag(self.sentences if case.tagger == ALL else case.sentences, tell)
        return evenly(train, case.sentences), dev

    def _tag(self, sentences: int, tell: Tell) -> tuple[Sentences, Sentences]:
        """So many training sentences and the development treebank, tagged by taggers that learn from these sentences only."""
        with self._tagging:
            if sentences not in self._tagged:
                train, dev = (_blocks(part) for part in (evenly(self._train, sentences), self._dev))
                made = prepare(
                    train, dev, Options(settings=Settings()), Follow(tell), self._jobs, NO_CLUSTERS
                )
                self._tagged[sentences] = _sentences(made.train), _sentences(made.dev)
            return self._tagged[sentences]


def evenly(sentences: Sequence[Item], size: int) -> list[Item]:
    """So many of the sentences, from all over the treebank, which may be sorted by genre. Of half as many each is among them.

    >>> evenly("abcdefg", 3), evenly("abcdefg", 6)
    (['a', 'c', 'e'], ['a', 'b', 'c', 'd', 'e', 'f'])
    """
    return [sentences[i * len(sentences) // size] for i in range(size)]


def with_gains(rows: Rows) -> Rows:
    """After every column with clusters how much better it is than the one without.

    >>> with_gains({"all": {"UAS, 1st": 80.0, "UAS, 1st + clusters": 81.5}})
    {'all': {'UAS, 1st': 80.0, 'UAS, 1st + clusters': 81.5, 'UAS, 1st gain': 1.5}}
    """
    found: dict[str, dict[str, float]] = {}
    for name, row in rows.items():
        found[name] = {}
        for column, value in row.items():
            found[name][column] = value
            if column.endswith(WITH):
                without = column.removesuffix(WITH)
                found[name][without + _GAIN] = value - row[without]
    return found


def _digest(*files: Path) -> str:
    digest = blake2b(digest_size=8)
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _blocks(sentences: Sentences) -> list[Block]:
    data = b"".join(sentence.to_bytes() for sentence in sentences)
    with read_blocks(BytesIO(data), format=sentences[0].format) as reader:
        return list(reader)


def _sentences(blocks: list[Block]) -> Sentences:
    return [sentence for block in blocks for sentence in block]
