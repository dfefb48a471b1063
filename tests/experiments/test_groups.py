"""At most one dependent of a label group per head: what the experiment counts, and the greedy repair that it compares with."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import arcwise
from arcwise.cli import main
from arcwise.evaluation.attachment import evaluate
from arcwise.experiments.greedy_repair import REPAIRS, repair_greedily, score_labelled_arcs
from arcwise.experiments.groups import attachment, count_violating, measure, parse, sets_of_rules
from arcwise.features.attributes import number_words
from arcwise.pipeline.parser import Parser
from arcwise.treebank.reading import read_blocks
from arcwise.treebank.sentence import Sentence
from arcwise.trees import all_trees
from tests.pipeline.models import quick

DATA = Path(__file__).parent.parent / "data"
FILE = DATA / "train.conllu"
STRICT = "nsubj:,nsubj:pass,csubj:"  # without other subtypes


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of first order, which the greedy repair needs, and not good enough to have no violations."""
    file = tmp_path_factory.mktemp("models") / "small.arcwise"
    quick(DATA / "dev.conllu", output=file, epochs=1, label_epochs=1, gold_tags=False)
    return file


@pytest.fixture(scope="module")
def parser(model: Path) -> Parser:
    return arcwise.load(model)


def crowded(sentence: Sentence, labels: set[str]) -> bool:
    """Whether a head has two dependents with these labels."""
    words = zip(sentence.heads[1:].tolist(), sentence.labels[1:], strict=True)
    return any(count > 1 for count in Counter(head for head, label in words if label in labels).values())


@pytest.mark.parametrize("retag", [False, True])
def test_the_columns(parser: Parser, retag: bool) -> None:
    with read_blocks(FILE) as read:
        blocks = list(read)
    gold = [sentence for block in blocks for sentence in block]
    plain = [
        sentence
        for block in blocks
        for sentence in parser(list(parser.tag_block(block, anew=retag)))
    ]  # fmt: skip
    names = parser.labels
    members = {
        "nsubj,csubj": {name for name in names if name.split(":")[0] in ("nsubj", "csubj")},
        STRICT: {"nsubj", "nsubj:pass", "csubj"},
    }
    rows = measure(parser, FILE, list(members), 1, retag=retag)
    both = f"nsubj,csubj; {STRICT}"
    assert list(rows) == [*members, both]
    for name, labels in members.items():
        assert rows[name]["violating without"] == sum(crowded(sentence, labels) for sentence in plain) > 0
    assert rows[both]["violating without"] == rows["nsubj,csubj"]["violating without"]
    right = np.concatenate([one.heads[1:] == two.heads[1:] for one, two in zip(plain, gold, strict=True)])
    scores = evaluate(gold, plain)
    for row in rows.values():
        assert row["sentences"] == len(gold)
        assert row["violating with"] == 0
        assert row["UAS without"] == pytest.approx(100 * right.mean()) == pytest.approx(100 * scores.uas)
        assert row["LAS without"] == pytest.approx(100 * scores.las)
        assert row["proved best, %"] == 100
        assert row["below"] == 0
        compared = ("exact above greedy", "equal", "greedy leaves violations")
        assert sum(row[column] for column in compared) == row["violating without"]
        assert row["times as long"] > 0


def test_trees_with_constraints(parser: Parser) -> None:
    """Counted and scored from the bytes that would be written."""
    with read_blocks(FILE) as read:
        blocks = list(read)
    rules = sets_of_rules(["nsubj,csubj"])["nsubj,csubj"]
    trees = parse(parser, blocks, rules, False)
    assert count_violating(blocks, trees, rules) == 0
    written = [
        sentence
        for block, found in zip(blocks, trees, strict=True)
        for sentence in block.rewritten(parser.with_trees(block, found))
    ]
    assert not any(crowded(sentence, {"nsubj", "nsubj:pass", "csubj"}) for sentence in written)
    scores = evaluate([sentence for block in blocks for sentence in block], written)
    assert attachment(blocks, trees) == pytest.approx((100 * scores.uas, 100 * scores.las))


def test_scores_are_the_parsers(parser: Parser) -> None:
    """Without groups the greedy repair is the parser's own tree."""
    weights, vocabulary = parser.model.weights(), parser.model.vocabulary()
    unit = float(parser.model.arrays["scales"][1])
    with read_blocks(DATA / "dev.conllu") as read:
        block = next(iter(read))
    trees = parser.parse_block(block)
    numbers = number_words(block.data, block.starts, block.stops, block.words, vocabulary)
    starts = block.words + np.arange(len(block.words))
    for sentence in range(len(block)):
        scores = score_labelled_arcs(
            numbers[starts[sentence] : starts[sentence + 1]], weights, len(parser.labels)
        )
        found = repair_greedily(scores, np.zeros((0, len(parser.labels)), np.bool_), parser.single_root)
        assert found.score == pytest.approx(trees.scores[sentence] / unit)
        np.testing.assert_array_equal(found.heads[1:], trees.heads[slice(*block.words[sentence:][:2])])


def test_greedy_repair_against_all_trees() -> None:
    """Never above the best labelled tree, mostly equal to it, sometimes below."""
    words, instances = 5, 200
    generator = np.random.default_rng(0)
    modifiers = np.arange(1, words + 1)
    trees = all_trees(words, single_root=True)[:, None, 1:]
    labellings = (np.arange(2**words)[:, None] >> np.arange(words) & 1)[None]
    at_head = [((trees == head) & (labellings == 1)).sum(2) for head in range(words + 1)]
    satisfying = np.max(at_head, axis=0) < 2
    outcomes = Counter[str]()
    for _ in range(instances):
        scores = generator.integers(0, 20, (words + 1, words + 1, 2)).astype(np.float64)
        scores[:, :, 1] += 10  # most would like to have the label of the group
        best = scores[trees, modifiers, labellings].sum(2)[satisfying].max()
        found = repair_greedily(scores, np.array([[False, True]]))
        heads, labels = found.heads[1:], found.labels[1:]
        assert found.score == scores[heads, modifiers, labels].sum()
        assert found.violates == (np.bincount(heads[labels == 1], minlength=1).max() > 1)
        assert found.violates or found.score <= best
        outcomes["violates" if found.violates else "equal" if found.score == best else "below"] += 1
    assert outcomes["equal"] > instances / 2
    assert outcomes["below"] > 0


def test_greedy_repair_gives_up() -> None:
    """Each head in a chain has two dependents of the group: more violations than repairs."""
    heads = 2 * REPAIRS
    size = 2 * heads + 2
    scores = np.full((size, size, 2), -np.inf)
    scores[0, 1, 0] = 0.0
    for word in range(2, size):
        scores[word // 2, word] = [0.0, 1.0]
    found = repair_greedily(scores, np.array([[False, True]]))
    assert found.violates
    assert found.score == size - 2 - REPAIRS


def test_the_command(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    results, table = tmp_path / "results.md", tmp_path / "table.tsv"
    results.write_text("<!-- groups -->\nold\n<!-- end of groups -->\n")
    options = ["--groups", STRICT, "--rounds", "1", "--retag", "-o", str(table), "--write", str(results)]
    command = ["arcwise", "experiment", "groups", str(DATA / "dev.conllu"), "--model", str(model)]
    monkeypatch.setattr(sys, "argv", [*command, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("| at most one, small | sentences | violating without | violating with |")
    assert lines[2].startswith(f"| data/dev: {STRICT} | 53.00 |")
    assert lines[-2].startswith("Predicted tags.")
    assert results.read_text().splitlines()[1:-1] == lines
    header, row = table.read_text().splitlines()
    assert len(header.split("\t")) == len(row.split("\t"))
    monkeypatch.setattr(sys, "argv", [*command, "--groups", "subject"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "unknown label subject" in capfd.readouterr().err
