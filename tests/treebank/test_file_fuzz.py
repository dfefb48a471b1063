"""A few hundred of the files of `file_fuzz`, of every format."""

from __future__ import annotations

import pytest

from arcwise.treebank.formats import FORMATS
from tests.treebank.file_fuzz import CALLS, run


@pytest.mark.parametrize("form", FORMATS)
def test_files_are_read_or_refused(form: str) -> None:
    counts = run(form, 300, seed=0)
    assert counts["slow"] == 0
    for call in CALLS:
        assert counts[f"{call} accepted"] >= 20
    for call in ("read", "unchecked", "keep", "evaluate", "analyze"):
        assert counts[f"{call} refused"] >= 100
