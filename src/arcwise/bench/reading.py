"""What `arcwise bench` measures of reading treebanks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from arcwise.bench.row import Row, times_as_fast
from arcwise.bench.timing import Action, Say, medians, silent
from arcwise.bench.treebank import BenchTreebank
from arcwise.treebank.reading import read_blocks, read_conllu

_TIMES = 8.0


def rows(treebank: BenchTreebank, rounds: int = 30, say: Say = silent) -> list[Row]:
    """Reading the training file beside the package `conllu`, which reads all columns into dictionaries."""
    path = treebank.train
    actions: dict[str, Action] = {"sentences": lambda: _touch(path), "blocks": lambda: _exhaust(path)}
    peer_name = "conllu.parse_incr" if path.suffix == ".conllu" else ""  # it reads nothing else
    try:
        parse_incr: Any = import_module("conllu").parse_incr
    except ImportError:
        pass
    else:
        if peer_name:
            rounds = max(1, rounds // 6)  # a round of it takes seconds
            actions["peer"] = lambda: _exhaust_peer(path, parse_incr)
    say(f"reading {path.name} {rounds} times")
    spent = {name: value / 1000 for name, value in medians(actions, rounds).items()}
    peer = spent.get("peer")
    return [
        Row(
            f"reading {path.stem}: {what}", spent[name], "ms", peer_name, peer,
            *(times_as_fast(spent[name], peer, _TIMES) if peer_name else ()),
        )
        for name, what in (("sentences", "sentences, their forms, heads and labels"), ("blocks", "blocks only"))
    ]  # fmt: skip


def _touch(path: Path) -> None:
    for sentence in read_conllu(path):
        _ = sentence.forms, sentence.heads, sentence.labels


def _exhaust(path: Path) -> None:
    for _ in read_blocks(path):
        pass


def _exhaust_peer(path: Path, parse_incr: Callable[[TextIO], Iterator[object]]) -> None:
    with path.open(encoding="utf-8") as file:
        for _ in parse_incr(file):
            pass
