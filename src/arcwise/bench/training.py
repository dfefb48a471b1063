"""What `arcwise bench` measures of training: time, memory, and how good the model is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from arcwise.bench.row import Row, at_least, at_most
from arcwise.bench.timing import Child, Say, run_python, silent
from arcwise.bench.treebank import BenchTreebank, make_treebank
from arcwise.evaluation.attachment import accuracy
from arcwise.pipeline.parser import Parser, load
from arcwise.treebank.formats import DEPREL
from arcwise.treebank.reading import read_blocks

_CPU, _MEMORY = 150.0, 1500.0
_UAS, _LAS = 87.2, 85.0


def rows(treebank: BenchTreebank, output: Path, say: Say = silent) -> list[Row]:
    """Train with the defaults in a process of its own, and score the model on the dev and test files."""
    cost = _train(treebank, output, say)
    goal = treebank.is_target
    return [
        Row(
            f"training on {treebank.name}: CPU time", cost.cpu, "s", "", None,
            *(at_most(cost.cpu, _CPU, "s") if goal else ()),
        ),
        Row(
            f"training on {treebank.name}: peak memory", cost.memory, "MB", "", None,
            *(at_most(cost.memory, _MEMORY, "MB") if goal else ()),
        ),
        *accuracy_rows(treebank, output, "the trained model", say),
    ]  # fmt: skip


def accuracy_rows(treebank: BenchTreebank, model: Path, title: str, say: Say = silent) -> list[Row]:
    """UAS and LAS on the dev and test files: all words, labels with their subtypes."""
    say(f"scoring {title}")
    parser = load(model)
    result = []
    for part, path in (("dev", treebank.dev), ("test", treebank.test)):
        if path is None:
            continue
        for score, value, limit in zip(("UAS", "LAS"), _attachment(parser, path), (_UAS, _LAS), strict=True):
            target = at_least(value, limit, "%") if treebank.is_target and part == "test" else ()
            result.append(Row(f"{score} of {title} on {treebank.name} {part}", value, "%", "", None, *target))
    return result


def _train(treebank: BenchTreebank, output: Path, say: Say) -> Child:
    """Train with the defaults, the kernels compiled before; returns what it cost."""
    with TemporaryDirectory() as folder:
        say("compiling what training needs, if need be")
        small = make_treebank(folder, share=0.01)
        run_python("-c", _program(small, Path(folder) / "model"))
    say(f"training on {treebank.name}")
    return run_python("-c", _program(treebank, output))


def _program(treebank: BenchTreebank, output: Path) -> str:
    dev = None if treebank.dev is None else str(treebank.dev)
    return f"import arcwise; arcwise.train({str(treebank.train)!r}, {dev!r}, {str(output)!r}, gold_tags=True)"


def _attachment(parser: Parser, path: Path) -> tuple[float, float]:
    gold_heads, gold_labels, heads, labels = [], [], [], []
    for block in read_blocks(path):
        trees = parser.parse_block(block)
        gold_heads.append(block.heads)
        gold_labels += block.column(DEPREL)
        heads.append(trees.heads)
        labels += [parser.labels[label] for label in trees.labels]
    uas, las = accuracy(np.concatenate(gold_heads), gold_labels, np.concatenate(heads), labels)
    return 100 * uas, 100 * las
