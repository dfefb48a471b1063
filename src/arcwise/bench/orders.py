"""What `arcwise bench` measures of models that search a chart: what the pruner leaves, and the time beside the first order.

The columns of Koo's Table 5.1 (2010).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from arcwise.bench.parsing import parse_file
from arcwise.bench.row import Row
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.errors import InputError
from arcwise.features.attributes import number_words
from arcwise.pipeline.chart_sentences import sentence_parts
from arcwise.pipeline.confidence import unknown_trees
from arcwise.pipeline.parser import Parser, load
from arcwise.search.decode import decode
from arcwise.treebank.block import Block
from arcwise.treebank.reading import read_blocks

_SLOWER = 4.0  # than the first order, at most


def rows(
    treebank: BenchTreebank, model: Path, beside: Path | None, rounds: int = 30, say: Say = silent
) -> list[Row]:
    """Arcs kept, the best UAS among them, the model's UAS, and words a second, beside a model of first order."""
    parser = load(model)
    if not parser.model.settings.projective:
        raise InputError(
            f"search {parser.model.settings.search!r}", expected="a chart: a model trained with --projective",
            file=str(model),
        )  # fmt: skip
    dev = treebank.dev or treebank.test
    say(f"pruning {treebank.train.name}")
    pairs = kept = 0
    for block in read_blocks(treebank.train):
        pairs += int(np.sum(np.square(np.diff(block.words), dtype=np.int64)))
        kept += sum(len(arcs) for arcs, _ in _kept_arcs(parser, block))
    say(f"pruning {dev.name}")
    words = oracle = right = dev_kept = 0
    for block in read_blocks(dev):
        bounds = pairwise(block.words.tolist())
        for (arcs, size), (first, last) in zip(_kept_arcs(parser, block), bounds, strict=True):
            dev_kept += len(arcs)
            gains = np.full((size, size), -np.inf)
            gains[tuple(arcs.T)] = 0.0
            gains[block.heads[first:last], np.arange(1, size)] += 1.0
            oracle += decode(gains, projective=True, single_root=parser.single_root).score
        right += int(np.count_nonzero(parser.parse_block(block).heads == block.heads))
        words += len(block.heads)
    name = f"{model.name}, {treebank.name}"
    result = [
        Row(f"{name}: arcs kept of all pairs, {treebank.train.stem}", 100 * kept / pairs, "%"),
        Row(f"{name}: heads kept a word, {dev.stem}", dev_kept / words, "heads"),
        Row(f"{name}: best UAS among the arcs kept, {dev.stem}", 100 * oracle / words, "%"),
        Row(f"{name}: UAS, {dev.stem}", 100 * right / words, "%"),
    ]
    with TemporaryDirectory() as folder:
        output = Path(folder) / "parsed.conllu"
        actions: dict[str, Action] = {"ours": lambda: parse_file(parser, dev, output, 1)}
        if beside is not None:
            first_order = load(beside)
            actions["first"] = lambda: parse_file(first_order, dev, output, 1)
        say(f"parsing {dev.name} {rounds} times")
        speed = {name: words / spent * 1e6 for name, spent in medians(actions, rounds).items()}
    first = speed.get("first")
    return [
        *result,
        Row(
            f"{name}: parsing {dev.stem}, one thread", speed["ours"], "words/s", "first order", first,
            f"at most {_SLOWER:g} times the time", None if first is None else first <= _SLOWER * speed["ours"],
        ),
    ]  # fmt: skip


def _kept_arcs(parser: Parser, block: Block) -> list[tuple[np.ndarray, int]]:
    """The arcs (h, m) that the pruner keeps of each sentence, and the sentence's words and root."""
    weights = parser.model.weights()
    numbers = number_words(block.data, block.starts, block.stops, block.words, parser.model.vocabulary())
    rows = unknown_trees(numbers, block.words + np.arange(len(block.words), dtype=np.int64))
    found = []
    for begin, end in pairwise(rows.starts.tolist()):
        _, graph, _, _ = sentence_parts(
            numbers[begin:end], weights, rows.heads[begin:end], rows.labels[begin:end]
        )
        found.append((np.stack([graph.head[1:], graph.modifier[1:]], axis=1), end - begin))
    return found
