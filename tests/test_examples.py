"""The examples run, and print what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXPECTED = {
    "constraints.py": ["no tree has all of these together: subtree 4-8; head-inside 11 4-8"],
    "decode_scores.py": [
        "saw -> John",
        "certified True",
        "70.0 [2, 0, 2]",
        "49 more trees, all certified: True",
    ],
    "edit_treebank.py": ["sentences of at most 12 words written to edited.conllu.gz", "nsubj"],
    "parse_text.py": ["what was not believed: that the cat had opened the door"],
    "whole_trees.py": [
        "by arcs alone: score 41, certified True",
        "and by depth: score 34.5, certified False",
    ],
    "train_and_parse.py": ["words have the right head", "parser   <- nsubj    sleeps"],
}


def test_all_are_known():
    assert {path.name for path in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name):
    done = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for part in EXPECTED[name]:
        assert part in done.stdout
