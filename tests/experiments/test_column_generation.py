"""Column generation: the best tree of all arcs, though few are searched."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.cli import main
from arcwise.errors import InputError
from arcwise.experiments.column_generation import (
    COLUMNS,
    Sentence,
    generate_columns,
    measure,
    search_all,
)
from arcwise.experiments.trained_models import trained
from arcwise.parts.graph import make_graph
from arcwise.search.chart import CHARTS, make_levels
from arcwise.search.tree_search import make_tree_search
from tests.experiments.small_models import EPOCHS, train_small
from tests.experiments.test_learners import write_treebank


def random_sentence(n: int, scale: int, seed: int, single_root: bool, projective: bool) -> Sentence:
    """All arcs between n words with whole random scores; grand parts are up to `scale` times as large as arcs."""
    rng = np.random.default_rng(seed)
    head, modifier = (x.astype(np.int32) for x in np.nonzero(~np.eye(n + 1, dtype=bool)))
    graph = make_graph(np.arange(n + 1, dtype=np.int32), head[modifier > 0], modifier[modifier > 0])
    kind = CHARTS["model0"]
    level = make_levels(graph, kind)[0]
    arcs = rng.integers(-30, 31, len(graph.head)).astype(float)
    arcs[0] = 0
    step = rng.integers(-10 * scale, 10 * scale + 1, level.steps[-1]).astype(float)
    for a in range(len(graph.head)):
        h = graph.modifier[a]
        below = slice(level.steps[a], level.steps[a + 1])
        step[below] = arcs[graph.out[h] : graph.out[h + 1]] + (step[below] if a else 0)
    return Sentence(graph, level, arcs, step, kind, make_tree_search(n, single_root, projective))


def score(sentence: Sentence, tree: np.ndarray) -> float:
    """Of the arcs into the words."""
    graph, level = sentence.graph, sentence.level
    total = 0.0
    for b in tree[1:]:
        h = graph.head[b]
        total += sentence.step[level.steps[tree[h]] + b - graph.out[h]]
    return total


def is_tree(heads: tuple[int, ...], single_root: bool, projective: bool) -> bool:
    n = len(heads) - 1
    if single_root and heads[1:].count(0) != 1:
        return False
    ancestors = []
    for m in range(n + 1):
        above, at = {m}, m
        while at > 0:
            at = heads[at]
            if at in above:
                return False
            above.add(at)
        ancestors.append(above)
    return not projective or all(
        heads[m] in ancestors[k]
        for m in range(1, n + 1)
        for k in range(min(m, heads[m]) + 1, max(m, heads[m]))
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_the_best_of_all_trees(n: int, scale: int, seed: int, single_root: bool, projective: bool) -> None:
    sentence = random_sentence(n, scale, seed, single_root, projective)
    arc = {(int(h), int(m)): b for b, (h, m) in enumerate(zip(*sentence.graph[1:3], strict=True))}
    best = max(
        score(sentence, np.array([0, *(arc[h, m] for m, h in enumerate(heads[1:], start=1))]))
        for heads in product([-1], *([h for h in range(n + 1) if h != m] for m in range(1, n + 1)))
        if is_tree(heads, single_root, projective)
    )
    found = generate_columns(sentence)
    assert found.score == best == score(sentence, found.tree) == search_all(sentence)[1]


@settings(deadline=None, max_examples=40)
@given(st.integers(6, 14), st.integers(0, 3), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_as_good_as_with_all_arcs(n: int, scale: int, seed: int, single_root: bool, projective: bool) -> None:
    sentence = random_sentence(n, scale, seed, single_root, projective)
    found = generate_columns(sentence)
    assert found.score == search_all(sentence)[1] == score(sentence, found.tree)
    assert found.arcs <= n * n
    assert found.parts <= len(sentence.step)


def test_few_arcs_where_parts_say_little() -> None:
    sentence = random_sentence(14, 0, 1, True, False)
    found = generate_columns(sentence)
    assert found.rounds == 1
    assert found.arcs <= 4 * 14


# On a treebank


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebanks") / "bank", sizes=(40, 8, 4))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with a small model of grandparents."""
    return train_small(bank, tmp_path_factory.mktemp("models"), "dual-grandparent")


@pytest.mark.parametrize("projective", [True, False])
def test_the_columns(bank: Path, models: Path, projective: bool) -> None:
    parser = trained(bank, "dual-grandparent", models, EPOCHS)
    row = measure(parser, bank / "dev.conllu", projective)
    assert tuple(row) == COLUMNS
    assert row["% equal"] == 100
    assert 0 < row["arcs a word columns"] <= row["arcs a word"]
    assert 0 < row["arcs a word pruned"] <= row["arcs a word"]
    with pytest.raises(InputError, match="no sentences"):
        measure(parser, bank / "dev.conllu", projective, longest=0)


def test_the_command(
    bank: Path, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    output = tmp_path / "columns.tsv"
    arguments = ["columns", bank, "-o", output, "--models", models, "--epochs", EPOCHS, "--longest", 20]
    monkeypatch.setattr(sys, "argv", ["arcwise", "experiment", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("| search | words | arcs a word |")
    lines = output.read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["search", "bank, chart", "bank, dual decomposition"]
